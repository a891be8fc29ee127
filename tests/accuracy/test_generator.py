# SPDX-License-Identifier: GPL-3.0-or-later
"""Who was the limit, as postal says it: beside programs that keep every processor busy, and beside none.

The busy programs are this test's own, so that the machine is full by design: nothing here is excused by a busy machine,
and nothing is measured that one would make wrong.
"""
import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from support.machine import Watch
from support.postal import read_record
from support.process import Process, free_port, wait_until

BUSY = "import os, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\nprint(flush=True)\nwhile True: pass"
SECONDS = 4


@pytest.fixture
def users(users_file):
    return users_file(100)


@contextlib.contextmanager
def busy_processors(each=2):
    """So many endless loops on each processor that this process may use, which is left to nobody else then."""
    started = []
    try:
        for processor in sorted(os.sched_getaffinity(0)) * each:
            started.append(subprocess.Popen([sys.executable, "-c", BUSY, str(processor)], stdout=subprocess.PIPE))
        for one in started:
            one.stdout.readline()  # it is on its processor
        yield
    finally:
        for one in started:
            one.kill()
            one.wait()
            one.stdout.close()


def send(postal, hole, users, *options, **keywords):
    return postal("-t", "4", "-c", "1", "-m", "5", "-M", "5", "--duration", f"{SECONDS}s", "--interval", "2s", "--log-format", "extended",
                  "--threshold", "limited==0", *options, hole.endpoint, users, **keywords)


def run_delay_is_known():
    with contextlib.suppress(OSError), open("/proc/thread-self/schedstat") as file:
        return int(file.read().split()[0]) > 0
    return False


@pytest.mark.serial
def test_beside_busy_programs_the_machine_was_full(bhm, postal, users):
    if not run_delay_is_known():
        pytest.skip("this kernel does not say how long a thread waited")
    hole = bhm("--workers", "1")
    with busy_processors():
        run = send(postal, hole, users)
    generator = run.record["generator"]
    if (generator["verdict"], generator["limited"]) != ("machine_full", False):
        pytest.fail(f"with every processor busy: {json.dumps(generator)}")  # no AssertionError: that the machine was busy is no excuse
    assert run.status == 0, "the generator was not the limit"
    assert "MACHINE FULL: " + generator["reason"] in run.stderr
    assert generator["run_delay"] >= max(each["run_delay"] for each in run.record["intervals"][:2]) > 0
    assert ",busy_percent,wait_percent,idle_percent," in run.stdout.splitlines()[0]


@pytest.mark.serial
def test_on_an_idle_machine_it_was_not(bhm, postal, users):
    """Little enough that no processor is full."""
    hole = bhm("--workers", "1")
    with Watch() as machine:
        run = send(postal, hole, users, "--workers", "1", "--rate", "50/s")
    if why := machine.busy():
        pytest.skip(f"the machine was not idle: {why}")
    assert run.record["generator"]["verdict"] == "none", run.record["generator"]
    assert run.record["generator"]["reason"] == ""
    assert "not the limit" in run.stderr


def test_a_run_of_a_moment_accuses_nobody(bhm, postal, users):
    hole = bhm("--workers", "1")
    with busy_processors(each=1):
        run = postal("-t", "4", "--duration", "50ms", hole.endpoint, users, status=None)  # 0, or 4 where nothing came through so soon
    if run.record["measured_s"] < 1:
        assert run.record["generator"]["verdict"] == "none", run.record["generator"]
        assert "too short to judge" in run.stderr


CGROUPS = ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup")


@pytest.fixture
def small_quota():
    """A fresh control group that may use a twentieth of a processor; its file that takes processes."""
    for root in CGROUPS:
        folder = os.path.join(root, f"postal-test-{os.getpid()}")
        with contextlib.suppress(OSError):
            os.mkdir(folder)
            try:
                for name, text in (("cpu.cfs_quota_us", "5000"), ("cpu.max", "5000 100000")):
                    if os.path.exists(os.path.join(folder, name)):
                        with open(os.path.join(folder, name), "w") as file:
                            file.write(text)
                        yield os.path.join(folder, "cgroup.procs")
                        return
            finally:
                os.rmdir(folder)
    pytest.skip("no control group with a CPU quota can be made here")


