"""bhm and lmtp-deliver against clients that want more than their share: of places, time, attempts and memory.

Whoever strikes a limit hears why and is counted; others are served, and what was held is there again afterwards.
"""
import base64
import contextlib
import pathlib
import re
import select
import socket

import pytest

from support.behaviours import rule
from support.dialogue import Client
from support.process import wait_until

MEGABYTE = 1024 * 1024
MAIL = b"Subject: x\r\n\r\nx\r\n"


def connect(server):
    return Client(("127.0.0.1", server.port))


def errors(record):
    return {(one["stage"], one.get("code"), one.get("enhanced")): one["count"] for one in record["errors"]}


def resident(pid):
    return int(re.search(r"VmRSS:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) * 1024


def test_wrong_passwords(bhm, users_file):
    hole = bhm("--auth", "PLAIN", "--auth-insecure", users_file(["user0@example.com hush"]))
    wrong = base64.b64encode(b"\0user0@example.com\0wrong").decode()
    with connect(hole) as client:
        client.expect(220)
        client.say("EHLO client.example", 250)
        client.write(f"AUTH PLAIN {wrong}\r\n".encode() * 1000)
        assert client.rest() == [535] * 21 + [421]
    assert errors(hole.stop().record) == {("auth", 535, "5.7.8"): 21, ("auth", 421, "4.7.0"): 1}


def test_places_for_one_address(bhm):
    hole = bhm("--sessions-per-address", "2")
    with connect(hole) as first, connect(hole) as second:
        first.expect(220)
        second.expect(220)
        with connect(hole) as third:
            assert b"4.7.0 Too many sessions from your address" in third.expect(421)
            assert third.rest() == []
        first.quit()

        def place():
            with connect(hole) as client:
                return client.reply()[0] == 220
        wait_until(place, "a place again")
    assert errors(hole.stop().record)[("connect", 421, "4.7.0")] >= 1


def test_places_by_the_address_that_a_proxy_names(bhm):
    hole = bhm("--sessions-per-address", "1", "--proxy-trusted", "127.0.0.1")
    with contextlib.ExitStack() as open_ones:
        for address, code in (("192.0.2.1", 220), ("192.0.2.1", 421), ("192.0.2.2", 220)):
            client = open_ones.enter_context(connect(hole))
            client.write(f"PROXY TCP4 {address} 198.51.100.1 40000 25\r\n".encode())
            client.expect(code)


def test_loopback_has_as_many_places_as_there_are_by_default(lmtp_deliver):
    server = lmtp_deliver("/bin/true")
    with contextlib.ExitStack() as clients:
        for _ in range(60):
            clients.enter_context(connect(server)).expect(220)


@pytest.mark.parametrize("content", ["DATA", "BDAT 1000 LAST"])
def test_one_octet_now_and_then(lmtp_deliver, content):
    """Below --client-timeout each, which it might do for ever."""
    server = lmtp_deliver("/bin/true", "--client-timeout", "600ms")
    with connect(server) as client:
        client.envelope("LHLO")
        client.write(content.encode() + b"\r\n")
        if content == "DATA":
            client.expect(354)
        for _ in range(300):
            client.write(b"x")
            if select.select([client.socket], [], [], 0.1)[0]:  # its pace
                break
        client.expect(421)  # a machine that stood still for so long may call it silence
    assert server.stop().total("failed") == 1


def test_a_message_that_takes_too_long(lmtp_deliver):
    server = lmtp_deliver("/bin/true", "--message-time", "500ms")
    with connect(server) as client:
        client.envelope("LHLO")
        for _ in range(300):
            client.write(b"RCPT TO:<user1@example.com>\r\n")
            if client.reply()[0] == 421:
                break
            select.select([client.socket], [], [], 0.1)
        else:
            raise AssertionError("not sent away")
    server.stop()


def held(server, octets):
    """A client with so much of a message unfinished: more than fits the sockets, so that the server has most of it."""
    client = connect(server)
    client.envelope("LHLO")
    client.write(b"DATA\r\n" + b"Subject: x\r\n\r\n" + (b"x" * 76 + b"\r\n") * (octets // 78))
    client.expect(354)
    return client


def test_one_total_for_all_unfinished_mail(lmtp_deliver):
    server = lmtp_deliver("/bin/true", "--max-held", "32M", "--workers", "1")
    first, second = held(server, 30 * MEGABYTE), held(server, 30 * MEGABYTE)
    answers = []
    for client in (second, first):
        client.write(b".\r\n")
        answers.append(client.reply()[0])
        client.quit()
    assert answers.count(250) == 1, answers
    assert answers.count(452) == 1, answers
    third = held(server, 30 * MEGABYTE)
    third.write(b".\r\n")
    third.expect(250)
    third.quit()
    assert errors(server.stop().record) == {("end", 452, "4.3.1"): 1}


def test_recipients_are_of_that_total_and_their_memory_comes_back(lmtp_deliver):
    server = lmtp_deliver("/bin/true", "--max-held", "100M", "--workers", "2")
    before = resident(server.pid)
    recipients = b"".join(b"RCPT TO:<%s%d@%s.example>\r\n" % (b"u" * 50, i, b".".join([b"d" * 60] * 3)) for i in range(1000))
    refused = 0
    with contextlib.ExitStack() as clients:
        waiting = []
        for _ in range(150):
            client = clients.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60))
            client.sendall(b"LHLO x\r\nMAIL FROM:<a@example.com>\r\n" + recipients + b"NOOP\r\n")
            waiting.append(client)
        for client in waiting:
            said = b""
            while b"250 2.0.0 Ok\r\n" not in said:
                said += client.recv(1 << 20)
            refused += said.count(b"452 4.3.1")
        assert refused > 0
        assert resident(server.pid) < before + 250 * MEGABYTE
    wait_until(lambda: resident(server.pid) < before + 60 * MEGABYTE,
               lambda: f"the memory back: {resident(server.pid)}, before {before}")
    server.stop()


def test_a_full_disk_is_left_some_room(lmtp_deliver):
    server = lmtp_deliver("/bin/true", "--min-free", "1048576G")
    with connect(server) as client:
        client.expect(220)
        client.say("LHLO client.example", 250)
        assert b"4.3.1 Too little free space" in client.say("MAIL FROM:<a@example.com>", 452)
        client.quit()
    server.stop()


def test_a_bare_newline_in_a_chunk(bhm):
    for mode, code in (("reject", 550), ("accept", 250)):
        hole = bhm("--bare-newline", mode)
        with connect(hole) as client:
            client.envelope()
            client.write(b"BDAT 5 LAST\r\na\nb\r\n")
            client.expect(code)
            client.quit()
        hole.stop()


def test_a_bad_bdat_is_explained(bhm):
    hole = bhm()
    with connect(hole) as client:
        client.envelope()
        client.write(b"BDAT all\r\n")
        client.expect(501)
        assert b"Cannot tell the chunk" in client.expect(421)
        assert client.rest() == []
    hole.stop()


def test_a_refusal_that_closes_is_one_error(bhm, folder):
    rules = folder / "rules.toml"
    rules.write_text(rule("rcpt", 'reply = "550 5.7.1 Not you"\nclose = "fin"'))
    hole = bhm("--behaviour", rules)
    with connect(hole) as client:
        client.expect(220)
        client.say("EHLO client.example", 250)
        client.say("MAIL FROM:<a@example.com>", 250)
        client.say("RCPT TO:<b@example.com>", 550)
        assert client.rest() == []
    assert errors(hole.stop().record) == {("rcpt", 550, "5.7.1"): 1}
