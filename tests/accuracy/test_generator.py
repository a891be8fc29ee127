"""Who was the limit, as postal says it: beside programs that keep every processor busy, and beside none.

The busy programs are this test's own, so that the machine is full by design: nothing here is excused by a busy machine,
and nothing is measured that one would make wrong.
"""
import contextlib
import json
import os
import subprocess
import sys

import pytest

from support.machine import Watch

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


def send(postal, hole, users, *options):
    return postal("-t", "4", "-c", "1", "-m", "5", "-M", "5", "--duration", f"{SECONDS}s", "--interval", "2s", "--log-format", "extended",
                  "--threshold", "limited==0", *options, hole.endpoint, users)


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
        run = postal("-t", "4", "--duration", "50ms", hole.endpoint, users)
    if run.record["measured_s"] < 1:
        assert run.record["generator"]["verdict"] == "none", run.record["generator"]
        assert "too short to judge" in run.stderr
