# SPDX-License-Identifier: GPL-3.0-or-later
"""Transactions, the queue and the limits: who waits for whom, and when a delivery is acknowledged."""
import os
import re
import select

import pytest

from support.deliver import HANDED_ON, MAIL
from support.process import wait_until


def codes(answers):
    return [answer.code for answer in answers]


def nothing_to_read(client):
    return not client.pending and not select.select([client.socket], [], [], 0)[0]


def threads(server):
    return len(os.listdir(f"/proc/{server.pid}/task"))


@pytest.mark.parametrize("chunks", [0, 1, 3])
def test_250_is_said_after_the_agent_ended(held, journal, gate, chunks):
    server = held()
    with server.connect() as client:
        client.start_delivery(["one@example.com", "two@example.com"], chunks=chunks)
        journal.wait_for(started=2)
        assert nothing_to_read(client)
        gate.open()
        assert codes(client.answers(2)) == [250, 250]
        assert sorted(journal.ended) == ["one", "two"]


def test_replies_keep_the_order_of_the_recipients(lmtp_deliver, agents, journal, gate):
    """The second one's agent ends at once; it is answered behind the first one."""
    with agents.gate("first") as first, agents.gate("second") as second:
        second.open()
        server = lmtp_deliver(agents("journal", journal, "%to_user%", f"{agents.folder}/%to_user%", "%to_domain%"))
        with server.connect() as client:
            client.start_delivery(["first@67", "second@0"])
            journal.wait_for(started=2, ended=1)
            assert nothing_to_read(client)
            first.open()
            assert codes(client.answers(2)) == [550, 250]


def test_two_transactions_in_one_session(lmtp_deliver, agents, folder):
    server = lmtp_deliver(agents("keep", folder, "%id%-%to_user%"))
    with server.connect() as client:
        for number in range(2):
            assert codes(client.deliver([f"user{number}@example.com"], MAIL + b"%d\r\n" % number)) == [250]
        client.quit()
    kept = sorted(folder.glob("*-user?"))
    assert [path.read_bytes() for path in sorted(kept, key=lambda path: path.name[-1])] == [HANDED_ON + b"0\n", HANDED_ON + b"1\n"]
    assert len({path.name.rpartition("-")[0] for path in kept}) == 2, "each transaction has its %id%"


def test_what_is_pipelined_behind_the_data_waits(held, journal, gate):
    server = held()
    with server.connect() as client:
        client.envelope_for(["one@example.com"])
        client.say("DATA", 354)
        client.write(MAIL + b".\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<two@example.com>\r\nDATA\r\n")
        journal.wait_for(started=1)
        assert nothing_to_read(client)
        gate.open()
        assert client.replies(4) == [250, 250, 250, 354]
        client.write(MAIL + b".\r\nQUIT\r\n")
        assert client.rest() == [250, 221]
    assert journal.ended == ["one", "two"]


def test_transactions_by_chunks_all_in_one_write(lmtp_deliver, agents, journal):
    server = lmtp_deliver(agents("journal without a gate", journal, "%to_user%", "%to_domain%"))
    transaction = b"".join([b"MAIL FROM:<a@example.com>\r\nRCPT TO:<%d@0>\r\nRCPT TO:<%d@67>\r\nBDAT 5\r\nhello",
                            b"BDAT %d LAST\r\n" % len(MAIL), MAIL])
    with server.connect() as client:
        client.write(b"".join(transaction % (number, number) for number in range(20)) + b"QUIT\r\n")
        assert client.rest() == [250, 250, 250, 250, 250, 550] * 20 + [221]
    assert sorted(journal.ended) == sorted(2 * [str(number) for number in range(20)])


def test_chunks_are_put_together(lmtp_deliver, agents, folder):
    server = lmtp_deliver(agents("keep", folder, "%to_user%"), "--bare-newline", "accept")
    octets = bytes(range(1, 256)) * 300
    with server.connect() as client:
        for chunks in (1, 2, 7, 100):
            assert codes(client.deliver([f"user{chunks}@example.com"], octets, chunks=chunks)) == [250]
            assert (folder / f"user{chunks}").read_bytes() == octets
        client.envelope_for(["empty@example.com"])
        client.write(b"BDAT 3\r\nabcBDAT 0 LAST\r\n")
        assert client.replies(2) == [250, 250]
        assert (folder / "empty").read_bytes() == b"abc"


def test_a_transaction_that_was_reset_runs_no_agent(lmtp_deliver, agents, journal):
    server = lmtp_deliver(agents("journal without a gate", journal, "%to_user%"))
    with server.connect() as client:
        client.envelope_for(["one@example.com"])
        client.say("RSET", 250)
        client.envelope_for(["two@example.com"])
        client.write(b"BDAT 5\r\nhello")
        client.expect(250)
        client.say("RSET", 250)
        client.say("DATA", 503)
        assert codes(client.deliver(["three@example.com"])) == [250]
        client.quit()
    assert journal.started == ["three"]


