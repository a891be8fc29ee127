# SPDX-License-Identifier: GPL-3.0-or-later
"""postal's mail found again in Dovecot's Maildirs, directly over LMTP and through Postfix.

What was counted must be what is in the mailboxes, each message once for every recipient, in the
mailbox of somebody that it was addressed to, and unchanged: the digest is worked out anew here.
"""
import re

import pytest

from support.postal import check_books

BODIES = ["ascii", "8bit", "dots", "long-lines", "crlf-edge", "multipart",
          "ascii=20,8bit=20,dots=20,long-lines=10,crlf-edge=20,multipart=10"]
LOAD = ("-t", "3", "-c", "-1", "-M", "1", "-m", "30")


def check_mail(server, run, digest="xxh3"):
    """Every message that the run counted is there, once, unchanged and where it belongs."""
    found = server.wait_for(run.total("recipients"))
    assert len(found) == run.total("recipients")
    for user in server.users:
        mailbox = server.mailbox(user)
        keys = [message.key for message in mailbox]
        assert len(set(keys)) == len(keys), f"duplicates for {user}"
        for message in mailbox:
            message.verify()
            assert message.identity["d"].startswith(f"{digest}:")
            assert f"<{user}>" in message.text("to"), message.source
    assert len({message.identity["run"] for message in found}) == 1
    numbers = {message.text("message-id") for message in found}
    assert len(numbers) == len({message.key for message in found}), "a Message-ID for each message"
    return found


@pytest.mark.thinned(5)
@pytest.mark.parametrize("way", ["tcp", "unix"])
@pytest.mark.parametrize("body", BODIES)
def test_lmtp_to_dovecot(dovecot, postal, users_file, way, body):
    server = dovecot(6)
    endpoint = server.endpoint if way == "tcp" else f"unix:{server.socket}"
    run = postal("-L", *LOAD, "--body", body, "--messages", "60", endpoint, users_file(6))
    check_books(run)
    assert run.total("messages") == run.total("recipients") == 60
    check_mail(server, run)


@pytest.mark.parametrize("options", [["--pipelining", "off"], ["--chunking", "auto"],
                                     ["--chunking", "auto", "--in-flight", "4"]],
                         ids=["plain", "chunked", "chunked-4-in-flight"])
def test_lmtp_to_dovecot_with_several_recipients(dovecot, postal, users_file, options):
    server = dovecot(6)
    run = postal("-L", *LOAD, *options, "--recipients", "1..3", "--messages", "60", server.endpoint, users_file(6))
    check_books(run)
    assert run.total("errors") == 0
    found = check_mail(server, run)
    assert len({message.key for message in found}) < len(found)
    addressed = {message.key: message.text("to").count("<") for message in found}
    assert sum(addressed.values()) == len(found)
    assert set(addressed.values()) == {1, 2, 3}


@pytest.mark.parametrize("pipelining", ["off", "auto", "overlap"])
def test_lmtp_answers_for_each_recipient(dovecot, postal, users_file, pipelining):
    """Some recipients are unknown (refused at RCPT), one's mailbox is full (refused after the data)."""
    server = dovecot(4, extra="""
        mail_plugins = quota
        plugin {
          quota = count:User quota
          quota_vsizes = yes
        }
        """, quota={"user0@example.com": "*:bytes=1"})
    users = server.users + ["nobody@example.com", "noone@example.com"]
    run = postal("-L", *LOAD, "--pipelining", pipelining, "--recipients", "1..3", "--messages", "60", server.endpoint,
                 users_file(users))
    check_books(run)
    assert server.mailbox("user0@example.com") == []
    check_mail(server, run)
    refused = {(error["stage"], error["code"]): error["count"] for error in run.record["errors"]}
    assert set(refused) == {("rcpt", 550), ("end", 552)}, run.record["errors"]
    assert run.total("rejected") == sum(refused.values())
    assert run.total("started") == run.total("messages") + run.total("rejected")


@pytest.mark.parametrize("digest", ["md5", "sha256"])
def test_other_digests(dovecot, postal, users_file, digest):
    server = dovecot(3)
    run = postal("-L", *LOAD, "--digest", digest, "--body", BODIES[-1], "--messages", "30", server.endpoint,
                 users_file(3))
    assert run.total("messages") == 30
    check_mail(server, run, digest)


@pytest.mark.parametrize("size, smallest, largest", [
    ("fixed:700", 700, 700), ("fixed:5K", 5120, 5120), ("fixed:1M", 1 << 20, 1 << 20),
    ("lognormal:4K,1.0,64K", 1, 64 * 1024)])
