# SPDX-License-Identifier: GPL-3.0-or-later
"""--find-rate: the highest rate that keeps its promise, against servers of which it is known; and that its books are whole.

The search itself is held against simulated servers (tests/truth, tests/unit/stats/capacity); here are the trials on real connections."""
import json
import signal
import subprocess
import time

import pytest

from conftest import login_names
from support.behaviours import rule
from support.postal import refused, run

pytestmark = [pytest.mark.serial, pytest.mark.beside_others]
QUICK = ("--find-rate", "--own-limit", "0s", "--goal-set", "quick", "-c", "-1", "-m", "1")


def trials_of(record):
    """Each is whole: what was due in it is on time, late, an error or not started, of each goal."""
    found = record["capacity"]
    for trial in found["trials"]:
        assert trial["intended"] > 0 and trial["duration_s"] == pytest.approx(trial["asked_s"], rel=0.5)
        for goal in trial["goals"]:
            assert sum(goal[what] for what in ("on_time", "late", "errors", "not_started", "not_finished")) == trial["intended"]
    return found["trials"]


@pytest.mark.begins_first
def test_no_higher_rate_is_tried(bhm, postal, users_file):
    """A server that is fast enough, and all that both have counted."""
    hole = bhm()
    sent = postal("-t", "20", *QUICK, "--rate", "100/s", "--most-rate", "200/s", "--duration", "24s", "--at-least", "150/s", hole.endpoint, users_file(5),
                  status=None)  # 0, or 3 where others had the machine
    trials = trials_of(sent.record)
    found = sent.record["capacity"]
    assert found["max_load"] == 200 and max(trial["load"] for trial in trials) == 200
    counted = [trial for trial in trials if not trial["began_with_backlog"] and trial["validity"] == "valid"]
    assert counted[0]["load"] == 100 and all(trial["intended"] == round(trial["asked_s"] * trial["load"]) for trial in trials)
    # What fell due is what the trials asked for, settling too, and all of it reached the server.
    settled = sum(round(trial["settle_s"] * trial["load"]) for trial in trials)
    assert sent.total("due") == sent.total("started") == settled + sum(trial["intended"] for trial in trials)
    assert hole.stop().record["totals"]["messages"] == sent.total("messages") == sent.total("due")
    if found["result"]["end"] == "at_least":
        assert found["result"]["goals"][0]["relevant_lower_bound"] == 200
        assert sent.status == 0 and sent.record["thresholds"][0]["passed"] and sent.record["thresholds"][0]["value"] == 12_000
        assert "at least 200 messages/s at p99(message)" in sent.stderr


@pytest.mark.begins_first
def test_a_server_that_is_never_good(behaving, programs, users_file, folder):
    hole = behaving(rule("end", 'reply = "451 4.3.0 not now"'))
    record = folder / "record.json"
    begun = time.monotonic()
    done = run([programs.postal, "-t", "5", *QUICK, "--rate", "4/s", "--goal", "errors<0.1%", "--record", record, hole.endpoint, users_file(5)])
    assert done.status == 4  # nothing was accepted, whatever else is true
    assert time.monotonic() - begun < 60
    if any(trial["validity"] != "valid" for trial in trials_of(json.loads(record.read_text()))):
        return  # others had the machine
    assert "doomed at the lowest rate" in done.stderr and "did not keep errors<0.1% (100 % lost)" in done.stderr


@pytest.mark.begins_first
def test_two_promises_of_a_slow_server(behaving, programs, users_file, folder):
    """Half a second for each message: a promise of 100 ms is never kept, one of 5 s is. The first of them decides."""
    hole = behaving(rule("end", 'delay = "500ms"'))
    record = folder / "record.json"
    done = run([programs.postal, "-t", "50", *QUICK, "--rate", "2/s", "--goal", "p50(message)<100ms", "--goal", "p50(message)<5s", "--most-rate", "20/s",
                "--duration", "25s", "--record", record, hole.endpoint, users_file(5)])
    found = json.loads(record.read_text())
    assert done.status == 3
    # Where others had the machine what was not kept says nothing.
    counted = [trial for trial in trials_of(found) if trial["goals"]]
    for trial in counted:
        short, long = trial["goals"]
        assert short["late"] == trial["intended"] and long["on_time"] == trial["intended"]
    assert not counted or found["capacity"]["result"]["limiting"] == 0 and found["capacity"]["result"]["goals"][0]["end"] in {"doomed", "unfinished"}


