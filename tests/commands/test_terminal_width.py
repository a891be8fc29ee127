# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person reads on a terminal of 80 columns fits it; in a pipe each line stays whole."""
import fcntl
import os
import pty
import select
import struct
import termios

import pytest
from conftest import ROOT

from support.postal import run

STAGES = "10/s@10s,20/s@10s,30/s@20s,40/s@20s,5/s@1m"


def on_terminal(argv, columns):
    """What a program writes to a terminal of so many columns, and its exit status."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execve(argv[0], argv, {**{name: text for name, text in os.environ.items() if name != "COLUMNS"}, "TERM": "xterm"})
    text = b""
    try:
        while select.select([terminal], [], [], 60)[0]:
            try:
                octets = os.read(terminal, 65536)
            except OSError:
                break
            if not octets:
                break
            text += octets
    finally:
        os.close(terminal)
        _, status = os.waitpid(pid, 0)
    return text.decode().replace("\r\n", "\n"), os.waitstatus_to_exitcode(status)


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("program, words, status", [
    ("postal", ["--dry-run", "--open-loop", "--stages", STAGES, "127.0.0.1:1", "USERS"], 0),
    ("postal", ["--threshold", "nothing<1", "127.0.0.1:1", "USERS"], 1),
    ("postal", ["192.0.2.1", "USERS"], 1),
    ("postal", ["--explain"], 0),
    ("rabid", ["--explain", "no_starttls"], 0),
    ("postal-audit", ["--plan", str(ROOT / "conf" / "experiments" / "power-cut-postfix.toml")], 0),
    ("postal", ["--help"], 0),
    ("postal", ["--messages", "3", "-c", "1", "--fail-fast", "127.0.0.1:1", "USERS"], 4)])
def test_lines_fit(programs, users_file, program, words, status, columns):
    argv = [str(programs.path(program)), *(str(users_file(["a@example.com secret"])) if word == "USERS" else word for word in words)]
    text, ended = on_terminal(argv, columns)
    assert ended == status, text
    assert [line for line in text.splitlines() if len(line) > columns] == []
    if status == 1:
        assert len(run(argv).stderr.splitlines()) == 1 < len(text.splitlines())
