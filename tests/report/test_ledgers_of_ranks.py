# SPDX-License-Identifier: GPL-3.0-or-later
"""postal-report --ledger with several files: what the ranks of one run and bhm wrote is read as one ledger."""
import contextlib
import sqlite3

from conftest import user_names
from printed import run

from support.ledger import copy_ledger


def cut(book, to, *statements):
    """A copy of the ledger without some of its rows."""
    copy_ledger(book, to)
    with contextlib.closing(sqlite3.connect(to)) as copy, copy:
        for statement in statements:
            copy.execute(statement)
    return to


def test_the_parts_of_a_ledger_say_what_the_whole_does(run, bhm, postal, users_file, tmp_path):
    book = tmp_path / "whole.db"
    hole = bhm("--ledger", book)
    postal("-t", "4", "-c", "-1", "--messages", "100", "-m", "2", "--ledger", book, hole.endpoint, users_file(user_names(7)))
    hole.stop()
    nothing_seen = "DELETE FROM seen"
    parts = [cut(book, tmp_path / "a.db", nothing_seen, "DELETE FROM sent WHERE session % 2 = 1"),
             cut(book, tmp_path / "b.db", nothing_seen, "DELETE FROM sent WHERE session % 2 = 0"),
             cut(book, tmp_path / "c.db", "DELETE FROM sent")]
    whole = run("--ledger", book, "--csv").stdout.splitlines()
    joined = run("--ledger", *parts, "--csv").stdout.splitlines()
    assert joined[0] == whole[0]
    assert joined[1].split(",")[1:] == whole[1].split(",")[1:]
    assert "100 acknowledged messages: nothing lost" in run("--ledger", *parts).stdout
    lost = run("--ledger", *parts[:2], "--list", "lost", status=3).stdout
    assert len(lost.splitlines()) >= 100


def test_what_cannot_be_joined_is_refused_by_name(run, bhm, postal, users_file, tmp_path):
    book = tmp_path / "whole.db"
    hole = bhm("--ledger", book)
    hole.stop()
    assert "whole.db: is given twice" in run("--ledger", book, book, status=1).stderr
    assert "none.db" in run("--ledger", book, tmp_path / "none.db", status=1).stderr
