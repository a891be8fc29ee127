# SPDX-License-Identifier: GPL-3.0-or-later
"""postal against servers that misbehave: every step of the dialogue times every kind of misbehaviour.

Half of the connections meet the fault, the other half are served well. Wanted of every run: it ends by
itself, the fault stands in the record under its own stage and reason, each started message has exactly one
outcome, memory is bounded, and the other sessions went on. The fault of the server is found again as what
RFC 5321 makes of it: a connection lost after the data and before the reply leaves the message in doubt.

Each step and fault is met once by a program, in one of the ways to send; tests/unit/postal plays all of them.
"""
import asyncio
import contextlib
import itertools
import socket
import time

import pytest

from support.hostile import STEPS, Hostile, Over, Session
from support.process import dead_socket, free_port, wait_until
from support.watched import Sending, memory_limit

MODES = {
    "plain": ("--pipelining", "off"),
    "pipelined": ("--pipelining", "auto"),
    "overlapping": ("--pipelining", "overlap"),
    "lmtp": ("-L", "--pipelining", "off"),
    "lmtp-overlapping": ("-L", "--pipelining", "overlap"),
    "chunked": ("--chunking", "auto", "--in-flight", "4"),
}
CAPABILITIES = (b"PIPELINING", b"ENHANCEDSTATUSCODES", b"8BITMIME", b"SIZE 104857600")

LOST = {"silence": {"timeout"}, "half_line": {"timeout"}, "close": {"closed", "reset"}, "reset": {"closed", "reset"}}
NOT_A_REPLY = ("garbage", "long_line", "code_999", "code_000", "mixed_codes", "wrong_class")
SHORT = ("--timeout", "400ms", "--grace", "2s", "--workers", "1", "-t", "4", "-c", "5", "-m", "1", "-M", "1")


def hostile_server(step, fault, mode, **more):
    capabilities = CAPABILITIES + ((b"CHUNKING",) if mode == "chunked" else ())
    return Hostile(step, fault, lmtp=mode.startswith("lmtp"), capabilities=capabilities, **more)


@pytest.fixture
def start(programs, folder, users_file):
    """start(ENDPOINT, option, ...) starts postal with short timeouts."""
    hundred, started = users_file(100), []

    def begin(endpoint, *words, users=hundred):
        started.append(Sending(programs.postal, folder, *SHORT, *words, endpoint, users, name=f"sending-{len(started)}"))
        return started[-1]
    yield begin
    for one in started:
        one.__exit__()


@pytest.fixture
def send(start):
    """send(SERVER, option, ...) is one run to its end; checks what holds whatever the fault was."""
    def run_to_end(server, *words, status=0, timeout=30, **more):
        run = start(server if isinstance(server, str) else server.endpoint, *words, **more).wait(timeout)
        assert run.status == status, (run.stderr, run.record and run.record["errors"])
        assert run.peak_rss < memory_limit(run.argv[0])
        assert run.total("errors") == sum(error["count"] for error in run.record["errors"])
        if isinstance(server, Hostile):
            check_server_count(run, server)
        return run
    return run_to_end


def check_server_count(run, server):
    assert run.total("messages") <= server.count.accepted + server.count.unclear
    assert server.count.accepted <= run.total("messages") + run.total("in_doubt")


def errors_at(run, *stages):
    return [error for error in run.record["errors"] if error["stage"] in stages]


def reasons(errors):
    return {error["reason"] for error in errors if error["code"] == 0}


def lost(run, mode):
    """Messages that the connection took with it. A chunk goes out with its envelope, so that what broke at
    MAIL may have been read to its end all the same."""
    return run.total("failed") + (run.total("in_doubt") if mode == "chunked" else 0)


def cases(faults, steps=STEPS, modes=MODES):
    """Each step with each fault; the modes that have the step take turns."""
    turns = itertools.cycle(modes)
    for step in steps:
        if step == "transfer":
            continue
        for fault in faults:
            mode = next(mode for mode in turns if (mode, step) != ("chunked", "data"))
            yield pytest.param(mode, step, fault, id=f"{mode}-{step}-{fault}")


