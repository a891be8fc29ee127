# SPDX-License-Identifier: GPL-3.0-or-later
"""Who was told of new mail, as postal-report knows it from a ledger: sessions in IDLE, sessions that ask with NOOP and
visits over POP3, of one Dovecot, and of one behind a proxy that keeps announcements to itself."""
import re
import signal
import time

import pytest

from conftest import login_names
from support.ledger import key_of
from support.postal import run
from support.process import wait_until
from support.swallowing import SwallowingProxy
from support.watched import Sending

# A server that has not told a session in IDLE for so long has not told it; INTERNALDATE is true to a second.
TOLD_WITHIN, TRUE_TO = 5, 1


@pytest.fixture
def watched(dovecot, folder, users_file):
    """A Dovecot with three users, and no mail."""
    server = dovecot(3, reading=True)
    server.book, server.logins = folder / "book", users_file(login_names(server.users))
    return server


def watching(programs, folder, server, name, *words, endpoint=None, logins=None, count=3):
    """rabid --watch that deletes nothing, with a session for each account, all at one store."""
    return Sending(programs.rabid, folder, "-p", count, "--watch", "300ms", "-d", "100:0", "--ledger", server.book,
                   "--store", "store", *words, "--imap", endpoint or server.imap, server.pop3, logins or server.logins, name=name)


def logged_in(server, way):
    return len(re.findall(rf"{way}-login: .*Login: ", server.log))


def pass_by(seconds):
    """Waits for the clock that ledgers are judged by."""
    until = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() > until, "time to pass", seconds + 30)


def deliver_apart(postal, server, files):
    """A message for each address of each file, three times. Whom Dovecot 2.3 tells by NOTIFY it does not tell of what
    comes from half a second to one and a half after that, so that each session has its peace between two of its own."""
    for _ in range(3):
        for users in files:
            for user in users:
                postal("-L", "-t", "1", "-c", "-1", "-M", "1", "-m", "1", "--messages", "1", "--ledger", server.book,
                       "--to", user, server.endpoint)
            pass_by(3)


def end(*all_of_them):
    for one in all_of_them:
        one.signal(signal.SIGTERM)
    for one in all_of_them:
        done = one.wait()
        assert done.status == 0 and done.record["errors"] == [], done.stderr


def rows_of(text, title):
    """The lines of a table of the text, by their first words."""
    lines = text[text.index(title):].split("\n\n")[0].splitlines()[1:]
    return {re.split(r"  +", line.strip())[0]: re.split(r"  +", line.strip())[1:] for line in lines if line.strip()}


def test_ways_to_be_told(watched, programs, folder, postal, report):
    """Four ways at once: each message was announced in each, and nobody has missed anything."""
    idle = watching(programs, folder, watched, "idle", "-i", "100")
    noop = watching(programs, folder, watched, "noop", "-i", "100", "--watch-by", "noop")
    notify = watching(programs, folder, watched, "notify", "-i", "100", "--watch-by", "notify")
    pop3 = watching(programs, folder, watched, "pop3")
    with idle, noop, notify, pop3:
        wait_until(lambda: logged_in(watched, "imap") >= 9 and logged_in(watched, "pop3") >= 6, "all to watch")
        pass_by(2)
        deliver_apart(postal, watched, [watched.users])
        pass_by(TOLD_WITHIN + 1)
        end(idle, noop, notify, pop3)
    found, status = report(watched.book)
    assert status == 0 and found["found"] == found["announced_messages"] == 9
    assert found["announced_never"] == found["missed_notification"] == 0 and found["announced_max_us"] < 30_000_000
    done = run([programs.postal_report, "--ledger", watched.book])
    rows = rows_of(done.stdout, "From the reply that accepted a message")
    assert {name: row[:2] for name, row in rows.items() if name.startswith(("all", "sessions", "visits"))} == dict.fromkeys(
        ("all", "sessions that use IDLE", "sessions that ask with NOOP", "sessions that use NOTIFY", "visits over POP3"), ["9", "0"]), done.stdout


