# SPDX-License-Identifier: GPL-3.0-or-later
"""The books of lmtp-deliver: totals, intervals, lines, agents and what the sender counted are one story."""
import csv
import io
import json
import re
import socket

import pytest

from support.deliver import DELIVER_HEADER
from support.postal import run
from support.process import wait_until
from support.watched import OUTCOMES, Sending

KINDS = ["status-0"] * 6 + ["status-67", "status-75", "status-99", "signal-9"]
COUNTED = ("messages", "bytes", "errors", "connections", "rejected", "deferred", "started")
SMALL = ("-m", "2", "-M", "2")


@pytest.fixture
def mixed_users(users_file):
    """Recipients whose agents end in different ways."""
    return users_file([f"{kind}@host{number}.example.com" for number, kind in enumerate(KINDS * 10)])


@pytest.fixture
def users(users_file):
    return users_file(50)


def check_server(done):
    """Totals, intervals and lines of one run without a warm-up."""
    record, totals = done.record, done.record["totals"]
    for key in COUNTED:
        assert sum(interval[key] for interval in record["intervals"]) == totals[key], key
    for key in ("messages", "errors", "connections", "rejected", "deferred"):
        assert sum(line[key] for line in done.lines) == totals[key], key
    assert totals["started"] == sum(totals[name] for name in OUTCOMES), totals
    assert sum(error["count"] for error in record["errors"]) == totals["errors"]
    agents = record["agents"]
    assert sum(agents["exits"].values()) == agents["started"] + agents["exits"].get("not started", 0), agents
    assert record["latency_us"]["agent"]["count"] == agents["started"]
    return totals