def test_sizes_are_what_was_asked_for(dovecot, postal, users_file, size, smallest, largest):
    server = dovecot(1)
    run = postal("-L", "-c", "-1", "--size", size, "--messages", "20", server.endpoint, users_file(1))
    found = check_mail(server, run)
    total = 0
    for message in found:
        # what postal sent begins with its From; the lines above are Dovecot's
        sent = message.octets[message.octets.index(b"\r\nFrom:") + 2:]
        assert len(sent) == int(message.identity["size"])
        assert smallest <= len(sent) <= largest or len(sent) < 1024
        total += len(sent)
    assert total == run.total("bytes")


@pytest.mark.thinned(5)
@pytest.mark.parametrize("body", BODIES)
def test_through_postfix_to_dovecot(postfix, dovecot, postal, users_file, body):
    store = dovecot(6)
    relay = postfix(f"lmtp:inet:{store.endpoint}")
    run = postal(*LOAD, "--body", body, "--recipients", "1..3", "--messages", "40", relay.endpoint, users_file(6))
    check_books(run)
    assert run.total("messages") == relay.drain(40) == 40
    assert len(relay.outcomes("sent")) == run.total("recipients")
    check_mail(store, run)


@pytest.mark.parametrize("chunking", ["off", "auto"])
def test_through_postfix_over_smtp_with_bdat(postfix, dovecot, postal, users_file, chunking):
    store = dovecot(4)
    relay = postfix(f"lmtp:unix:{store.socket}")
    run = postal(*LOAD, "--chunking", chunking, "--body", "crlf-edge=50,dots=50", "--messages", "40",
                 relay.endpoint, users_file(4))
    assert run.total("messages") == relay.drain(40) == 40
    assert ("bdat=" in relay.log) == (chunking == "auto")
    check_mail(store, run)


def test_same_seed_same_mail(dovecot, postal, users_file):
    bodies = []
    for _ in range(2):
        server = dovecot(1)
        run = postal("-L", "--workers", "1", "-c", "-1", "--seed", "42", "--body", BODIES[-1], "--messages", "20",
                     server.endpoint, users_file(1))
        found = check_mail(server, run)
        assert run.record["seed"] == 42
        bodies.append({(message.identity["s"], message.identity["n"]): (message.text("subject"), message.body)
                       for message in found})
    assert bodies[0] == bodies[1]


def test_the_original_breakage_switch(dovecot, postal, users_file):
    for switch, wanted in (("netscape", r"Subject: \S"), ("nonetscape", r"Subject:\s\s+\S")):
        server = dovecot(1)
        run = postal("-L", "-c", "-1", "-b", switch, "--messages", "10", server.endpoint, users_file(1))
        for message in check_mail(server, run):
            subject = re.search(rb"\r\n(Subject:[^\r]*)\r\n", message.octets).group(1).decode()
            assert re.match(wanted, subject), subject


def test_senders_come_from_their_own_list(dovecot, postal, users_file):
    server = dovecot(2)
    senders = users_file(["boss@example.org", "chief@example.net"])
    run = postal("-L", "-c", "-1", "-f", senders, "--messages", "30", server.endpoint, users_file(2))
    found = check_mail(server, run)
    for header in ("from", "return-path"):
        assert {message.text(header) for message in found} == {"<boss@example.org>", "<chief@example.net>"}


def test_another_protocol_is_seen(dovecot, postal, rabid, users_file):
    """By its first error: Dovecot's LMTP spoken to as SMTP, and read from as POP3."""
    server = dovecot(2)
    for endpoint in (server.endpoint, f"unix:{server.socket}"):
        run = postal("--fail-fast", endpoint, users_file(2), status=4)
        assert "first error of its kind: ehlo 5" in run.stderr and "give -L" in run.stderr, run.stderr
    run = rabid("--fail-fast", server.endpoint, users_file(["user0@example.com password"]), status=4)
    assert "first error of its kind: banner garbage" in run.stderr and "postal sends to it" in run.stderr, run.stderr


def test_pop3_and_imap_are_told_apart(dovecot, postal, rabid, users_file):
    server = dovecot(2, reading=True)
    accounts = users_file(["user0@example.com password"])
    for run, hint in (
            (rabid("--fail-fast", server.imap, accounts, status=4), "that is an IMAP server, asked for POP3"),
            (rabid("--fail-fast", "-i", "100", "--imap", server.pop3, server.pop3, accounts, status=4), "that is a POP3 server, asked for IMAP"),
            (postal("--fail-fast", server.imap, accounts, status=4), "that is an IMAP server: rabid reads from it"),
            (postal("--fail-fast", "--tls", "implicit", server.pop3, accounts, status=4), "leave --tls implicit away")):
        assert run.stderr.count("hint: ") == 1 and hint in run.stderr, run.stderr
