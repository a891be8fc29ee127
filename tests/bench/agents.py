#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What running a delivery agent for every message costs. Prints ratios of runs side by side; asserts nothing.

    agents.py limit --limit COMMAND   deliveries/s of postal -L -> lmtp-deliver against a program that only starts agents
    agents.py servers                 dovecot-lda behind lmtp-deliver, behind Postfix's pipe(8), and Dovecot's own LMTP
    agents.py memory                  1,000 idle sessions, and 100 messages of 100 MiB at once

COMMAND prints "N deliveries/s" and takes {messages}, {sessions}, {size} and {agent}. Every round runs each contender once, in
turn; figures are medians over rounds, ratios those within a round. Needs root for Dovecot and Postfix. Programs come from
$POSTAL_BIN or build/release/bin. All traffic stays on 127.0.0.1.
"""
import argparse
import json
import os
import pathlib
import pwd
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from spread import spread  # noqa: E402
from support.deliver import Deliverer  # noqa: E402
from support.dovecot import Dovecot  # noqa: E402
from support.postal import run  # noqa: E402
from support.postfix import Postfix  # noqa: E402
from support.watched import cpu_seconds, peak_rss  # noqa: E402

BIN = pathlib.Path(os.environ.get("POSTAL_BIN", HERE.parents[2] / "build/release/bin"))
POSTAL, DELIVER = BIN / "postal", BIN / "lmtp-deliver"
SESSIONS, SIZE = 12, 5120
USERS = [f"user{number}@example.com" for number in range(50)]
LDA = "/usr/lib/dovecot/dovecot-lda -c {folder}/dovecot.conf -e -f %from% -d %to%"


def median(values):
    return statistics.median(values)


def send(folder, endpoint, messages, *options, users=USERS):
    """The record of one run of postal."""
    path = folder / "users.txt"
    path.write_text("".join(f"{user}\n" for user in users))
    record = folder / "postal.json"
    done = run([POSTAL, "--record", record, "-t", SESSIONS, "-c", "-1", "-m", "5", "-M", "5", "--pipelining", "overlap", "--messages",
                messages, *options, endpoint, path], 900)
    if done.status:
        sys.exit(f"postal ended with status {done.status}: {done.stderr}")
    return json.loads(record.read_text())


def rate(record):
    return record["totals"]["messages"] / record["duration_s"]


class Place:
    """A folder of a measurement, with a Dovecot where one is wanted."""

    def __init__(self, top, name, dovecot=False):
        self.folder = top / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.dovecot = Dovecot(self.folder, USERS, extra=LDA_ACCESS) if dovecot else None
        if dovecot:
            (self.folder / "dovecot.log").chmod(0o666)  # pipe(8) runs agents as another user

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.dovecot:
            self.dovecot.stop()


LDA_ACCESS = """
service auth {
  unix_listener auth-userdb {
    mode = 0666
  }
}
service stats {
  unix_listener stats-writer {
    mode = 0666
  }
}
"""


def through_deliver(place, agent, messages, users=USERS):
    """Deliveries/s, own CPU in us a delivery, and the agents' CPU in us a delivery."""
    server = Deliverer(DELIVER, place.folder, agent)
    try:
        record = send(place.folder, server.endpoint, messages, "-L", users=users)
        done = server.stop().record
    finally:
        server.__exit__()
    totals, agents = done["totals"], done["agents"]
    own = totals["cpu_user_s"] + totals["cpu_system_s"]
    theirs = agents["cpu_user_s"] + agents["cpu_system_s"]
    return rate(record), own / totals["messages"] * 1e6, theirs / totals["messages"] * 1e6


def through_limit(command, agent, messages):
    words = shlex.split(command.format(messages=messages, sessions=SESSIONS, size=SIZE, agent=agent))
    text = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    return float(re.search(r"([\d.]+) deliveries/s", text)[1])


