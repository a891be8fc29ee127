# SPDX-License-Identifier: GPL-3.0-or-later
"""scripts/site: the documents as pages that stand by themselves, each link of which leads somewhere."""
import hashlib
import re
import shutil
import subprocess

import pytest

from conftest import ROOT

MANUAL = "% ONE(1) | Tests\n\n# NAME\n\none - a program\n"
FILES = {
    "README.md": "# Begin\n\n[docs](docs/index.md), [its end](docs/index.md#the-end), [samples](conf/),\n"
                 "![seen](docs/seen.svg)\n",
    "CHANGELOG.md": "# Changes\n", "CONTRIBUTING.md": "# Work\n", "SECURITY.md": "# Holes\n",
    "docs/index.md": "# Documents\n\n## The end\n\n[back](../README.md#begin), [decisions](adr),\n"
                     "[elsewhere](https://example.com/x.md)\n",
    "docs/seen.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>\n",
    "docs/runs.md": "# Runs\n", "docs/method.md": "# Method\n", "docs/man/one.1.md": MANUAL,
    "docs/adr/0001-first.md": "# 1. `First`\n",
    "conf/one.toml": "key = \"<&>\"\n~~~~\n", "conf/deep/two.toml": "\n",
}


@pytest.fixture
def project(tmp_path, tool):
    """A small one, with this script and its looks."""
    tool("pandoc")
    folder = tmp_path / "project"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/site", folder / "scripts/site")
    shutil.copytree(ROOT / "docs/site", folder / "docs/site")
    return folder


def make(project, folder):
    return subprocess.run([project / "scripts/site", folder], capture_output=True, text=True)


def test_a_small_site(project, tmp_path):
    site = tmp_path / "site"
    done = make(project, site)
    assert (done.returncode, done.stderr) == (0, "")
    begin = (site / "index.html").read_text()
    for target in ("docs/index.html", "docs/index.html#the-end", "conf/index.html", "docs/seen.svg", "style.css"):
        assert f'"{target}"' in begin
    assert '"../index.html#begin"' in (site / "docs/index.html").read_text()
    assert "https://example.com/x.md" in (site / "docs/index.html").read_text()
    assert ">1. First</a>" in (site / "docs/adr/index.html").read_text()
    assert ">ONE(1)</a>: a program" in (site / "docs/man/index.html").read_text()
    assert ">ONE(1)</h1>" in (site / "docs/man/one.1.html").read_text()
    assert 'href="deep/index.html"' in (site / "conf/index.html").read_text()
    assert "&lt;&amp;&gt;&quot;\n~~~~" in (site / "conf/one.toml.html").read_text()


@pytest.mark.parametrize("text, said", [
    ("[x](docs/none.md)", "index.html: docs/none.md leads nowhere"),
    ("[x](docs/index.md#none)", "that page has no such heading"),
    ("[x](docs/seen.svg#none)", "that page has no such heading"),
    ("[x](../outside.md)", "leads nowhere"), ("![x](https://example.com/x.png)", "is not the site's own"),
    ("<script src='x.js'></script>", "a script is not the site's own")])
def test_what_leads_nowhere_or_elsewhere_is_named(project, tmp_path, text, said):
    (tmp_path / "outside.md").write_text("# Not of the project\n")
    (project / "README.md").write_text(f"# Begin\n\n{text}\n")
    done = make(project, tmp_path / "site")
    assert done.returncode == 1 and said in done.stderr, done.stderr


def test_a_folder_that_is_not_empty_is_left_alone(project, tmp_path):
    (tmp_path / "mine").touch()
    done = make(project, tmp_path)
    assert done.returncode == 1 and done.stderr == f"site: {tmp_path} is not empty\n"


def octets(site):
    return {path.relative_to(site): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in site.rglob("*") if path.is_file()}


@pytest.mark.thinned(2)
@pytest.mark.parametrize("times", [1, 2])
def test_the_site_of_this_project(tool, tmp_path, times):
    tool("pandoc")
    sites = [tmp_path / f"site{number}" for number in range(times)]
    for site in sites:
        done = make(ROOT, site)
        assert (done.returncode, done.stderr) == (0, "")
    assert octets(sites[0]) == octets(sites[-1])
    pages = list(sites[0].rglob("*.html"))
    manuals = {page.name for page in (sites[0] / "docs/man").iterdir()}
    assert manuals >= {"postal.8.html", "postal-record.5.html", "index.html"}
    assert len(pages) > 60
    for page in pages:
        text = page.read_text()
        assert "<script" not in text and not re.search(r'(src|@import|url\()\s*=?\s*["\']?https?:', text), page
