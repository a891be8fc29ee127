# SPDX-License-Identifier: GPL-3.0-or-later
"""What rabid makes of the UIDs that an IMAP server tells it: also of messages that EXISTS has yet to tell of, and of more
than fit into one command."""
import contextlib
import re
import sqlite3

import pytest

from conftest import login_names, user_names
from support.hostile_imap import HostileImap, ImapSession, numbers
from support.hostile_pop3 import HostilePop3, PopSession
from support.mail import made_message
from support.watched import Sending

STRANGER = b"From: <friend@example.net>\r\nSubject: dinner\r\n\r\nSeven?\r\n"


class Storing(ImapSession):
    """Notes what is marked as seen, one list of UIDs for each command."""

    async def store(self, rest):
        if b"\\Seen" in rest:
            self.server.stored.append(numbers(rest.split(b" ")[0], 1 << 32))
            self.server.longest = max(self.server.longest, len(self.line))
        await super().store(rest)

    COMMANDS = ImapSession.COMMANDS | {b"STORE": store}


class Late(Storing):
    """As Cyrus: SEARCH and FETCH know two messages of which EXISTS comes afterwards."""

    async def select(self, rest):
        whole, self.mail = self.mail, dict(list(self.mail.items())[:-2])
        await super().select(rest)
        self.mail = whole

    async def search(self, _):
        last = len(self.mail)
        await self.send(b"* SEARCH %d %d\r\n" % (last - 1, last) + self.done())

    async def fetch(self, rest):
        await super().fetch(rest)
        await self.send(b"* %d EXISTS\r\n" % len(self.mail))

    COMMANDS = Storing.COMMANDS | {b"SELECT": select, b"SEARCH": search, b"FETCH": fetch}


@pytest.fixture
def read(programs, folder, users_file):
    """read(server, verb, …) is one session of a profile with these verbs, into folder/book."""
    def session(server, *verbs, words=()):
        server.stored, server.longest = [], 0
        profile = folder / "profile.toml"
        profile.write_text(f"first = [{', '.join(repr(verb) for verb in verbs)}]\n".replace("'", '"'))
        with Sending(programs.rabid, folder, "--interval", "200ms", "--connections", "1", "-i", "100", "--imap", server.endpoint,
                     "--profile", profile, "--ledger", folder / "book", *words, server.endpoint,
                     users_file(login_names(user_names(1)))) as run:
            return run.wait(60)
    return session


def test_a_uid_of_a_message_that_exists_has_not_told_is_kept(read, folder, report):
    with HostileImap(mail=[made_message(number) for number in range(8)], session=Late) as server:
        run = read(server, "read-new", words=("-d", "100:0"))
    assert {error["reason"] for error in run.record["errors"]} == {"contradiction"}, run.record["errors"]
    assert run.record["integrity"]["verified"] == 2 and run.record["integrity"]["duplicate"] == 0
    book = sqlite3.connect(folder / "book")
    assert book.execute("SELECT uid, place FROM seen ORDER BY number").fetchall() == [(107, 107), (108, 108)]
    book.close()
    assert server.stored == [[107, 108]]
    found, _ = report(folder / "book")
    assert found["duplicated"] == found["out_of_order"] == 0


