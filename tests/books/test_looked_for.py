# SPDX-License-Identifier: GPL-3.0-or-later
"""What a ledger's report calls lost was looked for, and what it calls found is there still: readers that read a part, that
are not let in, that read again after something has gone, and that know one store by two names."""
import contextlib
import re
import signal
import sqlite3

import pytest

from conftest import login_names
from support.postal import check_reading, run
from support.process import wait_until
from support.watched import Sending

USERS, COUNT = 4, 40
WAYS = ["pop3", "imap"]


@pytest.fixture
def filled(dovecot, postal, users_file, folder):
    """A Dovecot with COUNT messages of postal's, noted in `book`, an even share for each user."""
    server = dovecot(USERS, reading=True)
    server.book, server.logins = folder / "book", users_file(login_names(server.users))
    for user in server.users:
        sent = postal("-L", "-M", "1", "-m", "1", "-c", "-1", "--messages", COUNT // USERS, "--ledger", server.book,
                      server.endpoint, users_file([user]))
        assert sent.total("messages") == COUNT // USERS
    return server


@pytest.fixture
def read(filled, rabid):
    """read(way, word, …, users=…) visits each of the users' mailboxes once, into the ledger."""
    def visit(way, *words, logins=None, count=USERS, endpoint=None, status=0):
        share = ["-i", "100", "--imap", endpoint or filled.imap] if way == "imap" else []
        return rabid("-p", count, "--connections", count, "--ledger", filled.book, *words, *share,
                     endpoint or filled.pop3, logins or filled.logins, status=status)
    return visit


def adds_up(found):
    parts = ("found", "vanished", "lost", "not_looked_for", "not_known", "misplaced")
    return found["acknowledged"] == COUNT == sum(found[name] for name in parts)


def take_away(server, user, count=1):
    """Files that somebody deletes behind the server's back."""
    files = sorted(path for folder in ("cur", "new") for path in (server.mail / user / "Maildir" / folder).iterdir())
    for path in files[:count]:
        path.unlink()


@pytest.mark.parametrize("way", WAYS)
def test_what_was_seen_and_is_gone_has_vanished(filled, read, report, programs, way):
    """Read, something happens, read again."""
    for _ in range(2):
        check_reading(read(way, "-d", "100:0"))
        found, status = report(filled.book)
        assert status == 0 and found["found"] == COUNT and adds_up(found)
    take_away(filled, filled.users[2])
    check_reading(read(way, "-d", "100:0"))
    found, status = report(filled.book)
    assert status == 3 and found["vanished"] == 1 and found["found"] == COUNT - 1 and adds_up(found)
    row, = report(filled.book, "vanished")
    assert row["recipient"] == row["mailbox"] == filled.users[2] and row["way"] == way
    said = run([programs.postal_report, "--ledger", filled.book]).stdout
    assert f"{COUNT} acknowledged messages: 0 lost, 0 corrupt, 1 vanished" in said


@pytest.mark.parametrize("way", WAYS)
def test_what_rabid_itself_deletes_has_not_vanished(filled, read, report, way):
    """Half of it at first, and then the rest."""
    first = read(way, "-d", "100:50")
    assert 0 < first.total("deleted") < COUNT
    for words in (("-d", "100:0"), (), ("-d", "100:0")):
        check_reading(read(way, *words))
        found, status = report(filled.book)
        assert status == 0 and found["found"] == COUNT and adds_up(found)
    assert not filled.all_mail()


def test_what_rabid_moves_has_not_vanished(filled, read, report, folder):
    profile = folder / "mover.toml"
    profile.write_text('first = ["read", "move", "move"]\n')
    moved = read("imap", "-d", "100:0", "--profile", profile)
    check_reading(moved)
    check_reading(read("imap", "-d", "100:0"))
    assert len(filled.all_mail()) == COUNT - 2 * USERS
    found, status = report(filled.book)
    assert status == 0 and found["found"] == COUNT and adds_up(found)


@pytest.mark.parametrize("way", WAYS)
def test_mailboxes_that_nobody_read_are_named(filled, read, report, programs, users_file, way):
    """One of four mailboxes; then a message of it goes, which is lost."""
    one = users_file(login_names(filled.users[:1]))
    check_reading(read(way, "-d", "100:0", logins=one, count=1))
    found, status = report(filled.book)
    assert status == 0 and found["lost"] == 0 and found["not_looked_for"] == COUNT * 3 // 4 and adds_up(found)
    assert {(row["recipient"], row["detail"]) for row in report(filled.book, "not-looked-for")} == \
        {(user, "no reader visited it") for user in filled.users[1:]}
    said = run([programs.postal_report, "--ledger", filled.book]).stdout
    assert re.search(rf"^ *{re.escape(filled.users[1])} +{COUNT // USERS} +no reader visited it$", said, re.M), said
    assert "0 lost, 0 corrupt, 30 not looked for" in said and "nothing lost" not in said
    take_away(filled, filled.users[1], 3)
    check_reading(read(way, "-d", "100:0"))
    found, status = report(filled.book)
    assert status == 3 and found["lost"] == 3 and found["not_looked_for"] == 0 and adds_up(found)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("words, reason", [
    (["-d", "50:0"], r"\d+ of 10 messages were read: -c, -d or the profile wants no more"),
    (["-d", "100:0", "-c", "3"], r"3 of 10 messages were read: -c, -d or the profile wants no more")])
