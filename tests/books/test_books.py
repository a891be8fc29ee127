# SPDX-License-Identifier: GPL-3.0-or-later
"""The books: what postal says it delivered, the sum of its intervals, and what bhm counted are one number.

For clean runs, for runs cut short by signals, and for runs in which the server died and came back, where
accepted <= received <= accepted + in_doubt is all that can be known.
"""
import json
import os
import re
import signal
import subprocess
import time

import pytest

from support.postal import check_books, read_record
from support.process import free_port, wait_until
from support.relay import Relay
from support.watched import OUTCOMES, Sending, check_outcomes

SMALL = ("-m", "2", "-M", "2", "--interval", "200ms")
MESSAGES_IN_A_LINE = re.compile(r"^[\d:.]+,[1-9]", re.M)


@pytest.fixture
def users(users_file):
    return users_file(200)


@pytest.fixture
def start(programs, folder, users):
    """start(ENDPOINT, option, ...) is postal running."""
    started = []

    def begin(endpoint, *words, **popen):
        started.append(Sending(programs.postal, folder, *SMALL, *words, endpoint, users, name=f"sending-{len(started)}", **popen))
        return started[-1]
    yield begin
    for one in started:
        one.__exit__()


def check_against_hole(run, hole):
    """Sums within postal, and the same numbers from bhm."""
    check_books(run)
    black = hole.stop()
    totals, received = run.record["totals"], black.record["totals"]
    assert received["messages"] == totals["messages"]
    assert received["recipients"] == totals["recipients"]
    assert sum(line["messages"] for line in black.lines) == totals["messages"]
    assert sum(interval["messages"] for interval in black.record["intervals"]) == totals["messages"]
    return black


LOADS = {
    "one a connection": ("-t", "5"),
    "up to five a connection": ("-t", "5", "-c", "5"),
    "endless connections": ("-t", "5", "-c", "-1"),
    "plain": ("-t", "5", "-c", "-1", "--pipelining", "off"),
    "overlapping": ("-t", "5", "-c", "-1", "--pipelining", "overlap"),
    "chunked": ("-t", "5", "-c", "-1", "--chunking", "auto"),
    "sixteen in flight": ("-t", "3", "-c", "-1", "--chunking", "auto", "--in-flight", "16"),
    "sixteen in flight, up to five a connection": ("-t", "3", "-c", "5", "--chunking", "auto", "--in-flight", "16"),
    "recipients": ("-t", "5", "-c", "-1", "--recipients", "1..4"),
    "one worker": ("-t", "5", "-c", "-1", "--workers", "1"),
    "two workers": ("-t", "5", "-c", "-1", "--workers", "2"),
    "more workers than sessions": ("-t", "1", "-c", "-1", "--workers", "2"),
    "rate": ("-t", "5", "-c", "-1", "--rate", "2000/s"),
    "open loop": ("-t", "5", "-c", "-1", "--open-loop", "--rate", "2000/s"),
    "poisson": ("-t", "5", "-c", "-1", "--open-loop", "--rate", "2000/s", "--arrival", "poisson"),
}


@pytest.mark.thinned(4)
@pytest.mark.parametrize("load", LOADS)
def test_messages_are_exact(bhm, postal, users, load):
    hole = bhm()
    run = postal(*SMALL, *LOADS[load], "--messages", "997", hole.endpoint, users)
    assert run.total("messages") == 997
    black = check_against_hole(run, hole)
    assert run.total("started") == 997 and run.total("errors") == 0
    assert black.record["integrity"]["verified"] == 997 and black.record["integrity"]["corrupt"] == 0
    assert black.total("connections") == run.total("connections")


@pytest.mark.thinned(4)
@pytest.mark.parametrize("load", LOADS)
def test_duration(bhm, postal, users, load):
    hole = bhm()
    run = postal(*SMALL, *LOADS[load], "--duration", "700ms", hole.endpoint, users)
    check_against_hole(run, hole)
    assert run.total("messages") > 0 and run.total("errors") == 0
    assert 0.69 < run.record["duration_s"] < 5


