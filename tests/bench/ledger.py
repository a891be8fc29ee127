#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a ledger costs postal: messages a second with one and without, in turn, against a sink.

    tests/bench/ledger.py --bin build/release/bin [--sink COMMAND] [--rounds 5] [--messages 300000] [--rate 50000/s]

The sink is bhm, or a command in which PORT stands for the port. Each round runs postal without and with a ledger; the
figures to quote are the medians over rounds of the ratio within a round. The writer's share of a processor is its
thread's CPU time, read from /proc just before the run ends, by the time the run took.
"""
import argparse
import os
import pathlib
import socket
import statistics
import subprocess
import tempfile
import time

TICKS = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        try:
            return socket.create_connection(("127.0.0.1", port), 0.2).close()
        except OSError:
            time.sleep(0.02)
    raise SystemExit(f"nothing listens on port {port}")


def writer_seconds(pid):
    """CPU time of the thread that is called ledger; None when there is none (any more)."""
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*"):
        try:
            if (task / "comm").read_text().strip() == "ledger":
                fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
                return (int(fields[11]) + int(fields[12])) / TICKS
        except OSError:
            pass
    return None


def one_run(command, messages):
    """Messages a second, messages a CPU second, and the writer's share of a processor."""
    begin = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    writer = 0.0
    while not os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        seen = writer_seconds(child.pid)
        writer = seen if seen is not None else writer
        time.sleep(0.01)
    wall = time.monotonic() - begin
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)}: status {child.returncode}")
    return messages / wall, messages / (used.ru_utime + used.ru_stime), writer / wall


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--sink")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--messages", type=int, default=300000)
    parser.add_argument("--rate")
    wanted = parser.parse_args()
    port = free_port()
    sink = wanted.sink.replace("PORT", str(port)) if wanted.sink else f"{wanted.bin}/bhm --listen 127.0.0.1:{port} --verify off"
    rounds = []
    with tempfile.TemporaryDirectory() as place:
        users = pathlib.Path(place) / "users"
        users.write_text("".join(f"user{each}@example.com\n" for each in range(1000)))
        server = subprocess.Popen(sink.split(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for(port)
            for number in range(wanted.rounds):
                command = [f"{wanted.bin}/postal", "-t", "12", "-c", "-1", "-m", "5", "-M", "5", "--pipelining", "overlap", "--messages",
                           str(wanted.messages), *(["--rate", wanted.rate] if wanted.rate else []),
                           f"127.0.0.1:{port}", str(users)]
                book = pathlib.Path(place) / f"book-{number}"
                without = one_run(command, wanted.messages)
                having = one_run([*command[:1], "--ledger", str(book), *command[1:]], wanted.messages)
                rounds.append((without, having))
                print(f"round {number + 1}: {without[0]:8.0f} without, {having[0]:8.0f} with a ledger, messages/s: "
                      f"{having[0] / without[0]:.2f}; {without[1]:.0f} and {having[1]:.0f} messages/CPU s: "
                      f"{having[1] / without[1]:.2f}; the writer used {having[2]:.2f} of a processor", flush=True)
                book.unlink()
        finally:
            server.terminate()
            server.wait()
    median = statistics.median
    print(f"median: {median(b[0] / a[0] for a, b in rounds):.2f} of the messages/s, "
          f"{median(b[1] / a[1] for a, b in rounds):.2f} of the messages/CPU s, "
          f"writer {median(b[2] for a, b in rounds):.2f} of a processor")


if __name__ == "__main__":
    main()
