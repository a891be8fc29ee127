# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of the original postal that must not come in again. Each was seen in postal 0.76."""
import email.utils
import os
import re
import signal
import subprocess
import threading
import time

import pytest

from support.hostile import Hostile, Session
from support.postal import read_record
from support.process import wait_until
from support.watched import Sending

SMALL = ("-m", "1", "-M", "1")


@pytest.fixture
def users(users_file):
    return users_file(50)


class Heard:
    """Every line that a client says to a well-behaved server."""

    def __init__(self):
        self.lines, self.lock = [], threading.Lock()

    def __call__(self, line):
        with self.lock:
            self.lines.append(line)

    def all(self, pattern):
        return [found for line in self.lines if (found := re.match(pattern, line))]


@pytest.fixture
def talk(postal, users):
    """talk(option, ...) is one run against a listening server: (run, heard)."""
    def run(*words, **server):
        heard = Heard()
        with Hostile(heard=heard, **server) as sink:
            done = postal(*SMALL, *words, sink.endpoint, users)
        return done, heard
    return run


@pytest.mark.serial
@pytest.mark.parametrize("mode", [("--pipelining", "off"), ("--pipelining", "auto"), ("--pipelining", "overlap"), ("--chunking", "auto"), ("-c", "1")], ids=" ".join)
def test_no_small_writes_held_back_by_the_kernel(bhm, postal, users, mode):
    """Nagle's algorithm and the peer's delayed acknowledgement cost 42 ms a message: 23 messages a second."""
    hole = bhm()
    run = postal("-c", "-1", *mode, "-m", "20", "-M", "20", "-t", "1", "--messages", "300", hole.endpoint, users)
    assert run.record["latency_us"]["message"]["p50"] < 20_000


@pytest.mark.serial
def test_more_than_2048_messages_in_five_seconds(bhm, postal, users):
    hole = bhm()
    run = postal(*SMALL, "-c", "-1", "-t", "4", "--rate", "5000/s", "--duration", "2s", hole.endpoint, users)
    assert run.total("messages") > 2048


def test_no_blank_after_the_colon(talk):
    """RFC 5321 3.3: spaces are not permitted on either side of the colon."""
    run, heard = talk("--messages", "20", "-c", "3")
    mails, rcpts = heard.all(rb"(?i)mail"), heard.all(rb"(?i)rcpt")
    assert len(mails) >= 20 and len(rcpts) >= 20
    assert all(re.fullmatch(rb"MAIL FROM:<[^<> ]+>( [A-Z0-9=]+)*\r\n", found.string) for found in mails)
    assert all(re.fullmatch(rb"RCPT TO:<[^<> ]+>\r\n", found.string) for found in rcpts)


def test_date_is_the_real_one(talk):
    begin = time.time()
    _, heard = talk("--messages", "50")
    dates = [email.utils.parsedate_to_datetime(found[1].decode()).timestamp() for found in heard.all(rb"Date: (.+)\r\n")]
    assert len(dates) == 50
    assert all(begin - 2 < date < time.time() + 2 for date in dates)


def test_message_ids_are_unique_across_sessions_workers_and_runs(talk):
    seen = []
    for _ in range(2):
        _, heard = talk("--messages", "200", "-t", "4", "--workers", "2", "-c", "5", "--seed", "1")
        seen += [found[1] for found in heard.all(rb"Message-ID: <(.+)>\r\n")]
    assert len(seen) == 400 == len(set(seen))


def test_same_seed_sends_the_same_mail(talk):
    """What is random follows from the seed, in a session that goes on."""
    runs = []
    for _ in range(2):
        _, heard = talk("--messages", "30", "-t", "1", "--workers", "1", "-c", "-1", "--seed", "5", "-m", "8", "-M", "2")
        runs.append([line for line in heard.lines if not re.match(rb"(?i)Date:|Message-ID:|X-Postal-Id:| t=", line)])
    assert len(runs[0]) > 30 * 5
    assert runs[0] == runs[1]


def test_several_recipients(talk):
    run, heard = talk("--messages", "20", "--recipients", "3")
    assert len(heard.all(rb"RCPT TO:")) == 60
    assert run.total("recipients") == 60 and run.total("messages") == 20


