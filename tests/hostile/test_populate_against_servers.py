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
            for _, text, _, _ in box:
                identity = re.search(rb"^X-Postal-Id: .*? n=(\d+);", text, re.M)
                found[user, name, int(identity[1])] += 1
    return found


def errors(run, reason):
    return sum(one["count"] for one in run.record["errors"] if one["reason"] == reason)


def assert_whole(server, run):
    assert len(kept(server)) == WANTED and set(kept(server).values()) == {1}
    assert run.total("confirmed") == run.total("wanted") == WANTED


# fault, keywords of the server: the mailboxes are whole all the same.
MENDED = [("", {}), ("", {"multi": False}), ("", {"plus": False}), ("", {"multi": False, "plus": False}), ("", {"delimiter": "."}),
          ("refuse_several", {}), ("try_create", {"times": 1}), ("close_within", {"times": 3}), ("bye_within", {"times": 3}),
          ("half_kept", {"times": 3}), ("kept_and_gone", {"times": 3}), ("half_kept", {"times": 3, "multi": False}),
          ("wrong_uids", {}), ("no_go_ahead", {"times": 1, "plus": False}), ("early_ok", {"times": 2, "plus": False}),
          ("close_in_fetch", {"times": 3}), ("no_keywords", {}),
          ("", {"delimiter": None}), ("", {"delimiter": ".", "prefix": "INBOX."})]


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
        if fault == "close_in_fetch":
            assert run.record["integrity"]["verified"] == WANTED and run.record["integrity"]["duplicate"] == 0
        if fault in ("half_kept", "kept_and_gone"):
            assert run.total("append_in_doubt") > 0 and run.total("present") > 0


# fault, keywords, what the summary says, what is confirmed.
WRONG = [("refuse", {}, "not confirmed yet", 0), ("bad", {}, "not confirmed yet", 0), ("over_quota", {"room": 50}, "not confirmed yet", 100),
         ("forgets", {"times": 1}, "missing", None), ("forgets", {}, "missing", 0), ("doubles", {"times": 1}, "more than once", WANTED),
         ("changes", {"times": 1}, "changed", None), ("anew", {"times": 1}, "missing", None),
         ("other_flags", {"times": 3}, "changed", None), ("other_dates", {"times": 3}, "3 changed", WANTED - 3)]


@pytest.mark.parametrize("fault, how, said, confirmed", WRONG)
def test_what_is_wrong_is_said(fill, fault, how, said, confirmed):
    with KeepingImap(fault=fault, **how) as server:
        run = fill(server, status=3)
        assert any(said in line and "mailboxes are known to hold" in line for line in run.stderr.splitlines()), run.stderr
        assert run.total("wanted") == WANTED
        if confirmed is not None:
            assert run.total("confirmed") == confirmed
        if fault in ("forgets", "anew"):
            assert run.total("missing") == WANTED - len(kept(server)) > 0
        # And mended where the server is well again.
        server.fault = ""
        again = fill(server, status=3 if fault in ("doubles", "changes", "other_flags", "other_dates") else 0)
        assert len(kept(server)) == WANTED
        assert again.total("missing") == 0


@pytest.mark.parametrize("multi, most", [(False, 3), (True, 4)])
def test_three_in_a_row_are_enough(fill, multi, most):
    """Of an account that takes nothing: with MULTIAPPEND a command of all, and three of one."""
    with KeepingImap(fault="refuse", multi=multi) as server:
        fill(server, status=3)
        assert len(server.appends) == most * USERS


@pytest.mark.parametrize("fault, said", [("withholds", "missing"), ("gives_another", "changed")])
@pytest.mark.parametrize("share", ["20%", "100%"])
def test_a_server_that_gives_nothing_back_is_found_out(fill, fault, said, share):
    """Of a share that is read back, too: what was chosen and does not come as it was listed is not confirmed."""
    with KeepingImap(fault=fault) as server:
        run = fill(server, status=3, recipe=f"{RECIPE},folders=1,verify={share}".replace("folders=2,", ""))
        wrong = run.total("missing") + run.total("changed")
        assert run.total("confirmed") + wrong == WANTED and said in run.stderr
        assert 0 < wrong < WANTED if share == "20%" else wrong >= WANTED - USERS


def test_corrupt_mail_of_others_is_theirs(fill):
    """Of another population, and not as it was made: counted, and no fault of these mailboxes."""
    with KeepingImap() as server:
        fill(server, recipe=RECIPE.replace("60", "5"))
        for boxes in server.boxes.values():
            boxes["INBOX"][:] = [(uid, text[:-3] + bytes([text[-3] ^ 1]) + text[-2:], *marks) for uid, text, *marks in boxes["INBOX"]]
        for recipe in (RECIPE, RECIPE + ",verify=50%"):
            run = fill(server, recipe=recipe)
            assert run.total("confirmed") == WANTED and run.total("changed") == 0
            assert run.total("others") == 5 * USERS
            assert "verify" in recipe or run.record["integrity"]["corrupt"] > 0


@pytest.mark.parametrize("fault", ["lists_short", "expunges"])
def test_nothing_is_appended_on_a_listing_that_comes_short(fill, fault):
    with KeepingImap() as server:
        fill(server)
        before = kept(server)
        server.fault = fault
        run = fill(server, status=3)
        assert kept(server) == before and run.total("appended") == 0
        assert errors(run, "incomplete") > 0
        # It is made again, and twice is not for good.
        server.times, server.committed = 2, 0
        assert_whole(server, fill(server))
        assert server.committed == 2


