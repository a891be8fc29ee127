# SPDX-License-Identifier: GPL-3.0-or-later
"""--own-limit: what postal can do by itself is measured before a search, with what it was told to send. Nobody listens where the search is
made; the limit stands in the record all the same."""
import datetime
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

from conftest import login_names
from support.postal import refused, run
from support.process import Process, wait_until

SEARCH = ("--find-rate", "--goal-set", "quick", "-t", "3", "--rate", "5/s", "--give-up", "1s")
NOBODY = "127.0.0.1:1"


def search(program, folder, *words, **how):
    record = folder / "record.json"
    done = run([program, *SEARCH, "--record", record, *words], **how)
    assert done.status == 4 and "measures for 300ms what it can do by itself, against bhm on this host" in done.stderr
    return json.loads(record.read_text()), done.stderr


@pytest.mark.parametrize("words", [
    ["-c", "-1"],
    ["-c", "-1", "--lmtp", "--recipients", "2", "--header", "X-Test: a b"],
    ["-c", "5", "--tls", "implicit", "--tls-max", "1.2", "--tls-sni", "mx.example.com"],
    ["-c", "-1", "--ssl-percent", "50", "--size", "fixed:20K", "--body", "multipart"],
    ["-c", "-1", "--chunking", "auto", "--in-flight", "4", "--workers", "1"],
    ["-c", "-1", "--auth", "PLAIN", "--auth-insecure", "--mail-parameter", "X-NEVER-HEARD=1"],
], ids=" ".join)
def test_it_is_measured_with_what_is_sent(programs, folder, words):
    users = folder / "users"
    users.write_text("\n".join(login_names([f"user{number}@example.com" for number in range(5)])) + "\n")
    record, said = search(programs.postal, folder, "--own-limit", "300ms", *words, NOBODY, users)
    assert record["options"]["own-limit"] == "300ms"
    limit = record["capacity"].get("own_limit")
    if limit is None:  # for others had the machine; who did not is in the next test
        assert any("what it can do by itself is not known: " + why in said for why in ("it was hardly busy", "it did not end")) or "came through" in said
        return
    assert limit["rate"] == pytest.approx(limit["load"] / limit["busy"], rel=0.01) and 0.2 < limit["measured_s"] < 1
    left_out = {"--auth": "AUTH, --mail-parameter", "--tls": "--tls-sni"}.get((*words, "", "")[2], "")
    assert limit["left_out"] == left_out and ("left out of that: " + left_out in said) == bool(left_out)
    assert "messages/s by itself\n" in said and "% of its busiest worker\n" in said and all(len(line) <= 80 for line in said.splitlines() if "worker" in line)


@pytest.mark.serial
def test_a_connection_for_each_message(programs, folder):
    """The run, its log and its record begin when that has been measured."""
    began = time.time()
    record, said = search(programs.postal, folder, "--own-limit", "300ms", "--to", "a@example.com", NOBODY)
    assert record["capacity"]["own_limit"]["rate"] > 100 and "messages/s by itself\n" in said
    assert datetime.datetime.fromisoformat(record["started"].replace("Z", "+00:00")).timestamp() - began > 0.7


def test_a_signal_meanwhile(programs, folder):
    """It ends in order: nothing is left of the two programs that measure, nor of their folder."""
    words = [programs.postal, *SEARCH, "--own-limit", "20s", "--ledger", folder / "ledger", "--to", "a@example.com", NOBODY]
    began = subprocess.Popen([str(word) for word in words], stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(folder)})
    line = began.stderr.readline()
    while "measures for 20s" not in line:
        assert line
        line = began.stderr.readline()
    wait_until(lambda: len(pathlib.Path(f"/proc/{began.pid}/task/{began.pid}/children").read_text().split()) == 2, "both programs to run")
    began.send_signal(signal.SIGINT)
    _, said = began.communicate(timeout=20)
    assert began.returncode == 2 and "interrupted before the search began" in said
    assert [one.name for one in folder.iterdir()] == ["ledger"]


def test_no_time_is_left(programs, folder):
    start = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=4)).strftime("%Y-%m-%dT%H:%M:%SZ")
    done = run([programs.postal, *SEARCH, "--own-limit", "10s", "--start-at", start, "--to", "a@example.com", NOBODY])
    assert done.status == 4 and "--own-limit: not measured: --start-at leaves no time" in done.stderr


def test_users_from_standard_input(programs, folder):
    """They have been read: as many as a message has recipients stand for them."""
    record = folder / "record.json"
    words = [programs.postal, *SEARCH, "--own-limit", "300ms", "--recipients", "2", "--record", record, NOBODY, "-"]
    done = subprocess.run(list(map(str, words)), input=b"a@example.com\nb@example.com\n", capture_output=True, timeout=60, check=False)
    assert done.returncode == 4 and (b"by itself\n" in done.stderr or b"it was hardly busy" in done.stderr or b"came through" in done.stderr)


def test_bhm_is_not_there(programs, folder):
    alone = shutil.copy(programs.postal, folder / "postal")
    record, said = search(alone, folder, "--own-limit", "300ms", "--to", "a@example.com", NOBODY, env={"PATH": "/nowhere"})
    assert "own_limit" not in record["capacity"] and 'what it can do by itself is not known: there is no program "bhm" in PATH' in said


@pytest.mark.parametrize("words, why", [
    (["--own-limit", "1s"], "--own-limit: is about a search; give --find-rate, too"),
    (["--find-rate", "--own-limit", "2m"], "--own-limit: 2m is too long; give at most 20s"),
    (["--join-search", "socket", "--own-limit", "1s"], "--own-limit: is up to the program whose search --join-search joins"),
], ids=lambda one: " ".join(one) if isinstance(one, list) else "")
def test_refused(programs, words, why):
    refused(run([programs.postal, *words, "--to", "a@example.com", NOBODY], timeout=20), why)


def test_before_the_first_trial(programs, folder):
    """Who was the limit is not said of a search that has tried nothing."""
    start = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=60)).strftime("%Y-%m-%dT%H:%M:%SZ")
    waiting = Process([programs.postal, *SEARCH, "--start-at", start, "--to", "a@example.com", NOBODY], folder, "postal")
    wait_until(lambda: "starts at" in waiting.stderr, "it to wait")
    waiting.signal(signal.SIGINT)
    assert waiting.wait(20) == 4
    assert "nothing was found: the search was interrupted" in waiting.stderr and "no verdict: there was no trial" in waiting.stderr
