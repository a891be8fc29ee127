# SPDX-License-Identifier: GPL-3.0-or-later
"""How a run of several ranks ends when something goes wrong in one of them: nobody waits for ever, and the books stay true."""
import contextlib
import os
import resource
import signal
import time

import pytest

from support.postal import read_record
from support.process import alive, wait_until
from support.ranks import Ranks, mpirun_argv, rank_pids

OUTCOMES = ("messages", "rejected", "deferred", "failed", "in_doubt")


@pytest.fixture
def start(programs, folder, tool):
    """start(3, word, …) is postal with so many ranks that has written two lines of its log."""
    tool("mpirun")
    with contextlib.ExitStack() as started:
        def begin(ranks, *words, options=()):
            path = folder / "whole.json"
            words = ["--record", path, "--interval", "1s", "-m", "1", "--workers", "1", *words]
            one = started.enter_context(Ranks(mpirun_argv(ranks, [programs.postal, *words], options), folder))
            one.record_path = path
            wait_until(lambda: one.process.stdout.count("\n") > 2, "two intervals")
            return one
        yield begin


def check_books(record):
    for name in (*OUTCOMES, "started"):
        assert record["totals"][name] == sum(one["totals"][name] for one in record["ranks"]), name
    for one in record["ranks"]:
        assert sum(one["interval_messages"]) == one["totals"]["messages"]
    assert sum(one["messages"] for one in record["intervals"]) == record["totals"]["messages"]


def test_a_rank_that_dies_without_recovery_leaves_a_record(start, bhm, users_file):
    """mpirun ends the others with SIGTERM, and kills them a second later."""
    sink = bhm()
    started = start(3, "--duration", "60s", "--rate", "100/s", sink.endpoint, users_file(5))
    os.kill(rank_pids(started, 3)[2], signal.SIGKILL)
    assert started.process.wait(30) == 137
    record = read_record(started.record_path)
    check_books(record)
    assert record["ranks"][2]["lost_s"] > 0
    assert [one["ended"] for one in record["ranks"][:2]] == ["signal"] * 2
    assert record["totals"]["messages"] <= sink.stop().total("messages")


def test_one_signal_to_all_is_one(start, bhm, users_file):
    """A launcher sends it to all; a rank that has heard of it from another one first goes on with what is in flight."""
    sink = bhm("--delay", "end=6s")
    started = start(3, "--duration", "60s", "--grace", "30s", sink.endpoint, users_file(5))
    for pid in rank_pids(started, 3):
        os.kill(pid, signal.SIGUSR1)
        time.sleep(0.05)
    assert started.process.wait(30) == 0
    record = read_record(started.record_path)
    check_books(record)
    assert record["ended"] == "signal"
    assert record["totals"]["messages"] == record["totals"]["started"] == sink.stop().total("messages")


def test_a_second_signal_ends_all_at_once(start, bhm, users_file):
    sink = bhm("--delay", "end=40s")
    started = start(2, "--duration", "60s", "--grace", "50s", sink.endpoint, users_file(5))
    rank = rank_pids(started, 2)[1]
    os.kill(rank, signal.SIGUSR1)
    started.process.wait_for_line(": stopping: ")
    os.kill(rank, signal.SIGUSR1)
    begin = time.monotonic()
    started.process.wait(30)
    assert time.monotonic() - begin < 15, "it waits for no reply"
    record = read_record(started.record_path)
    check_books(record)
    assert record["totals"]["in_doubt"] == record["totals"]["started"] == 2


def test_a_rank_that_is_done_is_not_given_up(start, bhm, users_file):
    """It waits for another rank, not for a server."""
    sink = bhm("--delay", "end=350ms")
    started = start(2, "--messages", "90", "-t", "3", "--give-up", "2s", sink.endpoint, users_file(5))
    paused = rank_pids(started, 2)[1]
    os.kill(paused, signal.SIGSTOP)
    time.sleep(8)
    os.kill(paused, signal.SIGCONT)
    assert started.process.wait(30) == 0
    assert "gave up" not in started.process.stderr
    record = read_record(started.record_path)
    check_books(record)
    assert record["totals"]["messages"] == 90


def test_a_ledger_that_fails_in_one_rank_ends_all(start, bhm, users_file, folder):
    """As it ends a run of one. There is no duration: the others would go on for ever."""
    sink = bhm()
    started = start(3, "--rate", "1500/s", "--ledger", folder / "mail.db", sink.endpoint, users_file(5))
    limit = (folder / "mail.rank-1.db").stat().st_size + 65536
    resource.prlimit(rank_pids(started, 3)[1], resource.RLIMIT_FSIZE, (limit, limit))
    assert started.process.wait(60) == 2
    assert len([line for line in started.process.stderr.splitlines() if "--ledger: " in line]) == 1
    record = read_record(started.record_path)
    check_books(record)
    assert [one["ended"] for one in record["ranks"]] == ["failure"] * 3
    assert record["totals"]["messages"] == sink.stop().total("messages")


