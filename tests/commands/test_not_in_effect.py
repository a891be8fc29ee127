# SPDX-License-Identifier: GPL-3.0-or-later
"""What was asked for and a server does not offer: the summary says it once, the record says what was in effect instead."""
import pytest

from conftest import login_names, user_names
from support.hostile import Hostile
from support.hostile_imap import HostileImap
from support.mail import made_message
from support.tls_books import ENGINES, engine
from support.tls_peers import server_context

LOAD = ("-t", "3", "-c", "1", "--messages", "12", "--duration", "20s")


def check_told(run, name, connections=None):
    """One line of the summary and one member of the record, and none of anything else."""
    assert list(run.record["not_in_effect"]) == ([name] if name else []), run.record["not_in_effect"]
    assert run.stderr.count("NOT DONE") == run.stderr.count(f"NOT DONE     {name} (") == (1 if name else 0), run.stderr
    if connections is not None:
        assert run.record["not_in_effect"][name] == connections


@pytest.mark.parametrize("capabilities, options, told", [
    ((b"PIPELINING",), ("--chunking", "auto", "--in-flight", "8"), "--in-flight 8: the server offers no CHUNKING, at most 2 in flight"),
    ((b"CHUNKING",), ("--chunking", "auto", "--in-flight", "8"), "--in-flight 8: the server offers no PIPELINING, at most 1 in flight"),
    ((b"8BITMIME",), ("--chunking", "auto"), "--chunking auto: the server offers no CHUNKING"),
    ((b"PIPELINING", b"CHUNKING"), ("--chunking", "auto", "--in-flight", "8"), None),
    ((b"8BITMIME",), (), None),
])
def test_transactions_in_flight(postal, users_file, capabilities, options, told):
    with Hostile(capabilities=capabilities) as server:
        run = postal(*LOAD, *options, server.endpoint, users_file(3))
    assert run.total("messages") == 12
    check_told(run, told, run.total("connections") if told else None)


@pytest.mark.parametrize("client_engine", ENGINES)
def test_sessions_that_are_not_resumed(postal, users_file, certificates, client_engine):
    context = server_context(certificates.good)
    context.num_tickets = 0  # of TLS 1.3: nothing to resume with
    words = (*LOAD, "--tls", "implicit", *engine(client_engine, "1.3"))
    for percent, told in (("80", "--tls-resume 80: no session was resumed"), ("0", None)):
        with Hostile(tls=context) as server:
            run = postal(*words, "--tls-resume", percent, server.endpoint, users_file(3))
        assert run.record["tls"]["resumed"] == 0 and run.record["tls"]["full"] == run.total("connections")
        check_told(run, told, run.total("connections") if told else None)


def test_sessions_that_are_resumed(bhm, postal, users_file):
    hole = bhm("-s", listen_tls=True)
    run = postal(*LOAD, "-s", "100", "--tls-resume", "80", hole.endpoint, users_file(3))
    assert run.record["tls"]["resumed"] > 0
    check_told(run, None)


@pytest.mark.parametrize("options, told", [(("--compress", "auto"), "--compress auto: the server offers no COMPRESS=DEFLATE"), ((), None)])
def test_compression(rabid, users_file, options, told):
    with HostileImap(mail=[made_message(1)]) as server:
        run = rabid("-p", "1", "-i", "100", "--connections", "3", *options, "--imap", server.endpoint, server.endpoint,
                    users_file(login_names(user_names(1))))
    check_told(run, told, run.total("connections") if told else None)
