# SPDX-License-Identifier: GPL-3.0-or-later
"""What postal reports must be what was injected: delays, schedules, stalls, gaps between messages.

All of it measures time, so it runs alone, and what fails while others had the machine says so (support.machine). Known
delays come from bhm, which holds replies back; the schedule is what --open-loop promises; the stall is bhm stopped by a
signal while the kernel keeps its connections.
"""
import contextlib
import math
import os
import re
import signal
import statistics
import threading
import time

import pytest

from conftest import login_names, user_names
from support.hostile import Hostile
from support.hostile_imap import HostileImap
from support.hostile_pop3 import HostilePop3
from support.process import wait_until
from support.relay import Delaying
from support.watched import Sending

pytestmark = pytest.mark.serial
beside_others = pytest.mark.beside_others  # it waits for most of its time, and others of its kind do not disturb it

DELAY_US = 20_000
RATE = 80  # messages a second whose gaps are looked at: what a timer is late by must be small beside a gap
# The phase of the record in which the delay of each stage of bhm shows. An accept that is held back shows
# in the banner: the kernel has completed the connection long before. The envelope lasts until the go-ahead
# for the message, which is the reply to DATA.
PHASE_OF_STAGE = {"connect": "banner", "banner": "banner", "ehlo": "ehlo", "mail": "envelope", "rcpt": "envelope",
                  "data": "envelope", "end": "data"}


@pytest.fixture(autouse=True)
def undisturbed():
    """Where it is allowed, the programs that are timed go before everything else on the machine."""
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, -15)
    yield
    os.setpriority(os.PRIO_PROCESS, 0, usual)


@pytest.fixture
def users(users_file):
    return users_file(100)


def quietest(send, right):
    """Other programs on the machine only lengthen what is measured: the first of three runs that is right,
    else the last."""
    for _ in range(3):
        run = send()
        if right(run.record["latency_us"]):
            break
    return run.record["latency_us"]


def check_generator(run):
    """It accuses somebody exactly when it saw something: on a busy machine it may have. Shares and latenesses are the worst
    of the run; those of single intervals are in tests/unit/stats/generator_test.cpp."""
    generator = run.record["generator"]
    assert generator["limited"] == (generator["verdict"] == "limit")
    assert (generator["verdict"] == "none") == (generator["reason"] == "")
    assert generator["limited"] or generator["worker_busy"] <= 0.9
    if generator["schedule_slip_p99_us"] > 10_000:
        assert generator["verdict"] != "none"


@pytest.mark.parametrize("stage", PHASE_OF_STAGE)
def test_injected_delay_is_reported_in_its_phase(bhm, postal, users, stage, sized):
    hole = bhm("--workers", "1", "--delay", f"{stage}=20ms")
    wanted = pytest.approx(DELAY_US, abs=1000)
    latency = quietest(lambda: postal("--workers", "1", "-t", "1", "-c", "1", "--pipelining", "off", "-m", "5", "-M", "5",
                                      "--messages", sized(30, 60), hole.endpoint, users),
                       lambda latency: latency[PHASE_OF_STAGE[stage]]["p50"] == wanted)
    assert latency[PHASE_OF_STAGE[stage]]["p50"] == wanted, latency
    others = set(PHASE_OF_STAGE.values()) - {PHASE_OF_STAGE[stage]}
    for phase in others | {"connect"}:
        assert latency[phase]["p50"] < 5000, (phase, latency)
    inside = stage in ("mail", "rcpt", "data", "end")
    assert latency["message"]["p50"] == pytest.approx(DELAY_US if inside else 0, abs=1000 if inside else 5000)
    assert "service" not in latency, "in a closed loop it is the same"


@pytest.mark.parametrize("mode,waits", [(("--pipelining", "auto"), 1), (("--pipelining", "overlap"), 2), (("--chunking", "auto"), 1), (("--chunking", "auto", "--in-flight", "8"), 8)],
                         ids=["pipelined", "overlapping", "chunked", "eight in flight"])
def test_injected_delay_under_pipelining(bhm, postal, users, mode, waits, sized):
    """Batching commands must not hide a wait from the message's latency, which runs from its first command: where
    transactions overlap that goes out together with the end of the message before, or of seven messages before,
    and waits for their replies too. The data's time is that of one message alone."""
    hole = bhm("--workers", "1", "--delay", "end=20ms")
    wanted, alone = pytest.approx(waits * DELAY_US, rel=0.05), pytest.approx(DELAY_US, rel=0.05)
    latency = quietest(lambda: postal("--workers", "1", "-t", "1", "-c", "-1", *mode, "-m", "5", "-M", "5", "--messages", sized(50, 100), hole.endpoint, users),
                       lambda latency: latency["message"]["p50"] == wanted and latency["data"]["p50"] == alone)
    assert latency["message"]["p50"] == wanted and latency["data"]["p50"] == alone
    assert latency["message"]["min"] >= DELAY_US