def test_a_folder_that_cannot_be_had_does_not_stop_the_others(fill):
    with KeepingImap(fault="no_select") as server:
        run = fill(server, status=3)
        there = sum(kept(server).values())
        assert 0 < there < WANTED and run.total("confirmed") == there
        assert f"{WANTED - there} not confirmed yet" in run.stderr


def test_a_server_that_talks_for_ever_is_not_listened_to(fill):
    with KeepingImap() as server:
        fill(server)
        server.fault, server.times = "floods", 2
        run = fill(server)
        assert_whole(server, run)
        assert errors(run, "flood") == 2


# Folders of a recipe, the server, and which mailbox would be two of them.
ALIKE = [('"INBOX", "Work", "INBOX/Work"', {"delimiter": ".", "prefix": "INBOX."}, "INBOX.Work"),
         ('"A/B", "A-B"', {"delimiter": ""}, "A-B")]


@pytest.mark.parametrize("folders, how, name", ALIKE)
def test_two_folders_in_one_mailbox_are_refused(fill, folder, folders, how, name):
    recipe = folder / "alike.toml"
    recipe.write_text(f"messages = 60\nfolders = [{folders}]\n")
    with KeepingImap(**how) as server:
        run = fill(server, status=3, recipe=recipe)
        assert not server.appends and errors(run, "names") == USERS
        assert f"would both be mailbox {name}" in run.stderr


def test_inbox_is_inbox_in_whatever_case(fill, folder):
    recipe = folder / "inbox.toml"
    recipe.write_text('messages = 60\nfolders = ["inbox", "Inbox/x"]\nsize = "fixed:2K"\n')
    with KeepingImap(prefix="Mail/") as server:
        fill(server, recipe=recipe)
        assert all(set(boxes) == {"INBOX", "INBOX/x"} for boxes in server.boxes.values())


def test_levels_are_the_servers_own(fill):
    """NAMESPACE without a delimiter does not say that there is none: LIST does."""
    for delimiter, name in ((None, "Projects/Lists"), ("", "Projects-Lists"), (".", "Projects.Lists")):
        with KeepingImap(delimiter=delimiter) as server:
            fill(server, recipe=RECIPE.replace("folders=2", "folders=4"))
            assert all(name in boxes for boxes in server.boxes.values())


def test_keywords_are_kept_or_missed(fill, folder):
    recipe = folder / "keywords.toml"
    recipe.write_text('messages = 60\nfolders = 1\nsize = "fixed:2K"\n[keywords]\n"$Forwarded" = "50%"\n')
    for fault in ("", "no_keywords"):
        with KeepingImap(fault=fault) as server:
            assert fill(server, recipe=recipe).total("confirmed") == WANTED


def test_messages_that_are_not_there_are_no_contradiction_to_fall_over(fill):
    with KeepingImap(fault="shrinks", times=2) as server:
        assert_whole(server, fill(server))


def test_an_identity_is_one_message_whoever_else_is_in_the_list(rabid, users_file):
    """By Zipf's law an account's messages depend on its place in the list: those of another place are others."""
    users = user_names(USERS)
    with KeepingImap() as server:
        runs = [rabid("--populate", RECIPE + ",spread=zipf:1", "--imap", server.endpoint, server.endpoint, users_file(login_names(names)))
                for names in (users, users[::-1])]
        for run in runs:
            assert run.total("appended") == run.total("confirmed") == run.total("wanted")
        assert runs[1].total("others") == runs[0].total("wanted")
        for boxes in server.boxes.values():
            texts = [text for box in boxes.values() for _, text, _, _ in box]
            assert len({re.search(rb"^Message-ID: (.*?)\r\n", text, re.M)[1] for text in texts}) == len(texts)


def test_a_histogram_is_what_stands_in_it(fill, folder):
    """The run goes on wherever the file lies, and is another one when a line of it is."""
    for place, lines in (("a", "2K 1\n"), ("b", "# the same\n2048 1\n"), ("c", "2K 1\n3K 0.000001\n")):
        (folder / place).write_text(lines)
    with KeepingImap() as server:
        appended = [fill(server, recipe=RECIPE.replace("fixed:2K", f"histogram:{folder / place}")).total("appended") for place in "abc"]
        assert appended == [WANTED, 0, WANTED]


def test_messages_that_could_not_be_read_back_are_refused_before(rabid, users_file):
    done = rabid("--populate", "messages=5,size=fixed:2M", "--max-message", "1M", "127.0.0.1:1", users_file(login_names(user_names(1))),
                 status=1)
    assert len(done.stderr.splitlines()) == 1 and "--max-message 1.0 MiB" in done.stderr


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
        assert "120 not confirmed yet" in run.stderr
        assert run.total("confirmed") == 0


@pytest.mark.parametrize("words", [("--watch", "1s"), ("--profile", "desktop"), ("-c", "5"), ("-d", "10"), ("--rounds", "2"), ("-r", "5"),
                                   ("--connections", "3"), ("--shared-accounts",), ("-i", "50"), ("--delete-foreign",),
                                   ("--account-weights", "zipf:1"), ("--apop", "auto"), ("--warmup", "1s")])
def test_options_that_mean_nothing_are_refused(rabid, users_file, words):
    done = rabid("--populate", "messages=5", *words, "127.0.0.1:1", users_file(login_names(user_names(1))), status=1)
    assert len(done.stderr.splitlines()) == 1 and "--populate" in done.stderr