def run_half_faulty(send, mode, step, fault, *words):
    with hostile_server(step, fault, mode, every=2) as server:
        run = send(server, *MODES[mode], "--messages", "30", "--duration", "5s", *words)
    assert server.count.faults > 0
    assert run.total("messages") > 0, "the other sessions went on"
    return run


@pytest.mark.thinned(3)
@pytest.mark.parametrize("mode,step,fault", cases(LOST))
def test_lost_connection(send, mode, step, fault):
    run = run_half_faulty(send, mode, step, fault)
    errors = errors_at(run, step)
    assert reasons(errors) & LOST[fault], run.record["errors"]
    if step == "end":
        assert run.total("in_doubt") > 0
    elif step in ("mail", "rcpt", "data"):
        assert lost(run, mode) > 0


@pytest.mark.parametrize("mode,step,fault", cases(["drip"], [step for step in STEPS if step != "quit"]))
def test_a_reply_that_drips_is_waited_for_as_long_as_silence(send, mode, step, fault):
    run = run_half_faulty(send, mode, step, fault)
    assert "timeout" in reasons(errors_at(run, step)), run.record["errors"]


@pytest.mark.thinned(5)
@pytest.mark.parametrize("mode,step,fault", cases(NOT_A_REPLY))
def test_not_a_reply(send, mode, step, fault):
    run = run_half_faulty(send, mode, step, fault)
    if step == "quit" and fault == "wrong_class":
        return  # a reply to QUIT that is no 221 changes nothing: RFC 5321 4.1.1.10
    errors = errors_at(run, step)
    assert errors, run.record["errors"]
    assert all(error["code"] or error["reason"] for error in errors)
    if step == "end":
        assert run.total("in_doubt") > 0, "nobody can tell what such an answer to the data means"
    elif step in ("mail", "rcpt", "data"):
        assert lost(run, mode) + run.total("deferred") > 0


@pytest.mark.parametrize("mode,step,fault", cases(["shutting_down"]))
def test_shutting_down(send, mode, step, fault):
    run = run_half_faulty(send, mode, step, fault)
    if step == "quit":
        return
    assert 421 in {error["code"] for error in errors_at(run, step)}, run.record["errors"]
    if step in ("mail", "rcpt", "data", "end"):
        assert run.total("deferred") > 0
    assert mode == "chunked" or run.total("in_doubt") == 0


@pytest.mark.parametrize("mode,step,fault", cases(["split"]))
def test_replies_split_at_every_byte(send, mode, step, fault):
    run = run_half_faulty(send, mode, step, fault, "--timeout", "10s", "--duration", "20s")
    assert run.record["errors"] == []
    assert run.total("messages") == 30


@pytest.mark.parametrize("mode,step,fault", cases(["many_lines"]))
def test_reply_of_ten_thousand_lines(send, mode, step, fault):
    """Taken or refused, but bounded, and under its own stage."""
    run = run_half_faulty(send, mode, step, fault)
    assert all(error["stage"] == step for error in run.record["errors"]), run.record["errors"]


# Where a reply that is sent before it is due, or once too often, shows. Without pipelining: before the
# next command goes out. With it, the commands are under way already, so that a reply too many answers
# the next command, and the first one whose class does not fit gives it away.
NEXT = ["banner", "ehlo", "mail", "rcpt", "data", "end"]
PLAIN = [mode for mode in MODES if mode in ("plain", "lmtp")]


@pytest.mark.parametrize("mode,step,fault", cases(["early"], ["ehlo", "mail", "rcpt", "data", "end"], PLAIN))
def test_reply_before_it_is_due(send, mode, step, fault):
    run = run_half_faulty(send, mode, step, fault)
    allowed = [NEXT[NEXT.index(step) - 1], step]
    assert errors_at(run, *allowed), run.record["errors"]


