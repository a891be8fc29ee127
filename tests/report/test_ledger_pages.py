# SPDX-License-Identifier: GPL-3.0-or-later
"""postal-report --ledger --html: the account, what was found wrong with the octets that differ, and whose it was."""
import contextlib
import csv
import html
import io
import re
import sqlite3

import pytest
from conftest import user_names
from printed import run

from support.ledger import copy_ledger

ATTACK = "</script><img src=x onerror=alert(1)><!-- @DATA@ \u001b[31m \u202e '\"&|`"
DIFFERS = "octet 17 of 5120 is 0x42 in place of 0x41"
USERS, COUNT = 7, 200


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Where the first test leaves a ledger for the others."""
    return tmp_path_factory.mktemp("ledger") / "sound.db"


@pytest.fixture
def book(sound, bhm, postal, users_file, tmp_path):
    """Nothing is wrong in it."""
    if not sound.exists():
        written = tmp_path / "written.db"
        hole = bhm("--ledger", written)
        postal("-t", "2", "-c", "-1", "--messages", COUNT, "-m", "2", "--ledger", written, hole.endpoint, users_file(user_names(USERS)))
        hole.stop()
        copy_ledger(written, sound)
    return copy_ledger(sound, tmp_path / "mail.db")


@pytest.fixture
def page(run, book, tmp_path):
    """page(STATUS) writes the ledger's page and gives its path."""
    def write(status=0):
        made = tmp_path / "page.html"
        assert run("--ledger", book, "--html", made, status=status).stdout == ""
        return made
    return write


def harm(book, detail=DIFFERS):
    """7 are lost and 3 corrupt, in the first 6 of 100 seconds."""
    with contextlib.closing(sqlite3.connect(book)) as opened, opened:
        # A copy of a message is as late as the message.
        opened.execute("CREATE TEMP TABLE moved AS SELECT s.number, s.run, s.session, s.sequence, row_number() OVER (ORDER BY s.number) AS at FROM sent s")
        opened.execute("UPDATE seen SET time_us = time_us + 500000 * (SELECT at FROM moved m WHERE (m.run, m.session, m.sequence) = (seen.run, seen.session, seen.sequence))")
        opened.execute("UPDATE sent SET time_us = time_us + 500000 * (SELECT at FROM moved m WHERE m.number = sent.number)")
        first = [row for row in opened.execute("SELECT run, session, sequence FROM moved WHERE at <= 10 ORDER BY at")]
        for at, (name, session, sequence) in enumerate(first):
            where = "WHERE run = ? AND session = ? AND sequence = ?", (name, session, sequence)
            if at < 7:
                opened.execute("DELETE FROM seen " + where[0], where[1])
            else:
                opened.execute("UPDATE seen SET condition = 6, detail = ? " + where[0], (detail, *where[1]))
        opened.execute("UPDATE runs SET ended_us = ended_us + 1000000000, horizon_us = horizon_us + 1000000000")


def section(page, name):
    return html.unescape(re.search(rf'<section class="card[^"]*" id="{name}">.*?</section>', page, re.DOTALL).group())


def rows_of(page, name):
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", section(page, name))]


def test_all_is_well(page, browser):
    text = page().read_text()
    assert f"{COUNT} acknowledged messages: nothing lost, nothing corrupt." in section(text, "said")
    assert 'class="remark bad' not in text and 'id="examples-' not in text and "<canvas" not in text
    assert f"found <b>{COUNT}</b>" in section(text, "headline")


def test_what_is_wrong_leads_with_the_octets_that_differ(page, book, report, browser):
    harm(book)
    found, status = report(book)
    assert (found["lost"], found["corrupt"], status) == (7, 3, 3)
    made = page(status=3)
    text = made.read_text()
    loud = text.index('class="remark bad loud"')
    assert loud < text.index('id="headline"') < text.index('id="chart-times"') < text.index('id="examples-lost"') < text.index('id="messages"')
    assert f"{COUNT} acknowledged messages: 7 lost, 3 corrupt." in text[loud:loud + 200]
    assert len(rows_of(text, "examples-lost")) == 1 + 7
    titles, *corrupt = rows_of(text, "examples-corrupt")
    assert [row[titles.index("what differs")] for row in corrupt] == [DIFFERS] * 3
    # By account and by time they are the same messages.
    titles, *accounts = rows_of(text, "accounts")
    assert titles == ["recipient", "lost", "corrupt"]
    assert [sum(int(row[at] or 0) for row in accounts) for at in (1, 2)] == [7, 3]
    titles, *times = rows_of(text, "times")
    assert [sum(int(row[at] or 0) for row in times) for at in (1, 2, 3)] == [COUNT, 7, 3]
    assert 45 < len(times) <= 60 and all(row[2:] == ["", ""] for row in times[6:])
    shown = browser.open(made)
    assert not shown.complaints and shown.charts == 1
    assert browser.too_wide(made, 1280) == browser.too_wide_on_a_telephone(made) == ""