def test_a_rank_that_slept_and_was_lost_ends_with_the_others(start, bhm, users_file):
    """mpirun itself may not end after a loss (see docs/many-machines.md); the ranks do."""
    sink = bhm()
    started = start(3, "--rate", "50/s", sink.endpoint, users_file(5), options=["--enable-recovery"])
    pids = rank_pids(started, 3)
    os.kill(pids[2], signal.SIGSTOP)
    wait_until(lambda: "is lost" in started.process.stderr, "the loss")
    os.kill(pids[2], signal.SIGCONT)
    os.kill(pids[0], signal.SIGUSR1)
    wait_until(lambda: not any(alive(pid) for pid in pids), "the end of all ranks", timeout=40)
    assert "rank 0 is lost" not in started.process.stderr
    record = read_record(started.record_path)
    check_books(record)
    assert record["ranks"][2]["lost_s"] > 0 and record["ended"] == "signal"


def test_who_cannot_begin_is_named_alone(programs, folder, tool, users_file):
    tool("mpirun")
    words = [programs.postal, "--duration", "1s", "127.0.0.1:1", users_file(5)]
    argv = mpirun_argv(1, [*words, ":", "-n", 1, words[0], "--record", folder / "missing/one.json", *words[1:]])
    with Ranks(argv, folder) as started:
        assert started.process.wait(30) == 1
    said = [line for line in started.process.stderr.splitlines() if line.startswith("postal: ")]
    assert len(said) == 1 and said[0].startswith("postal: rank 1 on "), said


def test_a_sink_that_is_killed_and_comes_back(start, bhm, users_file, folder):
    """All ranks go on; what either sink has stored, and no more, was accepted or is in doubt."""
    stores = [folder / "store-0", folder / "store-1"]
    first = bhm("--store", stores[0])
    started = start(3, "--duration", "6s", "--rate", "100/s", first.endpoint, users_file(5))
    first.process.kill()
    time.sleep(1)
    second = bhm("--store", stores[1], listen=[first.endpoint])
    assert started.process.wait(40) == 0, started.process.stderr
    second.stop()
    record = read_record(started.record_path)
    check_books(record)
    totals = record["totals"]
    assert totals["errors"] > 0 and all(one["ended"] == "duration" for one in record["ranks"])
    assert all(one["totals"]["messages"] > 0 for one in record["ranks"])
    stored = sum(len(os.listdir(store / "new")) for store in stores)
    assert totals["messages"] <= stored <= totals["messages"] + totals["in_doubt"]


def test_a_slow_rank_is_named(start, bhm, users_file):
    """One that runs in short turns only does its part all the same, and the summary says who was last."""
    sink = bhm()
    started = start(3, "--messages", "600", "--rate", "150/s", sink.endpoint, users_file(5))
    slow = rank_pids(started, 3)[1]
    while started.process.running:
        with contextlib.suppress(ProcessLookupError):
            os.kill(slow, signal.SIGSTOP)
            time.sleep(0.3)
            os.kill(slow, signal.SIGCONT)
        time.sleep(0.05)
    assert started.process.wait(5) == 0, started.process.stderr
    record = read_record(started.record_path)
    check_books(record)
    assert record["totals"]["messages"] == 600 == sink.stop().total("messages")
    last = max(record["ranks"], key=lambda one: one["done_s"])["rank"]
    assert f"last rank {last} " in started.process.stderr, started.process.stderr


@pytest.fixture
def waiting(programs, folder, tool):
    """waiting(3, word, …) is postal with so many ranks that wait for an instant long to come."""
    tool("mpirun")
    with contextlib.ExitStack() as started:
        def begin(ranks, *words):
            path = folder / "whole.json"
            at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 300))
            words = ["--record", path, "-m", "1", "--workers", "1", "--start-at", at, *words]
            one = started.enter_context(Ranks(mpirun_argv(ranks, [programs.postal, *words]), folder))
            one.record_path = path
            one.process.wait_for_line("starts at", 30)
            return one
        yield begin


@pytest.mark.parametrize("rank", [0, 2])
def test_a_signal_before_the_start_ends_all(waiting, bhm, users_file, rank):
    sink = bhm()
    started = waiting(3, "--messages", "100", sink.endpoint, users_file(5))
    os.kill(rank_pids(started, 3)[rank], signal.SIGINT)
    started.process.wait(20)
    record = read_record(started.record_path)
    check_books(record)
    assert record["ended"] == "signal" and record["interrupted"]["at_s"] < 0
    assert [one["ended"] for one in record["ranks"]] == ["signal"] * 3
    assert record["totals"]["started"] == sink.stop().total("messages") == 0


def test_a_rank_that_dies_before_the_start_ends_all(waiting, bhm, users_file):
    """mpirun ends the others, which have begun nothing."""
    sink = bhm()
    started = waiting(3, "--messages", "100", sink.endpoint, users_file(5))
    os.kill(rank_pids(started, 3)[1], signal.SIGKILL)
    assert started.process.wait(30) != 0
    assert sink.stop().total("messages") == 0


def test_a_signal_in_the_warm_up_ends_all_and_all_is_counted(start, bhm, users_file):
    sink = bhm()
    started = start(3, "--duration", "60s", "--warmup", "30s", "--rate", "100/s", sink.endpoint, users_file(5))
    os.kill(rank_pids(started, 3)[1], signal.SIGUSR1)
    started.process.wait(30)
    record = read_record(started.record_path)
    assert record["ended"] == "signal" and record["totals"]["started"] == 0
    assert record["totals_with_warmup"]["messages"] == sink.stop().total("messages") > 0
