# SPDX-License-Identifier: GPL-3.0-or-later
"""rabid's command line: bad input is refused in one line before anything is opened; statuses; log; a signal in the middle."""
import json
import os
import pathlib
import re
import signal
import socket
import sqlite3

import pytest

from conftest import login_names, user_names
from support.hostile_imap import HostileImap
from support.hostile_pop3 import HostilePop3
from support.mail import made_message
from support.postal import RABID_HEADER, check_reading, run
from support.process import dead_socket, free_port, wait_until
from support.watched import Sending

ANYWHERE = "127.0.0.1:1"


@pytest.fixture
def logins(users_file):
    return users_file(login_names(user_names(10)))


def refused(done, *words, status=1):
    assert done.status == status, done.stderr
    assert done.stdout == "", "nothing on standard output"
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith("rabid: ")
    for word in words:
        assert str(word) in done.stderr, f"{word} is not named in: {done.stderr}"


@pytest.mark.parametrize("words, names", [
    (["-p", "many"], ["many"]),
    (["--profile", "/nowhere/profile.toml"], ["/nowhere/profile.toml"]),
    (["-l", "198.51.100.77"], ["198.51.100.77"]),
    (["-z", "/nowhere/log"], ["/nowhere/log"]),
    (["--record", "/nowhere/record.json"], ["/nowhere/record.json"]),
    (["--ledger", "/nowhere/book"], ["/nowhere/book"]),
    (["--ledger", "/"], ["/"]),
    (["--open-loop", "--rate", "0"], ["rate"]),
], ids=" ".join)
def test_options(programs, logins, words, names):
    refused(run([programs.rabid, "--connections", "1", *words, ANYWHERE, logins], timeout=20), *names)


@pytest.mark.parametrize("words", [[], ["127.0.0.1"], [ANYWHERE, "list", "more"]])
def test_missing_words(programs, words):
    done = run([programs.rabid, *words])
    assert done.status == 1 and done.stdout == ""
    assert len(done.stderr.splitlines()) <= 2 and done.stderr.startswith("rabid: ")


@pytest.mark.parametrize("server", ["127.0.0.1:99999", "no-such-host.invalid"])
def test_endpoints(programs, logins, server):
    refused(run([programs.rabid, "--connections", "1", server, logins], timeout=20))


@pytest.mark.parametrize("kind", ["absent", "folder", "empty", "only-comments"])
def test_user_lists_that_are_none(programs, folder, kind):
    path = folder / "list"
    if kind == "folder":
        path.mkdir()
    elif kind != "absent":
        path.write_text("" if kind == "empty" else "# nobody\n\n   \n")
    refused(run([programs.rabid, "--connections", "1", ANYWHERE, path], timeout=20), path)


@pytest.mark.parametrize("text, line", [
    ("a@example.com secret\nb@example.com\n", 2),
    ("# comment\n\na@example.com -\n", 3),
    ("a@example.com secret\n<b@example.com> secret\n", 2),
], ids=["no-password", "no-password-either", "angle-brackets"])
def test_user_lists_with_a_bad_line(programs, folder, text, line):
    path = folder / "list"
    path.write_bytes(text.encode())
    refused(run([programs.rabid, "--connections", "1", ANYWHERE, path], timeout=20), f"{path}:{line}:")


def test_a_profile_with_a_mistake(programs, folder, logins):
    path = folder / "mine.toml"
    path.write_text('first = ["read"]\nlasst = ["noop"]\n')
    refused(run([programs.rabid, "--connections", "1", "--profile", path, ANYWHERE, logins], timeout=20), f"{path}:2:", "lasst")


def test_the_projects_profiles_can_be_given_as_files(programs, logins):
    from conftest import ROOT
    # Files with rules are behaviours of bhm.
    files = sorted(file for file in (ROOT / "conf/profiles").glob("*.toml") if "[[rule]]" not in file.read_text())
    assert {file.stem for file in files} == {"original", "poller", "desktop", "phone", "webmail", "archive", "append"}
    with HostileImap() as server:
        for file in files:
            done = run([programs.rabid, "--connections", "1", "--duration", "1s", "--grace", "5s", "-i", "100", "--profile",
                        file, "--imap", server.endpoint, server.endpoint, logins], timeout=60)
            assert done.status == 0, done.stderr


