# SPDX-License-Identifier: GPL-3.0-or-later
"""A proxy before an IMAP server that keeps to itself what the server announces in IDLE, or by NOTIFY.

Lines go through as they are, but for EXISTS between the continuation request of IDLE and the client's DONE, and for EXISTS
and STATUS from the client's NOTIFY on. One thread for each connection; `swallowed` has how many lines were kept back,
`idling` how many clients have been let into IDLE or have said NOTIFY.
"""
import contextlib
import re
import select
import socket
import threading

from .process import free_port


class SwallowingProxy:
    """Runs while the context is open. `behind` is host:port of the server."""

    def __init__(self, behind):
        host, port = behind.rsplit(":", 1)
        self.behind = (host, int(port))
        self.endpoint = f"127.0.0.1:{free_port()}"
        self.swallowed = self.idling = 0
        self.lock, self.ended = threading.Lock(), threading.Event()

    def __enter__(self):
        host, port = self.endpoint.rsplit(":", 1)
        self.listener = socket.create_server((host, int(port)), backlog=64)
        self.listener.settimeout(0.2)
        self.threads = [threading.Thread(target=self.accept, daemon=True)]
        self.threads[0].start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join(10)
        self.listener.close()

    def accept(self):
        while not self.ended.is_set():
            with contextlib.suppress(TimeoutError):
                client, _ = self.listener.accept()
                thread = threading.Thread(target=self.serve, args=(client,), daemon=True)
                self.threads.append(thread)
                thread.start()

    def serve(self, client):
        with client, socket.create_connection(self.behind) as server, contextlib.suppress(OSError):
            self.pass_on(client, server)

    def pass_on(self, client, server):
        said, heard, idle = b"", b"", "no"
        while not self.ended.is_set():
            ready, _, _ = select.select([client, server], [], [], 0.2)
            if client in ready:
                octets = client.recv(65536)
                if not octets:
                    return
                said = (said + octets)[-200:]
                if re.search(rb"(^|\n)\S+ IDLE\r\n$", said):
                    idle = "asked"
                if said.endswith(b"DONE\r\n"):
                    idle = "no"
                if b" NOTIFY SET " in octets:
                    idle = "notify"
                    with self.lock:
                        self.idling += 1
                server.sendall(octets)
            if server in ready:
                octets = server.recv(65536)
                if not octets:
                    return
                heard += octets
                # What is under way outside of IDLE may be a message, which is nobody's business here.
                while b"\n" in heard if idle != "no" else heard:
                    line, idle, heard = self.next_piece(heard, idle)
                    if line:
                        client.sendall(line)

    def next_piece(self, heard, idle):
        """What goes on to the client, whether it is in IDLE then, and what is left."""
        if idle == "no":
            return heard, idle, b""
        end = heard.index(b"\n") + 1
        line, left = heard[:end], heard[end:]
        if idle == "asked" and line.startswith(b"+"):
            with self.lock:
                self.idling += 1
            return line, "idle", left
        if idle in ("idle", "notify") and re.fullmatch(rb"\* (\d+ EXISTS|STATUS .*)\r\n", line):
            with self.lock:
                self.swallowed += 1
            return b"", idle, left
        return line, idle, left
