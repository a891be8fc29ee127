# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers whose certificate, version or ciphers are not what was asked for: with --tls-verify on each has its own reason,
nothing is delivered and the status says so. And clients' certificates, which bhm may ask for."""
import pytest

from support.postal import check_books, check_reading
from support.tls_books import ENGINES, check_tls, engine, tls_errors
from support.tls_peers import PeerServer, good_smtp, good_smtps, server_context

THREE = ("--messages", "3", "-c", "1", "--duration", "30s", "--grace", "1s")
REFUSED = ("--grace", "1s")
REASONS = {
    "expired": "certificate_expired", "early": "certificate_not_yet_valid", "wrong_name": "certificate_wrong_name",
    "self_signed": "certificate_self_signed", "unknown": "certificate_unknown_issuer", "revoked": "certificate_revoked",
}


def trust(certificates, kind=None):
    return ["--tls-verify", "on", "--tls-ca", certificates.ca, *(["--tls-crl", certificates.crl] if kind == "revoked" else [])]


def nothing_was_sent(run, *reasons):
    """Ended with 4, with these reasons and no others at the stage tls; each with the library's own words."""
    check_books(run)
    assert run.total("messages") == run.total("tls_connections") == run.total("started") == 0
    assert {error["stage"] for error in run.record["errors"]} == {"tls"}
    assert set(tls_errors(run)) <= set(reasons), run.record["errors"]
    assert all(error["sample"] for error in run.record["errors"])
    check_tls(run, 0)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name, way", [("openssl", "starttls"), ("gnutls", "implicit")])
@pytest.mark.parametrize("kind", REASONS)
def test_a_certificate_that_is_not_right(bhm, postal, users_file, certificates, kind, name, way):
    server = bhm("-s", "--tls-cert", getattr(certificates, kind), listen_tls=True)
    place = ["-s", "100", server.endpoint] if way == "starttls" else ["--tls", "implicit", server.tls_endpoint]
    run = postal.failing(*REFUSED, *engine(name), *trust(certificates, kind), *place, users_file(2))
    nothing_was_sent(run, REASONS[kind])
    assert "not verified" not in run.stderr
    run = postal(*THREE, *engine(name), *place, users_file(2))
    assert run.total("messages") == 3
    check_tls(run, run.total("connections"), verification="not checked")
    assert "not verified" in run.stderr
    done = server.stop()
    assert done.total("messages") == 3
    told = tls_errors(done)  # the client says why, with an alert, or only leaves
    assert told and set(told) <= {"alert_certificate_expired", "alert_certificate_unknown", "alert_bad_certificate", "alert_unknown_ca",
                                  "alert_certificate_revoked", "closed", "reset"}, told


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name, only", [("openssl", "1.2"), ("gnutls", "1.3")])
@pytest.mark.parametrize("kind", REASONS)
def test_a_certificate_that_another_library_shows(postal, users_file, certificates, kind, name, only):
    with PeerServer(good_smtps, server_context(getattr(certificates, kind), only)) as server:
        run = postal.failing(*REFUSED, *engine(name), *trust(certificates, kind), "--tls", "implicit", server.endpoint, users_file(2))
        nothing_was_sent(run, REASONS[kind])
        assert server.accepted == 0 < server.connections


@pytest.mark.parametrize("name", ENGINES)
def test_the_name_that_was_asked_for_counts(bhm, postal, users_file, certificates, name):
    server = bhm("-s", "--tls-cert", certificates.wrong_name)
    words = ["-s", "100", *engine(name), *trust(certificates)]
    run = postal(*THREE, *words, "--tls-sni", "elsewhere.example.com", server.endpoint, users_file(2))
    assert run.total("messages") == 3
    run = postal.failing(*REFUSED, *words, "--tls-sni", "example.com", server.endpoint, users_file(2))
    nothing_was_sent(run, "certificate_wrong_name")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
@pytest.mark.parametrize("name", ENGINES)
def test_names_and_addresses_are_checked(bhm, postal, users_file, certificates, host, name):
    server = bhm("-s", "--tls-cert", certificates.good, listen=["[::1]:0" if host == "[::1]" else "127.0.0.1:0"])
    run = postal(*THREE, "-s", "100", *engine(name), *trust(certificates), f"{host}:{server.port}", users_file(2))
    assert run.total("messages") == 3
    check_tls(run, run.total("connections"), verification="ok")


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("kind", ["expired", "unknown"])
@pytest.mark.parametrize("way", ["pop3", "imap"])
def test_rabid_looks_at_certificates_too(dovecot, rabid, users_file, certificates, kind, name, way):
    server = dovecot(1, reading=True, certificate=getattr(certificates, kind))
    logins = users_file([f"{user} secret" for user in server.users])
    place = ["-i", "100", "--imap", server.imap, server.pop3] if way == "imap" else [server.pop3]
    run = rabid.failing("-s", "100", *engine(name), *trust(certificates), *place, logins)
    check_reading(run)
    nothing_was_sent(run, REASONS[kind])


# ---- versions and ciphers ----

