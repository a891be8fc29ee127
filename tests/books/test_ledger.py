# SPDX-License-Identifier: GPL-3.0-or-later
"""The ledger: its rows are what the records say, it survives a kill, and the report names each fault that is put into it.

Ledgers are read here with Python's own sqlite3 module, the report's answers as CSV.
"""
import contextlib
import re
import resource
import shutil
import signal
import sqlite3
import subprocess

import pytest

from support.postal import check_books, run
from support.process import wait_until
from support.watched import Sending

SMALL = ("-m", "1", "-M", "1", "--interval", "200ms")
OUTCOMES = {"messages": "accepted", "rejected": "rejected", "deferred": "deferred", "failed": "failed",
            "in_doubt": "in_doubt"}


def ask(path, sql, *values):
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as book:
        return book.execute(sql, values).fetchall()


def change(path, sql, *values):
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as book, book:
        return book.execute(sql, values).rowcount


def number(path, sql, *values):
    return ask(path, sql, *values)[0][0]


def has_begun(path):
    """Whether a program has written down its run, with which it has done all that it does at the start."""
    return bool(path.exists() and ask(path, "SELECT 1 FROM sqlite_schema WHERE name = 'sent'")
                and ask(path, "SELECT 1 FROM runs"))


def own_rows(record):
    """A condition for the rows of the run that a record is about."""
    return f"run = '{record['options']['run']}'"


def check_sent(path, done):
    """The rows of a run of postal are its totals."""
    totals, own = done.record["totals"], own_rows(done.record)
    counted = dict(ask(path, f"SELECT outcome, count(*) FROM sent_messages WHERE counted AND {own} GROUP BY outcome"))
    assert {name: counted.get(word, 0) for name, word in OUTCOMES.items()} == {name: totals[name] for name in OUTCOMES}
    assert number(path, f"SELECT count(*) FROM sent_messages WHERE outcome = 'accepted' AND {own}") == totals["recipients"]
    assert number(path, f"SELECT count(*) FROM sent_messages WHERE {own}") == number(
        path, f"SELECT count(*) FROM (SELECT DISTINCT session, sequence, recipient FROM sent_messages WHERE {own})")


def check_seen(path, black):
    own = own_rows(black.record).replace("run", "observer", 1)
    assert number(path, f"SELECT count(*) FROM seen_messages WHERE {own}") == black.record["totals"]["recipients"]


LOADS = {
    "one recipient": ("-t", "4", "-c", "-1"),
    "one a connection": ("-t", "4"),
    "overlapping": ("-t", "4", "-c", "-1", "--recipients", "1..5", "--pipelining", "overlap"),
    "recipients": ("-t", "4", "-c", "-1", "--recipients", "1..5"),
    "plain": ("-t", "4", "-c", "3", "--recipients", "2", "--pipelining", "off"),
    "chunked": ("-t", "2", "-c", "-1", "--recipients", "1..5", "--chunking", "auto"),
    "in flight": ("-t", "2", "-c", "-1", "--recipients", "1..5", "--chunking", "auto", "--in-flight", "8"),
    "two workers": ("-t", "4", "-c", "-1", "--workers", "2", "--recipients", "1..5"),
}


@pytest.mark.thinned(5)
@pytest.mark.parametrize("dialect", ["SMTP", "LMTP"])
@pytest.mark.parametrize("load", LOADS)
def test_counts_are_the_records(bhm, postal, users_file, folder, report, load, dialect):
    """Also with recipients that the server does not know: every third one is refused."""
    book = folder / "book"
    everybody = users_file(30)
    known = users_file([f"user{each}@example.com" for each in range(30) if each % 3])
    hole = bhm("--ledger", book, *(["--lmtp"] if dialect == "LMTP" else []), known)
    sent = postal(*SMALL, *LOADS[load], *(["-L"] if dialect == "LMTP" else []), "--messages", "600", "--ledger", book,
                  hole.endpoint, everybody)
    check_books(sent)
    assert sent.total("rejected") > 0 and sent.total("messages") > 0
    black = hole.stop()
    check_sent(book, sent)
    check_seen(book, black)
    for what in ("messages", "recipients"):
        assert black.total(what) == sent.total(what)
    found, status = report(book)
    assert status == 0
    assert found["found"] == found["acknowledged"] == found["seen"] == sent.total("recipients")
    wrong = ("lost", "misplaced", "unacknowledged", "duplicated", "corrupt", "misdelivered", "unknown", "foreign")
    assert not any(found[name] for name in wrong)


