# SPDX-License-Identifier: GPL-3.0-or-later
"""The third column of bhm's user list: deferred, rejected, greylisted, and bounced for those who sent it."""
import email
import email.policy
import smtplib

import pytest

from support.behaviours import rule
from support.deliver import LmtpClient
from support.dialogue import Client
from support.postal import run
from support.process import free_port, wait_until
from support.receiver import Receiver

MAIL = (b"From: <sender@example.org>\r\nTo: <b@example.com>\r\nSubject: to be bounced\r\n"
        b"Message-ID: <one@example.org>\r\n\r\n.dot\r\nbody\r\n")
LIST = ["plain@example.com", "d@example.com - d", "r@example.com - r", "b@example.com - b", "b2@example.com - b",
        "g@example.com - g"]
BOUNCED = ["plain@example.com", "b@example.com - b", "b2@example.com - b"]


def send(hole, recipients, octets=MAIL, reverse_path="sender@example.org"):
    with smtplib.SMTP("127.0.0.1", hole.port) as client:
        return client.sendmail(reverse_path, recipients, octets)


def parts_of(octets):
    """The three parts of a report, as Python's email package reads them."""
    report = email.message_from_bytes(octets, policy=email.policy.default)
    assert not report.defects
    assert report.get_content_type() == "multipart/report" and report.get_param("report-type") == "delivery-status"
    text, status, original = report.iter_parts()
    assert [one.get_content_type() for one in (text, status, original)] == [
        "text/plain", "message/delivery-status", "text/rfc822-headers"]
    return report, text, status, original


class TestReplies:
    def test_each_letter_has_its_own(self, bhm, users_file):
        with Receiver() as receiver:
            hole = bhm(users_file(LIST), "--bounce-via", receiver.endpoint)
            with Client(("127.0.0.1", hole.port)) as client:
                client.expect(220)
                client.say("EHLO client.example", 250)
                client.say("MAIL FROM:<sender@example.org>", 250)
                assert b"450 4.2.1 " in client.say("RCPT TO:<d@example.com>", 450)
                assert b"550 5.2.1 " in client.say("RCPT TO:<R@Example.com>", 550)
                assert b"450 4.2.0 " in client.say("RCPT TO:<g@example.com>", 450)
                assert b"550 5.1.1 " in client.say("RCPT TO:<nobody@example.com>", 550)
                client.say("RCPT TO:<b@example.com>", 250)
                client.say("RCPT TO:<plain@example.com>", 250)
                client.quit()
            record = hole.stop().record
        assert record["totals"]["errors"] == 4 and record["totals"]["failed"] == 1
        assert {(error["stage"], error["code"]) for error in record["errors"]} == {("rcpt", 450), ("rcpt", 550)}
        assert receiver.mail == []

    def test_greylisted_until_it_is_tried_again(self, bhm, users_file):
        hole = bhm(users_file(["g@example.com - g"]), "--greylist-wait", "300ms", "--greylist-window", "60s")
        with Client(("127.0.0.1", hole.port)) as client:
            client.expect(220)
            client.say("EHLO client.example", 250)

            def try_once(sender="a@example.org"):
                client.say(f"MAIL FROM:<{sender}>", 250)
                client.write(b"RCPT TO:<g@example.com>\r\n")
                code, _ = client.reply()
                client.say("RSET", 250)
                return code
            assert try_once() == 450
            wait_until(lambda: try_once() == 250, "the end of the wait")
            assert try_once() == 250, "who has passed passes"
            assert try_once("other@example.org") == 450, "another sender is another triplet"
            client.quit()
        hole.stop()

    def test_are_refused_without_a_way_for_bounces(self, programs, users_file):
        path = users_file(["plain@example.com", "b@example.com - b"])
        refused = run([programs.bhm, "--listen", "127.0.0.1:0", path])
        assert refused.status == 1
        assert refused.stderr == f'bhm: {path}:2: behaviour "b" needs a way for bounces; give --bounce-via\n'


