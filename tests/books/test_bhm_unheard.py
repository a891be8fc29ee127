# SPDX-License-Identifier: GPL-3.0-or-later
"""bhm's replies that nobody hears: the client has gone before they were written, and will send its message again."""
import contextlib
import sqlite3

import pytest

from support.dialogue import Client
from support.postal import read_record
from support.process import wait_until
from support.watched import check_outcomes

ENVELOPE = b"EHLO x\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nRCPT TO:<c@example.com>\r\nDATA\r\n"
MESSAGE = b"Subject: x\r\n\r\nbody\r\n.\r\n"


@pytest.mark.parametrize("leaving", ["hears", "closes", "resets", "says QUIT and closes"])
@pytest.mark.parametrize("lmtp", [False, True], ids=["smtp", "lmtp"])
def test_a_reply_that_is_held_back(bhm, folder, leaving, lmtp):
    book = folder / "mail.ledger"
    hole = bhm("--delay", "end=300ms", "--ledger", book, "--interval", "100ms", *(["--lmtp"] if lmtp else []))
    units = 2 if lmtp else 1
    with Client(("127.0.0.1", hole.port)) as client:
        client.expect(220)
        client.write(ENVELOPE.replace(b"EHLO", b"LHLO") if lmtp else ENVELOPE)
        assert client.replies(5) == [250, 250, 250, 250, 354]
        client.write(MESSAGE + (b"QUIT\r\n" if "QUIT" in leaving else b""))
        if leaving == "hears":
            assert client.replies(units) == [250] * units
            client.quit()
        elif leaving == "resets":
            client.reset()
    # When it is accepted, QUIT is read, too.
    wait_until(lambda: sum(int(line.split(",")[1]) for line in hole.process.stdout.splitlines()[1:]) == units, "the message to be accepted")
    totals = hole.stop().record["totals"]
    gone = leaving in ("closes", "resets")
    assert totals["messages"] == units
    assert totals["unheard"] == (units if gone else 0)
    check_outcomes(read_record(hole.record_path))
    with contextlib.closing(sqlite3.connect(book)) as ledger:
        details = [row[0] for row in ledger.execute("SELECT detail FROM seen ORDER BY number")]
    assert details == ["not heard" if gone else None] * 2


def test_a_threshold(bhm):
    hole = bhm("--delay", "end=300ms", "--threshold", "unheard==0")
    with Client(("127.0.0.1", hole.port)) as client:
        client.expect(220)
        client.write(ENVELOPE)
        client.replies(5)
        client.write(MESSAGE)
    assert hole.stop(status=3).record["totals"]["unheard"] == 1
