# SPDX-License-Identifier: GPL-3.0-or-later
"""rabid --watch with a server that tells of more mail while the last is being read and deleted: all of it is read, once.
And with one that announces too early, takes back what it has announced, or announces what is not there."""
import re
import signal

import pytest

from conftest import login_names, user_names
from support.hostile import Over
from support.hostile_imap import UID, HostileImap, ImapSession
from support.mail import made_message
from support.postal import RABID_HEADER, check_reading
from support.process import wait_until
from support.watched import Sending

FIRST, MORE = 3, 2


class Busy(ImapSession):
    """FIRST messages come during the first IDLE, MORE during the first command that the server's `busy_at` names."""
    came = 0

    async def arrive(self, count):
        for self.came in range(self.came + 1, self.came + count + 1):
            self.mail[UID + self.came] = made_message(self.came)
        await self.send(b"* %d EXISTS\r\n" % len(self.mail))

    async def while_busy(self, verb, handler, rest):
        if verb == self.server.busy_at and self.came == FIRST:
            await self.arrive(MORE)
        await handler(self, rest)

    async def idle(self, _):
        await self.send(b"+ idling\r\n")
        if not self.came:
            await self.arrive(FIRST)
        assert await self.reader.readline() == b"DONE\r\n"
        await self.send(self.done())

    async def fetch(self, rest):
        await self.while_busy("fetch", ImapSession.fetch, rest)

    async def store(self, rest):
        await self.while_busy("store", ImapSession.store, rest)

    async def expunge(self, rest):
        await self.while_busy("expunge", ImapSession.expunge, rest)

    COMMANDS = ImapSession.COMMANDS | {b"IDLE": idle, b"FETCH": fetch, b"STORE": store, b"EXPUNGE": expunge}


@pytest.mark.parametrize("verb", ["fetch", "store", "expunge"])
def test_mail_comes_while_other_mail_is_deleted(programs, folder, users_file, verb):
    server = HostileImap(mail=[], session=Busy)
    server.busy_at = verb
    with server, Sending(programs.rabid, folder, "-i", "100", "--watch", "100ms", "--workers", "1", "--imap", server.endpoint,
                         server.endpoint, users_file(login_names(user_names(1)))) as watching:
        wait_until(lambda: server.count.deleted == FIRST + MORE, lambda: f"all to be deleted: {server.count.deleted} are", 15)
        watching.signal(signal.SIGTERM)
        run = watching.wait()
    run.header = RABID_HEADER
    check_reading(run)
    assert run.status == 0 and run.record["errors"] == []
    assert run.total("messages") == run.total("deleted") == server.count.sent == FIRST + MORE
    assert run.record["integrity"]["duplicate"] == 0


class Exchanged(ImapSession):
    """In the first IDLE somebody else deletes the first message, and another comes: there are as many as before."""
    done_so = False

    async def idle(self, _):
        await self.send(b"+ idling\r\n")
        if not self.done_so:
            self.done_so = True
            del self.mail[UID + 1]
            self.mail[UID + FIRST] = made_message(FIRST)
            await self.send(b"* 1 EXPUNGE\r\n* 2 EXISTS\r\n")
        if await self.reader.readline() != b"DONE\r\n":
            raise Over
        await self.send(self.done())

    COMMANDS = ImapSession.COMMANDS | {b"IDLE": idle}


def test_mail_that_takes_the_place_of_other_mail_ends_the_idle(programs, folder, users_file):
    server = HostileImap(mail=[made_message(1), made_message(2)], session=Exchanged)
    with server, Sending(programs.rabid, folder, "-i", "100", "--watch", "25m", "--workers", "1", "--imap", server.endpoint,
                         server.endpoint, users_file(login_names(user_names(1)))) as watching:
        wait_until(lambda: server.count.sent == 1, lambda: f"one message to be read: {server.count.sent} are", 15)
        watching.signal(signal.SIGTERM)
        run = watching.wait()
    run.header = RABID_HEADER
    check_reading(run)
    assert run.status == 0 and run.record["errors"] == [] and run.total("messages") == 1