def test_all_that_is_read_as_new_is_marked(read):
    """Every second message is somebody else's, so that each UID takes its octets."""
    mail = [made_message(number // 2) if number % 2 else STRANGER for number in range(2400)]
    with HostileImap(mail=mail, session=Storing) as server:
        run = read(server, "read-new")
    assert run.record["errors"] == []
    assert [uid for part in server.stored for uid in part] == list(range(102, 2501, 2))
    assert len(server.stored) > 1 and server.longest < 4200


def test_what_is_gone_is_not_marked(read):
    """Of what was read and deleted before."""
    with HostileImap(mail=[made_message(number) for number in range(40)], session=Storing) as server:
        run = read(server, "read", "read-new", words=("-d", "100:50"))
        left = server.count.deleted
    assert 0 < left < 40 and run.record["errors"] == []
    marked, = server.stored
    assert len(marked) == 40 - left
    assert run.total("messages") == 80 - left


def test_each_session_appends_a_stream_of_its_own(programs, folder, users_file, report):
    """Of one worker: what two of them append at once has no order."""
    profile = folder / "append.toml"
    profile.write_text('first = ["append", "append", "append"]\n')
    with HostileImap() as server, Sending(
            programs.rabid, folder, "--interval", "200ms", "--workers", "1", "-p", "3", "--connections", "6", "-i", "100",
            "--imap", server.endpoint, "--profile", profile, "--ledger", folder / "book", server.endpoint,
            users_file(login_names(user_names(6)))) as run:
        done = run.wait(60)
    assert done.total("appended") == 18
    book = sqlite3.connect(folder / "book")
    rows = book.execute("SELECT session, sequence FROM sent ORDER BY session, sequence").fetchall()
    book.close()
    assert {session for session, _ in rows} <= {0, 1, 2} and len(set(rows)) == 18
    for session in {session for session, _ in rows}:
        own = [sequence for one, sequence in rows if one == session]
        assert own == list(range(len(own))), "each counts its own"


@pytest.mark.parametrize("words, deleted", [(("-c", "0"), 0), (("-d", "0:100"), 0), (("-c", "1"), 1)])
@pytest.mark.parametrize("verb", ["read-new", "read-one"])
def test_only_what_read_itself_has_read_is_deleted(read, verb, words, deleted):
    with HostileImap(mail=[made_message(number) for number in range(8)], session=Storing) as server:
        run = read(server, verb, "read", words=words)
    assert run.record["errors"] == [] and run.total("messages") == (8 if verb == "read-new" else 1) + deleted
    assert run.total("deleted") == server.count.deleted == deleted


class Omitting(ImapSession):
    """FETCH brings the first six of ten; of the others `server.how` says what became."""

    async def fetch(self, rest):
        await super().fetch(b"1:6" + rest[rest.index(b" "):])

    async def noop(self, _):
        if self.server.how == "deleted":
            await self.send(b"* 7 EXPUNGE\r\n" * 4)
        await self.send(self.done())

    COMMANDS = ImapSession.COMMANDS | {b"FETCH": fetch, b"NOOP": noop}


class Nil(Omitting):
    async def fetch(self, rest):
        await self.send(b"".join(b"* %d FETCH (UID %d BODY[] NIL)\r\n" % (number, 100 + number) for number in range(7, 11)))
        await super().fetch(rest)

    COMMANDS = Omitting.COMMANDS | {b"FETCH": fetch}


@pytest.mark.parametrize("session, how, reasons, absent, why", [
    (Omitting, "never there", {"contradiction"}, 4, "EXISTS counts messages that FETCH does not find"),
    (Nil, "never there", {"contradiction"}, 4, "EXISTS counts messages that FETCH does not find"),
    (Omitting, "deleted", set(), 0, "6 of 10 messages were read: the others went before they were fetched")])
def test_messages_that_do_not_come(read, folder, session, how, reasons, absent, why):
    """It is said whose doing that is, also to the ledger."""
    server = HostileImap(mail=[made_message(number) for number in range(10)], session=session)
    server.how = how
    with server:
        run = read(server, "read", words=("-d", "100:0"))
    assert run.total("messages") == 6 and run.total("announced_absent") == absent
    assert {error["reason"] for error in run.record["errors"]} == reasons, run.record["errors"]
    with contextlib.closing(sqlite3.connect(folder / "book")) as book:
        [(extent, reason)] = book.execute("SELECT extent, reason FROM mailbox_visits").fetchall()
    assert extent == "partly" and reason.startswith("6 of 10 messages were read: ") and why in reason, reason


class Unsure(PopSession):
    """STAT says `server.there`, whatever UIDL lists."""

    async def stat(self, _):
        await self.send(b"+OK %d 1000\r\n" % self.server.there)

    COMMANDS = PopSession.COMMANDS | {b"STAT": stat}


@pytest.mark.parametrize("there, reason, extent, why", [
    (3, "contradiction", "partly", "3 of 3 messages were read: .*STAT and UIDL do not agree"),
    (0, "contradiction", "partly", "0 of 0 messages were read: .*STAT and UIDL do not agree"),
    (1_000_001, "too_many", "nothing", ".*messages in one mailbox")])
def test_pop3_servers_that_count_wrongly(programs, folder, users_file, there, reason, extent, why):
    """What may lie there beside was not read."""
    server = HostilePop3(mail=[made_message(number) for number in range(5)], session=Unsure)
    server.there = there
    with server, Sending(programs.rabid, folder, "--connections", "1", "-d", "100:0", "--ledger", folder / "book", server.endpoint,
                         users_file(login_names(user_names(1)))) as reading:
        done = reading.wait()
    assert {error["reason"] for error in done.record["errors"]} == {reason}, done.record["errors"]
    with contextlib.closing(sqlite3.connect(folder / "book")) as book:
        [row] = book.execute("SELECT extent, reason FROM mailbox_visits").fetchall()
    assert row[0] == extent and re.match(why, row[1]), row
