#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What TLS costs with each library. Prints figures of runs side by side; asserts nothing.

    tls.py handshakes            full and resumed handshakes per CPU second of the client, against `openssl s_time` and against
                                 limit_handshakes.c (GnuTLS), all with the same bhm
    tls.py bulk                  messages of 1 MiB over one connection, against `openssl speed -evp aes-256-gcm`
    tls.py sessions [--count N]  memory of open sessions in postal and bhm
    tls.py mail                  messages/s and CPU of both ends: plain, TLS on kept connections, a connection for each message

Every round runs each contender once, in turn; figures are medians over rounds, the first of which only warms up. Both libraries
use X25519, ECDSA with P-256 and AES-256-GCM, so that they do the same work. Programs come from $POSTAL_BIN or build/release/bin;
openssl and cc must be there. All traffic stays on 127.0.0.1.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from figures import BHM, POSTAL, rounds_of, users_file  # noqa: E402
from spread import spread  # noqa: E402
from support.postal import run  # noqa: E402
from support.process import Process, free_port, wait_until  # noqa: E402
from support.watched import Sending, cpu_seconds, peak_rss  # noqa: E402

LIBRARIES = ("openssl", "gnutls")
SAME_WORK = ("--tls-groups", "X25519", "--tls-ciphers", "AES-256-GCM", "--tls-min", "1.3")


class Hole:
    """A bhm that speaks TLS from the first octet at `port`, and plain at `plain`."""

    def __init__(self, folder, library="openssl", *options):
        self.port, self.plain = free_port(), free_port()
        words = [BHM, "--listen", f"127.0.0.1:{self.plain}", "--listen-tls", f"127.0.0.1:{self.port}", "--workers", "1",
                 "--tls-backend", library, "--verify", "off", "-t", "4000", "-m", "20480", *options]
        self.process = Process(words, folder, "bhm")
        for port in (self.plain, self.port):
            self.process.wait_for_line(rf"listening on 127.0.0.1:{port}$")
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stop()


def used(words, pattern=None):
    """Runs a command to its end: its output, and the CPU seconds that it took."""
    with subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as child:
        text = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):  # s_time ends with 1 when a round of it was cut off
        sys.exit(f"{words}\nended with {child.returncode}: {text}")
    return text, usage.ru_utime + usage.ru_stime


def s_time(port, seconds, kind):
    """s_time hears no greeting, and so gets no ticket of TLS 1.3: what it resumes is a session of TLS 1.2."""
    version = ["-tls1_3", "-ciphersuites", "TLS_AES_256_GCM_SHA384"] if kind == "new" else ["-tls1_2"]
    text, cpu = used(["openssl", "s_time", "-connect", f"127.0.0.1:{port}", f"-{kind}", "-time", seconds, *version])
    return int(re.findall(r"^(\d+) connections in .* real seconds", text, re.MULTILINE)[-1]) / cpu


def limit_loop(program, port, seconds, kind):
    text, _ = used([program, port, seconds, kind])
    count, cpu = text.split()
    return int(count) / float(cpu)


def connects(folder, port, seconds, library, resumed, count=1):
    """postal that only connects, over `count` sessions: handshakes of the wanted kind per CPU second, its process' start with
    it. OpenSSL resumes TLS 1.2, as s_time does."""
    work = ("--tls-max", "1.2") if resumed and library == "openssl" else SAME_WORK
    record = folder / "run.json"
    _, cpu = used([POSTAL, "-c", "0", "-t", count, "--workers", "1", "--tls", "implicit", "--tls-backend", library, *work,
                   *(["--tls-resume", "100"] if resumed else []), "--duration", f"{seconds}s", "--record", record,
                   f"127.0.0.1:{port}", users_file(folder)])
    tls = json.loads(record.read_text())["tls"]
    return (tls["resumed"] + tls["full"]) / cpu if not resumed else tls["resumed"] / cpu


def show(title, unit, table, reference):
    print(f"\n{title}\n{'':36} {unit:>24} {'ratio':>22}   against {reference}")
    for name, runs in table.items():
        ratios = spread(one / other for one, other in zip(runs, table[reference]))
        print(f"{name:36} {spread(runs, '{:.0f}'):>24} {ratios:>22}")


def handshakes(args, folder):
    loop = folder / "limit_handshakes"
    subprocess.run(["cc", "-O2", str(HERE.parent / "limit_handshakes.c"), "-o", str(loop), "-lgnutls"], check=True)
    with Hole(folder, "openssl", "--tls-groups", "X25519") as hole:
        for kind, resumed in (("new", False), ("reuse", True)):
            table = rounds_of({
                "openssl s_time": lambda kind=kind: s_time(hole.port, args.seconds, kind),
                "postal, OpenSSL": lambda resumed=resumed: connects(folder, hole.port, args.seconds, "openssl", resumed),
                "postal, OpenSSL, 12 sessions":
                    lambda resumed=resumed: connects(folder, hole.port, args.seconds, "openssl", resumed, 12),
                "GnuTLS loop": lambda kind=kind: limit_loop(loop, hole.port, args.seconds, kind),
                "postal, GnuTLS": lambda resumed=resumed: connects(folder, hole.port, args.seconds, "gnutls", resumed),
                "postal, GnuTLS, 12 sessions":
                    lambda resumed=resumed: connects(folder, hole.port, args.seconds, "gnutls", resumed, 12),
            }, args.rounds)
            title = "Resumed" if resumed else "Full"
            show(f"{title} handshakes ({'TLS 1.2' if resumed else 'TLS 1.3, X25519, ECDSA P-256'}; postal says EHLO and QUIT besides)", "per CPU s",
                 {name: table[name] for name in table if "GnuTLS" not in name}, "openssl s_time")
            show(f"{title} handshakes with GnuTLS (TLS 1.3)", "per CPU s",
                 {name: table[name] for name in table if "GnuTLS" in name}, "GnuTLS loop")