def test_a_part_of_a_mailbox_is_no_reading(filled, read, report, way, words, reason):
    done = read(way, *words)
    check_reading(done)
    found, status = report(filled.book)
    assert status == 0 and found["lost"] == 0 and adds_up(found)
    assert found["found"] == done.total("messages") and found["not_looked_for"] == COUNT - done.total("messages") > 0
    rows = report(filled.book, "not-looked-for")
    assert rows and all(re.fullmatch(reason, row["detail"]) for row in rows), rows[:3]


def test_who_chooses_what_to_read_knows_no_order(filled, read, report, programs):
    """Over POP3 a message is seen when a visit chose it."""
    for _ in range(3):
        check_reading(read("pop3", "-c", "3"))
    found, status = report(filled.book)
    assert status == 0 and found["out_of_order"] == 0 and found["lost"] == 0 and adds_up(found)
    said = run([programs.postal_report, "--ledger", filled.book]).stdout
    assert f"the order of {found['found']} messages is not known: POP3 visits read only a part of the mailbox" in said, said


@pytest.mark.parametrize("way", WAYS)
def test_logins_that_are_refused_lose_nothing(filled, read, report, users_file, way):
    wrong = users_file([f"{user} wrong" for user in filled.users])
    read(way, logins=wrong, status=4)
    found, status = report(filled.book)
    assert status == 0 and found["not_looked_for"] == COUNT and adds_up(found)
    rows = report(filled.book, "not-looked-for")
    assert all(row["detail"].startswith("login refused: ") for row in rows), rows[:3]


def test_what_came_after_a_reading_was_not_looked_for(filled, read, report, postal, users_file):
    check_reading(read("imap", "-d", "100:0"))
    postal("-L", "-M", "1", "-m", "1", "-c", "-1", "--messages", 5, "--ledger", filled.book, filled.endpoint,
           users_file(filled.users[:1]))
    found, status = report(filled.book)
    assert status == 0 and found["found"] == COUNT and found["not_looked_for"] == 5
    assert {row["detail"] for row in report(filled.book, "not-looked-for")} == {"it was read before that, and not since"}


@pytest.mark.parametrize("way", WAYS)
def test_one_store_under_two_names(filled, read, report, programs, way):
    """As its plain and its TLS port are."""
    port = (filled.imap if way == "imap" else filled.pop3).rpartition(":")[2]
    check_reading(read(way, "-d", "100:0"))
    check_reading(read(way, "-d", "100:0", endpoint=f"localhost:{port}"))
    found, _ = report(filled.book)
    assert found["duplicated"] == COUNT
    said = run([programs.postal_report, "--ledger", filled.book])
    assert f"{COUNT} messages are duplicated with the same ids on two servers" in said.stdout
    said = run([programs.postal_report, "--ledger", filled.book, "--one-store"])
    assert said.status == 0 and "duplicated" not in said.stdout.splitlines()[0]


def test_a_store_with_a_name_is_one(filled, read, report):
    port = filled.imap.rpartition(":")[2]
    for endpoint in (filled.imap, f"localhost:{port}"):
        check_reading(read("imap", "-d", "100:0", "--store", "mail", endpoint=endpoint))
    found, status = report(filled.book)
    assert status == 0 and found["duplicated"] == 0 and found["found"] == COUNT


def test_each_mailbox_has_a_row(filled, read):
    """As others see it, with sqlite3."""
    read("imap", "-d", "100:0")
    read("pop3", "-d", "0:0")
    book = sqlite3.connect(filled.book)
    rows = book.execute("SELECT mailbox, extent, messages, looked_at, way FROM mailbox_visits ORDER BY way, mailbox").fetchall()
    book.close()
    share = COUNT // USERS
    assert rows == [*((user, "complete", share, share, "imap") for user in filled.users),
                    *((user, "partly", share, 0, "pop3") for user in filled.users)]


def test_a_watch_that_comes_again_accuses_nobody(filled, report, programs, postal, users_file, folder):
    """The server ends under --watch and begins again. What came while nobody watched was not looked for; the rest was found."""
    def seen_by_all(since):
        with contextlib.closing(sqlite3.connect(filled.book, timeout=10)) as book:
            return book.execute("SELECT count(DISTINCT mailbox) FROM seen WHERE number > ?", (since,)).fetchone()[0] == USERS

    def rows():
        with contextlib.closing(sqlite3.connect(filled.book, timeout=10)) as book:
            return book.execute("SELECT coalesce(max(number), 0) FROM seen").fetchone()[0]

    sent = COUNT

    def send_until_all_see(since):
        nonlocal sent
        postal("-L", "-M", "1", "-m", "1", "-c", "-1", "--recipients", USERS, "--messages", USERS, "--ledger", filled.book, filled.endpoint,
               users_file(filled.users))
        sent += USERS
        return seen_by_all(since)

    with Sending(programs.rabid, folder, "-i", "100", "-p", USERS, "--watch", "300ms", "-d", "100:0", "--ledger", filled.book,
                 "--imap", filled.imap, filled.imap, filled.logins) as watching:
        wait_until(lambda: send_until_all_see(0), "all accounts to be watched")
        filled.stop()
        filled.start()
        before = rows()
        wait_until(lambda: send_until_all_see(before), "all accounts to be watched again")
        watching.signal(signal.SIGTERM)
        assert watching.wait().status == 0
    found, status = report(filled.book)
    assert status == 0 and found["lost"] == found["vanished"] == found["duplicated"] == 0
    assert found["acknowledged"] == sent == found["found"] + found["not_looked_for"] + found["not_known"]
    assert found["found"] >= 2 * USERS and found["not_looked_for"] >= COUNT
