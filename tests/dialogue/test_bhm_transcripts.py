# SPDX-License-Identifier: GPL-3.0-or-later
"""Transcripts of `->` and `<-` lines, said to bhm over sockets, with the client leaving after every line.

A transcript is played in whole, first line by line, then all at once. Then it is cut after each of its
client lines: that client leaves, with FIN or RST, and the next one must be served as if nothing had been.
"""
import re

import pytest

from support.dialogue import Client
from support.process import wait_until
from support.watched import open_descriptors

GREETING = """
<- 220
-> EHLO client.example
<- 250
"""

TRANSCRIPTS = {
    "one message": (1, GREETING + """
-> MAIL FROM:<a@example.com>
<- 250 2.1.0
-> RCPT TO:<b@example.com>
<- 250 2.1.5
-> DATA
<- 354
-> Subject: x
->
-> ..dot
-> .
<- 250 2.0.0
-> QUIT
<- 221 2.0.0
"""),
    "chunks": (1, GREETING + """
-> MAIL FROM:<a@example.com> BODY=8BITMIME
<- 250 2.1.0
-> RCPT TO:<b@example.com>
<- 250 2.1.5
-> BDAT 3
-> x
<- 250 2.0.0
-> BDAT 0 LAST
<- 250 2.0.0
-> QUIT
<- 221 2.0.0
"""),
    "order": (0, GREETING + """
-> DATA
<- 503 5.5.1
-> MAIL FROM:<a@example.com>
<- 250 2.1.0
-> DATA
<- 503 5.5.1
-> RSET
<- 250 2.0.0
-> QUIT
<- 221 2.0.0
"""),
}

LMTP = """
<- 220
-> LHLO client.example
<- 250
-> MAIL FROM:<>
<- 250 2.1.0
-> RCPT TO:<one@example.com>
<- 250 2.1.5
-> RCPT TO:<two@example.com>
<- 250 2.1.5
-> DATA
<- 354
-> x
-> .
<- 250 2.0.0
<- 250 2.0.0
-> QUIT
<- 221 2.0.0
"""


def steps(transcript):
    for line in transcript.splitlines():
        if line:
            yield line[:2], line[3:]


def hear(client, wanted):
    code, text = client.reply()
    assert re.match(rf"{wanted[:3]}[ -]{re.escape(wanted[4:])}".encode(), text), (wanted, text)


def play(client, transcript, stop_after=None):
    """Line by line; stops after that many client lines."""
    said = 0
    for arrow, text in steps(transcript):
        if arrow == "<-":
            hear(client, text)
            continue
        if said == stop_after:
            return
        client.write(text.encode() + b"\r\n")
        said += 1


def play_at_once(client, transcript):
    client.write(b"".join(text.encode() + b"\r\n" for arrow, text in steps(transcript) if arrow == "->"))
    for arrow, text in steps(transcript):
        if arrow == "<-":
            hear(client, text)


def client_lines(transcript):
    return sum(arrow == "->" for arrow, _ in steps(transcript))


def replay(hole, transcript, messages):
    """Plays it whole twice and then cut everywhere; `messages` is what one play delivers."""
    played = 0
    for how in (play, play_at_once):
        with Client(("127.0.0.1", hole.port)) as client:
            how(client, transcript)
            assert client.line() == b"", "closed after QUIT"
        played += 1
    idle = open_descriptors(hole.process.pid)
    last_word = client_lines(transcript) - 1
    for leave in ("close", "reset"):
        for cut in range(last_word):
            client = Client(("127.0.0.1", hole.port))
            play(client, transcript, stop_after=cut)
            getattr(client, leave)()
        with Client(("127.0.0.1", hole.port)) as client:
            play(client, transcript)
        played += 1
    wait_until(lambda: open_descriptors(hole.process.pid) <= idle, "bhm to close what its clients left")
    return played * messages, last_word


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_smtp(bhm, name):
    messages, transcript = TRANSCRIPTS[name]
    hole = bhm("--workers", "1")
    least, cuts = replay(hole, transcript, messages)
    totals = hole.stop().record["totals"]
    # A client that left right behind the message may still have delivered it.
    assert least <= totals["messages"] <= least + 2 * messages
    assert totals["connections"] == 4 + 2 * cuts
    assert totals["started"] == sum(totals[key] for key in ("messages", "rejected", "deferred", "failed", "in_doubt"))


def test_lmtp(bhm):
    hole = bhm("--workers", "1", "--lmtp")
    least, _ = replay(hole, LMTP, 2)
    totals = hole.stop().record["totals"]
    assert least <= totals["messages"] <= least + 4
    assert totals["started"] == sum(totals[key] for key in ("messages", "rejected", "deferred", "failed", "in_doubt"))


def test_replies_that_are_held_back_come_in_order_and_one_by_one(bhm):
    hole = bhm("--delay", "rcpt=30ms", "--delay", "end=30ms", "--workers", "1")
    with Client(("127.0.0.1", hole.port)) as client:
        play_at_once(client, TRANSCRIPTS["one message"][1])
    assert hole.stop().record["totals"]["messages"] == 1


def test_a_stop_lets_a_transaction_end(bhm):
    hole = bhm("--workers", "1")
    idle, busy = Client(("127.0.0.1", hole.port)), Client(("127.0.0.1", hole.port))
    idle.expect(220)
    busy.envelope()
    busy.say("DATA", 354)
    hole.process.signal(15)
    idle.expect(421)
    assert idle.line() == b""
    busy.say("Subject: last\r\n\r\nwords\r\n.", 250)
    busy.expect(421)
    assert hole.process.wait() == 0
    assert hole.stop().record["totals"]["messages"] == 1


@pytest.mark.parametrize("number", [2, 15])
def test_signals_end_it_at_once_when_nobody_is_inside(bhm, number):
    hole = bhm()
    hole.process.signal(number)
    assert hole.process.wait(5) == 0
    assert hole.stop().record["totals"]["messages"] == 0


def test_a_second_signal_does_not_wait_for_anybody(bhm):
    hole = bhm("--workers", "1", "--grace", "10m")
    with Client(("127.0.0.1", hole.port)) as client:
        client.envelope()
        client.say("DATA", 354)
        hole.process.signal(15)
        wait_until(lambda: refuses(hole), "bhm to stop listening")
        hole.process.signal(15)
        assert hole.process.wait(10) == 0
    assert hole.stop().record["totals"]["failed"] == 1


def refuses(hole):
    try:
        Client(("127.0.0.1", hole.port)).close()
    except OSError:
        return True
    return False


@pytest.mark.parametrize("options, wanted, unwanted", [
    (("-z",), "-> 250", "secret"),
    (("-Z",), "-> 250", "secret"),
    (("-a", "-z"), "secret", "octets of message"),
])
def test_transcripts(bhm, folder, options, wanted, unwanted):
    base = folder / "log"
    hole = bhm("--workers", "1", *options, base)
    for _ in range(2):
        with Client(("127.0.0.1", hole.port)) as client:
            client.envelope()
            client.say("DATA", 354)
            client.say("Subject: secret\r\n\r\nbody\r\n.", 250)
            client.quit()
    run = hole.stop()
    assert run.record["transcript"] is True
    sessions = [path for path in folder.glob("log:*") if path.name.count(":") == 1]
    text = "".join(path.read_text() for path in sessions)
    assert wanted in text and unwanted not in text
    assert text.count("<- QUIT") == 2
    connections = [path for path in folder.glob("log:*") if path.name.count(":") == 2]
    assert len(connections) == (2 if "-Z" in options else 0)
    for path in connections:
        assert path.read_text().count("<- QUIT") == 1
