# SPDX-License-Identifier: GPL-3.0-or-later
"""A server whose memory runs out under many clients turns those away whom it cannot serve, and goes on; or, where it
cannot, ends at once with status 2 and one line. It never stays behind deaf."""
import concurrent.futures
import contextlib
import os
import pathlib
import re
import resource
import socket

import pytest

from support.dialogue import Client
from support.postal import read_record
from support.process import wait_until

CLIENTS = 1200
GREETING = {"bhm": b"EHLO", "lmtp-deliver": b"LHLO"}


def address_space(pid):
    """What a live process has mapped, in octets; 0 when it is gone."""
    with contextlib.suppress(OSError):
        found = re.search(r"VmSize:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())
        return int(found[1]) * 1024 if found else 0
    return 0


@pytest.mark.thinned(5)
@pytest.mark.parametrize("spare", [2, 8, 16])
@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("program", ["bhm", "lmtp-deliver"])
def test_many_clients_inside_data(bhm, lmtp_deliver, program, workers, spare):
    options = ("-t", "2000", "--workers", workers, "--interval", "1h")
    one_heap = {**os.environ, "MALLOC_ARENA_MAX": "1"}  # each thread's own would have room in reserve
    server = bhm(*options, env=one_heap) if program == "bhm" else lmtp_deliver("/bin/true", *options, env=one_heap)
    with Client(("127.0.0.1", server.port)) as first:  # its threads run when it greets
        first.expect(220)
        first.quit()
    resource.prlimit(server.pid, resource.RLIMIT_AS, [address_space(server.pid) + spare * 1024 * 1024] * 2)
    envelope = GREETING[program] + b" x\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nDATA\r\nSubject: x\r\n"
    with contextlib.ExitStack() as clients:
        with contextlib.suppress(OSError):  # turned away, or the server has ended
            for _ in range(CLIENTS):
                client = clients.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60))
                client.sendall(envelope)

    def greets():
        if not server.process.running:
            return True
        with contextlib.suppress(OSError), Client(("127.0.0.1", server.port)) as client:
            return client.reply()[0] == 220
        return False
    wait_until(greets, "a greeting, or the end of the server", timeout=60)
    if server.process.stop() == 0:
        totals = read_record(server.record_path)["totals"]
        assert totals["started"] == totals["failed"]
    else:
        assert server.process.wait() == 2
        why = [line for line in server.process.stderr.splitlines() if "out of memory" in line]
        assert len(why) == 1, server.process.stderr


RECIPIENTS = [1, 10, 100, 1000]
MAIL = b"Subject: x\r\n\r\nx\r\n.\r\n"


def wrong_in(replies, recipients):
    """What of the replies to one pipelined transaction is not for it, or says that mail was delivered; None as it should be."""
    lines = iter(replies)
    taken = 0

    def goes_wrong(reply, *wanted):
        return not (reply.startswith(wanted) or reply[:1] in (b"4", b"5"))
    for wanted in (b"220 ", b"250 HELP", b"250 2.1.0 "):
        reply = next(lines, b"421")
        if reply.startswith(b"421"):
            return None
        if goes_wrong(reply, wanted):
            return f"{reply} for {wanted}"
    for _ in range(recipients):
        reply = next(lines, b"421")
        if goes_wrong(reply, b"250 2.1.5 "):
            return f"{reply} for RCPT"
        taken += reply.startswith(b"250")
    reply = next(lines, b"421")
    if goes_wrong(reply, b"354 "):
        return f"{reply} for DATA"
    rest = list(lines)
    wrong = [one for one in rest if goes_wrong(one, b"221 ")]
    deliveries = [one for one in rest if not one.startswith(b"221 ")]
    if wrong or (reply.startswith(b"354") and len(deliveries) > max(taken, 1) + 1):  # a goodbye, too
        return f"{wrong or len(deliveries)} for {taken} deliveries"
    return None


def talk(port, recipients):
    """All of a transaction at once, and what is answered until the server closes: the last line of each whole reply."""
    said = b"".join([b"LHLO x\r\nMAIL FROM:<a@example.com>\r\n",
                     *(b"RCPT TO:<%s%d@%s.example>\r\n" % (b"u" * 50, i, b"d" * 60) for i in range(recipients)),
                     b"DATA\r\n", MAIL, b"QUIT\r\n"])
    heard = b""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=120) as client:
        client.sendall(said)
        while got := client.recv(1 << 16):
            heard += got
    whole = heard[:heard.rfind(b"\n") + 1].splitlines()
    return [line for line in whole if line[3:4] == b" "]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_nobody_hears_what_another_session_was_told(lmtp_deliver, workers):
    """Memory ends within sessions whose mail all agents refuse: no client hears of a delivery, or a reply that is not for it."""
    server = lmtp_deliver("/bin/false", "-t", "2000", "--workers", workers, "--queue-timeout", "500ms", "--max-queued", "500",
                          env={**os.environ, "MALLOC_ARENA_MAX": "1"})
    assert talk(server.port, 1)[-2:-1] != []  # its threads run, and an agent has
    resource.prlimit(server.pid, resource.RLIMIT_AS, [address_space(server.pid) + 1024 * 1024] * 2)
    crowd = [RECIPIENTS[number % len(RECIPIENTS)] for number in range(120)]
    with concurrent.futures.ThreadPoolExecutor(40) as clients:
        heard = list(clients.map(lambda count: talk(server.port, count), crowd))
    wrong = [why for count, replies in zip(crowd, heard, strict=True) if (why := wrong_in(replies, count))]
    assert wrong == []
    if server.process.stop() == 0:
        record = read_record(server.record_path)
        assert record["totals"]["messages"] == 0
        refused = sum(one["count"] for one in record["errors"] if one["reason"] == "resources")
        assert refused > 0 or server.process.stderr  # it did run out
    else:
        assert server.process.wait() == 2
