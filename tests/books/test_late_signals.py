# SPDX-License-Identifier: GPL-3.0-or-later
"""A signal after the sessions have ended: ledger and record are written whole all the same."""
import contextlib
import signal
import sqlite3

import pytest

from support.postal import read_record
from support.process import wait_until
from support.watched import Sending

COUNT = 20


@pytest.mark.parametrize("program", ["postal", "bhm"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_ledger_and_record_are_complete(programs, bhm, folder, users_file, program, number):
    """The ledger is locked, so that its rows cannot be written before the signals have come."""
    users, book = users_file(5), folder / "mail.ledger"
    for_postal, for_bhm = (["--ledger", book], []) if program == "postal" else ([], ["--ledger", book])
    # Messages take their time, so that the run goes on when the ledger is there; all are begun by then, for nothing is while
    # it is locked.
    hole = bhm(*for_bhm, "--interval", "1h", "--delay", "end=1s")
    sending = Sending(programs.postal, folder, *for_postal, "--interval", "1h", "-m", "1", "-M", "1", "-t", COUNT, "-c", "-1",
                      "--messages", COUNT, hole.endpoint, users)
    if program == "bhm":
        sending.wait()
    watched = hole if program == "bhm" else sending
    wait_until(lambda: watched.process.stdout, "the header of the log, which comes when the ledger is open")
    with contextlib.closing(sqlite3.connect(book, isolation_level=None, timeout=30)) as ledger:
        ledger.execute("BEGIN IMMEDIATE")
        if program == "bhm":
            hole.process.signal(signal.SIGTERM)
        wait_until(lambda: len(watched.process.stdout.splitlines()) >= 2, "the line of the last interval")
        for _ in range(3):
            watched.process.signal(number)
        ledger.execute("ROLLBACK")
        assert watched.process.wait() == 0
        assert read_record(watched.record_path)["totals"]["messages"] == COUNT
        table = "sent" if program == "postal" else "seen"
        assert ledger.execute(f"SELECT count(*) FROM {table}").fetchone() == (COUNT,)