@pytest.mark.parametrize("mode,step,fault", cases(["extra"], ["banner", "ehlo", "mail", "rcpt", "data"], PLAIN))
def test_one_reply_too_many(send, mode, step, fault):
    run = run_half_faulty(send, mode, step, fault)
    allowed = [step, NEXT[NEXT.index(step) + 1]]
    assert errors_at(run, *allowed), run.record["errors"]


@pytest.mark.parametrize("mode,step,fault", cases(["extra"], ["banner", "ehlo", "mail", "rcpt", "data", "end"],
                                                  ["overlapping", "lmtp-overlapping", "chunked"]))
def test_one_reply_too_many_under_pipelining(send, mode, step, fault):
    run = run_half_faulty(send, mode, step, fault)
    # After the last message of a connection it is the answer to QUIT that is out of order. With chunks all
    # replies have one class, so that the surplus one shows only if it comes when nothing is awaited.
    assert run.record["errors"] or step == "end" or mode == "chunked"


@pytest.mark.parametrize("mode,fault", zip(MODES, ["deaf", "close", "reset", "shutting_down", "deaf", "close"]))
def test_fault_while_the_message_is_sent(send, mode, fault):
    with hostile_server("transfer", fault, mode, every=2) as server:
        run = send(server, *MODES[mode], "--timeout", "20s", "--data-timeout", "2s",
                   "-m", "8192", "-M", "8192", "-c", "1", "--messages", "4", "--duration", "12s", "--grace", "10s", timeout=60)
    # A 421 that comes while the message is sent is the answer to it.
    errors = errors_at(run, "data", "end") if fault == "shutting_down" else errors_at(run, "data")
    assert errors, run.record["errors"]
    if fault == "deaf":
        assert reasons(errors) == {"timeout"}
    if fault == "shutting_down":
        assert all(error["code"] == 421 or error["reason"] in LOST["reset"] for error in errors)
    assert sum(error["count"] for error in errors) == run.total("errors")
    assert run.total("failed") + run.total("deferred") > 0
    assert run.total("in_doubt") == 0, "the data was never complete"
    assert run.total("messages") > 0


def test_slow_banner_is_waited_for(send):
    with hostile_server("banner", "late", "plain", late_seconds=3.0) as server:
        run = send(server, "-t", "1", "-c", "-1", "--messages", "5", "--greeting-timeout", "20s")
    assert run.total("messages") == 5 and run.total("errors") == 0
    # Less than the server waits by what the client takes to notice that it is connected.
    assert run.record["latency_us"]["banner"]["max"] >= 2e6


def test_slow_banner_is_given_up(send):
    with hostile_server("banner", "late", "plain", every=2) as server:
        run = send(server, "--messages", "20", "--greeting-timeout", "300ms", "--timeout", "5s")
    assert reasons(errors_at(run, "banner")) == {"timeout"}
    assert run.total("messages") == 20


def test_each_timeout_has_its_option(send):
    """The long default must not be what ends the run."""
    options = {"banner": "--greeting-timeout", "mail": "--command-timeout", "transfer": "--data-timeout", "end": "--final-timeout"}
    for step, option in options.items():
        fault, size = ("deaf", "8192") if step == "transfer" else ("silence", "1")
        with hostile_server(step, fault, "plain") as server:
            run = send(server, "--timeout", "60s", option, "200ms", "-m", size, "-M", size,
                       "-t", "1", "--duration", "1s", "--grace", "10s", status=4)
        assert run.seconds < 9, step
        assert reasons(errors_at(run, "data" if step == "transfer" else step)) == {"timeout"}


