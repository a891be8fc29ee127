# SPDX-License-Identifier: GPL-3.0-or-later
"""SCRAM over TLS, and who could bind the channel (RFC 5802 6): our servers with hashlib's clients, our clients with its servers,
both with each other, and both with somebody between."""
import base64
import smtplib
import ssl

import pytest

from support.hostile_auth import PASSWORD as SECRET
from support.hostile_auth import HostileAuth
from support.scram import ScramClient
from support.tls_books import ENGINES, check_tls, engine
from support.tls_peers import PeerServer, client_context, connect, server_context

USER, PASSWORD = "user@example.com", "pencil"


def log_in(server, flag):
    """The code of the last reply to a login with SCRAM-SHA-256."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    scram = ScramClient("sha256", USER, PASSWORD, flag=flag)
    with smtplib.SMTP("127.0.0.1", int(server.endpoint.rsplit(":", 1)[1]), timeout=30) as client:
        client.starttls(context=context)
        client.ehlo()
        code, text = client.docmd("AUTH", "SCRAM-SHA-256 " + base64.b64encode(scram.first.encode()).decode())
        if code != 334:
            return code
        code, text = client.docmd(base64.b64encode(scram.final(base64.b64decode(text).decode()).encode()).decode())
        if code != 334:
            return code
        assert scram.proves(base64.b64decode(text).decode())
        return client.docmd("")[0]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("offered, flag, wanted", [
    ("SCRAM-SHA-256", "n", 235),
    ("SCRAM-SHA-256", "y", 235),
    ("SCRAM-SHA-256,SCRAM-SHA-1-PLUS", "y", 235),
    ("SCRAM-SHA-256,SCRAM-SHA-256-PLUS", "n", 235),
    ("SCRAM-SHA-256,SCRAM-SHA-256-PLUS", "y", 535),  # somebody has taken the -PLUS out of what it heard
])
@pytest.mark.parametrize("name", ENGINES)
def test_a_client_that_thinks_the_server_cannot_bind(bhm, users_file, name, offered, flag, wanted):
    server = bhm("-s", *engine(name), "--auth", offered, users_file([f"{USER} {PASSWORD}"]))
    assert log_in(server, flag) == wanted
    assert server.stop().record.get("authentications", {}) == ({"SCRAM-SHA-256": 1} if wanted == 235 else {})


@pytest.mark.thinned(5)
@pytest.mark.parametrize("way", ["smtp", "pop3", "imap"])
@pytest.mark.parametrize("offered, only, header", [
    ("SCRAM-SHA-256", None, b"y,,"),
    ("SCRAM-SHA-256", "1.2", b"n,,"),  # to which nothing is bound
    ("SCRAM-SHA-256", "none", b"n,,"),
    ("SCRAM-SHA-256 SCRAM-SHA-256-PLUS", None, b"n,,"),  # which was named without
])
@pytest.mark.parametrize("name", ENGINES)
def test_what_a_client_says_of_the_channel(postal, rabid, users_file, certificates, way, name, offered, only, header):
    heard, users = [], users_file([f"{USER} {SECRET}"])
    tls = None if only == "none" else server_context(certificates.good, only)
    with HostileAuth(way, "right", offered, tls=tls, heard=heard.append) as server:
        words = [*(["--tls", "implicit", *engine(name)] if tls else []), "--auth", "SCRAM-SHA-256"]
        share = ["-i", "100", "--imap", server.endpoint] if way == "imap" else []
        count = ["--messages", "2", "-c", "1"] if way == "smtp" else ["--connections", "2"]
        run = (postal if way == "smtp" else rabid)(*words, *count, *share, server.endpoint, users)
    assert run.record["errors"] == [] and run.record["authentications"] == {"SCRAM-SHA-256": 2}
    said = [base64.b64decode(line.split()[-1]) for line in heard if b" SCRAM-SHA-256 " in line]
    assert [text[:3] for text in said] == [header] * 2, said
    proofs = [text for text in map(base64.b64decode, server.answers) if b",p=" in text]
    assert [text.split(b",")[0] for text in proofs] == [b"c=" + base64.b64encode(header)] * 2, proofs


@pytest.mark.parametrize("theirs", ENGINES)
@pytest.mark.parametrize("name", ENGINES)
def test_bhm_and_postal(bhm, postal, users_file, name, theirs):
    """GNU SASL's server takes each header that postal says."""
    users = users_file([f"{USER} {PASSWORD}"])
    for offered, chosen, used in (("SCRAM-SHA-256", "auto", "SCRAM-SHA-256"),
                                  ("SCRAM-SHA-1", "auto", "SCRAM-SHA-1"),
                                  ("SCRAM-SHA-256,SCRAM-SHA-256-PLUS", "auto", "SCRAM-SHA-256-PLUS"),
                                  ("SCRAM-SHA-1,SCRAM-SHA-1-PLUS", "auto", "SCRAM-SHA-1-PLUS"),
                                  ("SCRAM-SHA-256,SCRAM-SHA-256-PLUS", "SCRAM-SHA-256", "SCRAM-SHA-256"),
                                  ("SCRAM-SHA-256,SCRAM-SHA-1-PLUS", "SCRAM-SHA-256", "SCRAM-SHA-256")):
        server = bhm("-s", *engine(theirs), "--auth", offered, "--require-auth", users)
        run = postal("-s", "100", *engine(name), "--auth", chosen, "-c", "1", "--messages", "3", server.endpoint, users)
        check_tls(run, 3, "1.3")
        assert run.record["errors"] == [] and run.record["authentications"] == {used: 3}
        assert server.stop().record["authentications"] == {used: 3}


@pytest.mark.parametrize("name", ENGINES)
def test_somebody_between(bhm, postal, users_file, certificates, name):
    """Somebody whose certificate is believed passes everything on, -PLUS or not: no login, whichever mechanism is left."""
    users = users_file([f"{USER} {PASSWORD}"])
    server = bhm("-s", *engine(name), "--auth", "SCRAM-SHA-256,SCRAM-SHA-256-PLUS", users)
    for taken_out, left in ((b"SCRAM-SHA-256-PLUS ", "SCRAM-SHA-256"), (b"nothing", "SCRAM-SHA-256-PLUS")):
        def pass_on(peer):
            with connect(server.endpoint) as onwards:
                peer.write(onwards.reply())
                while True:
                    line = peer.line()
                    onwards.write(line)
                    peer.write(onwards.reply().replace(taken_out, b""))
                    if line.upper() == b"STARTTLS\r\n":
                        onwards.start_tls(client_context())
                        peer.start_tls(peer.server.context)

        with PeerServer(pass_on, server_context(certificates.good)) as between:
            run = postal.failing("-s", "100", *engine(name), "--auth", "auto", between.endpoint, users)
        errors = {(error["stage"], error["code"], error["sample"].split(":")[0]) for error in run.record["errors"]}
        assert errors == {("auth", 535, left)}, run.record["errors"]
    assert "authentications" not in server.stop().record
