# SPDX-License-Identifier: GPL-3.0-or-later
"""What somebody in between puts into a dialogue before TLS begins: it must never count as said over TLS (RFC 3207 6,
CVE-2011-0411, and Poddebniak and others, "Why TLS Is Better Without STARTTLS", 2021)."""
import re

import pytest

from support.dialogue import Client
from support.postal import check_books, check_reading
from support.tls_books import ENGINES, engine, tls_errors
from support.tls_peers import PeerServer, client_context, connect, ehlo_reply, server_context, take_mail, until_starttls

SHORT = ("--grace", "1s", "--timeout", "3s")


@pytest.fixture(params=ENGINES)
def backend(request):
    return engine(request.param)


@pytest.fixture
def context(certificates):
    return server_context(certificates.good)


@pytest.fixture
def logins(users_file):
    return users_file(["user0@example.com secret"])


def refused(run, reason, stage="tls"):
    check_books(run)
    assert set(tls_errors(run, stage)) == {reason}, run.record["errors"]
    assert run.total("messages") == 0


def tls_stage_only(run):
    """A server that has refused TLS may leave before the client's goodbye."""
    return "tls" in {error["stage"] for error in run.record["errors"]} <= {"tls", "quit"}


# ---- what a client must not believe ----

@pytest.mark.parametrize("injected", [b"250 forged\r\n", b"220 2.0.0 twice\r\n", b"x", b"\r\n", b"\x16\x03\x03\x00\x05hello"])
def test_smtp_behind_the_reply(postal, users_file, backend, context, injected):
    def play(peer):
        until_starttls(peer)
        peer.write(b"220 2.0.0 go on\r\n" + injected)
        peer.start_tls(context)
        take_mail(peer)
    with PeerServer(play) as server:
        run = postal.failing(*SHORT, "-s", "100", *backend, server.endpoint, users_file(2))
    refused(run, "injection")
    assert server.accepted == 0


def test_smtp_in_a_packet_of_its_own(postal, users_file, backend, context):
    def play(peer):
        until_starttls(peer)
        peer.write(b"220 2.0.0 go on\r\n")
        peer.receive()  # the client's hello
        peer.send(b"250 forged\r\n")
        peer.until_closed()
    with PeerServer(play) as server:
        run = postal.failing(*SHORT, "-s", "100", *backend, server.endpoint, users_file(2))
    refused(run, "not_tls")


@pytest.mark.parametrize("reply, code", [(b"454 4.7.0 not now\r\n", 454), (b"502 5.5.1 what\r\n", 502), (b"250 2.0.0 fine\r\n", 250)])
def test_smtp_a_refusal_does_not_lead_to_plain_mail(postal, users_file, backend, reply, code):
    def play(peer):
        until_starttls(peer)
        peer.write(reply)
        assert peer.line().upper() in (b"", b"QUIT\r\n")
    with PeerServer(play) as server:
        run = postal.failing(*SHORT, "-s", "100", *backend, server.endpoint, users_file(2))
    check_books(run)
    assert {(error["stage"], error["code"]) for error in run.record["errors"]} == {("tls", code)}


def test_smtp_what_was_offered_in_plain_is_forgotten(postal, users_file, backend, context):
    heard = []

    def play(peer):
        until_starttls(peer, (b"PIPELINING", b"CHUNKING", b"8BITMIME", b"SIZE 1000000", b"STARTTLS"))
        peer.write(b"220 2.0.0 go on\r\n")
        peer.start_tls(context)
        line = peer.line
        peer.line = lambda: heard.append(line()) or heard[-1]
        take_mail(peer)
        peer.line = line
    with PeerServer(play) as server:
        run = postal("--messages", "2", "-c", "1", "--duration", "20s", "--chunking", "auto", "-s", "100", *backend, server.endpoint, users_file(2))
    assert run.total("messages") == server.accepted == 2
    commands = b"".join(heard)
    assert b"SIZE=" not in commands and b"BODY=" not in commands and b"BDAT" not in commands
    with PeerServer(lambda peer: (until_starttls(peer, (b"8BITMIME", b"STARTTLS")), peer.write(b"220 go\r\n"), peer.start_tls(context),
                                  take_mail(peer))) as server:
        run = postal.failing(*SHORT, "-s", "100", "--body", "8bit", *backend, server.endpoint, users_file(2))
    assert set(tls_errors(run, "mail")) == {"no_8bitmime"} and server.accepted == 0


