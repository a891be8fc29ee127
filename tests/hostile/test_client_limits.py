# SPDX-License-Identifier: GPL-3.0-or-later
"""bhm and lmtp-deliver against clients that want more than their share: of places, time, attempts and memory.

Whoever strikes a limit hears why and is counted; others are served, and what was held is there again afterwards.
"""
import base64
import contextlib
import pathlib
import re
import select
import socket
import time

import pytest

from support.behaviours import rule
from support.dialogue import Client
from support.postal import run
from support.process import wait_until
from support.scraping import place_of, scrape

MEGABYTE = 1024 * 1024
MAIL = b"Subject: x\r\n\r\nx\r\n"


def connect(server):
    return Client(("127.0.0.1", server.port))


def errors(record):
    return {(one["stage"], one.get("code"), one.get("enhanced")): one["count"] for one in record["errors"]}


def struck(record):
    """How often each limit was, of those that were."""
    return {name: count for name, count in record["limits"].items() if count}


def shown(server):
    """The same on the page of --metrics."""
    page = scrape(place_of(server.process))
    strikes = {dict(labels)["limit"]: int(count) for (name, labels), count in page.values.items() if name == "postal_limit_strikes_total"}
    return {name: count for name, count in strikes.items() if count}


def greeted(server):
    """A client that has a place and has said hello."""
    def place():
        client = connect(server)
        if client.reply()[0] == 220:
            client.say("EHLO client.example", 250)
            return client
        client.__exit__()
        return None
    return wait_until(place, "a place")


