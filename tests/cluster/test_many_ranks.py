# SPDX-License-Identifier: GPL-3.0-or-later
"""postal and rabid under mpirun on this host: one log, one record, one status; nothing is lost in the sum."""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

from conftest import login_names, user_names
from support.postal import HEADER, RABID_HEADER, check_books, read_record
from support.postal import run as run_program
from support.process import Process, alive, wait_until
from support.ranks import Hosts, Ranks, mpirun_argv, namespaces_are_missing, rank_pids

OUTCOMES = ("messages", "rejected", "deferred", "failed", "in_doubt")


@pytest.fixture
def launch(programs, folder, tool):
    """launch(4, "postal", word, …) is a program that mpirun has started with so many ranks, not yet waited for. `beside` are
    the words of one more rank."""
    tool("mpirun")
    with contextlib.ExitStack() as started:
        def start(ranks, program, *words, header=HEADER, options=(), beside=None):
            path = folder / "whole.json"
            argv = mpirun_argv(ranks, [getattr(programs, program), "--record", path, *words], options)
            argv += [":", "-n", 1, getattr(programs, program), *beside] if beside else []
            one = started.enter_context(Ranks(argv, folder))
            one.record_path, one.header = path, header
            return one
        yield start


def finish(launched, status=0, timeout=90):
    """Its Run; `shares` holds each rank's own record."""
    run = launched.finish(timeout)
    run.header = launched.header
    assert run.status == status, f"{run.status}: {run.stderr}\n{run.stdout}"
    if launched.record_path.exists():
        run.record = read_record(launched.record_path)
        run.shares = [read_record(path) for path in own_files(launched.record_path)]
    return run


def own_files(path):
    """Of each rank, in the order of ranks."""
    path = pathlib.Path(path)
    named = {int(re.search(r"rank-(\d+)", one.name).group(1)): one
             for one in path.parent.glob(f"{path.stem}.rank-*{path.suffix}")}
    return [named[rank] for rank in sorted(named)]


def buckets(phase):
    """Bucket number → count."""
    pieces = phase["buckets"].partition(":")[2]
    return {int(index): int(count) for index, count in (piece.split("*") for piece in pieces.split(",") if piece)}


def added(records, phase):
    sums = {}
    for record in records:
        for index, count in buckets(record["latency_us"][phase]).items():
            sums[index] = sums.get(index, 0) + count
    return sums


