# SPDX-License-Identifier: GPL-3.0-or-later
"""--start-at and --sessions-total, in a run of one process."""
import datetime
import signal
import time

import pytest

from support.postal import check_books, read_record, refused, run
from support.process import Process

ANYWHERE = "127.0.0.1:1"


def utc(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_of(stamp):
    return datetime.datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp()


def test_a_run_begins_at_the_time_given(bhm, postal, users_file):
    """What is measured is measured from there: the wait is in no rate, interval or duration."""
    start = int(time.time()) + 3
    hole = bhm()
    done = postal("--start-at", utc(start), "--rate", "20/s", "--duration", "1s", "--interval", "500ms", hole.endpoint, users_file(3))
    check_books(done)
    assert time.time() >= start + 1
    assert seconds_of(done.record["started"]) == start
    assert 1 <= done.record["duration_s"] < 3
    assert 15 <= done.total("messages") <= 25
    assert f"starts at {utc(start)}" in done.stderr
    # Nobody called before; its intervals last a second.
    seen = hole.stop().record
    waited = int(start - seconds_of(seen["started"]))
    assert [interval["connections"] for interval in seen["intervals"][:waited]] == [0] * waited
    assert seen["totals"]["messages"] == done.total("messages")


def test_a_time_of_day_is_local(bhm, postal, users_file):
    start = int(time.time()) + 3
    local = time.strftime("%H:%M:%S", time.localtime(start))
    done = postal("--start-at", local, "--messages", "5", bhm().endpoint, users_file(3))
    assert seconds_of(done.record["started"]) == start
    assert done.total("messages") == 5


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM], ids=str)
@pytest.mark.parametrize("pace", [[], ["--open-loop", "--rate", "10/s"]], ids=["closed", "open"])
def test_a_signal_before_the_start_ends_the_run(programs, folder, users_file, name, pace):
    record = folder / "record.json"
    waiting = Process([programs.postal, "--start-at", utc(time.time() + 3600), *pace, "--record", record, ANYWHERE, users_file(2)],
                      folder, "postal")
    try:
        waiting.wait_for_line("starts at ")
        waiting.signal(name)
        assert waiting.wait(10) == 4, waiting.stderr
    finally:
        waiting.kill()
    left = read_record(record)
    assert left["intervals"] == [] and left["ended"] == "signal" and left["duration_s"] == 0
    assert left["totals"]["started"] == left["totals"]["connections"] == left["totals"]["errors"] == 0


def test_rabid_begins_at_the_time_given(programs, users_file):
    start = int(time.time()) + 2
    done = run([programs.rabid, "--start-at", utc(start), "--duration", "200ms", ANYWHERE, users_file(["a@example.com secret"])])
    assert time.time() >= start
    assert done.status == 4 and f"starts at {utc(start)}" in done.stderr


@pytest.mark.parametrize("when, named", [
    ("noon", "12:00:30"),
    ("2026-02-30T12:00:00Z", "is no time"),
    ("2020-01-01T00:00:00Z", "is over"),
    (utc(time.time() + 90000), "more than a day ahead"),
], ids=["none", "no-day", "over", "too-far-ahead"])
def test_starts_that_cannot_be(programs, users_file, when, named):
    for program in ("postal", "rabid"):
        users = users_file(["a@example.com secret"])
        refused(run([getattr(programs, program), "--start-at", when, ANYWHERE, users], timeout=20), "--start-at", when, named,
                program=program)


def test_sessions_in_all_are_spread_over_the_servers(bhm, postal, users_file):
    holes = [bhm(), bhm()]
    done = postal("--sessions-total", "5", "-c", "-1", "--rate", "50/s", "--duration", "1s",
                  ",".join(hole.endpoint for hole in holes), users_file(3))
    check_books(done)
    assert done.total("connections") == 5
    assert sorted(hole.stop().total("connections") for hole in holes) == [2, 3]


def test_totals_that_cannot_be(programs, users_file):
    users = users_file(["a@example.com secret"])
    refused(run([programs.postal, "--sessions-total", "1", f"{ANYWHERE},127.0.0.1:2", users], timeout=20),
            "--sessions-total: 1 are too few for 2 servers; give at least 2")
    for program, each in (("postal", "-t"), ("rabid", "-p")):
        refused(run([getattr(programs, program), "--sessions-total", "4", each, "2", ANYWHERE, users], timeout=20),
                "--sessions-total: is in place of --sessions", program=program)
