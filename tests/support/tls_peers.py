# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers and clients whose TLS a test has in hand: octets go out through it or beside it, whole, broken or not at all.

    def play(peer):                               # of each connection, in a thread of its own
        peer.start_tls(peer.server.context)       # server_context(certificates.good), …
        peer.write(b"220 here\\r\\n")
        peer.expect(b"EHLO")
        peer.abandon()                            # without TLS's goodbye

    with PeerServer(play, context) as server: …   # at server.endpoint

Python's ssl does the cryptography on octets in memory (ssl.MemoryBIO), so that what it makes can be held back, split or
mixed with anything. A connection that the other side breaks ends its thread; any other exception is the test's failure.
"""
import contextlib
import socket
import ssl
import threading
import warnings

PATIENCE = 20.0
TLS = {"1.1": ssl.TLSVersion.TLSv1_1, "1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}


def server_context(certificate, only=None):
    """only: "1.1", "1.2" or "1.3"."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return narrowed(context, only)


def client_context(only=None, certificate=None):
    """Takes whatever the server shows."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if certificate:
        context.load_cert_chain(certificate)
    return narrowed(context, only)


def narrowed(context, only):
    if only == "1.1":
        context.set_ciphers("DEFAULT@SECLEVEL=0")
    if only:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            context.minimum_version = context.maximum_version = TLS[only]
    return context


class Left(Exception):
    """The other side has closed."""


class Peer:
    def __init__(self, raw, server=None):
        raw.settimeout(PATIENCE)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.raw, self.server, self.tls, self.pending, self.past = raw, server, None, b"", b""

    # ---- octets as they are ----

    def send(self, octets):
        self.raw.sendall(octets)

    def send_bytewise(self, octets):
        for octet in octets:
            self.raw.sendall(bytes((octet,)))

    def receive(self):
        got = self.raw.recv(65536)
        if not got:
            raise Left
        return got

    def until_closed(self):
        """All that comes, through TLS where there is some, until the other side closes in whatever way."""
        text = b""
        with contextlib.suppress(Left, OSError, ssl.SSLError):
            while True:
                text += self.read()
        return text

    # ---- through TLS ----

    def begin_tls(self, context, name="localhost"):
        """Makes the engine, without a word on the wire yet."""
        self.arriving, self.leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
        is_server = context.protocol == ssl.PROTOCOL_TLS_SERVER
        self.tls = context.wrap_bio(self.arriving, self.leaving, is_server, None if is_server else name)
        self.engine, self.tls = self.tls, None

    def start_tls(self, context, **more):
        assert not self.pending, self.pending
        self.begin_tls(context, **more)
        self.finish_handshake()

    def finish_handshake(self):
        while not self.handshake_step():
            self.arriving.write(self.receive())
        self.tls = self.engine

    def handshake_step(self):
        """Goes on with what has arrived; sends what is due. True at the end."""
        try:
            self.engine.do_handshake()
            return True
        except ssl.SSLWantReadError:
            return False
        finally:
            self.send(self.leaving.read())

    def made(self, octets):
        """The records for this text, which are not sent."""
        self.tls.write(octets)
        return self.leaving.read()

    def goodbye(self):
        """The record of a close_notify, which is not sent."""
        with contextlib.suppress(ssl.SSLWantReadError):
            self.tls.unwrap()
        return self.leaving.read()

    # ---- lines ----

    def write(self, octets):
        self.send(self.made(octets) if self.tls else octets)

    def read(self):
        if not self.tls:
            return self.receive()
        while True:
            try:
                got = self.tls.read(65536)
                if not got:
                    raise Left
                return got
            except ssl.SSLZeroReturnError:
                raise Left from None
            except ssl.SSLWantReadError:
                self.arriving.write(self.receive())

    def line(self):
        while b"\n" not in self.pending:
            self.pending += self.read()
        line, _, self.pending = self.pending.partition(b"\n")
        return line + b"\n"

    def expect(self, *beginnings):
        line = self.line()
        if line.upper() == b"QUIT\r\n":
            raise Left  # a run may end at any time
        assert line.upper().startswith(beginnings), f"{beginnings} wanted, {line} came"
        return line

    def reply(self):
        """All lines of an SMTP reply."""
        text = line = self.line()
        while line[3:4] == b"-":
            line = self.line()
            text += line
        return text

    def say(self, command, code=b"250"):
        self.write(command + b"\r\n")
        reply = self.reply()
        assert reply.startswith(code), (command, reply)
        return reply

    def abandon(self):
        """Closes the connection as one without TLS is closed."""
        with contextlib.suppress(OSError):
            self.raw.shutdown(socket.SHUT_WR)

    def close(self):
        self.raw.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def connect(endpoint):
    """A Peer that has opened a connection to one of our servers."""
    host, _, port = endpoint.rpartition(":")
    return Peer(socket.create_connection((host.strip("[]"), int(port))))


class PeerServer:
    """Calls play(peer) for each connection. With `good`, that has every second one, from the second."""

    def __init__(self, play, context=None, good=None):
        self.play, self.good, self.context = play, good, context
        self.connections, self.failures, self.threads, self.peers = 0, [], [], []
        self.accepted = 0  # messages, by smtp_server() and others that count
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.endpoint = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.accept, daemon=True)

    def accept(self):
        while True:
            try:
                raw, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            play = self.good if self.good and self.connections % 2 == 0 else self.play
            peer = Peer(raw, self)
            thread = threading.Thread(target=self.converse, args=(play, peer), daemon=True)
            self.peers.append(peer)
            self.threads.append(thread)
            thread.start()

    def converse(self, play, peer):
        try:
            play(peer)
        except (Left, OSError, ssl.SSLError):
            pass
        except Exception as error:
            self.failures.append(error)
        finally:
            peer.close()

    def count_accepted(self):
        with self.lock:
            self.accepted += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(PATIENCE)
        for peer in self.peers:
            with contextlib.suppress(OSError):
                peer.raw.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(PATIENCE)
            assert not thread.is_alive(), "a peer's thread did not end"
        if self.failures:
            raise self.failures[0]


# ---- dialogues ----

def until_starttls(peer, capabilities=(b"STARTTLS",)):
    """SMTP up to the STARTTLS command, which is not answered."""
    peer.write(b"220 peer.example.com ESMTP\r\n")
    peer.expect(b"EHLO", b"LHLO")
    peer.write(ehlo_reply(capabilities))
    peer.expect(b"STARTTLS\r\n")


def ehlo_reply(capabilities=()):
    lines = [b"peer.example.com", *capabilities]
    return b"".join(b"250-%s\r\n" % line for line in lines[:-1]) + b"250 %s\r\n" % lines[-1]


def take_mail(peer):
    """SMTP from EHLO to QUIT, in plain or through TLS; counts what it accepted."""
    while True:
        line = peer.line().upper()
        verb = line.split()[0]
        if verb in (b"EHLO", b"LHLO"):
            peer.write(ehlo_reply())
        elif verb == b"DATA":
            peer.write(b"354 go on\r\n")
            while peer.line() != b".\r\n":
                pass
            peer.server.count_accepted()
            peer.write(b"250 2.0.0 taken\r\n")
        elif verb == b"QUIT":
            peer.write(b"221 2.0.0 bye\r\n")
            if peer.tls:
                peer.send(peer.goodbye())
            return
        else:
            assert verb in (b"MAIL", b"RCPT", b"RSET"), line
            peer.write(b"250 2.0.0 fine\r\n")


def good_smtp(peer):
    """A server with STARTTLS that does all right."""
    until_starttls(peer)
    peer.write(b"220 2.0.0 go on\r\n")
    peer.start_tls(peer.server.context)
    take_mail(peer)


def good_smtps(peer):
    """The same with TLS from the first octet."""
    peer.start_tls(peer.server.context)
    peer.write(b"220 peer.example.com ESMTP\r\n")
    take_mail(peer)
