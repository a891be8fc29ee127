# SPDX-License-Identifier: GPL-3.0-or-later
"""What a server keeps from a session that it has agreed to tell by NOTIFY, or has had before that: it is there, or nobody has
looked, and is not lost."""
import asyncio
import signal
import time

import pytest

from support.process import wait_until
from support.telling import TOLD_WITHIN, ImapSession, Telling
from support.watched import Sending

USER, COUNT = "user0@example.com", 3


class Forgetful(ImapSession):
    """Agrees to NOTIFY, and tells of mail when it is asked with NOOP."""

    async def notify(self, tag, _):
        self.done(tag)
        self.server.waiting += 1

    async def noop(self, tag, _):
        self.may = "noop"
        self.tell()
        self.may = ""
        self.done(tag)


class Hung(Forgetful):
    """The same, and answers nothing any more."""

    async def noop(self, tag, _):
        self.server.waiting += 1


class Folders(ImapSession):
    """Each folder is a mailbox of its own, and is made as soon as the test lets it."""

    def box_of(self, name):
        name = name.strip(b'"').decode()
        return self.server.boxes[self.user if name == "INBOX" else self.user.replace("@", f"+{name}@")]

    async def create(self, tag, _):
        self.server.asked = True
        while not self.server.may_create:
            await asyncio.sleep(0.05)
        self.done(tag)

    async def status(self, tag, rest):
        name = rest.split()[0]
        self.done(tag, b"* STATUS %b (UIDNEXT %d UIDVALIDITY 1)\r\n" % (name, self.box_of(name).count + 1))

    async def notify(self, tag, _):
        self.done(tag)
        self.server.waiting += 1


def watching(programs, folder, server, users_file, *words):
    return Sending(programs.rabid, folder, "-p", "1", "-i", "100", "--watch", "200ms", "--watch-by", "notify", "-d", "100:0", "--timeout", "2s",
                   "--ledger", folder / "book", *words, "--imap", server.endpoint, server.endpoint, users_file([f"{USER} secret"]))


def deliver(postal, folder, server, to=USER):
    sent = postal("-L", "-t", "1", "-c", "-1", "-M", "1", "-m", "1", "--messages", COUNT, "--ledger", folder / "book", "--to", to, server.lmtp)
    assert sent.total("messages") == COUNT


def pass_by(seconds):
    until = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() > until, "time to pass", seconds + 30)


@pytest.mark.parametrize("waits", [0, TOLD_WITHIN + 1])
def test_what_is_told_by_the_last_noop_is_read(programs, folder, users_file, postal, report, waits):
    """It was not announced, and is missed where it lay there long enough."""
    with Telling(Forgetful) as server, watching(programs, folder, server, users_file) as reader:
        wait_until(lambda: server.waiting, "the session to watch")
        pass_by(1.5)
        deliver(postal, folder, server)
        pass_by(1.5 + waits)
        reader.signal(signal.SIGTERM)
        done = reader.wait()
    assert done.status == 0 and done.total("messages") == done.total("announced") == COUNT
    found, status = report(folder / "book")
    assert status == 0 and found["found"] == COUNT and found["lost"] == 0
    if waits:
        assert found["missed_notification"] == found["announced_never"] == COUNT


def test_a_server_that_hangs_has_lost_nothing(programs, folder, users_file, postal, report):
    """It is silent after it has agreed to tell: nothing shows that what is not told of is not there."""
    with Telling(Hung) as server, watching(programs, folder, server, users_file) as reader:
        wait_until(lambda: server.waiting, "the session to watch")
        pass_by(1.5)
        deliver(postal, folder, server)
        pass_by(1.5)
        reader.signal(signal.SIGTERM)
        done = reader.wait()
    assert done.total("messages") == 0 and server.waiting > 1
    found, status = report(folder / "book")
    assert status == 0 and found["lost"] == 0 and found["not_looked_for"] == COUNT


def test_what_comes_while_folders_are_made_is_not_lost(programs, folder, users_file, postal, report):
    """It lay there when the folder was asked about, and so was passed over."""
    with Telling(Folders) as server:
        server.asked = server.may_create = False
        with watching(programs, folder, server, users_file, "--watch-folders", "lists") as reader:
            wait_until(lambda: server.asked, "the folder to be made")
            pass_by(1.5)
            deliver(postal, folder, server, USER.replace("@", "+lists@"))
            server.may_create = True
            wait_until(lambda: server.waiting, "the session to watch")
            pass_by(TOLD_WITHIN + 1)
            reader.signal(signal.SIGTERM)
            done = reader.wait()
    assert done.status == 0 and done.total("messages") == 0
    found, status = report(folder / "book")
    assert status == 0 and found["lost"] == 0 and found["not_looked_for"] == COUNT
    assert found.get("announced_messages", 0) == 0
