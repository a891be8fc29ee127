#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reproduces the figures of docs/method.md. Prints ratios of runs side by side; asserts nothing.

    figures.py sessions [--count 10000]      memory of open sessions in postal and bhm, and the time to open them
    figures.py growth   [--messages 1000000] memory during a long run (10000000 for the published figure)
    figures.py workers  [--sink COMMAND]     messages/s with one worker and with two
    figures.py in-flight [--sink COMMAND]    BDAT with one transaction in flight and with sixteen
    figures.py digests  [--source COMMAND]   bhm with its digest checks off and on
    figures.py open-loop                     2,000 messages a second for 30 s

Every round runs each contender once, in turn, so that drift of a shared machine hits all alike; the figure
is the median over rounds of the ratio within a round. The first round only warms up. A COMMAND replaces this
project's own peer by another program: {port} is replaced, for a source {messages}, {sessions} and {size} too,
as in --sink 'smtp-sink -u nobody 127.0.0.1:{port} 1000'. Programs come from $POSTAL_BIN or build/release/bin.
All traffic stays on 127.0.0.1.
"""
import argparse
import json
import os
import pathlib
import shlex
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from spread import spread  # noqa: E402
from support.postal import BlackHole, run  # noqa: E402
from support.process import Process, free_port, wait_until  # noqa: E402
from support.watched import Sending, cpu_seconds, peak_rss  # noqa: E402

BIN = pathlib.Path(os.environ.get("POSTAL_BIN", HERE.parents[2] / "build/release/bin"))
POSTAL, BHM = BIN / "postal", BIN / "bhm"
SESSIONS, SIZE = 12, 5120
FIVE_KILOBYTES = ("-m", "5", "-M", "5")


class Sink:
    """What takes the mail: bhm, or the program that --sink names."""

    def __init__(self, command, folder, *options, sessions=1000):
        if command:
            self.port = free_port()
            self.process = Process(shlex.split(command.format(port=self.port)), folder, "sink")
            self.process.wait_for_listener(("127.0.0.1", self.port))
        else:
            hole = BlackHole(BHM, folder, "--workers", "1", "-t", str(sessions), *options)
            self.process, self.port = hole.process, hole.port
        self.pid, self.endpoint = self.process.pid, f"127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stop()


def users_file(folder):
    path = pathlib.Path(folder) / "users"
    path.write_text("".join(f"user{i}@example.com password{i}\n" for i in range(1000)))
    return path


def rounds_of(contenders, rounds):
    """contenders: name -> function() -> figures."""
    table = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name, measure in contenders.items():
            figures = measure()
            if number:
                table[name].append(figures)
    return table


def show(title, table):
    base = next(iter(table))
    print(f"\n{title}\n{'':28} {'messages/s':>12} {'per CPU s':>12} {'ratio (wall)':>22} {'ratio (CPU)':>22}   against {base}")
    for name, runs in table.items():
        medians = [statistics.median(run[i] for run in runs) for i in (0, 1)]
        ratios = [spread(run[i] / reference[i] for run, reference in zip(runs, table[base])) for i in (0, 1)]
        print(f"{name:28} {medians[0]:12.0f} {medians[1]:12.0f} {ratios[0]:>22} {ratios[1]:>22}")


def send(folder, endpoint, messages, *options):
    """One run of postal: messages per second, and per processor second of postal."""
    words = [POSTAL, "--record", pathlib.Path(folder) / "run.json", "-t", SESSIONS, "-c", "-1", *FIVE_KILOBYTES,
             "--pipelining", "overlap", "--messages", messages, *options, endpoint, users_file(folder)]
    done = run(words, 900)
    if done.status:
        sys.exit(f"postal ended with status {done.status}: {done.stderr}")
    record = json.loads((pathlib.Path(folder) / "run.json").read_text())
    totals = record["totals"]
    return totals["messages"] / record["duration_s"], totals["messages"] / (totals["cpu_user_s"] + totals["cpu_system_s"])


def sessions(args, folder):
    """The difference between a run with one session and one with many, each session's share of it. The
    server holds its replies back, so that all sessions are open at once, each with a message under way."""
    base = measure_sessions(folder, 1)
    many = measure_sessions(folder, args.count)
    print(f"{args.count} sessions were open after {many['seconds']:.1f} s; {many['errors']} errors")
    for name in ("postal", "bhm"):
        share = (many[name] - base[name]) / (args.count - 1)
        print(f"{name:8} {many[name] / 2**20:8.1f} MiB at its peak, {share / 1024:6.2f} KiB a session")


def measure_sessions(folder, count):
    with Sink(None, folder, "--delay", "end=8s", sessions=count + 100) as sink:
        begin = time.monotonic()
        with Sending(POSTAL, folder, "-t", count, "-c", "1", *FIVE_KILOBYTES, "--workers", "1",
                     "--messages", count, sink.endpoint, users_file(folder), name=f"sessions-{count}") as sending:
            wait_until(lambda: len(os.listdir(f"/proc/{sink.pid}/fd")) >= count, f"{count} connections", 60)
            seconds = time.monotonic() - begin
            done = sending.wait(120)
        return {"postal": done.peak_rss, "bhm": peak_rss(sink.pid), "seconds": seconds, "errors": done.total("errors")}


def growth(args, folder):
    with Sink(None, folder, "--verify", "off") as sink:
        with Sending(POSTAL, folder, "-t", SESSIONS, "-c", "-1", "--chunking", "auto", "--in-flight", "16", "--interval", "1s",
                     "-m", "1", "-M", "1", "--messages", args.messages, sink.endpoint, users_file(folder)) as sending:
            def tenth():
                done = sum(int(line.split(",")[1]) for line in sending.process.stdout.splitlines()[1:] if line.count(",") == 5)
                return done >= args.messages / 10 or not sending.process.running
            wait_until(tenth, "a tenth of the messages", 3600)
            early = {"postal": peak_rss(sending.pid), "bhm": peak_rss(sink.pid)}
            done = sending.wait(7200)
        late = {"postal": done.peak_rss, "bhm": peak_rss(sink.pid)}
    print(f"{done.total('messages')} messages in {done.record['duration_s']:.0f} s, peak memory after a tenth of them and at the end:")
    for name in early:
        print(f"{name:8} {early[name] / 2**20:8.1f} MiB {late[name] / 2**20:8.1f} MiB   grew by {(late[name] - early[name]) / 1024:.0f} KiB")


def compare_sending(title, args, folder, variants):
    with Sink(args.sink, folder, "--verify", "off") as sink:
        contenders = {name: (lambda words=words: send(folder, sink.endpoint, args.messages, *words)) for name, words in variants.items()}
        show(title, rounds_of(contenders, args.rounds))


def workers(args, folder):
    compare_sending(f"Workers, on {os.cpu_count()} cores that the sink shares", args, folder,
                    {"one worker": ("--workers", "1"), "two workers": ("--workers", "2")})


def in_flight(args, folder):
    chunked = ("--workers", "1", "--chunking", "auto", "--in-flight")
    compare_sending("Transactions in flight on one connection (BDAT)", args, folder,
                    {"one in flight": (*chunked, "1"), "sixteen in flight": (*chunked, "16")})


def digests(args, folder):
    def measure(verify):
        def one():
            with Sink(None, folder, "--verify", verify) as sink:
                before, begin = cpu_seconds(sink.pid), time.monotonic()
                if args.source:
                    words = args.source.format(port=sink.port, messages=args.messages, sessions=SESSIONS, size=SIZE)
                    done = run(shlex.split(words), 900)
                    if done.status:
                        sys.exit(f"{words}\nended with status {done.status}: {done.stderr}")
                else:
                    send(folder, sink.endpoint, args.messages, "--workers", "1")
                wall = time.monotonic() - begin
                return args.messages / wall, args.messages / max(cpu_seconds(sink.pid) - before, 0.01)
        return one
    show("bhm, digest checks (processor seconds are bhm's)",
         rounds_of({"digest checks off": measure("off"), "digest checks on": measure("on")}, args.rounds))


def open_loop(args, folder):
    with Sink(None, folder) as sink:
        done = run([POSTAL, "--record", pathlib.Path(folder) / "run.json", "--open-loop", "--rate", "2000/s", "-t", "50", "-c", "-1",
                    *FIVE_KILOBYTES, "--duration", "30s", sink.endpoint, users_file(folder)])
    record = json.loads((pathlib.Path(folder) / "run.json").read_text())
    latency, totals = record["latency_us"], record["totals"]
    print(f"{totals['messages']} of 60000 messages ({totals['messages'] / 600 - 100:+.3f} %), status {done.status}, generator {record['generator']}")
    for phase in ("message", "service"):
        print(f"{phase:8} p50 {latency[phase]['p50'] / 1000:8.3f} ms   p99 {latency[phase]['p99'] / 1000:8.3f} ms   max {latency[phase]['max'] / 1000:8.3f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = {"sessions": sessions, "growth": growth, "workers": workers, "in-flight": in_flight, "digests": digests, "open-loop": open_loop}
    parser.add_argument("what", choices=kinds)
    parser.add_argument("--count", type=int, default=10_000, help="sessions to open")
    parser.add_argument("--messages", type=int, help="messages a run (default 40000; growth 1000000)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sink", help="command of another program that takes the mail")
    parser.add_argument("--source", help="command of another program that sends it")
    args = parser.parse_args()
    args.messages = args.messages or (1_000_000 if args.what == "growth" else 40_000)
    with tempfile.TemporaryDirectory() as folder:
        kinds[args.what](args, folder)


if __name__ == "__main__":
    main()
