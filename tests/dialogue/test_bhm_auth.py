# SPDX-License-Identifier: GPL-3.0-or-later
"""AUTH of bhm as clients meet it: octet by octet, with Python's own SCRAM, smtplib and swaks."""
import base64
import json
import smtplib
import subprocess

import pytest

from support.dialogue import Client
from support.postal import BlackHole
from support.scram import ScramClient, check_examples
from support.secrets import assert_hidden, check_the_check, files_below

USER, PASSWORD = "user0@example.com", "hush-hush-0"
PASSWORDS = "PLAIN,LOGIN,CRAM-MD5,SCRAM-SHA-1,SCRAM-SHA-256"
EVERYTHING = PASSWORDS + ",XOAUTH2,OAUTHBEARER,ANONYMOUS"


def b64(text):
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def plain(user=USER, password=PASSWORD):
    return b64(f"\0{user}\0{password}")


@pytest.fixture
def server(bhm, users_file) -> BlackHole:
    """server(option, …) is a bhm that knows three users, the last without a password."""
    def start(*words, auth=EVERYTHING, insecure=True):
        users = users_file([f"{USER} {PASSWORD}", "user1@example.com other-pass", "user2@example.com -"])
        return bhm("--auth", auth, *(["--auth-insecure"] if insecure else []), *words, users)
    return start


def greeted(server):
    client = Client(("127.0.0.1", server.port))
    client.expect(220)
    return client, client.say("EHLO client.example", 250).decode()


def challenge(client, command):
    return base64.b64decode(client.say(command, 334)[4:].strip()).decode()


def test_what_is_announced_without_tls(server):
    for insecure, wanted in ((True, "OAUTHBEARER XOAUTH2 SCRAM-SHA-256 SCRAM-SHA-1 CRAM-MD5 PLAIN LOGIN ANONYMOUS"),
                             (False, "SCRAM-SHA-256 SCRAM-SHA-1 CRAM-MD5 ANONYMOUS")):
        client, said = greeted(server(insecure=insecure, auth=EVERYTHING + ",SCRAM-SHA-256-PLUS"))
        assert f"250-AUTH {wanted}\r\n" in said
        client.say("AUTH SCRAM-SHA-256-PLUS", 504)
        if not insecure:
            for name in ("PLAIN", "LOGIN", "XOAUTH2", "OAUTHBEARER"):
                assert b"5.7.11" in client.say(f"AUTH {name}", 538)
        client.quit()


def test_right_and_wrong_passwords(server):
    bhm = server("--require-auth")
    client, _ = greeted(bhm)
    assert b"530 5.7.0" in client.say("MAIL FROM:<a@example.com>", 530)
    for user, password in ((USER, "wrong"), ("nobody@example.com", PASSWORD), ("user2@example.com", ""),
                           ("user2@example.com", "-"), (USER, "other-pass")):
        client.say("AUTH PLAIN " + plain(user, password), 535, 501)
    assert b"535 5.7.8" in client.say("AUTH PLAIN " + plain(USER, "wrong"), 535)
    client.say("AUTH PLAIN " + b64(f"root\0{USER}\0{PASSWORD}"), 535)
    client.say("AUTH PLAIN", 334)
    client.say("*", 501)
    client.say("AUTH PLAIN not-base64", 501)
    client.say("AUTH PLAIN", 334)
    client.write_bytewise(plain().encode() + b"\r\n")
    client.expect(235)
    client.say("AUTH PLAIN " + plain(), 503)
    client.say("MAIL FROM:<a@example.com>", 250)
    client.quit()
    record = bhm.stop().record
    assert record["authentications"] == {"PLAIN": 1}
    assert {error["stage"] for error in record["errors"]} == {"auth", "mail"}


@pytest.mark.parametrize("name, hash_name", [("SCRAM-SHA-1", "sha1"), ("SCRAM-SHA-256", "sha256")])
def test_scram_as_hashlib_has_it(server, name, hash_name):
    """bhm knows the password, believes only who knows it too, and takes a lost signature as the end."""
    check_examples()
    bhm = server()
    for initial in (True, False):
        client, _ = greeted(bhm)
        us = ScramClient(hash_name, USER, PASSWORD)
        if not initial:
            assert challenge(client, f"AUTH {name}") == ""
        first = challenge(client, f"AUTH {name} {b64(us.first)}" if initial else b64(us.first))
        final = challenge(client, b64(us.final(first)))
        assert us.proves(final)
        client.say("", 235)
        client.quit()
    client, _ = greeted(bhm)
    us = ScramClient(hash_name, USER, "wrong")
    client.say(b64(us.final(challenge(client, f"AUTH {name} {b64(us.first)}"))), 535)
    nobody = ScramClient(hash_name, "nobody", "wrong")
    client.write(f"AUTH {name} {b64(nobody.first)}\r\n".encode())
    if client.reply()[0] == 334:
        client.say(b64(nobody.bare), 501, 535)
    client.say("NOOP", 250)
    client.quit()


