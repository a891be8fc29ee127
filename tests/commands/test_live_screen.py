# SPDX-License-Identifier: GPL-3.0-or-later
"""--live, on a real terminal (tmux): the run is drawn, the log is undisturbed, and the terminal is given back as it was."""
import os
import re
import shlex
import subprocess

import pytest

from support.postal import HEADER, refused, run
from support.process import wait_until


class Terminal:
    """A tmux of 80 x 24 in which a shell runs `script`."""

    def __init__(self, tmux, folder, script, variables):
        self.words = [tmux, "-S", str(folder / "tmux"), "-f", "/dev/null"]
        self.environment = {"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"], "HOME": str(folder), "TMUX_TMPDIR": str(folder)}
        (folder / "script").write_text("".join(f"export {name}={value}\n" for name, value in variables.items())
                                       + "trap : INT\n" + script)
        self.call("new-session", "-d", "-x", "80", "-y", "24", f"trap : INT; sh {folder / 'script'}; echo over; sleep 60")

    def call(self, *words):
        return subprocess.run([*self.words, *words], env=self.environment, capture_output=True, text=True, check=False).stdout

    def text(self, *options):
        return self.call("capture-pane", "-p", *options)

    def wait_for(self, pattern, *options):
        return wait_until(lambda: re.search(pattern, self.text(*options), re.MULTILINE) and self.text(*options),
                          lambda: f"{pattern!r} on:\n{self.text(*options)}")

    def end(self):
        self.call("kill-server")


@pytest.fixture
def terminal(folder, tool):
    opened = []

    def open_one(script, **variables):
        opened.append(Terminal(tool("tmux"), folder, script, variables))
        return opened[-1]
    yield open_one
    for one in opened:
        one.end()


@pytest.fixture
def sending(programs, bhm, users_file, folder):
    """Words of a shell that run postal for some seconds."""
    def words(*options, duration="3s", output=""):
        hole = bhm()
        line = [programs.postal, "--live", "-t", "4", "--rate", "100/s", "--interval", "1s", "--duration", duration,
                "--record", folder / "live.json", *options, hole.endpoint, users_file(5)]
        return shlex.join(map(str, line)) + output + "\necho status $?\nstty -a | tr '\\n' ' '; echo\n"
    return words


def test_a_run_is_drawn_and_the_terminal_given_back(terminal, sending):
    screen = terminal(sending())
    drawn = screen.wait_for(r"^messages/s [1-9]")
    assert re.search(r"^postal  \d+s, \d+s left$", drawn, re.MULTILINE)
    assert re.search(r"^sessions  \d ", drawn, re.MULTILINE)
    assert re.search(r"^p99 ", drawn, re.MULTILINE)
    assert re.search(r"^[\d,]+ accepted  0 rejected  0 deferred  0 failed  0 in doubt$", drawn, re.MULTILINE)
    assert "█" in drawn
    left = screen.wait_for("^over$", "-S", "-100")
    assert "status 0" in left
    # the log's lines and the summary stand where they would without --live, and the picture is gone
    assert HEADER in left
    assert re.search(r"^\d\d:\d\d:\d\d,\d+,", left, re.MULTILINE)
    assert re.search(r"^postal: [\d,]+ messages accepted in 3s$", left, re.MULTILINE)
    assert "connections open" not in left
    settings = re.sub(r"\s", " ", left)
    assert " echo " in settings and " onlcr" in settings and " icrnl" in settings


def test_standard_output_has_the_log_alone(terminal, sending, folder):
    screen = terminal(sending(output=f" > {folder / 'log'}"))
    screen.wait_for(r"^messages/s [1-9]")
    screen.wait_for("^over$", "-S", "-100")
    header, *rows = (folder / "log").read_text().splitlines()
    assert header == HEADER
    assert len(rows) >= 3
    assert all(re.fullmatch(r"[\d:]+(,\d+){5}", row) for row in rows)


def test_another_size(terminal, sending):
    screen = terminal(sending(duration="20s"))
    screen.wait_for(r"^messages/s [1-9]")
    screen.call("resize-window", "-x", "50", "-y", "12")
    drawn = screen.wait_for(r"^busiest worker|is the limit|machine is full")
    assert len(drawn.rstrip("\n").splitlines()) <= 12
    screen.call("send-keys", "C-c")
    screen.call("resize-window", "-x", "100", "-y", "40")
    assert "status 4" not in screen.wait_for("^over$", "-S", "-100")


def test_ctrl_c_ends_the_run_in_order(terminal, sending, folder):
    screen = terminal(sending(duration="60s"))
    screen.wait_for(r"^messages/s [1-9]")
    screen.call("send-keys", "C-c")
    left = screen.wait_for("^over$", "-S", "-100")
    assert "postal: stopping: waits" in left
    assert '"signal": "SIGINT"' in (folder / "live.json").read_text()


@pytest.mark.parametrize("variables, coloured", [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours(terminal, sending, variables, coloured):
    screen = terminal(sending(), **variables)
    screen.wait_for(r"^messages/s [1-9]")
    with_attributes = screen.wait_for("messages/s", "-e")
    assert (re.search(r"\x1b\[(\d+;)*3[1-7]m", with_attributes) is not None) == coloured


def test_first_errors_are_seen_and_stay(terminal, programs, users_file):
    line = [programs.postal, "--live", "--duration", "3s", "127.0.0.1:9", users_file(1)]
    screen = terminal(shlex.join(map(str, line)) + "\n")
    screen.wait_for(r"^[\d,]+ errors? of 1 kind$")
    left = screen.wait_for("^over$", "-S", "-100")
    assert "postal: first error of its kind: connect refused at 127.0.0.1:9" in left


NO_MEMORY = b"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

void* malloc(size_t size) {
    static void* (*allocate)(size_t);
    if (!allocate) allocate = (void* (*)(size_t))dlsym(RTLD_NEXT, "malloc");
    const char* gone = getenv("NO_MEMORY");
    return gone && access(gone, F_OK) == 0 ? NULL : allocate(size);
}
"""


def test_the_terminal_is_given_back_when_memory_runs_out(terminal, sending, folder):
    library, gone = folder / "no-memory.so", folder / "gone"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library, "-ldl"], input=NO_MEMORY, check=True)
    screen = terminal(f"NO_MEMORY={gone} LD_PRELOAD={library} " + sending(duration="60s"))
    screen.wait_for(r"^messages/s [1-9]")
    gone.touch()
    left = screen.wait_for("^over$", "-S", "-100")
    assert "postal: out of memory" in left and "status 2" in left
    assert "connections open" not in left
    settings = re.sub(r"\s", " ", left)
    assert " echo " in settings and " onlcr" in settings and " icrnl" in settings


def test_no_terminal(programs, users_file):
    refused(run([programs.postal, "--live", "--messages", "1", "127.0.0.1:9", users_file(1)]), "--live", "no terminal")


def test_a_terminal_on_which_nothing_can_be_drawn(terminal, programs, users_file):
    line = shlex.join(map(str, [programs.postal, "--live", "--messages", "1", "127.0.0.1:9", users_file(1)]))
    left = terminal(f"export TERM=dumb\n{line}\necho status $?\n").wait_for("^over$", "-S", "-100")
    assert "postal: --live: nothing can be drawn on a terminal of the kind 'dumb' (TERM)" in left.replace("\n", "")
    assert "status 1" in left