def test_lmtp_is_spoken_and_nothing_else(lmtp_deliver, agents):
    server = lmtp_deliver(agents("status", "0"))
    with server.connect(greet=False) as client:
        assert b"LMTP" in client.expect(220)
        client.say("HELO client.example", 500)  # RFC 2033 4.1
        client.say("EHLO client.example", 500)
        offered = client.say("LHLO client.example", 250)
        for word in (b"PIPELINING", b"ENHANCEDSTATUSCODES", b"8BITMIME", b"SMTPUTF8", b"SIZE", b"CHUNKING"):
            assert re.search(rb"(?m)^250[- ]" + word + rb"\b", offered), word
        client.say("DATA", 503)
        client.say("MAIL FROM:<a@example.com>", 250)
        client.say("DATA", 503)  # RFC 2033 4.2
        client.say("VRFY b", 250, 252)
        client.quit()


# The queue and the limits.

def test_more_than_the_queue_holds_are_deferred(held, journal, gate):
    # Without look-ups all ten have asked for a place before the first agent ends.
    server = held("--max-deliveries", "2", "--max-queued", "3", "--env", "HOME=/", "--env", "USER=nobody")
    with server.connect() as client:
        client.start_delivery([f"user{number}@example.com" for number in range(10)])
        journal.wait_for(started=2)
        gate.open()
        answers = client.answers(10)
        assert codes(answers) == [250] * 5 + [451] * 5
        assert {answer.enhanced for answer in answers[5:]} == {"4.3.2"}
        assert codes(client.deliver(["again@example.com"])) == [250], "there is room again"
    done = server.stop()
    assert (done.total("messages"), done.total("deferred"), done.total("started")) == (6, 5, 11)
    assert done.record["agents"]["started"] == 6
    assert journal.most_at_once == 2


@pytest.mark.parametrize("workers", [1, 4])
def test_no_more_agents_at_once_than_allowed(held, journal, gate, workers):
    server = held("--max-deliveries", "5", "--workers", str(workers))
    clients = [server.connect() for _ in range(8)]
    for number, client in enumerate(clients):
        client.start_delivery([f"user{number}-{turn}@example.com" for turn in range(10)])
    journal.wait_for(started=5)
    gate.open()
    for client in clients:
        assert codes(client.answers(10)) == [250] * 10
        client.quit()
    assert journal.most_at_once == 5
    assert server.stop().record["agents"]["started"] == 80 == len(set(journal.ended))


def test_the_default_is_twice_the_cores_and_at_least_12(held, journal, gate):
    most = max(12, 2 * len(os.sched_getaffinity(0)))
    server = held()
    with server.connect() as client:
        client.start_delivery([f"user{number}@example.com" for number in range(2 * most)])
        journal.wait_for(started=most)
        gate.open()
        assert codes(client.answers(2 * most)) == [250] * 2 * most
    assert journal.most_at_once == most


@pytest.mark.parametrize("workers", [1, 2])
def test_deliveries_of_a_connection_start_in_the_order_received(held, journal, gate, workers):
    server = held("--max-deliveries", "1", "--workers", str(workers))
    clients = {name: server.connect() for name in "abc"}
    for name, client in clients.items():
        client.start_delivery([f"{name}{number}@example.com" for number in range(10)])
    journal.wait_for(started=1)
    gate.open()
    for client in clients.values():
        assert codes(client.answers(10)) == [250] * 10
    for name in "abc":
        assert [each for each in journal.started if each[0] == name] == [f"{name}{number}" for number in range(10)]
    assert journal.most_at_once == 1


def test_sessions_that_wait_use_no_thread(held, journal, gate):
    server = held("--max-deliveries", "3", "--workers", "2", "--env", "HOME=/", "--env", "USER=nobody")  # no look-ups
    clients = [server.connect() for _ in range(60)]
    before = threads(server)
    for number, client in enumerate(clients):
        client.start_delivery([f"user{number}@example.com"])
    journal.wait_for(started=3)
    assert threads(server) == before
    gate.open()
    for client in clients:
        assert client.answer().code == 250


def test_more_sessions_than_allowed_get_421(held, gate):
    server = held("-t", "3")
    kept = [server.connect() for _ in range(3)]
    with server.connect(greet=False) as late:
        assert late.rest() == [421]
    kept.pop().quit()

    def admitted():
        with server.connect(greet=False) as again:
            return again.reply()[0] == 220
    wait_until(admitted, "a free place")
