# SPDX-License-Identifier: GPL-3.0-or-later
"""The first error of a kind is said at once, with what may be tried; --fail-fast and ';abort' end a run early."""
import signal
import socket
import threading
import time

import pytest

from support.postal import check_books, run
from support.process import Process, free_port, wait_until

FIRST = "first error of its kind: "


@pytest.fixture
def started(folder):
    """started(PROGRAM, word, …) runs in the background, with intervals of a minute; ends with the test."""
    all_of_them = []

    def start(program, *words):
        all_of_them.append(Process([program, *words], folder, f"run-{len(all_of_them)}"))
        return all_of_them[-1]
    yield start
    for one in all_of_them:
        one.kill()


class Greeter:
    """A server that says one thing to whoever connects, and hears what comes."""

    def __init__(self, greeting):
        self.greeting = greeting
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"127.0.0.1:{self.socket.getsockname()[1]}"
        self.open = []

    def serve(self):
        try:
            while True:
                self.open.append(self.socket.accept()[0])
                self.open[-1].sendall(self.greeting)
        except OSError:
            pass

    def __enter__(self):
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        for one in self.open:
            one.close()


def said_at_once(process, *words):
    """Long before the interval is over; once."""
    begun = time.monotonic()
    wait_until(lambda: all(word in process.stderr for word in words), lambda: f"{words} in: {process.stderr}")
    assert time.monotonic() - begun < 30
    process.signal(signal.SIGINT)
    process.wait()
    return process.stderr


@pytest.mark.parametrize("program, limit", [("postal", "--messages"), ("rabid", "--connections")])
def test_a_wrong_port(programs, started, users_file, program, limit):
    nobody = f"127.0.0.1:{free_port()}"
    users = users_file(["a@example.com password"])
    said = said_at_once(started(programs.path(program), limit, "100", nobody, users),
                        f"{program}: {FIRST}connect refused at {nobody}; tried again, and given up after 1m without progress\n", f"{program}: hint: nothing listens there")
    assert said.count(FIRST) == 1, said


def test_two_servers_are_told_apart(programs, started, users_file, bhm):
    hole, nobody = bhm(), f"127.0.0.1:{free_port()}"
    said_at_once(started(programs.postal, "-r", "20/s", f"{hole.endpoint},{nobody}", users_file(2)), f"connect refused at {nobody}")


def test_a_refusal_has_the_servers_words(programs, started, users_file, bhm):
    users = users_file(["a@example.com"])
    server = bhm(users_file(["a@example.com - r"]))
    said = said_at_once(started(programs.postal, "-c", "-1", "-r", "20/s", server.endpoint, users),
                        f"{FIRST}rcpt 55", f"at {server.endpoint}: ", "hint: are the addresses of USER-LIST users")
    assert said.count(FIRST) == 1, said


def test_words_of_servers_are_cleaned_and_cut(programs, started, users_file):
    with Greeter(b"554 \x1b]0;gone\x07 go away " + b"x" * 600 + b"\r\n") as server:
        said = said_at_once(started(programs.postal, "-r", "20/s", server.endpoint, users_file(2)), f"{FIRST}banner 554 at {server.endpoint}: ")
    line = next(one for one in said.splitlines() if FIRST in one)
    assert "\x1b" not in said and r"\x1b]0;gone\x07" in line and len(line) < 400


PROTOCOLS = [
    ("postal", (), b"+OK ready\r\n", "that is a POP3 server"),
    ("postal", (), b"* OK ready\r\n", "that is an IMAP server"),
    ("postal", (), b"\x15\x03\x01\x00\x02\x02\x46", "--tls implicit"),
    ("postal", ("--greeting-timeout", "200ms"), b"", "--tls implicit"),
    ("postal", (), b"", "--tls implicit"),
    ("postal", ("--tls", "implicit"), b"220 mail.example.com ESMTP\r\n", "leave --tls implicit away"),
    ("rabid", (), b"* OK ready\r\n", "--imap ENDPOINT"),
    ("rabid", (), b"220 mail.example.com ESMTP\r\n", "postal sends to it"),
    ("rabid", ("-i", "100"), b"+OK ready\r\n", "that is a POP3 server"),
    ("rabid", ("-i", "100"), b"220 mail.example.com ESMTP\r\n", "postal sends to it"),
    ("rabid", ("--tls", "implicit"), b"+OK ready\r\n", "leave --tls implicit away"),
    ("rabid", ("--timeout", "200ms"), b"", "--tls implicit"),
    ("rabid", (), b"\x15\x03\x01\x00\x02\x02\x46", "--tls implicit"),
    ("rabid", ("-i", "100"), b"", "--tls implicit"),
]


