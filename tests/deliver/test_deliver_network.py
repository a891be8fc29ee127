# SPDX-License-Identifier: GPL-3.0-or-later
"""lmtp-deliver against clients that misbehave: it stays in step, delivers what was whole, and nothing else.

After each attack an ordinary client delivers, and the record has exactly the deliveries that agents made.
"""
import contextlib
import random
import select
import socket
import time

import pytest

from support.deliver import MAIL
from support.process import wait_until
from support.unread import say_garbage, write_without_reading
from support.watched import cpu_seconds, open_descriptors, peak_rss

MEGABYTE = 1024 * 1024
CPU_WINDOW_S = 1.0
HELLO = b"LHLO client.example\r\n"
ENVELOPE = HELLO + b"MAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\n"

# What a client may have said when it falls silent, leaves, or resets the connection; none is a whole message.
POINTS = {
    "connect": b"", "half a line": b"LHLO cli", "LHLO": HELLO, "MAIL": HELLO + b"MAIL FROM:<a@example.com>\r\n", "RCPT": ENVELOPE,
    "DATA": ENVELOPE + b"DATA\r\n", "half the data": ENVELOPE + b"DATA\r\nSubject: x\r\n\r\nhal",
    "half the end": ENVELOPE + b"DATA\r\nSubject: x\r\n\r\nx\r\n.\r", "half a chunk": ENVELOPE + b"BDAT 1000 LAST\r\nSubject",
    "a chunk and no last one": ENVELOPE + b"BDAT 7\r\nSubject",
}


@pytest.fixture
def server(lmtp_deliver, agents, journal):
    """One worker, so that memory and processor time are those of one thread's work."""
    return lmtp_deliver(agents("journal without a gate", journal, "%to_user%"), "--workers", "1", "-t", "2000", "--grace", "500ms")


def deliver(server, user="honest"):
    assert [answer.code for answer in server.deliver([f"{user}@example.com"])] == [250]


def cpu_in_window(server):
    """Processor time spent while nobody does anything: the pause is what is measured."""
    before = cpu_seconds(server.pid)
    time.sleep(CPU_WINDOW_S)
    return cpu_seconds(server.pid) - before


def check_honest(server, journal, count):
    """Agents ran for the honest client and nobody else."""
    done = server.stop()
    assert journal.started == ["honest"] * count
    assert done.total("messages") == count
    return done


@pytest.mark.parametrize("leaving", ["stays", "closes", "resets"])
def test_clients_at_every_point(server, journal, leaving):
    clients = []
    for said in list(POINTS.values()) * 15:
        client = server.connect(greet=False)
        client.expect(220)
        client.write(said)
        clients.append(client)
    if leaving != "stays":
        for client in clients:
            client.reset() if leaving == "resets" else client.close()
        wait_until(lambda: open_descriptors(server.pid) < 60, "the server to close its side")
    deliver(server)
    assert cpu_in_window(server) < 0.1 * CPU_WINDOW_S
    assert peak_rss(server.pid) < 64 * MEGABYTE
    check_honest(server, journal, 1)
    for client in clients:
        client.close()


def test_a_silent_client_is_sent_away(lmtp_deliver, agents, journal):
    server = lmtp_deliver(agents("journal without a gate", journal, "%to_user%"), "--client-timeout", "300ms")
    clients = []
    for said in POINTS.values():
        client = server.connect(greet=False)
        client.write(said)
        clients.append(client)
    for client in clients:
        answers = client.rest()
        assert answers[0] == 220 and all(code in (220, 250, 354, 421) for code in answers), answers
        assert client.line() == b"", "RFC 5321 3.8: closed"
    deliver(server)
    check_honest(server, journal, 1)


def test_one_octet_now_and_then_does_not_keep_a_session_for_ever(lmtp_deliver, agents, journal):
    """Each octet moves the deadline of a client that sends a message; one that sends no whole command has no such right."""
    server = lmtp_deliver(agents("journal without a gate", journal, "%to_user%"), "--client-timeout", "500ms",
                          "--min-data-rate", "0")
    with server.connect() as client:
        client.envelope_for(["honest@example.com"])
        client.say("DATA", 354)
        begun = time.monotonic()
        for octet in b"Subject: slow\r\n\r\n.\r\n":
            client.write(bytes((octet,)))
            select.select([client.socket], [], [], 0.1)  # its pace
        assert time.monotonic() - begun > 1, "longer than the timeout in all"
        client.expect(250)
    check_honest(server, journal, 1)


def test_an_agent_may_take_longer_than_a_client_may_be_silent(lmtp_deliver, agents, journal):
    with agents.gate() as gate:
        server = lmtp_deliver(agents("journal", journal, "%to_user%", gate), "--client-timeout", "300ms")
        with server.connect() as client, server.connect() as idle:
            client.start_delivery(["honest@example.com"])
            journal.wait_for(started=1)
            assert idle.rest() in ([421], []), "its own time is over, so the other's would be"
            gate.open()
            assert client.answer().code == 250


