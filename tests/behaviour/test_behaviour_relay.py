# SPDX-License-Identifier: GPL-3.0-or-later
"""A relay before receivers of every kind: postal -> Postfix -> bhm --behaviour. All mail ends where it should: delivered
once, returned to its sender, or kept by Postfix until the receiver is better. The judges are Postfix's log and the ledger.
"""
import contextlib
import os
import sqlite3
import time
import tomllib
from functools import partial

import pytest

from conftest import ROOT
from support.behaviours import errors, refusals, rule
from support.postal import check_books
from support.process import free_port, wait_until
from support.returns import DOMAIN, Returns
from support.watched import check_outcomes

# Through each profile, in some seconds each; POSTAL_RELAY_MESSAGES=5000 asks for more, and takes minutes.
MESSAGES = int(os.environ.get("POSTAL_RELAY_MESSAGES", "150"))
# So many times as many, where fewer would seldom meet each of the rules.
MORE = {"big-provider": 2, "mixed-world": 2}
PATIENCE = 60 + MESSAGES / 20
# Seconds that a profile has before a receiver without one takes its place. With 5,000 messages greylisting outlives its wait.
BESIDE = 3 + MESSAGES / 200
LONGER_BESIDE = {"fast": PATIENCE, "greylisting": MESSAGES / 70}

# So that what is deferred comes again within the test; the defaults are minutes.
RETRIES = {"minimal_backoff_time": "1s", "maximal_backoff_time": "2s", "queue_run_delay": "1s", "transport_retry_time": "1s",
           "smtp_connect_timeout": "2s", "smtp_helo_timeout": "6s", "smtp_mail_timeout": "8s", "smtp_rcpt_timeout": "12s",
           "smtp_data_init_timeout": "8s", "smtp_data_xfer_timeout": "20s", "smtp_data_done_timeout": "25s", "smtp_quit_timeout": "1s",
           "default_destination_concurrency_failed_cohort_limit": "10"}


class Trip:
    """Domains with a host of their own each (127.0.0.1, 127.0.0.2, …), as a relay sees them, all of them one bhm; and
    a Postfix that sends there, and to `returns` what it returns. start: bhm, or what starts one with rules."""

    def __init__(self, start, postfix, folder, returns, domains):
        self.start, self.book = start, folder / "book"
        self.domains, port = domains, free_port()
        self.hosts = [f"127.0.0.{number}:{port}" for number, _ in enumerate(domains, 1)]
        routes = {domain: "smtp:[{}]:{}".format(*host.split(":")) for domain, host in zip(domains, self.hosts)}
        routes[DOMAIN] = returns.transport
        table = " ".join(f"{{{domain} = {route}}}" for domain, route in routes.items())
        self.relay = postfix("error:nobody is there", transport_maps=f"inline:{{ {table} }}", **RETRIES)
        self.senders = [f"sender{number}@{DOMAIN}" for number in range(5)]

    def receiver(self, *options):
        return self.start("--ledger", self.book, "--grace", "1s", *options, listen=self.hosts)

    def send(self, postal, users_file, count=MESSAGES):
        """postal to the relay, which takes everything."""
        users = users_file([f"user{number}@{domain}" for number in range(10) for domain in self.domains])
        sent = postal("-t", "4", "-c", "-1", "-m", "2", "-M", "1", "--messages", count, "-f", users_file(self.senders),
                      "--ledger", self.book, self.relay.endpoint, users)
        check_books(sent)
        assert sent.total("messages") == count and sent.total("errors") == 0

    def wait(self, seconds):
        """Until the relay has nothing left, or the time is over."""
        begun = time.monotonic()
        wait_until(lambda: not self.relay.queued() or time.monotonic() - begun > seconds, "the time to be over", seconds + 30)


