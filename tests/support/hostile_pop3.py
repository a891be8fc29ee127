# SPDX-License-Identifier: GPL-3.0-or-later
"""A POP3 server that is well behaved but for one scripted fault, in the manner of support.hostile.

    with HostilePop3("retr", "silence", every=2) as server:   # every second connection falls silent at RETR
        rabid(server.endpoint, …)

Steps: banner, capa, user, pass, stat, uidl, retr (instead of the status of the first RETR), message (in the middle of its
octets), dele, quit. Everybody may log in and finds the same `mail`, each time anew. `count` has beside what
support.hostile counts: `sent` (messages that went out whole), `marked` (answered DELE), `deleted` (of those, the ones whose
QUIT was answered), `most_at_once` (sessions of one user, the most at a time).
"""
import asyncio
import collections

from .hostile import Count, Hostile, Over, Session
from .mail import made_message

STEPS = ("banner", "capa", "user", "pass", "stat", "uidl", "retr", "message", "dele", "quit")

AGREEING = {"split", "late", "drip"}  # faults that give the right answer all the same


def stuffed(octets):
    """A message as it goes over the wire, with its end."""
    return (b"\r\n" + octets).replace(b"\r\n.", b"\r\n..")[2:] + b".\r\n"


class PopCount(Count):
    sent = 0
    marked = 0
    deleted = 0
    most_at_once = 0


class PopSession(Session):
    STEPS = STEPS
    user = None
    marks = 0

    async def run(self):
        try:
            await self.reply("banner", b"+OK hostile <1896.697170952@hostile.example>\r\n")
            while True:
                line = await self.reader.readline()
                if not line.endswith(b"\n"):
                    raise Over
                verb, _, rest = line.strip().partition(b" ")
                self.server.heard(line)
                handler = self.COMMANDS.get(verb.upper())
                if handler:
                    await handler(self, rest)
                else:
                    await self.send(b"-ERR not here\r\n")
        finally:
            self.server.inside[self.user] -= 1

    async def reply(self, step, text):
        if self.due(step):
            await self.misbehave(step, text)
        else:
            await self.send(text)

    async def capa(self, _):
        await self.reply("capa", b"".join(b"%s\r\n" % word for word in (b"+OK", *self.server.capabilities, b".")))

    async def name(self, rest):
        self.user = rest
        self.server.inside[rest] += 1
        self.server.count.most_at_once = max(self.server.count.most_at_once, self.server.inside[rest])
        await self.reply("user", b"+OK\r\n")

    async def password(self, _):
        await self.reply("pass", b"+OK come in\r\n")

    async def apop(self, rest):
        await self.name(rest.partition(b" ")[0])

    async def stat(self, _):
        await self.reply("stat", b"+OK %d %d\r\n" % (len(self.server.mail), sum(map(len, self.server.mail))))

    async def uidl(self, _):
        lines = b"".join(b"%d uid-%d\r\n" % (number, number) for number in range(1, len(self.server.mail) + 1))
        await self.reply("uidl", b"+OK\r\n" + lines + b".\r\n")

    async def list(self, _):
        lines = b"".join(b"%d %d\r\n" % (number, len(text)) for number, text in enumerate(self.server.mail, 1))
        await self.send(b"+OK\r\n" + lines + b".\r\n")

    async def retr(self, rest):
        number = int(rest)
        if not 1 <= number <= len(self.server.mail):
            return await self.send(b"-ERR no such message\r\n")
        if self.due("retr"):
            return await self.misbehave("retr", b"+OK\r\n" + stuffed(self.server.mail[number - 1]))
        text = stuffed(self.server.mail[number - 1])
        if self.due("message"):
            await self.send(b"+OK\r\n" + text[:len(text) // 2])
            return await self.misbehave("message", text[len(text) // 2:])
        await self.send(b"+OK\r\n" + text)
        self.server.count.sent += 1

    async def dele(self, _):
        if not self.due("dele") or self.server.fault in AGREEING:
            self.marks += 1
            self.server.count.marked += 1
        await self.reply("dele", b"+OK marked\r\n")

    async def quit(self, _):
        # What a server has done and not said is as good as not done for who asked.
        if not self.due("quit") or self.server.fault in AGREEING:
            self.server.count.deleted += self.marks
        await self.reply("quit", b"+OK bye\r\n")
        raise Over

    async def noop(self, _):
        await self.send(b"+OK\r\n")

    COMMANDS = {b"CAPA": capa, b"USER": name, b"PASS": password, b"APOP": apop, b"STAT": stat, b"UIDL": uidl,
                b"LIST": list, b"RETR": retr, b"DELE": dele, b"QUIT": quit, b"NOOP": noop, b"RSET": noop}

    # ---- faults of this protocol ----

    async def refuse(self, step, text):
        await self.send(b"-ERR [SYS/TEMP] not today\r\n")

    async def says_goodbye(self, step, text):
        await self.send(b"-ERR shutting down\r\n")
        raise Over

    async def flood(self, step, text):
        """Replies without an end."""
        while True:
            await self.send(b"+OK and another one\r\n" * 5000)
            await asyncio.sleep(0.001)

    async def endless(self, step, text):
        """The answer never comes to its end: lines of a listing, or of a message."""
        await self.send(text[:-3] if text.endswith(b".\r\n") else text)
        while True:
            await self.send(b"1 2 an endless line\r\n" * 5000)
            await asyncio.sleep(0.001)

    async def drip(self, step, text):
        """An octet now and then, so that no silence is long enough."""
        for octet in text * 1000:
            await self.send(bytes((octet,)))
            await asyncio.sleep(0.1)

    async def more_than_there_are(self, step, text):
        await self.send(b"+OK %d 1000\r\n" % (len(self.server.mail) + 5))

    async def fewer_than_there_are(self, step, text):
        await self.send(b"+OK 1 1000\r\n")

    async def none_is_there(self, step, text):
        await self.send(b"+OK 0 0\r\n")

    async def millions(self, step, text):
        await self.send(b"+OK 9999999 1000\r\n")

    async def too_many(self, step, text):
        await self.send(b"+OK 18446744073709551615 1\r\n")

    async def no_numbers(self, step, text):
        await self.send(b"+OK many messages\r\n")

    async def wrong_numbers(self, step, text):
        await self.send(b"+OK\r\n0 a\r\n4294967296 b\r\n-1 c\r\nx d\r\n18446744073709551617 e\r\n.\r\n")

    async def same_uid(self, step, text):
        await self.send(b"+OK\r\n" + b"".join(b"%d same\r\n" % each for each in range(1, len(self.server.mail) + 1)) + b".\r\n")


FAULTS = {name: Session.FAULTS[name] for name in ("silence", "close", "reset", "garbage", "half_line", "long_line", "split", "late")}
FAULTS |= {name: vars(PopSession)[name] for name in (
    "refuse", "says_goodbye", "flood", "endless", "drip", "more_than_there_are", "fewer_than_there_are", "none_is_there", "millions",
    "too_many", "no_numbers", "wrong_numbers", "same_uid")}
PopSession.FAULTS = FAULTS


class HostilePop3(Hostile):
    """mail: the octets of the messages; else three that rabid takes for postal's."""

    def __init__(self, step=None, fault=None, *, mail=None, capabilities=(b"USER", b"UIDL", b"PIPELINING"),
                 session=PopSession, **more):
        super().__init__(step, fault, session=session, capabilities=capabilities, **more)
        self.mail = [made_message(number) for number in range(3)] if mail is None else mail
        self.count = PopCount()
        self.inside = collections.Counter()