@pytest.mark.parametrize("kind", ["text", "other database", "older", "newer", "unreadable folder"])
def test_ledgers_that_are_none(programs, folder, logins, kind):
    path, versions = folder / "book", {"older": 1, "newer": 7}
    if kind == "text":
        path.write_text("Dear diary\n" * 200)
    elif kind == "unreadable folder":
        path = folder / "list" / "book"
    else:
        with sqlite3.connect(path) as book:
            book.execute("CREATE TABLE diary(day TEXT)")
            if kind != "other database":
                book.execute(f"PRAGMA application_id = {0x506f734c}")
                book.execute(f"PRAGMA user_version = {versions[kind]}")
        book.close()
    before = path.read_bytes() if path.exists() else None
    refused(run([programs.rabid, "--connections", "1", "--ledger", path, ANYWHERE, logins], timeout=20), path, "--ledger")
    assert (path.read_bytes() if path.exists() else None) == before


def test_a_locked_ledger(programs, folder, logins):
    path = folder / "book"
    book = sqlite3.connect(path, isolation_level=None)
    book.execute("BEGIN EXCLUSIVE")
    refused(run([programs.rabid, "--connections", "1", "--ledger", path, ANYWHERE, logins], timeout=30), path)
    book.close()


def test_help_and_version(programs):
    done = run([programs.rabid, "--help"])
    assert (done.status, done.stderr) == (0, "")
    assert "rabid" in done.stdout.splitlines()[0]
    assert max(map(len, done.stdout.splitlines())) <= 100
    for letter in "rpcdisublazZ":
        assert re.search(rf"(?m)^\s+-{letter}[, ]", done.stdout), f"-{letter} is not in --help"
    done = run([programs.rabid, "--version"])
    assert done.status == 0 and re.match(r"rabid \d+\.\d+\.\d+", done.stdout)


# ---- statuses ----

def test_0_done(rabid, logins):
    with HostilePop3() as server:
        done = rabid("-p", "2", "--connections", "6", server.endpoint, logins)
    check_reading(done)
    assert done.total("messages") == done.total("deleted") == 18


def test_0_mailboxes_may_be_empty(rabid, logins):
    with HostilePop3(mail=[]) as server:
        done = rabid("--connections", "2", server.endpoint, logins)
    check_reading(done)
    assert done.total("messages") == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_2_disk_full(programs, logins):
    with HostilePop3() as server:
        done = run([programs.rabid, "--record", "/dev/full", "--connections", "2", server.endpoint, logins], timeout=30)
    assert done.status == 2 and "/dev/full" in done.stderr


def test_3_threshold_not_met(rabid, logins):
    with HostilePop3() as server:
        done = rabid("--connections", "3", "--threshold", "p99(retrieve)<1ns", "--threshold", "errors==0", server.endpoint,
                     logins, status=3)
    assert [(entry["expression"], entry["passed"]) for entry in done.record["thresholds"]] == [
        ("p99(retrieve)<1ns", False), ("errors==0", True)]


@pytest.mark.parametrize("place", ["127.0.0.1:{port}", "[::1]:{port}", "unix:{folder}/nobody"])
@pytest.mark.parametrize("way", ["pop3", "imap"])
def test_4_nobody_answers(rabid, logins, folder, place, way):
    dead_socket(folder / "nobody")
    endpoint = place.format(port=free_port(), folder=folder)
    share = ["-i", "100", "--imap", endpoint] if way == "imap" else []
    done = rabid("-p", "2", "--duration", "1s", *share, endpoint, logins, status=4)
    check_reading(done)
    assert done.total("messages") == done.total("connections") == 0
    assert {error["stage"] for error in done.record["errors"]} == {"connect"}
    assert 2 <= done.total("errors") <= 24, "from 100 ms on, a second holds few attempts"


@pytest.mark.parametrize("way", ["pop3", "imap"])
def test_4_nobody_is_let_in(rabid, logins, way):
    kind, step = (HostilePop3, "pass") if way == "pop3" else (HostileImap, "login")
    with kind(step, "refuse") as server:
        share = ["-i", "100", "--imap", server.endpoint] if way == "imap" else []
        done = rabid("-p", "2", "--connections", "4", *share, server.endpoint, logins, status=4)
    check_reading(done)
    assert {(error["stage"], error["reason"]) for error in done.record["errors"]} == {("login", "refused")}


def test_the_server_speaks_another_protocol(rabid, logins):
    """An IMAP server where POP3 is expected, and the other way round."""
    with HostileImap() as imap, HostilePop3() as pop3:
        done = rabid("--connections", "2", "--duration", "3s", imap.endpoint, logins, status=4)
        assert {error["stage"] for error in done.record["errors"]} == {"banner"}
        done = rabid("--connections", "2", "--duration", "3s", "-i", "100", "--imap", pop3.endpoint, imap.endpoint, logins,
                     status=4)
        assert {error["stage"] for error in done.record["errors"]} == {"banner"}


