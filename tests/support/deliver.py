# SPDX-License-Identifier: GPL-3.0-or-later
"""lmtp-deliver under test, and a client that speaks LMTP to it.

    server = lmtp_deliver(agents("status", "%to_user%"))
    with server.connect() as client:
        answers = client.deliver(["0@example.com", "67@example.com"])
    assert [answer.code for answer in answers] == [250, 550]
"""
import dataclasses
import pathlib
import sys

from .dialogue import Client
from .postal import HEADER, Server
from .process import kill_agents
from .watched import check_outcomes

MAIL = b"From: <a@example.com>\r\nTo: <b@example.com>\r\nSubject: one\r\n\r\nbody\r\n"
HANDED_ON = MAIL.replace(b"\r\n", b"\n")  # as an agent reads it
DELIVER_HEADER = HEADER + ",deferred,rejected,agents_running,agent_p50_ms,agent_p99_ms"

# Starts a program as systemd does for a socket unit: descriptors of the given numbers become 3, 4, …
ACTIVATE = """\
import fcntl, os, sys
count = int(sys.argv[1])
moved = [fcntl.fcntl(int(word), fcntl.F_DUPFD, 100) for word in sys.argv[2:2 + count]]
for place, number in enumerate(moved, 3):
    os.dup2(number, place, inheritable=True)
os.closerange(3 + count, 1000)
os.environ["LISTEN_FDS"] = str(count)
os.environ["LISTEN_PID"] = str(os.getpid())
os.execv(sys.argv[2 + count], sys.argv[2 + count:])
"""


def activation(sockets):
    """Arguments of Deliverer that hand it these listening sockets."""
    numbers = [each.fileno() for each in sockets]
    return {"launcher": [sys.executable, "-ISc", ACTIVATE, str(len(numbers)), *map(str, numbers)],
            "pass_fds": numbers, "listen": ()}


class Deliverer(Server):
    """Agents that it leaves behind end with it. They may run as root where the tests do, unless `root_agents` says no."""
    name = "lmtp-deliver"
    header = DELIVER_HEADER

    def __init__(self, program, folder, agent, *options, root_agents=True, **keywords):
        words = ["--agent", agent] if agent is not None else []
        words += ["--allow-root-agent"] if root_agents else []
        super().__init__(program, folder, *words, *options, **keywords)

    def connect(self, place=None, greet=True, **more):
        """An LmtpClient, which has said LHLO unless greet is False; `place` is one of the endpoints."""
        place = place or self.endpoint
        if place.startswith("unix:"):
            where = place[5:]
        else:
            host, _, port = place.rpartition(":")
            where = (host.strip("[]"), int(port))
        client = LmtpClient(where, **more)
        if greet:
            client.greet()
        return client

    def deliver(self, recipients, octets=MAIL, **more):
        """The answers to one message over a connection of its own."""
        with self.connect() as client:
            answers = client.deliver(recipients, octets, **more)
            client.quit()
        return answers

    @property
    def children(self):
        """The numbers of its agents, those that ended and were not waited for included; its guardian is none."""
        found = [int(word) for path in pathlib.Path(f"/proc/{self.pid}/task").glob("*/children") for word in path.read_text().split()]
        return [pid for pid in found if name_of(pid) not in (None, "lmtp-guardian")]

    def result(self, status=0):
        done = super().result(status)
        check_outcomes(done.record)
        return done

    def __exit__(self, *_):
        super().__exit__()
        kill_agents(self.pid)


@dataclasses.dataclass(frozen=True)
class Answer:
    code: int
    text: str   # behind the code

    enhanced = property(lambda self: self.text.split(" ", 1)[0])
    words = property(lambda self: self.text.partition(" ")[2])

    def __str__(self):
        return f"{self.code} {self.text}"


def name_of(pid):
    """What a process is called, up to 15 octets; None when there is none."""
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().rstrip("\n")
    except OSError:
        return None


class LmtpClient(Client):
    def greet(self):
        self.expect(220)
        return self.say("LHLO client.example", 250)

    def answer(self):
        """The next reply, which must be one line that RFC 5321 (4.2) allows."""
        code, text = self.reply()
        assert text.endswith(b"\r\n") and len(text) <= 512, text
        assert all(octet == 9 or 32 <= octet < 127 for octet in text[:-2]), text
        return Answer(code, text[4:-2].decode("ascii"))

    def answers(self, count):
        return [self.answer() for _ in range(count)]

    def envelope_for(self, recipients, sender="sender@example.com", parameters=""):
        """MAIL and all RCPT at once; the answers to RCPT."""
        commands = [f"MAIL FROM:<{sender}>{parameters}"] + [f"RCPT TO:<{recipient}>" for recipient in recipients]
        self.write("".join(f"{command}\r\n" for command in commands).encode())
        self.expect(250)
        return self.answers(len(recipients))

    def start_delivery(self, recipients, octets=MAIL, chunks=0, **envelope):
        """Up to the end of the data; the answers to RCPT. With `chunks` the data goes in so many by BDAT."""
        asked = self.envelope_for(recipients, **envelope)
        if not any(answer.code == 250 for answer in asked):
            return asked
        if chunks:
            size = -(-len(octets) // chunks) or 1
            pieces = [octets[at:at + size] for at in range(0, len(octets), size)] or [b""]
            for piece in pieces[:-1]:
                self.write(b"BDAT %d\r\n" % len(piece) + piece)
                self.expect(250)
            self.write(b"BDAT %d LAST\r\n" % len(pieces[-1]) + pieces[-1])
        else:
            self.say("DATA", 354)
            self.write(stuffed(octets))
        return asked

    def deliver(self, recipients, octets=MAIL, **more):
        """One transaction; for each recipient the answer to its delivery, or to RCPT if that refused it."""
        asked = self.start_delivery(recipients, octets, **more)
        return [self.answer() if answer.code == 250 else answer for answer in asked]


def stuffed(octets):
    """A message of whole CRLF lines as DATA wants it, with its end."""
    assert not octets or octets.endswith(b"\r\n")
    dotted = octets.replace(b"\r\n.", b"\r\n..")
    return (b"." if dotted.startswith(b".") else b"") + dotted + b".\r\n"
