# SPDX-License-Identifier: GPL-3.0-or-later
"""A search that several programs perform: postal searches the rate, and rabid reads beside it, each with its promise.

What is found is held against a server that is known; the books of all programs and servers add up; and whoever is not
there, goes, or says what cannot be ends the search with one line.
"""
import contextlib
import json
import os
import re
import signal
import socket
import stat
import subprocess

import pytest

from conftest import login_names
from support.paced_pop3 import PacedPop3
from support.postal import read_record, refused, run
from support.process import dead_socket, wait_until

pytestmark = [pytest.mark.serial, pytest.mark.beside_others]
SEARCH = ("--find-rate", "--own-limit", "0s", "--goal-set", "quick", "-c", "-1", "-m", "1", "-t", "10", "--give-up", "20s")
SHARE = 0.2


class Together:
    """postal, which searches, and rabid beside it; both end with the block."""

    def __init__(self, programs, folder, users, hole):
        self.programs, self.folder, self.users, self.hole = programs, folder, users, hole
        self.socket = folder / "search"
        self.stack = contextlib.ExitStack()
        self.started = {}

    def start(self, name, *words):
        log = open(self.folder / f"{name}.err", "wb")
        self.stack.callback(log.close)
        words = [str(word) for word in (*words, "--record", self.folder / f"{name}.json")]
        nowhere = subprocess.DEVNULL
        process = subprocess.Popen(words, stdin=nowhere, stdout=nowhere, stderr=log)
        self.stack.callback(self.end, process)
        self.started[name] = process
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.wait()

    def postal(self, *words):
        return self.start("postal", self.programs.postal, *SEARCH, "--search-socket", self.socket, *words, self.hole,
                          self.users)

    def rabid(self, server, *words, accounts=20):
        users = self.folder / "accounts"
        users.write_text("\n".join(login_names([f"user{number}@example.com" for number in range(accounts)])) + "\n")
        return self.start("rabid", self.programs.rabid, "--join-search", self.socket, "--search-share", f"{SHARE:.0%}",
                          "--goal-set", "quick", "-p", "10", *words, server, users)

    def said(self, name):
        return (self.folder / f"{name}.err").read_text()

    def ended(self, name, timeout=60):
        """Its status, and its record."""
        status = self.started[name].wait(timeout)
        record = self.folder / f"{name}.json"
        return status, read_record(record) if record.exists() else None


@pytest.fixture
def together(programs, folder, users_file, bhm):
    hole = bhm()
    made = Together(programs, folder, users_file(5), hole.endpoint)
    made.server = hole
    with made.stack:
        yield made


def asked_of_both(search):
    """Messages and visits that the trials asked for, settling too."""
    messages = sum(round(one[part] * one["load"]) for one in search["trials"] for part in ("settle_s", "asked_s"))
    return messages, messages * SHARE


def drawn_search(programs, record):
    """What the charts of a record's page are drawn from."""
    page = record.with_suffix(".html")
    assert run([programs.postal_report, "--html", page, record], timeout=60).status == 0
    return json.loads(re.search(r'<script type="application/json" id="chart-data">(.*?)</script>', page.read_text(), re.DOTALL).group(1))["search"]