def check_ledger(report, trip, returned, doubtful=0, count=MESSAGES):
    """Each was found once, but for those that came back; of those whose reply was never heard the relay sends a second copy."""
    found, _ = report(trip.book)
    assert found["acknowledged"] == count
    assert found["found"] == count - returned and found["lost"] == returned, found
    assert found["duplicated"] <= doubtful, found
    assert not any(found[name] for name in ("misplaced", "unacknowledged", "corrupt", "misdelivered", "unknown", "foreign")), found


def check_greylist(book, wait):
    """The first bhm took nothing of a triplet before the `wait`, seconds, was over. Of each triplet: when its first message
    was made and when the first one was taken there, in microseconds, or None."""
    with contextlib.closing(sqlite3.connect(book)) as ledger:
        triplets = ledger.execute(
            "SELECT min(seen.sent_us), min(CASE WHEN seen.observer = (SELECT min(id) FROM runs WHERE role = 'sink') "
            "THEN seen.time_us END) FROM sent JOIN seen ON seen.run = sent.run AND seen.session = sent.session "
            "AND seen.sequence = sent.sequence AND seen.mailbox = sent.recipient GROUP BY sent.sender, sent.recipient").fetchall()
    assert len(triplets) > 30
    assert all(seen is None or seen - made >= wait * 1e6 for made, seen in triplets)
    return triplets


def domains_of(profile):
    """Those that its rules name, and one that no rule names; of a domain and all below it the domain."""
    found = {"example.com"}
    for one in tomllib.loads(profile.read_text())["rule"]:
        named = one.get("domain", [])
        found.update([named] if isinstance(named, str) else named)
    return sorted(domain for domain in found if not domain.startswith("*."))


def nothing_is_wrong(first):
    assert first.total("messages") == MESSAGES
    assert {one[:2] for one in errors(first.record)} <= {("quit", "no_quit")}  # Postfix gives up waiting for 221


def nothing_comes(first):
    assert first.total("messages") == 0 and first.total("connections") > 0


def all_are_greylisted(first):
    """Those whose wait ends within the time are taken after it: check_greylist."""
    assert first.total("deferred") > 0
    assert {one[:2] for one in errors(first.record)} - {("quit", "no_quit")} == {("rcpt", 450)}


def some_may_come(first):
    assert first.total("connections") > 0


def some_come_and_some_are_refused(first):
    assert first.total("messages") > 0 and first.total("deferred") > 0


def some_come_and_some_connections_break(first):
    assert first.total("messages") > 0
    assert {one["reason"] for one in first.record["errors"]} & {"closed", "reset"}


def each_domain_has_its_fate(first):
    assert first.total("messages") > 0
    assert {("rcpt", 450), ("rcpt", 452), ("rcpt", 550), ("rcpt", "silence")} <= {one[:2] for one in errors(first.record)}


PROFILES = {"fast": nothing_is_wrong, "slow-dialup": some_may_come, "greylisting": all_are_greylisted,
            "big-provider": some_come_and_some_are_refused, "broken": some_come_and_some_connections_break,
            "silent": nothing_comes, "mixed-world": each_domain_has_its_fate}


@pytest.mark.parametrize("name", PROFILES)
def test_profile(bhm, postfix, postal, users_file, folder, report, name):
    """What is still in the queue after some seconds is delivered when the receiver has become a plain one."""
    profile, count = ROOT / f"conf/profiles/{name}.toml", MESSAGES * MORE.get(name, 1)
    with Returns() as returns:
        trip = Trip(bhm, postfix, folder, returns, domains_of(profile))
        hole = trip.receiver("--behaviour", profile, "--seed", "1")
        trip.send(postal, users_file, count)
        trip.wait(LONGER_BESIDE.get(name, BESIDE))
        first = hole.stop()
        check_outcomes(first.record)
        PROFILES[name](first)
        plain = trip.receiver()
        trip.relay.flush(PATIENCE)
        healed = plain.stop()
        check_outcomes(healed.record)
        bounced = trip.relay.outcomes("bounced")
        assert sorted(returns.failed) == sorted(bounced)
    doubtful = first.total("in_doubt") + first.total("unheard")
    assert count - len(bounced) <= first.total("messages") + healed.total("messages") <= count - len(bounced) + doubtful
    check_ledger(report, trip, len(bounced), doubtful, count)
    if name == "greylisting":
        check_greylist(trip.book, 60)


