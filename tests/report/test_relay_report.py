# SPDX-License-Identifier: GPL-3.0-or-later
"""postal-report --relay: what is told of a relay is what it did, from the ledger and from the records."""
import contextlib
import csv
import io
import re
import sqlite3

import pytest
from printed import run

from support.ledger import copy_ledger
from support.queueing import QueueingRelay

SMALL = ("-m", "1", "-M", "1", "-t", "4", "-c", "-1", "--interval", "200ms")
DOMAINS = ("one.example", "two.example", "slow.example")
SLOW_S, FAST_S = 1.0, 0.25


def parts_of(done):
    """The lines of --csv by the name of the part, numbers as such."""
    def value(text):
        return float(text) if re.fullmatch(r"-?\d+(\.\d+)?", text) else text
    rows = csv.DictReader(io.StringIO(done.stdout))
    return {row["part"]: {name: value(text) for name, text in row.items()} for row in rows}


def change(path, *statements):
    with contextlib.closing(sqlite3.connect(path)) as book, book:
        for statement in statements:
            book.execute(statement)
    return path


@pytest.fixture
def everybody(users_file):
    return users_file([f"user{number}@{domain}" for number in range(10) for domain in DOMAINS])


@pytest.fixture
def relayed(bhm, postal, everybody, folder):
    """relayed(delays, messages=120): a ledger, and the records of postal and bhm, after a relay has delivered all."""
    def make(delays, messages=120, name="book"):
        book = folder / name
        hole = bhm("--ledger", book)
        with QueueingRelay(hole.port, delays) as relay:
            sent = postal(*SMALL, "--messages", messages, "--ledger", book, relay.endpoint, everybody)
            relay.wait_until_empty()
        hole.stop()
        assert sent.total("messages") == messages
        return book, (folder / f"postal-{postal.runs}.json", hole.record_path)
    return make


def by_domain(path):
    return [SLOW_S if path.endswith("@slow.example") else FAST_S]


def test_a_relay_with_a_slow_domain(run, relayed):
    book, records = relayed(by_domain)
    parts = parts_of(run("--relay", "--ledger", book, "--csv"))
    whole = parts.pop("all mail")
    assert set(parts) == set(DOMAINS)
    for each in (whole, *parts.values()):
        assert each["delivered"] == each["accepted"] == each["transit_count"] > 0
        assert each["backlog_left"] == each["still_owed"] == each["more_than_once"] == each["received_before_sent"] == 0
        assert each["transit_p50_us"] <= each["transit_p90_us"] <= each["transit_max_us"]
    assert whole["accepted"] == 120 == sum(each["accepted"] for each in parts.values())
    # What a queue adds to the delay depends on the machine; nothing comes before its time.
    for name, part in parts.items():
        assert part["transit_p50_us"] >= (SLOW_S if name == "slow.example" else FAST_S) * 1e6 * 0.99
    assert parts["slow.example"]["transit_p50_us"] > max(parts[name]["transit_p50_us"] for name in DOMAINS[:2])
    assert whole["drain_s"] >= FAST_S
    assert whole["backlog_peak"] > 0

    told = parts_of(run("--relay", *records, "--csv"))["all mail"]
    assert told["accepted"] == told["delivered"] == 120
    assert told["backlog_peak"] > 0 and told["backlog_left"] == pytest.approx(0, abs=1e-3)
    assert told["resolution_s"] == 1
    assert run("--relay", *reversed(records), "--csv").stdout == run("--relay", *records, "--csv").stdout


def test_what_is_dropped_or_doubled_is_told(run, relayed):
    book, _ = relayed(lambda path: [] if path.endswith("@one.example") else [0.05, 0.1] if path.endswith("@two.example")
                      else [0.05])
    parts = parts_of(run("--relay", "--ledger", book, "--csv", status=3))
    assert parts["one.example"]["still_owed"] == parts["one.example"]["accepted"] == parts["one.example"]["backlog_left"]
    assert parts["one.example"]["transit_p50_us"] == parts["one.example"]["drain_s"] == ""
    assert parts["two.example"]["more_than_once"] == parts["two.example"]["extra_copies"] == parts["two.example"]["delivered"]
    assert parts["slow.example"]["still_owed"] == parts["slow.example"]["more_than_once"] == 0
    text = run("--relay", "--ledger", book, status=3).stdout
    assert "not reached" in text
    assert f"{int(parts['one.example']['accepted'])} left" in text.splitlines()[0]


