# SPDX-License-Identifier: GPL-3.0-or-later
"""Small delivery agents for lmtp-deliver, and the templates that run them.

    agents = Agents(folder)
    agents("status", "%to_user%")       # a template: '/…/status' '%to_user%'

They are shell scripts, because a Python program takes longer to start than most agents to deliver. `Gate` holds
agents until a test opens it, `Journal` is where they write down that they began and ended.
"""
import json
import os
import pathlib
import re
import shlex

from .process import wait_until

# $1, $2, … are what a template gives them. `ulimit -c 0`: no core files in anybody's folder.
SCRIPTS = {
    "status": 'exit "$1"',
    "signal": 'ulimit -c 0; kill -"$1" $$; exit 0',
    # $1 is status-NUMBER or signal-NUMBER.
    "any": 'case "$1" in signal-*) ulimit -c 0; kill -"${1#signal-}" $$ ;; status-*) exit "${1#status-}" ;; esac; exit 99',
    "hang": 'exec sleep 1000',
    "hang with a child": 'sleep 1000 & echo $! >"$1"; wait',
    "deaf": "trap '' TERM; echo $$ >\"$1\"; exec sleep 1000",
    "stopped": 'kill -STOP $$; exit 0',
    "stopped for ever": 'while :; do kill -STOP $$; done',
    # Leaves a process that keeps standard output and error open, and its number in file $1.
    "grandchild": 'sleep 1000 & echo $! >"$1"; exit "$2"',
    "noisy": 'head -c 10485760 /dev/zero | tr "\\0" x; exit "$1"',
    "noisy lines": 'yes "one of very many lines" | head -c 10485760; exit "$1"',
    "says": 'printf "$1" >&2; exit "$2"',
    "nibble": 'dd bs=1 count=1 of=/dev/null status=none; exit "$1"',
    "shut": 'exec <&-; exit "$1"',
    # The message as file $2 of folder $1, which has it whole or not at all.
    "keep": 'cat >"$1/.$$" && mv "$1/.$$" "$1/$2"',
    # $1 is a journal, $2 what to write there, $3 a gate.
    "journal": 'echo "+ $2" >>"$1"; : <"$3"; echo "- $2" >>"$1"; exit "${4:-0}"',
    "journal without a gate": 'echo "+ $2" >>"$1"; echo "- $2" >>"$1"; exit "${3:-0}"',
}

# A one-liner for `sh -c`, because a shell that reads a script has that open as a descriptor. It copies what the kernel
# knows of the process into folder $1; $2, … are only there to be seen.
MIRROR = (
    'l=; i=0; while [ $i -lt 1200 ]; do if [ -L /proc/$$/fd/$i ]; then l="$l $i"; fi; i=$((i+1)); done; '
    'mkdir -p "$1"; echo $l >"$1/descriptors"; t=$(for i in $l; do readlink /proc/$$/fd/$i; done); echo "$t" >"$1/targets"; '
    'readlink /proc/$$/cwd >"$1/cwd"; '
    # The shell blocks all signals while it waits for a child, so a child is asked for them.
    'grep ^Sig /proc/self/status >"$1/signals"; '
    'for f in environ cmdline status stat limits; do cat /proc/$$/$f >"$1/$f"; done; cat >"$1/message"; : >"$1/done"')


def literal(text):
    """Text for a template that means itself."""
    return str(text).replace("%", "%%")


def template(*words):
    """A template of these words, each of which is one argument; placeholders in them are placeholders."""
    return " ".join(shlex.quote(str(word)) for word in words)


def mirror(folder, *words, name="%to_user%"):
    """A template whose agent fills folder/NAME; read it with Mirror."""
    return template("/bin/sh", "-c", literal(MIRROR), "mirror", f"{literal(folder)}/{name}", *words)


class Agents:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder) / "agents"
        self.folder.mkdir()

    def path(self, name):
        path = self.folder / name.replace(" ", "-")
        if not path.exists():
            path.write_text(f"#!/bin/sh\n{SCRIPTS[name]}\n")
            path.chmod(0o755)
        return path

    def __call__(self, name, *arguments):
        """The template that runs agent `name` with these arguments."""
        return template(literal(self.path(name)), *arguments)

    def gate(self, name="gate.fifo"):
        return Gate(self.folder / name)

    def journal(self, name="journal.txt"):
        return Journal(self.folder / name)


class Gate:
    """A FIFO at which agents wait (`: <gate`) until it is opened; then it stays open."""

    def __init__(self, path):
        self.path = path
        self.descriptor = None
        os.mkfifo(path)
        path.chmod(0o666)

    def __str__(self):
        return str(self.path)

    def open(self):
        if self.descriptor is None:
            self.descriptor = os.open(self.path, os.O_RDWR)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.open()
        os.close(self.descriptor)


class Journal:
    """Lines of agents in the order in which they were written: "+ name" at a start, "- name" at an end."""

    def __init__(self, path):
        self.path = path
        path.touch()
        path.chmod(0o666)

    def __str__(self):
        return str(self.path)

    @property
    def lines(self):
        return self.path.read_text().splitlines()

    started = property(lambda self: [line[2:] for line in self.lines if line[0] == "+"])
    ended = property(lambda self: [line[2:] for line in self.lines if line[0] == "-"])

    @property
    def most_at_once(self):
        """The most agents that were between their two lines; each ran at least that long."""
        running = most = 0
        for line in self.lines:
            running += 1 if line[0] == "+" else -1
            most = max(most, running)
        return most

    def wait_for(self, started=0, ended=0):
        wait_until(lambda: len(self.started) >= started and len(self.ended) >= ended,
                   lambda: f"{started} starts and {ended} ends of agents: {self.lines}")


class Mirror:
    """What an agent of `mirror()` saw of itself."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        assert (self.folder / "done").exists(), f"no agent has filled {folder}"

    def _text(self, name):
        return (self.folder / name).read_text()

    def _strings(self, name):
        text = (self.folder / name).read_bytes().decode("utf-8", "surrogateescape")
        return text.split("\0")[:-1]

    descriptors = property(lambda self: [int(number) for number in self._text("descriptors").split()])
    targets = property(lambda self: self._text("targets").splitlines())
    cwd = property(lambda self: self._text("cwd").strip())
    message = property(lambda self: (self.folder / "message").read_bytes())
    # Only the words behind those of `sh -c TEXT mirror FOLDER`.
    arguments = property(lambda self: self._strings("cmdline")[5:])

    @property
    def environment(self):
        pairs = [entry.split("=", 1) for entry in self._strings("environ")]
        assert len({name for name, _ in pairs}) == len(pairs), f"a name twice: {json.dumps(pairs)}"
        return dict(pairs)

    def status(self, name):
        """A line of /proc/PID/status as words."""
        return re.search(rf"(?m)^{name}:\s*(.*)$", self._text("status"))[1].split()

    def signals(self, name):
        """The numbers in one of its masks (SigBlk, SigIgn, SigCgt)."""
        mask = int(re.search(rf"(?m)^{name}:\s*(\w+)$", self._text("signals"))[1], 16)
        return {number for number in range(1, 65) if mask >> (number - 1) & 1}

    @property
    def process(self):
        """(pid, parent, process group, session)"""
        fields = self._text("stat")
        return (int(fields.split()[0]), *(int(word) for word in fields.rpartition(")")[2].split()[1:4]))

    def limit(self, name):
        """(soft, hard) of a line of /proc/PID/limits; None for unlimited."""
        words = re.search(rf"(?m)^{re.escape(name)}\s+(\S+)\s+(\S+)", self._text("limits")).groups()
        return tuple(None if word == "unlimited" else int(word) for word in words)
