# SPDX-License-Identifier: GPL-3.0-or-later
"""How clients come again after a deferral, and how they use their connections, as bhm's record and summary have it."""
import contextlib
import time

import pytest

from support.behaviours import rule
from support.postal import check_books
from support.process import wait_until
from support.scripted import SILENCE, Scripted
from support.watched import check_outcomes

ENDS = ("taken_after_retry", "rejected_after_retry", "still_deferred", "not_retried")
COUNTED = ("deferred_recipients", "retries", *ENDS, "retries_forgotten",
           "grey_first", "grey_early", "grey_late", "grey_passed", "grey_in_time")
# So that Postfix comes again within the test; the defaults are minutes.
RETRIES = {"minimal_backoff_time": "1s", "maximal_backoff_time": "2s", "queue_run_delay": "1s", "transport_retry_time": "1s"}


def told(record):
    """What of this there was any of; that it adds up, with and without the warm-up, and each retry has its time."""
    check_outcomes(record)
    for totals in (record["totals"], record["totals_with_warmup"]):
        assert totals["deferred_recipients"] == sum(totals[name] for name in ENDS), totals
    totals, times = record["totals"], record["latency_us"]
    assert times["retry"]["count"] == totals["retries"]
    assert times["retried"]["count"] == totals["taken_after_retry"]
    return {name: totals[name] for name in COUNTED if totals[name]}


def visit(hole, recipients=1, **how):
    return Scripted(("127.0.0.1", hole.port), **how).converse(recipients)


def wait_for(client, stage, code):
    """Each time in a transaction of its own."""
    def said():
        heard = client.meet(stage).code
        if heard != code:
            client.pass_by(["rset", "mail"])
        return heard == code
    wait_until(said, f"{code} at {stage}")


# ---- who was deferred, and how it went on ----

@pytest.mark.parametrize("lmtp", [False, True], ids=["SMTP", "LMTP"])
@pytest.mark.parametrize("stage", ["rcpt", "data", "end"])
def test_deferred_and_taken(behaving, stage, lmtp):
    hole = behaving(rule(stage, 'reply = "451 4.7.1 Later"', 'session = "1..2"'), *(["--lmtp"] if lmtp else []))
    for _ in range(3):
        visit(hole, 2, lmtp=lmtp)
    assert told(hole.stop().record) == {"deferred_recipients": 2, "retries": 4, "taken_after_retry": 2}


def test_each_recipient_for_itself(behaving):
    """The first is never deferred, the second taken at last, the third refused, the fourth not named again."""
    first, later = "session = 1\n", "session = 2\n"
    hole = behaving(rule("rcpt", 'reply = "450 4.2.1 Later"', first + 'recipient = ["user1@*", "user2@*", "user3@*"]', "first")
                    + rule("rcpt", 'reply = "550 5.1.1 Never"', later + 'recipient = "user2@*"', "second"))
    assert visit(hole, 4)[3:7] == [250, 450, 450, 450]
    assert visit(hole, 3)[3:6] == [250, 250, 550]
    assert told(hole.stop().record) == {"deferred_recipients": 3, "retries": 2, "taken_after_retry": 1, "rejected_after_retry": 1,
                                        "not_retried": 1}


@pytest.mark.parametrize("stage", ["rcpt", "data", "end"])
@pytest.mark.parametrize("how", ["fin", "rst", "silence"])
def test_a_cut_is_no_answer(behaving, stage, how):
    """Who was cut off is still deferred, and was not deferred anew."""
    hole = behaving(rule("rcpt", 'reply = "450 4.2.1 Later"', "session = 1", "first")
                    + rule(stage, f'close = "{how}"', "session = 2", "second"))
    visit(hole)
    with Scripted(("127.0.0.1", hole.port)) as client:
        client.reach(stage)
        assert client.meet(stage, SILENCE if how == "silence" else None).end == how
    assert told(hole.stop().record) == {"deferred_recipients": 1, "retries": 1, "still_deferred": 1}


def test_421_defers_the_recipients_before_it(behaving):
    hole = behaving(rule("rcpt", 'reply = "421 4.7.0 Too many"', 'session = 1\nrecipient = "user2@*"'))
    with Scripted(("127.0.0.1", hole.port)) as client:
        client.reach("rcpt")
        for number, code in enumerate((250, 250, 421)):
            client.recipient = f"user{number}@example.com"
            assert client.meet("rcpt").code == code
        assert client.hear().end == "fin"
    visit(hole, 3)
    assert told(hole.stop().record) == {"deferred_recipients": 3, "retries": 3, "taken_after_retry": 3}


def test_a_delayed_reply_counts_from_when_it_is_said(behaving):
    """The client cannot have waited for longer than since it heard of the deferral."""
    hole = behaving(rule("rcpt", 'reply = "450 4.2.1 Later"\ndelay = "500ms"', "session = 1"))
    moments = []
    for code in (450, 250):
        with Scripted(("127.0.0.1", hole.port)) as client:
            client.reach("rcpt")
            moments.append(time.monotonic())
            assert client.meet("rcpt").code == code
            moments.append(time.monotonic())
    record = hole.stop().record
    assert told(record) == {"deferred_recipients": 1, "retries": 1, "still_deferred": 1}
    assert record["latency_us"]["retry"]["max"] <= (moments[-1] - moments[0] - 0.5) * 1e6