class SlowReader(Session):
    """Reads the message for `seconds`, far from as fast as the client sends it, and answers one second behind its last octet."""
    seconds, late = 3.0, 1.0

    async def read_lines(self):
        line = self.writer.get_extra_info("socket")
        begin, octets, tail = time.monotonic(), 0, b""
        while tail != b"\r\n.\r\n":
            text = await self.reader.read(65536)
            if not text:
                raise Over
            octets, tail = octets + len(text), (tail + text)[-5:]
            await asyncio.sleep(max(0, begin + self.seconds * octets / SLOW_SIZE - time.monotonic()))
        assert line.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) < SLOW_SIZE // 8
        await asyncio.sleep(self.late)


SLOW_SIZE = 4 << 20


def test_time_for_the_reply_begins_behind_the_last_octet(send):
    """Most of such a message lies in the client's own socket when it has been written."""
    with Hostile(session=SlowReader, receive_buffer=65536) as server:
        run = send(server, "-t", "1", "-m", "4096", "-M", "4096", "--messages", "1", "--timeout", "20s", "--final-timeout", "2s",
                   "--duration", "20s")
    assert run.total("messages") == 1 and run.record["errors"] == []


class Forgetful(Session):
    """Loses what it has read behind a message when it answers that."""
    async def reply(self, step, text):
        if step == "end":
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self.reader.read(65536), 0.1)
        await super().reply(step, text)


def test_what_was_sent_behind_the_final_dot_is_lost(send):
    words = ("--timeout", "1s", "-t", "1", "-c", "-1", "--messages", "4", "--duration", "20s")
    with Hostile(session=Forgetful) as server:
        run = send(server, "--pipelining", "overlap", *words)
    [error] = run.record["errors"]
    assert (error["stage"], error["reason"]) == ("mail", "timeout")
    assert "lost" in error["sample"] and "--pipelining auto" in error["sample"]
    with Hostile(session=Forgetful) as server:
        run = send(server, *words)
    assert run.record["errors"] == [] and run.total("messages") == 4


@pytest.mark.parametrize("offered, words, reason", [(b"8BITMIME", (), "no_smtputf8"), (b"SMTPUTF8", ("--body", "ascii=50,8bit=50"), "no_8bitmime")])
@pytest.mark.parametrize("pipelining", [(), (b"PIPELINING",)], ids=["plain", "pipelined"])
def test_messages_that_the_server_does_not_take_are_left_out(send, users_file, offered, words, reason, pipelining):
    """Alone: the others go on, and the run comes to its end."""
    users = users_file(["jörg@example.com", *(f"user{number}@example.com" for number in range(3))])
    if reason == "no_8bitmime":
        users = users_file(4)
    lines = []
    with Hostile(capabilities=(offered, *pipelining), heard=lines.append) as server:
        run = send(server, *words, "--messages", "40", "--duration", "20s", users=users)
    assert run.total("messages") == server.count.accepted > 0
    assert run.total("started") == 40 == run.total("messages") + run.total("failed")
    assert [(error["stage"], error["reason"], error["count"]) for error in run.record["errors"]] == [("mail", reason, run.total("failed"))]
    assert all(line.isascii() for line in lines)


@pytest.mark.parametrize("pipelining", [(), (b"PIPELINING",)], ids=["plain", "pipelined"])
def test_messages_of_which_the_server_takes_none(send, pipelining):
    """Each costs a round trip, so that a run without an end does not make them as fast as it can."""
    with Hostile(capabilities=(b"SIZE 1000", *pipelining)) as server:
        run = send(server, "--body", "8bit", "-c", "-1", "--duration", "1s", status=4)
    assert run.total("failed") == run.total("errors") > 0
    assert server.count.started == 0 and run.seconds < 10


class ClosesForOne(Session):
    """LMTP: 421 for the first recipient of a message, and 250 for the others."""
    async def answer(self):
        await self.send(b"421 4.3.2 closing after this\r\n" + b"250 2.0.0 taken\r\n" * (self.recipients - 1))
        self.server.count.accepted += self.recipients - 1
        raise Over


