# SPDX-License-Identifier: GPL-3.0-or-later
"""The log: what is in it, and that no delivery depends on anybody who reads it."""
import fcntl
import os
import re
import signal
import subprocess

import pytest

from support.deliver import LmtpClient
from support.process import alive, answers, kill_agents, wait_until

SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ, fcntl(2)


class Quiet:
    """A server whose standard error is a pipe of one page, the other end of which the test holds."""

    def __init__(self, program, folder, agent, *options):
        self.place = folder / "socket"
        self.reader, writer = os.pipe()
        fcntl.fcntl(writer, SET_PIPE_SIZE, 4096)
        self.child = subprocess.Popen([program, "--agent", agent, "--allow-root-agent", "--listen", f"unix:{self.place}", "--record", folder / "record.json", *options],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=writer, start_new_session=True)
        os.close(writer)
        wait_until(lambda: answers(self.place) or self.child.poll() is not None, "the server to start")

    def deliver(self, recipients):
        with LmtpClient(str(self.place), timeout=10) as client:
            client.greet()
            return [answer.code for answer in client.deliver(recipients)]

    def close_reader(self):
        if self.reader is not None:
            os.close(self.reader)
            self.reader = None

    def close(self):
        self.child.kill()
        self.child.wait()
        kill_agents(self.child.pid)
        self.close_reader()


@pytest.fixture
def quiet(programs, folder):
    started = []

    def start(agent, *options):
        started.append(Quiet(programs.lmtp_deliver, folder, agent, *options))
        return started[-1]
    yield start
    for one in started:
        one.close()


# Each reply is another one, so that each is logged; each interval has its errors.
RECIPIENTS = [f"{number}@example.com" for number in range(100, 140)]


@pytest.mark.parametrize("interval", ["100ms", "1m"])
@pytest.mark.parametrize("agent", ["noisy lines", "status"])
def test_a_log_that_nobody_reads_holds_up_no_delivery(quiet, agents, agent, interval):
    """A terminal that was stopped, a pager, a journal that hangs."""
    server = quiet(agents(agent, "%to_user%"), "--interval", interval)
    for _ in range(5 if agent == "status" else 1):
        for recipient in RECIPIENTS[:40 if agent == "status" else 8]:
            assert server.deliver([recipient, "0@example.com"]) == [554, 250]


@pytest.mark.parametrize("interval", ["100ms", "1m"])
def test_a_server_whose_log_nobody_reads_ends_at_a_signal(quiet, agents, interval):
    """The grace is for agents, and the record does not wait for a reader."""
    server = quiet(agents("says", "word " * 1000 + "\\n", "%to_user%"), "--interval", interval, "--grace", "1s")
    assert server.deliver(RECIPIENTS) == [554] * 40
    server.child.send_signal(signal.SIGTERM)
    server.child.wait(15)


@pytest.mark.parametrize("interval", ["100ms", "1m"])
def test_a_log_whose_reader_is_gone_is_no_reason_to_stop_delivering(quiet, agents, interval):
    """`lmtp-deliver … 2>&1 | head`; SIGPIPE and EPIPE."""
    server = quiet(agents("says", "words\\n", "%to_user%"), "--interval", interval)
    server.close_reader()
    for recipient in RECIPIENTS:
        assert server.deliver([recipient, "0@example.com"]) == [554, 250]
    assert alive(server.child.pid)
    server.child.send_signal(signal.SIGTERM)
    assert server.child.wait(15) in (0, 2), "an ordinary end"


def test_lines_of_the_log(lmtp_deliver, agents):
    server = lmtp_deliver(agents("says", "first line\\nsecond \\001 line\\n", "%to_user%"))
    server.deliver(["67@example.com", "0@example.com"])
    log = server.stop().stderr
    found = re.search(r"(?m)^lmtp-deliver: (\S+): to=<67@example\.com>: 550 5\.1\.1 Agent ended with status 67 \(user unknown\): first line\n"
                      r"    first line\n    second \S+ line\n", log)
    assert found, log
    assert re.search(rf"(?m)^lmtp-deliver: {re.escape(found[1])}: to=<0@example\.com>: 250 2\.1\.5 Delivered: first line$", log), "the same id"


def test_an_agent_that_says_nothing_and_delivers_is_not_in_the_log(lmtp_deliver, agents):
    server = lmtp_deliver(agents("status", "0"))
    server.deliver(["somebody@example.com"])
    assert "somebody@example.com" not in server.stop().stderr


def test_equal_replies_are_said_once_an_interval(lmtp_deliver, agents):
    server = lmtp_deliver(agents("says", "words\\n", "67"), "--interval", "1h")
    server.deliver([f"user{number}@example.com" for number in range(100)])
    log = server.stop().stderr
    assert len(re.findall(r"to=<", log)) == 1
    assert "100" in log, "how often is in the summary"
