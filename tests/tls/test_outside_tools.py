# SPDX-License-Identifier: GPL-3.0-or-later
"""Tools that nobody here wrote, with TLS: openssl s_client, gnutls-cli, swaks and Python's smtplib as clients of ours;
openssl s_server and gnutls-serv for ours as clients."""
import smtplib
import ssl
import subprocess

import pytest

from support.process import Process, free_port
from support.tls_books import ENGINES, check_tls, engine, tls_errors

MAIL = "From: <a@example.com>\r\nTo: <b@example.com>\r\nSubject: one\r\n\r\nbody\r\n"
DIALOGUE = b"EHLO client.example\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nDATA\r\n" + MAIL.encode() + b".\r\nQUIT\r\n"


@pytest.fixture(params=ENGINES)
def server(request, bhm, certificates):
    return bhm("-s", "--tls-cert", certificates.good, *engine(request.param), listen_tls=True)


def one_message(server, errors=False):
    """What it has seen of one client; its Run."""
    done = server.stop()
    assert done.total("messages") == done.total("tls_connections") == 1, (done.record["errors"], done.stderr)
    assert errors or done.record["errors"] == [], done.record["errors"]
    check_tls(done)
    return done


def talk(words, text=DIALOGUE):
    """Runs a client that sends all of this at once, through TLS; what it printed."""
    done = subprocess.run([str(word) for word in words], input=text, capture_output=True, timeout=20, check=False)
    return done.stdout + done.stderr


@pytest.mark.thinned(3)
@pytest.mark.parametrize("only", ["1.2", "1.3"])
@pytest.mark.parametrize("way", ["starttls", "implicit"])
def test_s_client(server, certificates, tool, way, only):
    how = ["-starttls", "smtp", "-connect", server.endpoint] if way == "starttls" else ["-connect", server.tls_endpoint]
    said = talk([tool("openssl"), "s_client", "-quiet", "-crlf", "-verify_return_error", "-CAfile", certificates.ca, "-verify_ip", "127.0.0.1",
                 f"-tls{only.replace('.', '_')}", *how], DIALOGUE.replace(b"\r\n", b"\n"))
    assert b"354" in said and b"221" in said, said
    one_message(server)


@pytest.mark.parametrize("way", ["starttls", "implicit"])
def test_gnutls_cli(server, certificates, tool, way):
    """It asks with an EHLO of its own, in plain."""
    port = (server.endpoint if way == "starttls" else server.tls_endpoint).rpartition(":")[2]
    how = ["--starttls-proto=smtp"] if way == "starttls" else []
    said = talk([tool("gnutls-cli"), *how, "--x509cafile", certificates.ca, "--port", port, "localhost"])
    assert b"354" in said and b"221" in said, said
    one_message(server, errors=True)


@pytest.mark.parametrize("way", ["--tls", "--tlsc"])
def test_swaks(server, tool, way):
    host, port = (server.endpoint if way == "--tls" else server.tls_endpoint).split(":")
    said = talk([tool("swaks"), way, "--server", host, "--port", port, "--from", "a@example.com", "--to", "b@example.com", "--body", "one line"], b"")
    assert b"TLS started with cipher" in said and b"<~  221" in said, said
    one_message(server)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("program", ["bhm", "lmtp-deliver"])
@pytest.mark.parametrize("way", ["starttls", "implicit"])
@pytest.mark.parametrize("name", ENGINES)
def test_smtplib(bhm, lmtp_deliver, agents, certificates, name, way, program):
    words = ["-s", "--tls-cert", certificates.good, *engine(name)]
    server = bhm(*words, listen_tls=True) if program == "bhm" else lmtp_deliver(agents("status", "0"), *words, listen_tls=True)
    context = ssl.create_default_context(cafile=certificates.ca)
    port = int((server.endpoint if way == "starttls" else server.tls_endpoint).rpartition(":")[2])
    hello = "ehlo" if program == "bhm" else "lhlo"
    kind = smtplib.SMTP if way == "starttls" else smtplib.SMTP_SSL
    with kind("localhost", port, timeout=20, **({} if way == "starttls" else {"context": context})) as client:
        client.ehlo_msg = hello  # as smtplib.LMTP has it
        client.ehlo()
        if way == "starttls":
            client.starttls(context=context)
            client.ehlo()
            assert not client.has_extn("starttls")
        assert client.sendmail("a@example.com", ["b@example.com"], MAIL) == {}
    one_message(server)


SERVERS = {
    "s_server": lambda tool, certificates, port: [tool("openssl"), "s_server", "-www", "-accept", f"127.0.0.1:{port}",
                                                  "-cert", certificates.alone("good"), "-key", certificates.key("good")],
    "gnutls-serv": lambda tool, certificates, port: [tool("gnutls-serv"), "--echo", "--port", port, "--x509certfile", certificates.alone("good"),
                                                     "--x509keyfile", certificates.key("good")],
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("kind", SERVERS)
@pytest.mark.parametrize("only", ["1.2", "1.3"])
@pytest.mark.parametrize("name", ENGINES)
def test_servers_that_speak_no_smtp(postal, users_file, certificates, tool, folder, name, only, kind):
    """They shake hands and then say nothing: the handshake is counted and the greeting missed."""
    port = free_port()
    server = Process(SERVERS[kind](tool, certificates, port), folder, kind)
    try:
        server.wait_for_listener(("127.0.0.1", port))
        run = postal.failing("--greeting-timeout", "1s", "--tls", "implicit", "--tls-verify", "on", "--tls-ca", certificates.ca,
                             *engine(name, only), f"127.0.0.1:{port}", users_file(2))
    finally:
        server.kill()
    assert tls_errors(run) == {} and set(tls_errors(run, "banner")) == {"timeout"}, run.record["errors"]
    section = check_tls(run, version=None, verification="ok")
    assert section["full"] > 0
