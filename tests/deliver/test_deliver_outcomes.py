# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of an agent is what its recipient is told: every exit status, every signal, every way to misbehave.

The table is sysexits as every MTA has it, with what Postfix's pipe(8) does where MTAs differ
(tests/interop/test_deliver_agents.py asks a real one).
"""
import random
import re
import signal
import time

import pytest

from conftest import ROOT
from support.agents import literal
from support.process import alive, wait_until
from support.watched import peak_rss

MEGABYTE = 1024 * 1024
# status: (code, enhanced)
TABLE = {
    0: (250, "2.1.5"), 64: (554, "5.3.0"), 65: (554, "5.6.0"), 67: (550, "5.1.1"), 69: (554, "5.3.0"), 70: (554, "5.3.0"),
    71: (451, "4.3.0"), 73: (550, "5.2.0"), 74: (554, "5.3.0"), 75: (451, "4.3.0"), 77: (550, "5.7.0"), 78: (554, "5.3.5"),
}
OTHER = (554, "5.3.0")
STOPPING = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
IGNORED = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}  # by default


def check_status(answer, status):
    assert (answer.code, answer.enhanced) == TABLE.get(status, OTHER), f"status {status}: {answer}"


def test_every_exit_status(lmtp_deliver, agents):
    server = lmtp_deliver(agents("status", "%to_user%"))
    answers = server.deliver([f"{status}@example.com" for status in range(256)])
    for status, answer in enumerate(answers):
        check_status(answer, status)
        assert status == 0 or f"status {status}" in answer.words, answer
    done = server.stop()
    assert done.total("started") == 256 and done.total("messages") == 1
    assert (done.total("deferred"), done.total("rejected")) == (2, 253)
    assert done.record["agents"]["exits"] == {str(status): 1 for status in range(256)}
    assert done.record["agents"]["started"] == 256


def test_words_for_the_statuses_of_sysexits(lmtp_deliver, agents):
    server = lmtp_deliver(agents("status", "%to_user%"))
    known, unknown = server.deliver(["67@example.com", "90@example.com"])
    assert str(known).startswith("550 5.1.1 Agent ended with status 67 (user unknown)")
    assert str(unknown).startswith("554 5.3.0 Agent ended with status 90")


def test_the_manual_has_the_same_table():
    manual = (ROOT / "docs/man/lmtp-deliver.8.md").read_text().split("# REPLIES")[1].split("\n# ")[0]
    rows = {int(status): (int(code), enhanced) for status, code, enhanced in re.findall(r"(?m)^\| (\d+)[ A-Z_]* \| (\d+) ([\d.]+) \|$", manual)}
    assert rows == TABLE
    assert "| any other status | %d %s |" % OTHER in manual


def test_death_by_every_signal(lmtp_deliver, agents):
    server = lmtp_deliver(agents("signal", "%to_user%"))
    numbers = [number for number in range(1, 65) if number not in STOPPING]
    answers = server.deliver([f"{number}@example.com" for number in numbers])
    for number, answer in zip(numbers, answers):
        if number in IGNORED:
            assert (answer.code, answer.enhanced) == (250, "2.1.5"), f"signal {number} kills nobody: {answer}"
        else:
            assert (answer.code, answer.enhanced) == (451, "4.3.0"), f"signal {number}: {answer}"
            assert f"signal {number}" in answer.words, answer
    exits = server.stop().record["agents"]["exits"]
    assert exits == {"0": len(IGNORED)} | {f"signal {number}": 1 for number in numbers if number not in IGNORED}


@pytest.mark.parametrize("agent, least, most", [("hang", 0.3, 4), ("hang with a child", 0.3, 4), ("deaf", 5, 12)])
def test_timeout(lmtp_deliver, agents, folder, agent, least, most):
    """The group gets TERM, and KILL five seconds later."""
    note = folder / "pid"
    server = lmtp_deliver(agents(agent, note), "--timeout", "300ms")
    begun = time.monotonic()
    [answer] = server.deliver(["b@example.com"])
    assert least <= time.monotonic() - begun < most
    assert (answer.code, answer.enhanced) == (451, "4.3.0")
    if agent in ("hang with a child", "deaf"):
        pid = int(note.read_text())
        wait_until(lambda: not alive(pid), "the end of the agent's whole group")
    done = server.stop()
    assert done.total("deferred") == done.total("started") == 1
    assert done.record["agents"]["exits"] == {"timeout": 1}


def test_an_agent_that_was_stopped_goes_on(lmtp_deliver, agents):
    assert lmtp_deliver(agents("stopped")).deliver(["a@example.com"])[0].code == 250


def test_agents_that_are_stopped_again_and_again_keep_no_slots(lmtp_deliver, agents):
    """A user's process may stop all that is his, for ever: others wait seconds then, not --timeout."""
    server = lmtp_deliver(agents("stopped for ever"), "--max-deliveries", "3")
    begun = time.monotonic()
    answers = server.deliver(["user@example.com"] * 3)
    assert time.monotonic() - begun < 60
    for answer in answers:
        assert (answer.code, answer.enhanced) == (451, "4.3.0"), answer
        assert answer.words == "Agent was ended by signal 9: it was stopped again and again"
    assert server.stop().record["agents"]["exits"] == {"signal 9": 3}


