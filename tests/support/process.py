# SPDX-License-Identifier: GPL-3.0-or-later
"""Starting, watching and ending the processes that a test needs.

Nothing here sleeps for a fixed time to let something happen: `wait_until` looks at a condition
until it holds, and says what it waited for when it does not. A process is ended by the pid that
was started here, and its output is kept in files, so that a full pipe never blocks it.
"""
import collections
import ctypes
import os
import pathlib
import re
import select
import socket
import subprocess
import time
from signal import SIGKILL, SIGTERM

START_TIMEOUT = 30.0


def adopt_orphans():
    """Makes this process the parent of daemons whose own parent is gone, so that `kill` can wait for
    them: not every machine has an init process that would (PR_SET_CHILD_SUBREAPER, prctl(2))."""
    ctypes.CDLL(None, use_errno=True).prctl(36, 1, 0, 0, 0)


def wait_until(condition, what, timeout=START_TIMEOUT):
    """The first true value of `condition()`; AssertionError naming `what` after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    pause = 0.002
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout} s in vain for {what() if callable(what) else what}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


def dead_socket(path):
    """A Unix socket at `path` that nobody listens on, as a server that died leaves it."""
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))
    return f"unix:{path}"


_reserved = collections.deque(maxlen=256)


def free_port():
    """A TCP port that nobody uses at any address, and that the kernel gives to nobody else.

    It stays bound from here, without a listener: whoever asks for any port gets another one, a server that sets
    SO_REUSEADDR may bind it, and whoever connects is refused until one has.
    """
    made = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    made.bind(("::", 0))
    _reserved.append(made)
    return made.getsockname()[1]


def answers(endpoint):
    """Whether something accepts connections at (host, port) or at a Unix socket's path."""
    family = socket.AF_UNIX
    if isinstance(endpoint, tuple):
        family = socket.AF_INET6 if ":" in endpoint[0] else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.settimeout(5)
        try:
            probe.connect(str(endpoint) if family == socket.AF_UNIX else endpoint)
        except OSError:
            return False
    return True


def alive(pid):
    """Whether a process runs still; one that ended and was not waited for does not."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def kill_session(leader):
    """Ends what is left of the session that the process `leader` began, the leader's own group aside: a server's
    children that lead groups of their own, and theirs. Waits for those that are ours to wait for."""
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            fields = pathlib.Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == leader and int(entry) != leader:
                os.kill(int(entry), SIGKILL)
                os.waitpid(int(entry), 0)
        except (OSError, ChildProcessError):
            pass  # gone meanwhile, or another's child


def kill_agents(server):
    """Ends the agents that lmtp-deliver, which ended, has left. Their guardian ends then, too; guardians that have ended
    are waited for: see adopt_orphans()."""
    kill_session(server)
    for path in pathlib.Path("/proc/self/task").glob("*/children"):
        for pid in map(int, path.read_text().split()):
            if pathlib.Path(f"/proc/{pid}/comm").read_text() == "lmtp-guardian\n":
                os.waitpid(pid, os.WNOHANG)


class Process:
    """A child in a process group of its own, with its output in folder/name.out and name.err."""

    def __init__(self, argv, folder, name=None, **popen):
        self.argv = [str(word) for word in argv]
        self.name = name or pathlib.Path(self.argv[0]).name
        self.out_path = pathlib.Path(folder) / f"{self.name}.out"
        self.err_path = pathlib.Path(folder) / f"{self.name}.err"
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            self.child = subprocess.Popen(
                self.argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True, **popen)

    pid = property(lambda self: self.child.pid)
    running = property(lambda self: self.child.poll() is None)
    stdout = property(lambda self: self.out_path.read_text(errors="replace"))
    stderr = property(lambda self: self.err_path.read_text(errors="replace"))

    def wait_for_line(self, pattern, timeout=START_TIMEOUT):
        """The match of `pattern` in standard error; fails at once if the process ended without it."""
        def look():
            ended = not self.running
            found = re.search(pattern, self.stderr, re.MULTILINE)
            assert found or not ended, f"{self.name} ended with {self.child.returncode}: {self.stderr}"
            return found
        return wait_until(look, lambda: f"'{pattern}' from {self.name}, which said: {self.stderr}", timeout)

    def wait_for_listener(self, endpoint, timeout=START_TIMEOUT):
        def look():
            assert self.running, f"{self.name} ended with {self.child.returncode}: {self.stderr}{self.stdout}"
            return answers(endpoint)
        wait_until(look, lambda: f"{self.name} at {endpoint}: {self.stderr}", timeout)

    def signal(self, number):
        self.child.send_signal(number)

    def ends_within(self, seconds):
        """Whether it has ended by then. The kernel says so: subprocess would look again and again, and wake up late."""
        if self.running:
            descriptor = os.pidfd_open(self.child.pid)
            try:
                poll = select.poll()
                poll.register(descriptor, select.POLLIN)
                poll.poll(seconds * 1000)
            finally:
                os.close(descriptor)
        return not self.running

    def wait(self, timeout=60.0):
        """The exit status; a process that outlives its time is killed and fails the test."""
        if not self.ends_within(timeout):
            self.kill()
            raise AssertionError(f"{self.name} still ran after {timeout} s: {self.stderr[-2000:]}")
        return self.child.returncode

    def stop(self, number=SIGTERM, timeout=20.0):
        if self.running:
            self.child.send_signal(number)
        return self.wait(timeout)

    def kill(self):
        """Ends the process and all that it started (they share its process group) and waits for them."""
        try:
            os.killpg(self.child.pid, SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()
        try:
            while True:
                os.waitpid(-self.child.pid, 0)
        except ChildProcessError:
            pass
