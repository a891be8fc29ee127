# SPDX-License-Identifier: GPL-3.0-or-later
"""A small SMTP/LMTP server that is well behaved but for one scripted fault.

    with Hostile("rcpt", "silence", every=2) as server:   # every second connection falls silent at RCPT
        run_postal(server.endpoint, ...)
        assert server.count.faults > 0

It runs in a thread of its own with its own event loop, on a free port of 127.0.0.1. A fault belongs to a
step: banner, ehlo, mail, rcpt, data (the reply to DATA), transfer (while the message is sent), end (the
reply after the data, for BDAT too) or quit. Faults are the keys of FAULTS. It counts what it accepted
(`accepted`), and apart from that the messages whose reply was the faulty one (`unclear`): the client cannot
know what became of those. Commands follow RFC 5321, RFC 2033 (LMTP), RFC 2920 and RFC 3030; it does not
check what it is told, for the clients are what is tested. The same server runs by hand, in tests:

    python3 -m support.hostile --step end --fault close --every 3 --port 2525
"""
import argparse
import asyncio
import contextlib
import dataclasses
import random
import socket
import struct
import threading

from .served import Served

STEPS = ("banner", "ehlo", "mail", "rcpt", "data", "transfer", "end", "quit")
LONG_LINE = 64 * 1024 * 1024
MANY_LINES = 10_000
GARBAGE = random.Random(7).randbytes(300).replace(b"\n", b"\0").replace(b"\r", b"\1")
# A code that has no place as the answer to the step: a wrong one, but a well-formed reply.
WRONG = {"banner": 354, "ehlo": 354, "mail": 354, "rcpt": 354, "data": 250, "end": 354, "quit": 354}


@dataclasses.dataclass
class Count:
    connections: int = 0
    faults: int = 0       # times that the fault was committed
    accepted: int = 0     # LMTP: recipients
    unclear: int = 0
    started: int = 0      # MAIL commands seen


class Over(Exception):
    """The session ends here."""


