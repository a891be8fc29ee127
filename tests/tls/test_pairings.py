# SPDX-License-Identifier: GPL-3.0-or-later
"""Every client of ours with every server of ours, with both libraries at both ends: all mail arrives, both ends tell
one story, and the records say how it was kept secret."""
import pytest

from support.postal import check_books
from support.tls_books import ENGINES, check_tls, engine, tls_errors

LOAD = ("-t", "2", "-c", "1", "-M", "8", "-m", "40", "--messages", "24", "--duration", "20s")
CIPHERS = {"AES-128-GCM": "AES_128_GCM", "AES-256-GCM": "AES_256_GCM", "CHACHA20-POLY1305": "CHACHA20_POLY1305"}


@pytest.fixture
def server(bhm, lmtp_deliver, agents, certificates):
    """server("bhm", option, …) is one that offers STARTTLS and has a port for those who begin with TLS."""
    def start(which, *words):
        words = ["-s", "--tls-cert", certificates.good, *words]
        if which == "bhm":
            return bhm(*words, listen_tls=True)
        return lmtp_deliver(agents("status", "0"), *words, listen_tls=True)
    return start


def place(server, way):
    """The words that lead a client there, with TLS."""
    return ["-s", "100", server.endpoint] if way == "starttls" else ["--tls", "implicit", server.tls_endpoint]


def check_both(run, server, **facts):
    """Both ends saw the same; the server is ended and its Run returned."""
    check_books(run)
    done = server.stop()
    totals = run.record["totals"]
    for key in ("messages", "recipients", "connections", "tls_connections"):
        assert done.total(key) == totals[key], key
    assert run.record["errors"] == done.record["errors"] == []
    section, seen = check_tls(run, **facts), check_tls(done)
    for key in ("full", "resumed", "versions", "ciphers"):
        assert section[key] == seen[key], key
    return done


@pytest.mark.thinned(3)
@pytest.mark.parametrize("only", ["1.2", "1.3"])
@pytest.mark.parametrize("way", ["starttls", "implicit"])
@pytest.mark.parametrize("server_engine", ENGINES)
@pytest.mark.parametrize("client_engine", ENGINES)
@pytest.mark.parametrize("which", ["bhm", "lmtp-deliver"])
def test_both_ends_tell_one_story(server, postal, users_file, certificates, which, client_engine, server_engine, way, only):
    there = server(which, *engine(server_engine))
    lmtp = ["-L"] if which == "lmtp-deliver" else []
    run = postal(*LOAD, *lmtp, *engine(client_engine, only), "--tls-verify", "on", "--tls-ca", certificates.ca,
                 *place(there, way), users_file(5))
    assert run.total("messages") == 24
    section = check_tls(run, run.total("connections"), only, "ok")
    assert section["resumed"] == 0
    check_both(run, there)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("only", ["1.2", "1.3"])
@pytest.mark.parametrize("server_engine", ENGINES)
@pytest.mark.parametrize("client_engine", ENGINES)
def test_sessions_are_resumed(server, postal, users_file, client_engine, server_engine, only):
    there = server("bhm", *engine(server_engine))
    run = postal(*LOAD, *engine(client_engine, only), "--tls-resume", "100", *place(there, "starttls"), users_file(5))
    assert run.total("messages") == 24
    done = check_both(run, there, connections=run.total("connections"), version=only)
    # A session of the two begins once anew, if the other one has left it anything to send; the last tickets are not used any more.
    assert done.record["tls"]["full"] in (1, 2)


@pytest.mark.parametrize("client_engine", ENGINES)
def test_half_of_the_sessions_are_resumed(server, postal, users_file, client_engine):
    there = server("bhm")
    run = postal("-t", "2", "-c", "1", "-M", "1", "--messages", "100", *engine(client_engine), "--tls-resume", "50",
                 *place(there, "implicit"), users_file(5))
    check_both(run, there)
    assert 20 <= run.record["tls"]["resumed"] <= 75  # one in a million runs is outside


