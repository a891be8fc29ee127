# SPDX-License-Identifier: GPL-3.0-or-later
"""kill -9 of a real server in the middle of a run, twice: the report misses no loss, and calls nothing lost that is there.

A relay between postal and the server reads on the wire what was acknowledged, and the Maildirs show what is there; the
report must agree with both. What was in doubt may have arrived or not: lost it is never.
"""
import collections
import os
import pathlib
import signal

import pytest

from conftest import login_names
from support.ledger import copy_ledger, key_of, read_mailboxes, sent_keys, wrong
from support.postal import check_books
from support.process import wait_until
from support.relay import DOVECOT, POSTFIX, WireLedger
from support.watched import Sending

MESSAGES = 300
KILL_AT = (80, 160)  # acknowledged messages
LOAD = ("-t", "8", "-c", "-1", "-M", "1", "-m", "4", "--messages", MESSAGES)


class Truth:
    """What a run of postal has left: keys that it was told are accepted, and files by key."""

    def __init__(self, sent, book, store, acknowledged):
        check_books(sent)
        assert sent.total("started") == MESSAGES
        assert sent.total("messages") >= KILL_AT[-1]
        self.accepted, self.in_doubt = sent_keys(book, "accepted"), sent_keys(book, "in_doubt")
        assert len(self.accepted) == sent.total("messages") and self.accepted <= acknowledged
        assert len(self.in_doubt) == sent.total("in_doubt")
        assert acknowledged - self.accepted <= self.in_doubt, "answers that came through the relay but not to postal"
        self.store = store
        self.files = self.look()

    def look(self):
        """The files of each message; a reader moves them from new to cur."""
        files = collections.defaultdict(list)
        for message in self.store.all_mail():
            message.verify()
            files[message.key].append(pathlib.Path(message.source))
        return files

    def remove(self, key):
        for path in self.look()[key]:
            path.unlink()
        del self.files[key]

    def check(self, report, book):
        """The report's summary, which agrees with what is here."""
        lost = self.accepted - set(self.files)
        found, status = report(book)
        assert {key_of(row) for row in report(book, "lost")} == lost
        more = {key: len(paths) for key, paths in self.files.items() if len(paths) > 1}
        wanted = {"lost": len(lost), "unacknowledged": len(set(self.files) - self.accepted), "duplicated": len(more)}
        assert wrong(found) == {name: count for name, count in wanted.items() if count}
        assert found.get("extra_copies", 0) == sum(more.values()) - len(more)
        assert found["acknowledged"] == len(self.accepted) and found["found"] == len(self.accepted) - len(lost)
        assert found.get("sent_in_doubt", 0) == len(self.in_doubt)
        assert status == (3 if lost else 0)
        return found


def check_both(truth, rabid, store, logins, book, report):
    """Everything is read by each protocol; then once more without one message that had been acknowledged, which alone is
    lost, and without one that had been in doubt, which is not."""
    before = copy_ledger(book, book.with_name("before"))
    copies = sum(map(len, truth.files.values()))
    for way in ("pop3", "imap"):
        read = read_mailboxes(rabid, store, logins, book, way=way)
        assert read.record["integrity"]["verified"] == read.total("messages") == copies
        assert read.record["errors"] == []
    truth.check(report, book)
    victim = max(truth.accepted & set(truth.files))
    truth.remove(victim)
    for key in sorted(truth.in_doubt & set(truth.files))[:1]:
        truth.remove(key)
    read_mailboxes(rabid, store, logins, before, way="imap")
    truth.check(report, before)
    assert victim in {key_of(row) for row in report(before, "lost")}


def kill_and_start(server, relay, ready=lambda: True):
    for count in KILL_AT:
        wait_until(lambda count=count: len(relay.acknowledged) >= count and ready(),
                   lambda: f"message {count}; {len(relay.acknowledged)} are acknowledged", 120)
        server.stop()
        with pytest.raises(ProcessLookupError):
            os.killpg(server.process.pid, 0)
        server.start()


def test_dovecot(dovecot, programs, rabid, users_file, folder, report):
    store, book = dovecot(3, reading=True), folder / "book"
    users, logins = users_file(store.users), users_file(login_names(store.users))
    with WireLedger(store.port, DOVECOT) as relay:
        with Sending(programs.postal, folder, "-L", *LOAD, "--ledger", book, relay.endpoint, users) as sending:
            kill_and_start(store, relay)
            sent = sending.wait(200)
    truth = Truth(sent, book, store, relay.acknowledged)
    assert truth.accepted <= set(truth.files), "Dovecot has what it acknowledged"
    check_both(truth, rabid, store, logins, book, report)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("way", ["pop3", "imap"])
def test_dovecot_while_rabid_deletes(dovecot, programs, rabid, users_file, folder, report, way):
    """What rabid has read and deleted before, between and after is found; what it was just reading when Dovecot died is
    there still, or was read."""
    store, book = dovecot(3, reading=True), folder / "book"
    users, logins = users_file(store.users), users_file(login_names(store.users))
    share = ["-i", "100", "--imap", store.imap] if way == "imap" else []
    with WireLedger(store.port, DOVECOT) as relay:
        with Sending(programs.rabid, folder, "-p", "3", "--rate", "20/s", "--ledger", book, *share, store.pop3, logins,
                     name="reading") as reading:
            with Sending(programs.postal, folder, "-L", *LOAD, "--ledger", book, relay.endpoint, users) as sending:
                kill_and_start(store, relay)
                sent = sending.wait(200)
            reading.signal(signal.SIGTERM)
            read = reading.wait()
    assert read.status == 0 and read.record["integrity"]["corrupt"] == 0
    assert 0 < read.total("deleted") <= read.total("messages")
    rest = read_mailboxes(rabid, store, logins, book, way=way, words=[])
    assert rest.record["errors"] == [] and store.all_mail() == []
    accepted = sent_keys(book, "accepted")
    assert len(accepted) == sent.total("messages") and accepted <= relay.acknowledged
    found, status = report(book)
    assert status == 0 and set(wrong(found)) <= {"unacknowledged"}, found
    assert found["found"] == found["acknowledged"] == len(accepted)
    assert found.get("unacknowledged", 0) <= sent.total("in_doubt")
    assert found["seen"] == read.total("messages") + rest.total("messages")


def test_postfix(postfix, dovecot, programs, rabid, users_file, folder, report):
    """Each time with mail in its queue: it hands on two messages at a time."""
    store, book = dovecot(3, reading=True), folder / "book"
    server = postfix(f"lmtp:inet:{store.endpoint}", lmtp_destination_concurrency_limit="2")
    users, logins = users_file(store.users), users_file(login_names(store.users))
    with WireLedger(server.port, POSTFIX) as relay:
        with Sending(programs.postal, folder, *LOAD, "--ledger", book, relay.endpoint, users) as sending:
            kill_and_start(server, relay, server.queued)
            sent = sending.wait(200)
    server.flush()
    truth = Truth(sent, book, store, relay.acknowledged)
    assert truth.accepted <= set(truth.files), "Postfix has handed on what it acknowledged"
    check_both(truth, rabid, store, logins, book, report)
