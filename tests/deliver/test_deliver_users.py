# SPDX-License-Identifier: GPL-3.0-or-later
"""Who agents run as, and what a user whom they run as can do to others: never root unasked, and nothing to the rest."""
import os
import signal
import subprocess
import sys
import time

import pytest

from support.deliver import name_of
from support.nss import Database
from support.postal import run
from support.process import alive, wait_until

# Sends SIGSTOP to all that is its user's, again and again.
PEST = """\
import os, signal
print("here", flush=True)
while True:
    try:
        os.kill(-1, signal.SIGSTOP)
    except OSError:
        pass
"""

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="about what root does")


@pytest.fixture
def made_up(folder):
    """A database with a user of which no other test has processes, and his number."""
    number = 1_000_000_000 + os.getpid()
    return Database(folder, made_up=number), number


@root_only
@pytest.mark.parametrize("words, names", [
    (["--agent", "/bin/true"], ["--agent: agents would run as root", "--user NAME", "--allow-root-agent"]),
    (["--agent", "/bin/true", "--user", "root"], ["--user: root: agents would run as root", "--allow-root-agent"]),
    (["--agent", "ours", "--agents", "{folder}/agents.toml"], ["--agent: agents would run as root"]),
])
def test_root_runs_no_agents_as_root_unasked(programs, folder, words, names):
    (folder / "agents.toml").write_text("[ours]\ntemplate = '/bin/true'\n")
    done = run([programs.lmtp_deliver, "--listen", "127.0.0.1:0", *(word.replace("{folder}", str(folder)) for word in words)], timeout=20)
    assert done.status == 1 and done.stdout == ""
    [line] = done.stderr.splitlines()
    for name in names:
        assert name in line


@root_only
@pytest.mark.parametrize("words", [["--allow-root-agent"], ["--allow-root-agent", "--user", "root"], ["--user", "nobody"],
                                   ["--agent", "ours", "--agents", "{folder}/agents.toml"]])
def test_root_runs_agents_that_it_was_told_to_run(lmtp_deliver, folder, words):
    (folder / "agents.toml").write_text("[ours]\ntemplate = '/bin/true'\nroot = 'becomes the recipient'\n")
    words = [word.replace("{folder}", str(folder)) for word in words]
    server = lmtp_deliver(None if "--agent" in words else "/bin/true", *words, root_agents=False)
    assert server.deliver(["user@example.com"])[0].code == 250
    said = "lmtp-deliver: agents run as root, which ours implies: it becomes the recipient" in server.stop().stderr.splitlines()
    assert said == ("ours" in words), "what nobody has asked for is said"


@root_only
def test_who_could_not_end_agents_becomes_nobody(programs, tool):
    """Without CAP_KILL a child that its user has stopped on its way would hold up the server for ever."""
    done = run([tool("setpriv"), "--bounding-set", "-kill", "--inh-caps", "-kill", programs.lmtp_deliver, "--listen", "127.0.0.1:0",
                "--agent", "/bin/true", "--user", "nobody"], timeout=20)
    assert done.status == 1 and "--user: who becomes user nobody could not be ended" in done.stderr, done.stderr


@pytest.fixture
def pest(made_up):
    """pest() starts one of the made-up user's processes, which ends with the test; it is at work by then."""
    _, number = made_up
    started = []

    def start():
        started.append(subprocess.Popen([sys.executable, "-ISc", PEST], user=number, group=number, extra_groups=[], start_new_session=True,
                                        stdout=subprocess.PIPE))
        assert started[-1].stdout.readline() == b"here\n"
        return started[-1]
    yield start
    for one in started:
        one.kill()
        one.communicate()


