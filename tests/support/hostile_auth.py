# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers that misbehave when somebody authenticates: SMTP, POP3 and IMAP, with the same faults.

    with HostileAuth("smtp", "wrong_signature") as server:
        postal("--auth", "SCRAM-SHA-256", server.endpoint, …)

Each fault is one of FAULTS, played at the first AUTH of every connection. `answers` has what clients said.
"""
import asyncio
import base64

from .hostile import Hostile, Over, Session
from .hostile_imap import HostileImap, ImapSession
from .hostile_pop3 import HostilePop3, PopSession
from .scram import ScramServer

PASSWORD = "hush-hush-0"
PROMPT = base64.b64encode(b"Password:")


class Faults:
    """What a server says in AUTH; `ask`, `agree` and `refuse` are its protocol's."""

    async def hear(self):
        line = await self.reader.readline()
        if not line.endswith(b"\n"):
            raise Over
        self.server.answers.append(line.strip())
        return line.strip()

    async def scram(self, initial, iterations=4096):
        """Up to the client's proof; gives our last message, or None for a wrong proof."""
        they = ScramServer("sha256", PASSWORD, iterations)
        if not initial:
            await self.ask(b"")
            initial = await self.hear()
        await self.ask(base64.b64encode(they.first(base64.b64decode(initial).decode()).encode()))
        proof = await self.hear()
        return they.final(base64.b64decode(proof).decode()) if proof != b"*" else None

    async def right(self, initial):
        final = await self.scram(initial)
        if final is None:
            return await self.refuse()
        await self.ask(base64.b64encode(final.encode()))
        await self.hear()
        await self.agree()

    async def wrong_signature(self, initial):
        await self.scram(initial)
        await self.ask(base64.b64encode(b"v=" + base64.b64encode(bytes(32))))
        await self.hear()
        await self.agree()

    async def no_signature(self, initial):
        await self.scram(initial)
        await self.agree()

    async def at_once(self, initial):
        await self.agree()

    async def many_iterations(self, initial):
        await self.scram(initial, 0xffffffff)
        await self.refuse()

    async def not_base64(self, initial):
        await self.ask(b"this is no base64!")
        await self.hear()
        await self.refuse()

    async def star(self, initial):
        await self.ask(b"*")
        await self.hear()
        await self.agree()

    async def asks_on(self, initial):
        """Challenges without an end, whatever the client says."""
        while True:
            await self.ask(PROMPT)
            await self.hear()

    async def megabyte(self, initial):
        await self.ask(b"QUFB" * 262144)
        await self.hear()
        await self.refuse()

    async def long_challenge(self, initial):
        await self.ask(b"QUFB" * 3071 + b"QUF")  # as long as a line may be, and no whole group at its end
        await self.hear()
        await self.refuse()

    async def no_end(self, initial):
        """A challenge that never comes to its line's end."""
        await self.ask(b"", end=b"")
        while True:
            await self.send(b"QUFB" * 5000)
            await asyncio.sleep(0.001)

    async def silence_behind_auth(self, initial):
        await self.silence("auth", b"")

    async def refuses(self, initial):
        await self.refuse()


FAULTS = [name for name in vars(Faults) if not name.startswith("_") and name not in ("hear", "scram", "right")]
ALL = {name: vars(Faults)[name] for name in [*FAULTS, "right"]}


def playing(base, more):
    """A class of conversations: `base` with AUTH, and what `more` says of its protocol."""
    return type("Auth" + base.__name__, (Faults, base), {"STEPS": ("auth",), "FAULTS": ALL, **more})


async def play(self, initial):
    await ALL[self.server.fault](self, b"" if initial == b"=" else initial)


async def smtp_auth(self, line):
    words = line.split()
    await play(self, words[2] if len(words) > 2 else b"")


async def smtp_ask(self, text, end=b"\r\n"):
    await self.send(b"334 " + text + end)


async def smtp_agree(self):
    await self.send(b"235 2.7.0 come in\r\n")


async def smtp_refuse(self):
    await self.send(b"535 5.7.8 stay out\r\n")


async def pop_auth(self, rest):
    await play(self, rest.partition(b" ")[2])
    self.user = b"somebody"


async def pop_ask(self, text, end=b"\r\n"):
    await self.send(b"+ " + text + end)


async def pop_agree(self):
    await self.send(b"+OK come in\r\n")


async def pop_refuse(self):
    await self.send(b"-ERR stay out\r\n")


async def imap_agree(self):
    await self.send(self.done(b"come in"))


async def imap_refuse(self):
    await self.send(self.tag + b" NO stay out\r\n")


SESSIONS = {
    "smtp": playing(Session, {"ask": smtp_ask, "agree": smtp_agree, "refuse": smtp_refuse,
                              "COMMANDS": Session.COMMANDS | {b"AUTH": smtp_auth}}),
    "pop3": playing(PopSession, {"ask": pop_ask, "agree": pop_agree, "refuse": pop_refuse,
                                 "COMMANDS": PopSession.COMMANDS | {b"AUTH": pop_auth}}),
    "imap": playing(ImapSession, {"ask": pop_ask, "agree": imap_agree, "refuse": imap_refuse,
                                  "COMMANDS": ImapSession.COMMANDS | {b"AUTHENTICATE": pop_auth}}),
}


def HostileAuth(way, fault, mechanisms="PLAIN LOGIN CRAM-MD5 SCRAM-SHA-256 XOAUTH2", **more):
    """A server of one protocol that offers these mechanisms and plays the fault at AUTH."""
    words = mechanisms.encode()
    if way == "smtp":
        made = Hostile("auth", fault, session=SESSIONS[way], capabilities=(b"PIPELINING", b"AUTH " + words), **more)
    elif way == "pop3":
        made = HostilePop3("auth", fault, session=SESSIONS[way], capabilities=(b"SASL " + words, b"UIDL"), **more)
    else:
        made = HostileImap("auth", fault, session=SESSIONS[way],
                           capabilities=(b"IMAP4rev1", b"SASL-IR", *(b"AUTH=" + word for word in words.split())), **more)
    made.answers = []
    return made