def check_sum(run, ranks):
    """The whole is the sum of its ranks: counters, intervals, and percentiles of all samples together."""
    check_books(run)
    record = run.record
    assert [one["rank"] for one in record["ranks"]] == list(range(ranks))
    assert len(run.shares) == ranks
    for name in (*OUTCOMES, "started", "bytes", "errors", "connections"):
        assert record["totals"][name] == sum(one["totals"][name] for one in run.shares), name
    for one, share in zip(record["ranks"], run.shares):
        for name in (*OUTCOMES, "started"):
            assert one["totals"][name] == share["totals"][name], name
        assert sum(one["interval_messages"]) == share["totals"]["messages"]
        assert len(one["interval_messages"]) == len(record["intervals"])
    for phase in record["latency_us"]:
        assert buckets(record["latency_us"][phase]) == added(run.shares, phase), phase
        assert record["latency_us"][phase]["count"] == sum(one["latency_us"][phase]["count"] for one in run.shares)
    assert record["workers"] == sum(one["workers"] for one in run.shares)


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_ranks_are_one_run(launch, bhm, users_file, ranks):
    sink = bhm()
    run = finish(launch(ranks, "postal", "--messages", "403", "-t", "3", "--workers", "1", "--interval", "1s", "-m", "2",
                        sink.endpoint, users_file(50)))
    assert run.total("messages") == 403
    assert sink.stop().total("messages") == 403
    if ranks == 1:
        assert "ranks" not in run.record
        return
    check_sum(run, ranks)
    assert run.record["first_accepted_s"] == min(one["first_accepted_s"] for one in run.shares)
    assert [one["sessions"] for one in run.record["ranks"]] == [3] * ranks
    assert {one["totals"]["messages"] for one in run.record["ranks"]} <= {403 // ranks, 403 // ranks + 1}
    assert run.stderr.count("messages accepted") == 1, "one summary"


def test_a_rate_is_of_the_whole_run(launch, bhm, users_file):
    sink = bhm()
    run = finish(launch(3, "postal", "--rate", "60/s", "--open-loop", "--duration", "3s", "--interval", "1s", "-m", "1", "-t", "4",
                        "--workers", "1", sink.endpoint, users_file(5)))
    check_sum(run, 3)
    due = run.total("due")
    assert due == run.total("started") + run.total("not_started")
    assert 175 <= due <= 185
    assert sink.stop().total("messages") == run.total("messages")


def test_identities_are_disjoint(launch, bhm, users_file, folder, programs):
    sink = bhm("--ledger", folder / "sink.db")
    run = finish(launch(3, "postal", "--messages", "200", "-t", "2", "-m", "1", "--workers", "2", "--ledger", folder / "mail.db",
                        sink.endpoint, users_file(20)))
    assert run.total("messages") == 200
    assert sink.stop().record["integrity"] == {"verified": 200, "foreign": 0, "corrupt": 0, "duplicate": 0}
    books = own_files(folder / "mail.db")
    assert len(books) == 3
    said = run_program([programs.path("postal-report"), "--ledger", *books, folder / "sink.db"])
    assert said.status == 0, said.stderr
    assert re.search(r"\b200\b", said.stdout), said.stdout


def test_the_same_seed_sends_the_same_mail(launch, bhm, users_file, folder):
    """With as many sessions in all: each sends what it would send alone."""
    sent = []
    for ranks in (1, 2):
        store = folder / f"store-{ranks}"
        sink = bhm("--store", store)
        finish(launch(ranks, "postal", "--messages", "2", "--sessions-total", "2", "--workers", "1", "-m", "1", "--seed", "5",
                      sink.endpoint, users_file(20)))
        sink.stop()
        mails = sorted(one.read_bytes() for one in store.rglob("*") if one.is_file())
        sent.append([re.search(rb"s=(\d+); n=(\d+); seed=(\d+); kind=(\w+); size=(\d+)", mail).groups() for mail in mails])
    assert sorted(sent[0]) == sorted(sent[1])


def test_a_threshold_is_of_all(launch, bhm, users_file):
    sink = bhm()
    run = finish(launch(2, "postal", "--messages", "100", "-m", "1", "--threshold", "messages>99", "--threshold", "messages>100",
                        sink.endpoint, users_file(5)), status=3)
    assert [(one["value"], one["passed"]) for one in run.record["thresholds"]] == [(100, True), (100, False)]


def test_nobody_answers(launch, users_file):
    run = finish(launch(2, "postal", "--duration", "1s", "127.0.0.1:1", users_file(5)), status=4)
    assert run.total("messages") == 0 and run.total("errors") > 0


@pytest.mark.parametrize("words, said", [
    (("--rate", "fast"), "--rate"), (("--sessions-total", "1"), "--sessions-total"), (("--threshold", "nonsense"), "--threshold")])
def test_a_mistake_is_told_once(launch, users_file, words, said):
    run = finish(launch(2, "postal", *words, "127.0.0.1:1", users_file(5)), status=1)
    mine = [line for line in run.stderr.splitlines() if line.startswith("postal: ")]
    assert len(mine) == 1 and said in mine[0], run.stderr
    assert run.stdout == "" and run.record is None


def test_a_ranks_own_record_replaces_no_other_file(launch, folder, users_file):
    """Its name is not on the command line."""
    precious = folder / "whole.rank-1.json"
    precious.write_text("Dear diary\n")
    words = ["postal", "--record", folder / "whole.json", "--messages", "2", "127.0.0.1:1", users_file(5)]
    run = finish(launch(2, *words), status=1)
    assert f"--record: {precious}: exists and is no run record, but seems to be text" in run.stderr
    assert precious.read_text() == "Dear diary\n" and not (folder / "whole.json").exists()


def test_a_log_that_cannot_be_written_ends_all(programs, folder, tool, bhm, users_file):
    tool("mpirun")
    sink = bhm()
    words = [programs.postal, "--duration", "50s", "--rate", "10/s", sink.endpoint, users_file(5)]
    begin = time.monotonic()
    with open("/dev/full", "wb") as full:
        done = subprocess.run([str(word) for word in mpirun_argv(2, ["sh", "-c", 'exec "$@" > /dev/full', "-", *words])],
                              stdout=full, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(folder)}, timeout=60, check=False)
    assert done.returncode == 2, done.stderr
    assert b"No space left on device" in done.stderr
    assert time.monotonic() - begin < 30


