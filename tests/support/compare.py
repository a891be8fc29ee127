# SPDX-License-Identifier: GPL-3.0-or-later
"""Experiments of postal-compare: their files, the program under way, and what it must not leave behind.

An experiment stands in a folder of its own and its results in `results` below it; whatever mentions
that folder (a mount, a loop device's file, a process's command line) belongs to the test.
"""
import contextlib
import json
import os
import pathlib
import signal

from .postal import run
from .process import Process, alive, free_port, wait_until

# bhm counts what postal brings at a rate that is never the generator's limit.
EXPERIMENT = """\
title = "a test"
command_limit = "20s"
[load]
duration = "{duration}"
warmup = "0s"
blocks = {blocks}
seed = 7
[[load.program]]
name = "delivery"
argv = ["postal", "--rate", "6000", "127.0.0.1:${{port}}", "${{experiment}}/users"]
[variables]
port = "{port}"
step = "true"
[server]
prepare = {prepare}
start = {start}
ready = ["127.0.0.1:${{port}}"]
{server}
{more}
[[variant]]
name = "one"
{setup}
[[variant]]
name = "two"
{setup}
{variants}
"""

BHM = '[["bhm", "--listen", "127.0.0.1:${port}"]]'


class Experiments:
    """experiments(blocks=2, setup='setup = [["true"]]', …) writes a file; then run(), start() and what is left."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.file, self.results = folder / "mail.toml", folder / "results"
        self.port = free_port()
        self.before = []  # words before the program's own
        self.started = []
        (folder / "users").write_text("user@example.com\n")

    def __call__(self, text=EXPERIMENT, **parts):
        parts = {"duration": "300ms", "blocks": 1, "port": self.port, "prepare": "[]", "start": BHM, "server": "", "more": "",
                 "setup": "", "variants": "", **parts}
        self.file.write_text(text.format(**parts))
        return self

    def words(self, *options):
        return [*self.before, self.program, "--out", self.results, *options, self.file]

    def run(self, *options, **keywords):
        return run(self.words(*options), **keywords)

    def start(self, *options):
        self.started.append(Process(self.words(*options), self.folder, f"compare-{len(self.started)}"))
        return self.started[-1]

    def verify(self):
        return run([self.program, "--verify", self.results])

    @property
    def record(self):
        record = json.loads((self.results / "experiment.json").read_text())
        assert record["schema"] == "postal-experiment/1"
        return record

    @property
    def runs(self):
        """(block, variant's name, state), in the order of time."""
        record = self.record
        names = [each["name"] for each in record["variants"]]
        return [(each["block"], names[each["variant"]], each["state"]) for each in record["runs"]]

    @property
    def planned(self):
        record = self.record
        return {(block + 1, each["name"]) for block in range(record["blocks"]) for each in record["variants"]}

    def blocks(self):
        return {each["block"]: each["voided"] for each in self.record["analysis"]["blocks"]}

    def load(self, kept):
        """The record of a load that the experiment's record names."""
        return json.loads((self.results / kept["path"]).read_text())

    def rate(self, kept):
        """Messages a second of a load, from its own record; of a run without a warm-up."""
        counted = [each for each in self.load(kept)["intervals"] if not each["draining"]]
        return sum(each["messages"] for each in counted) / sum(each["t_s"] - each["start_s"] for each in counted)

    def value(self, run, program):
        """The same as the experiment's record has it."""
        found = [each for each in self.record["analysis"]["metrics"] if (each["metric"], each["program"]) == ("messages", program)]
        return found[0]["blocks"][run["block"] - 1][run["variant"]]

    def mounts(self):
        """Lines of /proc/mounts."""
        return [line for line in pathlib.Path("/proc/self/mounts").read_text().splitlines() if f" {self.folder}/" in line]

    def loops(self):
        """Devices that are attached to an image that the experiment made."""
        found = []
        for each in pathlib.Path("/sys/block").glob("loop*/loop/backing_file"):
            try:
                file = each.read_text().strip()
            except OSError:
                continue  # detached meanwhile
            if file.startswith(f"{self.folder}/") and ".image" in file:
                found.append(each.parts[3])
        return found

    def processes(self):
        """Those whose command line mentions the folder, as pid and words."""
        found = []
        for each in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = pathlib.Path(f"/proc/{each}/cmdline").read_text(errors="replace").replace("\0", " ")
            except OSError:
                continue
            if str(self.folder) in words and int(each) != os.getpid() and alive(each):
                found.append((int(each), words))
        return found

    @staticmethod
    def children(parent):
        """Pids and words of the processes that it has started."""
        found = []
        for pid in pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
                found.append((int(pid), pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]))
        return found

    def check_clean(self):
        """Nothing is mounted, attached or running, and nothing is left to be undone."""
        wait_until(lambda: not self.processes(), lambda: f"the end of {self.processes()}", 10)
        assert not self.mounts() and not self.loops()
        assert not list(self.folder.rglob("*.image"))
        assert not (self.results / "mount").exists()
        assert self.left() == []

    def left(self):
        """What the journal has not struck out."""
        path = self.results / "journal.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        done = {line["undone"] for line in lines if "undone" in line}
        return [line for line in lines if "undo" in line and line["undo"] not in done]

    def end(self):
        """After a test that failed, too: what was killed is undone by the next call."""
        for one in self.started:
            if one.running:
                one.signal(signal.SIGTERM)
                one.wait()
        if self.left():
            self.run("--resume")
