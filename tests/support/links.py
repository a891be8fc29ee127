# SPDX-License-Identifier: GPL-3.0-or-later
"""Links between the documents: whether the files and the headings that they name are there; and tables, whether all their rows
are shown as such.

A heading's anchor is what GitHub makes of it: small letters, blanks as hyphens, without other signs; the second heading
of the same words gets -1. Addresses elsewhere (with a scheme) are not looked at.
"""
import collections
import re

LINK = re.compile(r"\]\(\s*<?([^()\s<>]+)>?\s*\)")
HEADING = re.compile(r"^#{1,6} +(.*?)#*\s*$", re.MULTILINE)
FENCED = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?:(?: {4}|\t).*\n|[ \t]*\n)+", re.MULTILINE)


def prose(markdown):
    """Without blocks of code, in which nothing is a link or a heading."""
    return INDENTED.sub("\n", FENCED.sub("", markdown))


def anchors(markdown):
    """The anchors of all headings."""
    known = collections.Counter()
    found = set()
    for heading in HEADING.findall(prose(markdown)):
        words = re.sub(r"\]\([^)]*\)", "", heading).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found.add(f"{anchor}-{known[anchor]}" if known[anchor] else anchor)
        known[anchor] += 1
    return found


def links(markdown):
    """What is linked or shown, as it is written, without addresses elsewhere."""
    found = LINK.findall(CODE.sub("``", prose(markdown)))
    return [target for target in found if not re.match(r"[a-z][a-z0-9+.-]*:", target)]


def broken_tables(markdown):
    """Rows that are shown as text: a table is a block without blank lines, and its second line is of hyphens. Each row of a table
    has as many cells as that."""
    for block in re.findall(r"(?:^\|.*\n?)+", prose(markdown), re.MULTILINE):
        rows = [len(re.findall(r"(?<!\\)\|", row)) for row in block.splitlines()]
        if not re.match(r".*\n\|(?: *:?-+:? *\|)+ *(?:\n|$)", block):
            yield block.splitlines()[0]
        else:
            yield from (row for row, cells in zip(block.splitlines(), rows) if cells != rows[1])


def documents(root):
    return sorted([*root.glob("*.md"), *root.glob("docs/**/*.md")])


def broken(root):
    """One line for each link that leads nowhere, and each row that is outside of its table; and how many links there are."""
    texts = {path.resolve(): path.read_text() for path in documents(root)}
    wrong, count = [], 0
    for path, text in texts.items():
        wrong += [f"{path.relative_to(root.resolve())}: not shown as a row of a table: {row[:80]}" for row in broken_tables(text)]
        for target in links(text):
            count += 1
            name, _, anchor = target.partition("#")
            other = (path.parent / name).resolve() if name else path
            where = f"{path.relative_to(root.resolve())}: ({target})"
            if not other.exists():
                wrong.append(f"{where}: there is no such file")
            elif anchor and anchor not in anchors(texts.get(other, "")):
                wrong.append(f"{where}: there is no such heading")
    return wrong, count
