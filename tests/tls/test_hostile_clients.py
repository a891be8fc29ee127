# SPDX-License-Identifier: GPL-3.0-or-later
"""bhm and lmtp-deliver and clients whose TLS goes wrong: whatever one of them does, the server goes on, has it in its books
and serves the next one."""
import random
import socket
import subprocess

import pytest

from support.libssl import Session
from support.process import wait_until
from support.tls_books import ENGINES, check_tls, engine, tls_errors
from support.tls_peers import Peer, client_context, connect
from support.watched import memory_limit, peak_rss

GARBAGE = random.Random(6).randbytes(3000)


def record(kind, octets):
    return bytes((kind, 3, 1)) + len(octets).to_bytes(2, "big") + octets


SERVERS = [(program, name) for program in ("bhm", "lmtp-deliver") for name in ENGINES]


@pytest.fixture(params=[(*one, "2s") for one in SERVERS], ids=["-".join(one) for one in SERVERS])
def server(request, bhm, lmtp_deliver, agents, certificates):
    which, name, patience = request.param
    words = ["-s", "--tls-cert", certificates.good, *engine(name)]
    if which == "bhm":
        started = bhm("--timeout", patience, *words, listen_tls=True)
    else:
        started = lmtp_deliver(agents("status", "0"), "--client-timeout", patience, *words, listen_tls=True)
    started.hello = b"EHLO" if which == "bhm" else b"LHLO"
    started.engine = name
    return started


def deliver(server, before=b"", **context):
    """One message by a client that does all right."""
    with connect(server.tls_endpoint) as peer:
        peer.start_tls(client_context(**context))
        peer.reply()
        peer.say(server.hello + b" client.example")
        send_mail(peer)
        peer.say(b"QUIT", b"221")
        peer.send(peer.goodbye())


def send_mail(peer):
    peer.say(b"MAIL FROM:<a@example.com>")
    peer.say(b"RCPT TO:<b@example.com>")
    peer.say(b"DATA", b"354")
    peer.say(b"From: <a@example.com>\r\n\r\nbody\r\n.")


def ended(server, messages, reasons=None, stage="tls"):
    """It has served `messages` and goes on; what it says at its end."""
    deliver(server)
    assert peak_rss(server.pid) < memory_limit(server.process.argv[0])
    done = server.stop()
    assert done.total("messages") == messages + 1
    if reasons is not None:
        assert tls_errors(done, stage) == reasons, done.record["errors"]
    check_tls(done)
    return done


@pytest.mark.thinned(5)
@pytest.mark.parametrize("hello, reason", [
    (b"\x80" + GARBAGE, "not_tls"), (b"EHLO client.example\r\n", "not_tls"), (b"GET / HTTP/1.1\r\n\r\n", "not_tls"), (bytes(3000), "not_tls"),
    (record(22, GARBAGE), None), (b"\x16\x03\x01\xff\xff" + GARBAGE, None), (record(22, b"") * 50, None), (record(23, GARBAGE), "not_tls"),
    (record(22, b"\x02\x00\x00\x26\x03\x03" + bytes(36)), None), (b"\x80\x2e\x01\x03\x01" + bytes(40), "not_tls"), (b"", "closed"), (b"\x16", "closed"),
    (record(22, b"\x01\x00\x40\x00\x03\x03" + bytes(60)), "closed"),
], ids=["garbage", "plain", "http", "zeros", "garbage-in-a-record", "a-record-too-long", "empty-records", "application-data", "a-servers-hello", "SSLv2",
        "nothing", "one-octet", "half-a-hello"])
def test_no_hello(server, hello, reason):
    with connect(server.tls_endpoint) as peer:
        peer.send(hello)
        peer.abandon()
        assert peer.until_closed()[:1] in (b"", b"\x15"), "nothing but an alert"
    done = ended(server, 0)
    found = tls_errors(done)
    assert sum(found.values()) == 1 and (reason is None or set(found) == {reason}), found


# A handshake has as long as a client may be silent: on a full machine so many octets take their time.
@pytest.mark.parametrize("server", [(*one, "1m") for one in SERVERS], ids=["-".join(one) for one in SERVERS], indirect=True)
def test_a_hello_of_16_kib_in_single_octets(server):
    """A real one, made long by many names of protocols, and the same whole."""
    context = client_context()
    context.set_alpn_protocols([f"{number:0200d}" for number in range(80)])
    for bytewise in (True, False):
        with connect(server.tls_endpoint) as peer:
            peer.begin_tls(context)
            whole, hellos = peer.send, []
            peer.send = hellos.append
            assert not peer.handshake_step()
            peer.send = whole
            hello = b"".join(hellos)
            assert len(hello) > 16_000
            (peer.send_bytewise if bytewise else peer.send)(hello)
            peer.arriving.write(peer.receive())
            peer.finish_handshake()
            peer.reply()
            peer.say(server.hello + b" client.example")
            peer.say(b"QUIT", b"221")
    ended(server, 0, {})


def test_silence_in_the_handshake_has_an_end(server):
    with connect(server.tls_endpoint) as nothing, connect(server.tls_endpoint) as half:
        half.send(record(22, b"\x01\x00\x01\x00\x03\x03"))
        for peer in (nothing, half):
            peer.until_closed()
    ended(server, 0, {"timeout": 2})


