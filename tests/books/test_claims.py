# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences of README and the manuals that hold a number, "exactly", "at most" or "never", each tried on a real run.

What other tests hold already is not here. No row measures time: a slow machine makes none of them wrong.
"""
import collections
import contextlib
import math
import re
import smtplib
import sqlite3

import pytest

from conftest import user_names
from support.mail import Message, read_maildir
from support.postal import check_books, run

USERS = user_names(20)
KEPT = ("-c", "-1")
OUTCOMES = ("messages", "rejected", "deferred", "failed", "in_doubt")


def sent_size(message):
    """Octets of a stored message as it was sent: without what bhm has put in front."""
    own = re.match(rb"(?:(?:Return-Path|Delivered-To|Received):.*\r\n(?:[ \t].*\r\n)*)+", message.octets)
    return len(message.octets) - own.end()


# Percentiles: method.md "Distributions", postal(8) "A percentile without one value beyond it is null".
SHOWN = {1: set(), 2: {"p50"}, 9: {"p50"}, 10: {"p50", "p90"}, 99: {"p50", "p90"}, 100: {"p50", "p90", "p99"},
         999: {"p50", "p90", "p99"}, 1000: {"p50", "p90", "p99", "p999"}}
QUANTILES = {"p50": 500, "p90": 900, "p99": 990, "p999": 999}  # of a thousand


def bucket(index):
    """(first, behind the last) nanosecond of a bucket, by the formula of method.md."""
    width = 2 ** (index // 64 + 3)
    return (64 + index % 64) * width, (65 + index % 64) * width


@pytest.mark.parametrize("count", SHOWN)
def test_percentiles_are_those_of_the_buckets(bhm, postal, users_file, count):
    latency = postal(*KEPT, "--messages", count, bhm().endpoint, users_file()).record["latency_us"]["message"]
    pairs = [tuple(map(int, part.split("*"))) for part in latency["buckets"].removeprefix("loglin64:").split(",")]
    ranked = [index for index, times in pairs for _ in range(times)]
    assert len(ranked) == latency["count"] == count
    assert {name for name in QUANTILES if latency[name] is not None} == SHOWN[count]
    for name in SHOWN[count]:
        rank = math.ceil(count * QUANTILES[name] / 1000)
        first, behind = bucket(ranked[rank - 1])
        lowest, highest = latency["min"] * 1000, latency["max"] * 1000
        least, most = {1: (lowest, lowest), count: (highest, highest)}.get(rank, (max(first, lowest), min(behind, highest)))
        assert least - 1 <= latency[name] * 1000 <= most + 1
        assert max(latency[name] * 1000 / least - 1, 1 - latency[name] * 1000 / most) <= 0.008, "at most 0.8 % off"
    for name, index in (("min", ranked[0]), ("max", ranked[-1])):
        assert bucket(index)[0] <= round(latency[name] * 1000) < bucket(index)[1]
    if count == 2:
        assert latency["mean"] == pytest.approx((latency["min"] + latency["max"]) / 2, abs=0.001), "exact"


# Sizes: -m, -M, --size. (options, least, most) of messages with their headers, which are at most 500 octets here.
SIZES = {
    "-m": (("-m", "3"), 0, 3072),
    "-m and -M": (("-m", "3", "-M", "2"), 2048, 3072),
    "fixed": (("--size", "fixed:5K"), 5120, 5120),
    "uniform": (("--size", "uniform:1K,2K"), 1024, 2048),
    "log-normal, with a bound": (("--size", "lognormal:1K,2,4K"), 0, 4096),
    "headers only": (("-m", "0"), 0, 500),
}


@pytest.mark.parametrize("case", SIZES)
def test_sizes_are_within_their_bounds(bhm, postal, users_file, folder, case):
    options, least, most = SIZES[case]
    hole = bhm("--store", folder / "store")
    done = postal(*options, *KEPT, "--messages", 300, hole.endpoint, users_file(USERS))
    hole.stop()
    mail = read_maildir(folder / "store")
    sizes = [sent_size(one) for one in mail]
    assert len(sizes) == 300 and least <= min(sizes) and max(sizes) <= most
    assert sum(sizes) == done.total("bytes"), "bytes are whole messages, headers included"
    if case == "headers only":
        assert all(not one.body for one in mail)


# "The same seed gives the same mail", session by session and message by message, whatever else is changed.
SAME_MAIL = {
    "again": ((), ()),
    "more sessions": (("-t", "7"), ()),
    "two workers": (("--workers", "2"), ()),
    "sessions in all": (("--sessions-total", "3"), ()),
    "chunked": (("--chunking", "auto", "--in-flight", "8"), ()),
    "overlapping": (("--pipelining", "overlap"), ()),
    "over LMTP": (("-L",), ("--lmtp",)),
    "over TLS": (("-s", "100"), ("-s",)),
    "few a connection": (("-c", "3"), ()),
}


def mail_of(bhm, postal, users, store, options=(), servers=()):
    """What each (session, number) sent, without what is real and unique: date, id, run."""
    hole = bhm("--store", store, *servers)
    many = 2 if "-L" in options else 1  # each recipient counts; all messages have two
    usual = {"-t": "3", "--workers": "1"}  # one worker: each session gets its turn, so that runs have messages in common
    if "--sessions-total" in options:
        del usual["-t"]
    words = [word for name, value in usual.items() if name not in options for word in (name, value)]
    postal(*words, *(() if "-c" in options else KEPT), "--seed", "7", "--recipients", "2", "-m", "2", "--messages", 150 * many,
           *options, hole.endpoint, users)
    hole.stop()
    found = {}
    for one in read_maildir(store):
        place = re.search(rb"s=(\d+); n=(\d+);", b" ".join(one.values("x-postal-id")[0].split()))
        found[place.groups()] = (*(one.values(name) for name in ("from", "to", "subject")), one.body)
    assert len(found) == 150
    return found


@pytest.mark.thinned(4)
@pytest.mark.parametrize("case", SAME_MAIL)
def test_the_same_seed_gives_the_same_mail(bhm, postal, users_file, folder, case):
    users = users_file(USERS)
    first = mail_of(bhm, postal, users, folder / "first")
    second = mail_of(bhm, postal, users, folder / "second", *SAME_MAIL[case])
    common = first.keys() & second.keys()
    assert common and all(first[place] == second[place] for place in common)


# "Stop once N messages were started; over LMTP each recipient is one": (options of postal, of bhm, transactions).
EXACT = {
    "a session": ((), (), 101),
    "many sessions": (("-t", "9", *KEPT), (), 101),
    "sixteen in flight": (("-t", "3", *KEPT, "--chunking", "auto", "--in-flight", "16"), (), 101),
    "recipients over SMTP": (("--recipients", "4"), (), 101),
    "recipients over LMTP": (("-L", "--recipients", "4", *KEPT), ("--lmtp",), 26),
}


@pytest.mark.parametrize("case", EXACT)
def test_so_many_messages_and_no_more(bhm, postal, users_file, case):
    options, servers, transactions = EXACT[case]
    hole = bhm(*servers)
    done = postal(*options, "--size", "fixed:2K", "--messages", 101, hole.endpoint, users_file(USERS))
    theirs = hole.stop().record["totals"]
    assert done.total("started") == done.total("messages") == theirs["messages"] == 101
    assert theirs["transactions"] == transactions
    assert done.total("bytes") == 101 * 2048, "over LMTP a message counts for each recipient, although it is sent once"


def test_connections_take_one_to_so_many_messages(bhm, postal, users_file, folder):
    """-c N above 1 is a random number from 1 to N for each connection."""
    hole = bhm("-Z", folder / "said")
    postal("-c", "3", "--messages", 300, hole.endpoint, users_file(USERS))
    hole.stop()
    said = [path.read_text().count("MAIL FROM") for path in folder.glob("said:*:*")]
    assert set(said) - {0} == {1, 2, 3} and sum(said) == 300


def test_local_addresses_in_turn(bhm, postal, users_file, folder):
    hole = bhm("--store", folder / "store")
    postal("-l", "127.0.0.1,127.0.0.2,127.0.0.3", "--messages", 30, hole.endpoint, users_file(USERS))
    hole.stop()
    came = collections.Counter(one.values("received")[0].split(b"[")[1].split(b"]")[0] for one in read_maildir(folder / "store"))
    assert came == {b"127.0.0.1": 10, b"127.0.0.2": 10, b"127.0.0.3": 10}


# bhm's bounds are the last that is taken.
@pytest.mark.parametrize(("size", "code"), [(2048, 250), (2049, 552)])
def test_the_largest_message(bhm, size, code):
    hole = bhm("-m", "2")
    content = b"Subject: x\r\n\r\n" + b"a" * (size - 16) + b"\r\n"
    with smtplib.SMTP("127.0.0.1", hole.port, timeout=60) as client:
        client.ehlo()
        assert client.docmd(f"MAIL FROM:<a@example.com> SIZE={size}")[0] == code
        client.rset()
        client.mail("a@example.com")
        client.rcpt("b@example.com")
        assert client.data(content)[0] == code


def test_the_most_recipients(bhm):
    hole = bhm("--max-recipients", "2")
    with smtplib.SMTP("127.0.0.1", hole.port, timeout=60) as client:
        client.ehlo()
        client.mail("a@example.com")
        assert [client.rcpt(f"{number}@example.com")[0] for number in range(4)] == [250, 250, 452, 452]


def test_the_warm_up_is_left_out_and_nothing_else(bhm, postal, users_file):
    done = postal("-t", "3", *KEPT, "--warmup", "300ms", "--duration", "900ms", "--interval", "150ms", bhm().endpoint,
                  users_file())
    intervals, totals, whole = (done.record[key] for key in ("intervals", "totals", "totals_with_warmup"))
    for name in ("messages", "bytes", "recipients", "connections", "errors"):
        assert sum(one[name] for one in intervals if not one["warmup"]) == totals[name]
        assert sum(one[name] for one in intervals) == whole[name]
    assert totals["started"] == sum(totals[name] for name in OUTCOMES), "what ended after the warm-up"
    assert whole["started"] == sum(one["started"] for one in intervals)
    assert sum(line["messages"] for line in done.lines) == whole["messages"]
    before_the_stop = sum(one["messages"] for one in intervals if not one["draining"])
    assert sum(done.record["seconds"]["messages"]) == before_the_stop


@pytest.mark.parametrize(("sessions", "workers", "wanted"), [(1, 4, 1), (3, 4, 3), (6, 4, 4)])
def test_no_more_threads_than_sessions(bhm, postal, users_file, sessions, workers, wanted):
    done = postal("-t", sessions, "--workers", workers, "--messages", 6, bhm().endpoint, users_file())
    check_books(done)
    assert done.record["workers"] == wanted


# What the digest covers: From, To, Subject, Date, Message-ID and the body. (what is replaced, by what, verified?)
CHANGES = {
    "nothing": (rb"\A", b"", True),
    "a field on top": (rb"\A", b"Received: from x\r\n\tby y; today\r\n", True),
    "another Subject on top": (rb"\A", b"Subject: extra\r\n", True),
    "another Subject behind the first": (rb"(?m)^Date:", b"Subject: extra\r\nDate:", False),
    "a folded Subject": (rb"(Subject: \S+) ", rb"\1\r\n ", True),
    "the name of a field in capitals": (rb"Subject:", b"SUBJECT:", True),
    "blanks behind a field": (rb"(Subject: .*)\r\n", rb"\1  \r\n", True),
    "X-Postal": (rb"X-Postal: ", b"X-Postal: x", True),
    "From": (rb"From: <", b"From: <x", False),
    "To": (rb"To: <", b"To: <x", False),
    "Subject": (rb"Subject: ", b"Subject: x", False),
    "Date": (rb"(Date: .*)\+0000", rb"\1-0000", False),
    "Message-ID": (rb"Message-ID: <", b"Message-ID: <x", False),
    "a line more": (rb"\Z", b"x\r\n", False),
    "a blank at the end of a line": (rb"\r\n\Z", b" \r\n", False),
}


def test_what_the_digest_covers(bhm, postal, programs, users_file):
    made = run([programs.postal, "--dry-run-message", "-m", "1", "-M", "1", "127.0.0.1:1", users_file(["a@example.com"])])
    sent = made.stdout.encode().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    assert sent == Message(sent).octets
    hole = bhm()
    with smtplib.SMTP("127.0.0.1", hole.port, timeout=60) as client:
        for old, new, _ in CHANGES.values():
            changed, times = re.subn(old, new, sent, count=1)
            assert times == 1
            client.sendmail("a@example.com", ["a@example.com"], changed)
    verified = sum(fine for *_, fine in CHANGES.values())
    found = hole.stop().record["integrity"]
    assert (found["verified"], found["corrupt"], found["foreign"]) == (verified, len(CHANGES) - verified, 0)


# ledger.md: nothing but the tables and views of its page, and indexes over plain columns.
@pytest.mark.parametrize(("statement", "status"), [
    ("CREATE INDEX i ON sent(run)", 0),
    ("CREATE INDEX i ON sent(abs(run))", 1),
    ("CREATE TABLE t(a)", 1),
    ("CREATE VIEW v AS SELECT 1", 1),
    ("CREATE TRIGGER t AFTER INSERT ON sent BEGIN DELETE FROM seen; END", 1),
    ("PRAGMA user_version = 7", 1),
])
def test_what_a_ledger_may_have(bhm, postal, programs, users_file, folder, statement, status):
    hole, ledger = bhm(), folder / "ledger"
    postal("--messages", 2, "--ledger", ledger, hole.endpoint, users_file())
    assert sorted(path.name for path in folder.glob("ledger*")) == ["ledger"], "a run that has ended leaves one file"
    with contextlib.closing(sqlite3.connect(ledger)) as book, book:
        book.execute(statement)
    assert run([programs.postal_report, "--ledger", ledger]).status == status
    postal("--messages", 2, "--ledger", ledger, hole.endpoint, users_file(), status=status)