class Odd(ImapSession):
    """In the first IDLE FIRST messages come; `server.how` says how they are announced. They are announced once."""
    came = False

    async def idle(self, _):
        new = not self.came
        self.came = True
        self.server.idles += 1
        count = FIRST + len(self.server.mail)
        if new:
            for number in range(1, FIRST + 1):
                self.mail[UID + number] = made_message(number)
            if self.server.how == "early":
                await self.send(b"* %d EXISTS\r\n" % count)
        await self.send(b"+ idling\r\n")
        if new and self.server.how != "early":
            await self.send(b"* %d EXISTS\r\n" % count)
        if await self.reader.readline() != b"DONE\r\n":
            raise Over
        await self.send(self.done())

    async def fetch(self, rest):
        """Without the last message, which somebody else has deleted, or which never was there."""
        if self.server.how in ("deleted", "absent"):
            last = UID + FIRST
            self.mail.pop(last, None)
            rest = re.sub(rb"^1:%d\b" % FIRST, b"1:%d" % (FIRST - 1), rest)
        await ImapSession.fetch(self, rest)

    async def noop(self, _):
        if self.server.how == "deleted":
            await self.send(b"* %d EXPUNGE\r\n" % FIRST)
        if self.server.how == "shrunk":
            await self.send(b"* 1 EXISTS\r\n")
        await self.send(self.done())

    COMMANDS = ImapSession.COMMANDS | {b"IDLE": idle, b"FETCH": fetch, b"NOOP": noop}


@pytest.mark.parametrize("how, read, counts, reasons", [
    ("in time", FIRST, (FIRST, 0, 0, 0), []),
    ("early", FIRST, (FIRST, FIRST, 0, 0), []),
    ("deleted", FIRST - 1, (FIRST, 0, 0, 0), []),
    ("absent", FIRST - 1, (FIRST, 0, 0, 1), ["contradiction"])])
def test_what_is_wrong_with_announcements(programs, folder, users_file, how, read, counts, reasons):
    server = HostileImap(mail=[], session=Odd)
    server.how, server.idles = how, 0
    with server, Sending(programs.rabid, folder, "-i", "100", "--watch", "100ms", "-d", "100:0", "--imap", server.endpoint,
                         server.endpoint, users_file(login_names(user_names(1)))) as watching:
        wait_until(lambda: server.idles >= 3, "IDLE behind what was read", 15)
        watching.signal(signal.SIGTERM)
        run = watching.wait()
    assert run.status == 0 and run.total("messages") == read
    names = ("announced", "announced_early", "announced_shrunk", "announced_absent")
    assert tuple(map(run.total, names)) == counts
    assert [error["reason"] for error in run.record["errors"]] == reasons


class Notifying(ImapSession):
    """Agrees to NOTIFY; then `server.how` says what it makes of it. Whoever watches so says nothing more until he is told."""
    SAYS = {"garbage": b"\x00\xff * none\r\n", "overflow": b"* OK [NOTIFICATIONOVERFLOW] too much\r\n"}

    async def notify(self, rest):
        self.server.asked.append(rest)
        how = self.server.how
        if how == "refuses":
            return await self.send(self.tag + b" NO not for you\r\n")
        await self.send(self.done())
        if len(self.server.asked) > 1:
            return
        if how in ("tells", "overflow"):
            for number in range(1, FIRST + 1):
                self.mail[UID + number] = made_message(number)
                await self.send(b"* %d EXISTS\r\n" % number)
        await self.send(self.SAYS.get(how, b""))

    COMMANDS = ImapSession.COMMANDS | {b"NOTIFY": notify}


SPEC = b"SET (SELECTED-DELAYED (MessageNew MessageExpunge))"


