# SPDX-License-Identifier: GPL-3.0-or-later
"""An IMAP server that is well behaved but for one scripted fault, in the manner of support.hostile.

    with HostileImap("fetch", "silence", every=2) as server:   # every second connection falls silent at FETCH
        rabid("-i", "100", "--imap", server.endpoint, …)

Steps: banner, capability, login, select, fetch (before the first message), message (in the middle of its octets), search,
store, expunge, status, list, idle, append (when all of the message has come), noop, logout. Everybody may log in and finds
the same `mail`, each time anew. `count` has beside what support.hostile counts: `sent` (messages that went out whole),
`deleted` (expunged, with an answer), `appended` (with an answer), `most_at_once` (sessions of one user).
"""
import asyncio
import collections
import re

from .hostile import Count, Hostile, Over, Session
from .mail import made_message

STEPS = ("banner", "capability", "login", "select", "fetch", "message", "search", "store", "expunge", "status", "list",
         "idle", "append", "noop", "logout")
UID = 100  # of the first message, less one
DEEP = 100_000
AGREEING = {"split", "late", "drip", "still_at_it", "small_flood", "answered_twice", "unknown_tag"}  # they give the right answer, too


class ImapCount(Count):
    sent = 0
    deleted = 0
    appended = 0
    most_at_once = 0


def numbers(text, last):
    """The numbers of a set such as 1:3,7,9:*."""
    found = set()
    for part in text.decode().split(","):
        first, _, second = part.partition(":")
        ends = sorted(last if end == "*" else int(end) for end in (first, second or first))
        found |= set(range(ends[0], min(ends[1], last) + 1))
    return sorted(found)


