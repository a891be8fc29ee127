# SPDX-License-Identifier: GPL-3.0-or-later
"""kill -9 in the middle of thousands of deliveries: whatever was acknowledged has been delivered.

A relay reads on the wire which messages were acknowledged, so that the books are not those of the programs under test.
"""
import os
import pathlib
import shutil
import tempfile

import pytest

from support.agents import literal, template
from support.mail import Message, to_crlf
from support.process import free_port, wait_until
from support.relay import WireLedger
from support.watched import Sending

KILL_AT = (0.25, 0.6)  # of all, acknowledged


def processes_of(session):
    """Those that live in a session, by /proc."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] not in "ZX":
            found.append(int(entry.name))
    return found


@pytest.fixture
def spool():
    """A folder in memory where there is one: it gets thousands of files."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="postal-test-", dir="/dev/shm" if os.path.isdir("/dev/shm") else "/tmp"))
    yield place
    shutil.rmtree(place)


def test_whatever_was_acknowledged_was_delivered(lmtp_deliver, programs, folder, users_file, spool, sized):
    messages = sized(1_500, 10_000)
    # dd starts fast, and writes the file before it ends with 0
    agent = template("/bin/dd", f"of={literal(spool)}/%id%", "bs=64K", "status=none")
    place = f"127.0.0.1:{free_port()}"
    server = lmtp_deliver(agent, listen=[place])
    killed = []
    with WireLedger(server.port) as relay:
        with Sending(programs.postal, folder, "-L", "-t", "12", "-c", "-1", "-m", "4", "--messages", str(messages), relay.endpoint,
                     users_file(100)) as sending:
            for count in [int(messages * share) for share in KILL_AT]:
                wait_until(lambda count=count: len(relay.acknowledged) >= count, lambda: f"{count} messages of {len(relay.acknowledged)}", 300)
                server.process.kill()
                killed.append(server.pid)
                server = lmtp_deliver(agent, listen=[place])
            run = sending.wait(400)
    last = server.stop()
    wait_until(lambda: not any(map(processes_of, killed)), "agents of the killed servers to end by themselves")
    assert run.total("started") == messages
    assert run.total("messages") + run.total("in_doubt") + run.total("failed") == messages
    assert run.total("messages") > messages - 200, "12 sessions lost what they had under way, twice"
    delivered = check_spool(spool)
    assert relay.acknowledged <= delivered, "250 means that it is there"
    assert run.total("messages") <= len(relay.acknowledged), "what postal counted it had read on the wire"
    assert len(delivered) <= run.total("messages") + run.total("in_doubt")
    assert last.total("messages") == last.total("started") > 0


def check_spool(spool):
    """The keys of all messages there, each of which is whole and unchanged and there once."""
    keys = set()
    for path in spool.iterdir():
        message = Message(to_crlf(path.read_bytes()), path.name)
        message.verify()
        assert message.key not in keys, f"{message.key} twice"
        keys.add(message.key)
    return keys
