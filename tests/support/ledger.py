# SPDX-License-Identifier: GPL-3.0-or-later
"""Ledgers in tests: rabid reads every mailbox into one, postal-report says what is wrong, sqlite3 looks by itself."""
import contextlib
import csv
import io
import sqlite3

from .postal import check_reading, run

# Not out_of_order: a file that was written anew comes last in its mailbox.
WRONG = ("lost", "misplaced", "unacknowledged", "duplicated", "corrupt", "misdelivered", "unknown", "foreign")


class Report:
    """report(LEDGER) is postal-report's summary as a dictionary and the exit status; report(LEDGER, KIND) the list's rows."""

    def __init__(self, program):
        self.program = program

    def __call__(self, path, kind=None):
        done = run([self.program, "--ledger", path, "--csv", *(["--list", kind] if kind else [])])
        assert done.status in (0, 3) and not done.stderr
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        if kind:
            return rows
        return {name: int(value) for name, value in rows[0].items() if name != "ledger" and value}, done.status


def wrong(found):
    """What a summary has that should not be."""
    return {name: found[name] for name in WRONG if found.get(name)}


def key_of(row):
    """A row of a list as support.mail.Message.key."""
    return row["run"], row["session"], row["sequence"]


def sent_keys(path, outcome):
    """The keys of the messages of one outcome, as sqlite3 finds them."""
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as book:
        rows = book.execute("SELECT run, session, sequence FROM sent_messages WHERE outcome = ?", [outcome]).fetchall()
    return {(name, str(session), str(sequence)) for name, session, sequence in rows}


def copy_ledger(path, to):
    """A copy of its own, with what is not yet in the main file; its path."""
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as book, contextlib.closing(sqlite3.connect(to)) as copy:
        book.backup(copy)
    return to


def read_mailboxes(rabid, server, logins, book, *, way="pop3", words=("-d", "100:0")):
    """Each mailbox of a Dovecot is read once into the ledger; the run."""
    share = ["-i", "100", "--imap", server.imap] if way == "imap" else []
    count = len(server.users)
    done = rabid("-p", count, "--connections", count, "--ledger", book, *words, *share, server.pop3, logins)
    check_reading(done)
    return done
