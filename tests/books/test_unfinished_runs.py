# SPDX-License-Identifier: GPL-3.0-or-later
"""Ledgers whose runs have no end: they run still, or were killed. What such a run has not written down is not known, and
never lost; what is missing before its horizon is."""
import contextlib
import signal
import sqlite3

import pytest

from support.process import wait_until
from support.postal import run
from support.watched import Sending

LOAD = ("-m", "1", "-M", "1", "--interval", "200ms", "-t", "4", "-c", "-1", "--rate", "4000/s")


def ask(path, sql):
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as book:
        return book.execute(sql).fetchall()


def change(path, sql):
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as book, book:
        return book.execute(sql).rowcount


def seconds_written(path):
    """How far apart the first and the last row are that say that a message was seen."""
    if not path.exists() or not ask(path, "SELECT 1 FROM sqlite_schema WHERE name = 'seen'"):
        return 0
    return ask(path, "SELECT coalesce(max(time_us) - min(time_us), 0) FROM seen")[0][0] / 1e6


PARTS = ("found", "vanished", "lost", "not_looked_for", "misplaced", "not_known")


def adds_up(found):
    return found["acknowledged"] == sum(found[name] for name in PARTS)


@pytest.fixture
def load(bhm, programs, users_file, folder):
    """A bhm and a postal with one ledger, while the load goes on: (ledger, bhm, postal)."""
    book = folder / "book"
    hole = bhm("--ledger", book)
    with Sending(programs.postal, folder, *LOAD, "--ledger", book, hole.endpoint, users_file(20)) as sending:
        wait_until(lambda: seconds_written(book) > 2.5, "rows of some seconds")
        yield book, hole, sending


def test_bhm_is_killed(load, programs, report):
    """It has acknowledged what it had not written yet."""
    book, hole, sending = load
    with contextlib.closing(sqlite3.connect(book, timeout=30)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        lines = len(sending.process.stdout.splitlines())
        wait_until(lambda: len(sending.process.stdout.splitlines()) > lines + 1, "messages that nobody can write down")
        hole.process.kill()
        hole.process.wait(10)
    sending.signal(signal.SIGINT)
    assert sending.wait().status == 0
    found, status = report(book)
    assert status == 0 and found["lost"] == 0 and found["not_known"] > 0 and adds_up(found)
    text = run([programs.postal_report, "--ledger", book]).stdout
    (name, until), = ask(book, "SELECT run, strftime('%Y-%m-%d %H:%M:%S', horizon_us / 1000000, 'unixepoch') FROM runs "
                               "WHERE program = 'bhm'")
    assert f"! 1 run has no end: {name} (bhm, written until {until} UTC); it runs still, or was killed" in text
    assert len(report(book, "not-known")) == found["not_known"]
    # One that was seen long before is missed all the same.
    assert change(book, "DELETE FROM seen WHERE number = 5") == 1
    after, status = report(book)
    assert status == 3 and after["lost"] == 1 and after["not_known"] == found["not_known"]


def test_reading_while_runs_write(load, report, sized):
    book, hole, sending = load
    for _ in range(sized(3, 10)):
        found, status = report(book)
        assert status == 0 and found["lost"] == found["unknown"] == found["misdelivered"] == 0 and adds_up(found), found
    sending.signal(signal.SIGINT)
    assert sending.wait().status == 0
    hole.stop()
    found, status = report(book)
    assert status == 0 and found["found"] == found["acknowledged"] == found["seen"]
    assert found["not_known"] == found["unwritten"] == found["lost"] == 0
    assert ask(book, "SELECT count(*) FROM runs WHERE ended_us IS NULL") == [(0,)]


def test_postal_is_killed(load, programs, report):
    """What bhm has seen of it then was sent by a run that could not say so."""
    book, hole, sending = load
    sending.process.kill()
    hole.stop()
    found, status = report(book)
    assert status == 0 and found["unknown"] == found["lost"] == found["not_known"] == 0
    assert found["unwritten"] == found["seen"] - found["found"]
    assert "1 run has no end" in run([programs.postal_report, "--ledger", book]).stdout


def test_a_new_bhm_after_a_killed_one(load, bhm, postal, users_file, report):
    """What was sent to the new one is found or lost, whatever is not known of the old one."""
    book, hole, sending = load
    hole.process.kill()
    sending.signal(signal.SIGINT)
    sending.wait()
    # As if that had been a minute ago.
    change(book, "UPDATE runs SET horizon_us = horizon_us - 60000000")
    change(book, "UPDATE sent SET time_us = time_us - 60000000")
    before, _ = report(book)
    new = bhm("--ledger", book)
    postal("-m", "1", "-M", "1", "-c", "-1", "--messages", "50", "--ledger", book, new.endpoint, users_file(20))
    new.stop()
    found, status = report(book)
    assert status == 0 and found["not_known"] == before["not_known"] and found["lost"] == 0
    assert change(book, "DELETE FROM seen WHERE number = (SELECT max(number) FROM seen)") == 1
    found, status = report(book)
    assert status == 3 and found["lost"] == 1 and found["not_known"] == before["not_known"]
