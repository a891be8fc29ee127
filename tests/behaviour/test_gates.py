# SPDX-License-Identifier: GPL-3.0-or-later
"""What rules count and remember: token buckets, limits, greylists; postal's books, bhm's and the arithmetic agree."""
import time

import pytest

from support.behaviours import errors, outcomes, refusals, rule
from support.postal import check_books
from support.process import free_port, wait_until
from support.scripted import Scripted

# ---- token buckets under load ----

RATE = 100  # tokens a second; a bucket holds one second's worth
LOAD = ("-t", "20", "-c", "-1", "-m", "1", "-M", "1", "--interval", "500ms")


def beyond(stage, per="all", rate=RATE, code="450 4.2.1"):
    return rule(stage, f'rate = "{rate}/s"\nper = "{per}"\nreply = "{code} Too many messages"')


def check_both(sent, took, code=450):
    """What was accepted and deferred is one number on both sides, and so are refusals."""
    check_books(sent)
    for name in ("started", "messages", "deferred", "rejected", "failed", "in_doubt"):
        assert sent.total(name) == took.total(name), name
    assert refusals(sent.record, code) == refusals(took.record, code)
    outcomes(took.record)


@pytest.mark.parametrize("stage", ["mail", "rcpt", "data", "end"])
def test_everything_beyond_the_rate_is_deferred(behaving, postal, users_file, stage):
    """10 times the rate. Never more than the full bucket and what was filled up meanwhile."""
    hole = behaving(beyond(stage))
    begun = time.monotonic()
    sent = postal(*LOAD, "--rate", f"{10 * RATE}/s", "--messages", 1000, hole.endpoint, users_file(10))
    most = RATE + RATE * (time.monotonic() - begun) + 1
    took = hole.stop()
    check_both(sent, took)
    assert RATE <= sent.total("messages") <= most
    assert sent.total("deferred") == 1000 - sent.total("messages") == refusals(took.record, 450)
    assert errors(took.record) == [(stage, 450, sent.total("deferred"))]


def test_recipients_over_lmtp(behaving, postal, users_file):
    """Tokens are for recipients, which are refused and accepted one by one."""
    hole = behaving(beyond("rcpt"), "--lmtp")
    sent = postal("-L", *LOAD, "--recipients", "5", "--rate", f"{5 * RATE}/s", "--messages", 1000, hole.endpoint, users_file(50))
    took = hole.stop()
    check_both(sent, took)
    assert sent.total("messages") >= RATE and sent.total("deferred") > 0


@pytest.mark.serial
@pytest.mark.beside_others
@pytest.mark.parametrize("stage", ["mail", "end"])
def test_rate(behaving, postal, users_file, stage):
    """Accepted within 1 % of the rate, behind what the full bucket gave at once."""
    hole = behaving(beyond(stage))
    sent = postal(*LOAD, "--rate", f"{10 * RATE}/s", "--duration", "6s", hole.endpoint, users_file(10))
    check_both(sent, hole.stop())
    wanted = RATE * sent.record["duration_s"]
    accepted = sent.total("messages") - RATE
    print(f"{accepted} accepted behind the burst, {wanted:.1f} wanted: {accepted / wanted - 1:+.2%}")
    assert accepted == pytest.approx(wanted, rel=0.01)
    assert sent.total("deferred") > 5 * sent.total("messages")


def test_connections(behaving, postal, users_file):
    """Turned away at the greeting, and come again: all mail arrives in the end."""
    hole = behaving(beyond("banner", rate=40, code="421 4.7.0"))
    begun = time.monotonic()
    sent = postal("-t", "4", "-c", "1", "-m", "1", "-M", "1", "--messages", 70, hole.endpoint, users_file(10))
    most = 40 + 40 * (time.monotonic() - begun) + 1
    took = hole.stop()
    check_books(sent)
    assert sent.total("messages") == took.total("messages") == 70
    assert took.total("connections") - refusals(took.record, 421) <= most
    assert {one[:2] for one in errors(took.record)} == {one[:2] for one in errors(sent.record)} == {("banner", 421)}
    assert refusals(sent.record, 421) == refusals(took.record, 421)


def test_domains_have_buckets_of_their_own(behaving, postal, users_file):
    """One domain's load takes nothing from another's."""
    hole = behaving(rule("rcpt", 'limit = 30\nper = "domain"\nreply = "452 4.2.2 Full"'))
    users = users_file([f"user{number}@example.{name}" for number in range(5) for name in ("com", "net", "org")])
    sent = postal(*LOAD, "--messages", 600, hole.endpoint, users)
    took = hole.stop()
    check_both(sent, took, 452)
    assert sent.total("messages") == 90 and sent.total("deferred") == 510


# ---- whose tokens ----

LIMIT = 2
# of a gate at RCPT: how another client, or the same about another, gets its own
OTHERS = {
    "client": {"place": "[::1]"},
    "listener": {"place": "other port"},
    "session": {},
    "helo": {"helo": "other.example"},
    "sender": {"sender": "other@example.com"},
    "recipient": {"recipient": "other@example.com"},
    "domain": {"recipient": "user0@other.example"},
}


def taken(ports, place="", **what):
    """The codes of three RCPT of a session."""
    port = ports[1 if place == "other port" else 2 if place else 0]
    with Scripted(("::1" if place == "[::1]" else "127.0.0.1", port)) as client:
        for name, value in what.items():
            setattr(client, name, value)
        client.reach("rcpt")
        codes = [client.meet("rcpt").code for _ in range(LIMIT + 1)]
        client.leave()
    return codes