def test_loads_that_differ_are_refused(launch, users_file):
    """mpirun starts whatever it is told to, behind a colon."""
    users = users_file(5)
    started = launch(1, "postal", "--duration", "1s", "-m", "1", "127.0.0.1:1", users,
                     beside=["--duration", "1s", "-m", "2", "127.0.0.1:1", users])
    run = finish(started, status=1)
    assert "rank 1" in run.stderr and "all ranks need the same load" in run.stderr


@pytest.mark.thinned(2)
@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_launcher_ends_all(launch, bhm, users_file, number):
    """SIGINT and SIGTERM leave a second before mpirun kills everybody; the record is complete before that."""
    sink = bhm()
    started = launch(3, "postal", "--duration", "60s", "--rate", "300/s", "--interval", "1s", "-m", "1", "--workers", "1", sink.endpoint,
                     users_file(5))
    wait_until(lambda: started.process.stdout.count("\n") > 2, "two intervals")
    started.signal(number)
    begin = time.monotonic()
    status = started.process.wait(30)
    assert time.monotonic() - begin < 10
    if number == signal.SIGUSR1:
        assert status == 0, started.process.stderr
    record = wait_until(lambda: started.record_path.exists() and read_record(started.record_path), "the record")
    assert record["ended"] == "signal" and len(record["ranks"]) == 3
    assert all(one["ended"] == "signal" for one in record["ranks"])
    assert record["interrupted"]["early"]
    assert started.process.stderr.count("postal: stopping: waits for ") <= 1, "once for all"
    totals = record["totals"]
    assert totals["started"] == sum(totals[key] for key in OUTCOMES)
    heard = sink.stop().total("messages")
    assert totals["messages"] <= heard <= totals["messages"] + totals["in_doubt"]


def test_a_rank_that_dies_is_told(launch, bhm, users_file):
    """mpirun itself may not end after a loss (see docs/many-machines.md); the ranks do."""
    sink = bhm()
    started = launch(3, "postal", "--duration", "15s", "--interval", "1s", "-m", "1", "--workers", "1", "--rate", "300/s",
                     sink.endpoint, users_file(5), options=["--enable-recovery"])
    wait_until(lambda: started.process.stdout.count("\n") > 2, "two intervals")
    pids = rank_pids(started, 3)
    os.kill(pids[2], signal.SIGKILL)
    wait_until(lambda: not any(alive(pid) for pid in pids), "the end of all ranks", timeout=60)
    record = read_record(started.record_path)
    wait_until(lambda: re.search(r"LOST +rank 2 ", started.process.stderr), "what mpirun passes on")
    lost = record["ranks"][2]
    assert 2 <= lost["lost_s"] <= 12 and lost["unaccounted"] >= 0
    assert [one.get("lost_s") for one in record["ranks"][:2]] == [None, None]
    assert all(one["ended"] == "duration" for one in record["ranks"][:2])
    totals = record["totals"]
    heard = sink.stop().total("messages")
    assert totals["messages"] <= heard
    assert sum(interval["messages"] for interval in record["intervals"]) == totals["messages"]
    # What was still in flight at the stop may be one rank's alone.
    assert min(interval["ranks"] for interval in record["intervals"] if not interval["draining"]) == 2


