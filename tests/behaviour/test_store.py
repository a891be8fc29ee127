# SPDX-License-Identifier: GPL-3.0-or-later
"""bhm --store: what is kept is what was accepted, as Python's mailbox module reads it."""
import mailbox
import os
import re
import resource
import smtplib
import subprocess

import pytest

from support.deliver import LmtpClient
from support.dialogue import Client
from support.mail import Message, read_maildir, to_crlf
from support.postal import run
from support.process import wait_until

MAIL = b"From: <a@example.com>\r\nTo: <b@example.com>\r\nSubject: one\r\n\r\nFrom here on\r\n>From there\r\n.dot\r\n"
BODY = "From here on\n>From there\n.dot\n"


def send(hole, octets=MAIL, recipients=("b@example.com",), reverse_path="a@example.com"):
    with smtplib.SMTP("127.0.0.1", hole.port, local_hostname="client.example") as client:
        return client.sendmail(reverse_path, recipients, octets)


def names(folder):
    return sorted(os.path.relpath(os.path.join(place, file), folder)
                  for place, _, files in os.walk(folder) for file in files)


@pytest.fixture
def store(folder):
    return folder / "store"


class TestFormats:
    def test_a_maildir(self, bhm, store):
        hole = bhm("--store", store)
        send(hole)
        send(hole, recipients=["b@example.com", "c@example.com"], reverse_path="")
        done = hole.stop()
        assert done.total("stored") == 2 and done.total("errors") == 0
        box = mailbox.Maildir(store, create=False)
        mail = sorted(box, key=lambda one: len(one.get_all("Delivered-To")))
        assert [one["Return-Path"] for one in mail] == ["<a@example.com>", "<>"]
        assert [one.get_all("Delivered-To") for one in mail] == [["b@example.com"], ["b@example.com", "c@example.com"]]
        assert [one.get_payload() for one in mail] == [BODY, BODY]
        assert re.match(r"from client\.example \(\[127\.0\.0\.1\]\)\s+by \S+ with ESMTP id 1\.1\s+for <b@example\.com>; ",
                        mail[0]["Received"])
        files = list((store / "new").iterdir())
        assert all(re.fullmatch(r"\d+\.M\d+P\d+Q\d+\.\S+", one.name) for one in files)
        assert {one.stat().st_mode & 0o777 for one in files} == {0o600}
        assert not list((store / "tmp").iterdir()) and not list((store / "cur").iterdir())

    def test_an_mbox(self, bhm, store):
        hole = bhm("--store", store, "--store-format", "mbox", "--workers", "2")
        for number in range(6):
            send(hole, reverse_path=f"a{number}@example.com" if number else "")
        done = hole.stop()
        assert done.total("stored") == 6
        assert names(store) == ["mbox"]
        box = mailbox.mbox(store / "mbox", create=False)
        assert len(box) == 6
        assert sorted(one.get_from().split()[0] for one in box)[0] == "MAILER-DAEMON"
        quoted = BODY.replace("From", ">From", 1).replace("\n>From", "\n>>From")
        assert {one.get_payload() for one in box} == {quoted}

    @pytest.mark.parametrize("form", ["maildir", "mbox"])
    def test_every_message_of_postal_is_there_unchanged(self, bhm, postal, store, users_file, form):
        hole = bhm("--store", store, "--store-format", form)
        sent = postal("-t", "8", "-c", "-1", "--messages", "200", "--body", "ascii=40,8bit=20,dots=20,crlf-edge=20",
                      hole.endpoint, users_file(5))
        done = hole.stop()
        assert sent.total("messages") == done.total("messages") == done.total("stored") == 200
        if form == "maildir":
            mail = read_maildir(store)
        else:
            pieces = re.split(rb"(?m)^From \S+ \w{3} \w{3} .*\n", (store / "mbox").read_bytes())[1:]
            mail = [Message(to_crlf(re.sub(rb"(?m)^>(>*From )", rb"\1", piece[:-1]))) for piece in pieces]
        assert len({one.key for one in mail}) == 200
        if form == "maildir":
            for one in mail:
                one.verify()

    def test_lmtp_keeps_a_message_once(self, bhm, store):
        hole = bhm("--lmtp", "--store", store)
        with LmtpClient(("127.0.0.1", hole.port)) as client:
            client.greet()
            client.deliver(["b@example.com", "c@example.com"], MAIL, sender="a@example.com")
        done = hole.stop()
        assert done.total("messages") == 2 and done.total("stored") == 1
        [one] = mailbox.Maildir(store, create=False)
        assert one.get_all("Delivered-To") == ["b@example.com", "c@example.com"] and "with LMTP id" in one["Received"]


    @pytest.mark.parametrize("words, said", [("", "SMTP"), ("ehlo", "ESMTP"), ("ehlo auth", "ESMTPA"), ("ehlo tls", "ESMTPS"),
                                             ("ehlo tls auth", "ESMTPSA"), ("tls auth, then helo", "SMTP"),
                                             ("ehlo utf8", "UTF8SMTP"), ("ehlo tls utf8", "UTF8SMTPS")])
    def test_how_it_came(self, bhm, store, users_file, certificates, words, said):
        """RFC 3848, and of SMTPUTF8 RFC 6531 (4.3)."""
        hole = bhm("--store", store, "-s", "--tls-cert", certificates.good, "--auth", "PLAIN", "--auth-insecure",
                   users_file(["b@example.com secret"]))
        with smtplib.SMTP("127.0.0.1", hole.port, local_hostname="client.example") as client:
            if "tls" in words:
                client.starttls()
            if "auth" in words:
                client.login("b@example.com", "secret")
            client.ehlo() if "ehlo" in words else client.helo()
            client.sendmail("a@example.com", ["b@example.com"], MAIL, ["SMTPUTF8"] if "utf8" in words else ())
        hole.stop()
        [one] = mailbox.Maildir(store, create=False)
        assert re.search(r"with (\S+) id", one["Received"])[1] == said


