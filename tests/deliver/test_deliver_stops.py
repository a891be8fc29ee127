# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of a server: what runs is finished, what waits is told to come again, and nobody is told a lie."""
import re
import signal
import subprocess
import time

import pytest

from support.deliver import HANDED_ON, MAIL, LmtpClient
from support.dialogue import Client
from support.postal import read_record
from support.process import alive, answers, wait_until
from support.watched import Sending


@pytest.fixture
def held(lmtp_deliver, agents, journal, gate):
    """held(option, …) starts a server whose agents wait at the gate, two at most, and write their names down."""
    return lambda *options, **more: lmtp_deliver(agents("journal", journal, "%to_user%", gate, "%to_domain%"), "--max-deliveries", "2",
                                                 *options, **more)


def refuses(server):
    try:
        Client(("127.0.0.1", server.port)).close()
    except OSError:
        return True
    return False


def wait_for_stop(server):
    wait_until(lambda: refuses(server), "the server to stop listening")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_runs_is_finished_and_the_rest_is_sent_away(held, journal, gate, number):
    server = held("--grace", "30s")
    idle, fresh, busy, waiting = server.connect(), server.connect(greet=False), server.connect(), server.connect()
    fresh.expect(220)
    busy.start_delivery(["one@0", "two@67", "three@0"])   # the third one waits in the queue
    journal.wait_for(started=2)
    waiting.start_delivery(["four@0", "five@0"])
    server.process.signal(number)
    wait_for_stop(server)
    for client in (idle, fresh):
        client.expect(421)
        assert client.line() == b""
    # whoever waits is told at once, not when the agents that run have ended
    assert [(answer.code, answer.enhanced) for answer in waiting.answers(2)] == [(421, "4.3.2")] * 2
    assert journal.ended == []
    gate.open()
    answers = busy.answers(3)
    assert [answer.code for answer in answers] == [250, 550, 421]
    assert busy.rest() in ([421], [])
    done = server.result()
    assert sorted(journal.started) == ["one", "two"], "no agent was started after the signal"
    assert done.total("messages") == 1 and done.total("rejected") == 1
    assert done.total("started") == 5 and done.total("in_doubt") == 0
    assert done.record["agents"]["exits"] == {"0": 1, "67": 1}
    assert re.search(r"(?m)^[\d:]+,1,", done.stdout), "the running interval is printed"


@pytest.mark.parametrize("step", ["MAIL", "RCPT", "DATA", "half the data", "half a chunk"])
def test_a_message_that_is_not_whole_at_the_signal(held, journal, gate, step):
    """The client may go on, or is sent away at once; in the end it is told 421, and no agent runs."""
    gate.open()
    server = held("--grace", "5s")
    with server.connect() as client:
        steps = {"MAIL": "MAIL FROM:<a@example.com>", "RCPT": "RCPT TO:<one@0>", "DATA": "DATA"}
        rest = [b"MAIL FROM:<a@example.com>\r\n", b"RCPT TO:<one@0>\r\n", b"DATA\r\n", MAIL + b".\r\n"]
        for name, command in steps.items():
            if name == "DATA" and step == "half a chunk":
                client.write(b"BDAT 10 LAST\r\n12345")
                rest = [b"67890"]
                break
            client.say(command, 250, 354)
            rest.pop(0)
            if name == step:
                break
        if step == "half the data":
            client.write(rest[0][:20])
            rest = [rest[0][20:]]
        server.process.signal(signal.SIGTERM)
        wait_for_stop(server)
        codes = []
        try:
            for octets in rest:
                client.write(octets)
                codes.append(client.reply()[0])
                if codes[-1] == 421:
                    break
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert codes[-1] == 421 and all(code in (250, 354) for code in codes[:-1]), codes
        assert client.rest() in ([421], []), "and that was all"
    done = server.result()
    assert journal.started == []
    assert done.total("messages") == 0


@pytest.mark.parametrize("step", ["MAIL", "RCPT", "DATA", "half the data"])
def test_a_client_that_stops_talking_in_the_middle_holds_nobody_up_beyond_the_grace(held, step):
    server = held("--grace", "300ms")
    with server.connect() as client:
        for name, command in {"MAIL": "MAIL FROM:<a@example.com>", "RCPT": "RCPT TO:<one@0>", "DATA": "DATA"}.items():
            client.say(command, 250, 354)
            if name == step:
                break
        if step == "half the data":
            client.write(b"Subject: half\r\n")
        begun = time.monotonic()
        server.process.signal(signal.SIGTERM)
        done = server.result()
        assert time.monotonic() - begun < 8
        assert 250 not in client.rest()
    assert done.total("messages") == 0