def test_each_goal_has_attributes_of_its_own(programs, users_file, folder):
    """Nobody listens; what was asked for stands in the record, of each goal."""
    record = folder / "record.json"
    run([programs.postal, "-t", "2", *QUICK, "--width", "4%", "--goal", "p99(message)<1s;final=6s,initial=3s,exceed=0.3", "--goal", "errors<1%;width=1%,sum=20s", "--goal", "errors<1%",
         "--rate", "5/s", "--give-up", "1s", "--record", record, "127.0.0.1:1", users_file(2)])
    goals = json.loads(record.read_text())["capacity"]["search_goals"]
    keys = ("initial_trial_s", "final_trial_s", "duration_sum_s", "exceed_ratio", "width", "loss_ratio")
    assert [tuple(goal[key] for key in keys) for goal in goals] == [(3, 6, 15, 0.3, 0.04, 0.01), (1, 5, 20, 0.5, 0.01, 0.01), (1, 5, 15, 0.5, 0.04, 0.01)]
    assert [goal["promise"] for goal in goals] == ["p99(message)<1s", "errors<1%;width=1%,sum=20s", "errors<1%"]


@pytest.mark.begins_first
def test_a_start_far_above_what_the_server_carries(bhm, programs, users_file, folder, sized):
    """200 ms for each message of five sessions are 25 a second; 250 are asked for at first. What is not begun is never begun, and in the books."""
    hole = bhm("--delay", "end=200ms")
    record = folder / "record.json"
    duration = sized("33s", "45s")
    run([programs.postal, "-t", "5", *QUICK, "--rate", "250/s", "--most-rate", "250/s", "--duration", duration, "--record", record, hole.endpoint, users_file(5)])
    sent = json.loads(record.read_text())
    trials = trials_of(sent)
    assert trials[0]["load"] == 250 and (trials[1]["load"] < 250 or not trials[0]["goals"])
    assert not any(trial["began_with_backlog"] for trial in trials)
    first = trials[0]["goals"]
    assert not first or first[0]["shown"] == "high_loss" and first[0]["not_started"] > 0  # or others had the machine
    # Each message that fell due ended in one way, and the server saw those that were begun.
    total = sent["totals"]
    due = sum(max(1, int(trial["settle_s"] * trial["load"] + 0.5)) + trial["intended"] for trial in trials)
    assert total["due"] == pytest.approx(due, abs=1) and total["due"] == total["started"] + total["not_started"] and total["not_started"] > 0
    assert hole.stop().record["totals"]["messages"] == total["messages"] == total["started"]
    lower, upper = (sent["capacity"]["result"]["goals"][0][f"relevant_{side}_bound"] for side in ("lower", "upper"))
    counted = [trial for trial in trials if trial["goals"]]
    if len(counted) == len(trials):
        assert upper is not None and 22 < upper < 60  # trials of a second put up with more
        assert lower < 35 if lower is not None else duration == "33s"  # in which there is seldom one


def test_a_silent_server_ends_the_search(programs, users_file, folder):
    """Nobody listens: the trials' messages are never begun, and after two of them it is over. More sessions would not help."""
    record = folder / "record.json"
    done = run([programs.postal, "-t", "2", *QUICK, "--rate", "20/s", "--at-least", "5/s", "--give-up", "1m", "--record", record, "127.0.0.1:1",
                users_file(2)])
    assert done.status in (3, 4)
    found = json.loads(record.read_text())
    assert found["capacity"]["result"]["end"] == "nothing_ended" and len(trials_of(found)) == 2
    assert "busy" not in done.stderr and "find-rate>=300/min: no rate was found" in done.stderr
    assert found["totals"]["due"] == found["totals"]["not_started"] > 0