@root_only
def test_a_user_who_stops_all_that_is_his_holds_up_nobody(lmtp_deliver, agents, made_up, pest):
    """Also in the moment when an agent is his and still stands on the server's memory."""
    server = lmtp_deliver(agents("status", "0"), "--user", "made-up", "--workers", "1", "--grace", "2s", root_agents=False,
                          env=made_up[0].environment)
    pest()
    begun, seen = time.monotonic(), set()
    while (451, "4.3.0") not in seen:
        with server.connect() as client:
            client.start_delivery([f"user{count}@example.com" for count in range(12)])
            with server.connect() as other:   # greeted, meanwhile
                other.say("NOOP", 250)
            seen |= {(answer.code, answer.enhanced) for answer in client.answers(12)}
        assert time.monotonic() - begun < 60, f"--timeout is longer; or nothing was stopped: {seen}"
    assert seen <= {(250, "2.1.5"), (451, "4.3.0")}
    with server.connect() as last:
        last.start_delivery(["user@example.com"] * 6)
        server.process.stop(timeout=20)
    server.result()


@root_only
def test_others_are_delivered_to_as_before_once_he_is_gone(lmtp_deliver, agents, made_up, pest):
    server = lmtp_deliver(agents("status", "0"), "--user", "made-up", "--workers", "1", root_agents=False, env=made_up[0].environment)
    he = pest()
    server.deliver(["user@example.com"] * 6)
    he.kill()
    he.wait()
    assert [answer.code for answer in server.deliver(["user@example.com"] * 6)] == [250] * 6
    wait_until(lambda: not server.children, "all that was started to be waited for")


@pytest.mark.parametrize("end", ["a second signal", "SIGKILL"])
def test_what_outlives_the_server_ends_when_its_time_is_over(lmtp_deliver, agents, folder, end):
    note = folder / "pid"
    server = lmtp_deliver(agents("hang with a child", note), "--timeout", "2s", "--grace", "10m", "--workers", "1")
    client = server.connect()
    client.start_delivery(["user@example.com"])
    child = int(wait_until(lambda: note.exists() and note.read_text(), "the agent to start"))
    server.connect()  # the worker that started the agent answers, so it has listed it for the guardian, too
    [agent] = server.children
    if end == "SIGKILL":
        server.process.signal(signal.SIGKILL)
    else:
        server.process.signal(signal.SIGTERM)
        server.process.wait_for_line("wait")
        server.process.signal(signal.SIGTERM)
    server.process.wait(20)
    assert alive(agent) or not alive(child), "it is left alone until then"
    wait_until(lambda: not alive(agent) and not alive(child), "the end of the agent and of its group")


def guardian_of(server):
    [guardian] = [pid for pid in map(int, open(f"/proc/{server.pid}/task/{server.pid}/children").read().split())
                  if name_of(pid) == "lmtp-guardian"]
    return guardian


def test_a_guardian_that_is_killed_has_a_successor(lmtp_deliver, agents, folder):
    """Which keeps the deadline of an agent that was there before it."""
    note = folder / "pid"
    server = lmtp_deliver(agents("hang with a child", note), "--timeout", "10m", "--interval", "1h")
    client = server.connect()
    client.start_delivery(["user@example.com"])
    child = int(wait_until(lambda: note.exists() and note.read_text(), "the agent to start"))
    [agent] = server.children
    first = guardian_of(server)
    os.kill(first, signal.SIGKILL)
    server.process.wait_for_line("lmtp-guardian has been ended by somebody; there is another one")
    second = guardian_of(server)
    assert second != first and name_of(first) is None
    server.process.signal(signal.SIGKILL)
    server.process.wait(20)
    assert alive(agent)

    def ends():
        if alive(second):
            os.kill(second, signal.SIGTERM)
        return not alive(agent) and not alive(child)
    wait_until(ends, "the agent and its group, of whom the second guardian was told that their time is over")


def test_a_server_that_leaves_no_agents_leaves_no_guardian(lmtp_deliver, agents):
    server = lmtp_deliver(agents("status", "0"))
    server.deliver(["user@example.com"])
    guardian = guardian_of(server)
    server.stop()
    assert name_of(guardian) is None, "nor a zombie"