def resident(pid):
    return int(re.search(r"VmRSS:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) * 1024


def test_strikes_are_told_apart_in_the_record_and_on_the_page(bhm, programs):
    hole = bhm("--metrics", "127.0.0.1:0", "-t", "1", "--max-errors", "2", "--max-idle-commands", "3", "--max-recipients", "1",
               "--max-size", "1", "--message-time", "6s")
    with greeted(hole) as client:  # all places
        with connect(hole) as second:
            second.expect(421)
        client.write(b"MAIL FROM:<a@example.com> SIZE=5000\r\nMAIL FROM:<a@example.com>\r\n" + b"RCPT TO:<b@example.com>\r\n" * 2)
        assert client.replies(4) == [552, 250, 250, 452]
        assert client.rest() == [421]  # too long
    with greeted(hole) as client:
        client.write(b"NOOP\r\n" * 9)
        assert client.rest() == [250, 250, 421]
    with greeted(hole) as client:
        client.write(b"ABCD\r\n" * 9)
        assert client.rest() == [500, 500, 500, 421]
    wanted = {"max-size": 1, "max-recipients": 1, "message-time": 1, "max-idle-commands": 1, "max-errors": 1}

    def all_shown():
        there = shown(hole)
        return there if there.keys() >= {*wanted, "sessions"} else None
    page = wait_until(all_shown, lambda: f"the strikes: {shown(hole)}")
    assert page.pop("sessions") >= 1
    assert page == wanted
    done = hole.stop()
    record = done.record
    assert record["limits"]["max-held"] == 0
    assert {name: count for name, count in struck(record).items() if name != "sessions"} == wanted
    said = run([programs.postal_report, done.argv[done.argv.index("--record") + 1]]).stdout
    rows = dict(re.findall(r"^ *--([a-z-]+) +(\d+)$", said[said.index("Limits that clients struck"):], re.MULTILINE))
    assert rows == {name: str(count) for name, count in struck(record).items()}


def test_strikes_of_lmtp_deliver_are_told_apart(lmtp_deliver):
    server = lmtp_deliver("/bin/sleep 3", "--metrics", "127.0.0.1:0", "--max-deliveries", "1", "--max-queued", "1", "--queue-timeout", "200ms",
                          "--max-held", "1M", "--max-size", "8M")
    with connect(server) as client:
        client.expect(220)
        client.say("LHLO client.example", 250)
        client.write(b"MAIL FROM:<a@example.com>\r\n" + b"RCPT TO:<b@example.com>\r\n" * 3 + b"DATA\r\n" + MAIL + b".\r\n")
        assert client.replies(8) == [250, 250, 250, 250, 354, 250, 451, 451]
        client.write(b"MAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nDATA\r\n" + b"x" * 2 * MEGABYTE + b"\r\n.\r\n")
        assert client.replies(4) == [250, 250, 354, 452]
        client.quit()
    wanted = {"max-queued": 1, "queue-timeout": 1, "max-held": 1}
    wait_until(lambda: shown(server) == wanted, lambda: f"the strikes: {shown(server)}")
    assert scrape(place_of(server.process)).value("postal_held_octets_limit") == MEGABYTE
    assert struck(server.stop().record) == wanted


def test_wrong_passwords(bhm, users_file):
    hole = bhm("--auth", "PLAIN", "--auth-insecure", users_file(["user0@example.com hush"]))
    wrong = base64.b64encode(b"\0user0@example.com\0wrong").decode()
    with connect(hole) as client:
        client.expect(220)
        client.say("EHLO client.example", 250)
        client.write(f"AUTH PLAIN {wrong}\r\n".encode() * 1000)
        assert client.rest() == [535] * 21 + [421]
    record = hole.stop().record
    assert errors(record) == {("auth", 535, "5.7.8"): 21, ("auth", 421, "4.7.0"): 1}
    assert struck(record) == {"max-errors": 1}


@pytest.mark.parametrize(("command", "code"), [("RSET", 250), ("VRFY user0", 252)])
def test_floods_of_commands_that_bring_no_mail(bhm, command, code):
    hole = bhm("--workers", "1")
    with contextlib.ExitStack() as open_ones:
        good = open_ones.enter_context(greeted(hole))
        floods = [open_ones.enter_context(greeted(hole)) for _ in range(4)]
        for flood in floods:
            flood.write(f"{command}\r\n".encode() * 5000)
        good.write(b"MAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nDATA\r\n" + MAIL + b".\r\n")
        assert good.replies(4) == [250, 250, 354, 250]
        good.quit()
        for flood in floods:
            assert flood.rest() == [code] * 99 + [421]
    assert struck(hole.stop().record) == {"max-idle-commands": 4}


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
    record = hole.stop().record
    assert errors(record)[("connect", 421, "4.7.0")] == struck(record)["sessions-per-address"] >= 1


def test_places_by_the_address_that_a_proxy_names(bhm):
    hole = bhm("--sessions-per-address", "1", "--proxy-trusted", "127.0.0.1")
    with contextlib.ExitStack() as open_ones:
        for address, code in (("192.0.2.1", 220), ("192.0.2.1", 421), ("192.0.2.2", 220)):
            client = open_ones.enter_context(connect(hole))
            client.write(f"PROXY TCP4 {address} 198.51.100.1 40000 25\r\n".encode())
            client.expect(code)


def test_an_ipv6_network_of_64_bits_is_one_address(bhm):
    hole = bhm("--sessions-per-address", "1", "--proxy-trusted", "127.0.0.1")
    with contextlib.ExitStack() as open_ones:
        for address, code in (("2001:db8::1", 220), ("2001:db8::ffff:1", 421), ("2001:db8:0:1::1", 220)):
            client = open_ones.enter_context(connect(hole))
            client.write(f"PROXY TCP6 {address} 2001:db8::25 40000 25\r\n".encode())
            client.expect(code)


def test_loopback_has_as_many_places_as_there_are_by_default(lmtp_deliver):
    server = lmtp_deliver("/bin/true")
    with contextlib.ExitStack() as clients:
        for _ in range(60):
            clients.enter_context(connect(server)).expect(220)


def test_a_chunk_without_an_envelope_has_time(bhm):
    """It is refused behind its end, as RFC 3030 2 wants it; no message began that could take too long."""
    with connect(bhm()) as client:
        client.write(b"EHLO x\r\nBDAT 10 LAST\r\n")
        time.sleep(0.3)
        client.write(b"0123456789QUIT\r\n")
        assert [client.reply()[0] for _ in range(4)] == [220, 250, 503, 221]


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
    server = lmtp_deliver("/bin/true", "--message-time", "3s")
    with connect(server) as client:
        client.envelope("LHLO")
        for _ in range(300):
            client.write(b"RCPT TO:<user1@example.com>\r\n")
            if client.reply()[0] == 421:
                break
            select.select([client.socket], [], [], 0.1)
        else:
            raise AssertionError("not sent away")
    assert struck(server.stop().record) == {"message-time": 1}


def test_a_place_is_not_held_with_a_refusal_now_and_then(lmtp_deliver):
    """Each says something long before --client-timeout, none is idle, and no refusal is the client's error."""
    server = lmtp_deliver("/bin/true", "--message-time", "3s")
    with connect(server) as client:
        client.expect(220)
        client.say("LHLO client.example", 250)
        for _ in range(60):
            client.write(b"MAIL FROM:<a@example.com>\r\nRCPT TO:<a/b@example.com>\r\nRSET\r\n")
            code, text = client.reply()
            if code == 421:
                break
            assert (code, *client.replies(2)) == (250, 550, 250)
            select.select([client.socket], [], [], 2)  # its pace
        else:
            raise AssertionError("not sent away")
        assert b"No message for too long" in text
    assert struck(server.stop().record) == {"message-time": 1}


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
    record = server.stop().record
    assert errors(record) == {("end", 452, "4.3.1"): 1}
    assert struck(record) == {"max-held": 1}


def test_one_address_has_half_of_that_total(lmtp_deliver):
    server = lmtp_deliver("/bin/true", "--max-held", "64M", "--metrics", "127.0.0.1:0", "--proxy-trusted", "127.0.0.1")
    place = place_of(server.process)

    def holds(address, octets):
        client = connect(server)
        client.write(f"PROXY TCP4 {address} 198.51.100.1 40000 25\r\n".encode())
        client.envelope("LHLO")
        client.write(b"DATA\r\n" + (b"x" * 78 + b"\r\n") * (octets // 80))
        client.expect(354)
        return client
    with holds("192.0.2.1", 24 * MEGABYTE) as first:
        wait_until(lambda: scrape(place).value("postal_held_octets") > 23 * MEGABYTE, "the first one's octets")
        with holds("192.0.2.1", 12 * MEGABYTE) as second, holds("192.0.2.2", 24 * MEGABYTE) as other:
            for client, code in ((second, 452), (other, 250), (first, 250)):
                client.write(b".\r\n")
                client.expect(code)
                client.quit()
    assert struck(server.stop().record) == {"max-held": 1}


def test_copies_with_headers_of_their_own_are_of_that_total(lmtp_deliver):
    message = b"Subject: x\r\n\r\n" + b"x" * 2 * MEGABYTE + b"\r\n"
    recipients = ["one@example.com", "two@example.com"]
    for most, answers in (("3M", [452, 452]), ("12M", [250, 250])):
        server = lmtp_deliver("/bin/true", "--max-held", most, "--add-header", "delivered-to")
        assert [answer.code for answer in server.deliver(recipients, message)] == answers
        assert server.deliver(recipients[:1], message)[0].code == 250  # without a copy
        done = server.stop()
        assert struck(done.record) == ({"max-held": 2} if 452 in answers else {})
        assert done.record["agents"]["exits"] == {"0": 1 + answers.count(250)}


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
    assert struck(server.stop().record) == {"min-free": 1}


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
