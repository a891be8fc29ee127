# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of the machine others had while a test measured time on it.

    with Watch() as machine:
        measure()
    if why := machine.busy(): …  # "the programs waited 31 % of the time for a processor, …"

What failed meanwhile then says nothing about the programs. tests/conftest.py does that for all tests with the marker
`serial`. Shares are of one processor's time: of /proc/stat what is neither idle nor this process and its descendants,
and what the hypervisor took; of /proc/PID/task/TID/schedstat how long they were ready and did not run.
"""
import os
import pathlib
import resource
import threading
import time

TICK = 1 / os.sysconf("SC_CLK_TCK")
PERIOD = 0.5  # between two looks at processes that may be gone at the end
# More than these is not a quiet machine.
LIMITS = {"waited": 0.1, "others": 0.2, "stolen": 0.05}


def stat_of(pid):
    """The fields of /proc/PID/stat from the state on; none when it is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def descendants():
    """The pids of what this process started, and what that started."""
    parents = {int(pid): int(fields[1]) for pid in os.listdir("/proc") if pid.isdigit() and (fields := stat_of(pid))}
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def own_seconds():
    """Processor time of this process and all that it started."""
    finished = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    running = [fields[11:15] for pid in descendants() if (fields := stat_of(pid))]  # utime, stime and those of its children
    return (sum(used.ru_utime + used.ru_stime for used in finished)
            + sum(int(ticks) for fields in running for ticks in fields) * TICK)


def machine_seconds():
    """(busy, stolen) of all processors."""
    words = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    user, nice, system, _, _, irq, softirq, steal = (int(word) * TICK for word in words)
    return user + nice + system + irq + softirq, steal


def run_delays():
    """How long each thread of this process and its descendants has waited for a processor, in seconds."""
    delays = {}
    for pid in {os.getpid(), *descendants()}:
        for task in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
            try:
                delays[task] = int(task.read_text().split()[1]) / 1e9
            except (OSError, IndexError):
                pass  # gone meanwhile, or a kernel without
    return delays


class Watch:
    """Looks at the machine until it is left; `shares` are known then."""

    def __enter__(self):
        self.over = threading.Event()
        self.begin, self.own, self.machine = time.monotonic(), own_seconds(), machine_seconds()
        self.first = self.last = run_delays()
        self.looking = threading.Thread(target=self.look, daemon=True)
        self.looking.start()
        return self

    def look(self):
        while not self.over.wait(PERIOD):
            self.last = self.last | run_delays()

    def __exit__(self, *_):
        self.over.set()
        self.looking.join()
        self.last = self.last | run_delays()
        elapsed = time.monotonic() - self.begin
        busy, stolen = (now - then for now, then in zip(machine_seconds(), self.machine))
        waited = sum(delay - self.first.get(task, 0) for task, delay in self.last.items())
        self.shares = {"waited": waited / elapsed, "others": (busy - own_seconds() + self.own) / elapsed,
                       "stolen": stolen / elapsed}

    def busy(self):
        """Why what was measured means nothing; empty when the machine was quiet."""
        if all(self.shares[name] <= limit for name, limit in LIMITS.items()):
            return ""
        return ("the programs waited {waited:.0%} of the time for a processor, others used {others:.0%} of one, "
                "{stolen:.0%} were stolen").format(**self.shares)
