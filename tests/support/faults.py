# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs in which one allocation or one system call fails, and what must hold then all the same.

    rig = Rig(programs, folder)                 # programs by name, the injector beside them
    outcome = Bhm(rig).run(Fault("allocation", nth=17))
    outcome.check()                             # AssertionError says what is wrong

A program goes on, or ends with status 2 and one line that says why. It never crashes, hangs or lies: what its peer was
told, its record and its ledger agree as far as they exist, who comes later is served, and SIGTERM ends it in time.
Each trial is a program with a short, fixed piece of work; all are deterministic as far as one worker makes them so.
The long campaign is scripts/soak, the short one tests/faults/.
"""
import contextlib
import dataclasses
import errno
import json
import mmap
import os
import pathlib
import re
import select
import shutil
import socket
import sqlite3
import ssl
import struct
import subprocess
import threading
import time

from .dialogue import Client
from .hostile_imap import HostileImap
from .hostile_pop3 import HostilePop3
from .mail import made_message
from .process import Process, free_port

LONGEST = 20.0  # that a piece of work may take on a busy machine, and the end after SIGTERM


@dataclasses.dataclass(frozen=True)
class Fault:
    """What fails: "allocation", or a system call by its name. nth=0: nothing, it is only counted."""
    what: str
    nth: int = 0
    times: int = 1        # 0: from then on, for ever
    error: int = errno.ENOMEM
    begin: str = ""       # listen, connect or main; the trial's own by default
    kind: str = ""        # of descriptor: eventfd, socket, file, pipe
    path: str = ""        # how the path ends that "open" opens

    def __str__(self):
        how = {0: " and all that follow", 1: ""}.get(self.times, f" and {self.times - 1} more")
        return f"{self.what} {self.nth}{how}{f' ({self.kind or self.path})' if self.kind or self.path else ''}: {errno.errorcode[self.error]}"


class Rig:
    """Programs, injector, and what several trials share."""

    def __init__(self, programs, folder):
        self.programs, self.folder, self.runs = programs, pathlib.Path(folder), 0
        self.injector = programs.folder.parent / "tests" / "faults" / "injector.so"
        self.users = self.folder / "users.txt"
        self.users.write_text("".join(f"user{number}@example.com secret\n" for number in range(3)))

    def place(self):
        self.runs += 1
        made = self.folder / f"run-{self.runs}"
        made.mkdir()
        return made

    @contextlib.contextmanager
    def environment(self, fault, begin, place):
        """The variables, and the two counts as a function."""
        path = place / "counts"
        path.write_bytes(bytes(16))
        words = {"begin": fault.begin or begin, "fail": fault.what, "nth": fault.nth, "times": fault.times, "errno": fault.error,
                 "kind": fault.kind, "path": fault.path, "counts": path}
        with open(path, "r+b") as file, mmap.mmap(file.fileno(), 16) as shared:
            yield ({**os.environ, "LD_PRELOAD": str(self.injector), "MALLOC_ARENA_MAX": "1",
                    "POSTAL_FAULT": " ".join(f"{name}={value}" for name, value in words.items() if value != "")},
                   lambda: struct.unpack("QQ", shared[:16]))


@dataclasses.dataclass
class Outcome:
    """What a run left, and all that is wrong with it."""
    trial: str
    fault: Fault
    status: int = None
    stderr: str = ""
    seen: int = 0       # allocations or calls since the beginning
    failed: int = 0     # of them, how many failed
    wrong: list = dataclasses.field(default_factory=list)

    def check(self):
        assert not self.wrong, f"{self.trial}, {self.fault}: {'; '.join(self.wrong)}\nstatus {self.status}\n{self.stderr}"


class Trial:
    """One program and its work. A subclass has words(), work() and books()."""
    name = None
    begin = "connect"
    serves = False
    good = (0,)         # statuses of a run that went on

    def __init__(self, rig, *more):
        self.rig, self.more = rig, more

    def run(self, fault):
        self.place = self.rig.place()
        self.record_path, self.ledger_path = self.place / "record.json", self.place / "ledger"
        outcome = Outcome(f"{type(self).__name__} {' '.join(self.more)}".strip(), fault)
        with self.rig.environment(fault, self.begin, self.place) as (environment, counts):
            with self.peer():
                process = Process([self.rig.programs.path(self.name), *self.words(), *self.more], self.place, env=environment)
                try:
                    self.attend(process, outcome)
                finally:
                    process.kill()
                outcome.stderr = process.stderr
                outcome.seen, outcome.failed = counts()
                self.judge(process, outcome)
        if not outcome.wrong:
            shutil.rmtree(self.place)
        return outcome

    def peer(self):
        return contextlib.nullcontext()

    def attend(self, process, outcome):
        """The work, SIGTERM where nothing else ends the program, and its status."""
        if self.serves:
            self.work(process, outcome)
            if process.running:
                process.child.terminate()
        try:
            process.child.wait(LONGEST)
        except subprocess.TimeoutExpired:
            process.child.terminate()
            try:
                process.child.wait(LONGEST)
                outcome.wrong.append("did not end by itself" if not self.serves else "ended only with a second SIGTERM")
            except subprocess.TimeoutExpired:
                outcome.wrong.append("SIGTERM did not end it")
                process.kill()
        outcome.status = process.child.returncode

    def judge(self, process, outcome):
        wrong = outcome.wrong
        if outcome.status < 0:
            return wrong.append(f"died of signal {-outcome.status}")
        if outcome.status not in (*self.good, 2) or (outcome.status == 2 and not outcome.failed):
            wrong.append(f"status {outcome.status}")
        if outcome.status == 2 and not self.reasons(outcome.stderr):
            wrong.append("status 2, and no line that says why")
        record = None
        if self.record_path.exists():
            try:
                record = json.loads(self.record_path.read_text())
            except ValueError:
                wrong.append("the record is no JSON")
        elif outcome.status != 2:
            wrong.append("no record")
        try:
            with contextlib.suppress(FileNotFoundError):
                self.books(record, outcome)
        except (sqlite3.Error, KeyError) as problem:
            if outcome.status != 2:
                wrong.append(f"the books cannot be read: {problem!r}")

    def reasons(self, stderr):
        """The lines that may say why a program has ended."""
        return re.findall(rf"^{self.name}: (?!listening on |TLS with a |TLS: cert|stopping: |first error |hint: ).+", stderr, re.MULTILINE)

    def ledger(self, question):
        """One number of the ledger; nothing where there is none."""
        if not self.ledger_path.exists() or self.ledger_path.stat().st_size == 0:
            return None
        with contextlib.closing(sqlite3.connect(self.ledger_path, timeout=10)) as book:
            return book.execute(question).fetchone()[0]


def between(wrong, what, least, value, most):
    if value is not None and not least <= value <= most:
        wrong.append(f"{what}: {value}, wanted {least}" + ("" if least == most else f" to {most}"))


# ---- servers ----

class Replies(Exception):
    """A peer that says what it cannot say."""


class ServerTrial(Trial):
    """Three connections with mail, one of them with TLS, and then one more that must be served."""
    begin = "listen"
    serves = True
    greeting = "EHLO"
    tls = False
    sorts = (b"user0@example.com", b"user1@example.com")

    def connect(self, process):
        """A connection, as soon as somebody listens; nothing when the program has ended."""
        deadline = time.monotonic() + LONGEST
        while time.monotonic() < deadline and process.running:
            # A listener that ends in the middle of a handshake resets it.
            with contextlib.suppress(ConnectionRefusedError, ConnectionResetError):
                return Client(("127.0.0.1", self.port), timeout=self.patience)
            time.sleep(0.002)
        return None

    def work(self, process, outcome):
        self.acknowledged, self.unheard, self.lies = 0, 0, []
        self.for_ever = outcome.fault.times == 0  # then nobody need be served
        self.patience = 0.5 if self.for_ever else LONGEST
        visits = [self.visit] * 3
        if self.tls:
            visits.insert(1, self.visit_with_tls)
        for visit in visits:
            client = self.connect(process)
            if client is None:
                break
            if not self.guarded(client, visit) and outcome.fault.nth == 0:
                outcome.wrong.append(f"{visit.__name__} went wrong without a fault")
        # The last one may be the one whom the fault meets; then the next is served.
        tries = 3 if outcome.fault.times == 1 else 1
        for _ in range(tries):
            client = self.connect(process)
            if client is None or self.guarded(client, self.visit_with_tls if self.tls else self.visit):
                break
        else:
            if process.running and outcome.fault.times == 1:
                outcome.wrong.append("serves nobody any more" + (" with TLS" if self.tls else ""))
        outcome.wrong.extend(self.lies)

    def guarded(self, client, visit):
        """Whether all of it went as it should."""
        with client:
            try:
                return visit(client)
            except TimeoutError:
                if not self.for_ever:
                    self.lies.append("a client waited in vain")
            except OSError:  # closed; ssl.SSLError is one
                pass
            except ValueError:
                self.lies.append("said what is no reply")
            except Replies as problem:
                self.lies.append(str(problem))
        return False

    def answer(self, client, *wanted):
        """The code: one of those, 421 or 4xx, or the end."""
        code, text = client.reply()
        if code == 0:
            raise ConnectionResetError
        if code not in wanted and not 400 <= code < 500:
            raise Replies(f"said {text!r} where {wanted} was due")
        if code == 421:
            raise ConnectionResetError
        return code

    def greet(self, client):
        if self.answer(client, 220) != 220:
            raise ConnectionResetError
        return self.hello(client)

    def hello(self, client):
        client.write(f"{self.greeting} client.example\r\n".encode())
        return self.answer(client, 250) == 250

    def visit(self, client):
        return self.greet(client) and self.mail(client)

    def visit_with_tls(self, client):
        if not self.greet(client):
            return False
        client.write(b"STARTTLS\r\n")
        if self.answer(client, 220) != 220:
            return False
        context = ssl._create_unverified_context()
        client.socket = context.wrap_socket(client.socket, server_hostname="localhost")
        return self.hello(client) and self.mail(client)

    def mail(self, client):
        """Two messages, all of each in one write: the second by BDAT."""
        fine = True
        for number, chunked in ((1, False), (2, True)):
            octets = made_message(number, self.sorts[0].decode())
            envelope = b"MAIL FROM:<sender@example.com>\r\n" + b"".join(b"RCPT TO:<%s>\r\n" % to for to in self.sorts)
            if chunked:
                client.write(envelope + b"BDAT %d LAST\r\n" % len(octets) + octets)
            else:
                client.write(envelope + b"DATA\r\n")
            fine = self.transaction(client, octets, chunked) and fine
        return fine

    def transaction(self, client, octets, chunked):
        sent = chunked  # all of it, so that the server may take it whatever is heard
        try:
            self.answer(client, 250)
            accepted = [to for to in self.sorts if self.answer(client, 250) == 250]
            if not chunked:
                if self.answer(client, 354) != 354:
                    return False
                sent = True
                client.write(octets.replace(b"\r\n.", b"\r\n..") + b".\r\n")
            return self.ends(client, accepted)
        except (OSError, Replies):
            self.unheard += sent
            raise


class Bhm(ServerTrial):
    """bhm with record and ledger: 250 once for a message."""
    name = "bhm"

    def words(self):
        self.port = free_port()
        return ["--listen", f"127.0.0.1:{self.port}", "--record", self.record_path, "--ledger", self.ledger_path, "--workers", "1",
                "--interval", "1h", "--grace", "1s", *(["--ssl"] if self.tls else [])]

    def ends(self, client, accepted):
        done = self.answer(client, 250) == 250
        self.acknowledged += done
        return done and len(accepted) == len(self.sorts)

    def books(self, record, outcome):
        if record is None:
            return
        between(outcome.wrong, "messages in the record", self.acknowledged, record["totals"]["messages"],
                self.acknowledged + self.unheard)
        rows = self.ledger("SELECT count(*) FROM seen")
        if outcome.status == 0:
            between(outcome.wrong, "rows in the ledger", record["totals"]["recipients"], rows, record["totals"]["recipients"])


class BhmTls(Bhm):
    tls = True


class LmtpDeliver(ServerTrial):
    """The agent of "good" writes a line, that of "bad" says that it failed: a 250 for it is a lie."""
    name = "lmtp-deliver"
    greeting = "LHLO"
    sorts = (b"good@example.com", b"bad@example.com")

    def words(self):
        self.port = free_port()
        self.delivered = self.place / "delivered"
        self.delivered.touch()
        agent = f"/bin/sh -c 'case \"$1\" in good*) echo one >>{self.delivered};; *) exit 67;; esac' agent %to_user%"
        return ["--listen", f"127.0.0.1:{self.port}", "--agent", agent, "--allow-root-agent", "--record", self.record_path, "--workers", "1",
                "--interval", "1h", "--grace", "1s"]

    def ends(self, client, accepted):
        fine = len(accepted) == len(self.sorts)
        for to in accepted:
            wanted = 250 if to.startswith(b"good") else 550
            code = self.answer(client, wanted)
            fine = fine and code == wanted
            self.acknowledged += code == 250
        return fine

    def books(self, record, outcome):
        delivered = len(self.delivered.read_text().splitlines())
        if self.acknowledged > delivered:
            outcome.wrong.append(f"{self.acknowledged} acknowledged, {delivered} delivered")
        if record is not None:
            between(outcome.wrong, "messages in the record", self.acknowledged, record["totals"]["messages"], delivered)


# ---- clients ----

class Listener:
    """A server in threads, one for each connection; a subclass has converse()."""

    def __init__(self, certificate=None):
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.endpoint = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.guarded, args=[self.listener.accept()[0]], daemon=True).start()

    def guarded(self, peer):
        peer.settimeout(LONGEST)
        with contextlib.suppress(OSError, ValueError):
            self.converse(peer)
        with contextlib.suppress(OSError):
            peer.close()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class Sink(Listener):
    """A mail server that counts what it has accepted, with TLS for whom asks for it."""
    accepted = 0

    def converse(self, peer):
        lines = peer.makefile("rb")
        peer.sendall(b"220 sink.example ESMTP\r\n")
        while line := lines.readline():
            verb = line[:4].upper()
            if verb == b"EHLO":
                more = b"250-STARTTLS\r\n" if self.context and not isinstance(peer, ssl.SSLSocket) else b""
                peer.sendall(b"250-sink.example\r\n" + more + b"250 PIPELINING\r\n")
            elif verb == b"STAR":
                peer.sendall(b"220 go on\r\n")
                peer = self.context.wrap_socket(peer, server_side=True)
                lines = peer.makefile("rb")
            elif verb == b"DATA":
                peer.sendall(b"354 go on\r\n")
                while line and line != b".\r\n":
                    line = lines.readline()
                if not line:
                    return
                self.accepted += 1
                peer.sendall(b"250 2.0.0 kept\r\n")
            else:
                peer.sendall(b"221 bye\r\n" if verb == b"QUIT" else b"250 2.0.0 ok\r\n")
                if verb == b"QUIT":
                    return


class Postal(Trial):
    """Four messages over connections of two each."""
    name = "postal"
    good = (0, 4)
    certificate = None

    @contextlib.contextmanager
    def peer(self):
        self.sink = Sink(self.certificate)
        try:
            yield
        finally:
            self.sink.close()

    def words(self):
        return ["--messages", "4", "-c", "2", "-t", "1", "-m", "1", "--workers", "1", "--interval", "1h", "--grace", "1s",
                "--duration", "10s", "--record", self.record_path, "--ledger", self.ledger_path, *self.secured(),
                self.sink.endpoint, self.rig.users]

    def secured(self):
        return []

    def books(self, record, outcome):
        if record is not None:
            totals = record["totals"]
            between(outcome.wrong, "accepted by the server", totals["messages"], self.sink.accepted,
                    totals["messages"] + totals["in_doubt"])
            if outcome.status != 2:
                rows = self.ledger("SELECT count(*) FROM sent WHERE outcome = 0")
                between(outcome.wrong, "accepted in the ledger", totals["messages"], rows, totals["messages"])
        if outcome.fault.times == 1 and outcome.status == 4:
            outcome.wrong.append("one failure, and nothing at all was sent")


class PostalTls(Postal):
    """The same with STARTTLS; `certificate` is set by whoever has one."""

    def secured(self):
        return ["-s", "100"]

    def books(self, record, outcome):
        super().books(record, outcome)
        if outcome.fault.nth == 0 and record["totals"]["tls_connections"] == 0:
            outcome.wrong.append("no TLS without a fault")


class RabidTrial(Trial):
    name = "rabid"
    good = (0, 4)
    server = None

    @contextlib.contextmanager
    def peer(self):
        with self.server() as self.box:
            yield

    def words(self):
        return [*self.way(), "--connections", "2", "-p", "1", "--workers", "1", "--interval", "1h", "--grace", "1s", "--duration", "10s",
                "--record", self.record_path, "--ledger", self.ledger_path, *self.servers(), self.rig.users]

    def books(self, record, outcome):
        if record is None:
            return
        totals = record["totals"]
        between(outcome.wrong, "messages read", 0, totals["messages"], self.box.count.sent)
        if outcome.status == 0:
            rows = self.ledger("SELECT count(*) FROM seen")
            between(outcome.wrong, "messages in the ledger", totals["messages"], rows, totals["messages"])
        if outcome.fault.times == 1 and outcome.status == 4:
            outcome.wrong.append("one failure, and nothing at all was read")


class RabidPop3(RabidTrial):
    server = HostilePop3

    def way(self):
        return []

    def servers(self):
        return [self.box.endpoint]


class Terminator(Listener):
    """TLS from the first octet on, before a server without. One thread for both ways: an SSL object is not for two at once."""

    def __init__(self, certificate, behind):
        host, _, port = behind.rpartition(":")
        self.behind = (host, int(port))
        super().__init__(certificate)

    def converse(self, peer):
        with self.context.wrap_socket(peer, server_side=True) as front, socket.create_connection(self.behind, LONGEST) as back:
            while ready := [front] if front.pending() else select.select([front, back], [], [], LONGEST)[0]:
                for source in ready:
                    if not self.passed_on(source, back if source is front else front):
                        return

    @staticmethod
    def passed_on(source, sink):
        """Whether there may be more; a record of TLS may be no octets yet, or none at all."""
        source.settimeout(0)
        try:
            octets = source.recv(65536)
        except (ssl.SSLWantReadError, BlockingIOError):
            return True
        finally:
            source.settimeout(LONGEST)
        sink.sendall(octets)
        return bool(octets)


class RabidPop3Tls(RabidPop3):
    """The same over TLS from the first octet on; the certificate is PostalTls's."""

    @contextlib.contextmanager
    def peer(self):
        with super().peer():
            self.front = Terminator(PostalTls.certificate, self.box.endpoint)
            try:
                yield
            finally:
                self.front.close()

    def way(self):
        return ["-s", "100", "--tls", "implicit"]

    def servers(self):
        return [self.front.endpoint]

    def books(self, record, outcome):
        super().books(record, outcome)
        if outcome.fault.nth == 0 and record["totals"]["tls_connections"] == 0:
            outcome.wrong.append("no TLS without a fault")