@pytest.mark.thinned(2)
@pytest.mark.parametrize("workers", ["2", "1"])
def test_open_loop_keeps_its_rate(bhm, postal, users, workers, sized):
    seconds = sized(3, 10)
    hole = bhm("--workers", "1", "--verify", "off")
    run = postal("--workers", workers, "--open-loop", "--rate", "2000/s", "-t", "50", "-c", "-1", "-m", "5", "-M", "5",
                 "--duration", f"{seconds}s", "--interval", "1s", hole.endpoint, users)
    assert run.total("messages") == pytest.approx(2000 * seconds, rel=0.001)
    for interval in run.record["intervals"][:seconds]:
        assert interval["messages"] == pytest.approx(2000, rel=0.05)
    check_generator(run)


@beside_others
def test_closed_loop_is_held_to_its_rate(bhm, postal, users):
    hole = bhm("--workers", "1")
    run = postal("--workers", "1", "-r", "12000", "-t", "10", "-c", "-1", "-m", "1", "--duration", "5s", hole.endpoint, users)
    assert run.total("messages") == pytest.approx(1000, rel=0.02)


@pytest.mark.thinned(3)
@pytest.mark.begins_first
@beside_others
@pytest.mark.parametrize("sessions,rate,service,arrival", [(3, 55, 40, "constant"), (8, 150, 40, "constant"), (3, 70, 40, "poisson"), (50, 280, 200, "poisson")],
                         ids=["3 sessions", "8 sessions", "3 sessions that are waited for", "50 sessions that are waited for"])
def test_workers_do_not_change_what_an_open_loop_reports(bhm, postal, users, sessions, rate, service, arrival):
    """A due message goes to the first session that is free, whosever it is. In the first two cases one always is; in the others
    messages wait for one. Other programs on the machine only lengthen what is measured, so the quietest of some runs counts."""
    hole = bhm("--workers", "1", "--delay", f"end={service}ms")

    def mean(workers):
        run = postal("--workers", workers, "-t", sessions, "-c", "-1", "--pipelining", "off", "-M", "1", "--open-loop",
                     "--rate", f"{rate}/s", "--arrival", arrival, "--seed", "7", "--duration", "3s", hole.endpoint, users)
        latency = run.record["latency_us"]
        if arrival == "poisson":
            assert latency["message"]["mean"] > 1.3 * latency["service"]["mean"], "a case in which nobody waits shows less"
        return latency["message"]["mean"]
    means = {workers: mean(workers) for workers in ("1", "2", "3", "4")}
    for workers in [*means] * 4:
        if means[workers] > 1.05 * min(means.values()):
            means[workers] = min(means[workers], mean(workers))
    assert max(means.values()) < 1.1 * min(means.values()), means


@beside_others
def test_transit_has_a_relays_delay_once(bhm, postal, users):
    """It begins with the clock in the message, read before MAIL, and ends when bhm has the message. Other programs on the
    machine only lengthen it, so the first of some runs that is right counts."""
    delay_us, bound_us, messages = 250_000, 5_000, 40
    for _ in range(3):
        hole = bhm("--workers", "1")
        with Delaying(hole.port, delay_us / 1e6) as relay:
            postal("--workers", "1", "-t", "4", "-c", "-1", "-M", "1", "--messages", messages, relay.endpoint, users)
        transit = hole.stop().record["latency_us"]["transit"]
        assert transit["count"] == len(relay.kept) == messages
        if transit["p50"] == pytest.approx(delay_us, abs=bound_us):
            break
    kept_us = statistics.median(relay.kept) * 1e6
    assert kept_us >= 0.999 * delay_us and transit["min"] >= 0.99 * delay_us
    assert transit["p50"] == pytest.approx(kept_us, abs=bound_us)
    assert transit["p50"] == pytest.approx(delay_us, abs=bound_us)


def stall_for(hole, seconds):
    """Stops it by a signal, while the kernel keeps its connections; how long that was."""
    hole.process.signal(signal.SIGSTOP)
    begin = time.monotonic()
    time.sleep(seconds)  # the stall itself
    hole.process.signal(signal.SIGCONT)
    return time.monotonic() - begin


