# SPDX-License-Identifier: GPL-3.0-or-later
"""Thousands of clients in one process, each held by a server that does not answer.

    with Crowd(("127.0.0.1", port), 10_000, source="127.0.0.2") as crowd:
        crowd.say(words, until=b"250 2.1.0")  # each says that at once, and hears all up to there
        assert not crowd.heard()              # since then
"""
import contextlib
import select
import selectors
import socket
import time

AT_ONCE = 200  # that connect, or wait for what they are to hear: what a listener's queue has room for
PATIENCE = 60.0


class Crowd:
    def __init__(self, endpoint, size, source="127.0.0.1"):
        self.endpoint, self.source = endpoint, source
        with contextlib.ExitStack() as cleanup:
            self.sockets = [cleanup.enter_context(self.begin()) for _ in range(size)]
            self.cleanup = cleanup.pop_all()

    def begin(self):
        one = socket.socket()
        one.setblocking(False)
        one.bind((self.source, 0))
        return one

    def connect(self):
        """Nobody has said anything then."""
        for first in range(0, len(self.sockets), AT_ONCE):
            for one in self.sockets[first:first + AT_ONCE]:
                with contextlib.suppress(BlockingIOError):
                    one.connect(self.endpoint)
            self.wait(self.sockets[first:first + AT_ONCE], selectors.EVENT_WRITE, self.connected)

    @staticmethod
    def connected(one, _):
        error = one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        assert error == 0, f"connect: error {error}"
        return True

    def say(self, words, until):
        """Each says `words`, and hears what ends with the line that begins so."""
        def hear(one, state):
            state += one.recv(4096)
            return b"\n" + until in state and state.endswith(b"\r\n")
        for first in range(0, len(self.sockets), AT_ONCE):
            for one in self.sockets[first:first + AT_ONCE]:
                assert one.send(words) == len(words)
            self.wait(self.sockets[first:first + AT_ONCE], selectors.EVENT_READ, hear)

    @staticmethod
    def wait(some, event, done):
        """Until done(socket, what it has kept) was true of each."""
        with selectors.DefaultSelector() as ready:
            for one in some:
                ready.register(one, event, bytearray())
            deadline = time.monotonic() + PATIENCE
            while ready.get_map():
                assert time.monotonic() < deadline, f"{len(ready.get_map())} of {len(some)} wait still"
                for key, _ in ready.select(1):
                    if done(key.fileobj, key.data):
                        ready.unregister(key.fileobj)

    def heard(self):
        """How many have something to read, or were closed."""
        with contextlib.closing(select.epoll()) as ready:
            for one in self.sockets:
                ready.register(one, select.EPOLLIN)
            return len(ready.poll(0, len(self.sockets)))

    def __enter__(self):
        self.connect()
        return self

    def __exit__(self, *_):
        self.cleanup.close()
