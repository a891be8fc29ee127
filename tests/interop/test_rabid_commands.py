# SPDX-License-Identifier: GPL-3.0-or-later
"""rabid's commands by kind and its profile's verbs, against what Dovecot itself has read and written (rawlog_dir)."""
import collections
import re

import pytest

from conftest import login_names
from support.hostile_imap import HostileImap
from support.mail import made_message
from support.process import wait_until

SIZES = {"0"} | {str(10 ** power) for power in range(7)}
COMMAND = re.compile(rb"^(?:\d+\.\d+ )?(a(\d+)) (?:UID )?([A-Z]{3,})\b", re.M)
ANSWER = re.compile(rb"^(?:\d+\.\d+ )?(a\d+) (OK|NO|BAD)\b", re.M)
ENDS = ("ok", "no", "bad", "unanswered")
ACTION_ENDS = ("ok", "refused", "failed", "nothing")
# In the login process, which writes no raw log.
BEFORE_LOGIN = {"CAPABILITY", "LOGIN", "AUTHENTICATE"}


def check_sums(record):
    commands, profile = record["commands"], record["profile"]
    kinds = commands["by_kind"].values()
    for one in (commands, *kinds):
        assert one["sent"] == sum(one[end] for end in ENDS)
    for end in ("sent", *ENDS):
        assert commands[end] == sum(kind[end] for kind in kinds)
    assert commands["ok"] == record["totals"]["imap_commands"]
    verbs = profile["verbs"].values()
    for one in (profile, *verbs):
        assert one["begun"] == sum(one[end] for end in ACTION_ENDS)
    for end in ("begun", *ACTION_ENDS):
        assert profile[end] == sum(verb[end] for verb in verbs)
    for verb in verbs:
        assert verb["latency_us"]["count"] == verb["ok"]
        assert sum(one["count"] for one in verb["by_size_us"].values()) == verb["ok"]
        assert set(verb["by_size_us"]) <= SIZES


def heard_by(raw):
    """By kind: how many commands came in, and how many of each answer went out. Tags only go up: a line of an appended
    message that happens to look like a command seldom has one."""
    counts = collections.defaultdict(collections.Counter)
    for said in raw.glob("*.in"):
        answers = dict(ANSWER.findall(said.with_suffix(".out").read_bytes()))
        last = 0
        for tag, number, verb in COMMAND.findall(said.read_bytes()):
            if int(number) <= last or tag not in answers:
                continue
            last = int(number)
            counts[verb.decode()].update(["sent", answers[tag].decode().lower()])
    return {kind: {end: count[end] for end in ("sent", "ok", "no", "bad")} for kind, count in counts.items()}


@pytest.fixture
def overheard(dovecot, folder, users_file):
    """A Dovecot that keeps what is said to it, and its raw logs."""
    raw = folder / "raw"
    raw.mkdir()
    raw.chmod(0o777)
    server = dovecot(1, reading=True, extra=f"protocol imap {{\n  rawlog_dir = {raw}\n}}\n")
    for number in range(4):
        server.put(server.users[0], made_message(number, server.users[0]))
    server.logins = users_file(login_names(server.users))
    for old in raw.iterdir():
        old.unlink()
    return server, raw


def test_commands_are_those_that_dovecot_heard(overheard, rabid, folder):
    server, raw = overheard
    own = folder / "own.toml"
    own.write_text('first = ["flags", "headers", "read-one", "copy", "status"]\nactions = "6"\nlast = ["noop"]\n'
                   "[weights]\nappend = 2\nmark = 2\nread-one = 1\nsearch = 1\ncreate = 0\n")
    run = rabid("-p", "1", "--connections", "5", "--profile", own, "-d", "100:0", "-i", "100", "--imap", server.imap,
                server.pop3, server.logins)
    check_sums(run.record)
    by_kind = run.record["commands"]["by_kind"]
    wait_until(lambda: heard_by(raw).get("LOGOUT", {}).get("ok") == 5, "five sessions in Dovecot's raw logs")
    heard = heard_by(raw)
    counted = {kind: {end: one[end] for end in ("sent", "ok", "no", "bad")} for kind, one in by_kind.items()}
    assert {kind: one for kind, one in counted.items() if kind not in BEFORE_LOGIN} == heard
    assert {"FETCH", "SELECT", "APPEND", "STORE", "SEARCH", "COPY", "CREATE", "STATUS", "NOOP", "LOGOUT"} <= set(heard)
    assert heard["CREATE"]["no"] == 4, "the mailbox is there already"
    assert counted["LOGIN"] == {"sent": 5, "ok": 5, "no": 0, "bad": 0}
    profile = run.record["profile"]
    verbs = profile["verbs"]
    assert profile["name"] == str(own) and profile["least_actions"] == profile["most_actions"] == 6
    assert profile["begun"] == 5 * 12 and "create" not in verbs
    assert {name: verbs[name]["begun"] for name in ("flags", "headers", "copy", "status", "noop")} == dict.fromkeys(
        ("flags", "headers", "copy", "status", "noop"), 5)
    assert (verbs["append"]["weight"], verbs["flags"]["first"], verbs["noop"]["last"]) == (2, 1, 1)
    assert verbs["append"]["ok"] == heard["APPEND"]["ok"] == run.total("appended") > 0
    assert 2 * verbs["mark"]["ok"] == heard["STORE"]["ok"] > 0