def test_greylisting_and_a_real_retry_schedule(behaving, postfix, postal, users_file, folder, report):
    """No triplet is let in before its wait is over, and all are by Postfix's own retries."""
    wait = 3.0
    with Returns() as returns:
        trip = Trip(partial(behaving, rule("rcpt", f'greylist = {{ wait = "{wait:.0f}s", window = "1h" }}')), postfix, folder,
                    returns, ["example.com"])
        hole = trip.receiver()
        trip.send(postal, users_file, 200)
        trip.relay.wait_until_empty()
        done = hole.stop()
        assert not returns.taken
    check_outcomes(done.record)
    assert done.total("messages") == 200
    triplets = check_greylist(trip.book, wait)
    assert all(seen is not None for _, seen in triplets)
    assert {one[:2] for one in errors(done.record)} - {("quit", "no_quit")} == {("rcpt", 450)}
    assert refusals(done.record, 450) >= len(triplets)
    check_ledger(report, trip, 0, count=200)


@pytest.mark.parametrize("stage", ["rcpt", "end"])
def test_refused_mail_comes_back(behaving, postfix, postal, users_file, folder, report, stage):
    """As a notification for each message to its sender, with what the receiver said; other domains' mail arrives."""
    with Returns() as returns:
        trip = Trip(partial(behaving, rule(stage, 'reply = "550 5.7.1 Nobody lives here"', 'domain = "gone.example"')), postfix, folder,
                    returns, ["example.com", "gone.example"])
        hole = trip.receiver()
        trip.send(postal, users_file, 100)
        trip.relay.wait_until_empty()
        done = hole.stop()
        returned = returns.failures
    check_outcomes(done.record)
    with contextlib.closing(sqlite3.connect(trip.book)) as ledger:
        gone = [row[0] for row in ledger.execute("SELECT recipient FROM sent_messages WHERE recipient LIKE '%@gone.example'")]
    assert 20 < len(gone) < 80
    assert sorted(one.recipient for one in returned) == sorted(gone) == sorted(trip.relay.outcomes("bounced"))
    assert {one.status for one in returned} == {"5.7.1"}
    assert all("550 5.7.1 Nobody lives here" in one.diagnostic for one in returned)
    assert done.total("messages") == 100 - len(gone) and done.total("rejected") == len(gone)
    check_ledger(report, trip, len(gone), count=100)


def test_one_domain_over_its_rate(behaving, postfix, postal, users_file, folder, report):
    """It gets its mail at its pace, by retries, the other at once."""
    with Returns() as returns:
        limited = rule("rcpt", 'rate = "5/s"\nburst = 20\nper = "domain"\nreply = "gmail-rate"', 'domain = "slow.example"')
        trip = Trip(partial(behaving, limited), postfix, folder, returns, ["example.com", "slow.example"])
        hole = trip.receiver()
        trip.send(postal, users_file, 100)
        trip.relay.wait_until_empty()
        done = hole.stop()
        assert not returns.taken
    check_outcomes(done.record)
    assert done.total("messages") == 100 and refusals(done.record, 421) > 0
    with contextlib.closing(sqlite3.connect(trip.book)) as ledger:
        transit = dict(ledger.execute(
            "SELECT substr(address, instr(address, '@') + 1), avg(time_us - sent_us) / 1e6 FROM seen "
            "JOIN addresses ON addresses.id = mailbox GROUP BY 1").fetchall())
    assert transit["slow.example"] > transit["example.com"], transit
    check_ledger(report, trip, 0, count=100)
