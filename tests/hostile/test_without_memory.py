"""A server whose memory runs out under many clients turns those away whom it cannot serve, and goes on; or, where it
cannot, ends at once with status 2 and one line. It never stays behind deaf."""
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
