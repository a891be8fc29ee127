# SPDX-License-Identifier: GPL-3.0-or-later
"""postal and rabid with one ledger and a Dovecot between them: nothing wrong means nothing reported, and each fault that
is put into a Maildir by hand is named exactly, with the message that it befell.
"""
import base64
import contextlib
import json
import os
import pathlib
import re
import shutil
import sqlite3
import time

import pytest

from conftest import login_names
from support.ledger import WRONG
from support.mail import to_crlf
from support.postal import check_books, check_reading
from support.process import wait_until
from support.relay import Relay

WAYS = ["pop3", "imap"]
COUNT = 24
# As postal 0.76 of Debian 12 (amd64) sent it; tests/unit/mail/difference_test.cpp has it, too.
ORIGINAL = (b"From: <u2@example.com>\r\nTo: <u1@example.com>\r\nSubject: q>Z(6:,sJc\r\n"
            b"Date: Fri, 20 Nov 2026 20:13:31 +0000\r\nMessage-Id: <6B00A9F6.157.001.u2@example.com>\r\n"
            b"X-PostalHash: e2df045f08b3f308aaf7f1d25bf74cd6\r\n"
            b"X-Postal: 0.75 - the mad postman.\r\nX-Postal: http://www.coker.com.au/postal/\r\n"
            b"X-Postal: This is not a real email.\r\n\r\n")


def ask(path, sql):
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as book:
        return book.execute(sql).fetchall()


def deliver(postal, server, users_file, book, *words):
    sent = postal("-L", "-t", "1", "-c", "-1", "-M", "2", "-m", "6", "--messages", COUNT, "--ledger", book, *words,
                  server.endpoint, users_file(server.users))
    check_books(sent)
    assert sent.total("messages") == COUNT
    return server.wait_for(COUNT)


def look(rabid, server, users_file, way, book, *words):
    """Every user's mailbox is read once; the runs."""
    share = ["-i", "100", "--imap", server.imap] if way == "imap" else []
    runs = []
    for user in server.users:
        runs.append(rabid("--connections", "1", "-d", "100:0", "--ledger", book, *words, *share, server.pop3,
                          users_file(login_names([user]))))
        check_reading(runs[-1])
    return runs


class Book:
    """What a test needs: the ledger, its Dovecot, and one message in it that a fault befalls."""

    def __init__(self, path, server, victim):
        self.path, self.server, self.victim = path, server, victim

    file = property(lambda self: pathlib.Path(self.victim.source))

    def rewrite(self, change):
        """Puts change(octets) in the place of the message's file, with nothing about its size in its name."""
        octets = self.file.read_bytes()
        changed = change(octets)
        assert changed != octets
        self.put(re.sub(r",[SW]=\d+", "", str(self.file)), changed)

    def put(self, path, octets):
        """Without Dovecot's idea of the file that it had."""
        stat = self.file.stat()
        self.file.unlink()
        path = pathlib.Path(path)
        path.write_bytes(octets)
        os.chown(path, stat.st_uid, stat.st_gid)

    def copy(self, to, name):
        stat = self.file.stat()
        shutil.copyfile(self.file, pathlib.Path(to) / name)
        os.chown(pathlib.Path(to) / name, stat.st_uid, stat.st_gid)

    def other_user(self):
        """A user in whose Maildir the message does not belong, and that Maildir's folder of new mail."""
        own = self.file.parent.parent.parent.name
        other = next(user for user in self.server.users if user != own)
        return other, self.server.mail / other / "Maildir" / "new"

    @property
    def owner(self):
        return self.file.parent.parent.parent.name


@pytest.fixture
def delivered(dovecot, postal, users_file, folder):
    """delivered(body) is a Book: COUNT messages that have just been delivered, and one of them in hand."""
    def make(body, *words, wanted=lambda message: True):
        server = dovecot(3, reading=True)
        mail = deliver(postal, server, users_file, folder / "book", "--body", body, *words)
        victim = next(message for message in mail if message.body.count(b"\r\n") > 8 and wanted(message))
        return Book(folder / "book", server, victim)
    return make


def late_ones(server):
    """How many messages stand behind one with a higher number of the same session and sender, as imaplib sees it:
    Dovecot's Maildirs do that when several deliveries to a mailbox contend for its lock."""
    count = 0
    for user in server.users:
        highest = {}
        for message in server.imap_mail(user):
            stream, number = (message.identity["s"], message.text("from")), int(message.identity["n"])
            count += number < highest.get(stream, -1)
            highest[stream] = max(number, highest.get(stream, -1))
    return count