def test_letters_of_the_user_list(bhm, users_file):
    hole = bhm(users_file(["user0@example.com - d", "user1@example.com - g", "user2@example.com"]), "--greylist-wait", "200ms")
    assert visit(hole, 3)[3:6] == [450, 450, 250]
    with Scripted(("127.0.0.1", hole.port)) as client:
        client.recipient = "user1@example.com"
        client.reach("rcpt")
        wait_for(client, "rcpt", 250)
        client.go_on("rcpt")
    found = told(hole.stop().record)
    assert (found["deferred_recipients"], found["taken_after_retry"], found["not_retried"]) == (2, 1, 1)
    assert (found["grey_first"], found["grey_passed"], found["grey_in_time"]) == (1, 1, 1)


# ---- greylists ----

def test_greylist(behaving):
    """Too early, in time, and let pass from then on; the time from the first deferral is at least the wait."""
    hole = behaving(rule("rcpt", 'greylist = { wait = "500ms", window = "1h" }'))
    with Scripted(("127.0.0.1", hole.port)) as client:
        client.sender = "other@example.com"
        client.reach("rcpt")
        assert client.meet("rcpt").code == 450
    with Scripted(("127.0.0.1", hole.port)) as client:
        client.reach("rcpt")
        assert client.meet("rcpt").code == 450
        wait_for(client, "rcpt", 250)
        client.go_on("rcpt")
    visit(hole)
    record = hole.stop().record
    found = told(record)
    assert (found["deferred_recipients"], found["taken_after_retry"], found["not_retried"]) == (2, 1, 1)
    assert (found["grey_first"], found["grey_passed"], found["grey_in_time"]) == (2, 2, 1)
    assert found["retries"] == found.get("grey_early", 0) + 1
    assert record["latency_us"]["retried"]["min"] >= 500_000


def test_greylist_late(behaving):
    """Behind the window it begins anew, and the recipient is deferred still."""
    hole = behaving(rule("rcpt", 'greylist = { wait = "100ms", window = "300ms" }'))
    visit(hole)
    begun = time.monotonic()
    wait_until(lambda: time.monotonic() - begun > 0.4, "the window to be over")
    assert visit(hole)[3] == 450
    assert told(hole.stop().record) == {"deferred_recipients": 1, "retries": 1, "still_deferred": 1, "grey_first": 1, "grey_late": 1}


def test_a_relay_and_a_greylist(behaving, postfix, postal, users_file):
    """Postfix by its own schedule: all that was deferred is taken in the end, and none before its wait was over."""
    hole = behaving(rule("rcpt", 'greylist = { wait = "2s", window = "1h" }'))
    relay = postfix(f"smtp:[127.0.0.1]:{hole.port}", **RETRIES)
    sent = postal("-t", "2", "-c", "-1", "-m", "1", "-M", "1", "--messages", 100, relay.endpoint, users_file(100))
    check_books(sent)
    relay.wait_until_empty(120)
    done = hole.stop()
    found = told(done.record)
    assert done.total("messages") == 100
    assert found["taken_after_retry"] == found["deferred_recipients"] == found["grey_first"] > 20
    assert found["grey_in_time"] >= found["taken_after_retry"] and "grey_late" not in found
    assert done.record["latency_us"]["retried"]["min"] >= 2_000_000
    assert "taken after a retry" in done.stderr


# ---- where nothing can be deferred ----

@pytest.mark.parametrize("rules", ["", rule("rcpt", 'reply = "550 5.1.1 Nobody"', 'recipient = "nobody@*"'),
                                   rule("mail", 'reply = "451 Later"', "session = 9")],
                         ids=["no rules", "for good", "before recipients are named"])
def test_nothing_is_kept_where_nobody_can_be_deferred(bhm, behaving, rules):
    hole = behaving(rules) if rules else bhm()
    visit(hole)
    done = hole.stop()
    assert not set(COUNTED) & set(done.record["totals"])
    assert "retries " not in done.stderr


# ---- connections ----

def test_how_connections_are_used(bhm):
    """Three at once, of which one has said nothing; four transactions, one of them pipelined, one of three recipients."""
    hole = bhm()
    place = ("127.0.0.1", hole.port)
    with contextlib.ExitStack() as open_ones:
        clients = [open_ones.enter_context(Scripted(place)) for _ in range(3)]
        for client in clients:
            client.pass_by(["banner"])
        for client in clients[:2]:
            client.pass_by(client.path("end")[1:])
        clients[2].leave()
    assert Scripted(place).converse(recipients=3, pipelined=True)[-1] == "fin"
    assert Scripted(place).converse()[-1] == "fin"
    done = hole.stop()
    use = done.record["connection_use"]
    assert done.total("transactions") == 4 and done.total("pipelined") == 1
    assert use == {"messages_per_connection": 4 / 5, "recipients_per_transaction": 1.5, "tls_share": 0, "pipelined_share": 0.25,
                   "most_open": 3}
    assert ("0.80 messages a connection, 1.50 recipients a transaction, 0 % with TLS, at most 3 open at once; "
            "25 % of the transactions pipelined") in done.stderr


@pytest.mark.parametrize("load, pipelined", [(("--pipelining", "off"), 0), ((), 1)], ids=["one after the other", "pipelined"])
def test_connections_of_postal(bhm, postal, users_file, load, pipelined):
    hole = bhm("--ssl")
    sent = postal("-t", "2", "-c", "5", "-m", "1", "-M", "1", "-s", "100", "--messages", 50, *load, hole.endpoint, users_file(10))
    check_books(sent)
    done = hole.stop()
    use = done.record["connection_use"]
    assert use["messages_per_connection"] == pytest.approx(50 / done.total("connections"), abs=1e-4)
    assert (use["recipients_per_transaction"], use["tls_share"], use["pipelined_share"]) == (1, 1, pipelined)
    assert 1 <= use["most_open"] <= 4, "a slot is free a moment after its client has gone"