def test_lmtp_replies_behind_421_are_read(send):
    with Hostile(session=ClosesForOne, lmtp=True) as server:
        run = send(server, "-L", "--recipients", "3", "--messages", "30", "--duration", "20s")
    assert (run.total("messages"), run.total("deferred"), run.total("in_doubt")) == (20, 10, 0)
    assert {error["code"] for error in run.record["errors"]} == {421}


# Nothing ever works: exit status 4, and no tight loop.

@pytest.mark.thinned(5)
@pytest.mark.parametrize("fault", ["close", "reset", "garbage", "wrong_class", "shutting_down", "long_line"])
@pytest.mark.parametrize("step", ["banner", "ehlo", "mail", "data", "end"])
def test_nothing_delivered(send, step, fault):
    with hostile_server(step, fault, "plain") as server:
        run = send(server, "-t", "2", "--duration", "1s", status=4)
    assert run.total("messages") == 0
    assert errors_at(run, step)
    # Two sessions that wait 100 ms, and longer each time, before they try again.
    assert 2 <= server.count.connections <= 2 * (run.seconds / 0.05 + 1)
    assert len(run.stderr.splitlines()) < 60, "equal errors are not printed one by one"


def test_sessions_do_not_come_back_all_at_once(send):
    """No more than --connect-rate a second, where each session for itself would try five times in two seconds."""
    with hostile_server("banner", "close", "plain") as server:
        run = send(server, "-t", "60", "--connect-rate", "20/s", "--duration", "2s", status=4)
    assert server.count.connections <= 60 + 20 * (run.seconds + 0.5)


def test_refused(send):
    run = send(f"127.0.0.1:{free_port()}", "--duration", "1s", status=4)
    assert reasons(errors_at(run, "connect")) == {"refused"}
    assert 4 <= run.total("errors") <= 4 * (run.seconds / 0.05 + 1)
    assert run.total("started") == 0


def test_unix_socket_without_a_server(send, folder):
    run = send(dead_socket(folder / "nothing"), "--duration", "2s", status=4)
    assert errors_at(run, "connect") and run.total("started") == 0


@pytest.mark.parametrize("plus", ["", "+"])
def test_name_that_does_not_resolve(start, plus):
    """Said at once: there is nothing to wait for."""
    run = start(f"{plus}no-such-host.invalid", "--duration", "10s").wait()
    assert run.status == 1 and run.seconds < 8
    assert run.stderr.count("\n") == 1 and "no-such-host.invalid" in run.stderr


def test_accept_queue_is_full(send):
    """The kernel drops the SYN: nothing answers at all."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            filler = stack.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        endpoint = f"127.0.0.1:{listener.getsockname()[1]}"
        run = send(endpoint, "--connect-timeout", "300ms", "--duration", "2s", status=4)
    assert "timeout" in reasons(errors_at(run, "connect", "banner"))


def test_one_of_two_servers_is_down(send):
    with hostile_server(None, None, "plain") as server:
        run = send(f"127.0.0.1:{free_port()},{server.endpoint}", "--duration", "2s")
    check_server_count(run, server)  # on a busy machine a reply may come behind the timeout: that message is in doubt
    assert run.total("messages") > 0
    assert reasons(errors_at(run, "connect")) == {"refused"}


def test_messages_of_a_server_that_is_down_go_to_the_other(send):
    with hostile_server(None, None, "plain") as server:
        run = send(f"127.0.0.1:{free_port()},{server.endpoint}", "--messages", "300", "-c", "1", "--duration", "30s")
    check_server_count(run, server)
    assert run.total("messages") + run.total("in_doubt") == run.total("started") == 300
    assert run.record["duration_s"] < 20


def test_server_dies_for_good_in_the_middle(start):
    with hostile_server(None, None, "plain") as server:
        sending = start(server.endpoint, "--duration", "2s", "-c", "-1")
        wait_until(lambda: server.count.accepted > 20, "the first messages")
    run = sending.wait(30)
    assert run.status == 0 and run.total("messages") > 0
    assert "refused" in reasons(errors_at(run, "connect"))
    check_server_count(run, server)


@pytest.mark.parametrize("step,fault", [("banner", "silence"), ("rcpt", "close"), ("end", "reset"), ("mail", "shutting_down")])
def test_open_loop(send, step, fault):
    """The schedule goes on past the faults, and what it started is in the books."""
    with hostile_server(step, fault, "plain", every=3) as server:
        run = send(server, "--open-loop", "--rate", "200/s", "-t", "20", "--duration", "1s")
    assert errors_at(run, step)
    assert run.total("messages") > 0


@pytest.mark.parametrize("fault", ["close", "garbage", "shutting_down"])
def test_lmtp_with_several_recipients(send, fault):
    """The first recipient's reply is the faulty one; each recipient has one outcome all the same."""
    with hostile_server("end", fault, "lmtp", every=2) as server:
        run = send(server, "-L", "--recipients", "3", "--messages", "30", "--duration", "5s")
    lost = run.total("in_doubt") + run.total("deferred")
    assert lost > 0 and lost % 3 == 0, "a lost reply leaves every recipient open that had none"