@pytest.mark.thinned(5)
@pytest.mark.parametrize("store", ["maildir", "sdbox", "mdbox"])
@pytest.mark.parametrize("way", WAYS)
def test_nothing_wrong(dovecot, postal, rabid, users_file, folder, report, way, store):
    """Also when every message is seen four times, half of them through the other protocol, and is then deleted."""
    server, book = dovecot(3, reading=True, store=store), folder / "book"
    sent = postal("-L", "-t", "3", "-c", "-1", "-M", "1", "-m", "20", "--recipients", "1..3", "--body",
                  "ascii=20,8bit=20,dots=20,long-lines=10,crlf-edge=20,multipart=10", "--messages", COUNT,
                  "--ledger", book,
                  server.endpoint, users_file(server.users))
    check_books(sent)
    assert sent.record["errors"] == []
    copies = sent.total("recipients")
    for each in (way, way, *WAYS):
        runs = look(rabid, server, users_file, each, book)
        counts = [run.record["integrity"] for run in runs]
        assert sum(count["verified"] for count in counts) == copies, (each, counts, [run.record["errors"] for run in runs])
    late = late_ones(server)
    share = ["-i", "100", "--imap", server.imap] if way == "imap" else []
    last = rabid("-p", "3", "--connections", "36", "--ledger", book, *share, server.pop3,
                 users_file(login_names(server.users)))
    assert last.total("deleted") == copies
    found, status = report(book)
    assert status == 0, found
    assert found["acknowledged"] == found["found"] == copies
    assert found["seen"] == 5 * copies
    assert found["out_of_order"] == late
    assert not {name: found[name] for name in WRONG if found.get(name)}


def flip(octets):
    """One bit of an octet in the middle of a line of the body, where it stays a printable letter."""
    at = re.compile(rb"[a-np-y][a-z]", re.I).search(octets, octets.index(b"\n\n") + 60).start()
    return octets[:at] + bytes([octets[at] ^ 0x01]) + octets[at + 1:]


def header_fields(octets, change):
    header, blank, body = octets.partition(b"\n\n")
    return change(header) + blank + body


def first_line_that(octets, pattern, replacement):
    """The replacement in the first place of the body that fits."""
    header, blank, body = octets.partition(b"\n\n")
    changed, count = re.subn(pattern, replacement, body, count=1)
    assert count == 1, f"no line fits {pattern}"
    return header + blank + changed


def stripped(octets):
    return bytes(octet & 0x7f for octet in octets)


def strip_a_line(octets):
    """The first line of the body in which that makes no CR, LF or NUL."""
    lines = octets.split(b"\n")
    at = next(at for at, line in enumerate(lines) if at > lines.index(b"") and stripped(line) != line
              and not set(line) & {0x80, 0x8a, 0x8d})
    return b"\n".join([*lines[:at], stripped(lines[at]), *lines[at + 1:]])


def recoded(octets):
    """As a relay to a server without 8BITMIME may hand it on (RFC 6152 3)."""
    header, _, body = octets.partition(b"\n\n")
    header = re.sub(rb"(?mi)^(Content-Transfer-Encoding: ).*", rb"\1base64", header)
    return header + b"\n\n" + base64.encodebytes(to_crlf(body))