class RabidImap(RabidTrial):
    server = HostileImap

    def way(self):
        return ["-i", "100", "--imap", self.box.endpoint]

    def servers(self):
        return ["127.0.0.1:1"]


# ---- those that only compute ----

class Batch(Trial):
    """A program that reads and prints: the same as ever with status 0, or status 2 and one line."""
    begin = "main"

    def __init__(self, rig, name, *words, status=0):
        super().__init__(rig)
        self.name, self.given, self.good = name, words, (status,)
        self.wanted = None

    def words(self):
        return self.given

    def run(self, fault):
        if self.wanted is None and fault.nth:
            self.run(dataclasses.replace(fault, nth=0))
        return super().run(fault)

    def judge(self, process, outcome):
        if outcome.fault.nth == 0:
            self.wanted = process.stdout
        if outcome.status < 0:
            outcome.wrong.append(f"died of signal {-outcome.status}")
        elif outcome.status in self.good:
            if process.stdout != self.wanted:
                outcome.wrong.append("said something else, with a good status")
        elif outcome.status != 2 or not outcome.failed:
            outcome.wrong.append(f"status {outcome.status}")
        elif len(outcome.stderr.splitlines()) != 1:
            outcome.wrong.append(f"status 2 with {len(outcome.stderr.splitlines())} lines")


def sweep(trial, fault, places, tell=lambda outcome: None):
    """Runs the trial with each of these places; the outcomes that are wrong."""
    bad = []
    for nth in places:
        outcome = trial.run(dataclasses.replace(fault, nth=nth))
        tell(outcome)
        if outcome.wrong:
            bad.append(outcome)
        if not outcome.failed:
            break  # there are no more
    return bad
