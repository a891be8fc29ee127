"""Delays by the hundred: they cost others no time and bhm little memory, and end when they should."""
import contextlib
import resource
import select
import time

import pytest

from support.behaviours import rule
from support.scripted import Scripted
from support.watched import check_outcomes, memory_limit, peak_rss

TARPIT = 500
OTHERS = 20
MESSAGES = 2000
KIB_A_SESSION = 16
PENDING = 1000
DELAY = 1.0
LATE = 0.010


@pytest.fixture(autouse=True)
def descriptors():
    """Room for the clients' sockets."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_tarpit_holds_nobody_else_up(behaving, postal, users_file, programs):
    hole = behaving(rule("rcpt", 'delay = "30s"', 'helo = "slow.example"'), "-t", TARPIT + OTHERS + 10, "--workers", "2",
                    "--grace", "0s", "--timeout", "2m")

    def load():
        """How long OTHERS sessions take for their mail."""
        sent = postal("-t", OTHERS, "-c", "-1", "-m", "1", "-M", "1", "--messages", MESSAGES, hole.endpoint, users_file(10))
        assert sent.total("messages") == MESSAGES and sent.total("errors") == 0
        return sent.record["duration_s"], sent.record["latency_us"]["message"]["max"] / 1e6
    load()  # what it needs once
    alone, _ = load()
    before = peak_rss(hole.pid)
    begun = time.monotonic()
    with contextlib.ExitStack() as clients:
        stuck = [clients.enter_context(Scripted(("127.0.0.1", hole.port))) for _ in range(TARPIT)]
        for client in stuck:
            client.helo = "slow.example"
            client.expect(220)
            client.write(client.words("ehlo") + client.words("mail") + client.words("rcpt"))  # at once: who answers MAIL has read RCPT
        for client in stuck:
            assert client.replies(2) == [250, 250]
        beside, longest = load()
        assert longest < 15, "nobody waited for the tarpit"
        assert beside < 3 * alone + 5, f"{beside:.2f} s beside the tarpit, {alone:.2f} s without"
        used = peak_rss(hole.pid) - before
        print(f"{used / 1024 / TARPIT:.1f} KiB a session; {alone:.2f} s alone, {beside:.2f} s beside the tarpit")
        if memory_limit(programs.bhm) < 1 << 29:  # not with the address sanitizer
            assert used <= TARPIT * KIB_A_SESSION * 1024
        if time.monotonic() - begun < 25:
            assert not select.select([client.socket for client in stuck], [], [], 0)[0], "they wait still"
    record = hole.stop().record
    check_outcomes(record)
    assert record["totals"]["messages"] == 3 * MESSAGES
    assert record["totals"]["started"] == 3 * MESSAGES + TARPIT


@pytest.mark.serial
def test_delays_end_in_time(behaving):
    """1000 pending at once, begun a millisecond apart. What this client needs to hear of it is in the figures, too."""
    hole = behaving(rule("mail", f'delay = "{DELAY:.0f}s"'), "-t", PENDING + 10)
    lateness = []
    with contextlib.ExitStack() as clients, select.epoll() as ready:
        waiting = [clients.enter_context(Scripted(("127.0.0.1", hole.port))) for _ in range(PENDING)]
        for client in waiting:
            client.reach("mail")
            ready.register(client.socket, select.EPOLLIN)
        sockets = {client.socket.fileno(): client for client in waiting}
        command, asked, begun = waiting[0].words("mail"), {}, time.monotonic()
        while len(lateness) < PENDING:
            now = time.monotonic()
            assert now - begun < 30, f"{len(lateness)} of {PENDING} were answered"
            if len(asked) < PENDING and now - begun >= len(asked) / 1000:
                client = waiting[len(asked)]
                asked[client.socket.fileno()] = time.monotonic()
                client.socket.send(command)
            for descriptor, _ in ready.poll(0 if len(asked) < PENDING else 0.2):
                lateness.append(time.monotonic() - asked[descriptor] - DELAY)
                assert sockets[descriptor].socket.recv(512).startswith(b"250 ")
    lateness.sort()
    p50, p99 = lateness[PENDING // 2], lateness[PENDING * 99 // 100]
    print(f"late by {p50 * 1e3:.2f} ms (p50), {p99 * 1e3:.2f} ms (p99), {lateness[-1] * 1e3:.2f} ms (max)")
    assert lateness[0] >= 0, "none comes early"
    assert p99 < LATE