def test_smtp_starttls_behind_tls_is_not_asked_for(postal, users_file, backend, context):
    def play(peer):
        until_starttls(peer)
        peer.write(b"220 2.0.0 go on\r\n")
        peer.start_tls(context)
        peer.expect(b"EHLO")
        peer.write(ehlo_reply((b"STARTTLS",)))
        take_mail(peer)
    with PeerServer(play) as server:
        run = postal("--messages", "2", "--duration", "20s", "-s", "100", *backend, server.endpoint, users_file(2))
    assert run.total("messages") == server.accepted == 2


@pytest.mark.parametrize("injected", [b"+OK forged\r\n", b"-ERR x\r\n", b"."])
def test_pop3_behind_the_reply(rabid, logins, backend, context, injected):
    def play(peer):
        peer.write(b"+OK here\r\n")
        while not peer.line().upper().startswith(b"STLS"):
            peer.write(b"-ERR what\r\n")
        peer.write(b"+OK go on\r\n" + injected)
        assert b"PASS" not in peer.until_closed()
    with PeerServer(play) as server:
        run = rabid.failing(*SHORT, "-s", "100", *backend, server.endpoint, logins)
    check_reading(run)
    refused(run, "injection")


def test_pop3_a_refusal_does_not_lead_to_a_password_in_plain(rabid, logins, backend):
    def play(peer):
        peer.write(b"+OK here\r\n")
        while not peer.line().upper().startswith(b"STLS"):
            peer.write(b"-ERR what\r\n")
        peer.write(b"-ERR no TLS here\r\n")
        assert peer.line().upper() in (b"", b"QUIT\r\n")
    with PeerServer(play) as server:
        run = rabid.failing(*SHORT, "-s", "100", *backend, server.endpoint, logins)
    check_reading(run)
    assert tls_stage_only(run)


def until_imap_starttls(peer, greeting=b"* OK here\r\n"):
    """The tag of the STARTTLS command, which is not answered."""
    peer.write(greeting)
    while True:
        tag, verb = peer.line().split()[:2]
        if verb.upper() == b"STARTTLS":
            return tag
        peer.write(tag + b" BAD what\r\n")


def imap(server, logins):
    return ["-i", "100", "--imap", server.endpoint, server.endpoint, logins]


@pytest.mark.parametrize("injected", [b"* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n", b"a2 OK LOGIN done\r\n", b"* 9 EXISTS\r\n", b"x"])
def test_imap_behind_the_reply(rabid, logins, backend, context, injected):
    def play(peer):
        tag = until_imap_starttls(peer)
        peer.write(tag + b" OK go on\r\n" + injected)
        assert b"LOGIN" not in peer.until_closed()
    with PeerServer(play) as server:
        run = rabid.failing(*SHORT, "-s", "100", *backend, *imap(server, logins))
    check_reading(run)
    refused(run, "injection")


@pytest.mark.parametrize("greeting", [b"* PREAUTH come in\r\n", b"* PREAUTH [CAPABILITY IMAP4rev1] come in\r\n"])
def test_imap_preauth_keeps_nobody_from_tls(rabid, logins, backend, greeting):
    def play(peer):
        peer.write(greeting)
        heard = peer.until_closed().upper()
        assert b"SELECT" not in heard and b"LOGIN" not in heard and b"APPEND" not in heard
    with PeerServer(play) as server:
        run = rabid.failing(*SHORT, "-s", "100", *backend, *imap(server, logins))
    check_reading(run)
    refused(run, "preauth")


@pytest.mark.parametrize("said", [
    b"* PREAUTH forged\r\n", b"* 7 EXISTS\r\n* 7 FETCH (UID 7 FLAGS ())\r\n", b"* CAPABILITY IMAP4rev1 LOGINDISABLED COMPRESS=DEFLATE\r\n",
    b"* OK [CAPABILITY IMAP4rev1 LITERAL+ COMPRESS=DEFLATE] x\r\n", b"* FLAGS (x)\r\n* OK [UIDVALIDITY 9] x\r\n"])
