# SPDX-License-Identifier: GPL-3.0-or-later
"""Round trips through real servers with a ledger, for every kind of body: what postal was told is accepted is in the
Maildirs, rabid finds it there over POP3 and IMAP, and the report has nothing to say against it.

A relay that may not send a message as it came changes it, and then the report says how.
"""
import os
import re

import pytest

from conftest import login_names, missing
from support.agents import template
from support.ledger import key_of, read_mailboxes, wrong
from support.postal import check_books

KINDS = ["ascii", "8bit", "dots", "long-lines", "crlf-edge", "multipart",
         "ascii=20,8bit=20,dots=20,long-lines=10,crlf-edge=20,multipart=10"]
KEPT = ("-t", "2", "-c", "-1")
LOAD = (*KEPT, "-M", "0", "-m", "12")
COUNT = 16
DOVECOT_LDA = "/usr/lib/dovecot/dovecot-lda"


def check_trip(server, sent, rabid, logins, book, report):
    """Everything that was accepted is on the disk, and is seen once by each protocol; the last reader empties the mailboxes."""
    check_books(sent)
    copies = sent.total("recipients")
    assert sent.total("errors") == 0, sent.record["errors"]
    mail = server.wait_for(copies)
    assert len(mail) == copies
    for message in mail:
        message.verify()
    for way, words in (("pop3", ["-d", "100:0"]), ("imap", [])):
        read = read_mailboxes(rabid, server, logins, book, way=way, words=words)
        assert read.record["errors"] == []
        assert read.record["integrity"]["verified"] == read.total("messages") == copies
        assert read.total("imap_connections") == (len(server.users) if way == "imap" else 0)
    assert read.total("deleted") == copies and server.all_mail() == []
    found, status = report(book)
    assert status == 0 and not wrong(found), f"{book}: {found}"
    assert found["acknowledged"] == found["found"] == copies
    assert found["seen"] == 2 * copies


@pytest.mark.thinned(2)
@pytest.mark.parametrize("chunking", ["off", "auto"])
def test_smtp_to_postfix_to_dovecot(postfix, dovecot, postal, rabid, users_file, folder, report, chunking):
    """One Postfix for all kinds; each has a ledger of its own."""
    store = dovecot(3, reading=True)
    relay = postfix(f"lmtp:inet:{store.endpoint}")
    users, logins = users_file(store.users), users_file(login_names(store.users))
    for number, kind in enumerate(KINDS, 1):
        book = folder / f"book-{kind}"
        sent = postal(*LOAD, "--chunking", chunking, "--body", kind, "--recipients", "1..2", "--messages", COUNT, "--ledger", book,
                      relay.endpoint, users)
        assert sent.total("messages") == COUNT
        assert relay.drain(number * COUNT) == number * COUNT
        check_trip(store, sent, rabid, logins, book, report)
    assert ("bdat=" in relay.log) == (chunking == "auto")


def test_lmtp_deliver_to_dovecot_lda(lmtp_deliver, dovecot, postal, rabid, users_file, folder, report):
    if not os.access(DOVECOT_LDA, os.X_OK):
        missing("dovecot-lda")
    store = dovecot(3, reading=True)
    server = lmtp_deliver(template(DOVECOT_LDA, "-c", store.folder / "dovecot.conf", "-e", "-f", "%from%", "-a", "%to%", "-d", "%to%"))
    users, logins = users_file(store.users), users_file(login_names(store.users))
    for kind in KINDS:
        book = folder / f"book-{kind}"
        sent = postal("-L", *LOAD, "--body", kind, "--messages", COUNT, "--ledger", book, server.endpoint, users)
        assert sent.total("messages") == sent.total("recipients") == COUNT
        check_trip(store, sent, rabid, logins, book, report)
    done = server.stop()
    assert done.total("messages") == done.total("started") == COUNT * len(KINDS)


def test_no_kind_is_left_out(postal, users_file):
    """A new kind of body belongs here, too: a refusal names those that there are."""
    refused = postal("--body", "no-such-kind", "127.0.0.1:9", users_file(1), status=1)
    named = set(re.findall(r"[\w-]+", refused.stderr.rpartition("no-such-kind")[2]))
    assert set(KINDS[:-1]) <= named, refused.stderr


# What a relay does to mail of these kinds when it is told that the next one cannot take it: the setting, and how the
# report's condition and detail read.
CHANGES = {
    "8bit": ({"lmtp_discard_lhlo_keywords": "8bitmime"}, "corrupt", r"body recoded as quoted-printable"),
    "long-lines": ({"lmtp_line_length_limit": "500"}, "corrupt",
                   r"line \d+ broken after 500 bytes by CRLF and a blank(, \d+ breaks in all)?"),
}


@pytest.mark.parametrize("way", ["pop3", "imap"])
@pytest.mark.parametrize("kind", CHANGES)
def test_a_relay_that_changes_what_it_may(postfix, dovecot, postal, rabid, users_file, folder, report, kind, way):
    """Every message of that kind is named, and none of the others."""
    setting, condition, detail = CHANGES[kind]
    store, book = dovecot(2, reading=True), folder / "book"
    relay = postfix(f"lmtp:inet:{store.endpoint}", **setting)
    sent = postal(*KEPT, "--size", "uniform:3K,8K", "--body", f"{kind}=50,ascii=50", "--seed", "7", "--messages", COUNT, "--ledger", book,
                  relay.endpoint, users_file(store.users))
    assert sent.total("messages") == relay.drain(COUNT) == COUNT
    changed = {message.key for message in store.wait_for(COUNT) if message.identity["kind"] == kind}
    assert 0 < len(changed) < COUNT
    read = read_mailboxes(rabid, store, users_file(login_names(store.users)), book, way=way)
    assert read.record["integrity"]["corrupt"] == len(changed)
    found, status = report(book)
    assert status == 3 and wrong(found) == {"corrupt": len(changed)} and found["found"] == COUNT
    rows = report(book, "corrupt")
    assert {key_of(row) for row in rows} == changed
    for row in rows:
        assert row["condition"] == condition and re.fullmatch(detail, row["detail"]), row