def test_the_readers_are_the_limit(together):
    """A server that lets 12 readers in a second, and one that takes any mail: 60 messages a second."""
    with PacedPop3(rate=12) as paced:
        together.postal("--rate", "40/s", "--duration", "8s")
        together.rabid(paced.endpoint, "--goal", "p50(session)<200ms;sum=16s,width=8%")
        (_, sent), (read_status, read) = together.ended("postal"), together.ended("rabid")
        let_in = paced.let_in
    search = sent["capacity"]
    assert [(one["program"], one["unit"], one["share"]) for one in search["beside"]] == [("rabid", "visits", SHARE)]
    goals = [(goal["promise"], goal.get("flow", 0)) for goal in search["search_goals"]]
    assert goals == [("p99(message)<1s", 0), ("p50(session)<200ms", 1)]
    # A partner's goal has its own attributes, and the others are those of its set.
    assert [(goal["duration_sum_s"], goal["width"], goal["final_trial_s"]) for goal in search["search_goals"]] == [(15, 0.05, 5), (16, 0.08, 5)]
    # The books: what was due is what was asked for, and what came is what each server says.
    messages, visits = asked_of_both(search)
    due = {name: record["totals"]["due"] for name, record in (("postal", sent), ("rabid", read))}
    assert due["postal"] == messages == sent["totals"]["messages"]
    assert due["postal"] == together.server.stop().record["totals"]["messages"]
    assert abs(due["rabid"] - visits) <= 1 and read["totals"]["connections"] == let_in == due["rabid"] - read["totals"]["not_started"]
    for trial in search["trials"]:
        assert trial["beside"][0]["intended"] == pytest.approx(trial["intended"] * SHARE, abs=1.01)
        for goal, flow in zip(trial["goals"], (trial, trial["beside"][0])):
            assert sum(goal[key] for key in ("on_time", "late", "errors", "not_started", "not_finished")) == flow["intended"]
    assert read_status == 0 and "capacity" not in read and read["ended"] == "complete"
    # Where others had the machine, a trial says nothing; what counts is known.
    for trial in search["trials"]:
        if trial["goals"] and trial["load"] >= 100:
            assert trial["goals"][1]["measured"] == "high_loss" and trial["goals"][0]["on_time"] > 0
    # Short trials at a little too much are over before anybody waits for long.
    result = search["result"]["goals"][1]
    assert result["relevant_upper_bound"] is None or result["relevant_upper_bound"] > 45
    assert result["relevant_lower_bound"] is None or result["relevant_lower_bound"] < 100
    assert " beside " in search["sentence"] or not any(trial["goals"] for trial in search["trials"])
    assert " visits/s for " in together.said("postal")
    assert not together.socket.exists()
    # Both are in the page's charts: of each trial that counts the p99 and the backlog of the readers.
    drawn = drawn_search(together.programs, together.folder / "postal.json")
    assert drawn["beside"] == ["rabid"]
    counted = [trial["beside"][0] for trial in search["trials"] if trial["goals"]]
    place, of_beside = ({name: at for at, name in enumerate(drawn[key])} for key in ("columns", "beside_columns"))
    for point, one in zip(drawn["trials"], counted, strict=True):
        (flow,) = point[place["beside"]]
        # Charts have six digits.
        assert flow[of_beside["backlog"]] == one["backlog_end"]
        assert one["p99_us"] is None and flow[of_beside["p99"]] is None or flow[of_beside["p99"]] == pytest.approx(one["p99_us"], rel=1e-5)


def test_the_readers_are_lost_in_the_middle(together):
    """Killed: the search says so, and what was sent is counted; nobody is left."""
    with PacedPop3(rate=1000) as fast:
        together.postal("--rate", "20/s", "--most-rate", "40/s")
        reader = together.rabid(fast.endpoint)
        wait_until(lambda: fast.let_in > 1, "readers")
        reader.send_signal(signal.SIGKILL)
        status, sent = together.ended("postal")
    assert status == 2
    assert "postal: rabid is lost: it closed its connection; the search ends\n" in together.said("postal")
    assert sent["capacity"]["result"]["end"] == "partner_lost" and sent["ended"] == "failure"
    assert "a program beside it was lost" in sent["capacity"]["sentence"]
    assert sent["totals"]["due"] == sent["totals"]["messages"] == together.server.stop().record["totals"]["messages"]


def test_the_one_that_searches_is_lost(together):
    with PacedPop3(rate=1000) as fast:
        sender = together.postal("--rate", "20/s", "--most-rate", "40/s")
        together.rabid(fast.endpoint)
        wait_until(lambda: fast.let_in > 1, "readers")
        sender.send_signal(signal.SIGKILL)
        status, read = together.ended("rabid")
    assert status == 2 and read["ended"] == "failure"
    lost = "rabid: the program that searches is lost: it closed its connection; the run ends\n"
    assert lost in together.said("rabid")
    assert read["totals"]["connections"] == fast.let_in == read["totals"]["due"] - read["totals"]["not_started"]


