# SPDX-License-Identifier: GPL-3.0-or-later
"""bhm against clients that misbehave: it stays in step, counts exactly, and costs next to nothing.

After each attack an ordinary client delivers one message, and bhm's record has the messages that really
ended with CRLF.CRLF (RFC 5321 4.1.1.4) and no other.
"""
import contextlib
import itertools
import random
import socket
import time

import pytest

from support.dialogue import Client
from support.process import wait_until
from support.unread import say_garbage, write_without_reading
from support.watched import cpu_seconds, open_descriptors, peak_rss

MEGABYTE = 1024 * 1024
CPU_WINDOW_S = 1.0


@pytest.fixture
def hole(bhm):
    """One worker, so that memory and processor time are those of one thread's work."""
    return bhm("--workers", "1", "-t", "2000")


def connect(hole, **more):
    return Client(("127.0.0.1", hole.port), **more)


def deliver(hole, greeting="EHLO"):
    with connect(hole) as client:
        client.envelope(greeting)
        client.say("DATA", 354)
        client.say("Subject: honest\r\n\r\nbody\r\n.", 250)
        client.quit()


def stop_and_count(hole):
    return hole.stop().record["totals"]["messages"]


def cpu_in_window(hole):
    """Processor time spent while nobody does anything: the pause is what is measured."""
    before = cpu_seconds(hole.process.pid)
    time.sleep(CPU_WINDOW_S)
    return cpu_seconds(hole.process.pid) - before


# What a client may have said when it falls silent, leaves, or resets the connection.
POINTS = {
    "connect": b"",
    "half a line": b"EHLO cli",
    "EHLO": b"EHLO client.example\r\n",
    "MAIL": b"EHLO client.example\r\nMAIL FROM:<a@example.com>\r\n",
    "RCPT": b"EHLO client.example\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\n",
    "DATA": b"EHLO client.example\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nDATA\r\n",
    "half the data": b"EHLO client.example\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nDATA\r\nSubject: x\r\n\r\nhal",
    "half the end": b"EHLO client.example\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nDATA\r\nSubject: x\r\n\r\nx\r\n.\r",
    "half a chunk": b"EHLO client.example\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nBDAT 1000 LAST\r\nSubject",
}


@pytest.mark.parametrize("leaving", ["stays", "closes", "resets"])
def test_clients_at_every_point_cost_no_processor_time(hole, leaving):
    """The old bhm burned a core for ever when a client left without QUIT."""
    clients = []
    for said in itertools.islice(itertools.cycle(POINTS.values()), 300):
        client = connect(hole)
        client.expect(220)
        client.write(said)
        clients.append(client)
    if leaving != "stays":
        for client in clients:
            client.reset() if leaving == "resets" else client.close()
        wait_until(lambda: open_descriptors(hole.process.pid) < 50, "bhm to close its side")
    deliver(hole)
    assert cpu_in_window(hole) < 0.1 * CPU_WINDOW_S
    deliver(hole)
    assert peak_rss(hole.process.pid) < 64 * MEGABYTE
    run = hole.stop()
    assert run.record["totals"]["messages"] == 2
    assert run.record["totals"]["connections"] == 302
    for client in clients:
        client.close()
    if leaving != "stays":
        assert sum(error["count"] for error in run.record["errors"]) >= 300, "leaving without QUIT is counted"


def test_idle_clients_are_sent_away(bhm):
    hole = bhm("--timeout", "300ms")
    with connect(hole) as client:
        client.expect(220)
        assert client.rest() in ([421], []), "RFC 5321 3.8: 421 before closing"
    deliver(hole)
    assert stop_and_count(hole) == 1


def test_garbage(hole):
    for seed in range(20):
        with connect(hole) as client:
            say_garbage(client, seed)
    deliver(hole)
    assert stop_and_count(hole) == 1


def test_command_lines_beyond_all_bounds(hole):
    """One that ends is refused; whoever goes on and on is sent away."""
    before = peak_rss(hole.process.pid)
    with connect(hole) as endless:
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            for _ in range(64):
                endless.write(b"x" * MEGABYTE)
            raise AssertionError("64 MiB of a line were read")
    with connect(hole) as client:
        client.expect(220)
        client.say("EHLO client.example", 250)
        client.write(b"x" * 200_000 + b"\r\n")
        client.expect(500)
        client.say("NOOP", 250)
        assert peak_rss(hole.process.pid) - before < 4 * MEGABYTE
        client.quit()
    deliver(hole)
    assert stop_and_count(hole) == 1