@pytest.mark.parametrize("load", ["plain", "recipients", "sixteen in flight", "two workers", "open loop"])
def test_lmtp_counts_recipients(bhm, postal, users, load):
    hole = bhm("--lmtp")
    run = postal("-L", *SMALL, *LOADS[load], "--recipients", "3", "--duration", "500ms", hole.endpoint, users)
    check_against_hole(run, hole)
    assert run.total("messages") == run.total("recipients") > 0


def test_stages(bhm, postal, users):
    hole = bhm()
    run = postal(*SMALL, "-t", "5", "-c", "-1", "--stages", "500/s@500ms,1500/s@1s", hole.endpoint, users)
    check_against_hole(run, hole)
    assert 1.49 < run.record["duration_s"] < 6
    due = 0.5 * (0 + 500) / 2 + 1.0 * (500 + 1500) / 2  # a linear ramp from rest
    late = 1500 * (run.record["duration_s"] - 1.5)  # it may have heard of its end later
    assert 0.5 * due <= run.total("messages") <= 1.02 * due + late


def test_zero_messages_a_connection(bhm, postal, users):
    """-c 0 connects and quits. Nothing was to be delivered, so that delivering nothing is no failure."""
    hole = bhm()
    run = postal(*SMALL, "-t", "3", "-c", "0", "--duration", "300ms", hole.endpoint, users)
    check_against_hole(run, hole)
    assert run.total("messages") == run.total("started") == 0
    assert run.total("connections") > 3 and run.total("errors") == 0


# Runs that are cut short.

@pytest.mark.thinned(3)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("load", ["up to five a connection", "plain", "sixteen in flight", "open loop", "two workers"])
def test_signal(bhm, start, number, load):
    hole = bhm()
    sending = start(hole.endpoint, *LOADS[load])
    wait_until(lambda: MESSAGES_IN_A_LINE.search(sending.process.stdout), "the first line with messages")
    begin = time.monotonic()
    sending.signal(number)
    run = sending.wait()
    assert run.status == 0 and time.monotonic() - begin < 8, "without the grace of 10 s"
    check_against_hole(run, hole)
    assert run.total("in_doubt") == run.total("failed") == 0


def test_signal_lets_what_is_in_flight_finish(bhm, start):
    hole = bhm("--delay", "end=700ms")
    sending = start(hole.endpoint, "-t", "20", "-c", "-1")
    wait_until(lambda: len(sending.process.stdout.splitlines()) > 2, "two intervals")
    sending.signal(signal.SIGINT)
    run = sending.wait()
    assert run.total("messages") >= 20 and run.total("started") == run.total("messages")
    check_against_hole(run, hole)


def stopped_server(bhm, start, *words):
    """postal with messages under way to a server that has stopped answering."""
    hole = bhm()
    sending = start(hole.endpoint, "-t", "8", "-c", "-1", *words)
    wait_until(lambda: MESSAGES_IN_A_LINE.search(sending.process.stdout), "the first line with messages")
    hole.process.signal(signal.SIGSTOP)
    lines = len(sending.process.stdout.splitlines())
    wait_until(lambda: len(sending.process.stdout.splitlines()) >= lines + 2, "two more intervals")
    return hole, sending


def check_doubt(run, hole):
    check_books(run)
    received = hole.stop().record["totals"]["messages"]
    assert run.total("messages") <= received <= run.total("messages") + run.total("in_doubt")


def test_grace_is_the_most_that_a_signal_waits(bhm, start):
    hole, sending = stopped_server(bhm, start, "--grace", "500ms")
    begin = time.monotonic()
    sending.signal(signal.SIGINT)
    run = sending.wait()
    assert 0.45 < time.monotonic() - begin < 8
    hole.process.signal(signal.SIGCONT)
    assert run.total("started") > run.total("messages")
    abandoned = sum(error["count"] for error in run.record["errors"] if error["reason"] == "stopped")
    assert abandoned == run.total("in_doubt") + run.total("failed"), "what is abandoned is an error, too"
    check_doubt(run, hole)


def test_what_the_end_abandons_misses_a_threshold_on_errors(bhm, start):
    hole, sending = stopped_server(bhm, start, "--grace", "0s", "--threshold", "errors==0")
    sending.signal(signal.SIGINT)
    assert sending.wait().status == 3
    hole.process.signal(signal.SIGCONT)