@pytest.mark.parametrize("how, read, overflows, reasons", [
    ("tells", FIRST, 0, set()), ("overflow", FIRST, 1, set()), ("nothing", 0, 0, set()),
    ("refuses", 0, 0, {"refused"}), ("garbage", 0, 0, {"control_character"}), ("not offered", 0, 0, {"no_notify"})])
def test_notify(programs, folder, users_file, how, read, overflows, reasons):
    """What a server tells of by itself is read; who has agreed and is silent is waited for; and nothing else is tried."""
    server = HostileImap(mail=[], session=Notifying)
    server.how, server.asked = how, []
    if how != "not offered":
        server.capabilities = [*server.capabilities, b"NOTIFY"]
    with server, Sending(programs.rabid, folder, "-i", "100", "--watch", "100ms", "--watch-by", "notify", "--imap", server.endpoint,
                         server.endpoint, users_file(login_names(user_names(1)))) as watching:
        if how == "not offered":
            wait_until(lambda: "no_notify" in watching.process.stderr, lambda: f"a line: {watching.process.stderr}", 15)
        else:
            # Who was refused, or not understood, comes again; who is told of no more asks to be told again.
            times = 2 if reasons or how == "overflow" else 1
            wait_until(lambda: len(server.asked) >= times and server.count.deleted == read, "NOTIFY, and all to be read and deleted", 15)
        watching.signal(signal.SIGTERM)
        run = watching.wait()
    said = {name: kind["sent"] for name, kind in run.record["commands"]["by_kind"].items()}
    # One NOOP before LOGOUT shows that the server would have answered.
    assert set(server.asked) <= {SPEC} and said.get("IDLE", 0) == 0 and said.get("NOOP", 0) <= 1, said
    assert run.total("messages") == run.total("announced") == read and run.total("notify_overflows") == overflows
    assert {error["reason"] for error in run.record["errors"]} == reasons


class InFolders(ImapSession):
    """INBOX is empty; in "lists" FIRST messages come behind NOTIFY, of which `server.says` tells."""
    selected = b"INBOX"

    async def namespace(self, _):
        await self.send(b'* NAMESPACE (("" "/")) NIL NIL\r\n' + self.done())

    async def status(self, rest):
        # Neither has had any mail when it is asked about.
        await self.send(b"* STATUS %b (UIDNEXT %d UIDVALIDITY 1)\r\n" % (rest.split()[0], UID + 1) + self.done())

    async def select(self, rest):
        self.selected = rest.strip()
        self.server.selected.append(self.selected)
        if self.selected == b"lists":
            self.mail = {UID + number: made_message(number) for number in range(1, FIRST + 1)}
        await self.send(b"* %d EXISTS\r\n* OK [UIDVALIDITY 1]\r\n* OK [UIDNEXT %d]\r\n" % (len(self.mail), UID + 1 + len(self.mail))
                        + self.done(b"[READ-WRITE] done"))

    async def search(self, rest):
        if self.server.says == "wild":
            return await self.send(b"* SEARCH 4294967295 1 1 2\r\n" + self.done())
        await self.send(b"* SEARCH" + b"".join(b" %d" % number for number in range(1, len(self.mail) + 1)) + b"\r\n" + self.done())

    async def notify(self, rest):
        self.server.asked.append(rest)
        await self.send(self.done())
        for line in self.server.TELLS[self.server.says]:
            await self.send(b"* STATUS " + line + b"\r\n")

    COMMANDS = ImapSession.COMMANDS | {b"NAMESPACE": namespace, b"STATUS": status, b"SELECT": select, b"SEARCH": search, b"NOTIFY": notify}


COME = b"lists (MESSAGES %d UIDNEXT %d UIDVALIDITY 1)" % (FIRST, UID + FIRST + 1)
FOLDERS = b"SET STATUS (SELECTED-DELAYED (MessageNew MessageExpunge)) (MAILBOXES (INBOX lists) (MessageNew MessageExpunge))"


