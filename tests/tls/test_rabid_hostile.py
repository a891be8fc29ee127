# SPDX-License-Identifier: GPL-3.0-or-later
"""rabid and POP3 and IMAP servers that fail behind TLS: what was cut is truncated and not read, and the rest goes on."""
import asyncio
import socket

import pytest

from support.hostile import Over
from support.hostile_imap import HostileImap, ImapSession
from support.hostile_pop3 import HostilePop3, PopSession
from support.postal import check_reading
from support.tls_books import ENGINES, check_tls, engine
from support.tls_peers import server_context


async def cut(session, step, text):
    """The end of the connection without a word of TLS's."""
    session.writer.get_extra_info("socket").shutdown(socket.SHUT_WR)
    await asyncio.wait_for(session.reader.read(), 5)
    raise Over


class CutPop(PopSession):
    FAULTS = PopSession.FAULTS | {"cut": cut}


class CutImap(ImapSession):
    FAULTS = ImapSession.FAULTS | {"cut": cut}


SERVERS = {"pop3": (HostilePop3, CutPop), "imap": (HostileImap, CutImap)}


@pytest.mark.thinned(5)
@pytest.mark.parametrize("fault, reasons", [("cut", {"truncated"}), ("close", {"closed"}), ("reset", {"reset", "truncated"}), ("silence", {"timeout"})])
@pytest.mark.parametrize("way", SERVERS)
@pytest.mark.parametrize("name", ENGINES)
def test_a_message_that_does_not_come_to_its_end(rabid, users_file, certificates, name, way, fault, reasons):
    kind, session = SERVERS[way]
    logins = users_file([f"user{number}@example.com secret" for number in range(4)])
    with kind("message", fault, every=2, session=session, tls=server_context(certificates.good)) as server:
        place = ["-i", "100", "--imap", server.endpoint, server.endpoint] if way == "imap" else [server.endpoint]
        run = rabid("-p", "2", "--connections", "8", "--duration", "10s", "--timeout", "700ms", "--tls", "implicit", *engine(name), *place, logins)
    check_reading(run)
    check_tls(run, run.total("connections"))
    found = {error["reason"] for error in run.record["errors"]}
    assert found and found <= reasons, run.record["errors"]
    assert run.record["integrity"]["verified"] == run.total("messages") <= server.count.sent
    assert run.total("messages") > 0 and run.total("failed") > 0 and run.record["integrity"]["corrupt"] == 0