def test_a_name_that_nobody_waits_for_any_more_holds_nothing_up(start, folder):
    """Each connection looks the name up anew (+); the second look-up never comes back."""
    library = folder / "slow-names.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library, "-ldl"], input=SLOW_NAMES, check=True)
    with start(f"+localhost:{free_port()}", "-c", "1", "--duration", "1s", "--grace", "1s",
               env={**os.environ, "LD_PRELOAD": str(library)}) as sending:
        assert sending.wait(30).status == 4


SLOW_NAMES = b"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <unistd.h>

typedef int look_up(const char*, const char*, const struct addrinfo*, struct addrinfo**);

int getaddrinfo(const char* name, const char* service, const struct addrinfo* hints, struct addrinfo** result) {
    static int asked;
    while (__sync_fetch_and_add(&asked, 1) > 0) pause();
    return ((look_up*)dlsym(RTLD_NEXT, "getaddrinfo"))(name, service, hints, result);
}
"""


def test_second_signal_stops_at_once(bhm, start):
    hole, sending = stopped_server(bhm, start, "--grace", "60s")
    sending.signal(signal.SIGINT)
    lines = len(sending.process.stdout.splitlines())
    wait_until(lambda: len(sending.process.stdout.splitlines()) > lines, "the grace to be in use")
    begin = time.monotonic()
    sending.signal(signal.SIGINT)
    run = sending.wait()
    assert time.monotonic() - begin < 20
    assert run.record, "the record is still written"
    hole.process.signal(signal.SIGCONT)
    check_doubt(run, hole)


@pytest.mark.parametrize("attempt", range(3))
def test_second_signal_right_behind_a_line(bhm, programs, folder, users, attempt):
    """What ended in the last milliseconds was once thrown away as an interval in which nothing had happened."""
    hole = bhm()
    record = folder / "postal.json"
    words = [programs.postal, *SMALL, "--record", record, "-t", "8", "-c", "-1", "--grace", "60s", hole.endpoint, users]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        try:
            assert child.stdout.readline().startswith(b"time,")
            child.stdout.readline()
            hole.process.signal(signal.SIGSTOP)
            child.stdout.readline()
            child.send_signal(signal.SIGINT)
            child.stdout.readline()
            child.send_signal(signal.SIGINT)
            child.wait(15)
        finally:
            child.kill()
    hole.process.signal(signal.SIGCONT)
    check_outcomes(read_record(record))


def test_bhm_ends_at_a_signal_with_clients_connected(bhm, start):
    """The original ignored SIGINT."""
    hole = bhm("--grace", "500ms")
    sending = start(hole.endpoint, "-t", "4", "-c", "-1", "--rate", "200/s", "--duration", "2s")
    wait_until(lambda: MESSAGES_IN_A_LINE.search(sending.process.stdout), "the first line with messages")
    begin = time.monotonic()
    assert hole.process.stop(signal.SIGINT) == 0
    assert time.monotonic() - begin < 8
    run = sending.wait()
    received = read_record(hole.record_path)["totals"]["messages"]
    assert run.total("messages") <= received <= run.total("messages") + run.total("in_doubt")


# Servers that die and come back.

def test_bhm_restarted_in_the_middle(bhm, start):
    port = free_port()
    first = bhm("--grace", "0s", listen=[f"127.0.0.1:{port}"])
    sending = start(first.endpoint, "-t", "6", "-c", "-1", "--rate", "500/s", "--duration", "1m")
    wait_until(lambda: MESSAGES_IN_A_LINE.search(sending.process.stdout), "the first line with messages")
    received = first.stop().record["totals"]["messages"]
    second = bhm(listen=[f"127.0.0.1:{port}"])
    wait_until(lambda: MESSAGES_IN_A_LINE.search(second.process.stdout), "messages to the new server")
    sending.signal(signal.SIGINT)
    run = sending.wait()
    again = second.stop().record["totals"]["messages"]
    assert received > 0 and again > 0, "postal found the new server"
    check_books(run)
    assert run.total("messages") <= received + again <= run.total("messages") + run.total("in_doubt")


@pytest.mark.parametrize("words", [("--pipelining", "off"), ("--pipelining", "overlap"), ("--chunking", "auto", "--in-flight", "16")], ids=" ".join)
def test_bhm_killed_and_restarted(bhm, start, words):
    """A killed bhm leaves no record; the replies that it sent are counted on the wire."""
    port = free_port()
    first = bhm(listen=[f"127.0.0.1:{port}"])
    with Relay(port) as relay:
        sending = start(relay.endpoint, "-t", "6", "-c", "-1", "--rate", "2000/s", "--duration", "1m", *words)
        wait_until(lambda: relay.counted > 100, "the first messages")
        first.process.kill()
        before = relay.counted
        second = bhm(listen=[f"127.0.0.1:{port}"])
        wait_until(lambda: relay.counted > before + 100, "messages to the new server")
        sending.signal(signal.SIGINT)
        run = sending.wait()
    again = second.stop().record["totals"]["messages"]
    check_books(run)
    assert run.total("errors") > 0
    assert run.total("messages") <= relay.counted <= run.total("messages") + run.total("in_doubt")
    assert again <= relay.counted


@pytest.mark.parametrize("rate", [(), ("--rate", "2000/s"), ("--rate", "2000/s", "--open-loop")], ids=["as fast as it goes", "cap", "open loop"])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_lmtp_messages_and_not_transactions_are_limited(bhm, postal, users, workers, rate):
    hole = bhm("--lmtp")
    run = postal("-L", *SMALL, "-t", "4", "-c", "-1", "--workers", workers, *rate, "--recipients", "2..5", "--messages", "103", hole.endpoint, users)
    assert run.total("started") == run.total("messages") == run.total("recipients") == 103
    if "--open-loop" in rate:
        assert run.total("due") == 103 and run.total("not_started") == 0
    assert hole.stop().total("recipients") == 103


def test_lmtp_rate_is_of_messages(bhm, postal, users):
    """Each recipient is one: 5 a transaction are a fifth of the transactions."""
    hole = bhm("--lmtp")
    run = postal("-L", *SMALL, "-t", "4", "-c", "-1", "--rate", "200/s", "--open-loop", "--recipients", "5", "--duration", "1s", hole.endpoint, users)
    assert 200 <= run.total("due") <= 200 * run.record["duration_s"] + 5  # a busy machine ends it late
    assert run.total("due") == run.total("started") + run.total("not_started")


@pytest.mark.parametrize("loop", [(), ("--open-loop",)], ids=["cap", "open loop"])
def test_lmtp_nothing_is_begun_before_it_is_due(bhm, postal, users, loop):
    """The second ten's last message is due at 0.95 s, and the first one of each ten has waited 0.45 s for its last."""
    run = postal("-L", *SMALL, "-t", "4", "-c", "-1", "--rate", "20/s", *loop, "--recipients", "10", "--messages", "20", bhm("--lmtp").endpoint, users)
    assert run.total("messages") == 20 and run.record["duration_s"] >= 0.95
    if loop:
        response, service = run.record["latency_us"]["message"], run.record["latency_us"]["service"]
        assert response["max"] >= 449_000 and response["mean"] >= service["mean"] + 224_000
    else:
        assert run.record["cap"]["behind"] == 0