class Tardy(Session):
    """Answers a message when its client has gone: it is accepted, and nobody hears of it."""
    async def answer(self):
        if not self.due("end"):
            return await super().answer()
        self.mark()
        self.server.count.accepted += 1
        while await self.reader.read(65536):
            pass
        with contextlib.suppress(OSError):
            await self.send(b"250 2.0.0 taken\r\n")
        raise Over


@pytest.mark.parametrize("mode", ["plain", "pipelined"])
def test_a_reply_behind_the_timeout_leaves_its_message_in_doubt(send, mode):
    """The server has it, postal cannot know: both books together are the server's."""
    with hostile_server("end", "late", mode, every=2, session=Tardy) as server:
        run = send(server, *MODES[mode], "-t", "2", "-c", "3", "--messages", "30", "--timeout", "20s", "--final-timeout", "300ms",
                   "--duration", "60s", timeout=90)
        wait_until(lambda: server.count.accepted >= run.total("messages") + run.total("in_doubt"), "the server to have read it all")
    assert run.total("started") == 30 and server.count.faults > 0
    assert run.total("in_doubt") >= server.count.faults
    assert run.total("messages") + run.total("in_doubt") == server.count.accepted
    assert reasons(errors_at(run, "end")) == {"timeout"}


class Stingy(Session):
    """Of an LMTP message's recipients it answers as many as it has replies, and closes."""
    replies = ()

    async def answer(self):
        for one in self.replies:
            await self.send(one)
        self.server.count.unclear += self.recipients
        raise Over


@pytest.mark.parametrize("replies, answered, deferred", [
    ([b"250 2.0.0 one\r\n"], 1, 0),
    ([b"250 2.0.0 one\r\n", b"250 2.0.0 two\r\n"], 2, 0),
    ([b"250 2.0.0 one\r\n", b"421 4.3.2 closing\r\n"], 2, 1),  # amid the replies it is one recipient's
    ([b"421 4.3.2 closing\r\n"], 1, 1)])
def test_lmtp_with_fewer_replies_than_recipients_says_so(send, replies, answered, deferred):
    session = type("StingySession", (Stingy,), {"replies": replies})
    with hostile_server(None, None, "lmtp", session=session) as server:
        run = send(server, "-L", "-t", "1", "-c", "1", "--recipients", "3", "--messages", "3", "--timeout", "20s",
                   status=4 if answered == deferred else 0)
    assert (run.total("messages"), run.total("deferred"), run.total("in_doubt")) == (answered - deferred, deferred, 3 - answered)
    [broken] = [error for error in errors_at(run, "end") if error["code"] == 0]
    assert (broken["reason"], broken["sample"]) == ("closed", f"{answered} of 3 recipients answered")
