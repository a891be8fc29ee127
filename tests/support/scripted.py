# SPDX-License-Identifier: GPL-3.0-or-later
"""A client with a script: says a command at a time, and knows what came of it, a reply after how long, or which end.

    with Scripted(("127.0.0.1", hole.port)) as client:
        client.reach("rcpt")                       # banner, EHLO and MAIL, each taken
        heard = client.meet("rcpt")                # says RCPT
        assert (heard.code, heard.end) == (450, "")
        assert client.hear().end == "fin"          # or "rst"; "silence" when nothing came within its patience

    assert Scripted(…).converse(recipients=2) == [220, 250, 250, 250, 250, 354, 250, 221, "fin"]
"""
import base64
import dataclasses
import fcntl
import socket
import struct
import termios
import time

from .dialogue import Client

USER, PASSWORD = "user0@example.com", "secret-0"
CONTENT = b"From: <sender@example.com>\r\nSubject: x\r\n\r\nbody\r\n"
PATIENCE = 30.0
SILENCE = 0.3  # for who asks whether nothing comes: a server that answers does so before
SEND_WINDOW = 228  # tcpi_snd_wnd of struct tcp_info


@dataclasses.dataclass
class Heard:
    """A reply (`code`, `text`) or the `end` of the connection: fin, rst, or silence, which may be none."""
    seconds: float
    code: int = 0
    text: str = ""
    end: str = ""

    what = property(lambda self: self.end or self.code)


class Over(Exception):
    """No more is to be said."""