def test_what_large_mailboxes_are_asked_for(overheard, rabid, folder):
    server, raw = overheard
    own = folder / "own.toml"
    verbs = ["page", "structures", "search-text", "search-header", "search-date", "sort", "thread"]
    own.write_text(f"first = {verbs}\n".replace("'", '"'))
    run = rabid("-p", "1", "--connections", "2", "--profile", own, "-i", "100", "--imap", server.imap, server.pop3, server.logins)
    check_sums(run.record)
    assert {name: one["ok"] for name, one in run.record["profile"]["verbs"].items()} == dict.fromkeys(verbs, 2)
    assert run.total("errors") == 0
    wait_until(lambda: heard_by(raw).get("LOGOUT", {}).get("ok") == 2, "two sessions in Dovecot's raw logs")
    heard = heard_by(raw)
    by_kind = run.record["commands"]["by_kind"]
    assert heard["SORT"] == heard["THREAD"] == {"sent": 2, "ok": 2, "no": 0, "bad": 0}
    assert by_kind["SORT"] == by_kind["THREAD"] == {**heard["SORT"], "unanswered": 0} and heard["SEARCH"]["ok"] == 6
    said = b"".join(path.read_bytes() for path in raw.glob("*.in"))
    for wanted in (rb"UID SORT \(REVERSE DATE\) UTF-8 ALL", rb"UID THREAD REFERENCES UTF-8 ALL", rb"UID SEARCH TEXT [a-z]{6}\r",
                   rb"UID SEARCH SUBJECT [a-z]{6}\r", rb"UID SEARCH SINCE \d{1,2}-[A-Z][a-z]{2}-20\d\d\r",
                   rb"FETCH 1:4 \(UID FLAGS INTERNALDATE ENVELOPE\)", rb"FETCH 1:\* \(UID BODYSTRUCTURE\)"):
        assert len(re.findall(wanted, said)) == 2, wanted


def test_a_server_without_sort_is_not_asked(rabid, folder, users_file):
    own = folder / "own.toml"
    own.write_text('first = ["sort", "thread", "noop"]\n')
    with HostileImap() as server:
        run = rabid("-p", "1", "--connections", "1", "--profile", own, "-i", "100", "--imap", server.endpoint, server.endpoint,
                    users_file(["user0@example.com secret"]))
    check_sums(run.record)
    verbs = run.record["profile"]["verbs"]
    assert verbs["sort"]["nothing"] == verbs["thread"]["nothing"] == verbs["noop"]["ok"] == 1


def test_plain_reading_is_a_profile_too(overheard, rabid):
    server, raw = overheard
    run = rabid("-p", "1", "--connections", "1", "-i", "100", "--imap", server.imap, server.pop3, server.logins)
    check_sums(run.record)
    assert run.record["profile"]["name"] == "original"
    assert {name: verb["ok"] for name, verb in run.record["profile"]["verbs"].items()} == {"read": 1}
    over_pop3 = rabid("-p", "1", "--connections", "1", server.pop3, server.logins)
    assert "commands" not in over_pop3.record and "profile" not in over_pop3.record


def test_what_nobody_answers_is_counted_once(rabid, folder, users_file):
    own = folder / "own.toml"
    own.write_text('first = ["status", "noop"]\n')
    with HostileImap("status", "close") as server:
        run = rabid("-p", "1", "--connections", "3", "--profile", own, "-i", "100", "--imap", server.endpoint, server.endpoint,
                    users_file(["user0@example.com secret"]))
    check_sums(run.record)
    assert run.record["commands"]["by_kind"]["STATUS"] == {"sent": 3, "ok": 0, "no": 0, "bad": 0, "unanswered": 3}
    verbs = run.record["profile"]["verbs"]
    assert verbs["status"]["failed"] == verbs["status"]["begun"] == 3 and verbs["noop"]["begun"] == 0