@beside_others
@pytest.mark.begins_first
def test_stalled_server_cannot_hide_its_queue(bhm, programs, folder, users):
    """bhm is stopped for 5 s of a 20 s schedule of 100 messages a second. The message that was due t seconds
    into the stall waits 5 - t seconds: the mean over all is 5 * 5 / 2 / 20 = 0.625 s, and a tenth of all waits
    more than 3 s. Only the messages in flight when the stall begins are slow from their first byte."""
    hole = bhm("--workers", "1")
    run_seconds = 20
    with Sending(programs.postal, folder, "--workers", "1", "--open-loop", "--rate", "100/s", "-t", "10", "-c", "-1", "-m", "1",
                 "--duration", f"{run_seconds}s", "--interval", "1s", hole.endpoint, users) as sending:
        wait_until(lambda: sending.process.stdout.count("\n") >= 6, "five intervals")
        stall = stall_for(hole, 5.0)
        run = sending.wait(60)
    latency = run.record["latency_us"]
    message, service = latency["message"], latency["service"]
    assert run.status == 0 and run.total("errors") == 0
    assert run.total("messages") == pytest.approx(100 * run_seconds, abs=2)
    assert message["max"] >= 0.995 * stall * 1e6
    assert message["mean"] == pytest.approx(stall ** 2 / 2 / run_seconds * 1e6, rel=0.05)
    assert message["p50"] < 20_000
    assert message["p90"] == pytest.approx((stall - 0.1 * run_seconds) * 1e6, rel=0.05)
    assert service["count"] == message["count"]
    assert service["p90"] < 100_000 and service["max"] >= 0.9 * stall * 1e6
    check_generator(run)
    assert run.record["generator"]["schedule_slip_p99_us"] < 1e6, "the wait was the server's, and is not ours"


@beside_others
def test_server_that_dies_fails_its_threshold(bhm, programs, folder, users):
    """Stopped for good at about 3 s of 6: what was due afterwards ranks above every message that was accepted."""
    hole = bhm("--workers", "1")
    with Sending(programs.postal, folder, "--open-loop", "--rate", "50/s", "-t", "10", "-c", "-1", "-m", "1", "--duration", "6s",
                 "--interval", "1s", "--grace", "1s", "--threshold", "p99(message)<1s", "--threshold", "not_started==0", hole.endpoint, users) as sending:
        wait_until(lambda: sending.process.stdout.count("\n") >= 4, "three intervals")
        hole.process.signal(signal.SIGSTOP)
        run = sending.wait(60)
        hole.process.signal(signal.SIGCONT)
    assert run.status == 3
    totals, message = run.record["totals"], run.record["latency_us"]["message"]
    assert totals["due"] == pytest.approx(301, abs=1) and totals["not_started"] > 100
    assert totals["due"] == totals["started"] + totals["not_started"]
    assert message["count"] == totals["due"] and message["not_accepted"] == totals["due"] - totals["messages"]
    assert message["p99"] is None and 2e6 < message["at_least"]["p99"] < 5e6
    assert run.record["latency_us"]["accepted"]["count"] == totals["messages"]
    assert run.record["latency_us"]["accepted"]["p99"] < 1e6
    assert [one["passed"] for one in run.record["thresholds"]] == [False, False]
    assert "not reached; at least" in run.stderr and "never begun" in run.stderr


@beside_others
@pytest.mark.parametrize("kind", [HostilePop3, HostileImap], ids=["pop3", "imap"])
def test_mailboxes_that_die_fail_their_threshold(programs, folder, users_file, kind):
    """The same of rabid, whose visits are due. From about 3 s of 6 on connections are made and nobody greets."""
    with kind("banner", "silence", every=10 ** 9) as server:
        server.count.connections = 1  # the first of every so many would be the silent one
        share = ["-i", "100", "--imap", server.endpoint] if kind is HostileImap else []
        with Sending(programs.rabid, folder, "--open-loop", "--rate", "50/s", "-p", "10", "--duration", "6s", "--interval", "1s", "--grace", "1s",
                     "--threshold", "p99(session)<1s", "--threshold", "not_started<1%", *share, server.endpoint,
                     users_file(login_names(user_names(20)))) as reading:
            wait_until(lambda: reading.process.stdout.count("\n") >= 4, "three intervals")
            server.every = 1
            run = reading.wait(60)
    assert run.status == 3
    totals, latency = run.record["totals"], run.record["latency_us"]
    assert totals["due"] == pytest.approx(301, abs=1) and totals["not_started"] > 100
    assert totals["due"] == totals["connections"] + totals["not_started"]
    session, good = latency["session"], latency["successful"]
    assert session["count"] == totals["due"] == good["count"] + session["not_accepted"]
    assert session["not_accepted"] - totals["not_started"] == 10, "each session hangs in a visit"
    assert session["p99"] is None and 2e6 < session["at_least"]["p99"] < 5e6
    assert good["p99"] < 1e6 and latency["service"]["count"] == good["count"]
    assert [one["passed"] for one in run.record["thresholds"]] == [False, False]
    assert "not reached; at least" in run.stderr
    assert f"visits       {totals['due']} due, {totals['not_started']} never begun, 10 begun and not successful" in run.stderr