def test_counts_when_the_server_dies(bhm, programs, users_file, folder):
    """With messages that wait for their replies: in doubt, or failed when they had only begun."""
    book = folder / "book"
    hole = bhm("--delay", "end=300ms")
    with Sending(programs.postal, folder, *SMALL, "-t", "9", "-c", "-1", "--recipients", "1..3", "--ledger", book,
                 hole.endpoint, users_file(20)) as sending:
        wait_until(lambda: re.search(r"^[\d:.]+,[1-9]", sending.process.stdout, re.M), "the first messages")
        hole.process.kill()
        wait_until(lambda: re.search(r",[1-9]\d*,\d+,0$", sending.process.stdout, re.M), "errors")
        sending.signal(signal.SIGINT)
        done = sending.wait()
    assert done.total("in_doubt") > 0
    check_sent(book, done)
    assert number(book, "SELECT count(*) FROM sent_messages WHERE outcome = 'in_doubt' AND code IS NOT NULL") == 0


def test_several_runs_share_a_ledger(bhm, programs, users_file, folder, report):
    book, users = folder / "book", users_file(20)
    hole = bhm("--ledger", book)
    runs = [Sending(programs.postal, folder, *SMALL, "-t", "2", "-c", "-1", "--messages", "2000", "--ledger", book,
                    hole.endpoint, users, name=f"run-{each}") for each in range(3)]
    for done in [one.wait() for one in runs]:
        assert done.status == 0, done.stderr
        check_sent(book, done)
    check_seen(book, hole.stop())
    found, status = report(book)
    assert status == 0 and found["found"] == found["acknowledged"] == 6000
    assert number(book, "SELECT count(*) FROM runs") == 4


def test_kill_9(bhm, programs, users_file, folder, report):
    """All that was answered more than a second before postal was killed is in the ledger."""
    book = folder / "book"
    hole = bhm("--ledger", book)
    with Sending(programs.postal, folder, *SMALL, "-t", "4", "-c", "-1", "--rate", "2000/s", "--ledger", book,
                 hole.endpoint, users_file(20)) as sending:
        span = "SELECT coalesce(max(time_us) - min(time_us), 0) FROM sent"
        wait_until(lambda: has_begun(book) and number(book, span) > 1_500_000, "rows of a second and a half")
        sending.process.kill()
    hole.stop()
    assert ask(book, "PRAGMA integrity_check") == [("ok",)]
    last = number(book, "SELECT max(time_us) FROM seen")
    both = ("SELECT count(*) FROM seen s WHERE s.time_us < ? AND NOT EXISTS (SELECT 1 FROM sent t WHERE t.run = s.run "
            "AND t.session = s.session AND t.sequence = s.sequence AND t.recipient = s.mailbox)")
    change(book, "CREATE INDEX for_the_test ON sent(session, sequence)")
    assert number(book, both, last - 1_000_000) == 0
    assert number(book, "SELECT count(*) FROM seen WHERE time_us < ?", last - 1_000_000) > 0
    found, status = report(book)
    assert status == 0 and found["lost"] == 0 and found["found"] == found["acknowledged"]


@pytest.fixture(scope="module")
def clean_ledger(programs, tmp_path_factory):
    """A ledger of 400 messages that all came through, for the tests that damage copies of it. They have one sender, so that
    each is followed by some to the same mailbox, with which it is in order or not."""
    from support.postal import BlackHole, Sender  # pylint: disable=import-outside-toplevel
    place = tmp_path_factory.mktemp("clean")
    users, sender = place / "users", place / "sender"
    users.write_text("".join(f"user{each}@example.com\n" for each in range(10)))
    sender.write_text("sender@example.com\n")
    with BlackHole(programs.bhm, place, "--ledger", place / "book") as hole:
        Sender(programs.postal, place)(*SMALL, "-t", "1", "-c", "-1", "--messages", "400", "-f", sender,
                                       "--ledger", place / "book", hole.endpoint, users)
        hole.stop()
    return place / "book"


@pytest.fixture
def book(clean_ledger, folder):
    return shutil.copy(clean_ledger, folder / "book")


ONE = 123  # the row of seen that a fault is put into
COLUMNS = ("observer, run, session, sequence, mailbox, condition, way, server, uid_validity, uid, place, detail, time_us, "
           "sent_us")
