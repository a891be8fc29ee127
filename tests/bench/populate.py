#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast rabid --populate fills a mailbox, beside a plain loop of APPENDs with the same messages. Asserts nothing.

    populate.py [--messages 5000] [--rounds 7] [--store maildir]

The loop sends what rabid had made, read back once: one APPEND for each, LITERAL+, in one write, and waits for the answer;
and, for what MULTIAPPEND is worth, a loop with 100 messages a command. Each round fills an empty account by each, in turn.
Of rabid the time is that of the whole program, from its start to its end: the messages are made in it, and their identities
fetched again, though none is read back whole. Figures are medians over rounds, ratios those within a round. Needs root for
Dovecot.
"""
import argparse
import os
import pathlib
import socket
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from support.dovecot import Dovecot  # noqa: E402
from support.postal import run  # noqa: E402

BIN = pathlib.Path(os.environ.get("POSTAL_BIN", HERE.parents[2] / "build/release/bin"))
FLAGS = rb"(\Seen)"


class Client:
    """As little as APPEND takes."""

    def __init__(self, server, user):
        host, port = server.imap.split(":")
        self.line = socket.create_connection((host, int(port)))
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.line.makefile("rb")
        self.file.readline()
        self.say(b"a LOGIN %s secret\r\n" % user.encode())

    def say(self, text):
        self.line.sendall(text)
        while not (answer := self.file.readline()).startswith(b"a "):
            pass
        assert answer.startswith(b"a OK"), answer

    def append(self, texts, at_once):
        begun = time.monotonic()
        for first in range(0, len(texts), at_once):
            parts = b"".join(b' %s "01-Jan-2025 00:00:00 +0000" {%d+}\r\n%s' % (FLAGS, len(text), text)
                             for text in texts[first:first + at_once])
            self.say(b"a APPEND INBOX" + parts + b"\r\n")
        return time.monotonic() - begun


def fill(server, user, recipe, folder):
    """Seconds of one run of rabid, without the reading at the end: the share that is read back is next to none."""
    users = folder / "one.txt"
    users.write_text(f"{user} secret\n")
    begun = time.monotonic()
    done = run([BIN / "rabid", "--populate", recipe, "--imap", server.imap, server.imap, users], 600)
    assert done.status == 0, done.stderr
    return time.monotonic() - begun


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--messages", type=int, default=5000)
    words.add_argument("--rounds", type=int, default=7)
    words.add_argument("--store", default="maildir")
    asked = words.parse_args()
    recipe = f"messages={asked.messages},folders=1,size=lognormal:4K,1,64K,verify=0"
    with tempfile.TemporaryDirectory(prefix="postal-bench-") as place:
        folder = pathlib.Path(place)
        folder.chmod(0o755)
        users = [f"user{number}@example.com" for number in range(3 * asked.rounds + 1)]
        server = Dovecot(folder, users, reading=True, store=asked.store)
        try:
            fill(server, users[-1], recipe, folder)
            texts = [message.octets for message in server.imap_mail(users[-1])]
            found = {"rabid": [], "loop": [], "loop of 100": []}
            for number in range(asked.rounds):
                mine = users[3 * number:3 * number + 3]
                contenders = [("rabid", lambda user: fill(server, user, recipe, folder)),
                              ("loop", lambda user: Client(server, user).append(texts, 1)),
                              ("loop of 100", lambda user: Client(server, user).append(texts, 100))]
                for turn in range(3):
                    name, go = contenders[(turn + number) % 3]
                    found[name].append(go(mine[turn]))
        finally:
            server.stop()
    for name, seconds in found.items():
        ratios = [loop / own for loop, own in zip(found["loop"], seconds)]
        print(f"{name:12} {asked.messages / statistics.median(seconds):8,.0f} messages/s, {statistics.median(ratios):.2f} of the loop "
              f"({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
