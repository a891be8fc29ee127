# SPDX-License-Identifier: GPL-3.0-or-later
"""A TCP relay that keeps a second set of books: the replies that really came back over the wire.

It forwards both directions unchanged to a server that may be killed and come back on the same port, and
counts lines from the server that fit `pattern`. When one side is gone the other is closed, after what was
received has been passed on.
"""
import asyncio
import collections
import re
import time

from .served import Served

# Answers to the data of a message: the first digit.
LMTP_DELIVER = rb"(?m)^(\d)\d\d \d\.\d+\.\d+ (?:Delivered|Agent )"
DOVECOT = rb"(?m)^(\d)\d\d \d\.\d+\.\d+ <"
POSTFIX = rb"(?m)^(\d)\d\d \d\.\d+\.\d+ (?:Ok: queued|Error: queue|Bad message|Error: timeout)"


class Relay(Served):
    def __init__(self, target_port, pattern=rb"(?m)^250 2\.[06]\.0 (?!Flushed)"):
        super().__init__()
        self.target_port, self.pattern, self.counted = target_port, re.compile(pattern), 0

    async def converse(self, reader, writer):
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self.target_port)
        sent, answered = self.listeners()
        back = asyncio.ensure_future(self.pump(there_reader, writer, answered))
        try:
            await asyncio.wait({back, asyncio.ensure_future(self.pump(reader, there_writer, sent))})
        finally:
            there_writer.close()

    def listeners(self):
        """What of one connection gets the whole lines from the client, and from the server, before they go on."""
        return None, self.count

    def count(self, lines):
        self.counted += len(self.pattern.findall(lines))

    async def pump(self, reader, writer, listener=None):
        """One direction, until its end; then the other side hears the end too."""
        pending = b""
        try:
            while octets := await reader.read(65536):
                if listener:
                    whole, _, pending = (pending + octets).rpartition(b"\n")
                    listener(whole + b"\n")
                writer.write(octets)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()


class WireLedger(Relay):
    """A relay between postal and a server that knows which messages the server has acknowledged.

    For one recipient a message: the answers to the data of a connection, which fit `pattern`, come in the order of
    its messages. `acknowledged` are the keys (support.mail.Message.key) of those that were answered with 2xx. What
    fits while no message waits for its answer (Dovecot's refusal of a recipient) is none."""

    def __init__(self, target_port, pattern=LMTP_DELIVER):
        super().__init__(target_port, pattern)
        self.acknowledged = set()

    def listeners(self):
        sent = collections.deque()

        def from_client(lines):
            for run, session, number in re.findall(rb"(?m)^X-Postal-Id: +v=1; run=(\w+); s=(\d+); n=(\d+);", lines):
                sent.append((run.decode(), session.decode(), number.decode()))

        def from_server(lines):
            for first in self.pattern.findall(lines) if sent else ():
                key = sent.popleft()
                self.counted += 1
                if first == b"2":
                    self.acknowledged.add(key)
        return from_client, from_server


class Delaying(Relay):
    """Keeps the content of each message sent with DATA back, for `seconds` from when all of it has come.

    `kept` has how long that really was: on a busy machine it is longer."""

    def __init__(self, target_port, seconds):
        super().__init__(target_port)
        self.seconds, self.kept = seconds, []

    async def pump(self, reader, writer, listener=None):
        if listener:  # the server's replies
            return await super().pump(reader, writer, listener)
        pending, in_message = b"", False
        try:
            while octets := await reader.read(65536):
                came = time.monotonic()
                pending += octets
                if in_message:
                    if b"\r\n.\r\n" not in pending:
                        continue
                    await asyncio.sleep(self.seconds - (time.monotonic() - came))
                    self.kept.append(time.monotonic() - came)
                in_message = not in_message and pending.endswith(b"DATA\r\n")
                writer.write(pending)
                pending = b""
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()
