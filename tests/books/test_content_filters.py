# SPDX-License-Identifier: GPL-3.0-or-later
"""Postfix with a content filter that harms mail: each message that it harmed is named, with what was done to it, and no other.

What it was before is known from the filter, which keeps what it took.
"""
import re

import pytest

from conftest import login_names
from support.content_filter import REINJECTION, ContentFilter, strip_eighth_bit
from support.ledger import key_of, read_mailboxes, wrong
from support.mail import Message
from support.process import free_port

COUNT = 80
# Small ones, so that many have none of the octets that become NUL, LF or CR; the seed makes the same ones every time.
LOAD = ("-t", "1", "-c", "-1", "--workers", "1", "--seed", "42", "--size", "uniform:440,500", "--messages", COUNT)


@pytest.fixture
def filtered(postfix, dovecot, postal, users_file, folder):
    """filtered(change, announces, bodies): a Dovecot with mail that went through such a filter, and what the filter took."""
    def send(change, announces, bodies):
        store, back = dovecot(2, reading=True), free_port()
        with ContentFilter(back, change, announces) as content_filter:
            relay = postfix(f"lmtp:inet:{store.endpoint}", master=REINJECTION.format(port=back),
                            content_filter=content_filter.transport)
            sent = postal(*LOAD, "--body", bodies, "--ledger", folder / "book", relay.endpoint, users_file(store.users))
            assert sent.total("messages") == COUNT
            assert relay.drain(2 * COUNT) == 2 * COUNT, "each is in the queue twice"
        assert len(store.wait_for(COUNT)) == COUNT
        return store, [Message(octets) for octets in content_filter.taken]
    return send


def check_named(read, report, book, harmed):
    """The rows of the list of corrupt ones by key: exactly those that were harmed."""
    assert read.record["integrity"]["corrupt"] == len(harmed)
    found, status = report(book)
    assert status == 3 and wrong(found) == {"corrupt": len(harmed)}, found
    assert found["found"] == found["acknowledged"] == COUNT
    rows = {key_of(row): row for row in report(book, "corrupt")}
    assert set(rows) == harmed
    return rows


@pytest.mark.thinned(2)
@pytest.mark.parametrize("way", ["pop3", "imap"])
def test_the_eighth_bit_stripped(filtered, rabid, users_file, folder, report, way):
    store, taken = filtered(strip_eighth_bit, ["8BITMIME"], "8bit=70,ascii=30")
    harmed = {message.key: message for message in taken if not message.body.isascii()}
    assert 20 < len(harmed) < COUNT
    read = read_mailboxes(rabid, store, users_file(login_names(store.users)), folder / "book", way=way)
    rows = check_named(read, report, folder / "book", set(harmed))
    plain = [key for key, message in harmed.items() if not set(message.body) & {0x80, 0x8a, 0x8d}]
    assert len(plain) >= 10
    for key in plain:
        assert rows[key]["condition"] == "eight_bit_stripped", rows[key]
        first = next(octet for octet in harmed[key].body if octet >= 0x80)
        assert re.fullmatch(rf"8th bit stripped from byte \d+ on, 0x{first:02x} became 0x{first & 0x7f:02x}", rows[key]["detail"])


@pytest.mark.thinned(2)
@pytest.mark.parametrize("way", ["pop3", "imap"])
def test_a_filter_that_takes_no_8_bit_text(filtered, rabid, users_file, folder, report, way):
    """Postfix recodes the mail for it, and nobody makes it what it was again."""
    store, taken = filtered(bytes, [], "8bit=50,dots=50")
    recoded = [message for message in taken if message.text("content-transfer-encoding") == "quoted-printable"]
    assert {message.identity["kind"] for message in recoded} == {"8bit"}
    harmed = {message.key for message in recoded if b"=" in message.body}  # a few have no body, or a plain one
    assert 10 < len(harmed) < COUNT
    read = read_mailboxes(rabid, store, users_file(login_names(store.users)), folder / "book", way=way)
    rows = check_named(read, report, folder / "book", harmed)
    assert {(row["condition"], row["detail"]) for row in rows.values()} == {("corrupt", "body recoded as quoted-printable")}


def test_a_filter_that_does_nothing(filtered, rabid, users_file, folder, report):
    """And therefore nothing is reported."""
    store, taken = filtered(bytes, ["8BITMIME"], "8bit,dots,crlf-edge,ascii")
    assert len(taken) == COUNT
    read_mailboxes(rabid, store, users_file(login_names(store.users)), folder / "book")
    found, status = report(folder / "book")
    assert status == 0 and not wrong(found) and found["found"] == COUNT
