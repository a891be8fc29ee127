# SPDX-License-Identifier: GPL-3.0-or-later
"""postal and servers whose TLS goes wrong: every second connection is served well. Wanted of every run: it ends by itself,
the fault has its reason in the record, each started message has one outcome, and nothing but a reply makes a success."""
import random

import pytest

from support.libssl import Session
from support.tls_books import ENGINES, tls_errors
from support.tls_peers import PeerServer, good_smtp, good_smtps, server_context, take_mail, until_starttls
from support.watched import Sending, memory_limit

SHORT = ("--timeout", "3s", "--grace", "2s", "--workers", "1", "-t", "4", "-c", "1", "-m", "1", "-M", "1", "--messages", "8",
         "--duration", "20s")  # it ends by its messages, however slow the machine
GARBAGE = random.Random(5).randbytes(3000)
ALERT = b"\x15\x03\x03\x00\x02\x02"


def record(kind, octets):
    return bytes((kind, 3, 3)) + len(octets).to_bytes(2, "big") + octets


def message(kind, octets):
    return bytes((kind,)) + len(octets).to_bytes(3, "big") + octets


# TLS 1.2, ECDHE-RSA-AES128-GCM-SHA256 and what RFC 5746 wants; then a certificate of so many octets.
SERVER_HELLO = message(2, b"\3\3" + bytes(range(32)) + b"\0\xc0\x2f\0" + b"\0\5\xff\1\0\1\0")


def certificate(octets):
    chain = len(octets).to_bytes(3, "big") + octets
    return record(22, SERVER_HELLO) + record(22, message(11, len(chain).to_bytes(3, "big") + chain))


@pytest.fixture
def send(programs, folder, users_file, certificates):
    """send(play, option, …) is one run against a server every second connection of which is play()'s."""
    users = users_file(20)

    def run_to_end(play, *words, way="implicit", good=good_smtps, only=None, bad_only=False):
        server = PeerServer(play, server_context(certificates.good, only), good=None if bad_only else good)
        server.certificate = certificates.good
        with server, Sending(programs.postal, folder, *SHORT, *words, "--tls", way, server.endpoint, users) as sending:
            run = sending.wait()
        assert run.status == (4 if bad_only else 0), (run.stderr, run.record and run.record["errors"])
        assert run.peak_rss < memory_limit(run.argv[0])
        assert run.total("errors") == sum(error["count"] for error in run.record["errors"])
        assert run.total("messages") <= server.accepted <= run.total("messages") + run.total("in_doubt")
        assert bad_only or run.total("messages") > 0, "the other sessions went on"
        run.server = server
        return run
    return run_to_end


@pytest.fixture(params=ENGINES)
def backend(request):
    return ["--tls-backend", request.param]