@beside_others
def test_closed_loop_says_what_it_left_out(bhm, programs, folder, users):
    """A rate without an open loop is a cap: 2 s of stall, of which the last one is made up for."""
    hole = bhm("--workers", "1")
    with Sending(programs.postal, folder, "--rate", "50/s", "-t", "4", "-c", "-1", "-m", "1", "--duration", "8s", "--interval", "1s",
                 hole.endpoint, users) as sending:
        wait_until(lambda: sending.process.stdout.count("\n") >= 3, "two intervals")
        stall = stall_for(hole, 2.5)
        run = sending.wait(60)
    cap = run.record["cap"]
    assert cap["asked_per_s"] == pytest.approx(50, rel=0.01)
    assert cap["all_busy"] == pytest.approx(stall / 8, abs=0.03)
    assert cap["behind"] == pytest.approx(50 * (stall - 1), abs=8)
    assert cap["reached_per_s"] == pytest.approx((400 - cap["behind"]) / 8, abs=1)
    assert max(interval["messages"] for interval in run.record["intervals"]) <= 110
    assert "messages behind at the end" in run.stderr and "--open-loop" in run.stderr


def test_a_cap_of_visits_says_what_it_left_out(programs, folder, users_file):
    """The same of rabid, where its rate was asked for: the default, which is the original's, asks for nothing."""
    with HostilePop3("banner", "silence", every=10 ** 9) as server:
        server.count.connections = 1
        users = users_file(login_names(user_names(20)))
        runs = []
        for rate in (("-r", "5000/s"), ()):
            with Sending(programs.rabid, folder, *rate, "-p", "2", "--duration", "2s", "--interval", "1s", server.endpoint,
                         users) as reading:
                runs.append(reading.wait(60))
    cap, visits = runs[0].record["cap"], runs[0].total("connections")
    assert cap["asked_per_s"] == pytest.approx(5000, rel=0.01)
    assert cap["reached_per_s"] == pytest.approx(visits / 2, abs=2)
    assert cap["behind"] == pytest.approx(10000 - visits, rel=0.01)
    assert cap["all_busy"] > 0.9 and "visits behind at the end" in runs[0].stderr
    assert "cap" not in runs[1].record and "behind" not in runs[1].stderr


def departures(folder, programs, users, *options, workers="1"):
    """The times that postal wrote into its messages, in seconds."""
    times, lock = [], threading.Lock()

    def heard(line):
        if found := re.search(rb"\bt=(\d+\.\d+)", line):
            with lock:
                times.append(float(found[1]))
    with Hostile(heard=heard) as sink:
        with Sending(programs.postal, folder, "--workers", workers, "--open-loop", "--rate", f"{RATE}/s", "-t", "20", "-c", "-1", "-m", "1",
                     "--seed", "4", *options, sink.endpoint, users) as sending:
            run = sending.wait(60)
    assert run.status == 0 and len(times) == run.total("messages")
    return sorted(times)


def kolmogorov_smirnov(sample, cdf):
    """(statistic D, its 1 % critical value): Stephens's form for a fully known distribution."""
    ordered, n = sorted(sample), len(sample)
    distance = max(max((i + 1) / n - cdf(x), cdf(x) - i / n) for i, x in enumerate(ordered))
    return distance, 1.628 / (math.sqrt(n) + 0.12 + 0.11 / math.sqrt(n))


@pytest.mark.thinned(2)
@beside_others
@pytest.mark.parametrize("workers", ["2", "1"])
def test_poisson_gaps(programs, folder, users, workers):
    times = departures(folder, programs, users, "--arrival", "poisson", "--messages", "800", workers=workers)
    gaps = [b - a for a, b in zip(times, times[1:])]
    distance, critical = kolmogorov_smirnov(gaps, lambda gap: 1 - math.exp(-RATE * gap))
    assert distance < critical


@pytest.mark.thinned(2)
@beside_others
@pytest.mark.parametrize("workers", ["2", "1"])
def test_constant_gaps(programs, folder, users, workers):
    times = departures(folder, programs, users, "--arrival", "constant", "--messages", "400", workers=workers)
    half = len(times) // 2
    # Some that are late by themselves, the first or the last of them too, do not change the median.
    assert statistics.median(b - a for a, b in zip(times, times[half:])) == pytest.approx(half / RATE, rel=0.01)
    gaps = sorted(b - a for a, b in zip(times, times[1:]))
    assert gaps[len(gaps) // 20] > 0.8 / RATE and gaps[-len(gaps) // 20] < 1.2 / RATE


def test_the_test_of_gaps_itself():
    """It takes what is exponential and refuses what is not."""
    quantiles = [(i + 0.5) / 1000 for i in range(1000)]
    assert (lambda d, c: d < c)(*kolmogorov_smirnov([-math.log(1 - q) for q in quantiles], lambda x: 1 - math.exp(-x)))
    assert (lambda d, c: d > c)(*kolmogorov_smirnov([2 * q for q in quantiles], lambda x: 1 - math.exp(-x)))
