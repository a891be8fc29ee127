# SPDX-License-Identifier: GPL-3.0-or-later
"""What bhm kept of large messages for its ledger is the system's again when their clients are gone."""
import contextlib
import pathlib
import re
import socket

from support.process import wait_until

MEGABYTE = 1024 * 1024
CLIENTS = 40
# One of postal's, so that bhm keeps it until it knows whether it is as it was sent.
IDENTITY = (b"X-Postal-Id: v=1; run=0123456789abcdef; s=3; n=17; seed=42; kind=ascii; size=9437184; head=512;"
            b" t=1790000000.123456; d=xxh3:0123456789abcdef\r\n")
STALLED = (b"EHLO x\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nDATA\r\n" + IDENTITY + b"Subject: x\r\n\r\n"
           + (b"x" * 76 + b"\r\n") * (9 * MEGABYTE // 78))


def resident(pid):
    return int(re.search(r"VmRSS:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) * 1024


def test_stalled_clients(bhm, folder):
    hole = bhm("--ledger", folder / "mail.ledger", "-m", "20M", "--workers", "2")
    before = resident(hole.pid)
    with contextlib.ExitStack() as clients:
        for _ in range(CLIENTS):
            client = clients.enter_context(socket.create_connection(("127.0.0.1", hole.port), timeout=60))
            client.sendall(STALLED)
        wait_until(lambda: resident(hole.pid) > before + 150 * MEGABYTE, "bhm to have the messages in hand")
        assert resident(hole.pid) < before + 350 * MEGABYTE, "256 MiB for all workers together"
    wait_until(lambda: resident(hole.pid) < before + 80 * MEGABYTE, lambda: f"the memory back: {resident(hole.pid)}, before {before}")
    assert hole.stop().total("failed") == CLIENTS