@pytest.mark.thinned(5)
@pytest.mark.parametrize("only", ["1.2", "1.3"])
@pytest.mark.parametrize("cipher", CIPHERS)
@pytest.mark.parametrize("client_engine, server_engine", [ENGINES, ENGINES[::-1]])
def test_the_cipher_and_the_group_that_were_named_are_used(server, postal, users_file, client_engine, server_engine, cipher, only):
    # in TLS 1.2 the groups are those of the server's certificate, too (RFC 8422 5.1)
    group, iana = ("P-256", "secp256r1") if only == "1.2" else ("P-384", "secp384r1")
    there = server("bhm", *engine(server_engine))
    run = postal("-c", "1", "--messages", "3", "--duration", "20s", *engine(client_engine, only), "--tls-ciphers", cipher,
                 "--tls-groups", group, *place(there, "starttls"), users_file(2))
    section = check_tls(run, run.total("connections"), only)
    assert all(CIPHERS[cipher] in name for name in section["ciphers"]), section
    assert section["groups"] == {iana: run.total("connections")}
    check_both(run, there)


@pytest.mark.parametrize("client_engine", ENGINES)
@pytest.mark.parametrize("server_engine", ENGINES)
@pytest.mark.parametrize("words", [["--pipelining", "off"], ["--pipelining", "auto", "--body", "dots=50,long-lines=50"],
                                   ["--chunking", "auto", "--in-flight", "4"]], ids=["plain", "pipelined", "chunked"])
def test_large_messages(server, postal, users_file, client_engine, server_engine, words):
    there = server("bhm", *engine(server_engine))
    run = postal("-t", "2", "-c", "4", "-M", "600", "-m", "2000", "--messages", "10", "--duration", "20s", *words, *engine(client_engine),
                 *place(there, "starttls"), users_file(3))
    assert run.total("messages") == 10
    done = check_both(run, there)
    found = done.record["integrity"]
    assert found["verified"] == 10 and found["corrupt"] == 0, found


def test_half_of_the_connections_have_tls(server, postal, users_file):
    there = server("bhm")
    run = postal("-t", "2", "-c", "1", "-M", "1", "--messages", "100", "-s", "50", there.endpoint, users_file(5))
    done = check_both(run, there)
    assert 25 <= done.total("tls_connections") <= 75 < done.total("connections")


@pytest.mark.parametrize("which", ["bhm", "lmtp-deliver"])
def test_mail_without_tls_is_refused_where_it_is_required(server, postal, users_file, which):
    there = server(which, "--require-tls")
    lmtp = ["-L"] if which == "lmtp-deliver" else []
    run = postal("-c", "1", "--messages", "5", *lmtp, there.endpoint, users_file(2), status=4)
    check_books(run)
    assert run.total("messages") == 0 < run.total("rejected")
    assert {(error["stage"], error["code"], error["enhanced"]) for error in run.record["errors"]} == {("mail", 530, "5.7.0")}
    run = postal("-c", "1", "--messages", "5", *lmtp, *place(there, "starttls"), users_file(2))
    assert run.total("messages") == there.stop().total("messages") == 5


def test_a_server_without_tls_gets_no_mail(bhm, postal, users_file):
    there = bhm()
    run = postal.failing("-s", "100", there.endpoint, users_file(2))
    check_books(run)
    assert set(tls_errors(run)) == {"no_starttls"}
    assert there.stop().total("messages") == 0


@pytest.mark.parametrize("name", ENGINES)
def test_a_server_makes_a_certificate_and_says_its_fingerprint(bhm, postal, users_file, name, tool, folder):
    there = bhm("-s", *engine(name), listen_tls=True)
    fingerprint = there.process.wait_for_line(r"SHA-256 ((?:[0-9A-F]{2}:){31}[0-9A-F]{2})$").group(1)
    import hashlib
    import ssl
    host, port = there.tls_endpoint.split(":")
    shown = ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate((host, int(port))))
    assert hashlib.sha256(shown).hexdigest().upper() == fingerprint.replace(":", "")
    (folder / "made.pem").write_text(ssl.DER_cert_to_PEM_cert(shown))
    for client_engine in ENGINES:  # good for the names of this machine
        run = postal("--messages", "2", *engine(client_engine), "--tls-verify", "on", "--tls-ca", folder / "made.pem", "--tls-sni", "localhost",
                     *place(there, "implicit"), users_file(2))
        assert run.total("messages") == 2
