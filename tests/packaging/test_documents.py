# SPDX-License-Identifier: GPL-3.0-or-later
"""The documents for who reads them first: links that lead somewhere, tables that are whole, a README of two screens, small pictures."""
import pytest

from conftest import ROOT
from support import links

PAGE = """# One page

## Twice, `said` & done
## Twice, `said` & done

See [two](two.md) and [its end](two.md#the-end), [below](#twice-said--done-1), ![shown](a/picture.svg),
[elsewhere](https://example.com/none.md) and `[code](none.md)`.

    [more code](none.md)

```
# No heading
[fenced](none.md)
```
"""


@pytest.fixture
def pages(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a").mkdir()
    (tmp_path / "docs/a/picture.svg").touch()
    (tmp_path / "docs/two.md").write_text("# Two\n\n## The end\n")
    (tmp_path / "docs/one.md").write_text(PAGE)
    return tmp_path


def test_links_that_lead_somewhere(pages):
    assert links.broken(pages) == ([], 4)


@pytest.mark.parametrize("right, wrong, why", [
    ("(two.md)", "(three.md)", "file"), ("#the-end", "#the-beginning", "heading"), ("-done-1)", "-done-2)", "heading"),
    ("(#twice", "(#no-heading)(#twice", "heading"), ("a/picture", "picture", "file")])
def test_links_that_lead_nowhere(pages, right, wrong, why):
    page = pages / "docs/one.md"
    page.write_text(PAGE.replace(right, wrong))
    [line], _ = links.broken(pages)
    assert line.startswith("docs/one.md: (") and line.endswith(f"there is no such {why}")


@pytest.mark.parametrize("table, shown", [
    ("| a | b |\n| --- | ---: |\n| `x\\|y` | 1 |\n", []), ("| a | b |\n| --- | --- |\n| c | d |\n\n| e | f |\n", ["| e | f |"]),
    ("| a | b |\n| --- | --- |\n| c | d | e |\n", ["| c | d | e |"]), ("    | a |\n\n```\n| b |\n```\n", [])])
def test_rows_outside_of_their_table(table, shown):
    assert list(links.broken_tables("Text\n\n" + table)) == shown


def test_readme_is_two_screens():
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 120 and max(map(len, lines)) <= 120
    assert "    scripts/test" in lines
    for picture in (ROOT / "docs/pictures").iterdir():
        assert picture.stat().st_size < 200_000, picture.name