# fault: (kind of body, what is done to the file, the condition in the ledger, how its detail reads)
DAMAGE = {
    "truncated": ("ascii", lambda octets: octets[:-200] + b"\n", "truncated", r"truncated at byte \d+ of \d+"),
    "cut at a line's end": ("ascii", lambda octets: octets[:octets.rindex(b"\n", 0, -100) + 1], "truncated",
                            r"truncated at byte \d+ of \d+"),
    "a byte flipped": ("ascii", flip, "octet_changed", r"byte \d+ changed from 0x\w\w to 0x\w\w"),
    "high bits stripped": ("8bit", strip_a_line, "eight_bit_stripped",
                           r"8th bit stripped from byte \d+ on, 0x[89a-f]\w became 0x[0-7]\w"),
    "a dot added": ("dots", lambda octets: first_line_that(octets, rb"(?m)^\.", b".."), "dot_added", r"dot added at line \d+"),
    "a dot lost": ("dots", lambda octets: first_line_that(octets, rb"(?m)^\.\.", b"."), "dot_lost", r"dot lost at line \d+"),
    # Dovecot makes CRLF of LF, so that a line end must be lost, or be another one, to be seen.
    "line ends of another kind": ("ascii", lambda octets: header_fields(octets, lambda head: head)[:octets.index(b"\n\n") + 2]
                                  + octets[octets.index(b"\n\n") + 2:].replace(b"\n", b"\r"),
                                  "line_ends_changed", r"line endings changed from CRLF to CR at line 1"),
    "line ends lost": ("ascii", lambda octets: first_line_that(octets, rb"(?m)(?<=\w)\n(?=\w)", b""), "corrupt", r".+"),
    "the subject rewritten": ("ascii", lambda octets: header_fields(octets, lambda head: re.sub(
        rb"(?m)^Subject: ", b"Subject: [SPAM] ", head)), "header_changed", r"header Subject rewritten"),
    "two headers rewritten and a footer added": ("ascii", lambda octets: header_fields(octets, lambda head: re.sub(
        rb"(?m)^(Subject|Date): ", rb"\1: [SPAM] ", head)) + b"-- \nfooter\n", "corrupt",
        r"\d+ bytes too many from byte \d+ on; headers Subject and Date rewritten"),
    "recoded, with a footer": ("8bit", lambda octets: recoded(octets + b"-- \nfooter\n"), "corrupt",
                               r"body recoded as base64; \d+ bytes too many from byte \d+ on"),
    "the identity says another run": ("ascii", lambda octets: re.sub(rb"run=\w{16}", b"run=00000000000000aa", octets),
                                      "header_changed", r"header X-Postal-Id rewritten"),
    "the identity says another number": ("ascii", lambda octets: re.sub(rb"; n=\d+;", b"; n=777;", octets),
                                         "header_changed", r"header X-Postal-Id rewritten"),
    "identity unreadable": ("ascii", lambda octets: header_fields(octets, lambda head: re.sub(
        rb"X-Postal-Id:[ \t]*v=1; run=\w+", b"X-Postal-Id: v=1; run=nobody", head)), "unreadable",
        r"identity header unreadable"),
}


@pytest.mark.parametrize("way", WAYS)
def test_high_bits_stripped_where_that_makes_line_ends(delivered, rabid, users_file, report, way):
    """Dovecot makes CRLF of the LF that comes of 0x8a; it is the same fault all the same."""
    def strip_from_there(octets):
        at = octets.index(b"\x8a", octets.index(b"\n\n"))
        while octets[at - 1] >= 0x80 and octets[at] < 0xc0:  # to where the character begins
            at -= 1
        return octets[:at] + stripped(octets[at:])

    book = delivered("8bit", wanted=lambda message: 0x8a in message.body)
    book.rewrite(strip_from_there)
    look(rabid, book.server, users_file, way, book.path)
    found, status = report(book.path)
    assert status == 3 and found["corrupt"] == 1
    [row] = report(book.path, "corrupt")
    assert row["condition"] == "eight_bit_stripped", row
    assert re.fullmatch(DAMAGE["high bits stripped"][3], row["detail"]), row


@pytest.mark.thinned(3)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fault", DAMAGE)
def test_one_message_is_damaged(delivered, rabid, users_file, report, fault, way):
    body, change, condition, detail = DAMAGE[fault]
    book = delivered(body)
    key, owner = book.victim.key, book.owner
    book.rewrite(change)
    runs = look(rabid, book.server, users_file, way, book.path)
    assert sum(run.total("messages") for run in runs) == COUNT
    assert sum(run.record["integrity"]["corrupt"] for run in runs) == 1
    [error] = [error for run in runs for error in run.record["errors"]]
    assert (error["stage"], error["reason"], error["count"]) == ("check", condition, 1)
    assert re.search(detail, json.dumps(error))
    found, status = report(book.path)
    assert status == 3
    assert found["corrupt"] == 1
    [row] = report(book.path, "corrupt")
    assert row["condition"] == condition and re.fullmatch(detail, row["detail"])
    assert row["mailbox"] == owner
    if condition == "unreadable":
        assert found["lost"] == 1, "nobody can tell which message it is"
        return
    assert (row["run"], row["session"], row["sequence"]) == key
    assert not {name: found[name] for name in WRONG if name != "corrupt" and found.get(name)}


@pytest.mark.parametrize("way", WAYS)
def test_one_message_is_removed(delivered, rabid, users_file, report, way):
    book = delivered("ascii")
    book.file.unlink()
    look(rabid, book.server, users_file, way, book.path)
    found, status = report(book.path)
    assert status == 3 and found["found"] == COUNT - 1
    assert {name: found[name] for name in WRONG if found.get(name)} == {"lost": 1}
    [row] = report(book.path, "lost")
    assert (row["run"], row["session"], row["sequence"]) == book.victim.key
    assert row["recipient"] == book.owner


