# SPDX-License-Identifier: GPL-3.0-or-later
"""A server with LMTP and IMAP that tells each session of new mail some time after it has come, and an account of who was told.

    told = account_of(programs, folder, accounts=2, sessions=5, messages=50, rate=10)

Mail stays in memory, and nothing is ever deleted. Every user may log in, in as many sessions as he likes. A session in IDLE,
or that has said NOTIFY, is told by EXISTS of all that has come up to MOST_LATE seconds after the first of it came, each at a
time of its own; so sessions that share a mailbox are told of a message at different times, some of them later than a
notification is missed. FETCH is one piece of memory to send, so that one thread serves hundreds of sessions.
"""
import asyncio
import collections
import contextlib
import random
import re
import signal
import sqlite3
import time

from .hostile import Over
from .ledger import Report, key_of
from .process import wait_until
from .served import Served
from .swallowing import SwallowingProxy
from .watched import Sending

MOST_LATE = 8
TOLD_WITHIN, TRUE_TO = 5, 1  # as test_rabid_told.py has them


class Mailbox:
    def __init__(self):
        self.image, self.at, self.sessions = bytearray(), [0], set()

    count = property(lambda self: len(self.at) - 1)

    def take(self, text):
        number = len(self.at)
        date = time.strftime("%d-%b-%Y %H:%M:%S +0000", time.gmtime()).encode()
        self.image += b'* %d FETCH (UID %d INTERNALDATE "%s" BODY[] {%d}\r\n' % (number, number, date, len(text)) + text + b")\r\n"
        self.at.append(len(self.image))
        for session in self.sessions:
            session.news()


class Telling(Served):
    """`lmtp` and `endpoint` (IMAP) of it; `waiting` sessions are to be told, `fetched` messages have been read. `session` is the
    kind of its IMAP sessions."""

    def __init__(self, session=None):
        self.boxes = collections.defaultdict(Mailbox)
        self.session = session or ImapSession
        self.waiting = self.fetched = 0
        super().__init__()

    async def serve(self):
        lmtp = await asyncio.start_server(self.accept, "127.0.0.1", 0)
        self.lmtp_port = lmtp.sockets[0].getsockname()[1]
        self.lmtp = f"127.0.0.1:{self.lmtp_port}"
        await super().serve()
        lmtp.close()

    async def converse(self, reader, writer):
        if writer.get_extra_info("sockname")[1] == self.lmtp_port:
            return await self.take_mail(reader, writer)
        session = self.session(self, reader, writer)
        with contextlib.suppress(Over):
            await session.run()

    async def take_mail(self, reader, writer):
        writer.write(b"220 here\r\n")
        recipients = []
        while line := await reader.readline():
            verb = line[:4].upper()
            if verb == b"DATA":
                writer.write(b"354 go on\r\n")
                text = (await reader.readuntil(b"\r\n.\r\n"))[:-3].replace(b"\r\n..", b"\r\n.")
                for each in recipients:
                    self.boxes[each].take(text)
                writer.write(b"250 2.0.0 kept\r\n" * len(recipients))
                recipients = []
            else:
                if verb == b"RCPT":
                    recipients.append(re.search(rb"<(.*?)>", line)[1].decode())
                writer.write(b"250 2.0.0 fine\r\n")
            if verb == b"QUIT":
                return
            await writer.drain()


class ImapSession:
    def __init__(self, server, reader, writer):
        self.server, self.reader, self.writer = server, reader, writer
        self.box, self.told, self.may, self.timer, self.user = None, 0, "", None, ""

    async def run(self):
        self.writer.write(b"* OK here\r\n")
        try:
            while line := await self.reader.readline():
                tag, _, rest = line.rstrip(b"\r\n").partition(b" ")
                verb, _, rest = rest.partition(b" ")
                await getattr(self, verb.decode().lower(), self.anything)(tag, rest)
                await self.writer.drain()
        finally:
            if self.timer:
                self.timer.cancel()
            if self.box:
                self.box.sessions.discard(self)

    def done(self, tag, text=b""):
        self.writer.write(text + tag + b" OK done\r\n")

    async def anything(self, tag, _):
        self.done(tag)

    async def capability(self, tag, _):
        self.done(tag, b"* CAPABILITY IMAP4rev1 UIDPLUS IDLE NOTIFY\r\n")

    async def login(self, tag, rest):
        self.user = rest.split()[0].strip(b'"').decode()
        self.done(tag)

    async def select(self, tag, _):
        self.box = self.server.boxes[self.user]
        self.box.sessions.add(self)
        self.told = self.box.count
        self.done(tag, b"* %d EXISTS\r\n* OK [UIDVALIDITY 1]\r\n* OK [UIDNEXT %d]\r\n" % (self.told, self.told + 1))

    async def notify(self, tag, _):
        self.done(tag)
        self.begin("notify")

    async def idle(self, tag, _):
        self.writer.write(b"+ idling\r\n")
        self.begin("idle")
        line = await self.reader.readline()
        self.may = ""
        self.server.waiting -= 1
        if line != b"DONE\r\n":
            raise Over
        self.done(tag)

    def begin(self, how):
        self.may = how
        self.server.waiting += 1
        self.news()

    def news(self):
        if self.may and not self.timer and self.box.count > self.told:
            self.timer = self.server.loop.call_later(random.random() * MOST_LATE, self.tell)

    def tell(self):
        self.timer = None
        if self.may and self.box.count > self.told:
            self.told = self.box.count
            self.writer.write(b"* %d EXISTS\r\n" % self.told)

    async def fetch(self, tag, rest):
        for part in rest.split(b" ")[0].split(b","):
            first, _, last = part.partition(b":")
            first, last = int(first), int(last or first)
            self.server.fetched += last - first + 1
            self.writer.write(self.box.image[self.box.at[first - 1]:self.box.at[last]])
        self.done(tag)

    async def logout(self, tag, _):
        self.done(tag, b"* BYE\r\n")
        await self.writer.drain()
        raise Over