class Scripted(Client):
    """tls: an ssl.SSLContext for a server that begins with TLS. proxy: the address that a PROXY header names."""

    def __init__(self, endpoint, lmtp=False, chunked=False, tls=None, proxy=None):
        self.begun, self.was_reset = time.monotonic(), False
        try:
            super().__init__(endpoint, PATIENCE)
        except ConnectionResetError:  # before connect() has returned
            self.was_reset, self.pending = True, b""
        self.lmtp, self.chunked = lmtp, chunked
        self.sender, self.recipient, self.helo = "sender@example.com", USER, "client.example"
        self.size, self.content, self.patience = 0, CONTENT, PATIENCE
        if proxy:
            family, there = ("TCP6", "::1") if ":" in proxy else ("TCP4", "127.0.0.1")
            self.write(f"PROXY {family} {proxy} {there} 40000 25\r\n".encode())
        if tls:
            self.start_tls(tls)

    def start_tls(self, context):
        self.socket = context.wrap_socket(self.socket, server_hostname="localhost")

    def hear(self, patience=None):
        """The next reply, or the end."""
        begin = time.monotonic()
        if self.was_reset:
            return Heard(0, end="rst")
        self.socket.settimeout(patience or self.patience)
        code, text, end = 0, b"", ""
        try:
            code, text = self.reply()
            end = "" if code else "fin"
        except ConnectionResetError:
            end = "rst"
        except TimeoutError:
            end = "silence"
        return Heard(time.monotonic() - begin, code, text.decode(errors="replace"), end)

    def ask(self, octets, patience=None):
        """`octets`, and what is heard then; who has left meanwhile is heard, too."""
        begin = time.monotonic()
        try:
            if octets:  # writing nothing would take the error of a reset away from who listens
                self.write(octets)
        except (BrokenPipeError, ConnectionResetError):
            pass
        heard = self.hear(patience)
        heard.seconds = time.monotonic() - begin
        return heard

    # ---- one command after the other ----

    def words(self, stage, recipient=None):
        """What is said at a stage."""
        size, declared = len(self.content), f" SIZE={self.size}" if self.size else ""
        login = base64.b64encode(f"\0{USER}\0{PASSWORD}".encode()).decode()
        last = f"BDAT {size} LAST\r\n".encode() + self.content
        return {"connect": b"", "banner": b"",
                "ehlo": f"{'LHLO' if self.lmtp else 'EHLO'} {self.helo}\r\n".encode(),
                "starttls": b"STARTTLS\r\n",
                "auth": f"AUTH PLAIN {login}\r\n".encode(),
                "mail": f"MAIL FROM:<{self.sender}>{declared}\r\n".encode(),
                "rcpt": f"RCPT TO:<{recipient or self.recipient}>\r\n".encode(),
                "data": b"DATA\r\n",
                "chunk": f"BDAT {size}\r\n".encode() + self.content,
                "end": last if self.chunked else self.content + b".\r\n",
                "rset": b"RSET\r\n", "quit": b"QUIT\r\n"}[stage]

    def path(self, stage):
        """The stages of a visit that delivers a message and touches on `stage`, the first of them the greeting."""
        greeted = ["connect" if stage == "connect" else "banner", "ehlo"]
        secure = ["starttls", "ehlo"] if stage == "starttls" else []
        known = ["auth"] if stage == "auth" else []
        content = ["chunk"] if stage == "chunk" else [] if self.chunked else ["data"]
        return [*greeted, *secure, *known, "mail", "rcpt", *content, "end", "rset", "quit"]

    def meet(self, stage, patience=None):
        """What a stage brings; the greeting takes from before the connection is made."""
        heard = self.ask(self.words(stage), patience)
        if stage in ("connect", "banner"):
            heard.seconds = time.monotonic() - self.begun
        return heard

    def pass_by(self, stages, tls=None):
        """Each must be taken."""
        for stage in stages:
            heard = self.meet(stage)
            assert 200 <= heard.code < 400, f"{stage}: {heard}"
            if stage == "starttls":
                self.start_tls(tls)

    def reach(self, stage):
        """To the point where `stage` comes next."""
        path = self.path(stage)
        self.pass_by(path[:path.index(stage)])

    def go_on(self, stage, tls=None):
        """From behind `stage` to QUIT."""
        if stage == "starttls":
            self.start_tls(tls)
        path = self.path(stage)
        self.pass_by(path[path.index(stage) + 1:])

    def leave(self):
        """QUIT, and the end in good order."""
        assert self.meet("quit").code == 221
        assert self.hear().end == "fin"

    # ---- all of a visit ----

    def converse(self, recipients=1, pipelined=False, answers=None):
        """One message and QUIT, as a client does it that gives up what is refused: all codes, and the end. Behind so many
        `answers` more is not waited for long."""
        heard = []

        def listen(octets, replies=1):
            try:
                self.write(octets)
            except (BrokenPipeError, ConnectionResetError):
                pass
            for _ in range(replies):
                heard.append(self.hear(SILENCE if len(heard) == answers else None).what)
                if heard[-1] in ("fin", "rst", "silence"):
                    raise Over
            return heard[len(heard) - replies:]

        rcpts = [self.words("rcpt", f"user{number}@example.com") for number in range(recipients)]
        try:
            listen(b"")
            if listen(self.words("ehlo"))[0] == 250:
                self.transaction(listen, rcpts, pipelined)
            listen(self.words("quit"))
            listen(b"")
        except Over:
            pass
        return heard

    def transaction(self, listen, rcpts, pipelined):
        data = [] if self.chunked else [self.words("data")]
        if pipelined:
            said = [self.words("mail"), *rcpts, *data]
            codes = listen(b"".join(said), len(said))
            taken, asked = codes[1:1 + len(rcpts)].count(250), not data or codes[-1] == 354
        else:
            taken = sum(listen(rcpt)[0] == 250 for rcpt in rcpts) if listen(self.words("mail"))[0] == 250 else 0
            asked = taken and (not data or listen(data[0])[0] == 354)
        if taken and asked:
            listen(self.words("end"), taken if self.lmtp else 1)
        elif asked and data:
            listen(b".\r\n")

    # ---- the connection ----

    def unsent(self):
        """Octets that the other side has not taken."""
        return struct.unpack("i", fcntl.ioctl(self.socket, termios.TIOCOUTQ, bytes(4)))[0]

    def window(self):
        """Octets that the other side's TCP offers to take."""
        return struct.unpack_from("=I", self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256), SEND_WINDOW)[0]