class TestWhatIsNotAccepted:
    @pytest.mark.parametrize("form", ["maildir", "mbox"])
    def test_leaves_nothing(self, bhm, store, form):
        hole = bhm("--store", store, "--store-format", form, "-m", "64")
        with Client(("127.0.0.1", hole.port)) as client:
            client.envelope()
            client.say("DATA", 354)
            client.write(b"Subject: too big\r\n" + 40000 * b"line\r\n" + b".\r\n")
            client.expect(552)
            client.quit()
        with Client(("127.0.0.1", hole.port)) as client:
            client.envelope()
            client.say("DATA", 354)
            client.write(b"Subject: half\r\n" + 4000 * b"half\r\n")
            client.reset()
        with Client(("127.0.0.1", hole.port)) as client:
            client.envelope()
            client.say("RSET", 250)
            client.quit()
        done = hole.stop()
        assert done.total("messages") == done.total("stored") == done.total("not_stored") == 0
        assert names(store) == (["mbox"] if form == "mbox" else [])
        assert form == "maildir" or (store / "mbox").stat().st_size == 0

    def test_names_hold_nothing_that_clients_say(self, bhm, store):
        hole = bhm("--store", store)
        send(hole, recipients=['"../../x"@example.com'], reverse_path='"/etc/passwd"@example.com')
        hole.stop()
        assert [re.fullmatch(r"new/\d+\.M\d+P\d+Q\d+\.[^/]+", one) is not None for one in names(store)] == [True]


class TestBounds:
    def test_messages(self, bhm, store):
        hole = bhm("--store", store, "--store-messages", "3")
        for _ in range(5):
            send(hole)
        done = hole.stop()
        assert (done.total("messages"), done.total("stored"), done.total("not_stored")) == (5, 3, 2)
        assert done.total("errors") == 0
        assert len(names(store)) == 3
        assert done.stderr.count("is full; nothing more is kept") == 1

    @pytest.mark.parametrize("form", ["maildir", "mbox"])
    def test_octets(self, bhm, store, form):
        hole = bhm("--store", store, "--store-format", form, "--store-size", "20K")
        for _ in range(5):
            send(hole, MAIL + 1000 * b"line\r\n")
        done = hole.stop()
        kept = sum(os.path.getsize(store / one) for one in names(store))
        assert (done.total("messages"), done.total("stored"), done.total("not_stored")) == (5, 3, 2)
        assert 15000 < kept <= 20 * 1024

    def test_sample(self, bhm, postal, store, users_file):
        hole = bhm("--store", store, "--sample", "20%")
        postal("-t", "1", "-c", "-1", "--messages", "500", hole.endpoint, users_file(2))
        done = hole.stop()
        assert done.total("not_stored") == 0 and 60 <= done.total("stored") <= 140
        assert done.total("stored") == len(names(store))


