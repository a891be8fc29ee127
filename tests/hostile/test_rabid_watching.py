# SPDX-License-Identifier: GPL-3.0-or-later
"""rabid --watch with a server that tells of more mail while the last is being read and deleted: all of it is read, once."""
import signal

import pytest

from conftest import login_names, user_names
from support.hostile_imap import UID, HostileImap, ImapSession
from support.mail import made_message
from support.postal import RABID_HEADER, check_reading
from support.process import wait_until
from support.watched import Sending

FIRST, MORE = 3, 2


class Busy(ImapSession):
    """FIRST messages come during the first IDLE, MORE during the first command that the server's `busy_at` names."""
    came = 0

    async def arrive(self, count):
        for self.came in range(self.came + 1, self.came + count + 1):
            self.mail[UID + self.came] = made_message(self.came)
        await self.send(b"* %d EXISTS\r\n" % len(self.mail))

    async def while_busy(self, verb, handler, rest):
        if verb == self.server.busy_at and self.came == FIRST:
            await self.arrive(MORE)
        await handler(self, rest)

    async def idle(self, _):
        await self.send(b"+ idling\r\n")
        if not self.came:
            await self.arrive(FIRST)
        assert await self.reader.readline() == b"DONE\r\n"
        await self.send(self.done())

    async def fetch(self, rest):
        await self.while_busy("fetch", ImapSession.fetch, rest)

    async def store(self, rest):
        await self.while_busy("store", ImapSession.store, rest)

    async def expunge(self, rest):
        await self.while_busy("expunge", ImapSession.expunge, rest)

    COMMANDS = ImapSession.COMMANDS | {b"IDLE": idle, b"FETCH": fetch, b"STORE": store, b"EXPUNGE": expunge}


@pytest.mark.parametrize("verb", ["fetch", "store", "expunge"])
def test_mail_comes_while_other_mail_is_deleted(programs, folder, users_file, verb):
    server = HostileImap(mail=[], session=Busy)
    server.busy_at = verb
    with server, Sending(programs.rabid, folder, "-i", "100", "--watch", "100ms", "--workers", "1", "--imap", server.endpoint,
                         server.endpoint, users_file(login_names(user_names(1)))) as watching:
        wait_until(lambda: server.count.deleted == FIRST + MORE, lambda: f"all to be deleted: {server.count.deleted} are", 15)
        watching.signal(signal.SIGTERM)
        run = watching.wait()
    run.header = RABID_HEADER
    check_reading(run)
    assert run.status == 0 and run.record["errors"] == []
    assert run.total("messages") == run.total("deleted") == server.count.sent == FIRST + MORE
    assert run.record["integrity"]["duplicate"] == 0
