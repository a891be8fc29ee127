# SPDX-License-Identifier: GPL-3.0-or-later
"""The hostile server and the relay do what their scripts say, seen by a client that trusts nobody."""
import smtplib

import pytest

from support.dialogue import Client
from support.hostile import FAULTS, Hostile
from support.relay import Relay


def deliver(port, lmtp=False):
    recipients = ["b@example.com"] if lmtp else ["b@example.com", "c@example.com"]  # smtplib reads one reply
    with (smtplib.LMTP if lmtp else smtplib.SMTP)("127.0.0.1", port, timeout=5) as client:
        client.sendmail("a@example.com", recipients, b"Subject: x\r\n\r\n.dot\r\n")


@pytest.mark.parametrize("lmtp", [False, True])
def test_well_behaved_without_a_fault(lmtp):
    heard = []
    with Hostile(lmtp=lmtp, heard=heard.append) as server:
        deliver(server.port, lmtp)
    assert server.count.accepted == 1
    assert server.count.faults == 0 and b"..dot\r\n" in heard


# What a client that waits for every reply gets through, or would wait for without an end.
OTHERS = {"silence", "half_line", "deaf", "drip", "early", "extra", "split", "many_lines", "late"}


@pytest.mark.parametrize("fault", sorted(set(FAULTS) - OTHERS))
def test_fault_strikes_every_second_connection(fault):
    with Hostile("mail", fault, every=2) as server:
        for number in range(4):
            if number % 2:
                deliver(server.port)
            else:
                with pytest.raises(smtplib.SMTPException):
                    deliver(server.port)
    assert server.count.faults == 2 and server.count.accepted == 2


@pytest.mark.parametrize("fault", ["split", "many_lines", "late"])
def test_fault_that_a_patient_client_forgives(fault):
    with Hostile("rcpt", fault, late_seconds=0.01) as server:
        deliver(server.port)
    assert server.count.faults == 1 and server.count.accepted == 1


def test_early_reply_comes_with_the_one_before():
    with Hostile("rcpt", "early") as server, Client(("127.0.0.1", server.port)) as client:
        client.expect(220)
        client.say("EHLO x", 250)
        client.say("MAIL FROM:<a@example.com>", 250)
        client.expect(250)
        client.write(b"RCPT TO:<b@example.com>\r\n")
        client.say("DATA", 354)
        client.say("Subject: x\r\n.", 250)
        client.quit()
    assert server.count.accepted == 1


def test_chunks():
    with Hostile(capabilities=(b"CHUNKING",)) as server, Client(("127.0.0.1", server.port)) as client:
        client.envelope()
        client.write(b"BDAT 3\r\nabcBDAT 3 LAST\r\ndefQUIT\r\n")
        assert client.rest() == [250, 250, 221]
    assert server.count.accepted == 1


def test_relay_counts_what_comes_back():
    with Hostile() as server, Relay(server.port) as relay:
        for _ in range(5):
            deliver(relay.port)
        assert relay.counted == 5
