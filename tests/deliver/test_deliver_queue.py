# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose deliveries wait, for how long, and for whom: clients that leave, time limits, turns, accounts that take long."""
import contextlib
import socket

import pytest

from support.nss import Database
from support.process import wait_until
from support.watched import OUTCOMES


def names(prefix, count):
    return [f"{prefix}{number}@example.com" for number in range(count)]


def unread_by_peer(client):
    """Octets that the server has not yet read: those in its socket's receive queue, by /proc/net/tcp."""
    port = client.socket.getsockname()[1]
    with open("/proc/net/tcp", encoding="ascii") as table:
        for line in table:
            words = line.split()
            if words[2].endswith(f":{port:04X}"):
                return int(words[4].split(":")[1], 16)
    return 0


def counted(server, name, value):
    """Waits until the interval log has so many of these."""
    wait_until(lambda: sum(int(line.split(",")[COLUMNS.index(name)]) for line in server.process.stdout.splitlines()[1:]) >= value,
               lambda: f"{value} {name}: {server.process.stdout}")


COLUMNS = "time,messages,data(K),errors,connections,SSL connections,deferred,rejected,agents_running".split(",")
OFTEN = ("--interval", "100ms")
NO_LOOK_UP = ("--env", "HOME=/", "--env", "USER=nobody")


# Clients that leave

@pytest.mark.parametrize("leaving", ["close", "reset", "shut", "unix"])
def test_what_waits_for_a_client_that_leaves_is_withdrawn(held, journal, gate, folder, leaving):
    """Five recipients, one place: the first one's agent runs on, the others are never begun."""
    server = held("--max-deliveries", "1", *OFTEN, listen=[f"unix:{folder}/socket"] if leaving == "unix" else ["127.0.0.1:0"])
    client = server.connect(f"unix:{folder}/socket" if leaving == "unix" else None)
    client.start_delivery(names("user", 5))
    journal.wait_for(started=1)
    if leaving == "shut":
        client.socket.shutdown(socket.SHUT_WR)
    else:
        client.reset() if leaving == "reset" else client.close()
    counted(server, "deferred", 4)
    gate.open()
    if leaving == "shut":
        answers = client.answers(5)
        assert [(answer.code, answer.enhanced) for answer in answers] == [(250, "2.1.5")] + [(451, "4.3.2")] * 4
        client.close()
    journal.wait_for(ended=1)
    done = server.stop()
    assert journal.started == ["user0"]
    assert (done.total("messages"), done.total("deferred"), done.total("withdrawn")) == (1, 4, 4)
    assert done.total("unheard") == 1
    assert done.total("started") == 5 == sum(done.total(name) for name in OUTCOMES)
    assert sum(error["count"] for error in done.record["errors"] if error["code"] == 451 and "left" in str(error)) == 4


def test_a_client_that_ends_its_side_behind_quit_still_waits(held, journal, gate):
    server = held("--max-deliveries", "1")
    with server.connect() as client:
        client.start_delivery(names("user", 3))
        journal.wait_for(started=1)
        client.write(b"QUIT\r\n")
        client.socket.shutdown(socket.SHUT_WR)
        gate.open()
        assert client.rest() == [250, 250, 250, 221]
    done = server.stop()
    assert (done.total("messages"), done.total("withdrawn"), done.total("unheard"), done.total("errors")) == (3, 0, 0, 0)


def test_what_others_wait_for_goes_on(held, journal, gate):
    server = held("--max-deliveries", "1", *OFTEN)
    gone, stays = server.connect(), server.connect()
    gone.start_delivery(names("gone", 3))
    journal.wait_for(started=1)
    stays.start_delivery(names("stays", 3))
    gone.close()
    counted(server, "deferred", 2)
    gate.open()
    assert stays.replies(3) == [250] * 3
    assert journal.started == ["gone0", "stays0", "stays1", "stays2"]


# Time

def test_a_delivery_that_waits_too_long_is_deferred(held, journal, gate):
    server = held("--max-deliveries", "1", "--queue-timeout", "300ms", *OFTEN)
    with server.connect() as client, server.connect() as other:
        client.start_delivery(names("user", 1))
        journal.wait_for(started=1)
        other.start_delivery(names("other", 2))
        assert [str(answer)[:27] for answer in other.answers(2)] == ["451 4.3.2 Waited too long f"] * 2
        gate.open()
        assert client.answer().code == 250, "an agent that runs has --timeout"
        assert [answer.code for answer in other.deliver(names("again", 1))] == [250]
    assert server.stop().total("deferred") == 2


@pytest.mark.parametrize("timeout, wanted", [("5m", "4m40s"), ("1m", "8m40s"), ("1h", "30s")])
def test_the_default_leaves_time_for_an_agent(lmtp_deliver, agents, timeout, wanted):
    server = lmtp_deliver(agents("status", "0"), "--timeout", timeout)
    assert server.stop().record["options"]["queue-timeout"] == wanted


# Turns