def limit(args, top):
    if not args.limit:
        sys.exit("limit: give --limit 'PROGRAM {messages} {sessions} {size} {agent}'")
    agents = {"/bin/true": ("/bin/true", "/bin/true", 4),
              "/bin/dd to /dev/null": ("/bin/dd of=/dev/null bs=64k status=none",) * 2 + (3,),
              "dovecot-lda": ("/usr/lib/dovecot/dovecot-lda -c {folder}/dovecot.conf -e -f a@example.com -d user1@example.com",
                              LDA, 1)}
    print(f"{'agent':22} {'limit/s':>9} {'deliveries/s':>13} {'ratio':>22} {'own us':>17} {'agent us':>21}")
    for name, (bare, template, more) in agents.items():
        rounds = []
        for number in range(args.rounds + 1):
            with Place(top, "limit", dovecot="{folder}" in bare) as place:
                least = through_limit(args.limit, bare.format(folder=place.folder), args.messages * more)
                got = through_deliver(place, template.format(folder=place.folder), args.messages * more, USERS[1:2])
            if number:
                rounds.append((least, *got, got[0] / least))
        limits, deliveries, own, agents, ratios = zip(*rounds)
        print(f"{name:22} {median(limits):9.0f} {median(deliveries):13.0f} {spread(ratios):>22} {spread(own, '{:.0f}'):>17} "
              f"{spread(agents, '{:.0f}'):>21}", flush=True)


def own_lmtp(place, messages):
    return rate(send(place.folder, place.dovecot.endpoint, messages, "-L"))


def behind_pipe(place, messages):
    """From the first message to the moment when Postfix is done with the last."""
    agent = LDA.format(folder=place.folder).replace("%from%", "${sender}").replace("%to%", "${recipient}")
    owner = pwd.getpwnam("mail").pw_name
    (place.folder / "postfix").mkdir()
    postfix = Postfix(place.folder / "postfix", "lda:", f"lda unix - n n - {SESSIONS} pipe\n  user={owner} argv={agent}\n",
                      lda_destination_recipient_limit="1", lda_destination_concurrency_limit=str(SESSIONS),
                      initial_destination_concurrency=str(SESSIONS))
    try:
        begin = time.monotonic()
        send(place.folder, postfix.endpoint, messages)
        postfix.drain(messages, 900)
        return messages / (time.monotonic() - begin)
    finally:
        postfix.stop()


def servers(args, top):
    contenders = {
        "lmtp-deliver, /bin/true": lambda place: through_deliver(place, "/bin/true", args.messages)[0],
        "lmtp-deliver, dovecot-lda": lambda place: through_deliver(place, LDA.format(folder=place.folder), args.messages)[0],
        "Postfix pipe(8), dovecot-lda": lambda place: behind_pipe(place, args.messages),
        "Dovecot's LMTP server": lambda place: own_lmtp(place, args.messages),
    }
    table = {name: [] for name in contenders}
    for number in range(args.rounds + 1):
        for name, measure in contenders.items():
            with Place(top, "servers", dovecot=True) as place:
                figure = measure(place)
            if number:
                table[name].append(figure)
    base = "lmtp-deliver, dovecot-lda"
    print(f"{'':30} {'messages/min':>28} {'ratio':>22}")
    for name, figures in table.items():
        ratios = spread(figure / reference for figure, reference in zip(figures, table[base]))
        print(f"{name:30} {spread((figure * 60 for figure in figures), '{:.0f}'):>28} {ratios:>22}")


def memory(args, top):
    with Place(top, "idle") as place:
        server = Deliverer(DELIVER, place.folder, "/bin/true")
        clients = [server.connect() for _ in range(1000)]
        print(f"1000 idle sessions: {peak_rss(server.pid) / 2**20:.1f} MiB resident at most")
        for client in clients:
            client.close()
        server.__exit__()
    with Place(top, "large") as place:
        server = Deliverer(DELIVER, place.folder, "/bin/cat")
        before = cpu_seconds(server.pid)
        record = send(place.folder, server.endpoint, 100, "-L", "-t", "100", "-m", "102400", "-M", "102400")
        print(f"100 messages of 100 MiB at once: {peak_rss(server.pid) / 2**20:.1f} MiB resident at most, "
              f"{record['totals']['bytes'] / 2**20 / record['duration_s']:.0f} MiB/s, "
              f"{cpu_seconds(server.pid) - before:.1f} CPU seconds")
        server.__exit__()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = {"limit": limit, "servers": servers, "memory": memory}
    parser.add_argument("what", choices=kinds)
    parser.add_argument("--messages", type=int, default=2000, help="messages a run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", help="command of a program that only starts agents")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder)
        top.chmod(0o755)
        kinds[args.what](args, top)


if __name__ == "__main__":
    main()