def test_garbage(server, journal):
    for seed in range(20):
        with server.connect(greet=False) as client:
            say_garbage(client, seed)
    deliver(server)
    check_honest(server, journal, 1)


def test_commands_in_any_order(server, journal):
    commands = [b"MAIL FROM:<a@example.com>", b"RCPT TO:<user0@example.com>", b"RSET", b"NOOP", b"LHLO x.example", b"HELO x.example",
                b"VRFY user0", b"EXPN list", b"HELP", b"STARTTLS", b"AUTH PLAIN AA==", b"EHLO x.example", b"MAIL FROM:a@example.com",
                b"RCPT TO:<-x@example.com>", b"RCPT TO:<a/b@example.com>", b"MAIL FROM:<>", b"RCPT TO:<>", b"TURN", b" ", b"\0",
                b"MAIL FROM:<a@example.com> SIZE=99999999999999999999"]
    for seed in range(30):
        chosen = random.Random(seed).choices(commands, k=8)
        with server.connect(greet=False) as client:
            client.write(b"".join(command + b"\r\n" for command in chosen) + b"QUIT\r\n")
            codes = client.rest()
        assert codes[0] == 220
        assert len(codes) == len(chosen) + 2 and codes[-1] == 221 or codes[-1] == 421, (chosen, codes)
    deliver(server)
    check_honest(server, journal, 1)


def test_lines_of_megabytes(server, journal):
    """A command is refused, and its client sent away when it has no end; a line of the message is content, however long, and
    kept in a file."""
    block = b"x" * MEGABYTE
    with server.connect() as endless:
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            for _ in range(64):
                endless.write(block)
            raise AssertionError("64 MiB of a line were read")
    with server.connect() as client:
        before = peak_rss(server.pid)
        client.write(block[:200_000] + b"\r\n")
        client.expect(500)
        client.envelope_for(["honest@example.com"])
        client.say("DATA", 354)
        for _ in range(40):
            client.write(block)
        client.write(b"\r\n.\r\n")
        client.expect(250)
        assert peak_rss(server.pid) - before < 4 * MEGABYTE
        client.quit()
    check_honest(server, journal, 1)