@pytest.fixture
def steady(relayed, folder):
    """A ledger in which 100 messages were accepted every 100 ms, and each delivered three seconds later."""
    book, _ = relayed(lambda _: [0], messages=100)
    start = 1_790_000_000 * 1_000_000
    same = "sent.run = seen.run AND sent.session = seen.session AND sent.sequence = seen.sequence"
    return change(copy_ledger(book, folder / "steady"), f"UPDATE sent SET time_us = {start} + (number - 1) * 100000",
                  f"UPDATE seen SET sent_us = (SELECT time_us FROM sent WHERE {same})",
                  "UPDATE seen SET time_us = sent_us + 3000000")


def test_figures_are_those_of_the_rows(run, steady):
    whole = parts_of(run("--relay", "--ledger", steady, "--csv"))["all mail"]
    assert (whole["began"], whole["resolution_s"]) == (1_790_000_000, 1)
    assert (whole["backlog_peak"], whole["backlog_peak_at_s"]) == (30, 3)
    assert whole["backlog_area_message_s"] == pytest.approx(300, rel=0.01)
    assert whole["drain_s"] == pytest.approx(3)
    for name in ("mean", "p50", "p90", "p99", "max"):
        assert whole[f"transit_{name}_us"] == pytest.approx(3_000_000)
    text = run("--relay", "--ledger", steady).stdout
    assert text.startswith(f"{steady}: 100 messages accepted by the relay, 100 delivered; at most 30 not yet delivered, after 3s")
    assert re.search(r"^  3s +4s +600 /min +600 /min +0 /min +30 messages$", text, re.MULTILINE)
    assert max(map(len, text.splitlines())) <= 230
    for table in re.findall(r"(?:^\|.*\n)+", run("--relay", "--ledger", steady, "--markdown").stdout, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1, table


def test_clocks_that_differ_are_said(run, steady):
    change(steady, "UPDATE seen SET time_us = sent_us - 5000000 WHERE number % 2")
    done = run("--relay", "--ledger", steady)
    assert "! 50 messages were received before being sent, by up to 5.00 s: the clocks of the hosts differ" in done.stdout
    whole = parts_of(run("--relay", "--ledger", steady, "--csv"))["all mail"]
    assert (whole["received_before_sent"], whole["furthest_before_us"]) == (50, 5_000_000)
    assert min(whole[f"transit_{name}_us"] for name in ("mean", "p50", "p90", "max")) >= 0
    assert whole["backlog_left"] == 0


def test_what_is_not_known_yet_is_not_lost(run, steady):
    change(steady, "DELETE FROM seen WHERE time_us > 1790000009000000",
           "UPDATE runs SET ended_us = NULL, horizon_us = 1790000004000000 WHERE role = 'sink'")
    done = run("--relay", "--ledger", steady)
    assert "1 run has no end" in done.stdout
    assert "(not known yet: a receiver that has no end may have it)" in done.stdout
    whole = parts_of(run("--relay", "--ledger", steady, "--csv"))["all mail"]
    assert (whole["accepted"], whole["delivered"], whole["not_known"], whole["still_owed"]) == (100, 61, 39, 0)
    assert whole["backlog_left"] == 39 and whole["transit_p90_us"] == ""


def test_what_nobody_looked_for_is_told_apart(run, steady):
    """Where there is no receiver without an end, none may have it."""
    change(steady, "DELETE FROM seen WHERE time_us > 1790000009000000",
           "UPDATE runs SET role = 'reader', notes_visits = 1 WHERE role = 'sink'")
    whole = parts_of(run("--relay", "--ledger", steady, "--csv"))["all mail"]
    assert (whole["delivered"], whole["not_looked_for"], whole["not_known"], whole["still_owed"]) == (61, 39, 0, 0)
    assert whole["backlog_left"] == 39 and whole["drain_s"] == ""
    text = run("--relay", "--ledger", steady).stdout
    assert "(not looked for: no reader has read its mailbox since)" in text


def test_what_came_back_has_left_the_relay(run, steady):
    """Of the 39 that did not arrive 30 came back, 10 of them because nobody had taken them in time."""
    change(steady, "DELETE FROM seen WHERE time_us > 1790000009000000",
           "INSERT INTO returned(observer, run, session, sequence, recipient, mailbox, action, status, way, time_us) "
           "SELECT (SELECT id FROM runs WHERE role = 'sink'), run, session, sequence, recipient, sender, 0, "
           "iif(row_number() OVER (ORDER BY number) <= 10, '4.4.1', '5.1.1'), 0, 1790000020000000 FROM sent "
           "WHERE NOT EXISTS (SELECT 1 FROM seen WHERE (seen.run, seen.session, seen.sequence) = (sent.run, sent.session, sent.sequence)) "
           "ORDER BY number LIMIT 30")
    whole = parts_of(run("--relay", "--ledger", steady, "--csv", status=3))["all mail"]
    assert [whole[name] for name in ("delivered", "refused", "given_up", "still_owed")] == [61, 20, 10, 9]
    assert whole["backlog_left"] == 9 and whole["drain_s"] == ""
    text = run("--relay", "--ledger", steady, status=3).stdout
    assert "20 refused and 10 given up came back; 9 left" in text


def test_against_another_ledger(run, steady, folder):
    other = change(copy_ledger(steady, folder / "other"), "UPDATE seen SET time_us = sent_us + 6000000")
    text = run("--relay", "--ledger", other, "--against", steady).stdout
    table = text[text.index(f"Transit beside {steady}"):]
    assert re.search(r"^  all mail +6\.00 s \(\+100\.0 %\) +3\.00 s ", table, re.MULTILINE)
    rows = list(csv.DictReader(io.StringIO(run("--relay", "--ledger", other, "--against", steady, "--csv").stdout)))
    assert [row["source"] for row in rows] == [str(other)] * 4 + [str(steady)] * 4
    assert [row["part"] for row in rows[:4]] == [row["part"] for row in rows[4:]]
    assert text.splitlines()[1].startswith(f"beside {steady}: 100 messages accepted by the relay, 100 delivered; at most 30 ")
    assert re.search(rf"Mail and backlog beside {steady}\n(?:.*\n){{1,2}}  all mail +100 +100 +100\.00 % +100\.00 % +60 +30 +0 +0\n", text)


def test_what_arrived_only_in_the_other_run(run, steady, folder):
    """A domain of which nothing arrived here is drawn there, in the colour that is its own; remarks of both are said."""
    here = change(copy_ledger(steady, folder / "here"), "DELETE FROM seen WHERE mailbox IN "
                  "(SELECT id FROM addresses WHERE address LIKE '%@slow.example')")
    change(steady, "UPDATE seen SET time_us = sent_us - 5000000 WHERE number % 2")
    page = run("--relay", "--ledger", here, "--against", steady, "--html", "-", status=3).stdout
    tails = re.findall(r'\{"label":"([^"]+)","there":(true|false),"colour":(\d)', page)
    colours = {label: int(colour) for label, _, colour in tails}
    assert len(tails) == 7 and len(set(colours.values())) == 4
    assert "slow.example" not in colours and list(colours.values()).count(colours["slow.example there"]) == 1
    for label in ("all mail", "one.example", "two.example"):
        assert colours[label] == colours[f"{label} there"]
    text = run("--relay", "--ledger", here, "--against", steady, status=3).stdout
    assert f"! {steady}: 50 messages were received before being sent" in text


@pytest.mark.parametrize("arguments, wanted", [
    (["--relay"], "--relay: needs --ledger FILE, or two records"),
    (["--relay", "--ledger", "/nonexistent/book"], "--ledger: /nonexistent/book: No such file or directory"),
    (["--relay", "--ledger", "BOOK", "--against", "/nonexistent/book"], "--against: /nonexistent/book"),
    (["--relay", "--ledger", "BOOK", "--list", "lost"], "--list: is not for --relay"),
])
def test_refusals_of_a_relay(run, bhm, folder, arguments, wanted):
    bhm("--ledger", folder / "book").stop()
    done = run(*(folder / "book" if word == "BOOK" else word for word in arguments), status=1)
    assert wanted in done.stderr and done.stderr.count("\n") == 1 and done.stdout == ""


def test_the_page_of_a_relay_is_drawn(run, relayed, browser, folder):
    """Without one error, and nothing too wide: all mail, transit, three domains; of records all mail alone."""
    book, records = relayed(by_domain)
    target = folder / "relay.html"
    for words, charts in ((("--ledger", book), 5), (("--ledger", book, "--against", book), 5), (records, 1)):
        assert run("--relay", *words, "--html", target).stdout == ""
        shown = browser.open(target)
        assert not shown.complaints
        assert shown.charts == len(re.findall('<canvas role="img"', target.read_text())) >= charts
        assert browser.too_wide(target, 1280) == browser.too_wide_on_a_telephone(target) == ""