def account_of(programs, folder, *, accounts, sessions, messages, rate, timeout=60):
    """Each account gets so many messages, so many a second, and has so many sessions, half of them in IDLE and half by NOTIFY,
    and the first account one behind a SwallowingProxy. Gives what postal-report's summary has, with `told`, the announcements
    that stand in the ledger, and `missed`, its list of missed notifications."""
    users = [f"user{number}@example.com" for number in range(accounts)]
    book = folder / "book"

    def users_file(name, lines):
        path = folder / name
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    def watching(name, endpoint, count, of, *words):
        logins = users_file(f"{name}.txt", [f"{user} secret" for user in of])
        return Sending(programs.rabid, folder, "-p", count, "-i", "100", "--shared-accounts", "--watch", "25m", "-d", "100:0", "--ledger", book,
                       "--store", "store", "--workers", "2", *words, "--imap", endpoint, endpoint, logins, name=name)

    def sending(name, of):
        return Sending(programs.postal, folder, "-L", "-t", "4", "-c", "-1", "-M", "1", "-m", "1", "--rate", f"{rate * len(of)}/s",
                       "--messages", messages * len(of), "--ledger", book, server.lmtp, users_file(f"{name}.txt", of), name=name)

    half = sessions // 2
    with Telling() as server, SwallowingProxy(server.endpoint) as proxy:
        readers = [watching("idle", server.endpoint, accounts * half, users), watching("deaf", proxy.endpoint, 1, users[:1]),
                   watching("notify", server.endpoint, accounts * (sessions - half), users, "--watch-by", "notify")]
        with contextlib.ExitStack() as all_of_them:
            for one in readers:
                all_of_them.enter_context(one)
            wait_until(lambda: server.waiting >= accounts * sessions + 1, lambda: f"all to wait: {server.waiting}", timeout)
            opened = time.monotonic()
            wait_until(lambda: time.monotonic() > opened + 2, "mailboxes to be open for a while")
            # Where each goes is drawn, so the first account's have a run of their own.
            for one in [all_of_them.enter_context(sending("first", users[:1])), all_of_them.enter_context(sending("others", users[1:]))]:
                assert one.wait(timeout + 2 * messages / rate).status == 0
            sent = time.monotonic()
            goal = sum(server.boxes[user].count for user in users) * sessions
            wait_until(lambda: server.fetched >= goal, lambda: f"{goal} to be read: {server.fetched} are", timeout + 2 * messages / rate)
            wait_until(lambda: time.monotonic() > sent + TOLD_WITHIN + TRUE_TO + 2, "time to pass", 30)
            for one in readers:
                one.signal(signal.SIGTERM)
            records = [one.wait(timeout).record for one in readers]
        assert proxy.swallowed > 0 and not any(record["errors"] for record in records), [record["errors"] for record in records]
    report = Report(programs.postal_report)
    found, status = report(book)
    with contextlib.closing(sqlite3.connect(book, timeout=30)) as ledger:
        [(told,)] = ledger.execute("SELECT count(*) FROM seen WHERE announced_us IS NOT NULL")
    return found | {"status": status, "told": told, "missed": report(book, "missed-notification")}


def check_account(told, *, accounts, sessions, messages):
    """Only what the deaf session was not told of was missed; and each message was told to all the others."""
    assert told["found"] == told["announced_messages"] == accounts * messages and told["announced_never"] == 0
    assert told["told"] == accounts * messages * sessions
    assert told["missed_notification"] == len(told["missed"]) == messages
    assert {row["recipient"] for row in told["missed"]} == {"user0@example.com"}
    assert len({key_of(row) for row in told["missed"]}) == messages and len({row["detail"] for row in told["missed"]}) == 1