# Runs without much in them.

@pytest.mark.parametrize("interval, whole", [("1500ms", 2), ("1s", 4), ("500ms", 8)])
def test_intervals_are_whole_whatever_is_counted_by_the_second(bhm, postal, users, interval, whole):
    """The rate, its spread and the interval log are of whole intervals; what is left over at the end is partial."""
    run = postal("-t", 2, "-m", "1", "--rate", "100/s", "--interval", interval, "--duration", "4s", bhm().endpoint, users)
    record = run.record
    counted = [one for one in record["intervals"] if not one["draining"]]
    assert [one["partial"] for one in counted] == [False] * whole + [True] * (len(counted) - whole)
    assert record["rate"]["messages_per_minute"]["intervals"] == whole
    assert f"{whole} intervals from " in run.stderr


def test_shorter_than_an_interval(bhm, postal, users):
    hole = bhm()
    run = postal("-t", "2", "--duration", "300ms", "--interval", "1m", hole.endpoint, users)
    assert sum(line["messages"] for line in run.lines) == run.total("messages") > 0
    assert re.fullmatch(r"\d\d:\d\d", run.lines[0]["time"]), "whole minutes have no seconds"
    intervals = run.record["intervals"]
    assert intervals[0]["t_s"] == 0.3 and all(interval["partial"] for interval in intervals)
    assert len(intervals) == len(run.lines) <= 2, "the second has what was in flight at the stop"
    rate = run.record["rate"]["messages_per_minute"]
    assert rate["mean"] > 0 and rate["intervals"] == 0 and rate["stddev"] is None and rate["ci95"] is None
    check_against_hole(run, hole)