# ---- what it prints ----

def test_the_log_has_its_own_column(rabid, logins):
    with HostilePop3() as pop3, HostileImap() as imap:
        done = rabid("-p", "4", "-r", "50/s", "--duration", "3s", "--interval", "1s", "-i", "50", "--imap", imap.endpoint,
                     pop3.endpoint, logins)
    check_reading(done)
    header, *rows = done.stdout.splitlines()
    assert header == RABID_HEADER
    assert len(rows) in (3, 4)
    for row in rows:
        assert re.fullmatch(r"\d\d:\d\d:\d\d,\d+,\d+,0,\d+,0,\d+", row)
    assert 0 < done.total("imap_connections") < done.total("connections")


def test_other_forms_of_the_log(rabid, logins):
    with HostilePop3() as server:
        done = rabid("--connections", "5", "--log-format", "extended", server.endpoint, logins)
        header, *rows = done.stdout.splitlines()
        assert header.startswith(RABID_HEADER + ",")
        assert all(len(row.split(",")) == len(header.split(",")) for row in rows)
        done = rabid("--connections", "5", "--log-format", "jsonl", server.endpoint, logins)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert sum(row["messages"] for row in rows) == 15


def test_transcripts_hide_passwords(rabid, logins, folder):
    with HostilePop3() as pop3, HostileImap() as imap:
        rabid("-z", folder / "log", "-p", "1", "--connections", "8", "-i", "50", "--seed", "1", "--imap", imap.endpoint,
              pop3.endpoint, logins)
    text = "".join(path.read_text(errors="replace") for path in folder.glob("log:*"))
    for word in ("USER ", "RETR ", "DELE ", "QUIT", "LOGIN ", "SELECT ", "LOGOUT"):
        assert word in text, word


def test_a_rate_is_kept(rabid, logins):
    with HostilePop3(mail=[]) as server:
        done = rabid("-p", "4", "-r", "300", "--duration", "4s", server.endpoint, logins)
    assert 14 <= done.total("connections") <= 26, "300 a minute"


def test_same_seed_same_choices(rabid, logins):
    def read():
        heard = []
        with HostilePop3(mail=[made_message(number) for number in range(20)], heard=heard.append) as server:
            rabid("-p", "1", "--workers", "1", "--seed", "42", "--connections", "5", "-d", "50:50", server.endpoint, logins)
        return heard
    first = read()
    assert first == read()
    assert 20 < sum(line.startswith(b"RETR") for line in first) < 80


# ---- a signal in the middle ----

@pytest.mark.parametrize("way", ["pop3", "imap"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_in_the_middle(programs, folder, logins, way, number):
    """What is in flight is brought to its end: nothing is begun and not finished, nothing deleted and not counted."""
    with (HostilePop3 if way == "pop3" else HostileImap)() as server:
        share = ["-i", "100", "--imap", server.endpoint] if way == "imap" else []
        with Sending(programs.rabid, folder, "-p", "4", *share, server.endpoint, logins) as reading:
            wait_until(lambda: server.count.deleted > 30, "some messages")
            reading.signal(number)
            done = reading.wait(20)
    done.header = RABID_HEADER
    assert done.status == 0
    check_reading(done)
    assert done.total("failed") == 0 and done.record["errors"] == []
    assert done.total("deleted") == server.count.deleted
    assert done.total("messages") == server.count.sent


def pending(pid, number):
    """Whether a signal has been sent and not been taken."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    masks = re.findall(r"(?m)^S[hi][dg]Pnd:\s*(\w+)$", status)
    return any(int(mask, 16) >> (number - 1) & 1 for mask in masks)


def test_a_second_signal_ends_it_at_once(programs, folder, logins):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"127.0.0.1:{silent.getsockname()[1]}"
        with Sending(programs.rabid, folder, "-p", "2", "--grace", "1m", endpoint, logins) as reading:
            accepted = [silent.accept()[0] for _ in range(2)]
            for _ in range(2):
                reading.signal(signal.SIGTERM)
                # Two that come together are one.
                wait_until(lambda: not (reading.process.running and pending(reading.pid, signal.SIGTERM)), "its handler")
            done = reading.wait(10)
            for each in accepted:
                each.close()
    assert done.status in (0, 4)
