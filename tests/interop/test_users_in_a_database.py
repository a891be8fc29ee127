# SPDX-License-Identifier: GPL-3.0-or-later
"""Dovecot with its users in MariaDB: delivered by LMTP, read over POP3 and IMAP with the passwords that are there."""
from conftest import user_names
from support.ledger import read_mailboxes, wrong
from support.postal import check_books

LOAD = ("-t", "3", "-c", "-1", "-M", "1", "-m", "6", "--body", "ascii=30,8bit=20,dots=20,long-lines=10,crlf-edge=20")
COUNT = 40


def test_round_trip(mariadb, dovecot, postal, rabid, users_file, folder, report):
    """What the database does not know is refused, be it a recipient or a password; the rest has a clean ledger."""
    users, book = user_names(4), folder / "book"
    passwords = {user: f"word-{number}" for number, user in enumerate(users)}
    database = mariadb()
    store = dovecot(users, reading=True, extra="auth_failure_delay = 0\n",
                    accounts=database.add_mail_users(passwords, folder / "dovecot-0" / "mail"))
    sent = postal("-L", *LOAD, "--recipients", "1..3", "--messages", COUNT, "--ledger", book, store.endpoint,
                  users_file([*users, "nobody@example.com"]))
    check_books(sent)
    assert {(error["stage"], error["code"], error["enhanced"]) for error in sent.record["errors"]} == {("rcpt", 550, "5.1.1")}
    copies = sent.total("messages")
    assert 0 < copies < COUNT == sent.total("started") and len(store.wait_for(copies)) == copies
    right = users_file([f"{user} {password}" for user, password in passwords.items()])
    wrong_ones = users_file([f"{user} {password}" for user, password in zip(users, reversed(passwords.values()))])
    for way, words in (("pop3", ["-d", "100:0"]), ("imap", [])):
        read = read_mailboxes(rabid, store, right, book, way=way, words=words)
        assert read.record["integrity"]["verified"] == read.total("messages") == copies and read.record["errors"] == []
    assert read.total("deleted") == copies and store.all_mail() == []
    refused = rabid("-p", "2", "--connections", "2", "-i", "50", "--imap", store.imap, store.pop3, wrong_ones, status=4)
    assert {(error["stage"], error["reason"]) for error in refused.record["errors"]} == {("login", "refused")}
    found, status = report(book)
    assert status == 0 and not wrong(found) and found["found"] == found["acknowledged"] == copies
