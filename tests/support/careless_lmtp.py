#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""An LMTP server that stores one message a file, well or badly: careless_lmtp.py PORT FOLDER MODE.

What it does between the end of the data and its reply, by MODE:
    safe           writes the file in tmp, flushes it, renames it into new, flushes new
    no-folder      the same, but for the folder
    rename-first   renames the file, then flushes it; never the folder
    late-flush     replies, and flushes file and folder then
    ack-first      replies before anything is written
    nothing        flushes nothing
FOLDER/USER/new and tmp have to be there. Those that are careless pause behind their reply, so that a cut meets what they
have acknowledged and not made sure of on a busy machine, too.
"""
import os
import socketserver
import sys
import threading
import time

PORT, FOLDER, MODE = int(sys.argv[1]), sys.argv[2], sys.argv[3]
PAUSE = {"no-folder": 0.05, "late-flush": 0.05, "ack-first": 0.05}.get(MODE, 0)
NUMBER = iter(range(1 << 60))
NUMBER_LOCK = threading.Lock()


def flush(path):
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


class Session(socketserver.StreamRequestHandler):
    def reply(self, line):
        self.wfile.write(line + b"\r\n")

    def acknowledge(self):
        self.reply(b"250 2.0.0 mine now")
        time.sleep(PAUSE)

    def read_message(self):
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b".").replace(b"\r\n", b"\n"))
        return b"".join(lines)

    def store(self, user, text, replied):
        """replied() sends the reply, once."""
        with NUMBER_LOCK:
            name = str(next(NUMBER))
        part, whole = f"{FOLDER}/{user}/tmp/{name}", f"{FOLDER}/{user}/new/{name}"
        if MODE == "ack-first":
            replied()
        with open(part, "wb") as file:
            file.write(text)
        if MODE in ("safe", "no-folder"):
            flush(part)
        os.rename(part, whole)
        if MODE == "late-flush":
            replied()
        if MODE in ("rename-first", "late-flush"):
            flush(whole)
        if MODE in ("safe", "late-flush"):
            flush(os.path.dirname(whole))
        if MODE not in ("ack-first", "late-flush"):
            replied()

    def handle(self):
        self.reply(b"220 careless LMTP")
        users = []
        while line := self.rfile.readline():
            verb = line[:4].upper()
            if verb == b"RCPT":
                users.append(line[line.index(b"<") + 1:line.index(b">")].decode())
            if verb == b"DATA":
                self.reply(b"354 go on")
                text = self.read_message()
                for user in users:
                    self.store(user, text, self.acknowledge)
                users = []
            elif verb == b"QUIT":
                self.reply(b"221 bye")
                return
            else:
                self.reply(b"250 ok")


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64


Server(("127.0.0.1", PORT), Session).serve_forever()