class Session:
    """One connection. Another protocol has a class of its own, with its STEPS and FAULTS."""
    STEPS = STEPS

    def __init__(self, server, reader, writer, faulty):
        self.server, self.reader, self.writer, self.faulty = server, reader, writer, faulty
        self.presented = set()   # steps whose reply went out before it was due
        self.recipients = 0
        self.done_fault = False
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    async def run(self):
        await self.reply("banner", b"220 hostile.example ESMTP\r\n")
        while True:
            line = await self.reader.readline()
            if not line.endswith(b"\n"):
                raise Over
            words = line.split(None, 1) or [b""]
            verb = words[0].upper()
            self.server.heard(line)
            handler = self.COMMANDS.get(verb)
            if handler:
                await handler(self, line)
            else:
                await self.send(b"502 5.5.1 not here\r\n")

    async def ehlo(self, line):
        lines = [b"hostile.example", *self.server.capabilities]
        text = b"".join(b"250-" + x + b"\r\n" for x in lines[:-1]) + b"250 " + lines[-1] + b"\r\n"
        await self.reply("ehlo", text)

    async def mail(self, line):
        self.server.count.started += 1
        self.recipients = 0
        await self.reply("mail", b"250 2.1.0 sender\r\n")

    async def rcpt(self, line):
        self.recipients += 1
        await self.reply("rcpt", b"250 2.1.5 recipient\r\n")

    async def data(self, line):
        await self.reply("data", b"354 go on\r\n")
        await self.transfer_fault()
        if self.server.step == "transfer":
            await self.skim()
        else:
            await self.read_lines()
        await self.answer()

    async def read_lines(self):
        while (text := await self.reader.readline()) != b".\r\n":
            if not text:
                raise Over
            self.server.heard(text)

    async def skim(self):
        """To the end of a message of megabytes, without a look at its lines."""
        while True:
            try:
                await self.reader.readuntil(b"\r\n.\r\n")
                return
            except asyncio.LimitOverrunError as more:
                await self.reader.readexactly(more.consumed)

    async def bdat(self, line):
        words = line.split()
        await self.transfer_fault()
        await self.reader.readexactly(int(words[1]))
        if len(words) > 2:
            await self.answer()
        else:
            await self.reply("data", b"250 2.0.0 chunk\r\n")

    async def transfer_fault(self):
        if self.due("transfer"):
            await self.misbehave("transfer", b"451 4.3.0 no more\r\n")

    async def answer(self):
        """The reply after the data: one in SMTP, one for each recipient in LMTP."""
        for _ in range(self.recipients if self.server.lmtp else 1):
            if self.due("end") or "end" in self.presented:
                self.server.count.unclear += 1
            else:
                self.server.count.accepted += 1
            await self.reply("end", b"250 2.0.0 taken\r\n")

    async def rset(self, line):
        await self.send(b"250 2.0.0 reset\r\n")

    async def quit(self, line):
        await self.reply("quit", b"221 2.0.0 bye\r\n")
        raise Over

    COMMANDS = {b"EHLO": ehlo, b"LHLO": ehlo, b"HELO": ehlo, b"MAIL": mail, b"RCPT": rcpt, b"DATA": data,
                b"BDAT": bdat, b"RSET": rset, b"NOOP": rset, b"QUIT": quit}

    def due(self, step):
        return self.faulty and self.server.step == step and not self.done_fault

    async def reply(self, step, text):
        if step in self.presented:
            self.presented.discard(step)
            return
        following = {"banner": "ehlo", "ehlo": "mail", "mail": "rcpt", "rcpt": "data", "data": "end", "end": "quit"}
        if self.server.fault == "early" and following.get(step) and self.due(following[step]):
            self.mark()
            self.presented.add(self.server.step)
            code = {"data": b"354", "quit": b"221"}.get(self.server.step, b"250")
            await self.send(text + code + b" 2.0.0 before it was asked\r\n")
        elif self.due(step) and self.server.fault != "early":
            await self.misbehave(step, text)
        else:
            await self.send(text)

    def mark(self):
        self.done_fault = self.server.once
        self.server.count.faults += 1

    async def misbehave(self, step, text):
        self.mark()
        await self.FAULTS[self.server.fault](self, step, text)

    async def send(self, text):
        self.writer.write(text)
        await self.writer.drain()

    async def silence(self, step, text):
        while await self.reader.read(65536):
            pass
        raise Over

    async def deaf(self, step, text):
        """Neither reads nor writes, so that the client's socket fills up."""
        self.writer.transport.pause_reading()
        await self.server.ended.wait()
        raise Over

    async def close(self, step, text):
        raise Over

    async def reset(self, step, text):
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()
        raise Over

    async def garbage(self, step, text):
        await self.send(GARBAGE + b"\r\n")

    async def half_line(self, step, text):
        await self.send(text[:2])
        await self.silence(step, text)

    async def many_lines(self, step, text):
        code = text[:3]
        await self.send(b"".join(b"%s-line %d\r\n" % (code, i) for i in range(MANY_LINES - 1)) + code + b" last\r\n")

    async def long_line(self, step, text):
        await self.send(text[:4])
        block = b"x" * 262144
        for _ in range(LONG_LINE // len(block)):
            await self.send(block)
        await self.send(b"\r\n")

    async def wrong_class(self, step, text):
        await self.send(b"%d 2.0.0 out of place\r\n" % WRONG.get(step, 250))

    async def code_999(self, step, text):
        await self.send(b"999 no such class\r\n")

    async def code_000(self, step, text):
        await self.send(b"000 no such class\r\n")

    async def mixed_codes(self, step, text):
        await self.send(b"250-one code\r\n451 another\r\n")

    async def shutting_down(self, step, text):
        await self.send(b"421 4.3.2 shutting down\r\n")
        raise Over

    async def split(self, step, text):
        for byte in text:
            await self.send(bytes((byte,)))
            await asyncio.sleep(0)

    async def drip(self, step, text):
        """An octet now and then, so that no silence is long enough; lines of a reply without an end."""
        for byte in (text[:3] + b"-" + text[4:]) * 1000:
            await self.send(bytes((byte,)))
            await asyncio.sleep(0.1)

    async def extra(self, step, text):
        await self.send(text + b"250 2.0.0 once more\r\n")

    async def late(self, step, text):
        await asyncio.sleep(self.server.late_seconds)
        await self.send(text)


FAULTS = {"silence": Session.silence, "close": Session.close, "reset": Session.reset, "garbage": Session.garbage,
          "half_line": Session.half_line, "many_lines": Session.many_lines, "long_line": Session.long_line,
          "wrong_class": Session.wrong_class, "code_999": Session.code_999, "code_000": Session.code_000,
          "mixed_codes": Session.mixed_codes, "shutting_down": Session.shutting_down, "split": Session.split,
          "early": None, "extra": Session.extra, "late": Session.late, "deaf": Session.deaf,
          "drip": Session.drip}
Session.FAULTS = FAULTS


class Hostile(Served):
    """step and fault: what goes wrong. every: on each every-th connection, from the first. once: once a
    connection, not at each turn of the step. capabilities: what EHLO offers. heard: called with each line of
    commands and of messages sent with DATA. session: another class of conversation. receive_buffer: of its sockets, as
    setsockopt() takes it, and of its reader. tls: an ssl.SSLContext, for clients that begin with TLS."""

    def __init__(self, step=None, fault=None, *, every=1, once=True, lmtp=False, late_seconds=3.0, port=0, receive_buffer=None, heard=lambda line: None, session=Session, tls=None,
                 capabilities=(b"PIPELINING", b"ENHANCEDSTATUSCODES", b"8BITMIME", b"SIZE 104857600")):
        assert (step in session.STEPS and fault in session.FAULTS) or step is fault is None
        assert fault != "early" or step not in ("banner", "transfer"), "nothing comes before that"
        self.step, self.fault, self.every, self.once, self.lmtp = step, fault, every, once, lmtp
        super().__init__(port, limit=receive_buffer or 1 << 20, ssl=tls)
        self.late_seconds, self.capabilities, self.receive_buffer = late_seconds, capabilities, receive_buffer
        self.heard, self.session = heard, session
        self.count = Count()

    def prepare(self, listener):
        if self.receive_buffer:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.receive_buffer)

    async def converse(self, reader, writer):
        self.count.connections += 1
        faulty = self.step is not None and (self.count.connections - 1) % self.every == 0
        with contextlib.suppress(Over, ValueError):
            await self.session(self, reader, writer, faulty).run()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step", choices=STEPS)
    parser.add_argument("--fault", choices=FAULTS)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--port", type=int, default=2525)
    parser.add_argument("--lmtp", action="store_true")
    args = parser.parse_args()
    with Hostile(args.step, args.fault, every=args.every, port=args.port, lmtp=args.lmtp) as server:
        print(f"listening on {server.endpoint}", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print(server.count)


if __name__ == "__main__":
    main()