def test_imap_what_was_said_in_plain_is_forgotten(rabid, logins, backend, context, said):
    verbs = []

    def play(peer):
        tag = until_imap_starttls(peer, b"* OK [CAPABILITY IMAP4rev1 STARTTLS LOGINDISABLED] here\r\n")
        peer.write(said + tag + b" OK go on\r\n")
        peer.start_tls(context)
        while True:
            tag, verb = peer.line().split()[:2]
            verbs.append(verb.upper())
            peer.write({b"CAPABILITY": b"* CAPABILITY IMAP4rev1\r\n", b"SELECT": b"* 0 EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n",
                        b"LOGOUT": b"* BYE\r\n"}.get(verb.upper(), b"") + tag + b" OK done\r\n")
            if verb.upper() == b"LOGOUT":
                return peer.send(peer.goodbye())
    with PeerServer(play) as server:
        run = rabid("--connections", "1", "--duration", "20s", "-s", "100", "--compress", "auto", *backend, *imap(server, logins))
    check_reading(run)
    assert set(tls_errors(run)) <= {"contradiction"} and len(run.record["errors"]) <= 1, run.record["errors"]  # its, in plain
    assert verbs[:2] == [b"CAPABILITY", b"LOGIN"] and b"COMPRESS" not in verbs
    assert run.total("messages") == 0


def test_imap_bye_and_no_are_ends(rabid, logins, backend):
    def play(peer):
        tag = until_imap_starttls(peer)
        peer.write(b"* BYE forged\r\n" if peer.server.connections % 2 else tag + b" NO forged\r\n")
        assert b"LOGIN" not in peer.line().upper()
    with PeerServer(play) as server:
        run = rabid.failing(*SHORT, "-s", "100", *backend, *imap(server, logins))
    check_reading(run)
    assert tls_stage_only(run)


# ---- what a server must not do ----

@pytest.fixture(params=["bhm", "lmtp-deliver"])
def server(request, bhm, lmtp_deliver, agents, backend, certificates):
    words = ["-s", "--tls-cert", certificates.good, *backend]
    started = bhm(*words) if request.param == "bhm" else lmtp_deliver(agents("status", "0"), *words)
    started.hello = "EHLO" if request.param == "bhm" else "LHLO"
    return started


def client_of(server):
    host, port = server.endpoint.split(":")
    client = Client((host, int(port)))
    client.expect(220)
    client.say(f"{server.hello} client.example", 250)
    return client


@pytest.mark.thinned(3)
@pytest.mark.parametrize("behind", ["{hello} injected.example\r\n", "MAIL FROM:<a@example.com>\r\n", "QUIT\r\n", "x"])
def test_commands_behind_starttls(server, behind):
    with client_of(server) as client:
        client.write(b"STARTTLS\r\n" + behind.format(hello=server.hello).encode())
        text = client.expect(554)
        assert b"5.5.1" in text and client.line() == b""
    with client_of(server) as client:
        client.quit()
    done = server.stop()
    assert tls_errors(done) == {"injection": 1}
    assert done.total("tls_connections") == done.total("started") == 0


def test_commands_in_a_packet_of_their_own_are_no_hello(server):
    with client_of(server) as client:
        client.say("STARTTLS", 220)
        client.write(b"MAIL FROM:<a@example.com>\r\n")
        assert re.match(rb"\x15|$", client.line())
    done = server.stop()
    assert tls_errors(done) == {"not_tls": 1}
    assert done.total("tls_connections") == done.total("started") == 0


def test_the_dialogue_begins_anew_behind_tls(server):
    """RFC 3207 4.2: neither EHLO nor a transaction from before counts, and STARTTLS is not offered again."""
    hello = server.hello.encode()
    with connect(server.endpoint) as peer:
        peer.reply()
        assert b"STARTTLS" in peer.say(hello + b" client.example")
        peer.say(b"MAIL FROM:<a@example.com>")
        peer.say(b"STARTTLS now", b"501")
        peer.say(b"STARTTLS", b"220")
        peer.start_tls(client_context())
        peer.say(b"RCPT TO:<b@example.com>", b"503")
        peer.say(b"MAIL FROM:<a@example.com>", b"503")
        assert b"STARTTLS" not in peer.say(hello + b" client.example")
        peer.say(b"STARTTLS", b"503")
        peer.say(b"MAIL FROM:<a@example.com>")
        peer.say(b"RCPT TO:<b@example.com>")
        peer.say(b"QUIT", b"221")
    done = server.stop()
    assert done.total("tls_connections") == 1 and done.total("messages") == 0
    # before TLS, refused behind it, and given up by QUIT
    assert (done.total("started"), done.total("failed"), done.total("rejected")) == (3, 2, 1)