def test_helo_where_ehlo_is_unknown(programs, folder, users):
    """RFC 5321 3.2: a client falls back to HELO."""
    class OldServer(Session):
        async def ehlo(self, line):
            await self.send(b"500 what?\r\n" if line.upper().startswith(b"EHLO") else b"250 hostile.example\r\n")
        COMMANDS = {**Session.COMMANDS, b"EHLO": ehlo, b"HELO": ehlo}
    heard = Heard()
    with Hostile(heard=heard, session=OldServer) as sink:
        with Sending(programs.postal, folder, *SMALL, "--messages", "10", sink.endpoint, users) as sending:
            run = sending.wait()
    assert run.total("messages") == 10
    assert heard.all(rb"HELO ")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_the_running_minute_is_reported(bhm, programs, folder, users, number):
    """SIGINT did not end it, SIGTERM lost the running minute."""
    hole = bhm()
    with Sending(programs.postal, folder, *SMALL, "-c", "-1", "--rate", "200/s", hole.endpoint, users) as sending:
        wait_until(lambda: hole.process.stdout.count("\n") >= 3, "bhm's second line")
        sending.signal(number)
        run = sending.wait()
    assert run.seconds < 30 and run.status == 0
    assert sum(line["messages"] for line in run.lines) == run.total("messages") > 0
    assert len(run.lines) <= 2, "the second has what was in flight at the signal"


@pytest.mark.serial
def test_the_first_interval_is_as_long_as_it_says(bhm, postal, users):
    hole = bhm()
    run = postal(*SMALL, "-c", "-1", "--rate", "1000/s", "--interval", "500ms", "--duration", "1600ms", hole.endpoint, users)
    intervals = run.record["intervals"]
    assert [interval["t_s"] for interval in intervals[:3]] == pytest.approx([0.5, 1.0, 1.5], abs=0.1)
    assert [interval["partial"] for interval in intervals[:3]] == [False, False, False]
    assert intervals[0]["messages"] == pytest.approx(500, rel=0.2)


def test_aligned_intervals_say_that_the_first_is_partial(bhm, postal, users):
    hole = bhm()
    run = postal(*SMALL, "--align-minutes", "--duration", "300ms", hole.endpoint, users)
    assert run.record["intervals"][0]["partial"] is True


def test_an_error_does_not_put_a_session_to_sleep_for_seconds(postal, users):
    with Hostile("rcpt", "close", every=2) as server:
        run = postal(*SMALL, "-t", "1", "--workers", "1", "--messages", "20", "--timeout", "2s", server.endpoint, users)
    assert run.record["duration_s"] < 20 * 0.25
    assert run.total("errors") == server.count.faults


def test_the_status_tells_that_nothing_was_delivered(postal, users):
    with Hostile("rcpt", "code_999") as server:
        postal.failing(*SMALL, "-t", "1", server.endpoint, users)


def test_the_current_folder_is_left_alone(programs, folder, bhm, users):
    hole = bhm()
    empty = folder / "empty"
    empty.mkdir()
    with Sending(programs.postal, folder, "--messages", "3", hole.endpoint, users, cwd=empty) as sending:
        assert sending.wait().status == 0
    assert os.listdir(empty) == []


def test_a_pipe_that_nobody_reads(programs, folder, bhm, users):
    """`postal ... | head -1` must not lose the record."""
    hole = bhm()
    words = [programs.postal, *SMALL, "--record", folder / "postal.json", "--interval", "100ms", "--duration", "700ms"]
    child = subprocess.Popen([*words, hole.endpoint, users], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert child.stdout.readline().startswith(b"time,")
        child.stdout.close()
        child.wait(15)
    finally:
        child.kill()
    assert child.returncode == 2
    assert read_record(folder / "postal.json")["totals"]["messages"] > 0


@pytest.mark.thinned(3)
@pytest.mark.parametrize("attempt", range(8))
def test_a_run_ends_although_its_last_moments_coincide(bhm, postal, users, attempt):
    """A run as long as the period of its live line once never noticed its own end, now and then."""
    hole = bhm()
    run = postal(*SMALL, "-c", "-1", "-t", "4", "--rate", "5000/s", "--duration", "500ms", hole.endpoint, users, timeout=20)
    assert run.record["duration_s"] < 5