def test_nobody_inside(held):
    server = held()
    begun = time.monotonic()
    server.process.signal(signal.SIGTERM)
    done = server.result()
    assert time.monotonic() - begun < 8, "without the grace of 10 s"
    assert done.total("started") == 0


@pytest.mark.parametrize("grace", ["0s", "300ms"])
def test_when_the_grace_is_over_agents_are_left_to_themselves(held, journal, gate, grace):
    """They are not killed: what they deliver then is delivered, but nobody was told, so the client sends it again."""
    server = held("--grace", grace)
    client = server.connect()
    client.start_delivery(["one@0", "two@0", "three@0"])
    journal.wait_for(started=2)
    begun = time.monotonic()
    server.process.signal(signal.SIGTERM)
    done = server.result()
    assert time.monotonic() - begun < 8
    assert client.rest() == [], "neither that it is delivered nor that it is not"
    assert done.total("messages") == 0 and done.total("in_doubt") == 2
    assert {(error["stage"], error["reason"], error["count"]) for error in done.record["errors"]} >= {("end", "stopped", 2)}
    assert journal.ended == []
    gate.open()
    journal.wait_for(ended=2)
    assert sorted(journal.ended) == ["one", "two"]


def test_a_second_signal_ends_it_at_once(held, journal, gate):
    server = held("--grace", "10m")
    client = server.connect()
    client.start_delivery(["one@0", "two@0", "three@0"])
    journal.wait_for(started=2)
    server.process.signal(signal.SIGTERM)
    wait_for_stop(server)
    begun = time.monotonic()
    server.process.signal(signal.SIGTERM)
    done = server.result()
    assert time.monotonic() - begun < 20
    assert client.rest() == [], "neither that it is delivered nor that it is not"
    assert done.total("started") == 3 and done.total("in_doubt") == 2 and done.total("messages") == 0
    gate.open()
    journal.wait_for(ended=2)


@pytest.mark.parametrize("attempt", range(3))
def test_a_second_signal_right_behind_a_line(agents, journal, gate, programs, folder, attempt):
    """What is given up in the last milliseconds is counted too."""
    place, record = folder / "socket", folder / "record.json"
    words = [programs.lmtp_deliver, "--allow-root-agent", "--agent", agents("journal", journal, "%to_user%", gate), "--listen", f"unix:{place}", "--grace", "10m",
             "--interval", "200ms", "--record", record]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True) as child:
        try:
            assert child.stdout.readline().startswith(b"time,")
            wait_until(lambda: answers(place), "the socket")
            with LmtpClient(str(place)) as client:
                client.greet()
                client.start_delivery([f"user{number}@example.com" for number in range(5)])
                journal.wait_for(started=5)
                child.send_signal(signal.SIGTERM)
                wait_until(lambda: not answers(place), "the server to stop listening")
                child.stdout.readline()
                child.stdout.readline()
                child.send_signal(signal.SIGTERM)
                assert child.wait(15) == 0
        finally:
            child.kill()
    totals = read_record(record)["totals"]
    assert (totals["started"], totals["in_doubt"]) == (5, 5)


def test_an_agent_that_prints_after_the_server_is_gone_is_not_killed_by_it(lmtp_deliver, agents, gate, folder):
    """Its output goes nowhere, which is no reason to die of SIGPIPE with the delivery half done."""
    script = agents.folder / "late"
    script.write_text('#!/bin/sh\necho $$ >"$1/pid"; : <"$2"; echo some words; echo others >&2; cat >"$1/late"\n')
    script.chmod(0o755)
    server = lmtp_deliver(f"{script} {folder} {gate}", "--grace", "0s")
    client = server.connect()
    client.start_delivery(["one@example.com"])
    wait_until(lambda: (folder / "pid").exists() and (folder / "pid").read_text().strip(), "the agent to start")
    server.process.kill()
    pid = int((folder / "pid").read_text())
    assert alive(pid), "the agent is in no group of the server's"
    gate.open()
    wait_until(lambda: not alive(pid), "the agent to end")
    assert (folder / "late").read_bytes() == HANDED_ON, "the whole message, although the server is gone"


def test_the_record_is_complete_after_a_stop_under_load(lmtp_deliver, agents, journal, programs, folder, users_file):
    server = lmtp_deliver(agents("journal without a gate", journal, "%to_user%"))
    with Sending(programs.postal, folder, "-L", "-t", "12", "-c", "-1", "-m", "2", server.endpoint, users_file(20)) as sending:
        journal.wait_for(ended=200)
        done = server.stop()
        sending.signal(signal.SIGINT)
        sent = sending.wait()
    assert done.total("messages") == len(journal.ended) == len(journal.started)
    assert sent.total("messages") <= done.total("messages") <= sent.total("messages") + sent.total("in_doubt")
    assert sum(interval["messages"] for interval in done.record["intervals"]) == done.total("messages")