@pytest.mark.parametrize("way", WAYS)
def test_one_message_is_there_twice(delivered, rabid, users_file, report, way):
    """It is twice the same message, and not one that was seen twice."""
    book = delivered("ascii")
    book.copy(book.file.parent, "1700000000.M1P1.copy")
    for _ in range(2):
        runs = look(rabid, book.server, users_file, way, book.path)
        assert sum(run.record["integrity"]["duplicate"] for run in runs) == 1
        assert sum(run.record["integrity"]["verified"] for run in runs) == COUNT + 1
    found, status = report(book.path)
    assert status == 0 and found["extra_copies"] == 1
    wrong = {name: found[name] for name in WRONG if found.get(name)}
    assert wrong == {"duplicated": 1}
    [row] = report(book.path, "duplicated")
    assert (row["run"], row["session"], row["sequence"]) == book.victim.key


@pytest.mark.thinned(3)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("how", ["moved", "copied"])
def test_one_message_is_in_the_wrong_mailbox(delivered, rabid, users_file, report, way, how):
    book = delivered("ascii")
    other, place = book.other_user()
    assert f"<{other}>" not in book.victim.text("to")
    book.copy(place, "1700000000.M1P1.astray")
    if how == "moved":
        book.file.unlink()
    runs = look(rabid, book.server, users_file, way, book.path)
    assert all(run.record["integrity"]["corrupt"] == 0 for run in runs)
    found, status = report(book.path)
    wrong = {name: found[name] for name in WRONG if found.get(name)}
    assert wrong == ({"misdelivered": 1, "misplaced": 1} if how == "moved" else {"misdelivered": 1})
    assert status == (3 if how == "moved" else 0) or how == "copied"
    [row] = report(book.path, "misdelivered")
    assert (row["run"], row["session"], row["sequence"], row["mailbox"]) == (*book.victim.key, other)


@pytest.mark.parametrize("way", WAYS)
def test_a_message_that_nobody_acknowledged_and_one_of_a_stranger(delivered, postal, rabid, users_file, report, way):
    """A copy from another run, whose sender kept no books, is unknown; a stranger's mail is foreign."""
    book = delivered("ascii")
    user = book.owner
    before = book.server.all_mail()
    postal("-L", "-M", "1", "-m", "1", "--messages", "1", book.server.endpoint, users_file([user]))
    assert len(book.server.wait_for(COUNT + 1)) == len(before) + 1
    book.server.put(user, b"From: <a@example.net>\r\nSubject: hello\r\n\r\nhello\r\n")
    look(rabid, book.server, users_file, way, book.path)
    found, _ = report(book.path)
    assert found["lost"] == 0 and found["found"] == found["acknowledged"] == COUNT
    assert (found["unknown"], found["foreign"]) == (1, 1)


@pytest.mark.parametrize("way", WAYS)
def test_a_mailbox_that_is_made_anew_between_two_looks(delivered, rabid, users_file, report, way):
    """Its messages have new UIDs under a new UIDVALIDITY, and are the same."""
    book = delivered("ascii")
    look(rabid, book.server, users_file, way, book.path)
    book.server.stop()
    for made in [*book.server.mail.rglob("dovecot*")]:
        if made.is_file():
            made.unlink()
    # So that the order of the files, by which Dovecot numbers them anew, is not the one from before.
    for number, path in enumerate(sorted(book.server.mail.glob("*/Maildir/cur/*")), 1):
        path.rename(path.with_name(f"{1700000000 - number}.M1P1.anew:2,S"))
    (newest,), = ask(book.path, "SELECT max(uid_validity) FROM seen")
    wait_until(lambda: time.time() > newest + 1, "another UIDVALIDITY, which is a time in seconds")
    book.server.start()
    look(rabid, book.server, users_file, way, book.path)
    found, status = report(book.path)
    assert status == 0 and found["seen"] == 2 * COUNT and found["found"] == COUNT
    validities = ask(book.path, "SELECT count(DISTINCT uid_validity) FROM seen WHERE mailbox = (SELECT mailbox FROM seen)")
    if way == "imap":
        assert validities == [(2,)] and not {name: found[name] for name in WRONG if found.get(name)}


def test_two_servers_with_equal_uids(delivered, dovecot, rabid, users_file, report):
    """The same message lies on both: that is one copy too many."""
    book = delivered("ascii")
    other = dovecot(3, reading=True)
    for path in [*book.server.mail.glob("*/Maildir/new/*"), *book.server.mail.glob("*/Maildir/cur/*")]:
        other.put(path.parent.parent.parent.name, to_crlf(path.read_bytes()))
    for server in (book.server, other):
        look(rabid, server, users_file, "imap", book.path)
    with contextlib.closing(sqlite3.connect(book.path)) as ledger, ledger:
        ledger.execute("UPDATE seen SET uid_validity = 7, uid = 1 + sequence, place = 0")
    found, status = report(book.path)
    assert status == 0 and (found["duplicated"], found["extra_copies"]) == (COUNT, COUNT)
    with contextlib.closing(sqlite3.connect(book.path)) as ledger:
        assert {server for server, in ledger.execute("SELECT DISTINCT server FROM seen_messages")} == {
            book.server.imap, other.imap}