@pytest.mark.parametrize("says, lines, read, reasons", [
    ("plain", [COME], FIRST, set()),
    ("twice", [COME, COME], FIRST, set()),
    ("wild", [COME], FIRST, {"contradiction"}),
    ("shrunk", [b"lists (MESSAGES 0 UIDNEXT 1 UIDVALIDITY 1)", COME], FIRST, {"contradiction"}),
    ("made anew", [b"lists (MESSAGES 1 UIDNEXT %d UIDVALIDITY 2)" % (UID + FIRST + 1)], FIRST, set()),
    ("of nobody", [b'"Trash" (MESSAGES 9 UIDNEXT 99)', b"{3}\r\n\xff\r\n (UIDNEXT 7)", COME], FIRST, set()),
    ("no UIDNEXT", [b"lists (MESSAGES 9)", COME], FIRST, {"contradiction"}),
    ("2^32", [b"lists (UIDNEXT 4294967297)", b"lists (UIDNEXT 5 UIDVALIDITY 4294967296)", COME], FIRST, {"contradiction"}),
    ("2^64", [b"lists (UIDNEXT 18446744073709551616)"], 0, {"bad_status"}),
    ("garbage", [b"lists (UIDNEXT x)"], 0, {"bad_status"}),
    ("not there", [b"lists (UIDNEXT 4294967295 UIDVALIDITY 1)"], FIRST, {"contradiction"})])
def test_folders_by_notify(programs, folder, users_file, says, lines, read, reasons):
    """What is in the folder is read once, whatever STATUS makes of it; what cannot be read ends the visit."""
    server = HostileImap(mail=[], session=InFolders)
    server.capabilities = [*server.capabilities, b"NOTIFY", b"NAMESPACE"]
    server.says, server.TELLS, server.asked, server.selected = says, {says: lines}, [], []
    with server, Sending(programs.rabid, folder, "-i", "100", "--watch", "100ms", "--watch-by", "notify", "--watch-folders", "lists",
                         "-d", "100:0", "--imap", server.endpoint, server.endpoint, users_file(login_names(user_names(1)))) as watching:
        times = 1 if read else 2  # who was not understood comes again
        wait_until(lambda: server.count.sent >= read and len(server.asked) >= times, "NOTIFY, and all to be read", 15)
        watching.signal(signal.SIGTERM)
        run = watching.wait()
    assert set(server.asked) == {FOLDERS} and (not read or server.selected == [b"INBOX", b"lists"])
    assert run.total("messages") == run.total("announced") == read and run.record["integrity"]["duplicate"] == 0
    assert {error["reason"] for error in run.record["errors"]} == reasons


class Shrinking(ImapSession):
    """Takes all back in the second IDLE."""
    async def idle(self, _):
        self.server.idles += 1
        await self.send(b"+ idling\r\n* %d EXISTS\r\n" % (0 if self.server.idles == 2 else len(self.server.mail)))
        if await self.reader.readline() != b"DONE\r\n":
            raise Over
        await self.send(self.done())

    COMMANDS = ImapSession.COMMANDS | {b"IDLE": idle}


def test_announcements_that_are_taken_back(programs, folder, users_file):
    server = HostileImap(session=Shrinking)
    server.idles = 0
    with server, Sending(programs.rabid, folder, "-i", "100", "--watch", "100ms", "-d", "100:0", "--imap", server.endpoint,
                         server.endpoint, users_file(login_names(user_names(1)))) as watching:
        wait_until(lambda: server.idles >= 4, "the fourth IDLE", 15)
        watching.signal(signal.SIGTERM)
        run = watching.wait()
    assert run.total("announced_shrunk") == 1 and run.total("announced") == len(server.mail)
    [error] = run.record["errors"]
    assert error["reason"] == "contradiction" and error["sample"].startswith("EXISTS shrank without EXPUNGE")