COPY = f"INSERT INTO seen(number, {COLUMNS}) SELECT 1000 + number, {COLUMNS} FROM seen WHERE number = ?"
FAULTS = {
    # what is done to the row, what the report must count, which list names it, and whether a promise was broken
    "lost": ("DELETE FROM seen WHERE number = ?", {"lost": 1, "found": 399, "seen": 399}, "lost", 3),
    "duplicated": (COPY, {"duplicated": 1, "extra_copies": 1, "seen": 401}, "duplicated", 0),
    "truncated": ("UPDATE seen SET condition = 5, detail = 'truncated at octet 17' WHERE number = ?",
                  {"corrupt": 1, "corrupt_acknowledged": 1, "corrupt_truncated": 1}, "corrupt", 3),
    "misdelivered": ("UPDATE seen SET mailbox = (SELECT id FROM addresses WHERE id NOT IN (SELECT recipient FROM sent t "
                     "WHERE t.session = seen.session AND t.sequence = seen.sequence)) WHERE number = ?",
                     {"misdelivered": 1, "misplaced": 1, "found": 399}, "misdelivered", 3),
    "in doubt": ("UPDATE sent SET outcome = 4 WHERE (session, sequence) = "
                 "(SELECT session, sequence FROM seen WHERE number = ?)",
                 {"unacknowledged": 1, "acknowledged": 399, "found": 399, "sent_in_doubt": 1}, "unacknowledged", 0),
    "foreign": ("UPDATE seen SET run = NULL, condition = 2 WHERE number = ?",
                {"foreign": 1, "lost": 1, "found": 399, "seen": 399}, "lost", 3),
    "late": ("UPDATE seen SET time_us = time_us + 3600000000 WHERE number = ?", {"out_of_order": 1}, "out-of-order", 0),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_named(book, report, fault):
    what, expected, kind, wanted_status = FAULTS[fault]
    before, status = report(book)
    assert status == 0 and before["found"] == 400
    where, = ask(book, "SELECT session, sequence FROM seen_messages WHERE number = ?", ONE)
    assert change(book, what, ONE) == 1
    after, status = report(book)
    assert status == wanted_status
    changed = {name: value for name, value in after.items()
               if value != before[name] and not name.startswith("delivery")}
    assert changed == expected
    row, = report(book, kind)
    assert (int(row["session"]), int(row["sequence"])) == where
    others = {"lost", "unacknowledged", "duplicated", "corrupt", "misdelivered", "out-of-order"} - {kind}
    assert not any(report(book, other) for other in others)


def test_the_report_says_the_result_first(book, programs):
    change(book, "DELETE FROM seen WHERE number IN (7, 8)")
    for words, first in (((), f"{book}: 400 acknowledged messages: 2 lost, 0 corrupt"), (("--markdown",), "# Ledger")):
        done = run([programs.postal_report, "--ledger", book, *words])
        assert done.status == 3 and done.stdout.splitlines()[0] == first
    listed = run([programs.postal_report, "--ledger", book, "--list", "lost"])
    assert listed.status == 3 and len(listed.stdout.splitlines()) == 2
    assert all(re.fullmatch(r"[0-9a-f]{16}/0/\d+ \S+ -> \S+ \(\d+ octets\) accepted 250 2.0.0 at \S+Z", line)
               for line in listed.stdout.splitlines())


def test_the_report_when_nobody_has_looked(book, programs):
    change(book, "DELETE FROM seen")
    change(book, "DELETE FROM runs WHERE program = 'bhm'")
    done = run([programs.postal_report, "--ledger", book])
    assert done.status == 0 and "no run of this ledger has looked for messages yet" in done.stdout
    assert "400 acknowledged messages: 0 lost, 0 corrupt, 400 not looked for" in done.stdout


# What is no ledger.

def make_directory(path):
    path.mkdir()


def make_text(path):
    path.write_text("this is no database\n" * 100)


def make_database(path):
    change(path, "CREATE TABLE anything(a)")


def make_newer(clean, path):
    shutil.copy(clean, path)
    change(path, "PRAGMA user_version = 7")


def refusals(programs, path, users):
    """Each program that knows --ledger, with that file."""
    return ([programs.postal, "--ledger", path, "--messages", "1", "127.0.0.1:9", users],
            [programs.bhm, "--listen", "127.0.0.1:0", "--ledger", path],
            [programs.postal_report, "--ledger", path])


@pytest.mark.parametrize("what, reason", [
    ("directory", "is a directory"), ("text", "is no ledger"), ("database", "is a database, but no ledger"),
    ("newer", "has schema 7 of ledgers; this version knows schema 6 and reads 2 on"),
    ("nowhere", "No such file or directory")])
def test_refused_files(programs, users_file, folder, clean_ledger, what, reason):
    path = folder / "nowhere" / "book" if what == "nowhere" else folder / "book"
    if what == "newer":
        make_newer(clean_ledger, path)
    elif what != "nowhere":
        {"directory": make_directory, "text": make_text, "database": make_database}[what](path)
    for command in refusals(programs, path, users_file(3)):
        done = run(command)
        assert done.status == 1 and not done.stdout, command
        assert re.fullmatch(rf"\S+: --ledger: {re.escape(str(path))}: {re.escape(reason)}\n", done.stderr), done.stderr


def test_refused_when_locked(programs, users_file, book):
    with contextlib.closing(sqlite3.connect(book)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        for command in refusals(programs, book, users_file(3))[:2]:
            done = run(command)
            assert done.status == 1 and re.search(r": is locked by another program\n$", done.stderr), done.stderr
        assert run([programs.postal_report, "--ledger", book]).status == 0  # reading needs no lock


@pytest.mark.parametrize("words, reason", [
    (["--list", "lost"], "give --ledger FILE too"), (["--ledger", "BOOK", "x.json"], "x.json: No such file"),
    (["--ledger", "BOOK", "--list", "lost", "--html", "x.html"], "is not for --list"), (["--ledger", "BOOK", "--list", "x"], "--list")])
def test_refused_options(programs, book, words, reason):
    done = run([programs.postal_report, *[book if word == "BOOK" else word for word in words]])
    assert done.status == 1 and reason in done.stderr and len(done.stderr.splitlines()) == 1


def test_bhm_needs_to_verify(programs, folder):
    done = run([programs.bhm, "--ledger", folder / "book", "--verify", "off"])
    assert done.status == 1 and "leave --verify on" in done.stderr


# When the disk does not do what it should.

def test_sessions_wait_for_a_ledger_that_falls_behind(bhm, programs, users_file, folder, report):
    """Somebody keeps the file locked: postal slows down, says so once, and leaves no row out."""
    book = folder / "book"
    hole = bhm()
    with Sending(programs.postal, folder, *SMALL, "-t", "4", "-c", "-1", "--recipients", "60", "--ledger", book,
                 hole.endpoint, users_file(60)) as sending:
        wait_until(lambda: has_begun(book), "the ledger")
        with contextlib.closing(sqlite3.connect(book, timeout=30)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            wait_until(lambda: "sessions wait" in sending.process.stderr, "postal to say that it waits")
            lines = len(sending.process.stdout.splitlines())
            wait_until(lambda: len(sending.process.stdout.splitlines()) > lines + 2, "two whole intervals")
            assert [line.split(",")[1] for line in sending.process.stdout.splitlines()[-2:]] == ["0", "0"]
            holder.rollback()
        wait_until(lambda: sending.process.stdout.splitlines()[-1].split(",")[1] != "0", "messages again")
        sending.signal(signal.SIGINT)
        done = sending.wait()
    assert done.status == 0 and done.stderr.count("sessions wait") == 1
    check_sent(book, done)


def test_bhm_answers_later_when_its_ledger_falls_behind(bhm, programs, users_file, folder):
    book = folder / "book"
    hole = bhm("--ledger", book)
    with contextlib.closing(sqlite3.connect(book, timeout=30)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with Sending(programs.postal, folder, *SMALL, "-t", "4", "-c", "-1", "--recipients", "60", hole.endpoint,
                     users_file(60)) as sending:
            wait_until(lambda: "sessions wait" in hole.process.stderr, "bhm to say that it waits")
            lines = len(sending.process.stdout.splitlines())
            wait_until(lambda: len(sending.process.stdout.splitlines()) > lines + 2, "two whole intervals")
            assert sending.process.stdout.splitlines()[-1].split(",")[1] == "0"
            holder.rollback()
            wait_until(lambda: sending.process.stdout.splitlines()[-1].split(",")[1] != "0", "messages again")
            sending.signal(signal.SIGINT)
            done = sending.wait()
    assert done.status == 0 and done.total("in_doubt") == 0
    black = hole.stop()
    assert black.total("recipients") == done.total("recipients")
    check_seen(book, black)


def small_files():
    """No file of this process may grow beyond 1 MiB: a disk that is full, for everybody who writes with write(2)."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


def test_a_full_disk_ends_the_run(bhm, programs, users_file, folder):
    hole = bhm()
    done = subprocess.run([str(word) for word in (
        programs.postal, *SMALL, "-t", "4", "-c", "-1", "--recipients", "20", "--rate", "1000/s", "--ledger",
        folder / "book", hole.endpoint,
        users_file(60))], preexec_fn=small_files, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert len(re.findall(r"^postal: --ledger: .*book: ", done.stderr, re.M)) == 1, done.stderr
    assert number(folder / "book", "SELECT count(*) FROM sent") > 0
