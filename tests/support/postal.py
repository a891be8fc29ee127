# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the suite's programs and reading what they leave: lines, record, diagnostics, status."""
import dataclasses
import json
import pathlib
import re
import signal
import subprocess

from .process import Process, wait_until
from .record_schema import check_record

HEADER = "time,messages,data(K),errors,connections,SSL connections"
RABID_HEADER = HEADER + ",IMAP connections"


def number_or_none(text):
    """A field of a line; a percentile of nothing is empty."""
    if not text:
        return None
    return float(text) if "." in text else int(text)


@dataclasses.dataclass
class Run:
    """What one finished run left behind."""
    argv: list
    status: int
    stdout: str
    stderr: str
    record: dict = None
    header: str = HEADER

    @property
    def lines(self):
        """The per-interval lines as dictionaries; asserts that the header is the program's."""
        header, *rows = self.stdout.splitlines()
        assert header == self.header
        return [dict(zip(header.split(","), [time] + [number_or_none(text) for text in texts]))
                for time, *texts in (row.split(",") for row in rows)]

    def total(self, name):
        return self.record["totals"][name]


def run(argv, timeout=120, **options):
    """Runs a program to its end; never leaves it behind."""
    argv = [str(word) for word in argv]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False, **options)
    return Run(argv, done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def refused(done, *words, status=1, program="postal"):
    """Asserts that a Run ended before it began, with one line that names what is wrong."""
    assert done.status == status, done.stderr
    assert done.stdout == "", "nothing on standard output"
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith(f"{program}: ")
    for word in words:
        assert str(word) in done.stderr, f"{word} is not named in: {done.stderr}"


def read_record(path):
    """A run record; a constant that JSON does not have (NaN, Infinity) fails, and what its schema does not have."""
    def refuse(constant):
        raise AssertionError(f"{path}: {constant} in a run record")
    record = json.loads(pathlib.Path(path).read_text(), parse_constant=refuse)
    assert record["schema"] == "postal-record/1"
    check_record(record)
    return record


def check_books(run):
    """Asserts what holds for every run of postal: each started unit has exactly one outcome, and
    lines, intervals and totals tell the same story (for runs without a warm-up)."""
    record = run.record
    totals = record["totals"]
    for key in ("messages", "bytes", "errors", "connections", "tls_connections"):
        assert sum(interval[key] for interval in record["intervals"]) == totals[key], key
    assert sum(line["messages"] for line in run.lines) == totals["messages"]
    assert sum(line["errors"] for line in run.lines) == totals["errors"]
    assert sum(line["connections"] for line in run.lines) == totals["connections"]
    assert sum(error["count"] for error in record["errors"]) == totals["errors"]
    outcomes = ("messages", "rejected", "deferred", "failed", "in_doubt")
    assert totals["started"] == sum(totals[key] for key in outcomes), totals


def check_reading(run):
    """The same of rabid, and that each message that was read turned out to be something."""
    check_books(run)
    found = run.record["integrity"]
    kinds = found["verified"] + found["foreign"] + found["corrupt"] + found["original"]
    # one of the original postal's that is corrupt is both
    assert kinds - min(found["original"], found["corrupt"]) <= run.total("messages") <= kinds, found
    assert run.total("deleted") <= run.total("messages")
    assert sum(line["IMAP connections"] for line in run.lines) == run.total("imap_connections")


def stop_at_error(process, look=lambda: None):
    """Ends a running program of the suite that has counted an error, with SIGINT; it needs short intervals. look() is called
    now and then."""
    def errors():
        look()
        return sum(int(row.split(",")[3]) for row in process.stdout.splitlines()[1:] if row.count(",") > 3)
    wait_until(lambda: not process.running or errors() > 0, lambda: f"an error: {process.stderr}")
    process.signal(signal.SIGINT)


class Sender:
    """postal, run to its end with a record beside it."""
    name = "postal"
    header = HEADER

    def __init__(self, program, folder):
        self.program = program
        self.folder = pathlib.Path(folder)
        self.runs = 0

    def __call__(self, *words, status=0, timeout=120, **options):
        """Runs the program with WORDS; `status` is the exit status wanted (None: any)."""
        self.runs += 1
        path = self.folder / f"{self.name}-{self.runs}.json"
        done = run([self.program, "--record", path, *words], timeout, **options)
        return self.finished(done, path, status)

    def failing(self, *words, status=4):
        """The same of a run in which nothing can succeed: it is ended as soon as it has counted an error. It must have no
        other end, for then the signal might come too late."""
        self.runs += 1
        path = self.folder / f"{self.name}-{self.runs}.json"
        process = Process([self.program, "--record", path, "--interval", "100ms", "--duration", "60s", *words], self.folder,
                          f"{self.name}-{self.runs}")
        try:
            stop_at_error(process)
            ended = process.wait(60)
        finally:
            process.kill()
        return self.finished(Run(process.argv, ended, process.stdout, process.stderr), path, status)

    def finished(self, done, path, status):
        done.header = self.header
        if path.exists():
            done.record = read_record(path)
        if status is not None:
            assert done.status == status, f"{done.argv}: status {done.status}\n{done.stderr}\n{done.stdout}"
        return done


class Reader(Sender):
    """rabid, in the same way."""
    name = "rabid"
    header = RABID_HEADER


class Server:
    """A server of the suite on a port of the kernel's choice. `stop()` gives its Run; leaving the context kills it.

    Beside its options it takes what subprocess.Popen takes. With `listen` empty it is for the caller to know where
    it can be reached. listen_tls: clients begin with TLS at `tls_endpoint`, another port of the kernel's choice."""
    name = None
    header = HEADER

    def __init__(self, program, folder, *options, listen=("127.0.0.1:0",), launcher=(), listen_tls=False,
                 **popen):
        self.folder = pathlib.Path(folder)
        self.record_path = self.folder / f"{self.name}.json"
        words = [word for endpoint in listen for word in ("--listen", endpoint)]
        words += ["--listen-tls", "127.0.0.1:0"] if listen_tls else []
        self.process = Process([*launcher, program, *words, "--record", self.record_path, "--interval", "1s", *options],
                               self.folder, self.name, **popen)
        self.endpoints = []
        for endpoint in listen:
            name = re.escape(endpoint[:-1]) + r"(\d+)" if endpoint.endswith(":0") else re.escape(endpoint)
            line = self.process.wait_for_line(rf"listening on {name}$")
            self.endpoints.append(f"{endpoint[:-1]}{line.group(1)}" if endpoint.endswith(":0") else endpoint)
        self.endpoint = self.endpoints[0] if self.endpoints else None
        if listen_tls:
            pattern = r"listening on .*\n.*" * len(listen) + r"listening on (127\.0\.0\.1:\d+)$"
            self.tls_endpoint = self.process.wait_for_line(pattern).group(1)

    pid = property(lambda self: self.process.pid)

    @property
    def port(self):
        return int(self.endpoint.rpartition(":")[2])

    def result(self, status=0):
        """What a server that ended left behind: its lines, record and diagnostics."""
        ended = self.process.wait()
        done = Run(self.process.argv, ended, self.process.stdout, self.process.stderr, header=self.header)
        assert ended == status, f"{self.name} ended with {ended}: {done.stderr}"
        done.record = read_record(self.record_path)
        return done

    def stop(self, status=0):
        """Ends it as an administrator would."""
        self.process.stop()
        return self.result(status)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.running:
            self.process.kill()


class BlackHole(Server):
    name = "bhm"
