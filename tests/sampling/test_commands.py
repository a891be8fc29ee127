# SPDX-License-Identifier: GPL-3.0-or-later
"""--sample-command: commands that print numbers, and those that do everything else. None of them changes the run."""
import json
import time

import pytest

from support.postal import refused, run
from support.process import Process, wait_until

MESSAGES = 200


@pytest.fixture
def script(folder):
    """script(text) is a shell script with that text."""
    made = []

    def write(text):
        path = folder / f"command-{len(made)}.sh"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        made.append(path)
        return path
    return write


@pytest.fixture
def sampled(bhm, postal, users_file, script):
    """sampled(text) is a run of 200 messages in about two seconds beside which a script with that text is sampled."""
    def send(text, *words, **keywords):
        return postal("-t", "2", "--messages", MESSAGES, "--rate", "100/s", "--max-size", "1", "--sample-command", f"it={script(text)}",
                      "--sample-every", "200ms", *words, bhm().endpoint, users_file(5), **keywords)
    return send


def test_numbers_with_and_without_names(sampled):
    done = sampled("echo 12; echo in use 3.5; echo idle 0")
    source, = done.record["samples"]
    assert source["missed"] == 0 and source["taken"] >= 5
    assert {one["name"]: one["values"][-1] for one in source["series"]} == {"it": 12, "it in use": 3.5, "it idle": 0}
    assert not any(one["waiting"] for one in source["series"])
    assert "it in use: 3.5" in done.stderr
    assert "waited in the queue" not in done.stderr


