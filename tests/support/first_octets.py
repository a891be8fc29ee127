#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""An SMTP server that says when the first octet of each client came: first_octets.py ADDRESS PORT.

A JSON object a connection on standard output: the client's address, and this machine's steady clock in seconds.
"""
import json
import os
import socketserver
import sys
import time


class Session(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(b"220 first octets\r\n")
        at = None
        while line := self.rfile.readline():
            at = at or self.note()
            verb = line[:4].upper()
            self.wfile.write(b"354 go on\r\n" if verb == b"DATA" else b"221 bye\r\n" if verb == b"QUIT" else b"250 ok\r\n")
            while verb == b"DATA" and self.rfile.readline() not in (b".\r\n", b""):
                pass
            if verb == b"DATA":
                self.wfile.write(b"250 ok\r\n")

    def note(self):
        at = time.monotonic()
        line = json.dumps({"client": self.client_address[0], "at": at}) + "\n"
        os.write(sys.stdout.fileno(), line.encode())  # at once, whole
        return at


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


with Server((sys.argv[1], int(sys.argv[2])), Session) as server:
    print("ready", file=sys.stderr, flush=True)
    server.serve_forever()
