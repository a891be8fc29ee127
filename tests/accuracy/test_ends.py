# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run has when it ends: no more messages due than its duration holds, and nothing measured within a warm-up."""
import signal

import pytest

from support.process import Process, wait_until


@pytest.mark.parametrize("words, due", [
    (("--rate", "10/s", "--duration", "1s"), 10), (("--rate", "20/s", "--duration", "500ms"), 10), (("--stages", "20/s@1s"), 10)])
@pytest.mark.parametrize("open_loop", [True, False])
def test_what_is_due_at_the_end_is_none_of_the_run(postal, bhm, users_file, words, due, open_loop):
    done = postal("-t", "4", "-c", "-1", *words, *(["--open-loop"] if open_loop else []), bhm().endpoint, users_file(5))
    assert 0 < done.total("started") == done.total("messages") <= due
    if open_loop:  # what was due is begun, however late; a closed loop has lost what it was too late for
        assert done.total("due") == done.total("started") == due and done.total("not_started") == 0


@pytest.mark.parametrize("duration", ["1050ms", "1s", "1999ms"])
def test_a_cap_is_not_reached_by_more_than_was_asked(postal, bhm, users_file, duration):
    cap = postal("-t", "4", "-c", "-1", "--rate", "10/s", "--duration", duration, bhm().endpoint, users_file(5)).record["cap"]
    assert cap["reached_per_s"] <= cap["asked_per_s"] + 1e-9


def test_a_run_that_is_over_within_its_warm_up(postal, bhm, users_file):
    done = postal("--warmup", "5s", "--messages", "2", bhm().endpoint, users_file(5), status=1)
    assert "--warmup: the run was over within the 5s of its warm-up, and nothing was measured" in done.stderr
    assert done.record["totals"]["messages"] == 0 and done.record["totals_with_warmup"]["messages"] == 2


def test_a_run_that_is_interrupted_in_its_warm_up(programs, bhm, users_file, folder):
    sender = Process([programs.postal, "--warmup", "1m", "--rate", "50/s", "--interval", "100ms", bhm().endpoint, users_file(5)], folder, "postal")
    wait_until(lambda: sender.stdout.count("\n") > 2, lambda: f"lines of intervals: {sender.stderr}")
    sender.signal(signal.SIGINT)
    assert sender.wait(60) == 1
    assert "--warmup: the run was over within the 1m of its warm-up" in sender.stderr