def test_a_rank_that_pauses_is_waited_for(launch, bhm, users_file):
    sink = bhm()
    started = launch(3, "postal", "--messages", "900", "--rate", "150/s", "--interval", "1s", "-m", "1", "--workers", "1",
                     sink.endpoint, users_file(5))
    wait_until(lambda: started.process.stdout.count("\n") > 2, "two intervals")
    paused = rank_pids(started, 3)[1]
    os.kill(paused, signal.SIGSTOP)
    time.sleep(4)
    os.kill(paused, signal.SIGCONT)
    run = finish(started)
    check_sum(run, 3)
    assert run.total("messages") == 900 == sink.stop().total("messages")
    assert all(interval["ranks"] == 3 for interval in run.record["intervals"][:5])


def test_rabid_reads_as_one(launch, dovecot, postal, users_file):
    server = dovecot(7, reading=True)
    postal("-L", "--messages", "60", "-M", "2", "-m", "8", server.endpoint, users_file(server.users))
    run = finish(launch(2, "rabid", "--connections", "20", "-p", "2", "--workers", "1", "--interval", "1s", "-i", "50",
                        "--imap", server.imap, server.pop3, users_file(login_names(server.users)), header=RABID_HEADER))
    assert run.total("connections") == 20
    for name in ("messages", "connections", "errors"):
        assert run.total(name) == sum(one["totals"][name] for one in run.shares)
    assert run.total("errors") == 0, run.record["errors"]
    # Commands and actions of both ranks: each IMAP visit logs in, reads once and leaves.
    visits = run.total("imap_connections")
    assert 0 < visits == run.record["profile"]["verbs"]["read"]["begun"]
    assert run.record["commands"]["ok"] == run.record["commands"]["sent"] == run.total("imap_commands")
    for kind in ("LOGIN", "SELECT", "LOGOUT"):
        assert run.record["commands"]["by_kind"][kind]["ok"] == visits


def test_rounds_are_of_all_accounts(launch, dovecot, users_file):
    """Seven accounts in two ranks, which have four and three."""
    server = dovecot(7, reading=True)
    run = finish(launch(2, "rabid", "--rounds", "2", "-p", "2", "--workers", "1", server.pop3, users_file(login_names(server.users)),
                        header=RABID_HEADER))
    assert sorted(one["totals"]["connections"] for one in run.shares) == [6, 8]
    for user in server.users:
        assert server.log.count(f"Login: user=<{user}>") == 2


def test_mailboxes_are_filled_alike_by_any_number_of_ranks(launch, dovecot, users_file, folder):
    """Three accounts in two ranks; what each does is its share, and rank 0 says whether all of it is there."""
    server = dovecot(3, reading=True)
    words = ["rabid", "--populate", "messages=40,folders=2,size=fixed:1K,body=ascii", "--workers", "1", "--ledger", folder / "book.db",
             "--imap", server.imap, server.imap, users_file(login_names(server.users))]
    run = finish(launch(2, *words, header=RABID_HEADER))
    assert sorted(one["totals"]["appended"] for one in run.shares) == [40, 80]
    assert run.total("wanted") == run.total("confirmed") == 120
    assert "mailboxes are known to hold 120 of 120 messages" in run.stderr
    assert len(own_files(folder / "book.db")) == 2
    alone = finish(launch(1, *words, header=RABID_HEADER))
    assert (alone.total("appended"), alone.total("present"), alone.total("confirmed")) == (0, 120, 120)
    words[2] = words[2].replace("=40", "=20000")
    short = finish(launch(2, *words, "--duration", "300ms", header=RABID_HEADER), status=3)
    assert "not confirmed yet" in short.stderr and short.total("wanted") == 60000