def test_it_is_interrupted(bhm, programs, users_file, folder):
    hole = bhm()
    record = folder / "record.json"
    with subprocess.Popen([programs.postal, "-t", "5", *QUICK, "--record", record, hole.endpoint, users_file(5)], stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if "trial 2:" in line:
                break
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 3
    found = json.loads(record.read_text())
    assert found["capacity"]["result"]["end"] == "interrupted" and "the search was interrupted" in rest
    assert len(trials_of(found)) >= 2


@pytest.mark.begins_first
def test_a_queue_that_grows_is_a_backlog(bhm, postfix, postal, users_file):
    """Postfix takes at once what it can pass on at 40 messages a second at most: its replies are in time, its queue is not."""
    slow = bhm("--delay", "end=50ms")
    relay = postfix(f"smtp:[{slow.endpoint.rpartition(':')[0]}]:{slow.endpoint.rpartition(':')[2]}", initial_destination_concurrency=2,
                    smtp_destination_concurrency_limit=2)
    sent = postal("-t", "10", *QUICK, "--rate", "80/s", "--most-rate", "80/s", "--goal", "p50(message)<1s", "--duration", "20s",
                  "--queue", f"postfix:{relay.queue}", relay.endpoint, users_file(5), status=None)
    trials = trials_of(sent.record)
    counted = [trial for trial in trials if trial["goals"]]
    assert all(trial["queued_end"] <= trial["backlog_end"] for trial in trials)
    # The replies alone would have kept the promise.
    grown = [trial["goals"][0] for trial in counted if trial["load"] == 80]
    assert grown and all(goal["on_time"] > 0 and goal["growth"] > 0.1 for goal in grown)
    assert any(goal["shown"] == "high_loss" and goal["reason"] == "backlog" for goal in grown)
    # Each trial waits until the queue is as it was.
    fast = [trial for trial in trials if trial["load"] == 80]
    assert all(trial["took_s"] > trial["settle_s"] + trial["duration_s"] + trial["queued_end"] / 60 for trial in fast if trial["queued_end"] > 20)
    lower = sent.record["capacity"]["result"]["goals"][0]["relevant_lower_bound"]
    assert lower is None or lower < 45
    assert sent.total("messages") == sent.total("due")


@pytest.mark.stands_behind
@pytest.mark.parametrize("words, why", [
    (["--goal", "errors<1%"], "--goal: is about a search; give --find-rate, too"),
    (["--find-rate", "--stages", "1/s@1s"], "--stages: has no meaning in a search"),
    (["--find-rate", "--messages", "10"], "--messages: has no meaning in a search"),
    (["--find-rate", "--goal", "mean(message)<1s"], "--goal: mean(message)<1s: a goal says which share"),
    (["--find-rate", "--goal", "p99(data)<1s"], "so about the phase message, not data"),
    (["--find-rate", "--goal", "p99(message)<1s", "--goal-set", "rfc2544"], "allow no loss"),
    (["--find-rate", "--width", "0.01%"], '--width: "0.01%" is no width; give 0.1 % to 100 %'),
    (["--find-rate", "--goal", "p99(message)<1s;final=2m"],
     "--goal: p99(message)<1s: sum: 1m are too few for one final trial of 2m; give sum=2m or more"),
    (["--find-rate", "--goal", "p99(message)<1s;width=9"], 'width: "9" is no width; give 0.1 % to 100 %'),
    (["--find-rate", "-c", "0"], "--find-rate: needs messages"),
], ids=lambda one: " ".join(one) if isinstance(one, list) else "")
def test_refused(programs, users_file, words, why):
    refused(run([programs.postal, *words, "127.0.0.1:1", users_file(2)], timeout=20), why)


@pytest.mark.stands_behind
def test_refused_by_rabid(programs):
    refused(run([programs.rabid, "--find-rate", "--rounds", "1", "127.0.0.1:1", "-"], timeout=20), "--rounds: has no meaning in a search", program="rabid")


@pytest.mark.begins_first
def test_real_servers(postfix, dovecot, postal, rabid, users_file):
    """Postfix takes all that the trials sent; readers of Dovecot are counted in visits, each due once."""
    server = postfix("discard:")
    sent = postal("-t", "10", *QUICK, "--rate", "20/s", "--most-rate", "40/s", "--duration", "8s", server.endpoint, users_file(5), status=None)
    trials = trials_of(sent.record)
    due = sum(round(trial["settle_s"] * trial["load"]) + trial["intended"] for trial in trials)
    assert sent.total("due") == due and sent.total("messages") == due and sent.total("errors") == 0

    reader = dovecot(5, reading=True)
    read = rabid("-p", "4", "-i", "100", "-d", "100:0", "--find-rate", "--goal-set", "quick", "--rate", "5/s", "--most-rate", "10/s", "--duration", "8s",
                 "--imap", reader.imap, reader.pop3, users_file(login_names(reader.users)), status=None)
    trials = trials_of(read.record)
    assert read.record["capacity"]["unit"] == "visits" and read.record["capacity"]["search_goals"][0]["promise"] == "p99(session)<1s"
    assert read.total("due") == sum(round(trial["settle_s"] * trial["load"]) + trial["intended"] for trial in trials)
    assert read.total("connections") == read.total("imap_connections") == read.total("due")