def csv_lines(run, *words):
    return list(csv.DictReader(io.StringIO(run(*words, "--csv", status=3).stdout)))


def test_what_is_lost_by_size_in_every_form(run, bhm, postal, users_file, folder, browser):
    written, book = folder / "written.db", folder / "mail.db"
    hole = bhm("--ledger", written)
    done = postal("-t", "2", "-c", "-1", "--messages", COUNT, "-m", "20", "--ledger", written, hole.endpoint,
                  users_file(user_names(USERS)))
    hole.stop()
    copy_ledger(written, book)
    with contextlib.closing(sqlite3.connect(book)) as opened, opened:
        octets = [size for size, in opened.execute("SELECT octets FROM sent")]
        # What a server that has no room for 8K would have lost.
        opened.execute("DELETE FROM seen WHERE EXISTS (SELECT 1 FROM sent s WHERE (s.run, s.session, s.sequence) "
                       "= (seen.run, seen.session, seen.sequence) AND s.octets >= 8192)")
        opened.execute("UPDATE runs SET ended_us = ended_us + 1000000, horizon_us = horizon_us + 1000000")
    assert sum(octets) == done.record["totals"]["bytes"]
    many = sum(size >= 8192 for size in octets)
    assert 20 < many < COUNT - 20
    whole, *classes = csv_lines(run, "--ledger", book)
    assert (whole["size"], int(whole["lost"])) == ("", many)
    assert {row["size"] for row in classes} >= {"4K to 8K", "8K to 16K", "16K to 32K"}
    for row in classes:
        inside = int(row["acknowledged"])
        large = row["size"] in ("8K to 16K", "16K to 32K")
        assert (int(row["lost"]), int(row["found"])) == ((inside, 0) if large else (0, inside)), row
    assert sum(int(row["acknowledged"]) for row in classes) == COUNT
    assert sorted(int(row["octets"]) for row in csv_lines(run, "--ledger", book, "--list", "all")) == sorted(octets)
    text = run("--ledger", book, status=3).stdout
    in_class = sum(8192 <= size < 16384 for size in octets)
    assert re.search(rf"(?m)^  8K to 16K +{in_class} +{in_class}$", text) and "not recorded" not in text
    assert f"| 8K to 16K | {in_class} | {in_class} |" in run("--ledger", book, "--markdown", status=3).stdout
    made = folder / "page.html"
    run("--ledger", book, "--html", made, status=3)
    page = made.read_text()
    assert ["8K to 16K", str(in_class), str(in_class)] in rows_of(page, "sizes")
    titles, *lost = rows_of(page, "examples-lost")
    assert all(int(row[titles.index("octets")]) >= 8192 for row in lost)
    assert browser.too_wide(made, 1280) == browser.too_wide_on_a_telephone(made) == ""


def test_long_lists_end(page, book, report):
    with contextlib.closing(sqlite3.connect(book)) as opened, opened:
        opened.execute("DELETE FROM seen")
    assert report(book)[0]["lost"] == COUNT
    text = page(status=3).read_text()
    assert len(rows_of(text, "examples-lost")) == 1 + 20
    assert f"The first 20 of {COUNT}; --list lost has all." in section(text, "examples-lost")


@pytest.mark.parametrize("time_us", [-(2 ** 63), 2 ** 63 - 1, 4_000_000_000_000_000_000])
def test_a_hostile_ledger_stays_text_and_small(page, book, browser, time_us):
    harm(book, detail=ATTACK * 50)
    with contextlib.closing(sqlite3.connect(book)) as opened, opened:
        opened.execute("UPDATE addresses SET address = ? || id || ?", (ATTACK, "x" * 100_000))
        opened.execute("UPDATE runs SET program = ?, started = ?", (ATTACK, ATTACK))
        opened.execute("UPDATE sent SET time_us = ? WHERE number = 1", (time_us,))
    made = page(status=3)
    text = made.read_text()
    assert "<img" not in text and "\u202e" not in text and "\x1b" not in text
    assert len(text) < 500_000
    assert not browser.open(made).complaints
    assert browser.too_wide(made, 1280) == browser.too_wide_on_a_telephone(made) == ""