@pytest.mark.parametrize("command", [b"NOOP\r\n", b"LHLO client.example\r\n", b"nonsense\r\n"])
def test_a_client_that_never_reads_replies(server, journal, command):
    before = peak_rss(server.pid)
    with server.connect(greet=False) as client:
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        write_without_reading(client, command * (65536 // len(command)), 64 * MEGABYTE)
        deliver(server)
        assert cpu_in_window(server) < 0.1 * CPU_WINDOW_S
        assert peak_rss(server.pid) - before < 4 * MEGABYTE
    deliver(server)
    check_honest(server, journal, 2)


def test_a_client_that_never_reads_the_answers_to_its_messages(lmtp_deliver, agents, journal):
    """They are delivered and counted; the session ends when its time is over."""
    server = lmtp_deliver(agents("journal without a gate", journal, "%to_user%"), "--client-timeout", "500ms", "--workers", "1")
    recipients = b"".join(b"RCPT TO:<user%d@example.com>\r\n" % number for number in range(50))
    transaction = b"MAIL FROM:<a@example.com>\r\n" + recipients + b"BDAT 5 LAST\r\nhello"
    deliver(server)
    base = open_descriptors(server.pid)
    with server.connect(greet=False) as client:
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        client.write(HELLO + transaction * 4)
        journal.wait_for(ended=201)
        write_without_reading(client, b"NOOP\r\n" * 10_000, 64 * MEGABYTE)
        wait_until(lambda: open_descriptors(server.pid) <= base, "the session to end")
    deliver(server)
    done = server.stop()
    assert done.total("messages") == len(journal.started) == 202
    assert done.record["agents"]["started"] == 202


def test_a_client_that_is_gone_after_the_data(lmtp_deliver, agents, journal):
    """What runs is finished, and all is counted; tests of the queue have what waits."""
    with agents.gate() as gate:
        server = lmtp_deliver(agents("journal", journal, "%to_user%", gate), "--max-deliveries", "2")
        for begun, leave in ((2, "close"), (4, "reset")):
            client = server.connect()
            client.start_delivery([f"{leave}{number}@example.com" for number in range(2)])
            journal.wait_for(started=begun)
            getattr(client, leave)()
            if leave == "close":
                gate.open()
                journal.wait_for(ended=2)
        journal.wait_for(started=4, ended=4)
        deliver(server)
    done = server.stop()
    assert sorted(journal.ended) == ["close0", "close1", "honest", "reset0", "reset1"]
    assert done.record["agents"]["started"] == 5
    assert done.total("messages") == 5


# Envelopes that are too much

def test_more_recipients_than_allowed(lmtp_deliver, agents, journal):
    server = lmtp_deliver(agents("journal without a gate", journal, "%to_user%"), "--max-recipients", "3")
    answers = server.deliver([f"user{number}@example.com" for number in range(5)])
    assert [(answer.code, answer.enhanced) for answer in answers] == [(250, "2.1.5")] * 3 + [(452, "4.5.3")] * 2
    assert sorted(journal.started) == ["user0", "user1", "user2"]
    done = server.stop()
    assert done.total("messages") == 3


def test_a_thousand_recipients_and_not_one_more(server, journal):
    answers = server.deliver([f"user{number}@example.com" for number in range(1001)])
    assert [answer.code for answer in answers] == [250] * 1000 + [452]
    assert len(set(journal.started)) == 1000


def test_addresses_of_every_length(server, journal):
    """64 octets before the @, 255 behind it, 256 for the whole path (RFC 5321 4.5.3.1)."""
    with server.connect() as client:
        client.say("MAIL FROM:<a@example.com>", 250)
        for length in (1, 63, 64, 65, 100, 300, 500, 505, 520, 600, 2000, 100_000):
            code = 250 if length <= 64 else None
            client.write(b"RCPT TO:<" + b"x" * length + b"@example.com>\r\n")
            answer = client.reply()[0]
            assert answer == code or (code is None and 500 <= answer < 600), (length, answer)
        client.write(b"BDAT 1 LAST\r\nx")
        assert client.replies(3) == [250] * 3
    assert sorted(map(len, journal.started)) == [1, 63, 64]


# Ends that are not the end: what one server takes for CRLF.CRLF and another does not is how mail is smuggled past a
# relay's checks.
ENDS = [b"\n.\n", b"\n.\r\n", b"\r\n.\n", b"\r.\r", b"\r.\r\n", b"\r\n.\r", b"\n\r.\r\n", b"\r\n\0.\r\n", b"\r\n. \r\n", b"\r\n.\r.\r\n"]


@pytest.mark.parametrize("mode", ["reject", "accept"])
def test_smuggling(lmtp_deliver, agents, folder, mode):
    place = folder / "kept"
    place.mkdir()
    server = lmtp_deliver(agents("keep", place, "%to_user%"), "--bare-newline", mode)
    for number, end in enumerate(ENDS):
        inner = b"MAIL FROM:<smuggled@example.com>\r\nRCPT TO:<smuggled@example.com>\r\nDATA\r\nSubject: smuggled\r\n\r\nhidden"
        with server.connect() as client:
            client.envelope_for([f"user{number}@example.com"])
            client.say("DATA", 354)
            client.write(b"Subject: outer\r\n\r\nouter" + end + inner + b"\r\n.\r\nNOOP\r\nQUIT\r\n")
            answer, noop, bye = client.rest()
        bare = b"\n" in end.replace(b"\r\n", b"") or b"\r" in end.replace(b"\r\n", b"")
        refused = mode == "reject" and bare
        assert (noop, bye) == (250, 221), end
        assert (500 <= answer < 600) if refused else answer == 250, (end, answer)
        assert (place / f"user{number}").exists() != refused
    assert not (place / "smuggled").exists()


@pytest.mark.parametrize("size", ["18446744073709551615", "18446744073709551616", "-1", "0x10", "", "5 FIRST", "9223372036854775807 LAST"])
def test_chunks_with_sizes_that_make_no_sense(server, journal, size):
    before = peak_rss(server.pid)
    with server.connect() as client:
        client.envelope_for(["user@example.com"])
        client.write(f"BDAT {size}\r\n".encode())
        try:
            for _ in range(4):
                client.write(b"x" * MEGABYTE)
            client.write(b"\r\n")
        except (ConnectionResetError, BrokenPipeError):
            pass  # closing is the only way to get back into step
    assert peak_rss(server.pid) - before < 4 * MEGABYTE
    deliver(server)
    check_honest(server, journal, 1)


def test_connections_that_come_and_go_leave_nothing_behind(server, journal):
    deliver(server)
    base = open_descriptors(server.pid)
    for number in range(500):
        client = server.connect(greet=False)
        client.reset() if number % 2 else client.close()
    deliver(server)
    wait_until(lambda: open_descriptors(server.pid) <= base, "all descriptors to be closed")
    check_honest(server, journal, 2)


def test_deliveries_leave_no_descriptors_behind(lmtp_deliver, agents):
    server = lmtp_deliver(agents("any", "%to_user%"))
    with server.connect() as client:
        client.deliver(["status-0@example.com"])
        base = open_descriptors(server.pid)
        for _ in range(5):
            client.deliver([f"{kind}@host{number}.example.com" for kind in ("status-0", "status-75", "signal-9") for number in range(20)], MAIL)
        wait_until(lambda: open_descriptors(server.pid) <= base, "all descriptors to be closed")


def test_a_thousand_idle_sessions_are_cheap(server, journal):
    clients = [server.connect() for _ in range(1000)]
    assert peak_rss(server.pid) < 24 * MEGABYTE
    deliver(server)
    for client in clients:
        client.close()
    check_honest(server, journal, 1)