BAD = {
    "garbage": ("echo twelve", 'it printed "twelve", which is no number'),
    "terminal codes": (r"printf '\033[2Jx 1\n'", r"\x1b[2Jx 1"),
    "nothing": ("true", "it printed nothing"),
    "too much": ("yes 1", "it printed more than 64.0 KiB"),
    "too many": ("for i in $(seq 40); do echo n$i 1; done", "more than 32 figures"),
    "a failure": ("echo cannot reach it >&2; exit 7", "it ended with status 7: cannot reach it"),
    "a signal": ("kill -SEGV $$", "it was ended by signal 11"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_prints_no_numbers_is_missed_and_told_once(sampled, kind):
    text, said = BAD[kind]
    done = sampled(text)
    assert done.status == 0 and done.total("messages") == MESSAGES and done.total("errors") == 0
    source, = done.record["samples"]
    assert source["taken"] == 0 and source["missed"] >= 3 and source["series"] == []
    assert said in source["missed_why"]
    told = [line for line in done.stderr.splitlines() if line.startswith("postal: --sample-command it: a sample is missed: ")]
    assert len(told) == 1 and said in told[0]
    assert f"{source['missed']} of {source['missed']} samples missed" in done.stderr


def test_one_that_hangs_is_killed_and_holds_up_nothing(sampled, folder):
    pids = folder / "pids"
    began = time.monotonic()
    done = sampled(f"echo $$ >> {pids}; sleep 9713 & echo $! >> {pids}; sleep 9713")
    assert done.total("messages") == MESSAGES and done.record["measured_s"] < 10
    # It has five seconds, and one when the run is over; no other is begun after the end.
    assert time.monotonic() - began < done.record["measured_s"] + 4
    source, = done.record["samples"]
    assert (source["taken"], source["missed"]) == (0, 1)
    assert source["missed_why"] == "the run was over, and it took 1s longer and was killed"
    assert 1 < source["longest_s"] < 5
    ids = [int(line) for line in pids.read_text().split()]
    assert len(ids) == 2
    wait_until(lambda: not any(runs(pid) for pid in ids), "its group to be gone")


def test_one_that_hangs_has_five_seconds_while_the_run_goes_on(sampled):
    done = sampled("sleep 9713", "--rate", "25/s")
    source, = done.record["samples"]
    assert source["missed_why"] == "it took longer than 5s and was killed" and source["longest_s"] >= 5


THRESHOLDS = [
    # Values are 1, 2, 3, and so on; the first stands for the figure without a name.
    ("max(it)<1000", True), ("max(it deep)>=30", True), ("mean(it deep)==30", True), ("last(it)<1", False), ("last(it other)<1", False)]


def test_thresholds_on_what_is_sampled(sampled, folder, programs):
    count = folder / "count"
    asked = [word for text, _ in THRESHOLDS for word in ("--threshold", text)]
    done = sampled(f"echo x >> {count}; wc -l < {count}; echo deep 30", *asked, status=3)
    found = {one["expression"]: one for one in done.record["thresholds"]}
    assert {text: found[text]["passed"] for text, _ in THRESHOLDS} == dict(THRESHOLDS)
    source, = done.record["samples"]
    assert found["max(it)<1000"]["value"] == source["series"][0]["highest"] >= 5
    assert found["max(it deep)>=30"]["value"] == found["mean(it deep)==30"]["value"] == 30
    # A name that a command has never printed was not measured.
    assert found["last(it other)<1"]["value"] is None
    assert "max(it)<1000: " in done.stderr and "last(it other)<1: nothing was measured" in done.stderr
    page, record = folder / "page.html", folder / "record.json"
    record.write_text(json.dumps(done.record))
    assert run([programs.postal_report, "--html", page, record]).status == 0
    assert "max(it)&lt;1000" in page.read_text()


def test_what_happens_in_the_warm_up_does_not_count(sampled, folder):
    first = folder / "first"
    done = sampled(f"test -e {first} && echo 1 || echo 100; touch {first}", "--warmup", "1s", "--threshold", "max(it)<100")
    source, = done.record["samples"]
    assert source["series"][0]["highest"] == 100
    assert done.record["thresholds"][0] == {"expression": "max(it)<100", "value": 1, "unit": "", "passed": True, "reached": True}


@pytest.mark.parametrize(("words", "said"), [
    (["--threshold", "max(queue)<10"], "'queue' is no phase, and nothing is sampled; give --queue or --sample-command too"),
    (["--sample-command", "it=echo 1", "--threshold", "max(other)<10"],
     "'other' is no phase, and not sampled; what is sampled: it, it FIGURE"),
    (["--sample-command", "it=echo 1", "--threshold", "p99(it)<10"], "of what is sampled there are max, mean and last, not 'p99'"),
    (["--sample-command", "it=echo 1", "--threshold", "max(it)<10s"], "there is no phase 'it'"),
    (["--sample-command", "it=echo 1", "--threshold", "max(it)<10;abort"], "what was sampled is judged at the end"),
])
def test_refused_thresholds(programs, bhm, users_file, words, said):
    hole = bhm()
    for more in ([], ["--dry-run"]):
        refused(run([programs.postal, *words, *more, "--messages", "1", hole.endpoint, users_file(5)], timeout=30),
                "--threshold", said)


def test_what_it_left_running_is_ended(sampled, folder):
    pids = folder / "pids"
    done = sampled(f"sleep 9713 & echo $! >> {pids}; echo 5")
    source, = done.record["samples"]
    assert source["missed"] == 0 and source["series"][0]["values"][-1] == 5
    wait_until(lambda: not any(runs(int(pid)) for pid in pids.read_text().split()), "all of them to be gone")


def runs(pid):
    """Whether it is there and no zombie that whoever adopted it has yet to reap."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_an_interrupt_ends_the_run_and_its_samples(bhm, programs, users_file, script, folder):
    process = Process([programs.postal, "--sample-command", f"it={script('echo 1')}", "--rate", "10/s", "--interval", "300ms", "--record", folder / "r.json",
                       bhm().endpoint, users_file(5)], folder)
    try:
        wait_until(lambda: len(process.stdout.splitlines()) > 2, "some intervals")
        assert process.stop(2) == 0
    finally:
        process.kill()
    assert "it: 1 at the end" in process.stderr
