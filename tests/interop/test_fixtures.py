# SPDX-License-Identifier: GPL-3.0-or-later
"""The fixtures themselves, proven with programs that nobody here wrote."""
import hashlib
import smtplib
import subprocess

import pytest

from support.mail import Message, to_crlf

MAIL = b"From: <a@example.com>\r\nSubject: one\r\n\r\n.dot\r\nline\r\n"


def test_postfix_counts_what_smtp_source_sends(postfix, tool):
    server = postfix("discard:")
    subprocess.run([tool("smtp-source"), "-d", "-s", "4", "-m", "50", "-l", "3000", "-f", "a@example.com",
                    "-t", "b@example.com", server.endpoint], check=True, timeout=60)
    assert server.drain(50) == 50


def test_dovecot_keeps_what_lmtp_delivers(dovecot):
    server = dovecot(3)
    for host, port in (("127.0.0.1", server.port), (str(server.socket), 0)):
        with smtplib.LMTP(host, port) as client:
            refused = client.sendmail("a@example.com", ["user0@example.com", "none@example.com"], MAIL)
            assert list(refused) == ["none@example.com"]
    found = server.wait_for(2)
    assert [message.body for message in found] == [b".dot\r\nline\r\n"] * 2


def test_postfix_hands_mail_to_dovecot(postfix, dovecot):
    store = dovecot(1)
    relay = postfix(f"lmtp:inet:{store.endpoint}")
    with smtplib.SMTP("::1", relay.port) as client:
        client.sendmail("a@example.com", ["user0@example.com"], MAIL)
    assert relay.drain(1) == 1
    assert [message.body for message in store.mailbox("user0@example.com")] == [b".dot\r\nline\r\n"]


def test_digest_is_worked_out_from_the_relaxed_form():
    """Header order, folding and trace headers do not matter; the canonical form is spelled out here."""
    canonical = (b"from:<a@example.com>\r\nto:<b@example.com>, <c@example.com>\r\nsubject:two words\r\n"
                 b"date:today\r\nmessage-id:<1@x>\r\n\r\n.dot\r\nlast\r\n")
    stated = hashlib.sha256(canonical).hexdigest()
    mail = (b"Received: by x\n\tfor y\nMessage-ID: <1@x>\nX-Postal-Id: v=1; run=ab; s=1; n=2;\n d=sha256:" + stated.encode() +
            b"\nFROM:<a@example.com>\nTo: <b@example.com>,\n <c@example.com>  \nSubject:   two\t words\nDate: today\n\n"
            b".dot\nlast")
    message = Message(to_crlf(mail))
    message.verify()
    assert message.key == ("ab", "1", "2")
    with pytest.raises(AssertionError, match="digest"):
        Message(to_crlf(mail).replace(b"last", b"lost")).verify()
