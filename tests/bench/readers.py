#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What reading and checking mail costs rabid. Prints figures of runs side by side; asserts nothing.

    readers.py pipelined              verified messages/s, and per CPU second, against limit_mailbox.c: POP3 with PIPELINING, and
                                      IMAP with ranges; one worker
    readers.py idle [--count 5000] [--least 1] [--watch]
                                      memory of IMAP sessions in IDLE, by the difference between two runs; with --watch of
                                      sessions of rabid --watch
    readers.py dovecot [--old FOLDER] CPU of rabid and of Dovecot for 10,000 messages (50 users, 200 of 5 KiB each) that are read
                                      and deleted, over POP3 and IMAP; and of the original rabid over POP3 (FOLDER has postal
                                      and rabid 0.76, such as Debian's). That one cannot leave messages where they are, and
                                      pauses at any that are not the original postal's: it gets such

The messages are postal's, of 5 KiB. Every round runs each contender once, in turn; figures are medians over rounds, the first
of which only warms up. `dovecot` needs root; the others need cc. Programs come from $POSTAL_BIN or build/release/bin. All
traffic stays on 127.0.0.1.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import smtplib
import socketserver
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from spread import spread  # noqa: E402
from support.content_filter import TakesMail  # noqa: E402
from support.dovecot import Dovecot  # noqa: E402
from support.postal import run  # noqa: E402
from support.process import Process, free_port, wait_until  # noqa: E402
from support.watched import cpu_seconds, peak_rss  # noqa: E402

BIN = pathlib.Path(os.environ.get("POSTAL_BIN", HERE.parents[2] / "build/release/bin"))
POSTAL, RABID = BIN / "postal", BIN / "rabid"
FIVE_KILOBYTES = ("-m", "5", "-M", "5")
SESSIONS = 12

IDLE_PROFILE = """\
about = "waits for new mail, and does nothing else"
first = ["idle"]
idle = "10m"
"""

IMAP = """
service imap-login {{
  process_limit = 250
  inet_listener imap {{
    address = 127.0.0.1
    port = {imap}
  }}
}}
service pop3-login {{
  inet_listener pop3 {{
    address = 127.0.0.1
    port = {pop3}
  }}
}}
service imap {{
  process_limit = 250
}}
service pop3 {{
  process_limit = 250
}}
"""


def say(text=""):
    print(text, flush=True)


def users_file(folder, users):
    path = folder / "users.txt"
    path.write_text("".join(f"{user} secret\n" for user in users))
    return path


class Store(TakesMail):
    """Writes each message into the server's folder as it came."""

    def take(self, octets):
        folder = self.server.folder
        (folder / f"{len(os.listdir(folder)):06}").write_bytes(octets)
        return "250 2.0.0 stored"


@contextlib.contextmanager
def store(folder):
    """A folder that messages sent to the port are written into, a file each."""
    folder.mkdir()
    socketserver.ThreadingTCPServer.allow_reuse_address = True
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Store) as server:
        server.folder, server.daemon_threads = folder, True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def make_messages(folder, count):
    """A folder with so many messages of postal."""
    mails = folder / "mails"
    with store(mails) as port:
        sent = run([POSTAL, "-L", "-c", "-1", *FIVE_KILOBYTES, "--messages", count, f"127.0.0.1:{port}",
                    users_file(folder, ["user@example.com"])], 300)
    if sent.status or len(os.listdir(mails)) != count:
        sys.exit(f"postal ended with status {sent.status}: {sent.stderr}")
    return mails


class Limit:
    """limit_mailbox.c over so many messages."""

    def __init__(self, folder, messages):
        program = folder / "limit_mailbox"
        subprocess.run(["cc", "-O2", "-o", program, HERE.parent / "limit_mailbox.c"], check=True)
        self.pop3, self.imap = free_port(), free_port()
        self.process = Process([program, self.pop3, self.imap, make_messages(folder, messages)], folder)
        for port in (self.pop3, self.imap):
            self.process.wait_for_listener(("127.0.0.1", port))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stop()


def read(folder, users, *options, pop3=1, imap=1, timeout=900):
    """The record of one run of rabid."""
    record = folder / "rabid.json"
    record.unlink(missing_ok=True)
    done = run([RABID, "--record", record, "-r", "1000000", *options, "--imap", f"127.0.0.1:{imap}", f"127.0.0.1:{pop3}", users],
               timeout)
    if done.status:
        sys.exit(f"rabid ended with status {done.status}: {done.stderr}")
    return json.loads(record.read_text())


def own_cpu(record):
    totals = record["totals"]
    return totals["cpu_user_s"] + totals["cpu_system_s"]


