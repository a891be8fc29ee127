# SPDX-License-Identifier: GPL-3.0-or-later
"""What postal-report makes of an audit's record: words, tables, CSV and a page."""
import csv
import io
import json
import re

import pytest

from support.postal import run

CUTS = 100


def image(cut, draw, lost=0, failure=""):
    gone = failure != ""
    acknowledged = 10 + cut
    return {"cut": cut, "at_s": cut / 50, "draw": draw, "seed": 7, "survival": ("none", "all", "some")[draw], "at_risk": 8,
            "survived": 8 if draw == 1 else 0, "torn": 0, "acknowledged": acknowledged,
            "found": 0 if gone else acknowledged - lost, "lost": 0 if gone else lost, "misplaced": 0, "duplicated": 0,
            "truncated": 0, "changed": 0, "unopened": 0, "lost_window_s": 4.8 if lost else None, "failure": failure,
            "fsck_status": 0, "fsck": "", "seconds": 0.5}


def variant(name, control, images):
    return {"name": name, "control": control, "started": "2026-11-23T00:00:00.000Z", "mounted": "/dev/loop0 /m ext4 rw",
            "acknowledged": 200, "entries": 900, "writes": 700, "flushes": 200, "octets": 4096, "recording_s": 2.0,
            "longest_gap_s": 0.002, "cuts": CUTS, "end": "all cuts done", "images": images}


def images(lost=0):
    return [image(cut, draw, lost if draw == 0 else 0) for cut in range(1, CUTS + 1) for draw in range(3)]


@pytest.fixture
def audited(programs, folder):
    """audited(blind=False).report(words…) is postal-report's run over a folder with a made-up audit."""
    def make(blind=False):
        variants = [variant("lies", "must_lose", images(0 if blind else 9)), variant("flushes", "must_keep", images()),
                    variant("default", "no", images()), variant("<b>barrier=0</b>", "no", images(5))]
        record = {"schema": "postal-audit/1", "version": "1.0.0", "argv": ["postal-audit", "x.toml"], "title": "a cut",
                  "started": "2026-11-23T00:00:00.000Z", "ended": "2026-11-23T00:10:00.000Z", "end": "all cuts done", "seed": 7,
                  "cuts": CUTS, "draws": 3, "torn_percent": 0, "messages": 200,
                  "host": {"name": "h", "kernel": "Linux 6", "cpus": 2, "memory_bytes": 1 << 30}, "versions": {},
                  "variants": variants, "file": "x.toml", "text": "[audit]\n"}
        (folder / "audit.json").write_text(json.dumps(record))
        return lambda *words: run([programs.postal_report, *words, folder])
    return make


def test_words_say_what_was_lost(audited):
    said = audited()()
    assert said.status == 0, said.stderr
    assert "default: none lost in 100 cuts (at most 3 % of cuts, 95 %)" in said.stdout
    assert "acknowledged mail lost at 100 of 100 cuts" in said.stdout and "0 to 5 messages at a cut, of the last 4.8 s" in said.stdout


def test_an_audit_that_sees_nothing_has_no_verdict(audited):
    said = audited(blind=True)()
    assert said.status == 0 and "BLIND" in said.stdout.upper()
    assert "none lost" not in said.stdout


def test_an_audit_alone_has_nothing_to_be_held_against(audited, programs, folder):
    audited()
    done = run([programs.postal_report, "--verify", folder])
    assert done.status == 10, done.stderr
    assert "unchecked: audit.json has no digests of its own" in done.stdout
    assert "Verified" not in done.stdout and "WRONG" not in done.stdout


def test_csv_has_a_line_for_each_disk(audited):
    rows = list(csv.DictReader(io.StringIO(audited()("--csv").stdout)))
    assert len(rows) == 4 * CUTS * 3
    assert sum(int(row["lost"]) for row in rows if "barrier" in row["variant"]) == 5 * CUTS
    assert all(int(row["found"]) + int(row["lost"]) == int(row["acknowledged"]) for row in rows)


def test_the_page_is_whole_and_harmless(audited, folder, browser):
    page = folder / "page.html"
    assert audited()("--html", page).status == 0
    text = page.read_text()
    assert "none lost in 100 cuts" in text and "<b>barrier" not in text and "&lt;b&gt;barrier" in text
    assert not re.search(r"@[A-Z]+@", text)
    # A mark for each cut of each variant; what was lost is not what was held.
    places = re.search(r'<figure class="card marks" id="power-cut-places">.*?</figure>', text, re.DOTALL).group()
    rows = re.findall(r'<div class="row">.*?</div></div>', places, re.DOTALL)
    assert [re.findall(r'class="counts">([^<]*)<', row)[0] for row in rows] == [
        "100 lost or damaged", "100 held", "100 held", "100 lost or damaged"]
    assert [set(re.findall(r'<i class="m(\d)"', row)) for row in rows] == [{"3"}, {"1"}, {"1"}, {"3"}]
    assert all(len(re.findall("<i ", row)) == 34 for row in rows)  # three cuts are at one place
    assert not browser.open(page).complaints
    assert browser.too_wide(page, 1280) == browser.too_wide_on_a_telephone(page) == ""


@pytest.mark.parametrize("word, said", [('"postal-audit/1"', "schema"), ('"variants"', "variants"), ('"some"', "survival")])
def test_a_record_that_is_none_is_refused(audited, folder, word, said):
    report = audited()
    path = folder / "audit.json"
    path.write_text(path.read_text().replace(word, '"other"', 1))
    done = report()
    assert done.status == 1 and said in done.stderr and done.stderr.count("\n") == 1
