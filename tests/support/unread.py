# SPDX-License-Identifier: GPL-3.0-or-later
"""Clients that say what no server wants to hear, and do not listen."""
import contextlib
import random
import select


def write_without_reading(client, octets, total):
    """Writes until the server has stopped reading for half a second, all is out, or the client was sent away."""
    client.socket.setblocking(False)
    sent = 0
    with contextlib.suppress(ConnectionResetError, BrokenPipeError):
        while sent < total and select.select([], [client.socket], [], 0.5)[1]:
            sent += client.socket.send(octets)
    client.socket.setblocking(True)


def say_garbage(client, seed):
    octets = random.Random(seed).randbytes(20_000)
    # It may be sent away with 421 before all of it was written.
    with contextlib.suppress(ConnectionResetError, BrokenPipeError):
        client.write(octets + b"\r\nQUIT\r\n")
        assert all(code in (220, 221, 421) or 500 <= code < 600 for code in client.rest())
