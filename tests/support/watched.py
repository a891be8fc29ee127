# SPDX-License-Identifier: GPL-3.0-or-later
"""postal running in the background under observation: its peak memory, its time, its end.

Peak memory is VmHWM of /proc, read while the process lives, because the kernel's ru_maxrss of a child
starts with the size of its parent. Processor time of servers is read the same way.
"""
import contextlib
import functools
import os
import pathlib
import re
import time

from .postal import Run, read_record, stop_at_error
from .process import Process

OUTCOMES = ("messages", "rejected", "deferred", "failed", "in_doubt")


def peak_rss(pid):
    """The most memory that a live process has had resident, in octets; 0 when it is gone."""
    with contextlib.suppress(OSError):
        found = re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())
        return int(found[1]) * 1024 if found else 0
    return 0


@functools.cache
def memory_limit(program):
    """What a program of the suite may have resident whatever a peer does, in octets; the address sanitizer keeps more."""
    sanitized = b"__asan_init" in pathlib.Path(program).read_bytes()
    return (1024 if sanitized else 100) * 1024 * 1024


def cpu_seconds(pid):
    """User and system time of a live process, all of its threads."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def open_descriptors(pid):
    """How many descriptors a process has, those for files of /proc aside: each worker opens one as its thread first
    runs, on a busy machine after another worker has already served a client."""
    found = 0
    for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            found += not os.readlink(entry).startswith("/proc/")
    return found


def check_outcomes(record):
    """Each started unit ended in exactly one way, with and without the warm-up."""
    for totals in (record["totals"], record["totals_with_warmup"]):
        assert totals["started"] == sum(totals[name] for name in OUTCOMES), totals


class Sending:
    """postal that was started and not yet waited for. A second one in the folder wants a name."""

    def __init__(self, program, folder, *words, name="sending", **popen):
        self.record_path = pathlib.Path(folder) / f"{name}.json"
        self.begin = time.monotonic()
        self.process = Process([program, "--record", self.record_path, *words], folder, name, **popen)
        self.pid, self.peak_rss = self.process.pid, 0

    def signal(self, number):
        self.process.signal(number)

    def wait_for_error(self, timeout=60.0):
        """The finished Run of one in which nothing can succeed, ended as soon as it has counted an error."""
        stop_at_error(self.process, self.look)
        return self.wait(timeout)

    def look(self):
        self.peak_rss = max(self.peak_rss, peak_rss(self.pid))

    def wait(self, timeout=60.0):
        """The finished Run, with `seconds` and `peak_rss` beside what every run has."""
        deadline = time.monotonic() + timeout
        self.look()
        while not self.process.ends_within(0.02) and time.monotonic() < deadline:
            self.look()
        status = self.process.wait(0.1)
        done = Run(self.process.argv, status, self.process.stdout, self.process.stderr)
        done.seconds, done.peak_rss = time.monotonic() - self.begin, self.peak_rss
        if self.record_path.exists():
            done.record = read_record(self.record_path)
            check_outcomes(done.record)
        return done

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.running:
            self.process.kill()
