# SPDX-License-Identifier: GPL-3.0-or-later
"""A client that sends and never reads, then resets: what bhm could not send must cost nobody anything."""
import signal
import socket
import struct

import pytest

from support.dialogue import Client
from support.process import wait_until


def fill(client, octets, burst):
    """Sends bursts until bhm, whose replies nobody reads, takes no more."""
    client.socket.settimeout(0.5)
    try:
        for _ in range(400_000):
            client.socket.sendall(octets * burst)
    except (socket.timeout, BlockingIOError):
        pass


@pytest.mark.parametrize("burst", [1, 50, 500])
def test_a_reset_with_replies_unsent_stops_nobody(bhm, burst):
    hole = bhm("--workers", "1", "--grace", "2s", "--max-idle-commands", "0")
    deaf = Client(("127.0.0.1", hole.port))
    deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    fill(deaf, b"NOOP\r\n", burst)
    deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    deaf.socket.close()
    other = Client(("127.0.0.1", hole.port), timeout=5)
    other.expect(220)
    other.say("QUIT", 221)
    hole.process.signal(signal.SIGINT)
    wait_until(lambda: not hole.process.running, "bhm's end")


def test_every_reply_arrives_before_the_goodbye(bhm):
    """A client that pipelines much, reads slowly and quits gets all its replies."""
    hole = bhm("--workers", "1", "--max-idle-commands", "0")
    client = Client(("127.0.0.1", hole.port))
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.expect(220)
    count = 20_000
    client.write(b"NOOP\r\n" * count + b"QUIT\r\n")
    assert client.rest() == [250] * count + [221]