def test_without_one_success(bhm, postal, users, users_file):
    hole = bhm(users_file(["somebody.else@example.com"]))
    run = postal.failing(*SMALL, "-t", "3", "-c", "-1", hole.endpoint, users)
    totals = run.record["totals"]
    check_books(run)
    assert totals["messages"] == 0 and totals["rejected"] == totals["started"] > 0
    assert [(error["stage"], error["code"], error["enhanced"]) for error in run.record["errors"]] == [("rcpt", 550, "5.1.1")]
    assert run.record["errors"][0]["count"] == totals["errors"] == totals["rejected"], "156 rejections are 156"
    assert run.record["latency_us"]["message"]["count"] == 0
    assert hole.stop().record["totals"]["messages"] == 0


def test_never_connected(postal, users):
    run = postal.failing(*SMALL, "-t", "3", f"127.0.0.1:{free_port()}", users)
    check_books(run)
    totals = run.record["totals"]
    assert all(totals[name] == 0 for name in OUTCOMES + ("started", "bytes", "connections"))
    assert totals["errors"] > 0 and run.record["rate"]["messages_per_minute"]["max"] == 0
    assert "nan" not in (run.stdout + run.stderr).lower().replace("nanos", "")


def test_interrupted_before_anything_happened(start):
    sending = start(f"127.0.0.1:{free_port()}", "-t", "1")
    wait_until(lambda: len(sending.process.stdout.splitlines()) > 0, "the header")
    sending.signal(signal.SIGINT)
    run = sending.wait()
    assert run.status in (0, 4) and run.record["totals"]["messages"] == 0


def test_bhm_that_nobody_calls(bhm):
    hole = bhm()
    run = hole.stop()
    assert run.record["totals"]["messages"] == run.record["totals"]["connections"] == 0


def test_warmup_is_left_out_of_totals_but_not_of_intervals(bhm, postal, users):
    hole = bhm()
    run = postal(*SMALL, "-t", "2", "-c", "-1", "--rate", "1000/s", "--warmup", "600ms", "--duration", "1800ms", hole.endpoint, users)
    record, received = run.record, hole.stop().record["totals"]["messages"]
    kept = record["totals"]["messages"]
    assert record["warmup_s"] == pytest.approx(0.6)
    assert 0 < kept < sum(interval["messages"] for interval in record["intervals"]) == received
    assert record["totals_with_warmup"]["messages"] == received == sum(line["messages"] for line in run.lines)
    assert kept == sum(interval["messages"] for interval in record["intervals"] if not interval["warmup"])
    assert record["totals"]["started"] == sum(record["totals"][name] for name in OUTCOMES)


def test_memory_is_that_of_the_program_alone(bhm, start):
    """ru_maxrss of a child starts with the size of its parent, which is here made large."""
    hole = bhm()
    ballast = bytearray(150 * 1024 * 1024)
    run = start(hole.endpoint, "-t", "2", "--duration", "500ms").wait()
    assert 0.75 * run.peak_rss <= run.total("max_rss_bytes") < len(ballast) / 2


def test_record_on_standard_output(programs, bhm, users):
    hole = bhm()
    done = subprocess.run([programs.postal, "--record", "-", "--messages", "5", hole.endpoint, users], capture_output=True, text=True, timeout=30)
    assert json.loads(done.stdout)["totals"]["messages"] == 5
    lines = done.stderr.splitlines()
    assert lines[0].startswith("time,messages,") and lines[1].split(",")[1] == "5", "the log makes room"