def pipelined(args, folder):
    """Nothing is deleted, so that every connection finds the whole mailbox."""
    users = users_file(folder, [f"user{number}@example.com" for number in range(100)])
    with Limit(folder, args.messages) as server:
        ways = {"POP3, pipelined": ("-i", "0"), "POP3, one by one": ("-i", "0", "--pipelining", "off"), "IMAP, ranges": ("-i", "100")}
        table = {name: [] for name in ways}
        for number in range(args.rounds + 1):
            for name, words in ways.items():
                before = cpu_seconds(server.process.pid)
                record = read(folder, users, "-p", 4, "--workers", "1", "-d", "100:0", "--connections", args.connections, *words,
                              pop3=server.pop3, imap=server.imap)
                verified, totals = record["integrity"]["verified"], record["totals"]
                if verified != totals["messages"] or totals["errors"]:
                    sys.exit(f"{verified} of {totals['messages']} messages verified, {record['errors']}")
                if number:
                    table[name].append((verified / record["duration_s"], verified / own_cpu(record),
                                        verified / max(cpu_seconds(server.process.pid) - before, 0.01)))
    say(f"{'':20} {'verified/s':>26} {'per CPU second':>26} {'server, per CPU second':>26}")
    for name, runs in table.items():
        wall, own, theirs = (spread(column, "{:.0f}") for column in zip(*runs))
        say(f"{name:20} {wall:>26} {own:>26} {theirs:>26}")