class TestFailures:
    def test_a_folder_that_is_gone_is_an_error_and_no_refusal(self, bhm, store):
        hole = bhm("--store", store)
        for part in ("tmp", "new", "cur"):
            (store / part).rmdir()
        send(hole)
        done = hole.stop()
        assert (done.total("messages"), done.total("stored"), done.total("not_stored")) == (1, 0, 1)
        [error] = done.record["errors"]
        assert (error["stage"], error["code"]) == ("end", 0) and str(store) in error["sample"]

    def test_a_full_disk_leaves_whole_messages(self, bhm, store, storage, tool, folder):
        image = folder / "image"
        with open(image, "wb") as file:
            file.truncate(2 * 1024 * 1024)
        subprocess.run([tool("mkfs.ext4"), "-q", image], check=True)
        store.mkdir()
        subprocess.run(["mount", "-o", "loop", image, store], check=True)
        try:
            hole = bhm("--store", store / "mail", "--store-format", "mbox")
            for _ in range(8):
                send(hole, MAIL + 60000 * b"line\r\n")
            done = hole.stop()
            assert done.total("messages") == 8 and done.total("stored") + done.total("not_stored") == 8
            assert done.total("not_stored") > 0 and done.total("stored") > 0
            assert len(mailbox.mbox(store / "mail" / "mbox", create=False)) == done.total("stored")
            assert "No space left" in done.stderr
        finally:
            wait_until(lambda: subprocess.run(["umount", store], check=False).returncode == 0, "the unmounting")

    @pytest.mark.parametrize("there", ["file", "new/mail", "mbox"])
    def test_nothing_is_overwritten_or_mixed(self, programs, store, there):
        (store / there).parent.mkdir(parents=True, exist_ok=True)
        (store / there).write_text("mine\n")
        refused = run([programs.bhm, "--listen", "127.0.0.1:0", "--store", store])
        assert refused.status == 1 and refused.stdout == ""
        first = there.partition("/")[0]
        assert refused.stderr == (f'bhm: --store: {store}: holds "{first}"; give a folder that is new or empty\n')
        assert (store / there).read_text() == "mine\n"


class TestSync:
    """With --store-sync 250 means that the message is on the disk."""

    @pytest.mark.parametrize("form", ["maildir", "mbox"])
    def test_what_cannot_be_kept_is_refused(self, bhm, store, form):
        hole = bhm("--store", store, "--store-format", form, "--store-sync")
        send(hole)
        large = MAIL + b"x" * 70 + b"\r\n" + (b"y" * 70 + b"\r\n") * 3000
        resource.prlimit(hole.pid, resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
        for _ in range(2):
            with pytest.raises(smtplib.SMTPDataError) as refused:
                send(hole, large)
            assert refused.value.smtp_code == 452 and refused.value.smtp_error.startswith(b"4.3.1 ")
        send(hole)
        done = hole.stop()
        assert done.total("messages") == done.total("stored") == len(kept(store, form)) == 2
        assert done.total("deferred") == done.total("not_stored") == 2

    def test_over_lmtp_each_recipient_is_told(self, bhm, store):
        hole = bhm("--lmtp", "--store", store, "--store-sync", "--store-messages", "1")
        with LmtpClient(("127.0.0.1", hole.port)) as client:
            client.greet()
            assert [answer.code for answer in client.deliver(["b@example.com", "c@example.com"])] == [250, 250]
            answers = client.deliver(["b@example.com", "c@example.com"])
            client.quit()
        assert [str(answer) for answer in answers] == ["452 4.3.1 Cannot store the message"] * 2
        done = hole.stop()
        assert done.total("messages") == 2 and done.total("deferred") == 2 and done.total("stored") == 1


def kept(store, form):
    return list(mailbox.Maildir(store, create=False)) if form == "maildir" else list(mailbox.mbox(store / "mbox", create=False))
