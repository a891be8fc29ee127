# SPDX-License-Identifier: GPL-3.0-or-later
"""What a submission service is measured with: postal logs in over TLS to a Postfix that asks Dovecot, rabid reads the mail
back over POP3S and IMAPS, and the ledger of all of them is clean; with each library."""
import re

import pytest

from support.dovecot import PASSWORD
from support.dovecot_sasl import with_mechanisms
from support.ledger import wrong
from support.postal import check_books, check_reading
from support.tls_books import ENGINES, check_tls, engine

COUNT = 24


@pytest.mark.parametrize("name", ENGINES)
def test_submission_and_back(dovecot, postfix, postal, rabid, report, users_file, folder, certificates, name):
    listener = f"service auth {{\n  unix_listener {folder}/auth {{\n    mode = 0666\n  }}\n}}\n"
    store = dovecot(3, reading=True, certificate=certificates.good,
                    extra=with_mechanisms(folder, "PLAIN", "LOGIN", "SCRAM-SHA-256") + listener)
    relay = postfix(f"lmtp:inet:{store.endpoint}", certificate=certificates.good, smtpd_sasl_auth_enable="yes",
                    smtpd_tls_auth_only="yes", smtpd_sasl_type="dovecot", smtpd_sasl_path=folder / "auth", mynetworks="192.0.2.1/32",
                    smtpd_relay_restrictions="permit_sasl_authenticated, reject")
    users, book = users_file([f"{user} {PASSWORD}" for user in store.users]), folder / "book"
    trust = (*engine(name), "--tls-verify", "on", "--tls-ca", certificates.ca)
    sent = postal("-s", "100", "--auth", "auto", "-t", "2", "-c", "3", "-m", "12", "--messages", COUNT, "--ledger", book, *trust,
                  relay.endpoint, users)
    check_books(sent)
    assert sent.total("messages") == relay.drain(COUNT) == COUNT and sent.record["errors"] == []
    check_tls(sent, sent.total("connections"), None, "ok")
    assert sent.record["authentications"] == {"SCRAM-SHA-256": sent.total("connections")}
    assert len(store.wait_for(COUNT)) == COUNT
    for words in (["-d", "100:0", store.pop3s], ["-i", "100", "--imap", store.imaps, store.pop3s]):
        read = rabid("-s", "100", "--tls", "implicit", "--auth", "auto", "--connections", len(store.users), "--ledger", book, *trust,
                     *words, users)
        check_reading(read)
        assert read.record["errors"] == [] and read.total("messages") == COUNT
        check_tls(read, len(store.users), None, "ok")
    assert store.all_mail() == []
    found, status = report(book)
    assert status == 0 and not wrong(found) and found["acknowledged"] == found["found"] == COUNT
    assert re.search("TLS", store.log)