def resident(pid, what="VmRSS"):
    found = re.search(rf"{what}:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) * 1024


def allow_descriptors(count):
    """For the programs that are started from here on."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < count:
        sys.exit(f"{count} open files are wanted, and the limit (ulimit -Hn) is {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count), hard))


def idle(args, folder):
    """The difference between few sessions and many, each session's share of it."""
    allow_descriptors(args.count + 50)
    profile = folder / "idle.toml"
    profile.write_text(IDLE_PROFILE)
    with Limit(folder, 10) as server:
        base = measure_idle(args, folder, server, profile, args.least)
        many = measure_idle(args, folder, server, profile, args.count)
    say(f"{args.count} sessions were in IDLE after {many['seconds']:.1f} s")
    for name in ("now", "own", "peak"):
        share = (many[name] - base[name]) / (args.count - args.least) / 1024
        say(f"{name:8} {base[name] / 2**20:8.1f} MiB with {args.least}, {many[name] / 2**20:8.1f} MiB, {share:6.2f} KiB a session")


def measure_idle(args, folder, server, profile, count):
    users = users_file(folder, [f"user{number}@example.com" for number in range(count)])
    record = folder / f"idle-{count}.json"
    way = ("--watch", "25m") if args.watch else ("--profile", profile)
    words = [RABID, "-p", count, "-i", "100", "-r", "1000000", "--workers", args.workers, *way, "--record", record,
             "--imap", f"127.0.0.1:{server.imap}", f"127.0.0.1:{server.pop3}", users]
    descriptors = f"/proc/{server.process.pid}/fd"
    before, begin = len(os.listdir(descriptors)), time.monotonic()
    process = Process(words, folder, f"idle-{count}")
    try:
        wait_until(lambda: len(os.listdir(descriptors)) >= before + count, f"{count} connections", 180)
        seconds = time.monotonic() - begin
        wait_until(nothing_done_by(process.pid), "rabid to be idle", 60)
        memory = {"now": resident(process.pid), "own": resident(process.pid, "RssAnon"), "peak": peak_rss(process.pid), "seconds": seconds}
        process.stop()
    finally:
        process.kill()
    totals = json.loads(record.read_text())
    if totals["latency_us"]["list"]["count"] != count or totals["totals"]["errors"]:
        sys.exit(f"not all were in IDLE: {totals['latency_us']['list']['count']} of {count}, {totals['errors']}")
    return memory


def nothing_done_by(pid):
    """A condition for wait_until: true when the process used no processor time since the last look, half a second ago."""
    last = [-1.0]

    def look():
        before, last[0] = last[0], cpu_seconds(pid)
        time.sleep(0.5)
        return last[0] == before
    return look


class Children:
    """CPU seconds of a process and all that descend from it, ended ones included, since the last look."""

    def __init__(self, pid):
        self.pid, self.last = pid, 0.0
        self.look()

    def look(self):
        total = self.total()
        since, self.last = total - self.last, total
        return since

    def total(self):
        parents, used = {}, {}
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = path.read_text().rsplit(")", 1)[1].split()
                pid = int(path.parent.name)
                parents[pid], used[pid] = int(fields[1]), sum(int(field) for field in fields[11:15])
        total = 0
        for pid in parents:
            at = pid
            while at in parents and at != self.pid:
                at = parents[at]
            total += used[pid] if at == self.pid else 0
        return total / os.sysconf("SC_CLK_TCK")


def fill(folder, server, users, each):
    """So many messages for each user, through Dovecot's LMTP."""
    for number, user in enumerate(users):
        done = run([POSTAL, "-L", "-t", "4", "-c", "-1", *FIVE_KILOBYTES, "--messages", each, server.endpoint,
                    users_file(folder, [user])], 300)
        if done.status:
            sys.exit(f"postal ended with status {done.status}: {done.stderr} ({number} of {len(users)} users)")


def by_rabid(folder, users, ports, *options):
    """Messages, rabid's CPU seconds and the time for all mailboxes, each read once and emptied."""
    record = read(folder, users, "-p", SESSIONS, *options, **ports)
    verified, deleted = record["integrity"]["verified"], record["totals"]["deleted"]
    if verified != deleted or record["totals"]["errors"]:
        sys.exit(f"{verified} messages verified, {deleted} deleted, {record['errors']}")
    return verified, own_cpu(record), record["duration_s"]


def fill_with_original(folder, program, server, users, each):
    """The same messages of the original postal for each user."""
    mails = folder / "old-mails"
    with store(mails) as port:
        sender = Process([program, "-t", "1", "-c", "100", *FIVE_KILOBYTES, "-r", "100000", f"[127.0.0.1]{port}",
                          users_file(folder, users)], folder, "old-postal", cwd=folder)  # its log goes to the current folder
        try:
            wait_until(lambda: len(os.listdir(mails)) > each, "mail of the original postal", 120)
        finally:
            sender.kill()
    with smtplib.LMTP("127.0.0.1", server.port) as client:
        for path in sorted(mails.iterdir())[:each]:
            for user in users:  # smtplib expects one reply
                client.sendmail("sender@example.com", user, path.read_bytes())


def by_original(program, folder, users, ports, server):
    """The same of the original, which never ends: until nine tenths are gone, for it meets accounts by chance."""
    process = Process([program, "-p", SESSIONS, f"[127.0.0.1]{ports['pop3']}", users], folder, "old-rabid", cwd=folder)
    used, begin = Children(process.pid), time.monotonic()
    try:
        names = [line.split()[0] for line in users.read_text().splitlines()]
        there = stored(server, names)
        wait_until(lambda: stored(server, names) <= there / 10, "the original to be done", 200)
        return there - stored(server, names), used.look(), time.monotonic() - begin
    finally:
        process.kill()


def stored(server, users):
    """How many messages lie in their Maildirs."""
    folders = [server.mail / user / "Maildir" / place for user in users for place in ("new", "cur")]
    return sum(len(os.listdir(folder)) for folder in folders)


class Refill:
    """Puts all mailboxes back as they were when it was made."""

    def __init__(self, server):
        self.mail, self.kept = server.mail, server.mail.with_name("mail.kept")
        subprocess.run(["cp", "-a", self.mail, self.kept], check=True)

    def __call__(self):
        for path in self.mail.iterdir():
            shutil.rmtree(path)
        subprocess.run(["cp", "-a", f"{self.kept}/.", self.mail], check=True)


def dovecot(args, folder):
    names = [f"user{number}@example.com" for number in range(50)]
    old_names = [f"old{number}@example.com" for number in range(50)]
    ports = {"pop3": free_port(), "imap": free_port()}
    server = Dovecot(folder, names + old_names, protocols="lmtp pop3 imap", extra=IMAP.format(**ports))
    try:
        for port in ports.values():
            server.process.wait_for_listener(("127.0.0.1", port))
        fill(folder, server, names, args.each)
        once = ("--connections", len(names))
        ways = {"rabid, POP3": lambda: by_rabid(folder, users, ports, *once, "-i", "0"),
                "rabid, IMAP": lambda: by_rabid(folder, users, ports, *once, "-i", "100")}
        if args.old:
            fill_with_original(folder, args.old / "postal", server, old_names, args.each)
            old_users = users_file(folder, old_names).rename(folder / "old-users.txt")
            ways["original, POP3"] = lambda: by_original(args.old / "rabid", folder, old_users, ports, server)
        users = users_file(folder, names)
        refill = Refill(server)
        table = {name: [] for name in ways}
        for number in range(args.rounds + 1):
            for name, measure in ways.items():
                refill()
                watcher = Children(server.process.pid)
                messages, own, seconds = measure()
                if number:
                    table[name].append((messages, own / messages * 10_000, watcher.look() / messages * 10_000, messages / seconds))
    finally:
        server.stop()
    say(f"{'for 10,000 messages':20} {'messages':>9} {'own CPU s':>23} {'Dovecot CPU s':>20} {'messages/s':>20}")
    for name, runs in table.items():
        messages, own, theirs, rate = zip(*runs)
        say(f"{name:20} {statistics.median(messages):9.0f} {spread(own, '{:.3f}'):>23} {spread(theirs):>20} "
            f"{spread(rate, '{:.0f}'):>20}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = {"pipelined": pipelined, "idle": idle, "dovecot": dovecot}
    parser.add_argument("what", choices=kinds)
    parser.add_argument("--messages", type=int, default=1000, help="of the mailbox (pipelined)")
    parser.add_argument("--connections", type=int, default=200, help="of a run, each of which reads all of them (pipelined)")
    parser.add_argument("--count", type=int, default=5000, help="sessions (idle)")
    parser.add_argument("--least", type=int, default=1, help="sessions of the run that it is compared with (idle)")
    parser.add_argument("--watch", action="store_true", help="sessions watch, and follow no profile (idle)")
    parser.add_argument("--workers", type=int, default=1, help="of rabid (idle)")
    parser.add_argument("--each", type=int, default=200, help="messages of a user (dovecot)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--old", type=lambda text: pathlib.Path(text).resolve(), help="folder of the original programs (dovecot)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder)
        top.chmod(0o755)
        kinds[args.what](args, top)


if __name__ == "__main__":
    main()
