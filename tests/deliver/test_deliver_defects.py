# SPDX-License-Identifier: GPL-3.0-or-later
"""Defects that lmtp-deliver once had, each with the least that showed it."""
import os
import pathlib
import subprocess
import sys

import pytest

from support.agents import template
from support.deliver import MAIL, Deliverer
from support.process import wait_until

LEAVE_GROUP = "import os, time; os.setpgid(0, os.getpgid(os.getppid())); time.sleep(600)"
LARGE_PIPE = "import fcntl, os; fcntl.fcntl(1, 1031, 1 << 20); os.write(1, b'x' * (6 << 20))"


def test_an_agent_that_left_its_group_is_ended(lmtp_deliver):
    server = lmtp_deliver(template(sys.executable, "-ISc", LEAVE_GROUP), "--timeout", "1s")
    assert [answer.code for answer in server.deliver(["a@example.com"])] == [451]
    assert server.stop().record["agents"]["exits"] == {"timeout": 1}


def test_an_agent_that_makes_its_pipe_larger_is_read_to_the_end(lmtp_deliver):
    server = lmtp_deliver(template(sys.executable, "-ISc", LARGE_PIPE), "--timeout", "20s")
    assert [answer.code for answer in server.deliver(["a@example.com"])] == [250]


def test_a_limit_of_file_sizes_defers_mail_and_does_not_end_the_server(lmtp_deliver):
    server = lmtp_deliver("/bin/true", launcher=["/bin/sh", "-c", 'ulimit -f 100; exec "$@"', "limited"])
    large = MAIL + b"x" * 70 + b"\r\n"
    answers = server.deliver(["a@example.com"], large * 20_000)
    assert [str(answer)[:9] for answer in answers] == ["452 4.3.1"]
    assert [answer.code for answer in server.deliver(["a@example.com"])] == [250]


@pytest.mark.parametrize("recipient", ["u@[x:../../root]", '"."@example.com', '".."@example.com', '"/"@example.com'])
def test_no_part_of_an_address_leads_out_of_a_folder(lmtp_deliver, recipient):
    server = lmtp_deliver(template("/bin/true", "/var/mail/%to_domain%/%to_user%"))
    assert [str(answer)[:9] for answer in server.deliver([recipient])] == ["550 5.1.3"]


def test_a_failed_start_says_why_once(lmtp_deliver, folder):
    agent = folder / "agent"
    agent.write_text("#!/bin/sh\n")
    agent.chmod(0o755)
    server = lmtp_deliver(template(agent))
    agent.unlink()
    [answer] = server.deliver(["a@example.com"])
    assert answer.code == 451 and "No such file" in answer.text and "Success" not in answer.text


def test_a_line_has_as_long_as_silence_may_last(lmtp_deliver):
    server = lmtp_deliver("/bin/true", "--client-timeout", "1s")
    with server.connect() as client:
        for _ in range(40):
            try:
                client.write(b"N")
                client.socket.settimeout(0.2)
                if client.socket.recv(100):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        else:
            raise AssertionError("a client with an octet every fifth of a second was never sent away")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make an agent that another user cannot end")
def test_an_agent_that_cannot_be_ended_is_reaped_when_it_ends(programs, folder, agents):
    """Of root, below a server of somebody else's: it is given up, and no zombie is left of it later."""
    agent = folder / "agent"
    source = b'#include <fcntl.h>\n#include <unistd.h>\nint main(int n, char** w) { setuid(0); return open(w[1], O_RDONLY) < 0; }\n'
    subprocess.run(["cc", "-x", "c", "-", "-o", agent], input=source, check=True)
    agent.chmod(0o4755)
    place = folder / "server"
    place.mkdir()
    place.chmod(0o777)
    with agents.gate() as gate, Deliverer(programs.lmtp_deliver, place, template(agent, gate), "--timeout", "100ms", "--workers", "1",
                                          user="nobody") as server:
        [answer] = server.deliver(["user@example.com"])
        assert (answer.code, answer.enhanced) == (451, "4.3.0"), answer
        [left] = server.children
        gate.open()
        wait_until(lambda: not pathlib.Path(f"/proc/{left}").exists(), "the agent to be reaped")
        assert server.stop().record["agents"]["exits"] == {"timeout": 1}
