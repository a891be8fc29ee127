# SPDX-License-Identifier: GPL-3.0-or-later
"""Delays by the thousand: they cost others no time and bhm little memory, and end when they should."""
import contextlib
import os
import resource
import select
import time

import pytest

from support.behaviours import rule
from support.crowd import Crowd
from support.process import wait_until
from support.scripted import Scripted
from support.watched import check_outcomes, memory_limit, peak_rss

TARPIT = 10_000
OTHERS = 100
SPARE = 500  # descriptors of a process that are no client's
MESSAGES = 2000
KIB_A_SESSION = 16
PENDING = 1000
DELAY = 1.0
LATE = 0.010


@pytest.fixture(autouse=True)
def descriptors():
    """Room for the clients' sockets."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, TARPIT + SPARE)), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def entries(pid, what):
    return len(os.listdir(f"/proc/{pid}/{what}"))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("stage", ["banner", "rcpt"])
def test_a_tarpit_holds_nobody_else_up(stage, behaving, postal, users_file, programs):
    """As many as the limit of open files lets in; of the two books only postal's has its own time."""
    size = min(TARPIT, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - SPARE)
    hole = behaving(rule(stage, 'delay = "1h"', 'client = "127.0.0.2"'), "-t", size + OTHERS + 10, "--workers", "2",
                    "--grace", "0s")

    def load():
        """How long OTHERS sessions take for their mail, and the longest of their messages."""
        sent = postal("-t", OTHERS, "-c", "-1", "-m", "1", "-M", "1", "--messages", MESSAGES, hole.endpoint, users_file(10))
        assert sent.total("messages") == MESSAGES and sent.total("errors") == 0
        return sent.record["duration_s"], sent.record["latency_us"]["message"]["max"] / 1e6
    load()  # what it needs once
    alone, _ = load()
    before, threads = peak_rss(hole.pid), entries(hole.pid, "task")
    begun = time.monotonic()
    with Crowd(("127.0.0.1", hole.port), size, source="127.0.0.2") as crowd:
        if stage == "rcpt":
            crowd.say(b"EHLO slow.example\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<user0@example.com>\r\n", until=b"250 2.1.0")
        wait_until(lambda: entries(hole.pid, "fd") >= size, "all are let in", timeout=60)
        came = time.monotonic() - begun
        beside, longest = load()
        used = peak_rss(hole.pid) - before
        print(f"{size} at {stage} in {came:.1f} s, {used / 1024 / size:.1f} KiB each; {alone:.2f} s alone, {beside:.2f} s beside them")
        assert longest < 15, "nobody waited for the tarpit"
        assert beside < 3 * alone + 5, f"{beside:.2f} s beside the tarpit, {alone:.2f} s without"
        assert entries(hole.pid, "task") == threads
        if memory_limit(programs.bhm) < 1 << 29:  # not with the address sanitizer
            assert used <= size * KIB_A_SESSION * 1024
        assert not crowd.heard(), "they wait still"
        record = hole.stop().record
    check_outcomes(record)
    assert record["totals"]["messages"] == 3 * MESSAGES
    assert record["totals"]["started"] == 3 * MESSAGES + (size if stage == "rcpt" else 0)


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
