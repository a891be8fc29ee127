# SPDX-License-Identifier: GPL-3.0-or-later
"""postal and rabid authenticate with servers that misbehave in AUTH, over SMTP, POP3 and IMAP.

Wanted of every run: nobody is let in by a server that has proved nothing, the reason stands in the record with the
mechanism's name, the run ends by itself with bounded memory, and no secret is shown.
"""
import json

import pytest

from support.hostile_auth import FAULTS, PASSWORD, HostileAuth
from support.secrets import assert_hidden, files_below
from support.watched import Sending, check_outcomes, memory_limit

WAYS = ["smtp", "pop3", "imap"]
USER = "user0@example.com"
# fault: the reasons that say it; reasons of the connection have no mechanism in front
WANTED = {
    "wrong_signature": {"wrong_signature"},
    "no_signature": {"no_signature"},
    "at_once": {"no_signature"},
    "many_iterations": {"too_many_iterations"},
    "not_base64": {"not_base64"},
    "star": {"not_base64"},
    "asks_on": {"bad_challenge"},
    "long_challenge": {"not_base64", "line_too_long"},
    "megabyte": {"line_too_long", "challenge_too_long", "token_too_long"},
    "no_end": {"line_too_long", "challenge_too_long", "token_too_long"},
    "silence_behind_auth": {"timeout"},
    "refuses": {"refused", ""},
}
OF_THE_CONNECTION = {"line_too_long", "token_too_long", "timeout"}


@pytest.fixture
def begin(programs, folder, users_file):
    """begin(way, server, option, …) starts the client of that protocol."""
    users, started = users_file([f"{USER} {PASSWORD}"]), []

    def start(way, server, *words):
        program = programs.postal if way == "smtp" else programs.rabid
        share = ["-i", "100", "--imap", server.endpoint] if way == "imap" else []
        patience = "700ms" if server.fault == "silence_behind_auth" else "3s"
        started.append(Sending(program, folder, "--timeout", patience, "--grace", "1s", "--workers", "1", "--interval", "100ms", "-z",
                               folder / "shown", *words, *share, server.endpoint, users, name=f"run-{len(started)}"))
        return started[-1]
    yield start
    for one in started:
        if one.process.running:
            one.process.kill()


def stage(way):
    return "auth" if way == "smtp" else "login"


def checked(run, folder):
    check_outcomes(run.record)
    assert 0 < run.peak_rss < memory_limit(run.argv[0])
    texts = {name: text for name, text in files_below(folder).items() if "users-" not in name}
    assert_hidden([PASSWORD], texts | {"out": run.stdout, "err": run.stderr, "record": json.dumps(run.record)})
    return run


def test_each_fault_has_its_place_here():
    assert set(WANTED) == set(FAULTS)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fault", FAULTS)
def test_no_login_by_fraud(begin, folder, way, fault):
    with HostileAuth(way, fault) as server:
        run = checked(begin(way, server, "--auth", "SCRAM-SHA-256").wait_for_error(), folder)
    assert run.status == 4 and server.count.connections > 0
    assert "authentications" not in run.record and run.total("messages") == run.total("started") == 0
    errors = [error for error in run.record["errors"] if error["stage"] == stage(way)]
    assert {error["reason"] for error in errors} & WANTED[fault], run.record["errors"]
    for error in errors:
        if error["reason"] in WANTED[fault] - OF_THE_CONNECTION:
            assert error["sample"].startswith("SCRAM-SHA-256: "), error


@pytest.mark.parametrize("way", WAYS)
def test_the_right_server_is_believed(begin, folder, way):
    """The same server without a fault: hashlib on one side, ours on the other."""
    words = ["--messages", "3"] if way == "smtp" else ["--connections", "3"]
    with HostileAuth(way, "right") as server:
        run = checked(begin(way, server, "--auth", "auto", *words).wait(30), folder)
    assert run.status == 0, run.record["errors"]
    assert run.record["authentications"] == {"SCRAM-SHA-256": 3}
    assert run.record["errors"] == []


@pytest.mark.parametrize("way", WAYS)
def test_a_server_that_asks_without_an_end(begin, folder, way):
    """LOGIN has two answers; whatever else is asked is answered with the cancellation, once."""
    with HostileAuth(way, "asks_on") as server:
        run = checked(begin(way, server, "--auth", "LOGIN", "--auth-insecure").wait_for_error(), folder)
    assert "authentications" not in run.record
    assert any(error["reason"] == "bad_challenge" for error in run.record["errors"])
    assert len(server.answers) <= 4 * server.count.connections
