# SPDX-License-Identifier: GPL-3.0-or-later
"""Mail that comes back is not lost: what a real relay bounces, and who hears of it. postal -> Postfix -> bhm, which refuses one
domain for good, defers another until the relay gives up, and gets the bounces; or a Dovecot does, and rabid reads them there."""
import contextlib
import csv
import io
import sqlite3

from conftest import login_names
from support.behaviours import rule
from support.postal import check_books, check_reading, run
from support.process import free_port

COUNT = 60
SENDERS = "senders.example"
FINE, GONE, LATE = "fine.example", "gone.example", "late.example"
RULES = rule("rcpt", 'reply = "550 5.7.1 Nobody lives here"', f'domain = "{GONE}"', "gone") + \
    rule("rcpt", 'reply = "450 4.2.1 Come again"', f'domain = "{LATE}"', "late")
# The relay gives up within seconds.
HASTE = {"minimal_backoff_time": "1s", "maximal_backoff_time": "1s", "queue_run_delay": "1s", "transport_retry_time": "1s",
         "maximal_queue_lifetime": "2s", "bounce_queue_lifetime": "60s", "smtp_quit_timeout": "1s",
         "default_destination_concurrency_failed_cohort_limit": "100"}


def relay_before(postfix, hole, returns, senders=SENDERS):
    """A Postfix that takes all of this to the black hole, and what it returns to `returns`."""
    there = f"smtp:[127.0.0.1]:{hole}"
    routes = {FINE: there, GONE: there, LATE: there, senders: returns}
    table = " ".join(f"{{{domain} = {route}}}" for domain, route in routes.items())
    return postfix("error:nobody is there", transport_maps=f"inline:{{ {table} }}", **HASTE)


def send(postal, users_file, relay, book, senders):
    users = users_file([f"user{number}@{domain}" for number in range(5) for domain in (FINE, GONE, LATE)])
    sent = postal("-t", "2", "-c", "-1", "-m", "2", "-M", "1", "--messages", COUNT, "-f", users_file(senders), "--ledger", book,
                  relay.endpoint, users)
    check_books(sent)
    assert sent.total("messages") == COUNT


def shares(book):
    """How many messages went to each of the domains."""
    with contextlib.closing(sqlite3.connect(book)) as ledger:
        return dict(ledger.execute("SELECT substr(recipient, instr(recipient, '@') + 1), count(*) FROM sent_messages GROUP BY 1"))


def check_report(report, book, given):
    found, status = report(book)
    assert status == 0, "who accepted it has said what became of it"
    assert found["acknowledged"] == COUNT and found["found"] == given[FINE] and found["lost"] == 0, found
    assert found["bounced"] == given[GONE] + given[LATE], found
    rows = report(book, "bounced")
    assert {(row["recipient"].partition("@")[2], row["condition"]) for row in rows} == {(GONE, "failed"), (LATE, "failed")}
    for row in rows:
        status, words = ("5.7.1", "550 5.7.1 Nobody lives here") if row["recipient"].endswith(GONE) else ("4.", "450 4.2.1 Come again")
        assert row["detail"].startswith(status) and words in row["detail"], row
        assert row["mailbox"] == row["sender"]


def test_what_a_relay_returns_is_refused_or_given_up_and_leaves_the_backlog(behaving, postfix, postal, users_file, folder, report,
                                                                             programs):
    book, port = folder / "book", free_port()
    hole = behaving(RULES, "--ledger", book, "--grace", "1s", listen=[f"127.0.0.1:{port}"])
    relay = relay_before(postfix, port, f"smtp:[127.0.0.1]:{port}")
    send(postal, users_file, relay, book, [f"sender{number}@{SENDERS}" for number in range(3)])
    relay.flush(120)
    hole.stop()
    given = shares(book)
    assert min(given.values()) > 5
    check_report(report, book, given)

    said = run([programs.postal_report, "--relay", "--ledger", book]).stdout
    assert f"{given[GONE]} refused and {given[LATE]} given up came back; the last one left it " in said, said
    parts = {row["part"]: row for row in csv.DictReader(io.StringIO(
        run([programs.postal_report, "--relay", "--ledger", book, "--csv"]).stdout))}
    whole = parts["all mail"]
    assert [int(whole[name]) for name in ("accepted", "delivered", "refused", "given_up", "still_owed", "not_known")] == \
        [COUNT, given[FINE], given[GONE], given[LATE], 0, 0]
    for domain, kind in ((GONE, "refused"), (LATE, "given_up")):
        assert int(parts[domain][kind]) == int(parts[domain]["accepted"]) == given[domain]
    assert all(float(one["backlog_left"]) == 0 and float(one["drain_s"]) >= 0 for one in parts.values())
    assert float(parts[LATE]["drain_s"]) > 1, "the relay waited before it gave up"


def test_bounces_that_a_reader_finds_in_the_senders_mailboxes(behaving, dovecot, postfix, postal, rabid, users_file, folder, report):
    book, port = folder / "book", free_port()
    hole = behaving(RULES, "--ledger", book, "--grace", "1s", listen=[f"127.0.0.1:{port}"])
    store = dovecot(3, reading=True)
    domain, = {user.partition("@")[2] for user in store.users}
    relay = relay_before(postfix, port, f"lmtp:inet:{store.endpoint}", domain)
    send(postal, users_file, relay, book, store.users)
    relay.flush(120)
    hole.stop()
    given = shares(book)
    found, status = report(book)
    assert status == 3 and found["lost"] == given[GONE] + given[LATE] and found["bounced"] == 0, "nobody has read the bounces yet"
    check_reading(rabid("-p", "3", "--connections", "3", "-d", "100:0", "--ledger", book, store.pop3,
                        users_file(login_names(store.users))))
    check_report(report, book, given)