def test_header_line_and_body_line_of_megabytes(hole):
    """Refused or taken, but in step and not kept; beyond all bounds its client is sent away."""
    with connect(hole) as endless:
        endless.envelope()
        endless.say("DATA", 354)
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            for _ in range(200):
                endless.write(b"x" * MEGABYTE)
            raise AssertionError("200 MiB of a header were read")
    with connect(hole) as client:
        client.envelope()
        client.say("DATA", 354)
        before = peak_rss(hole.process.pid)
        block = b"x" * MEGABYTE
        client.write(b"Subject: ")
        for _ in range(30):
            client.write(block)
        client.write(b"\r\n\r\n")
        for _ in range(30):
            client.write(block)
        client.write(b"\r\n.\r\n")
        client.reply()
        client.say("NOOP", 250)
        assert peak_rss(hole.process.pid) - before < 4 * MEGABYTE
        client.quit()
    deliver(hole)


@pytest.mark.parametrize("command", [b"NOOP\r\n", b"EHLO client.example\r\n", b"nonsense\r\n", b"HELP\r\n"])
def test_client_that_never_reads(hole, command):
    """Replies that cannot be sent must not pile up: bhm stops reading instead."""
    before = peak_rss(hole.process.pid)
    with connect(hole) as client:
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        write_without_reading(client, command * (65536 // len(command)), 64 * MEGABYTE)
        deliver(hole)
        assert cpu_in_window(hole) < 0.1 * CPU_WINDOW_S
        assert peak_rss(hole.process.pid) - before < 4 * MEGABYTE
    deliver(hole)
    assert stop_and_count(hole) == 2


def test_client_that_never_reads_is_sent_away(bhm):
    hole = bhm("--timeout", "500ms", "--workers", "1")
    with connect(hole) as client:
        base = open_descriptors(hole.process.pid)
        write_without_reading(client, b"NOOP\r\n" * 10_000, 64 * MEGABYTE)
        wait_until(lambda: open_descriptors(hole.process.pid) <= base - 1 or client_is_gone(client), "the deadline to end the session")
    deliver(hole)


def client_is_gone(client):
    try:
        client.socket.send(b"NOOP\r\n", socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return False


@pytest.mark.thinned(3)
@pytest.mark.parametrize("size", ["18446744073709551615", "18446744073709551616", "99999999999999999999999999999", "-1", "+5", "0x10",
                                  "1e3", "", "5 FIRST", "5 LAST LAST", "9223372036854775807 LAST", "4294967296"])
def test_bdat_with_sizes_that_make_no_sense(hole, size):
    before = peak_rss(hole.process.pid)
    with connect(hole) as client:
        client.envelope()
        client.write(f"BDAT {size}\r\n".encode())
        try:
            for _ in range(8):
                client.write(b"x" * MEGABYTE)
            client.write(b"\r\n")
        except (ConnectionResetError, BrokenPipeError):
            pass  # closing is the only way to get back into step
    assert peak_rss(hole.process.pid) - before < 4 * MEGABYTE
    deliver(hole)
    assert stop_and_count(hole) == 1


def test_bdat_chunks_hide_no_commands(hole):
    with connect(hole) as client:
        client.envelope()
        chunk = b"Subject: x\r\n\r\n.\r\nMAIL FROM:<smuggled@example.com>\r\nRCPT TO:<user1@example.com>\r\n"
        client.write(b"BDAT %d\r\n" % len(chunk) + chunk + b"BDAT %d\r\n" % len(chunk) + chunk + b"BDAT 0 LAST\r\nQUIT\r\n")
        assert client.rest() == [250, 250, 250, 221]
    assert stop_and_count(hole) == 1


# Ends that are not the end: what one server takes for CRLF.CRLF and another does not is how mail is
# smuggled past a relay's checks.
ENDS = [b"\n.\n", b"\n.\r\n", b"\r\n.\n", b"\r.\r", b"\r.\r\n", b"\r\n.\r", b"\n.\r", b"\r.\n", b"\n\r.\r\n", b"\r\r\n.\n",
        b"\r\n\0.\r\n", b"\r\n.\0\r\n", b"\r\n..\r\n", b"\r\n. \r\n", b"\r\n.\r.\r\n"]
SMUGGLED = b"MAIL FROM:<smuggled@example.com>\r\nRCPT TO:<user0@example.com>\r\nDATA\r\nSubject: smuggled\r\n\r\nhidden"


def bare(octets):
    left = octets.replace(b"\r\n", b"")
    return b"\n" in left or b"\r" in left


@pytest.mark.thinned(7)
@pytest.mark.parametrize("mode", ["reject", "accept", "lmtp"])
@pytest.mark.parametrize("end", ENDS, ids=[repr(end)[2:-1] for end in ENDS])
@pytest.mark.parametrize("written", ["at once", "bytewise"])
def test_smuggling(bhm, mode, end, written):
    lmtp = mode == "lmtp"
    hole = bhm(*(["--lmtp"] if lmtp else ["--bare-newline", mode]))
    recipients = 2 if lmtp else 1
    octets = b"Subject: outer\r\n\r\nouter" + end + SMUGGLED + b"\r\n.\r\nNOOP\r\nQUIT\r\n"
    with connect(hole) as client:
        client.envelope("LHLO" if lmtp else "EHLO", recipients)
        client.say("DATA", 354)
        (client.write if written == "at once" else client.write_bytewise)(octets)
        codes = client.rest()
    *answers, noop, bye = codes
    assert (noop, bye) == (250, 221)
    assert len(answers) == recipients, "one message, and no command inside it was run"
    refused = mode != "accept" and bare(end)
    assert all((500 <= code < 600) if refused else code == 250 for code in answers), codes
    assert stop_and_count(hole) == (0 if refused else recipients)


@pytest.mark.parametrize("end", [b"\r\n.\r\n"])
def test_the_real_end_in_every_split(hole, end):
    octets = b"Subject: x\r\n\r\nbody" + end
    with connect(hole) as client:
        client.expect(220)
        client.say("EHLO client.example", 250)
        for cut in range(len(octets)):
            client.say("MAIL FROM:<a@example.com>", 250)
            client.say("RCPT TO:<user0@example.com>", 250)
            client.say("DATA", 354)
            client.write(octets[:cut])
            client.write(octets[cut:])
            client.expect(250)
        client.quit()
    assert stop_and_count(hole) == len(octets)


def test_commands_in_any_order(hole):
    """Random sequences of commands get one reply each and never a message without its envelope."""
    commands = [b"MAIL FROM:<a@example.com>", b"RCPT TO:<user0@example.com>", b"RSET", b"NOOP", b"EHLO x.example", b"HELO x.example",
                b"VRFY user0", b"EXPN list", b"HELP", b"STARTTLS", b"AUTH PLAIN AA==", b"LHLO x.example", b"MAIL FROM:a@example.com",
                b"MAIL FROM: <a@example.com>", b"RCPT TO:<>", b"MAIL FROM:<a@example.com> SIZE=99999999999999999999", b"TURN", b" ", b"\0"]
    for seed in range(30):
        chosen = random.Random(seed).choices(commands, k=8)
        with connect(hole) as client:
            client.write(b"".join(command + b"\r\n" for command in chosen) + b"QUIT\r\n")
            codes = client.rest()
        assert codes[0] == 220
        assert len(codes) == len(chosen) + 2 and codes[-1] == 221 or codes[-1] == 421, (chosen, codes)
    assert stop_and_count(hole) == 0


def test_more_sessions_than_allowed(bhm):
    hole = bhm("-t", "5")
    inside = [connect(hole) for _ in range(5)]
    for client in inside:
        client.expect(220)
    with connect(hole) as client:
        assert client.rest() == [421]
    for client in inside:
        client.quit()
    deliver(hole)
    assert stop_and_count(hole) == 1


def test_connections_that_come_and_go_leave_nothing_behind(hole):
    deliver(hole)
    base = open_descriptors(hole.process.pid)
    for number in range(1000):
        client = connect(hole)
        client.reset() if number % 2 else client.close()
    deliver(hole)
    wait_until(lambda: open_descriptors(hole.process.pid) <= base, "all descriptors to be closed")
    assert stop_and_count(hole) == 2