def test_a_cgroups_quota_is_said_as_that(bhm, postal, users, small_quota):
    """Whatever else the machine does: of a twentieth of a processor the load uses all."""
    hole = bhm("--workers", "1")

    def enter():
        with open(small_quota, "w", encoding="ascii") as file:
            file.write("0")
    run = send(postal, hole, users, "--workers", "1", status=None, preexec_fn=enter)
    generator = run.record["generator"]
    # More than half of each that is long enough to judge: then no thread can have waited twice as long for others.
    if min(each["throttled"] for each in run.record["intervals"] if each["t_s"] - each["start_s"] >= 1) < 0.55:
        pytest.skip(f"others left so little of the processors that the quota was hardly used up: {generator}")
    assert (generator["verdict"], generator["cause"]) == ("held_back", "quota"), generator
    assert "HELD BACK: " in run.stderr and "CPU quota (cgroup)" in run.stderr
    assert not generator["limited"]


def test_a_stop_of_the_process_is_said_as_that(bhm, programs, users, folder):
    """Two seconds of six; how long it was is what is measured, and a machine that is busy makes it no shorter."""
    if not run_delay_is_known():
        pytest.skip("this kernel does not say how long a thread waited")
    hole = bhm("--workers", "1")
    record = folder / "stopped.json"
    process = Process([programs.postal, "-t", "2", "-c", "1", "-m", "1", "-M", "1", "--workers", "1", "--rate", "200/s", "--duration",
                       "6s", "--interval", "1s", "--record", record, hole.endpoint, users], folder)
    try:
        wait_until(lambda: len(process.stdout.splitlines()) > 1, lambda: f"an interval: {process.stderr}")
        process.signal(signal.SIGSTOP)
        begun = time.monotonic()
        wait_until(lambda: time.monotonic() > begun + 2, lambda: "two seconds")
        process.signal(signal.SIGCONT)
        stopped = time.monotonic() - begun
        process.wait(120)
    finally:
        process.kill()
    generator = read_record(record)["generator"]
    assert 1 < generator["stopped_s"] < stopped + 1, generator
    assert generator["verdict"] in ("held_back", "machine_full"), f"what was late by the stop accuses nobody: {generator}"
    if generator["verdict"] == "held_back":
        assert generator["cause"] == "stopped", generator
        assert "HELD BACK: postal was stopped for" in process.stderr


def test_against_a_closed_port_there_is_no_verdict(postal, users):
    with busy_processors(each=1):
        run = postal("-t", "4", "--duration", "3s", "--workers", "1", f"127.0.0.1:{free_port()}", users, status=None)
    generator = run.record["generator"]
    assert run.total("messages") == 0
    assert (generator["verdict"], generator["cause"], generator["traffic"]) == ("none", "", False), generator
    assert "no verdict: there was no traffic" in run.stderr


def test_the_threads_beside_the_workers_are_in_the_record(bhm, postal, users, folder):
    hole = bhm("--workers", "1")
    run = send(postal, hole, users, "--workers", "1", "--rate", "50/s", "--ledger", folder / "ledger.db", status=None)
    for one in [run.record["generator"], run.record["intervals"][0]]:
        assert one["main_busy"] is not None and one["ledger_busy"] is not None, one


def test_a_servers_rate_under_load_leaves_out_its_waiting(bhm, postal, users):
    """100 a second for five seconds; the server waits before and after it."""
    hole = bhm("--workers", "1")
    run = postal("-t", "4", "-c", "10", "-m", "1", "-M", "1", "--workers", "1", "--rate", "100/s", "--duration", "5s", hole.endpoint, users)
    ended = time.monotonic()
    wait_until(lambda: time.monotonic() > ended + 3, lambda: "three seconds")
    served = hole.stop()
    record = served.record
    under = record["rate"]["under_load"]
    lasted = under["end_s"] - under["start_s"]
    assert 0 < under["messages"] <= run.total("messages")
    assert 1 <= lasted <= record["measured_s"] - 3
    assert under["messages_per_second"] == pytest.approx(under["messages"] / lasted, rel=1e-3)
    assert under["messages_per_second"] > 1.2 * run.total("messages") / record["measured_s"], "what it waited dilutes it"
    assert "under load" in served.stderr