class ImapSession(Session):
    STEPS = STEPS
    user = None

    async def run(self):
        self.mail = {UID + number: text for number, text in enumerate(self.server.mail, 1)}
        self.marked = set()
        try:
            await self.reply("banner", b"* OK hostile\r\n")
            while True:
                self.line = await self.whole_line()
                self.tag, _, rest = self.line.partition(b" ")
                verb, _, rest = rest.partition(b" ")
                self.server.heard(self.line)
                if verb.upper() == b"UID":
                    self.by_uid = True
                    verb, _, rest = rest.partition(b" ")
                else:
                    self.by_uid = False
                handler = self.COMMANDS.get(verb.upper())
                if handler:
                    await handler(self, rest)
                else:
                    await self.send(self.tag + b" BAD not here\r\n")
        finally:
            self.server.inside[self.user] -= 1

    async def whole_line(self):
        """A command with its literals."""
        line = b""
        while True:
            part = await self.reader.readline()
            if not part.endswith(b"\n"):
                raise Over
            line += part.rstrip(b"\r\n")
            literal = re.search(rb"\{(\d+)(\+?)\}$", line)
            if not literal:
                return line
            if not literal[2]:
                await self.send(b"+ go on\r\n")
            line += b" " + await self.reader.readexactly(int(literal[1]))

    async def reply(self, step, text):
        """The untagged part of an answer, then its end; a fault has `text` whole."""
        if self.due(step):
            await self.misbehave(step, text)
        else:
            await self.send(text)

    def done(self, text=b"done"):
        return self.tag + b" OK " + text + b"\r\n"

    async def capability(self, _):
        await self.reply("capability", b"* CAPABILITY " + b" ".join(self.server.capabilities) + b"\r\n" + self.done())

    async def login(self, rest):
        self.user = rest.split()[0]
        self.server.inside[self.user] += 1
        self.server.count.most_at_once = max(self.server.count.most_at_once, self.server.inside[self.user])
        await self.reply("login", self.done())

    async def select(self, _):
        await self.reply("select", b"* FLAGS (\\Seen \\Deleted \\Flagged)\r\n* %d EXISTS\r\n* 0 RECENT\r\n"
                         b"* OK [UIDVALIDITY 1]\r\n* OK [UIDNEXT %d]\r\n" % (len(self.mail), UID + 1 + len(self.server.mail))
                         + self.done(b"[READ-WRITE] done"))

    def chosen(self, rest):
        """(number, uid) of the messages that a command names."""
        uids = sorted(self.mail)
        which = rest.split(b" ")[0]
        if self.by_uid:
            wanted = set(numbers(which, uids[-1] if uids else 0))
            return [(place, uid) for place, uid in enumerate(uids, 1) if uid in wanted]
        return [(number, uids[number - 1]) for number in numbers(which, len(uids)) if number >= 1]

    async def fetch(self, rest):
        if b"BODY.PEEK[]" not in rest.upper():
            for number, uid in self.chosen(rest):
                await self.send(b"* %d FETCH (UID %d FLAGS ())\r\n" % (number, uid))
            return await self.reply("fetch", self.done())
        for number, uid in self.chosen(rest):
            self.number, self.uid, text = number, uid, self.mail[uid]
            part = re.search(rb"<(\d+)\.(\d+)>", rest)
            name = b"BODY[]"
            if part:
                text, name = text[int(part[1]):][:int(part[2])], b"BODY[]<%d>" % int(part[1])
            answer = b"* %d FETCH (UID %d %s {%d}\r\n" % (number, uid, name, len(text)) + text + b")\r\n"
            if self.due("message"):
                await self.send(answer[:-len(text) // 2])
                await self.misbehave("message", answer[-len(text) // 2:])
            elif self.due("fetch"):
                await self.misbehave("fetch", answer)
                if self.server.fault == "refuse":
                    return
            else:
                await self.send(answer)
            self.server.count.sent += 1
        await self.send(self.done())

    async def search(self, rest):
        found = sorted(self.mail) if self.by_uid else range(1, len(self.mail) + 1)
        if b"DELETED" in rest.upper():
            found = sorted(self.marked) if self.by_uid else []
        await self.reply("search", b"* SEARCH" + b"".join(b" %d" % each for each in found) + b"\r\n" + self.done())

    async def store(self, rest):
        if b"\\Deleted" in rest:
            self.marked |= {uid for _, uid in self.chosen(rest)}
        await self.reply("store", self.done())

    async def expunge(self, rest):
        gone = [place for place, uid in enumerate(sorted(self.mail), 1) if uid in self.marked
                and (not self.by_uid or uid in {uid for _, uid in self.chosen(rest)})]
        if not self.due("expunge") or self.server.fault in AGREEING:
            self.server.count.deleted += len(gone)
        uids = sorted(self.mail)
        for place in gone:
            del self.mail[uids[place - 1]]
        await self.reply("expunge", b"".join(b"* %d EXPUNGE\r\n" % place for place in reversed(gone)) + self.done())

    async def status(self, rest):
        await self.reply("status", b"* STATUS INBOX (MESSAGES %d UNSEEN 0 UIDNEXT %d UIDVALIDITY 1)\r\n"
                         % (len(self.mail), UID + 1 + len(self.server.mail)) + self.done())

    async def list(self, _):
        await self.reply("list", b'* LIST (\\HasNoChildren) "/" INBOX\r\n' + self.done())

    async def idle(self, _):
        await self.reply("idle", b"+ idling\r\n")
        if await self.reader.readline() != b"DONE\r\n":
            raise Over
        await self.send(self.done())

    async def append(self, _):
        if not self.due("append"):
            self.server.count.appended += 1
        await self.reply("append", self.done())

    async def noop(self, _):
        await self.reply("noop", self.done())

    async def simple(self, _):
        await self.send(self.done())

    async def logout(self, _):
        await self.reply("logout", b"* BYE bye\r\n" + self.done())
        raise Over

    COMMANDS = {b"CAPABILITY": capability, b"LOGIN": login, b"SELECT": select, b"FETCH": fetch, b"SEARCH": search,
                b"STORE": store, b"EXPUNGE": expunge, b"STATUS": status, b"LIST": list, b"IDLE": idle, b"APPEND": append,
                b"NOOP": noop, b"LOGOUT": logout, b"CREATE": simple, b"DELETE": simple, b"COPY": simple, b"MOVE": simple,
                b"CLOSE": simple}

    # ---- faults of this protocol ----

    async def refuse(self, step, text):
        await self.send((b"* BYE" if step == "banner" else self.tag + b" NO") + b" [UNAVAILABLE] not today\r\n")

    async def bye(self, step, text):
        await self.send(b"* BYE shutting down\r\n")
        raise Over

    async def bye_and_silence(self, step, text):
        await self.send(b"* BYE shutting down\r\n")
        await self.silence(step, text)

    async def unknown_tag(self, step, text):
        await self.send(b"ZZZ999 OK whose answer is this?\r\n" + text)

    async def answered_twice(self, step, text):
        await self.send(text + text[text.rindex(b"\r\n", 0, -2) + 2 if text.count(b"\r\n") > 1 else 0:])

    async def flood(self, step, text):
        """Untagged responses without an end."""
        while True:
            await self.send(b"* OK still here\r\n* 3 EXISTS\r\n" * 3000)
            await asyncio.sleep(0.001)

    async def small_flood(self, step, text):
        """Many untagged responses, which a server may send at any time, and then the answer."""
        await self.send(b"* OK still here\r\n* %d EXISTS\r\n* FLAGS (\\Seen)\r\n" % len(getattr(self, "mail", ())) * 3000 + text)

    async def nested(self, step, text):
        await self.send(b"* 1 FETCH (BODYSTRUCTURE " + b"(" * DEEP + b")" * DEEP + b")\r\n" + text)

    async def nested_open(self, step, text):
        await self.send(b"* 1 FETCH (ENVELOPE " + b"(" * DEEP)
        await self.silence(step, text)

    def with_literal(self, change):
        text = self.mail[self.uid]
        return b"* %d FETCH (UID %d BODY[] {%d}\r\n" % (self.number, self.uid, change(len(text))) + text + b")\r\n"

    async def literal_too_short(self, step, text):
        await self.send(self.with_literal(lambda size: size - 7))

    async def literal_too_long(self, step, text):
        await self.send(self.with_literal(lambda size: size + 7))

    async def literal_of_4_gib(self, step, text):
        await self.send(self.with_literal(lambda size: 4294967296))

    async def literal_of_2_to_the_64(self, step, text):
        await self.send(self.with_literal(lambda size: 18446744073709551616))

    async def literal_of_2_to_the_63(self, step, text):
        await self.send(self.with_literal(lambda size: 9223372036854775808))

    async def literal_without_end(self, step, text):
        await self.send(b"* %d FETCH (UID %d BODY[] {4294967296}\r\n" % (self.number, self.uid))
        while True:
            await self.send(b"some more of a very long message\r\n" * 2000)
            await asyncio.sleep(0.001)

    async def literal_as_a_name(self, step, text):
        await self.send(b"* LIST () \"/\" {4294967296}\r\n")
        while True:
            await self.send(b"x" * 65536)
            await asyncio.sleep(0.001)

    async def drip(self, step, text):
        for octet in text * 1000:
            await self.send(bytes((octet,)))
            await asyncio.sleep(0.1)

    async def still_at_it(self, step, text):
        """A long search, as Dovecot tells of it; longer than silence may last."""
        for _ in range(10):
            await self.send(b"* OK Searched some of the mailbox\r\n")
            await asyncio.sleep(self.server.late_seconds / 10)
        await self.send(text)

    async def other_uid(self, step, text):
        """The message has a UID that does not fit the others."""
        await self.send(re.sub(rb"UID \d+", b"UID 4294967295", text, count=1))

    async def beyond(self, step, text):
        await self.send(b"* 999 FETCH (UID 9999 FLAGS ())\r\n" + text)

    async def expunges(self, step, text):
        """While numbers are in use, which no server may."""
        await self.send(b"* 1 EXPUNGE\r\n" + text)

    async def four_billion(self, step, text):
        await self.send(re.sub(rb"\* \d+ EXISTS", b"* 4294967295 EXISTS", text))

    async def two_million(self, step, text):
        await self.send(re.sub(rb"\* \d+ EXISTS", b"* 2000000 EXISTS", text))

    async def no_exists(self, step, text):
        await self.send(re.sub(rb"\* \d+ EXISTS\r\n", b"", text))

    async def no_such_number(self, step, text):
        await self.send(re.sub(rb"\* \d+ EXISTS", b"* 18446744073709551617 EXISTS", text))

    async def finds_everything(self, step, text):
        """ESEARCH, in a short line."""
        await self.send(b'* ESEARCH (TAG "%s") ALL %s\r\n' % (self.tag, b",".join([b"1:4294967295"] * 4000)) + self.done())

    async def grows(self, step, text):
        """Four billion messages come while nobody selects."""
        await self.send(b"* 4294967295 EXISTS\r\n" + text)

    async def keeps_all(self, step, text):
        """An answer that says yes and nothing of what was done."""
        await self.send(self.done())

    async def preauth(self, step, text):
        await self.send(b"* PREAUTH you are somebody already\r\n")


FAULTS = {name: Session.FAULTS[name] for name in ("silence", "close", "reset", "garbage", "half_line", "long_line", "split", "late")}
FAULTS |= {name: vars(ImapSession)[name] for name in (
    "refuse", "bye", "bye_and_silence", "unknown_tag", "answered_twice", "flood", "small_flood", "nested", "nested_open",
    "literal_too_short", "literal_too_long", "literal_of_4_gib", "literal_of_2_to_the_64", "literal_of_2_to_the_63", "literal_without_end",
    "literal_as_a_name", "drip", "still_at_it", "other_uid", "beyond", "expunges", "four_billion", "two_million", "no_exists",
    "no_such_number", "finds_everything", "grows", "keeps_all", "preauth")}
ImapSession.FAULTS = FAULTS


class HostileImap(Hostile):
    """mail: the octets of the messages; else three that rabid takes for postal's."""

    def __init__(self, step=None, fault=None, *, mail=None, capabilities=(b"IMAP4rev1", b"UIDPLUS", b"IDLE"),
                 session=ImapSession, **more):
        super().__init__(step, fault, session=session, capabilities=capabilities, **more)
        self.mail = [made_message(number) for number in range(3)] if mail is None else mail
        self.count = ImapCount()
        self.inside = collections.Counter()