def test_smtplib_and_swaks(server, tool):
    bhm = server("--require-auth")
    for method in ("auth_plain", "auth_login", "auth_cram_md5"):
        with smtplib.SMTP("127.0.0.1", bhm.port, timeout=60) as client:
            client.ehlo()
            client.user, client.password = USER, PASSWORD
            client.auth(method[5:].upper().replace("_", "-"), getattr(client, method))
            client.sendmail(USER, ["user1@example.com"], "Subject: x\r\n\r\nbody\r\n")
    with smtplib.SMTP("127.0.0.1", bhm.port, timeout=60) as client, pytest.raises(smtplib.SMTPAuthenticationError):
        client.login(USER, "wrong")
    for name in ("PLAIN", "LOGIN", "CRAM-MD5"):
        for password, status in ((PASSWORD, 0), ("wrong", 28)):
            done = subprocess.run([tool("swaks"), "--server", "127.0.0.1", "--port", str(bhm.port), "--from", USER, "--to",
                                   "user1@example.com", "--auth", name, "--auth-user", USER, "--auth-password", password],
                                  capture_output=True, timeout=60, check=False)
            assert done.returncode == status, done.stdout + done.stderr
    record = bhm.stop().record
    assert record["authentications"] == {"PLAIN": 2, "LOGIN": 2, "CRAM-MD5": 2}
    assert record["totals"]["messages"] == sum(record["authentications"].values())


def test_tokens(server):
    bhm = server()
    client, _ = greeted(bhm)
    refusal = challenge(client, "AUTH XOAUTH2 " + b64(f"user={USER}\1auth=Bearer wrong\1\1"))
    assert json.loads(refusal)["status"]
    client.say("", 535)
    refusal = challenge(client, "AUTH OAUTHBEARER " + b64(f"n,a={USER},\1auth=Bearer wrong\1\1"))
    assert json.loads(refusal)["status"]
    client.say(b64("\1"), 535)
    client.say("AUTH OAUTHBEARER " + b64(f"n,a={USER},\1host=h\1auth=Bearer {PASSWORD}\1\1"), 235)
    client.quit()


def test_too_long_and_too_many(server):
    client, _ = greeted(server())
    client.say("AUTH PLAIN " + "A" * 12000, 535, 501)
    client.say("AUTH PLAIN " + "A" * 20000, 500)
    client.say("AUTH LOGIN", 334)
    client.say("A" * 200_000, 500)
    client.say("NOOP", 250)
    client.say("AUTH PLAIN", 334)
    for _ in range(30):  # a client that says nothing is not asked for ever
        client.write(b"\r\n")
        code, _ = client.reply()
        if code != 334:
            break
    assert code in (501, 535)
    client.say("NOOP", 250)
    client.quit()


def test_nothing_shows_a_secret(server, folder):
    """Whole lines, octet by octet, with a bare LF, cut off: transcripts, diagnostics and record have stars at most."""
    check_the_check()
    shown = folder / "shown"
    shown.mkdir()
    bhm = server("-Z", shown / "t", "-a")
    client, _ = greeted(bhm)
    client.say("AUTH PLAIN " + plain(password="hush-hush-9"), 535)
    client.write_bytewise(f"AUTH PLAIN {plain(password='hush-hush-9')}\r\n".encode())
    client.expect(535)
    for ending, code in ((b"\r\n", 535), (b"\nNOOP\r\n", 500)):
        client.say("AUTH LOGIN", 334)
        client.say(b64(USER), 334)
        client.write_bytewise(b64(PASSWORD + "!").encode() + ending)
        client.expect(code)
    client.say("AUTH LOGIN " + b64(USER), 334)
    client.write(b64(PASSWORD + "A" * 15000).encode() + b"\r\n")
    client.expect(500)
    client.say("AUTH XOAUTH2 " + b64(f"user={USER}\1auth=Bearer {PASSWORD}x\1\1"), 334)
    client.say("", 535)
    client.say("AUTH PLAIN " + plain(), 235)
    client.quit()
    cut, _ = greeted(bhm)
    cut.write(f"AUTH PLAIN {plain()}".encode())
    cut.close()
    done = bhm.stop()
    texts = files_below(shown)
    assert_hidden([PASSWORD, "hush-hush-9"], texts | {"out": done.stdout, "err": done.stderr, "record": json.dumps(done.record)})
    assert b"AUTH PLAIN ***" in b"".join(texts.values())


@pytest.mark.parametrize("words, complaint", [
    (["--auth", "PLAIN"], "USER-LIST"),
    (["--auth", "NTLM", "{users}"], "NTLM"),
    (["--auth", "EXTERNAL", "{users}"], "--tls-client-ca"),
    (["--auth", "PLAIN", "{bare}"], "password"),
    (["--require-auth", "{users}"], "--auth"),
    (["--auth-insecure", "{users}"], "--auth"),
])
def test_what_cannot_be(programs, users_file, words, complaint):
    lists = {"users": users_file([f"{USER} {PASSWORD}"]), "bare": users_file([USER])}
    done = subprocess.run([programs.bhm, "--listen", "127.0.0.1:0", *(word.format(**lists) for word in words)],
                          capture_output=True, timeout=60, check=False)
    assert done.returncode == 1 and complaint in done.stderr.decode()


@pytest.mark.parametrize("value, code", [("<>", 250), ("user0@example.com", 250), ("user0+2Btag@example.com", 250), ("a+b", 501), ("<a@b>", 501)])
def test_whose_mail_it_is(server, value, code):
    """RFC 4954 5: who passes mail on says with AUTH= who sent it; a server without AUTH does not know the word."""
    client, _ = greeted(server())
    client.say(f"MAIL FROM:<a@example.com> AUTH={value}", code)
    client.quit()


def test_whose_mail_it_is_without_auth(bhm):
    client, _ = greeted(bhm())
    client.say("MAIL FROM:<a@example.com> AUTH=<>", 555)
    client.quit()
