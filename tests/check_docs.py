#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares what the programs know with what the documents say.

Every option of a program must have its paragraph in docs/man and, where there is a sample configuration in conf, its
line there; a document must not name an option that does not exist; and every line of a sample must be accepted by the
program once its # is taken away. What the documents link to must be there, file and heading.

    tests/check_docs.py [FOLDER WITH PROGRAMS]
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from support import links

ROOT = Path(__file__).resolve().parent.parent
MANUALS = {"postal": "postal.8.md", "rabid": "rabid.8.md", "bhm": "bhm.8.md", "lmtp-deliver": "lmtp-deliver.8.md",
           "postal-list": "postal-list.1.md", "postal-report": "postal-report.1.md", "postal-compare": "postal-compare.1.md", "postal-audit": "postal-audit.1.md"}
SAMPLES = {
    # program: arguments that end it right after its options were read, and what it says then
    "postal": ([], "SERVER"),
    "rabid": ([], "SERVER"),
    "bhm": (["/nonexistent/users"], "/nonexistent/users"),
    "lmtp-deliver": (["--agent", "x", "--agents", "/nonexistent/agents"], "/nonexistent/agents"),
}
# Of the command line only; --dry-run, --resolve and --explain are postal's and rabid's, --check, --from and --to are lmtp-deliver's, --check-behaviour and --envelope bhm's.
GENERAL = {"config", "force", "help", "version", "completion", "dry-run", "dry-run-message", "resolve", "explain", "check", "from", "to", "check-behaviour", "envelope"}


# Lines that mean nothing without others, which are tried with them.
COMPANIONS = {
    "tls-": {"postal": "ssl-percent = 100", "rabid": "ssl-percent = 100", "bhm": "ssl = true", "lmtp-deliver": "ssl = true"},
    "client-addresses": {"postal": 'proxy-protocol = "v2"', "rabid": 'proxy-protocol = "v2"'},
    "require-tls": {"bhm": "ssl = true", "lmtp-deliver": "ssl = true"},
    "tls-ca": {"postal": 'tls-verify = "on"', "rabid": 'tls-verify = "on"'},
    "tls-crl": {"postal": 'tls-verify = "on"', "rabid": 'tls-verify = "on"',
                "bhm": 'tls-client-ca = "/etc/ssl/clients.pem"', "lmtp-deliver": 'tls-client-ca = "/etc/ssl/clients.pem"'},
    "target-is-mine": {"bhm": 'bounce-via = "127.0.0.1:25"'},
    "allow-targets": {"bhm": 'bounce-via = "127.0.0.1:25"'},
    "seed": {"bhm": 'speed = "10K..1M"'},
    "store-": {"bhm": 'store = "/nonexistent/store"'},
    "sample": {"bhm": 'store = "/nonexistent/store"'},
    "sample-every": dict.fromkeys(SAMPLES, 'sample-command = ["one=/bin/true"]'),
    "tls-key": dict.fromkeys(SAMPLES, 'tls-cert = "/etc/ssl/server.pem"'),
}


def with_companions(program, line):
    """The line, and behind it those without which it means nothing."""
    more = [lines[program] for start, lines in COMPANIONS.items() if line.startswith(start) and program in lines]
    return "\n".join([line, *more]) + "\n"


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def known_options(program):
    """The long names and the letters of all options, as --help has them."""
    text = run(program, "--help").stdout
    rows = re.findall(r"^ {2}(?:(-\w), | {4})--([\w-]+)", text, re.MULTILINE)
    return {name for _, name in rows}, {letter for letter, _ in rows if letter}


def check_manual(program, names, letters, text):
    documented = set(re.findall(r"\*\*--([a-z][\w-]*)\*\*", text))
    options = text.split("# OPTIONS")[-1].split("\n# ")[0]
    headings = "\n".join(line for line in options.splitlines() if line.startswith("**-"))
    for name in sorted(names - set(re.findall(r"\*\*--([a-z][\w-]*)\*\*", headings))):
        yield f"{program}: --{name} has no paragraph in {MANUALS[program]}"
    for letter in sorted(letters - set(re.findall(r"\*\*(-\w)\*\*", headings))):
        yield f"{program}: {letter} has no paragraph in {MANUALS[program]}"
    for name in sorted(documented - names):
        yield f"{program}: {MANUALS[program]} names --{name}, which the program does not know"


def check_sample(program, path, names):
    arguments, wanted = SAMPLES[path.stem]
    lines = [line[1:] for line in path.read_text().splitlines() if re.match(r"#[a-z-]+ = ", line)]
    keys = {line.split(" = ")[0] for line in lines}
    for name in sorted(names - keys - GENERAL):
        yield f"{path.name}: {name} is missing"
    for line in lines:
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(with_companions(path.stem, line))
            file.flush()
            said = run(program, "--config", file.name, *arguments)
        if said.returncode != 1 or wanted not in said.stderr:
            yield f"{path.name}: {line}: the program says: {said.stderr.strip() or said.returncode}"


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/bin")
    wrong = []
    count = 0
    for name, manual in MANUALS.items():
        program = folder / name
        names, letters = known_options(program)
        count += len(names)
        if not names:
            wrong.append(f"{name}: --help shows no options")
        wrong += check_manual(name, names, letters, (ROOT / "docs/man" / manual).read_text())
        if name in SAMPLES:
            wrong += check_sample(program, ROOT / "conf" / f"{name}.toml", names)
    page = (ROOT / "docs/errors.md").read_text()
    wrong += [f"docs/errors.md lacks {line.split()[0]}, or its text is another: {line.strip()}"
              for line in run(folder / "postal", "--explain").stdout.splitlines() if line not in page]
    unlinked, linked = links.broken(ROOT)
    wrong += unlinked
    for line in wrong:
        print(line)
    print(f"check_docs: {count} options, {linked} links, {len(wrong)} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