def test_more_ranks_than_accounts(launch, users_file):
    run = finish(launch(3, "rabid", "--duration", "1s", "127.0.0.1:1", users_file(login_names(user_names(2)))), status=1)
    assert "account" in run.stderr


def test_machines_whose_clocks_differ(programs, folder, tool, users_file):
    """Each on a host of its own, whose steady clock is known to differ: the record knows by how much, and all begin together."""
    tool("mpirun")
    if why := namespaces_are_missing():
        pytest.skip(why)
    users, ahead, path = users_file(20), [0, 1000, 7200, 3], folder / "whole.json"
    with Hosts(folder, ahead) as hosts:
        sink = Process(hosts[0].argv(programs.bhm, "--listen", f"{hosts[0].address}:2525", "--record", folder / "sink.json"),
                       folder, "bhm")
        try:
            sink.wait_for_line("listening on")
            begin = time.monotonic()
            done = hosts.run_ranks(4, [programs.postal, "--record", path, "--duration", "3s", "--interval", "1s", "-m", "1",
                                       "--workers", "1", "--rate", "80/s", f"{hosts[0].address}:2525", users])
            taken = time.monotonic() - begin
            assert done.status == 0, done.stderr
        finally:
            sink.stop()
    record = read_record(path)
    ranks = record["ranks"]
    assert [one["host"] for one in ranks] == [f"postal-host-{number}" for number in range(4)]
    for one, seconds in zip(ranks, ahead):
        assert abs(one["clock_offset_s"] - seconds) <= one["clock_bound_s"] + 1e-5, one
        assert abs(one["wall_offset_s"]) <= one["clock_bound_s"] + 1e-3, one
        assert one["clock_steps"] == one["wall_steps"] == 0, one
        assert 0 <= one["start_late_s"] < 1
    assert 3 <= record["duration_s"] < taken
    totals = record["totals"]
    assert 0 < totals["messages"] == sum(one["totals"]["messages"] for one in ranks)
    assert totals["messages"] <= read_record(folder / "sink.json")["totals"]["messages"] <= totals["started"]


def test_alone_nothing_is_different(postal, bhm, users_file):
    sink = bhm()
    run = postal("--messages", "5", "-m", "1", sink.endpoint, users_file(5))
    assert "ranks" not in run.record and all("ranks" not in one for one in run.record["intervals"])


def test_all_ranks_search_together(launch, bhm, users_file):
    """Rank 0 says which trial is next; each rank's messages are its share, and the trials' sum is what the server has."""
    hole = bhm()
    run = finish(launch(3, "postal", "-t", "4", "-c", "-1", "-m", "1", "--find-rate", "--goal-set", "quick", "--rate", "100/s", "--most-rate", "200/s",
                        "--duration", "9s", hole.endpoint, users_file(5)), status=3)  # the time is over before anything is shown
    found = run.record["capacity"]
    trials = found["trials"]
    assert trials and found["result"]["end"] in {"out_of_time", "generator_limited", "machine_full"}
    # Where a rank was held up by others, what it was to send is waited for, and the time may be over behind the first trial.
    assert len(trials) >= 2 or trials[0]["backlog_end"] > 0
    # A trial in which others had the machine shows nothing, and is done again.
    loads = [trial["load"] for trial in trials]
    assert loads[0] == 100 and max(loads) <= 200
    due = sum(round(trial["settle_s"] * trial["load"]) + trial["intended"] for trial in trials)
    assert run.total("due") == run.total("messages") + run.total("not_started") == due
    assert run.total("messages") == hole.stop().record["totals"]["messages"]
    assert run.total("not_started") == 0 or max(trial["backlog_end"] for trial in trials) > 0
    for trial in trials:
        goal, = trial["goals"] or [None]
        assert goal is None or goal["on_time"] + goal["late"] + goal["errors"] + goal["not_started"] + goal["not_finished"] == trial["intended"]
    shares = [share["totals"]["due"] for share in run.shares]
    assert sum(shares) == due and max(shares) - min(shares) <= len(trials) and all("capacity" not in share for share in run.shares)
