# SPDX-License-Identifier: GPL-3.0-or-later
"""A mail server of a test's own, which keeps what it is given, with its envelope, and refuses what it is told to.

    with Receiver() as receiver:
        ... something sends mail to receiver.endpoint ...
        mail = receiver.wait_for(1)[0]
        assert mail.reverse_path == "" and mail.recipients == ["a@example.org"]

`refuse` maps a command's first four letters, or "." for the end of the data, to the reply in place of the usual one.
It knows nothing of the suite: it is Python's asyncio and RFC 5321.
"""
import dataclasses
import re

from .process import wait_until
from .served import Served


@dataclasses.dataclass
class Received:
    reverse_path: str
    recipients: list
    octets: bytes  # with CRLF, dots taken back


class Receiver(Served):
    def __init__(self, refuse=None):
        super().__init__()
        self.refuse = refuse or {}
        self.mail, self.connections = [], 0

    async def converse(self, reader, writer):
        self.connections += 1
        writer.write(b"220 receiver.example ESMTP\r\n")
        reverse_path, recipients = None, []
        while line := (await reader.readline()).decode().rstrip("\r\n"):
            verb = line[:4].upper()
            reply = self.refuse.get(verb)
            if reply:
                pass
            elif verb == "EHLO":
                reply = "250-receiver.example\r\n250-8BITMIME\r\n250 SMTPUTF8"
            elif verb == "MAIL":
                reverse_path, recipients, reply = re.search("<(.*?)>", line).group(1), [], "250 2.1.0 ok"
            elif verb == "RCPT":
                recipients.append(re.search("<(.*?)>", line).group(1))
                reply = "250 2.1.5 ok"
            elif verb == "DATA":
                writer.write(b"354 go on\r\n")
                octets = await reader.readuntil(b"\r\n.\r\n")
                reply = self.refuse.get(".")
                if not reply:
                    text = re.sub(rb"(?m)^\.", b"", octets[:-3])
                    self.mail.append(Received(reverse_path, recipients, text))
                    reply = "250 2.0.0 kept"
            else:
                reply = "221 2.0.0 bye" if verb == "QUIT" else "250 2.0.0 ok"
            writer.write(reply.encode() + b"\r\n")
            await writer.drain()
            if verb == "QUIT":
                break

    def wait_for(self, count, timeout=60):
        wait_until(lambda: len(self.mail) >= count, lambda: f"{count} messages, of which {len(self.mail)} came", timeout)
        return self.mail