def cipher_speed():
    """MB/s of one core that only encrypts, in records of 16 KiB."""
    text, _ = used(["openssl", "speed", "-evp", "aes-256-gcm", "-bytes", "16384", "-seconds", "2"])
    return float(re.search(r"AES-256-GCM\s+([\d.]+)k", text, re.IGNORECASE)[1]) / 1000


def send(folder, endpoint, pid, messages, *options):
    """One run of postal: messages/s, and messages per CPU second of both ends together."""
    record = folder / "run.json"
    before = cpu_seconds(pid)
    done = run([POSTAL, "--record", record, "--workers", "1", "--pipelining", "overlap", "--messages", messages, *options, endpoint,
                users_file(folder)], 900)
    if done.status:
        sys.exit(f"postal ended with status {done.status}: {done.stderr}")
    totals = json.loads(record.read_text())["totals"]
    duration = json.loads(record.read_text())["duration_s"]
    cpu = totals["cpu_user_s"] + totals["cpu_system_s"] + cpu_seconds(pid) - before
    return totals["messages"] / duration, totals["messages"] / max(cpu, 0.01)


def bulk(args, folder):
    big = ("-t", "1", "-c", "-1", "-m", "1024", "-M", "1024")
    messages = args.messages or 2000
    table = {}
    for number in range(args.rounds + 1):
        for library, chunking in ((library, chunking) for library in (None, *LIBRARIES) for chunking in ("off", "auto")):
            with Hole(folder, library or "openssl") as hole:
                tls = ("--tls", "implicit", "--tls-backend", library, *SAME_WORK) if library else ()
                figures = send(folder, f"127.0.0.1:{hole.port if library else hole.plain}", hole.pid, messages, *big, *tls,
                               "--chunking", chunking)
            if number:
                table.setdefault(f"{library or 'plain'}, {'DATA' if chunking == 'off' else 'BDAT'}", []).append(figures)
        if number:
            table.setdefault("aes-256-gcm", []).append(cipher_speed())
    speed = statistics.median(table.pop("aes-256-gcm"))
    megabyte = 1.048576
    print(f"\n1 MiB messages over one connection; openssl speed aes-256-gcm: {speed:.0f} MB/s a core, so {speed / 2:.0f} where one "
          f"core does both ends\n{'':15} {'MB/s':>24} {'of the shared speed':>22}")
    for name, runs in table.items():
        rates = [one[0] * megabyte for one in runs]
        print(f"{name:15} {spread(rates, '{:.0f}'):>24} {spread(rate / (speed / 2) for rate in rates):>22}")


def sessions(args, folder):
    for library in (None, *LIBRARIES):
        peaks = {}
        for count in (10, args.count):
            with Hole(folder, library or "openssl", "--delay", "end=4s") as hole:
                tls = ("--tls", "implicit", "--tls-backend", library, *SAME_WORK) if library else ()
                port = hole.port if library else hole.plain
                with Sending(POSTAL, folder, "-t", count, "-c", "1", "-m", "1", "--workers", "1", *tls, "--messages", count,
                             f"127.0.0.1:{port}", users_file(folder), name=f"{library}-{count}") as sending:
                    wait_until(lambda: len(os.listdir(f"/proc/{hole.pid}/fd")) >= count, f"{count} connections", 60)
                    done = sending.wait(120)
                peaks[count] = done.peak_rss, peak_rss(hole.pid)
        shares = [(many - few) / (args.count - 10) / 1024 for few, many in zip(peaks[10], peaks[args.count])]
        print(f"{library or 'plain':8} {args.count} sessions: {shares[0]:6.1f} KiB each in postal, {shares[1]:6.1f} KiB in bhm; "
              f"{done.total('errors')} errors", flush=True)


def mail(args, folder):
    kept, each = ("-t", "12", "-c", "-1", "-m", "5", "-M", "5"), ("-t", "12", "-c", "1", "-m", "5", "-M", "5")
    messages = args.messages or 20_000

    def measure(library, options, share, resume="0"):
        def one():
            with Hole(folder, library or "openssl") as hole:
                tls = ("--tls", "implicit", "--tls-backend", library, *SAME_WORK, "--tls-resume", resume) if library else ()
                return send(folder, f"127.0.0.1:{hole.port if library else hole.plain}", hole.pid, messages // share, *options, *tls)
        return one
    contenders = {"kept, plain": measure(None, kept, 1)}
    contenders |= {f"kept, {one}": measure(one, kept, 1) for one in LIBRARIES}
    contenders |= {"one each, plain": measure(None, each, 4)}
    contenders |= {f"one each, {one}": measure(one, each, 4) for one in LIBRARIES}
    contenders |= {f"one each, {one}, resumed": measure(one, each, 4, "100") for one in LIBRARIES}
    table = rounds_of(contenders, args.rounds)
    print(f"\nMessages of 5 KiB over 12 sessions, postal to bhm with the same library\n{'':30} {'messages/s':>24} {'CPU us a message, both ends':>28}")
    for name, runs in table.items():
        rates, costs = [one[0] for one in runs], [1e6 / one[1] for one in runs]
        print(f"{name:30} {spread(rates, '{:.0f}'):>24} {spread(costs, '{:.0f}'):>28}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = {"handshakes": handshakes, "bulk": bulk, "sessions": sessions, "mail": mail}
    parser.add_argument("what", choices=kinds)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3, help="of each run of handshakes")
    parser.add_argument("--count", type=int, default=1000, help="sessions to open")
    parser.add_argument("--messages", type=int, help="a run")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kinds[args.what](args, pathlib.Path(folder))


if __name__ == "__main__":
    main()
