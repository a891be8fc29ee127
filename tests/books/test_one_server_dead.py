# SPDX-License-Identifier: GPL-3.0-or-later
"""Two servers, one of them dead, and a worker for each: the run ends with exactly what was asked for, all of it from the
server that lives. Tickets that were taken for the dead one are begun by the other worker."""
import signal

import pytest

from conftest import login_names
from support.postal import check_books, check_reading
from support.process import free_port, wait_until
from support.watched import Sending

COUNT = 60
PACES = {"as fast as it goes": [], "at a rate": ["-r", "100/s"], "open loop": ["-r", "100/s", "--open-loop"],
         "random gaps": ["-r", "100/s", "--arrival", "poisson"]}


@pytest.fixture(params=PACES.values(), ids=PACES.keys())
def pace(request):
    return request.param


@pytest.fixture(params=[0, 1], ids=["first dead", "second dead"])
def servers(request):
    """servers(endpoint) is that one and a closed port, in one order or the other."""
    return lambda endpoint: ",".join([f"127.0.0.1:{free_port()}", endpoint][::-1 if request.param else 1])


@pytest.mark.parametrize("messages_a_connection", ["1", "-1"])
def test_messages(bhm, postal, users_file, pace, servers, messages_a_connection):
    hole = bhm()
    run = postal("--workers", "2", "-t", "1", "-c", messages_a_connection, *pace, "--messages", COUNT, "--duration", "30s",
                 servers(hole.endpoint), users_file(3))
    check_books(run)
    assert run.total("messages") == run.total("started") == COUNT
    assert run.total("not_started") == 0
    assert run.record["duration_s"] < 15
    assert hole.stop().total("messages") == COUNT


@pytest.mark.thinned(3)
def test_connections(dovecot, rabid, users_file, pace, servers):
    server = dovecot(3, reading=True)
    run = rabid("--workers", "2", "-p", "2", *pace, "--connections", COUNT, "--duration", "30s", servers(server.pop3),
                users_file(login_names(server.users)))
    check_reading(run)
    assert run.total("connections") == COUNT
    assert run.total("not_started") == 0
    assert run.record["duration_s"] < 15


def sent(sending):
    return sum(int(row.split(",")[1]) for row in sending.process.stdout.splitlines()[1:] if row.count(",") > 3)


def test_a_server_that_says_nothing_takes_one_along(bhm, programs, folder, users_file):
    """Its session waits for a greeting with a ticket in its hand; all the others are used meanwhile."""
    hole, silent = bhm(), bhm("--delay", "banner=1h")
    with Sending(programs.postal, folder, "--workers", "2", "-t", "1", "-c", "1", "--messages", "300", "--interval", "100ms",
                 f"{silent.endpoint},{hole.endpoint}", users_file(3)) as sending:
        wait_until(lambda: sent(sending) >= 299, lambda: f"all but one of 300: {sent(sending)}", 60)
        sending.process.signal(signal.SIGINT)
        run = sending.wait(30)
    assert run.total("messages") == 299