HELLOS = {
    "garbage": (b"\x80" + GARBAGE, "not_tls"),
    "plain": (b"220 mail.example.com ESMTP\r\n", "not_tls"),
    "zeros": (bytes(3000), "not_tls"),
    "garbage-in-a-record": (record(22, GARBAGE), None),
    "empty-record": (record(22, b"") * 50, None),
    "a-record-too-long": (b"\x16\x03\x03\xff\xff" + GARBAGE, None),
    "application-data": (record(23, GARBAGE), "not_tls"),
    "change-cipher-spec": (record(20, b"\1") * 100, "not_tls"),
    "wrong-message": (record(22, b"\x14\x00\x00\x0c" + bytes(12)), None),
    "certificate-of-garbage": (certificate(GARBAGE), None),
    "certificate-with-a-wrong-tag": (certificate(b"\x30\x82\x01\x00\x05" + bytes(255)), None),
    "hello-that-lies-about-its-length": (record(22, b"\x02\x00\x40\x00\x03\x03" + bytes(60)), "closed"),
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("way, hello", [("implicit", hello) for hello in HELLOS] + [("starttls", "plain"), ("starttls", "garbage")])
def test_no_hello(send, backend, hello, way):
    octets, reason = HELLOS[hello]

    def play(peer):
        if way == "starttls":
            until_starttls(peer)
            peer.write(b"220 2.0.0 go on\r\n")
        peer.receive()
        peer.send(octets)
        peer.abandon()
        peer.until_closed()
    run = send(play, *backend, way=way, good=good_smtp if way == "starttls" else good_smtps)
    found = tls_errors(run)
    assert found and {error["stage"] for error in run.record["errors"]} == {"tls"}
    assert "resources" not in found, "the server is to blame"
    if reason:
        assert set(found) == {reason}, run.record["errors"]


def test_16_kib_of_hello_in_single_octets(send, backend):
    """The length says that there is more of it still."""
    hello = record(22, b"\x02\x00\x7f\xff\x03\x03" + bytes(16000))

    def play(peer):
        peer.receive()
        peer.send_bytewise(hello)
        peer.abandon()
        peer.until_closed()
    run = send(play, *backend, "--tls-timeout", "5s", "--messages", "3", "-t", "2")
    assert tls_errors(run)


@pytest.mark.parametrize("only", ["1.2", "1.3"])
def test_a_handshake_in_single_octets_is_one_like_others(send, backend, only):
    def play(peer):
        whole, peer.send = peer.send, peer.send_bytewise
        peer.start_tls(peer.server.context)
        peer.write(b"220 peer.example.com ESMTP\r\n")
        peer.send = whole
        take_mail(peer)
    run = send(play, *backend, "--timeout", "5s", only=only)
    assert run.record["errors"] == [] and run.total("messages") == 8


@pytest.mark.parametrize("step", ["at-once", "after-the-hello", "in-a-record"])
def test_silence_in_the_handshake_has_an_end(send, backend, step):
    def play(peer):
        if step == "at-once":
            peer.until_closed()
        peer.begin_tls(peer.server.context)
        peer.arriving.write(peer.receive())
        with pytest.raises(Exception):
            peer.engine.do_handshake()
        flight = peer.leaving.read()
        peer.send(flight[:100 if step == "in-a-record" else 5 + int.from_bytes(flight[3:5], "big")])
        peer.until_closed()
    run = send(play, *backend, "--timeout", "5s", "--tls-timeout", "300ms", "--messages", "4")
    assert set(tls_errors(run)) == {"timeout"}, run.record["errors"]
    assert run.seconds < 20


def records_of(flight):
    while flight:
        size = 5 + int.from_bytes(flight[3:5], "big")
        yield flight[:size]
        flight = flight[size:]


@pytest.mark.thinned(5)
@pytest.mark.parametrize("end", ["alert", "close", "garbage"])
@pytest.mark.parametrize("only, records", [("1.2", 5), ("1.3", 6)])
def test_an_end_at_every_step_of_the_handshake(send, backend, only, records, end):
    """Behind none, one, two, … of the records that the server has to send."""
    counted = []

    def play(peer):
        counted.append(None)
        left = len(counted) % (records + 1)
        peer.begin_tls(peer.server.context)
        sent = []

        def some(flight):
            for one in records_of(flight):
                if len(sent) < left:
                    sent.append(one)
                    peer.raw.sendall(one)
        peer.send = some
        while len(sent) < left:
            peer.arriving.write(peer.receive())
            if peer.handshake_step():
                break
        if end != "close":
            peer.raw.sendall(ALERT + b"\x50" if end == "alert" else GARBAGE)
        peer.abandon()
        peer.until_closed()
    run = send(play, *backend, "--messages", "12", only=only)
    assert run.total("errors") > 0
    found = set(tls_errors(run)) | set(tls_errors(run, "banner"))
    if end == "close":  # behind the whole handshake it is the connection that is cut
        assert found <= {"closed", "truncated", "reset"}, found
    elif only == "1.2" and end == "alert":
        assert "alert_internal_error" in found, found


def test_every_alert_has_a_name(send, backend):
    numbers = iter(list(range(256)) * 2)

    def play(peer):
        peer.receive()
        peer.send(ALERT + bytes((next(numbers),)))
        peer.until_closed()
    run = send(play, *backend, "--connect-rate", "5000", "-t", "40", "--duration", "1s", bad_only=True)
    found = set(tls_errors(run))
    # close_notify (0) is no alert that names a fault
    assert found and all(reason.startswith("alert_") or reason in ("closed", "tls_error", "truncated") for reason in found), found


# ---- behind the handshake ----

def until_the_data(peer):
    """A transaction up to its final dot."""
    peer.write(b"220 peer.example.com ESMTP\r\n")
    while (line := peer.line().upper()) and not line.startswith(b"DATA"):
        peer.write(b"250 2.0.0 fine\r\n")
    peer.write(b"354 go on\r\n")
    while peer.line() != b".\r\n":
        pass


@pytest.mark.thinned(5)
@pytest.mark.parametrize("only", ["1.2", "1.3"])
@pytest.mark.parametrize("reply", [b"", b"250 2.0.0 tak", b"250-2.0.0 taken\r\n"])
def test_a_reply_that_was_cut_is_no_success(send, backend, reply, only):
    def play(peer):
        peer.start_tls(peer.server.context)
        until_the_data(peer)
        if reply:
            peer.write(reply)
        peer.abandon()
        peer.until_closed()
    run = send(play, *backend, "--pipelining", "off", only=only)
    assert set(tls_errors(run, "end")) == {"truncated"}, run.record["errors"]
    assert run.total("in_doubt") == tls_errors(run, "end")["truncated"]


@pytest.mark.parametrize("only", ["1.2", "1.3"])
def test_a_record_that_was_cut_is_no_success(send, backend, only):
    def play(peer):
        peer.start_tls(peer.server.context)
        until_the_data(peer)
        peer.send(peer.made(b"250 2.0.0 taken\r\n")[:-1])
        peer.abandon()
        peer.until_closed()
    run = send(play, *backend, "--pipelining", "off", only=only)
    assert set(tls_errors(run, "end")) == {"truncated"}, run.record["errors"]


@pytest.mark.parametrize("only", ["1.2", "1.3"])
def test_a_record_that_was_changed_is_no_success(send, backend, only):
    def play(peer):
        peer.start_tls(peer.server.context)
        until_the_data(peer)
        octets = bytearray(peer.made(b"250 2.0.0 taken\r\n"))
        octets[-1] ^= 1
        peer.send(octets)
        peer.until_closed()
    run = send(play, *backend, "--pipelining", "off", only=only)
    assert set(tls_errors(run, "end")) == {"bad_record"}, run.record["errors"]
    assert run.total("in_doubt") > 0


@pytest.mark.thinned(3)
@pytest.mark.parametrize("only", ["1.2", "1.3"])
@pytest.mark.parametrize("what", ["plain text", "records"])
def test_what_comes_behind_the_goodbye_is_not_heard(send, backend, only, what):
    def play(peer):
        with Session(peer.raw, peer.server.certificate, only) as tls:
            tls.write(b"220 peer.example.com ESMTP\r\n")
            while not tls.line().upper().startswith(b"DATA"):
                tls.write(b"250 2.0.0 fine\r\n")
            tls.write(b"354 go on\r\n")
            while tls.line() != b".\r\n":
                pass
            tls.goodbye()
            if what == "records":
                tls.write(b"250 2.0.0 taken\r\n")
            else:
                peer.raw.sendall(b"250 2.0.0 taken\r\n")
            peer.abandon()
    run = send(play, *backend, "--pipelining", "off", only=only)
    assert set(tls_errors(run, "end")) <= {"closed", "reset"}, run.record["errors"]
    assert run.total("in_doubt") > 0


def test_a_server_that_wants_to_negotiate_again(send, backend):
    """RFC 5746 4.5: it is told that nobody here does; OpenSSL's server leaves then."""
    def play(peer):
        with Session(peer.raw, peer.server.certificate, "1.2") as tls:
            tls.write(b"220 peer.example.com ESMTP\r\n")
            tls.line()
            tls.renegotiate()
            tls.write(b"250 2.0.0 fine\r\n")
            tls.line()
    run = send(play, *backend, only="1.2")
    assert run.total("errors") > 0


@pytest.mark.parametrize("count", [3, 10_000])
def test_a_server_that_changes_its_keys(send, backend, count):
    done = []

    def play(peer):
        with Session(peer.raw, peer.server.certificate) as tls:
            for _ in range(count):
                tls.key_update()
            tls.write(b"220 peer.example.com ESMTP\r\n")
            done.append(tls.line())
            tls.write(b"554 5.0.0 enough\r\n")
    run = send(play, *backend, "--timeout", "2s", "--messages", "4", "-t", "2")
    assert run.total("errors") > 0
    if count == 3:
        assert done, "a few of them are nothing to leave for"