@pytest.mark.parametrize("starttls", [good_smtp, good_smtps])
@pytest.mark.parametrize("name", ENGINES)
def test_a_server_that_is_too_old(postal, users_file, certificates, name, starttls):
    way = "starttls" if starttls is good_smtp else "implicit"
    with PeerServer(starttls, server_context(certificates.good, "1.1")) as server:
        run = postal.failing(*REFUSED, *engine(name), "--tls", way, server.endpoint, users_file(2))
    nothing_was_sent(run, "alert_protocol_version")


@pytest.mark.parametrize("name", ENGINES)
def test_a_server_that_answers_with_an_old_version(postal, users_file, name):
    """One so old that it does not look at what the client offers."""
    hello = bytes.fromhex("16 0302 002a 02 000026 0302") + bytes(32) + bytes.fromhex("00 c013 00")

    def play(peer):
        peer.receive()
        peer.send(hello)
        peer.until_closed()
    with PeerServer(play) as server:
        run = postal.failing(*REFUSED, *engine(name), "--tls", "implicit", server.endpoint, users_file(2))
    nothing_was_sent(run, "no_common_version")


@pytest.mark.thinned(3)
@pytest.mark.parametrize("client_engine", ENGINES)
@pytest.mark.parametrize("server_engine", ENGINES)
@pytest.mark.parametrize("client, server, at_client, at_server", [
    (["--tls-min", "1.3"], ["--tls-max", "1.2"], {"alert_protocol_version"}, {"no_common_version"}),
    (["--tls-max", "1.2"], ["--tls-min", "1.3"], {"alert_protocol_version"}, {"no_common_version"}),
    (["--tls-ciphers", "AES-128-GCM"], ["--tls-ciphers", "CHACHA20-POLY1305"], {"alert_handshake_failure", "alert_insufficient_security"},
     {"no_common_cipher"}),
    (["--tls-max", "1.2", "--tls-ciphers", "AES-128-GCM"], ["--tls-ciphers", "AES-256-GCM"],
     {"alert_handshake_failure", "alert_insufficient_security"}, {"no_common_cipher"}),
    (["--tls-min", "1.3", "--tls-groups", "X448"], ["--tls-groups", "P-521"], {"alert_handshake_failure", "alert_insufficient_security"},
     {"no_common_cipher"}),
], ids=["client-too-new", "client-too-old", "cipher", "cipher-1.2", "group"])
def test_nothing_in_common(bhm, postal, users_file, client_engine, server_engine, client, server, at_client, at_server):
    there = bhm("-s", *engine(server_engine), *server)
    run = postal.failing(*REFUSED, *engine(client_engine), *client, "-s", "100", there.endpoint, users_file(2))
    done = there.stop()
    if server_engine == "gnutls" and at_server == {"no_common_version"}:  # it looks for a cipher first
        at_client, at_server = {"alert_handshake_failure"}, {"no_common_cipher"}
    nothing_was_sent(run, *at_client)
    assert set(tls_errors(done)) == at_server, done.record["errors"]
    assert done.total("messages") == done.total("tls_connections") == 0


# ---- clients' certificates ----

@pytest.mark.parametrize("only", ["1.2", "1.3"])
@pytest.mark.parametrize("client_engine", ENGINES)
@pytest.mark.parametrize("server_engine", ENGINES)
def test_clients_show_who_they_are(bhm, postal, users_file, certificates, client_engine, server_engine, only):
    server = bhm("-s", "--tls-cert", certificates.good, "--tls-client-ca", certificates.ca, *engine(server_engine))
    words = ["-s", "100", *engine(client_engine, only)]
    known = postal(*THREE, *words, "--tls-cert", certificates.client, server.endpoint, users_file(2))
    nameless = postal(*THREE, *words, server.endpoint, users_file(2))
    assert known.total("messages") == nameless.total("messages") == 3
    wrong = postal.failing(*REFUSED, *words, "--tls-cert", certificates.stranger, server.endpoint, users_file(2))
    assert wrong.total("messages") == 0
    assert wrong.record["errors"] and all(error["reason"].startswith("alert_") or error["reason"] in ("closed", "reset")
                                          for error in wrong.record["errors"])
    done = server.stop()
    assert done.total("messages") == 6
    found = done.record["tls"]["verification"]
    assert found == {"ok": known.total("connections"), "no certificate": nameless.total("connections")}
    assert set(tls_errors(done)) - {"closed", "reset"} == {"certificate_unknown_issuer"}


@pytest.mark.parametrize("server_engine", ENGINES)
def test_a_client_whose_certificate_was_revoked(bhm, postal, users_file, certificates, server_engine):
    server = bhm("-s", "--tls-cert", certificates.good, "--tls-client-ca", certificates.ca, "--tls-crl", certificates.crl, *engine(server_engine))
    words = ["-s", "100"]
    assert postal.failing(*REFUSED, *words, "--tls-cert", certificates.revoked, server.endpoint, users_file(2)).total("messages") == 0
    assert postal(*THREE, *words, "--tls-cert", certificates.client, server.endpoint, users_file(2)).total("messages") == 3
    done = server.stop()
    assert done.total("messages") == 3
    assert "certificate_revoked" in tls_errors(done)