@pytest.mark.thinned(5)
@pytest.mark.parametrize("only", ["1.2", "1.3"])
@pytest.mark.parametrize("end", ["alert", "close", "garbage", "reset"])
def test_an_end_after_the_servers_flight(server, end, only):
    with connect(server.tls_endpoint) as peer:
        peer.begin_tls(client_context(only))
        peer.handshake_step()
        peer.receive()
        if end == "reset":
            peer.raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        elif end != "close":
            peer.send(b"\x15\x03\x03\x00\x02\x02\x50" if end == "alert" else GARBAGE)
        if end != "reset":
            peer.abandon()
            peer.until_closed()
    done = ended(server, 0)
    assert sum(tls_errors(done).values()) == 1
    if end in ("close", "reset"):
        assert set(tls_errors(done)) <= {"closed", "reset"}
    elif end == "alert" and only == "1.2":
        assert set(tls_errors(done)) == {"alert_internal_error"}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("only", ["1.2", "1.3"])
def test_a_message_that_was_cut_is_not_taken(server, only):
    for whole in (True, False):
        with connect(server.tls_endpoint) as peer:
            peer.start_tls(client_context(only))
            peer.reply()
            peer.say(server.hello + b" client.example")
            peer.say(b"MAIL FROM:<a@example.com>")
            peer.say(b"RCPT TO:<b@example.com>")
            peer.say(b"DATA", b"354")
            rest = peer.made(b"Subject: one\r\n\r\nbody\r\n" + b".\r\n" * (not whole))
            peer.send(rest if whole else rest[:-1])
            peer.abandon()
            assert b"250" not in peer.until_closed()
    done = ended(server, 0, {"truncated": 2}, "data")
    assert done.total("failed") == 2


@pytest.mark.thinned(3)
@pytest.mark.parametrize("only", ["1.2", "1.3"])
def test_a_record_that_was_changed_is_not_taken(server, only):
    with connect(server.tls_endpoint) as peer:
        peer.start_tls(client_context(only))
        peer.reply()
        octets = bytearray(peer.made(server.hello + b" client.example\r\n"))
        octets[-1] ^= 1
        peer.send(octets)
        assert b"250" not in peer.until_closed()
    ended(server, 0, {"bad_record": 1}, "quit")


@pytest.mark.thinned(3)
@pytest.mark.parametrize("only", ["1.2", "1.3"])
def test_what_comes_behind_the_goodbye_is_not_heard(server, only):
    with connect(server.tls_endpoint) as peer, Session(peer.raw, only=only) as tls:
        tls.line()
        tls.write(server.hello + b" client.example\r\n")
        while not tls.line().startswith(b"250 "):
            pass
        tls.write(b"MAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nDATA\r\n")
        for code in (b"250", b"250", b"354"):
            assert tls.line().startswith(code)
        tls.write(b"Subject: one\r\n\r\nbody\r\n")
        tls.goodbye()
        tls.write(b".\r\n")
        peer.abandon()
        with pytest.raises(OSError):
            assert not tls.line().startswith(b"250")
    done = ended(server, 0)
    assert done.total("failed") == 1


def test_no_client_makes_it_negotiate_again(server, folder):
    """RFC 5746 4.5; OpenSSL's client leaves then. Its own command does it, and a session by hand."""
    with connect(server.tls_endpoint) as peer, Session(peer.raw, only="1.2") as tls:
        tls.line()
        with pytest.raises(OSError):
            tls.renegotiate()
            tls.line()
            raise AssertionError("it has negotiated again")
    with open(folder / "said", "w+b") as said, subprocess.Popen(
            ["openssl", "s_client", "-tls1_2", "-connect", server.tls_endpoint], stdin=subprocess.PIPE, stdout=said, stderr=said) as client:
        # not while the greeting is on its way: s_client takes that for a breach of the renegotiation
        wait_until(lambda: b" ready" in (folder / "said").read_bytes(), "the greeting", 10)
        client.stdin.write(b"R\n")
        client.stdin.flush()
        wait_until(lambda: client.poll() is not None, "openssl to leave", 10)
    text = (folder / "said").read_bytes()
    assert b"RENEGOTIATING" in text and b"no renegotiation" in text, text
    ended(server, 0)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("reads", [True, False])
def test_floods_of_key_updates(server, reads):
    """The answers do not fill the memory, whether the client reads them or not. Another client is served meanwhile."""
    host, port = server.tls_endpoint.split(":")
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.connect((host, int(port)))
    with Peer(raw) as peer, Session(peer.raw) as tls:
        tls.line()
        left = False
        try:
            for number in range(3_000 if reads else 20_000):
                tls.key_update()
                if reads and number % 100 == 99:
                    tls.write(b"NOOP\r\n")
                    assert tls.line().startswith(b"250")
        except OSError:
            left = True
        deliver(server)
    assert left or server.engine == "openssl", "GnuTLS has a limit of its own: 8 in a second"
    done = ended(server, 1)
    wait_until(lambda: not server.process.running, "its end")
    assert done.total("tls_connections") == 3
