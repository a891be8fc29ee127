# SPDX-License-Identifier: GPL-3.0-or-later
"""TLS with the servers that most of the world's mail goes through: postal to Postfix and Dovecot's LMTP, rabid from
Dovecot's POP3 and IMAP. Their logs and mailboxes are the judges."""
import re

import pytest

from conftest import login_names
from support.postal import check_books, check_reading
from support.tls_books import ENGINES, NAMES, check_tls, engine

LOAD = ("-t", "2", "-c", "3", "-m", "20", "--duration", "30s")


@pytest.fixture
def trust(certificates):
    return ["--tls-verify", "on", "--tls-ca", certificates.ca]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("only", ["1.2", "1.3"])
@pytest.mark.parametrize("way", ["starttls", "implicit"])
@pytest.mark.parametrize("name", ENGINES)
def test_what_postfix_took_is_what_was_counted(postfix, postal, users_file, certificates, trust, name, way, only):
    server = postfix("discard:", certificate=certificates.good)
    place = ["-s", "100", server.endpoint] if way == "starttls" else ["--tls", "implicit", server.tls_endpoint]
    run = postal(*LOAD, "--messages", "30", *engine(name, only), *trust, *place, users_file(5))
    check_books(run)
    assert run.total("messages") == server.drain(30) == 30 and run.record["errors"] == []
    check_tls(run, run.total("connections"), only, "ok")
    sessions = server.sessions()
    assert len(sessions) == run.total("connections")
    # asked again behind STARTTLS (RFC 3207 4.2)
    wanted = {"ehlo": 2, "starttls": 1} if way == "starttls" else {"ehlo": 1}
    for _, commands in sessions:
        assert {key: commands.get(key, 0) for key in wanted} == wanted
    shaken = re.findall(r"smtpd\[\d+\]: \w+ TLS connection established from \S+ (\S+) with cipher", server.log)
    assert shaken == [NAMES[only]] * len(sessions)


@pytest.mark.parametrize("name", ENGINES)
def test_half_of_the_connections_to_postfix_have_tls(postfix, postal, users_file, certificates, trust, name):
    server = postfix("discard:", certificate=certificates.good)
    run = postal("-t", "2", "-c", "1", "--messages", "40", "--duration", "30s", "-s", "50", *engine(name), *trust, server.endpoint, users_file(5))
    check_books(run)
    assert run.total("messages") == server.drain(40) == 40
    section = check_tls(run)
    with_tls = sum("starttls" in commands for _, commands in server.sessions())
    assert section["full"] == with_tls and 4 <= with_tls <= 36  # one in a million runs is outside


@pytest.mark.parametrize("only", ["1.2", "1.3"])
@pytest.mark.parametrize("name", ENGINES)
def test_sessions_with_postfix_are_resumed(postfix, postal, users_file, certificates, name, only):
    server = postfix("discard:", certificate=certificates.good)
    run = postal("-t", "1", "-c", "1", "--messages", "10", "--duration", "30s", "-s", "100", "--tls-resume", "100", *engine(name, only),
                 server.endpoint, users_file(5))
    check_books(run)
    assert server.drain(10) == 10
    # over TLS 1.3 it gives a session that was resumed no ticket for the next one (RFC 8446 C.4: each is for once)
    assert check_tls(run, run.total("connections"), only)["full"] == (1 if only == "1.2" else 5)


@pytest.mark.parametrize("name", ENGINES)
def test_postfix_that_asks_for_a_certificate_is_shown_one(postfix, postal, users_file, certificates, name):
    server = postfix("discard:", certificate=certificates.good, smtpd_tls_ask_ccert="yes", smtpd_tls_CAfile=certificates.ca)
    run = postal("--messages", "2", "--duration", "30s", "-s", "100", "--tls-cert", certificates.alone("client"), "--tls-key", certificates.key("client"),
                 *engine(name), server.endpoint, users_file(5))
    assert run.total("messages") == server.drain(2) == 2
    assert re.search(r": Trusted TLS connection established from ", server.log), server.log


@pytest.fixture
def filled(dovecot, postal, users_file, certificates):
    """A Dovecot with TLS and 20 messages of postal's, which came over LMTP with STARTTLS."""
    server = dovecot(1, reading=True, certificate=certificates.good)
    run = postal("-L", *LOAD, "--messages", "20", "-s", "100", "--tls-verify", "on", "--tls-ca", certificates.ca,
                 server.endpoint, users_file(server.users))
    check_books(run)
    assert run.total("messages") == 20
    check_tls(run, run.total("connections"), verification="ok")
    server.logins = users_file(login_names(server.users))
    return server


WAYS = {
    "stls": lambda server: ["-s", "100", server.pop3],
    "pop3s": lambda server: ["--tls", "implicit", server.pop3s],
    "starttls": lambda server: ["-s", "100", "-i", "100", "--imap", server.imap, server.pop3],
    "imaps": lambda server: ["--tls", "implicit", "-i", "100", "--imap", server.imaps, server.pop3s],
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("only", ["1.2", "1.3"])
@pytest.mark.parametrize("name", ENGINES)
def test_all_is_read_back_from_dovecot(filled, rabid, trust, name, only):
    """All ways with one Dovecot, for it takes longer to start than to read; the last one deletes."""
    for way, place in WAYS.items():
        keep = ["-d", "100:0"] if way != "imaps" else []
        run = rabid("--connections", "4", "--duration", "30s", *keep, *engine(name, only), *trust, *place(filled), filled.logins)
        check_reading(run)
        assert run.record["errors"] == []
        check_tls(run, run.total("connections"), only, "ok")
        assert run.total("imap_connections") == (4 if way in ("starttls", "imaps") else 0)
        found = run.record["integrity"]
        assert found["verified"] == run.total("messages") and found["corrupt"] == found["foreign"] == 0, found
        assert run.total("messages") >= 20
    assert run.total("deleted") == 20 and filled.all_mail() == []


@pytest.mark.parametrize("name", ENGINES)
def test_half_of_the_connections_to_dovecot_have_tls(filled, rabid, trust, name):
    run = rabid("--connections", "40", "--duration", "30s", "-d", "100:0", "-i", "50", "--imap", filled.imap, "-s", "50", *engine(name), *trust,
                filled.pop3, filled.logins)
    check_reading(run)
    assert run.record["errors"] == []
    check_tls(run)
    assert 4 <= run.total("tls_connections") <= 36


@pytest.mark.parametrize("only", ["1.2", "1.3"])
@pytest.mark.parametrize("name", ENGINES)
def test_sessions_with_dovecot_are_resumed(filled, rabid, name, only):
    run = rabid("--connections", "5", "--duration", "30s", "-d", "100:0", "--tls-resume", "100", *engine(name, only), "--tls", "implicit",
                filled.pop3s, filled.logins)
    check_reading(run)
    assert check_tls(run, 5, only)["resumed"] == 4
