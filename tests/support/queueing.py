# SPDX-License-Identifier: GPL-3.0-or-later
"""A store-and-forward relay: it acknowledges a message at once and delivers it later, or never, or more than once.

    with QueueingRelay(hole.port, lambda path: [0.8] if path.endswith("@slow.example") else [0.1]) as relay:
        postal(…, relay.endpoint, users)
        relay.wait_until_empty()

For each recipient `delays` gives how many seconds after the acknowledgement its copies leave.
"""
import heapq
import itertools
import smtplib
import socketserver
import threading
import time

from .content_filter import TakesMail
from .process import wait_until


class Queueing(TakesMail):
    """Of a QueueingRelay."""

    def take(self, octets):
        for path in self.forward_paths:
            for delay in self.server.delays(path):
                self.server.put(time.monotonic() + delay, self.reverse_path, path, octets)
        return "250 2.0.0 queued"


class QueueingRelay(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, target_port, delays):
        super().__init__(("127.0.0.1", 0), Queueing)
        self.target_port, self.delays = target_port, delays
        self.queue, self.numbers, self.changed = [], itertools.count(), threading.Condition()
        self.taken, self.delivered, self.over = 0, 0, False
        self.deliverer = threading.Thread(target=self.deliver, daemon=True)

    endpoint = property(lambda self: f"127.0.0.1:{self.server_address[1]}")

    def put(self, due, *message):
        with self.changed:
            self.taken += 1
            heapq.heappush(self.queue, (due, next(self.numbers), message))
            self.changed.notify()

    def next_due(self):
        """The message that is due next, when it is; None when the relay ends."""
        with self.changed:
            while not self.over:
                pause = self.queue[0][0] - time.monotonic() if self.queue else None
                if pause is not None and pause <= 0:
                    return heapq.heappop(self.queue)[2]
                self.changed.wait(pause)
        return None

    def deliver(self):
        with smtplib.SMTP("127.0.0.1", self.target_port, timeout=60) as client:
            while message := self.next_due():
                reverse_path, path, octets = message
                client.sendmail(reverse_path, [path], octets, ["BODY=8BITMIME"])
                with self.changed:
                    self.delivered += 1

    def wait_until_empty(self):
        wait_until(lambda: self.delivered == self.taken,
                   lambda: f"{self.taken} messages to be delivered; {self.delivered} were")

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.deliverer.start()
        return self

    def __exit__(self, *_):
        with self.changed:
            self.over = True
            self.changed.notify()
        self.deliverer.join(10)
        self.shutdown()
        self.server_close()