@pytest.mark.parametrize("way", WAYS)
def test_deletions_between_visits_change_no_order(dovecot, rabid, postal, users_file, folder, report, way):
    """POP3 counts the messages of a mailbox anew on each visit. Nothing is delivered while somebody reads: Dovecot may then give
    a message its UID after that of a later one."""
    server, book, sender = dovecot(2, reading=True), folder / "book", users_file(["sender@example.com"], "sender")
    share = ["-i", "100", "--imap", server.imap] if way == "imap" else []
    for _ in range(3):
        sent = postal("-L", "-t", "1", "-c", "-1", "-f", sender, "--messages", "20", "-M", "1", "-m", "1", "--ledger", book,
                      server.endpoint, users_file(server.users))
        assert sent.total("messages") == 20
        read = [rabid("--connections", "1", "--ledger", book, *share, server.pop3, users_file(login_names([user])))
                for user in server.users]
        assert sum(one.total("deleted") for one in read) == sum(one.total("messages") for one in read) == 20
    found, status = report(book)
    assert status == 0 and found["found"] == found["seen"] == 60
    assert found["out_of_order"] == 0


def test_the_same_uid_twice_in_a_session_is_one_copy(delivered, rabid, users_file, folder, report):
    book = delivered("ascii")
    profile = folder / "twice.toml"
    profile.write_text('first = ["read", "read", "read"]\n')
    for run in look(rabid, book.server, users_file, "imap", book.path, "--profile", profile):
        assert run.record["integrity"]["duplicate"] == 0 and run.total("messages") % 3 == 0
    found, status = report(book.path)
    assert status == 0 and found["seen"] == 3 * COUNT and found["duplicated"] == 0


@pytest.mark.parametrize("way", WAYS)
def test_mail_of_the_original_postal_belongs_to_no_run(delivered, rabid, users_file, report, way):
    """Also when its digest is wrong; nor does mail that was cut off in its identity header."""
    book = delivered("ascii")
    identity = to_crlf(book.file.read_bytes()).partition(b"X-Postal-Id:")
    for text in (ORIGINAL, ORIGINAL + b"x\r\n", b"X-Postal: postal/1.0.0\r\nX-Postal-Id:" + identity[2][:30] + b"\r\n"):
        book.server.put(book.owner, text)
    runs = look(rabid, book.server, users_file, way, book.path)
    assert sum(run.record["integrity"]["original"] for run in runs) == 2
    assert any(re.search(r"^  integrity .* of the original postal", run.stderr, re.M) for run in runs)
    assert sum(run.record["integrity"]["corrupt"] for run in runs) == 2
    found, status = report(book.path)
    assert status == 0 and found["found"] == found["seen"] - 1 == COUNT
    assert (found["original"], found["corrupt"], found["corrupt_original_corrupt"], found["unknown"]) == (2, 2, 1, 0)
    assert all(not row["run"] for row in report(book.path, "corrupt"))
    assert ask(book.path, "SELECT count(*) FROM runs WHERE run = '0000000000000000'") == [(0,)]


def test_what_was_accepted_and_never_acknowledged(dovecot, postal, rabid, users_file, folder, report):
    """The connection breaks between the data and its reply: in doubt, and found all the same."""
    server, book = dovecot(1, reading=True), folder / "book"

    class Deaf(Relay):
        """Closes every third connection when Dovecot answers the data."""
        connections = 0

        def listeners(self):
            self.connections += 1
            breaks = self.connections % 3 == 0

            def from_server(lines):
                if breaks and b"2.0.0 <" in lines:
                    raise OSError("the reply is lost")
            return None, from_server

    with Deaf(server.port) as relay:
        sent = postal("-L", "-t", "1", "-c", "1", "-M", "1", "-m", "2", "--messages", "12", "--ledger", book,
                      relay.endpoint, users_file(server.users))
    check_books(sent)
    assert sent.total("in_doubt") > 0
    server.wait_for(sent.total("messages") + sent.total("in_doubt"))
    look(rabid, server, users_file, "imap", book)
    found, status = report(book)
    assert status == 0 and found["lost"] == 0
    assert found["unacknowledged"] == sent.total("in_doubt")
    assert found["acknowledged"] == sent.total("messages")