def test_swallowed_announcements(watched, programs, folder, postal, rabid, users_file, report):
    """Of two accounts a proxy swallows all that is announced in IDLE: these are missed notifications, 100 of 100, and no other."""
    unlucky, lucky = watched.users[:2], watched.users[2:]
    with SwallowingProxy(watched.imap) as proxy:
        behind = watching(programs, folder, watched, "behind", "-i", "100", endpoint=proxy.endpoint, count=2,
                          logins=users_file(login_names(unlucky)))
        before = watching(programs, folder, watched, "before", "-i", "100", count=1, logins=users_file(login_names(lucky)))
        with behind, before:
            wait_until(lambda: proxy.idling >= 2 and logged_in(watched, "imap") >= 3, "all to watch")
            pass_by(2)
            for users in (unlucky, lucky):
                postal("-L", "-t", "2", "-c", "-1", "-M", "1", "-m", "1", "--messages", "100", "--ledger", watched.book,
                       watched.endpoint, users_file(users))
            pass_by(TOLD_WITHIN + TRUE_TO + 2)
            end(behind, before)
        assert proxy.swallowed > 0
    found, _ = report(watched.book)
    assert found["announced_messages"] == 200 and found["announced_never"] == 100 and found["missed_notification"] == 0
    # Nobody can say that they were there before somebody has found them.
    rabid("-p", "3", "--connections", "3", "-i", "100", "-d", "100:0", "--ledger", watched.book, "--store", "store",
          "--imap", watched.imap, watched.pop3, watched.logins)
    found, status = report(watched.book)
    assert status == 0 and found["found"] == 200 and found["missed_notification"] == found["announced_never"] == 100
    assert "announced_p50_us" in found and "announced_p90_us" not in found and "announced_p99_us" not in found
    listed = report(watched.book, "missed-notification")
    assert len({key_of(row) for row in listed}) == len(listed) == 100
    assert {row["recipient"] for row in listed} <= set(unlucky)
    assert all(re.fullmatch(r"session [01] of [0-9a-f]{16} was in IDLE at store from \S+ on", row["detail"]) for row in listed)
    done = run([programs.postal_report, "--ledger", watched.book])
    row = rows_of(done.stdout, "From the reply that accepted a message")["all"]
    assert row[:2] == ["200", "100"] and row[3:6] == ["never"] * 3
    assert "100 missed notifications" in done.stdout


def test_what_notify_forgets_is_not_lost(watched, programs, folder, postal, report):
    """Dovecot 2.3 tells by NOTIFY of one message, and forgets the next, a second later: it lies there."""
    with watching(programs, folder, watched, "notify", "-i", "100", "--watch-by", "notify") as notify:
        wait_until(lambda: logged_in(watched, "imap") >= 3, "all to watch")
        pass_by(2)
        for user in watched.users:
            postal("-L", "-t", "1", "-c", "-1", "-M", "1", "-m", "1", "--messages", "2", "-r", "1/s", "--ledger", watched.book, "--to", user,
                   watched.endpoint)
        pass_by(1)
        end(notify)
    found, status = report(watched.book)
    assert status == 0 and found["found"] == 6 and found["lost"] == 0, found


DETAIL = """
lmtp_save_to_detail_mailbox = yes
protocol lmtp {
  recipient_delimiter = +
}
"""


def test_folders(dovecot, programs, folder, postal, users_file, report):
    """Mail for user+lists goes into the folder: one session by NOTIFY is told of both. Who is told of nothing has missed
    each of them."""
    server = dovecot(2, reading=True, extra=DETAIL)
    server.book, server.logins = folder / "book", users_file(login_names(server.users))
    folders = ("-i", "100", "--watch-by", "notify", "--watch-folders", "lists,Archive")
    of_first = [server.users[0], server.users[0].replace("@", "+lists@")]
    of_second = [user.replace("user0", "user1") for user in of_first]
    with SwallowingProxy(server.imap) as proxy:
        beside = watching(programs, folder, server, "beside", *folders, count=2)
        behind = watching(programs, folder, server, "behind", *folders, endpoint=proxy.endpoint, count=1,
                          logins=users_file(login_names(server.users[:1])))
        with beside, behind:
            wait_until(lambda: proxy.idling >= 1 and logged_in(server, "imap") >= 3, "all to watch")
            pass_by(2)
            deliver_apart(postal, server, [*zip(of_first, of_second)])
            pass_by(TOLD_WITHIN + TRUE_TO)
            end(beside, behind)
        assert proxy.swallowed > 0
    found, status = report(server.book)
    assert status == 0 and found["found"] == found["announced_messages"] == 12 and found["announced_never"] == 0
    assert found["duplicated"] == found["misdelivered"] == 0 and found["missed_notification"] == 6
    listed = report(server.book, "missed-notification")
    assert len({key_of(row) for row in listed}) == 6 and {row["recipient"] for row in listed} == set(of_first)
    assert all(re.fullmatch(r"session 0 of [0-9a-f]{16} was to be told by NOTIFY at store from \S+ on", row["detail"]) for row in listed)
