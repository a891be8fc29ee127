#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""An LMTP server that knows by itself which message is on the disk at every moment.

    exact_lmtp.py prepare FOLDER COUNT     makes COUNT files of one size and flushes them
    exact_lmtp.py PORT FOLDER LOG NOTES    serves one session at a time

A message is written over one of the files, past the page cache, so that the disk gets it at once and nothing else with it
(the file system has to be one without a journal); a flush is one flush of the disk. What is done for a message follows from
its number:
    0 of 4  written, flushed, acknowledged     2 of 4  acknowledged, written
    1 of 4  written, acknowledged              3 of 4  acknowledged, written, flushed
LOG is the disk's log of writes. NOTES gets one JSON object a message: the octets that the log had when the message was
about to be written, written, about to be flushed, flushed (or none), about to be acknowledged, and a pause later.
"""
import json
import mmap
import os
import re
import socketserver
import sys
import time

SLOT = 16384
PAUSE = 0.012


def slot_path(folder, number):
    return f"{folder}/{number:05d}"


def prepare(folder, count):
    os.makedirs(folder)
    empty = b"Subject: nothing here yet\n\n".ljust(SLOT, b".")
    for number in range(count):
        with open(slot_path(folder, number), "wb") as file:
            file.write(empty)
    os.sync()


def padded(message):
    """With a header of so many octets in front that it fills the file."""
    room = SLOT - len(message) - len(b"X-Padding: \n")
    assert room >= 0, "the message does not fit"
    lines, last = divmod(room, 64)
    return b"X-Padding: " + b"x" * last + b"\n" + (b" " + b"x" * 62 + b"\n") * lines + message


class Store:
    def __init__(self, folder, log, notes):
        self.folder, self.log, self.notes = folder, log, open(notes, "a", encoding="ascii", buffering=1)
        self.number = 0
        self.memory = mmap.mmap(-1, SLOT)  # aligned, as a write past the page cache wants it

    def length(self):
        return os.stat(self.log).st_size

    def write(self, message):
        self.memory[:] = padded(message)
        self.file = os.open(slot_path(self.folder, self.number), os.O_WRONLY | os.O_DIRECT)
        self.noted["writing"] = self.length()
        assert os.pwrite(self.file, self.memory, 0) == SLOT
        self.noted["written"] = self.length()

    def flush(self):
        self.noted["flushing"] = self.length()
        os.fdatasync(self.file)
        self.noted["flushed"] = self.length()

    def take(self, message, reply):
        def acknowledge():
            self.noted["before"] = self.length()
            reply()
            time.sleep(PAUSE)
            self.noted["behind"] = self.length()
        session, sequence = re.search(rb"^X-Postal-Id: .*? s=(\d+); n=(\d+);", message, re.MULTILINE | re.DOTALL).groups()
        self.noted = {"session": int(session), "sequence": int(sequence), "flushed": None}
        early = self.number % 4 >= 2
        if early:
            acknowledge()
        self.write(message)
        if self.number % 4 in (0, 3):
            self.flush()
        os.close(self.file)
        if not early:
            acknowledge()
        self.notes.write(json.dumps(self.noted) + "\n")
        self.number += 1


class Session(socketserver.StreamRequestHandler):
    def reply(self, line):
        self.wfile.write(line + b"\r\n")

    def read_message(self):
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b".").replace(b"\r\n", b"\n"))
        return b"".join(lines)

    def handle(self):
        self.reply(b"220 exact LMTP")
        while line := self.rfile.readline():
            verb = line[:4].upper()
            if verb == b"DATA":
                self.reply(b"354 go on")
                self.server.store.take(self.read_message(), lambda: self.reply(b"250 2.0.0 mine now"))
            elif verb == b"QUIT":
                self.reply(b"221 bye")
                return
            else:
                self.reply(b"250 ok")


class Server(socketserver.TCPServer):
    allow_reuse_address = True


def main():
    if sys.argv[1] == "prepare":
        return prepare(sys.argv[2], int(sys.argv[3]))
    port, folder, log, notes = sys.argv[1:]
    with Server(("127.0.0.1", int(port)), Session) as server:
        server.store = Store(folder, log, notes)
        server.serve_forever()
    return None


if __name__ == "__main__":
    main()