def test_an_interrupt_ends_both(together):
    with PacedPop3(rate=1000) as fast:
        sender = together.postal("--rate", "20/s", "--most-rate", "40/s")
        together.rabid(fast.endpoint)
        wait_until(lambda: fast.let_in > 1, "readers")
        sender.send_signal(signal.SIGINT)
        (status, sent), (read_status, read) = together.ended("postal"), together.ended("rabid")
    assert status == 3 and sent["capacity"]["result"]["end"] == "interrupted"
    assert read_status == 0 and read["ended"] == "signal"


def test_nobody_joins(together, programs, users_file):
    words = (*SEARCH, "--give-up", "1s", "--search-socket", together.socket, together.hole, together.users)
    begun = run([programs.postal, *words])
    refused(begun, f"--search-socket {together.socket}: nobody joined within 1s", status=2)
    assert not together.socket.exists() and together.server.stop().record["totals"]["connections"] == 0


def test_nobody_searches(together, programs):
    accounts = together.folder / "accounts"
    accounts.write_text("\n".join(login_names(["user@example.com"])) + "\n")
    joined = run([programs.rabid, "--give-up", "1s", "--join-search", together.socket, "127.0.0.1:1", accounts])
    refused(joined, f"--join-search {together.socket}: nobody searches there within 1s", status=2, program="rabid")


@pytest.mark.parametrize("octets, why", [
    (b"\xff\xff\xff\xff", "closed"),
    (b"\x03\x00\x00\x00abc", "octets that are no word of this version"),
], ids=["too long", "no word"])
def test_garbage_is_no_partner(together, octets, why):
    """It is refused with one line before anything is sent; who only looks is not minded."""
    process = together.postal("--give-up", "1500ms")
    wait_until(together.socket.exists, "the socket")
    assert stat.S_IMODE(os.stat(together.socket).st_mode) == 0o600
    with socket.socket(socket.AF_UNIX) as looks:
        looks.connect(str(together.socket))
    with socket.socket(socket.AF_UNIX) as other:
        other.connect(str(together.socket))
        other.sendall(octets)
        status = process.wait(30)
    said = together.said("postal")
    assert status == 2 and len(said.splitlines()) == 1, said
    assert said.startswith(f"postal: --search-socket {together.socket}: ")
    assert why in said or why == "closed" and "nobody joined" in said
    assert together.server.stop().record["totals"]["connections"] == 0 and not together.socket.exists()


def test_the_socket_is_replaced_or_refused(together):
    """What a search left that died is replaced; a file of another kind is not touched."""
    dead_socket(together.socket)
    process = together.postal("--give-up", "10s")

    def is_new():
        return together.socket.exists() and stat.S_IMODE(os.stat(together.socket).st_mode) == 0o600
    wait_until(is_new, "a new socket")
    with socket.socket(socket.AF_UNIX) as looks:
        looks.connect(str(together.socket))
        assert looks.recv(1), "it is waiting"
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 2 and not together.socket.exists()
    assert "interrupted before the search began" in together.said("postal")
    together.socket.write_text("mine")
    assert together.postal().wait(30) == 2 and "a file that is not a socket is there" in together.said("postal")
    assert together.socket.read_text() == "mine"


@pytest.mark.stands_behind
@pytest.mark.parametrize("words, why", [
    (["--search-socket", "x"], "--search-socket: is about a search; give --find-rate, too"),
    (["--search-share", "20%"], "--search-share: is about another program's search; give --join-search, too"),
    (["--find-rate", "--join-search", "x"], "--join-search: the other program searches"),
    (["--join-search", "x", "--search-share", "0%"], '"0%" is no share of a load'),
    (["--join-search", "x", "--rate", "5/s"], "--rate: is up to the program whose search --join-search joins"),
    (["--join-search", "x", "--duration", "5s"], "--duration: is up to the program"),
    (["--join-search", "x", "--stages", "1/s@1s"], "--stages: has no meaning in a search; leave it or --join-search"),
], ids=lambda one: " ".join(one) if isinstance(one, list) else "")
def test_refused(programs, users_file, words, why):
    refused(run([programs.postal, *words, "127.0.0.1:1", users_file(2)], timeout=20), why)