@pytest.mark.parametrize("differs", OTHERS)
@pytest.mark.parametrize("apart", [True, False], ids=["apart", "together"])
def test_whose_tokens(behaving, differs, apart):
    """A limit is never filled up. Without `per` there is one for all."""
    per = f'per = "{differs}"' if apart else ""
    listen = [f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}", f"[::1]:{free_port()}"]
    hole = behaving(rule("rcpt", f'limit = {LIMIT}\n{per}\nreply = "452 4.2.2 Full"'), listen=listen)
    ports = [int(place.rpartition(":")[2]) for place in hole.endpoints]
    assert taken(ports) == [250, 250, 452]
    assert taken(ports, **OTHERS[differs]) == ([250, 250, 452] if apart else [452] * 3)
    if differs != "session":
        assert taken(ports) == [452] * 3


def test_beyond_the_limit_other_rules_are_asked(behaving):
    """Who has a token meets the rules behind it."""
    hole = behaving(rule("rcpt", 'limit = 1\nper = "session"\nreply = "452 4.5.3 One only"')
                    + rule("rcpt", 'reply = "550 5.1.1 Nobody"', 'recipient = "nobody@*"', "nobody"))
    with Scripted(("127.0.0.1", hole.port)) as client:
        client.recipient = "nobody@example.com"
        client.reach("rcpt")
        assert [client.meet("rcpt").code for _ in range(3)] == [550, 452, 452]
        client.leave()


@pytest.mark.parametrize("stage, code", [("banner", 421), ("ehlo", 421), ("mail", 451), ("rcpt", 451), ("data", 451), ("end", 451)])
def test_replies_that_nobody_wrote(behaving, stage, code):
    hole = behaving(rule(stage, "limit = 1"))
    for wanted in ((220, 250, 354), (code,)):
        with Scripted(("127.0.0.1", hole.port)) as client:
            client.reach(stage)
            heard = client.meet(stage)
            assert heard.code in wanted
            assert wanted != (code,) or heard.text[4:6] == "4.", "an enhanced code"


# ---- greylists ----

class Retrying:
    """A sender that tries one triplet again and again, each time in a session of its own."""

    def __init__(self, hole, sender="sender@example.com", recipient="user0@example.com", proxy=None):
        self.hole, self.sender, self.recipient, self.proxy = hole, sender, recipient, proxy

    def ask(self):
        """The code for RCPT, when that was asked for, and when it was answered."""
        with Scripted(("127.0.0.1", self.hole.port), proxy=self.proxy) as client:
            client.sender, client.recipient = self.sender, self.recipient
            client.reach("rcpt")
            asked = time.monotonic()
            code = client.meet("rcpt").code
            answered = time.monotonic()
            client.leave()
        return code, asked, answered

    def code(self):
        return self.ask()[0]

    def passes_after(self, seconds):
        """First refused, then too early, then in time: by the time of asking and that of the answer, between which bhm
        looked at its clock. When that was over."""
        code, begun, known = self.ask()
        assert code == 450

        def passed():
            code, asked, answered = self.ask()
            assert code == 450 or answered - begun >= seconds, "too early"
            assert code == 250 or asked - known < seconds, "in time"
            return code == 250
        wait_until(passed, "a retry that is let through")
        return time.monotonic()


def greylisting(wait, window="1h", lifetime="1h"):
    return rule("rcpt", f'greylist = {{ wait = "{wait}", window = "{window}", lifetime = "{lifetime}" }}')


def wait_for_time(begun, seconds):
    """A retry that must come late waits."""
    wait_until(lambda: time.monotonic() - begun > seconds, f"{seconds} s to be over")


def test_greylist_in_time(behaving):
    """From then on it passes at once, and so does no other triplet."""
    hole = behaving(greylisting("700ms"))
    one = Retrying(hole)
    one.passes_after(0.7)
    assert [one.code(), one.code()] == [250, 250]
    assert Retrying(hole, sender="other@example.com").code() == 450
    assert Retrying(hole, recipient="user1@example.com").code() == 450
    assert Retrying(hole, sender="Sender@Example.com").code() == 250, "ASCII case makes no difference"
    record = hole.stop().record
    assert set(outcomes(record)) == {"started", "deferred", "failed"}
    assert errors(record) == [("rcpt", 450, record["totals"]["deferred"])]


def test_greylist_knows_networks(behaving):
    """Large senders retry from another of their addresses: a /24, of IPv6 a /64."""
    hole = behaving(greylisting("100ms"), "--proxy-trusted", "127.0.0.1")
    for same, near, far in (("192.0.2.1", "192.0.2.254", "192.0.3.1"), ("2001:db8::1", "2001:db8::ffff:0:0:1", "2001:db8:0:1::1")):
        Retrying(hole, proxy=same).passes_after(0.1)
        assert Retrying(hole, proxy=near).code() == 250
        assert Retrying(hole, proxy=far).code() == 450


def test_greylist_late(behaving):
    """Behind the window it begins anew, and the next retry in time passes."""
    hole = behaving(greylisting("100ms", window="600ms"))
    one = Retrying(hole)
    code, _, begun = one.ask()
    assert code == 450
    wait_for_time(begun, 0.7)
    assert one.code() == 450
    wait_until(lambda: one.code() == 250, "a retry in time")


def test_greylist_forgets(behaving):
    """Who has not come for the lifetime is a stranger again."""
    hole = behaving(greylisting("100ms", lifetime="600ms"))
    one = Retrying(hole)
    wait_for_time(one.passes_after(0.1), 0.7)
    assert one.code() == 450


def test_greylist_against_postal(behaving, postal, users_file):
    """It does not retry: each of a list's recipients is refused for as long as that lasts, and both books say so."""
    hole = behaving(greylisting("1h", "2h"))
    sent = postal(*LOAD, "--messages", 300, hole.endpoint, users_file(10), status=4)
    check_both(sent, hole.stop())
    assert sent.total("deferred") == 300