class TestBounces:
    @pytest.mark.parametrize("protocol", ["smtp", "lmtp"])
    def test_one_for_a_message_with_all_its_recipients(self, bhm, users_file, protocol):
        with Receiver() as receiver:
            hole = bhm(*(["--lmtp"] if protocol == "lmtp" else []), users_file(BOUNCED), "--bounce-via",
                       receiver.endpoint)
            recipients = ["plain@example.com", "b@example.com", "b2@example.com"]
            if protocol == "lmtp":
                with LmtpClient(("127.0.0.1", hole.port)) as client:
                    client.greet()
                    assert [one.code for one in client.deliver(recipients, MAIL, sender="sender@example.org")] == [250] * 3
                    client.say("QUIT", 221)
            else:
                with smtplib.SMTP("127.0.0.1", hole.port) as client:
                    assert client.sendmail("sender@example.org", recipients, MAIL) == {}
            bounce = receiver.wait_for(1)[0]
            done = hole.stop()
        assert (bounce.reverse_path, bounce.recipients) == ("", ["sender@example.org"])
        report, text, status, original = parts_of(bounce.octets)
        assert report["Auto-Submitted"] == "auto-replied" and report["To"].addresses[0].addr_spec == "sender@example.org"
        assert report["From"].addresses[0].username == "MAILER-DAEMON"
        assert report["Date"].datetime and report["Message-ID"]
        assert "b@example.com" in text.get_content() and "b2@example.com" in text.get_content()
        whole, *each = status.get_payload()
        assert whole["Reporting-MTA"].startswith("dns;")
        assert [one["Final-Recipient"] for one in each] == ["rfc822; b@example.com", "rfc822; b2@example.com"]
        assert {(one["Action"], one["Status"]) for one in each} == {("failed", "5.2.1")}
        assert email.message_from_string(original.get_content())["Message-ID"] == "<one@example.org>"
        assert "body" not in original.get_content()
        assert done.total("messages") == (3 if protocol == "lmtp" else 1)
        assert (done.total("bounces_sent"), done.total("bounces_failed"), done.total("errors")) == (1, 0, 0)
        assert "1 bounce sent" in done.stderr

    def test_none_for_the_null_reverse_path_nor_for_others(self, bhm, users_file):
        with Receiver() as receiver:
            hole = bhm(users_file(BOUNCED), "--bounce-via", receiver.endpoint)
            send(hole, ["b@example.com"], reverse_path="")
            send(hole, ["plain@example.com"])
            done = hole.stop()
            assert receiver.mail == [] and receiver.connections == 0
        assert done.total("messages") == 2
        assert (done.total("bounces_sent"), done.total("bounces_failed")) == (0, 0)

    def test_none_over_lmtp_for_whom_its_client_has_been_refused(self, behaving, users_file):
        rules = rule("end", 'reply = "550 5.7.1 no"', 'recipient = "b@example.com"')
        with Receiver() as receiver:
            hole = behaving(rules, "--lmtp", users_file(BOUNCED), "--bounce-via", receiver.endpoint)
            with Client(("127.0.0.1", hole.port)) as client:
                client.expect(220)
                client.say("LHLO client.example", 250)
                client.say("MAIL FROM:<sender@example.org>", 250)
                client.say("RCPT TO:<b@example.com>", 250)
                client.say("RCPT TO:<b2@example.com>", 250)
                client.say("DATA", 354)
                client.write(b"Subject: one\r\n\r\nbody\r\n.\r\n")
                client.expect(550)
                client.expect(250)
                client.quit()
            bounce = receiver.wait_for(1)[0]
            hole.stop()
        _, status, _ = parts_of(bounce.octets)[1:]
        assert [one["Final-Recipient"] for one in status.get_payload()[1:]] == ["rfc822; b2@example.com"]

    def test_none_for_what_was_refused_or_given_up(self, bhm, users_file):
        with Receiver() as receiver:
            hole = bhm(users_file(BOUNCED), "--bounce-via", receiver.endpoint, "-m", "1")
            with pytest.raises(smtplib.SMTPResponseException):
                send(hole, ["b@example.com"], MAIL + 2000 * b"x" + b"\r\n")
            with Client(("127.0.0.1", hole.port)) as client:
                client.expect(220)
                client.say("EHLO client.example", 250)
                client.say("MAIL FROM:<sender@example.org>", 250)
                client.say("RCPT TO:<b@example.com>", 250)
                client.say("DATA", 354)
                client.write(b"Subject: half\r\n")
                client.reset()
            done = hole.stop()
            assert receiver.mail == []
        assert done.total("bounces_sent") == 0

    def test_hostile_headers_stay_in_their_part(self, bhm, users_file):
        hostile = (b"Subject: =_report_\r\n--=_report_0--\r\nContent-Type: multipart/mixed; boundary=x\r\n"
                   b"X-Eight: \xe4\xff\x01\r\n" + b"X-Long: " + 30000 * b"y" + b"\r\n\r\nbody\r\n")
        with Receiver() as receiver:
            hole = bhm(users_file(BOUNCED), "--bounce-via", receiver.endpoint)
            send(hole, ["b@example.com"], hostile)
            bounce = receiver.wait_for(1)[0]
            hole.stop()
        _, _, status, original = parts_of(bounce.octets)
        assert len(status.get_payload()) == 2
        assert original.get_payload(decode=True) == hostile[:hostile.index(b"X-Long")]
        assert len(bounce.octets) < 40000 and max(map(len, bounce.octets.split(b"\r\n"))) <= 998

    def test_what_the_relay_refuses_is_counted(self, bhm, users_file):
        with Receiver({"RCPT": "550 5.7.1 no bounces here"}) as receiver:
            hole = bhm(users_file(BOUNCED), "--bounce-via", receiver.endpoint)
            send(hole, ["b@example.com"])
            send(hole, ["b@example.com"])
            done = hole.stop()
        assert (done.total("bounces_sent"), done.total("bounces_failed")) == (0, 2)
        assert [(error["stage"], error["code"], error["count"]) for error in done.record["errors"]] == [("bounce", 550, 2)]
        assert "2 bounces not sent" in done.stderr

    def test_no_relay_is_no_reason_to_refuse_mail(self, bhm, users_file):
        hole = bhm(users_file(BOUNCED), "--bounce-via", f"127.0.0.1:{free_port()}", "--grace", "1s")
        for _ in range(3):
            send(hole, ["b@example.com"])
        done = hole.stop()
        assert done.total("messages") == 3
        assert (done.total("bounces_sent"), done.total("bounces_failed")) == (0, 3)
        assert {error["stage"] for error in done.record["errors"]} == {"bounce"}

    def test_what_waits_is_sent_before_a_gentle_end(self, bhm, users_file):
        with Receiver() as receiver:
            hole = bhm(users_file(BOUNCED), "--bounce-via", receiver.endpoint, "--grace", "30s")
            with smtplib.SMTP("127.0.0.1", hole.port) as client:
                for _ in range(200):
                    client.sendmail("sender@example.org", ["b@example.com"], MAIL)
            done = hole.stop()
            assert len(receiver.mail) == 200
        assert done.total("bounces_sent") == 200


class TestPostfix:
    def test_takes_the_bounces_and_passes_them_on(self, bhm, postfix, users_file):
        with Receiver() as receiver:
            relay = postfix(f"smtp:[127.0.0.1]:{receiver.port}")
            hole = bhm(users_file(BOUNCED), "--bounce-via", relay.endpoint)
            for number in range(5):
                send(hole, ["b@example.com"], MAIL, f"sender{number}@example.org")
            mail = receiver.wait_for(5)
            done = hole.stop()
            assert relay.drain(5) == 5
        assert sorted(one.recipients[0] for one in mail) == [f"sender{number}@example.org" for number in range(5)]
        for one in mail:
            assert one.reverse_path == ""
            _, _, status, _ = parts_of(one.octets)
            assert status.get_payload()[1]["Final-Recipient"] == "rfc822; b@example.com"
        assert done.total("bounces_sent") == 5