def test_an_agent_that_hangs_blocks_nobody(lmtp_deliver, agents):
    journal = agents.journal()
    with agents.gate("closed") as closed, agents.gate("open") as other:
        other.open()
        server = lmtp_deliver(agents("journal", journal, "%to%", f"{agents.folder}/%to_user%"))
        with server.connect() as stuck:
            stuck.start_delivery(["closed@example.com"])
            journal.wait_for(started=1)
            for _ in range(20):
                assert [answer.code for answer in server.deliver(["open@example.com"])] == [250]
            closed.open()
            assert stuck.answer().code == 250


@pytest.mark.parametrize("what", ["removed", "not executable", "no interpreter", "no program at all"])
def test_an_agent_that_cannot_be_run_any_more(lmtp_deliver, agents, what):
    template = agents("status", "%to_user%")
    path = agents.path("status")
    server = lmtp_deliver(template)
    script = path.read_text()
    if what == "removed":
        path.unlink()
    elif what == "not executable":
        path.chmod(0o644)
    else:
        path.write_text("#!/nowhere/sh\n" if what == "no interpreter" else "exit 0\n")
    with server.connect() as client:
        for answer in client.deliver(["0@example.com", "0@example.org"]):
            assert (answer.code, answer.enhanced) == (451, "4.3.0"), answer
        path.write_text(script)
        path.chmod(0o755)
        assert [answer.code for answer in client.deliver(["0@example.com"])] == [250], "it came back"
    done = server.stop()
    assert done.record["agents"]["exits"] == {"not started": 2, "0": 1}
    assert done.total("deferred") == 2


SAID = [
    # what the agent prints (for printf), what of it must be in the reply, what must not
    ("no such user here", "no such user here", None),
    ("first line\\nsecond line\\n", "first line", "second"),
    ("crlf line\\r\\nsecond line\\r\\n", "crlf line", "second"),
    ("over quota\\r\\n250 2.1.5 Delivered\\r\\n", "over quota", "250"),
    ("5.7.1 by policy\\n", "by policy", None),
    ("a\\001b\\033[31mred\\177\\tend\\n", "red", "\033"),
    ("j\\303\\266rg\\n", "rg", None),
    ("\\377\\376 not text\\n", "not text", None),
    ("\\000nul\\n", "nul", None),
    ("%s\\n" % ("x" * 1000), "x" * 190, "x" * 201),
    ("%s\\n" % ("\\303\\266" * 300), "", None),
    ("\\n\\nlater\\n", "", None),
    ("", "", None),
]