def test_one_recipient_leaves_places_for_others(held, journal, gate):
    server = held("--max-deliveries", "4", "--max-per-recipient", "2")
    clients = [server.connect() for _ in range(6)]
    for client in clients[:5]:
        client.start_delivery(["busy+detail@Example.com"])
    journal.wait_for(started=2)
    clients[5].start_delivery(["other@example.com", "another@example.com"])
    journal.wait_for(started=4)
    assert sorted(journal.started) == ["another", "busy", "busy", "other"]
    gate.open()
    for client in clients[:5]:
        assert client.answer().code == 250
    assert clients[5].replies(2) == [250] * 2


def test_clients_take_turns(held, journal, gate):
    """Two connections from one address with ten recipients each, then one from another address with three."""
    server = held("--max-deliveries", "1", "--workers", "1", *NO_LOOK_UP, listen=["0.0.0.0:0"])
    place = "127.0.0.1:" + server.endpoint.rpartition(":")[2]
    clients = {name: server.connect(place, source=source)
               for name, source in (("a", "127.0.0.2"), ("b", "127.0.0.2"), ("c", "127.0.0.3"))}
    for (name, client), count in zip(clients.items(), (10, 10, 3)):
        client.start_delivery(names(name, count))
        wait_until(lambda client=client: unread_by_peer(client) == 0, "the data to be read")
    journal.wait_for(started=1)
    gate.open()
    for client, count in zip(clients.values(), (10, 10, 3)):
        assert client.replies(count) == [250] * count
    assert journal.started[:7] == ["a0", "a1", "c0", "b0", "c1", "a2", "c2"]
    assert journal.started[7:11] == ["b1", "a3", "b2", "a4"], "and so do the connections of one"


# Accounts

@pytest.fixture
def users(folder):
    return Database(folder)


def test_an_account_that_takes_long_holds_up_nobody_else(lmtp_deliver, agents, journal, users):
    """One worker, a user database that stands still for one name: other sessions, and other names, go on."""
    with agents.gate("database.fifo") as slow:
        server = lmtp_deliver(agents("journal without a gate", journal, "%to_user%"), "--workers", "1", env=users.slow_for("slowpoke", slow))
        with server.connect() as first, server.connect() as second:
            first.start_delivery(["slowpoke@example.com"])
            users.wait_until_asked("slowpoke")
            second.say("NOOP", 250)
            assert [answer.code for answer in second.deliver(["mail@example.com", "nobody-here@example.com"])] == [250] * 2
            assert sorted(journal.started) == ["mail", "nobody-here"]
            slow.open()
            assert first.answer().code == 250
            assert [answer.code for answer in second.deliver(["slowpoke@example.com"])] == [250], "it is known now"
        assert users.asked.count("slowpoke") == 1
    assert server.stop().total("messages") == 4


def test_accounts_that_take_long_hold_up_nobody_else(lmtp_deliver, agents, journal, users):
    """More of them than threads at the start. Each is given up by itself, and not asked for again while it is slow."""
    slow_names = names("slow", 4)
    with agents.gate("database.fifo") as slow:
        server = lmtp_deliver(agents("journal without a gate", journal, "%to_user%"), "--workers", "1", env=users.slow_for("slow*", slow))
        with contextlib.ExitStack() as stack:
            waiting = [stack.enter_context(server.connect()) for _ in slow_names]
            for client, name in zip(waiting, slow_names):
                client.start_delivery([name])
                users.wait_until_asked(name.partition("@")[0])
            assert [answer.code for answer in server.deliver(["mail@example.com"])] == [250]
            for client in waiting:
                answer = client.answer()
                assert (answer.code, answer.enhanced) == (451, "4.3.0") and "does not answer" in answer.text, answer
            assert [answer.code for answer in server.deliver(slow_names)] == [451] * 4
            assert users.asked.count("slow0") == 1
        server.stop()
    assert journal.started == ["mail"]


def test_an_account_that_never_comes_is_deferred(lmtp_deliver, agents, journal, users):
    with agents.gate("database.fifo") as slow:
        server = lmtp_deliver(agents("journal without a gate", journal, "%to_user%"), "--queue-timeout", "300ms", env=users.slow_for("slowpoke", slow))
        with server.connect() as client:
            client.start_delivery(["slowpoke@example.com", "mail@example.com"])
            assert [(answer.code, answer.enhanced) for answer in client.answers(2)] == [(451, "4.3.2")] * 2
            assert [answer.code for answer in client.deliver(["mail@example.com"])] == [250]
        done = server.stop()
    assert journal.started == ["mail"]
    assert done.total("deferred") == 2


def test_no_account_is_looked_up_where_none_is_needed(lmtp_deliver, agents, users):
    server = lmtp_deliver(agents("status", "0"), *NO_LOOK_UP, env=users.slow_for("", "/nonexistent"))
    asked = list(users.asked)
    assert [answer.code for answer in server.deliver(names("user", 3))] == [250] * 3
    assert users.asked == asked