@pytest.mark.parametrize("program, words, greeting, hint", PROTOCOLS)
def test_another_protocol(programs, started, users_file, program, words, greeting, hint):
    with Greeter(greeting) as server:
        said_at_once(started(programs.path(program), *words, server.endpoint, users_file(["a@example.com password"])), f"{program}: hint: ", hint)


@pytest.mark.parametrize("backend", ["openssl", "gnutls"])
def test_tls_at_a_plain_port(programs, started, users_file, bhm, backend):
    said_at_once(started(programs.postal, "--tls", "implicit", "--tls-backend", backend, bhm().endpoint, users_file(2)),
                 f"{FIRST}tls not_tls at ", "leave --tls implicit away")


@pytest.mark.parametrize("server, client, hint", [(["--lmtp"], [], "give -L"), ([], ["-L"], "leave -L away")])
def test_smtp_and_lmtp(programs, started, users_file, bhm, server, client, hint):
    said_at_once(started(programs.postal, *client, bhm(*server).endpoint, users_file(2)), f"{FIRST}ehlo 5", hint)


# ---- the first error ends it ----

@pytest.fixture
def one_in_ten_rejected(bhm, users_file):
    users = [f"user{number}@example.com - {'r' if number == 9 else ''}" for number in range(10)]
    return bhm(users_file(users))


def test_fail_fast(bhm, postal, users_file):
    hole = bhm("--lmtp")
    done = postal("--fail-fast", "-t", "4", "-r", "50/s", hole.endpoint, users_file(2), status=4)
    check_books(done)
    assert done.record["ended"] == "first_error" and done.record["duration_s"] < 20


def test_fail_fast_after_some_messages(postal, users_file, one_in_ten_rejected):
    done = postal("--fail-fast", "-r", "50/s", "--seed", "1", one_in_ten_rejected.endpoint, users_file(10), status=3)
    check_books(done)
    assert done.record["ended"] == "first_error" and done.total("messages") > 0


def test_fail_fast_without_an_error(bhm, postal, users_file):
    done = postal("--fail-fast", "--messages", "20", bhm().endpoint, users_file(2))
    assert done.record["ended"] == "complete" and done.total("messages") == 20


def test_what_we_break_off_ourselves_is_no_first_error(programs, started, users_file, bhm):
    hole = bhm("--delay", "end=30s")
    process = started(programs.postal, "--fail-fast", "--grace", "200ms", "-c", "-1", hole.endpoint, users_file(2))
    wait_until(lambda: "end" in hole.process.stderr or hole.process.running, "the server")
    time.sleep(1)
    process.signal(signal.SIGINT)
    process.wait()
    assert FIRST not in process.stderr, process.stderr


# ---- thresholds that end it ----

def test_a_threshold_that_aborts(postal, users_file, one_in_ten_rejected):
    done = postal("--threshold", "rejected<1%;abort=20", "-r", "100/s", "--seed", "1", one_in_ten_rejected.endpoint, users_file(10), status=3)
    check_books(done)
    assert done.record["ended"] == "threshold" and done.record["duration_s"] < 30
    assert done.record["thresholds"][0]["passed"] is False
    assert "rejected<1%;abort=20 is missed with " in done.stderr
    assert done.total("started") >= 20 and len(done.record["intervals"]) <= 2, "intervals stay as long as they were"


def test_a_threshold_that_holds_aborts_nothing(bhm, postal, users_file):
    done = postal("--threshold", "errors<1%;abort", "--threshold", "p99(message)<60s;abort=1", "--duration", "3s", "--interval", "2s",
                  "-r", "200/s", bhm().endpoint, users_file(2))
    check_books(done)
    assert done.record["ended"] == "duration" and [one["passed"] for one in done.record["thresholds"]] == [True, True]
    assert [round(one["t_s"]) for one in done.record["intervals"]][:2] == [2, 3], "and what was finished after the stop"


@pytest.mark.parametrize("expression, why", [
    ("errors<1%;stop", "abort=N"), ("errors<1%;abort=x", "x"), ("messages>=10;abort", "at the end"), ("limited==0;abort", "at its end"),
])
def test_what_cannot_abort(programs, users_file, expression, why):
    done = run([programs.postal, "--threshold", expression, "127.0.0.1:1", users_file(2)], timeout=20)
    assert done.status == 1 and why in done.stderr and len(done.stderr.splitlines()) == 1