@pytest.mark.parametrize("printed, wanted, unwanted", SAID, ids=range(len(SAID)))
def test_the_first_line_that_the_agent_printed_is_in_the_reply(lmtp_deliver, agents, printed, wanted, unwanted):
    server = lmtp_deliver(agents("says", literal(printed), "%to_user%"))
    with server.connect() as client:
        for status, code in ((67, 550), (75, 451), (0, 250)):
            [answer] = client.deliver([f"{status}@example.com"])  # which is one line of printable ASCII
            assert answer.code == code
            assert answer.enhanced == TABLE[status][1], "not what the agent printed"
            assert status == 0 or wanted in answer.words, answer
            assert not unwanted or unwanted not in answer.words, answer
            client.say("NOOP", 250)


def test_what_an_agent_that_failed_printed_is_in_the_log(lmtp_deliver, agents):
    server = lmtp_deliver(agents("says", "first line\\nsecond line\\n", "67"))
    server.deliver(["b@example.com"])
    log = server.stop().stderr
    assert "second line" in log and "b@example.com" in log
    assert all(line.startswith(("lmtp-deliver: ", " ")) or not line for line in log.splitlines()), log


@pytest.mark.parametrize("agent", ["noisy", "noisy lines"])
def test_ten_megabytes_of_output(lmtp_deliver, agents, agent):
    server = lmtp_deliver(agents(agent, "%to_user%"), "--workers", "1")
    before = peak_rss(server.pid)
    taken, *deferred = server.deliver(["0@example.com", "75@example.com", "75@example.org"])
    assert taken.code == 250
    for answer in deferred:
        assert (answer.code, answer.enhanced) == (451, "4.3.0")
        assert ("x" * 190 if agent == "noisy" else "one of very many lines") in answer.words
    assert peak_rss(server.pid) - before < 4 * MEGABYTE
    assert len(server.stop().stderr) < 3 * 66_000 + 10_000, "64 KiB of each at most"


@pytest.mark.parametrize("status", [0, 75])
def test_a_grandchild_that_keeps_standard_error_open(lmtp_deliver, agents, folder, status):
    note = folder / "pid"
    server = lmtp_deliver(agents("grandchild", note, str(status)))
    begun = time.monotonic()
    [answer] = server.deliver(["b@example.com"])
    check_status(answer, status)
    server.stop()
    assert time.monotonic() - begun < 5, "nobody waits for the grandchild"
    assert note.exists()


@pytest.mark.parametrize("agent", ["status", "nibble", "shut"])
def test_agents_that_do_not_read_a_long_message(lmtp_deliver, agents, agent):
    """One that ends with 0 has delivered, whatever it read; procmail to /dev/null reads nothing."""
    server = lmtp_deliver(agents(agent, "%to_user%"))
    message = b"Subject: long\r\n\r\n" + b"x" * 76 + b"\r\n"
    message += (b"y" * 76 + b"\r\n") * (5 * MEGABYTE // 78)
    with server.connect() as client:
        for _ in range(3):
            answers = client.deliver(["0@example.com", "75@example.com", "67@example.com"], message)
            assert [answer.code for answer in answers] == [250, 451, 550]


def test_a_hundred_recipients_get_their_own_replies_in_order(lmtp_deliver, agents):
    chance = random.Random(3)
    kinds = [f"status-{status}" for status in (*TABLE, 1, 66, 99, 127, 255)] + ["signal-9", "signal-15", "signal-11", "refused/here"]
    chosen = chance.choices(kinds, k=100)
    server = lmtp_deliver(agents("any", "%to_user%"))
    answers = server.deliver([f"{kind}@host{number}.example.com" for number, kind in enumerate(chosen)])
    for kind, answer in zip(chosen, answers):
        what, _, number = kind.partition("-")
        if what == "status":
            check_status(answer, int(number))
        else:
            wanted = (550, "5.1.3") if "/" in kind else (451, "4.3.0")
            assert (answer.code, answer.enhanced) == wanted, f"{kind}: {answer}"
    done = server.stop()
    assert done.total("messages") == chosen.count("status-0")
    assert done.total("messages") == sum(answer.code == 250 for answer in answers)