LOADS = {
    "plain": ("-t", "5", "-c", "-1", "--pipelining", "off"),
    "pipelined": ("-t", "12", "-c", "-1"),
    "overlapping": ("-t", "12", "-c", "-1", "--pipelining", "overlap"),
    "chunked": ("-t", "5", "-c", "-1", "--chunking", "auto", "--in-flight", "8"),
    "up to five a connection": ("-t", "5", "-c", "5"),
    "recipients": ("-t", "5", "-c", "-1", "--recipients", "1..5"),
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("load", LOADS)
def test_what_the_sender_counted_is_what_was_delivered(lmtp_deliver, agents, postal, users, load):
    journal = agents.journal()
    server = lmtp_deliver(agents("journal without a gate", journal, "%to_user%"))
    sent = postal("-L", *SMALL, *LOADS[load], "--messages", "300", server.endpoint, users)
    done = server.stop()
    totals = check_server(done)
    for key in ("messages", "recipients", "bytes", "connections"):
        assert totals[key] == sent.total(key), key
    assert totals["messages"] == totals["started"] == len(journal.ended) >= 300
    assert done.record["agents"]["exits"] == {"0": totals["messages"]}
    assert totals["errors"] == 0


@pytest.mark.parametrize("load", ["plain", "overlapping", "recipients"])
def test_each_outcome(lmtp_deliver, agents, postal, mixed_users, load):
    server = lmtp_deliver(agents("any", "%to_user%"))
    sent = postal("-L", *SMALL, *LOADS[load], "--messages", "300", server.endpoint, mixed_users)
    done = server.stop()
    totals = check_server(done)
    exits = done.record["agents"]["exits"]
    assert totals["messages"] == exits["0"] == sent.total("messages")
    assert totals["deferred"] == exits["75"] + exits["signal 9"] == sent.total("deferred")
    assert totals["rejected"] == exits["67"] + exits["99"] == sent.total("rejected")
    found = {(error["code"], error["enhanced"]): 0 for error in done.record["errors"]}
    for error in done.record["errors"]:
        assert error["stage"] == "end"
        found[error["code"], error["enhanced"]] += error["count"]
    assert found == {(550, "5.1.1"): exits["67"], (554, "5.3.0"): exits["99"], (451, "4.3.0"): totals["deferred"]}


def test_per_interval_lines_of_both_sides_agree(lmtp_deliver, agents, programs, folder, users):
    """Each counts by its own clock, so what one has by a second the other has a second later at the latest."""
    server = lmtp_deliver(agents("status", "0"))
    with Sending(programs.postal, folder, "-L", *SMALL, "-t", "12", "-c", "-1", "--rate", "200/s", "--interval", "1s", "--duration", "4s",
                 server.endpoint, users) as sending:
        sent = sending.wait()
    done = server.stop()
    check_server(done)
    assert done.total("messages") == sent.total("messages") > 0
    ours, theirs = running_totals(done), running_totals(sent)
    assert len(theirs) >= 4, sent.stdout
    for second, count in theirs:
        later = [number for at, number in ours if at >= second + 1]
        earlier = [number for at, number in ours if at <= second - 1]
        assert not later or later[0] >= count, "what postal has counted had been delivered"
        assert not earlier or earlier[-1] <= count + 12, "and but for what was under way it knew"


def running_totals(run):
    """[(second of the day, messages up to then)]"""
    sums, total = [], 0
    for line in run.lines:
        hours, minutes, seconds = map(int, line["time"].split(":"))
        total += line["messages"]
        sums.append((hours * 3600 + minutes * 60 + seconds, total))
    return sums


# Agents

def test_running_agents_and_their_times_are_in_the_log(lmtp_deliver, agents):
    journal = agents.journal()
    with agents.gate() as gate:
        server = lmtp_deliver(agents("journal", journal, "%to_user%", gate), "--interval", "200ms")
        with server.connect() as client:
            client.start_delivery(["one@example.com", "two@example.com", "three@example.com"])
            wait_until(lambda: len(re.findall(r"(?m)^[\d:.]+,0,0,0,\d,0,0,0,3,", server.process.stdout)) >= 2, "two lines with three agents")
            gate.open()
            assert client.replies(3) == [250] * 3
    done = server.stop()
    check_server(done)
    last = [line for line in done.lines if line["messages"]][-1]
    assert last["agents_running"] == 0
    assert last["agent_p50_ms"] >= 150, "they were there when two lines were printed, 200 ms apart"
    assert last["agent_p99_ms"] is None, "of three there is no 99th percentile"
    latency = done.record["latency_us"]
    assert {name: latency[name]["count"] for name in ("queue", "agent", "message")} == {"queue": 3, "agent": 3, "message": 3}
    assert latency["message"]["max"] >= latency["agent"]["max"] * 0.98


def test_time_in_the_queue(lmtp_deliver, agents):
    journal = agents.journal()
    with agents.gate() as gate:
        server = lmtp_deliver(agents("journal", journal, "%to_user%", gate), "--max-deliveries", "1", "--interval", "300ms")
        with server.connect() as client:
            client.start_delivery(["one@example.com", "two@example.com"])
            journal.wait_for(started=1)
            lines = len(server.process.stdout.splitlines())
            wait_until(lambda: len(server.process.stdout.splitlines()) >= lines + 2, "a whole interval")
            gate.open()
            assert client.replies(2) == [250] * 2
    queue = server.stop().record["latency_us"]["queue"]
    assert queue["count"] == 2
    assert queue["min"] < 250_000 <= queue["max"]


def test_processor_time_and_memory_of_agents(lmtp_deliver, agents):
    """Of the agents alone: 64 MiB in memory at once, and some work."""
    script = agents.folder / "worker"
    script.write_text("#!/bin/sh\ni=0; while [ $i -lt 300000 ]; do i=$((i+1)); done\nexec dd if=/dev/zero of=/dev/null bs=64M count=1 status=none\n")
    script.chmod(0o755)
    server = lmtp_deliver(str(script))
    assert server.deliver(["one@example.com", "two@example.com"])[0].code == 250
    record = server.stop().record
    used = record["agents"]["cpu_user_s"] + record["agents"]["cpu_system_s"]
    own = record["totals"]["cpu_user_s"] + record["totals"]["cpu_system_s"]
    assert used > 0.1 and own < used, (used, own)
    assert 64 * 1024 * 1024 <= record["agents"]["max_rss_bytes"] < 100 * 1024 * 1024
    assert record["totals"]["max_rss_bytes"] < 40 * 1024 * 1024, "the agents' memory is not the server's"


def test_an_agent_that_could_not_be_started(lmtp_deliver, agents):
    server = lmtp_deliver(agents("status", "0"))
    agents.path("status").unlink()
    assert [answer.code for answer in server.deliver(["one@example.com", "two@example.com"])] == [451, 451]
    done = server.stop()
    check_server(done)
    assert done.record["agents"]["started"] == 0 and done.record["agents"]["exits"] == {"not started": 2}


# Forms of the log and the record

def test_columns(lmtp_deliver, agents):
    server = lmtp_deliver(agents("status", "0"))
    server.deliver(["one@example.com"])
    header, *rows = server.stop().stdout.splitlines()
    assert header == DELIVER_HEADER
    assert rows and all(len(row.split(",")) == len(header.split(",")) for row in rows)


@pytest.mark.parametrize("form", ["extended", "jsonl"])
def test_other_forms_have_the_same_numbers(lmtp_deliver, agents, form):
    server = lmtp_deliver(agents("status", "%to_user%"), "--log-format", form)
    server.deliver(["0@a.example", "0@b.example", "75@example.com", "67@example.com"])
    done = server.stop()
    if form == "jsonl":
        rows = [json.loads(line) for line in done.stdout.splitlines()]
    else:
        assert done.stdout.startswith(DELIVER_HEADER + ",")
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
    for key, value in (("messages", 2), ("deferred", 1), ("rejected", 1)):
        assert sum(int(row[key]) for row in rows) == value
    assert all("agents_running" in row for row in rows)


def test_warmup_is_left_out_of_totals_but_not_of_intervals(lmtp_deliver, agents):
    server = lmtp_deliver(agents("status", "0"), "--warmup", "2s", "--interval", "200ms")
    assert [answer.code for answer in server.deliver(["one@example.com", "two@example.com"])] == [250] * 2
    wait_until(lambda: server.process.stdout.count("\n") > 11, "the end of the warm-up")
    assert [answer.code for answer in server.deliver(["three@example.com"])] == [250]
    record = server.stop().record
    assert record["totals"]["messages"] == 1 and record["totals_with_warmup"]["messages"] == 3
    assert sum(interval["messages"] for interval in record["intervals"]) == 3
    assert sum(interval["messages"] for interval in record["intervals"] if not interval["warmup"]) == 1
    assert record["agents"]["started"] == 1


def test_the_summary_adds_up(lmtp_deliver, agents, programs):
    server = lmtp_deliver(agents("any", "%to_user%"))
    server.deliver([f"{kind}@host{number}.example.com" for number, kind in enumerate(KINDS)])
    summary = server.stop().stderr
    assert re.search(r"outcomes +6 accepted, 2 rejected, 2 deferred, 0 failed, 0 in doubt of 10 started", summary), summary
    assert re.search(r"agents +10 started", summary), summary


def test_a_report_can_be_made_of_the_record(lmtp_deliver, agents, programs):
    server = lmtp_deliver(agents("any", "%to_user%"))
    server.deliver([f"{kind}@host{number}.example.com" for number, kind in enumerate(KINDS)])
    server.stop()
    done = run([programs.postal_report, server.record_path])
    assert done.status == 0 and "lmtp-deliver" in done.stdout


@pytest.mark.parametrize("leaving", ["stays", "resets", "closes", "shuts", "shuts behind QUIT"])
def test_a_reply_that_is_not_heard(lmtp_deliver, agents, leaving):
    """A client that has gone before the reply will send the message again; who has said QUIT only says no more. (Of one that has
    closed behind QUIT the reset that answers our reply may take the QUIT away before it is read.)"""
    with agents.gate() as gate:
        journal = agents.journal()
        server = lmtp_deliver(agents("journal", journal, "%to_user%", gate))
        client = server.connect()
        client.start_delivery(["one@0"])
        journal.wait_for(started=1)
        if "QUIT" in leaving:
            client.write(b"QUIT\r\n")
        if leaving.startswith("closes"):
            client.close()
        elif leaving.startswith("shuts"):
            client.socket.shutdown(socket.SHUT_WR)
        elif leaving == "resets":
            client.reset()
        gate.open()
        journal.wait_for(ended=1)
        if leaving == "stays":
            assert client.replies(1) == [250]
            client.quit()
        if leaving == "shuts behind QUIT":
            assert client.rest() == [250, 221]
    done = server.stop()
    assert done.total("messages") == 1, "delivered it is"
    assert done.total("unheard") == (1 if leaving in ("closes", "resets", "shuts") else 0)
    assert done.total("started") == sum(done.total(name) for name in OUTCOMES)
