# SPDX-License-Identifier: GPL-3.0-or-later
"""rabid --populate against IMAP servers that refuse, break off, lie and lose: mailboxes are right in the end, or the run says
what is wrong with them, with status 3."""
import collections
import re
import sqlite3

import pytest

from conftest import login_names, user_names
from support.keeping_imap import KeepingImap

RECIPE = "messages=60,folders=2,size=fixed:2K,body=ascii"
USERS = 2
WANTED = 60 * USERS


@pytest.fixture
def fill(rabid, users_file):
    logins = users_file(login_names(user_names(USERS)))

    def run(server, *words, status=0, recipe=RECIPE):
        return rabid("--populate", recipe, "--workers", "1", "--timeout", "5s", *words, "--imap", server.endpoint, server.endpoint,
                     logins, status=status)
    return run


def kept(server):
    """How often each message is there: {(user, folder, number): times}."""
    found = collections.Counter()
    for user, boxes in server.boxes.items():
        for name, box in boxes.items():
            for _, text in box:
                identity = re.search(rb"^X-Postal-Id: .*? n=(\d+);", text, re.M)
                found[user, name, int(identity[1])] += 1
    return found


def assert_whole(server, run):
    assert len(kept(server)) == WANTED and set(kept(server).values()) == {1}
    assert run.total("confirmed") == run.total("wanted") == WANTED


# fault, keywords of the server: the mailboxes are whole all the same.
MENDED = [("", {}), ("", {"multi": False}), ("", {"plus": False}), ("", {"multi": False, "plus": False}), ("", {"delimiter": "."}),
          ("refuse_several", {}), ("try_create", {"times": 1}), ("close_within", {"times": 3}), ("bye_within", {"times": 3}),
          ("half_kept", {"times": 3}), ("kept_and_gone", {"times": 3}), ("half_kept", {"times": 3, "multi": False}),
          ("wrong_uids", {}), ("no_go_ahead", {"times": 1, "plus": False})]


@pytest.mark.parametrize("fault, how", MENDED)
def test_mailboxes_are_whole(fill, fault, how):
    with KeepingImap(fault=fault, **how) as server:
        run = fill(server)
        assert_whole(server, run)
        assert server.committed == how.get("times", server.committed)
        assert run.total("appended") + run.total("present") == WANTED
        assert run.total("missing") == run.total("append_lost") == 0
        if how.get("multi", True) and fault == "":
            assert max(messages for messages, _ in server.appends) > 20
        if fault in ("half_kept", "kept_and_gone"):
            assert run.total("append_in_doubt") > 0 and run.total("present") > 0


# fault, keywords, what the summary says, what is confirmed.
WRONG = [("refuse", {}, "not come to", 0), ("bad", {}, "not come to", 0), ("over_quota", {"room": 50}, "not come to", 100),
         ("forgets", {"times": 1}, "missing", None), ("forgets", {}, "missing", 0), ("doubles", {"times": 1}, "more than once", WANTED),
         ("changes", {"times": 1}, "changed", None), ("anew", {"times": 1}, "missing", None)]


@pytest.mark.parametrize("fault, how, said, confirmed", WRONG)
def test_what_is_wrong_is_said(fill, fault, how, said, confirmed):
    with KeepingImap(fault=fault, **how) as server:
        run = fill(server, status=3)
        assert any(said in line and "mailboxes hold" in line for line in run.stderr.splitlines()), run.stderr
        assert run.total("wanted") == WANTED
        if confirmed is not None:
            assert run.total("confirmed") == confirmed
        if fault in ("forgets", "anew"):
            assert run.total("missing") == WANTED - len(kept(server)) > 0
        # And mended where the server is well again.
        server.fault = ""
        again = fill(server, status=3 if fault in ("doubles", "changes") else 0)
        assert len(kept(server)) == WANTED
        assert again.total("missing") == 0


def test_messages_that_are_not_there_are_no_contradiction_to_fall_over(fill):
    with KeepingImap(fault="shrinks", times=2) as server:
        assert_whole(server, fill(server))


def test_a_message_counts_once_whatever_breaks(fill, folder):
    """Broken off within commands, and in the reading at the end, again and again: the sums hold."""
    with KeepingImap(fault="half_kept", times=5) as server:
        book = folder / "book.db"
        run = fill(server, "--ledger", book, "-p", "2", recipe=RECIPE.replace("60", "300"))
        assert run.total("wanted") == run.total("confirmed") == 300 * USERS
        assert run.total("appended") + run.total("present") == 300 * USERS
        assert run.record["integrity"]["verified"] == 300 * USERS
        with sqlite3.connect(book) as rows:
            accepted = rows.execute("SELECT count(DISTINCT session || ' ' || sequence) FROM sent WHERE outcome = 0").fetchone()[0]
        assert accepted == 300 * USERS


def test_a_server_that_never_answers_is_given_up(fill):
    with KeepingImap(fault="close_within") as server:
        run = fill(server, "--give-up", "2s", status=3)
        assert "120 not come to" in run.stderr
        assert run.total("confirmed") == 0


@pytest.mark.parametrize("words", [("--watch", "1s"), ("--profile", "desktop"), ("-c", "5"), ("-d", "10"), ("--rounds", "2"), ("-r", "5"),
                                   ("--connections", "3"), ("--shared-accounts",), ("-i", "50"), ("--delete-foreign",),
                                   ("--account-weights", "zipf:1"), ("--apop", "auto"), ("--warmup", "1s")])
def test_options_that_mean_nothing_are_refused(rabid, users_file, words):
    done = rabid("--populate", "messages=5", *words, "127.0.0.1:1", users_file(login_names(user_names(1))), status=1)
    assert len(done.stderr.splitlines()) == 1 and "--populate" in done.stderr
