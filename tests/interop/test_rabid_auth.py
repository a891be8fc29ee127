# SPDX-License-Identifier: GPL-3.0-or-later
"""rabid logs in to Dovecot with every SASL mechanism that Dovecot offers without TLS, over POP3 and IMAP."""
import json

import pytest

from conftest import login_names
from support.dovecot import PASSWORD
from support.dovecot_sasl import token_of, with_mechanisms
from support.postal import check_reading
from support.secrets import assert_hidden, check_the_check, files_below

MECHANISMS = ["PLAIN", "LOGIN", "CRAM-MD5", "SCRAM-SHA-1", "SCRAM-SHA-256"]
TOKENS = ["OAUTHBEARER", "XOAUTH2"]
USER = "user0@example.com"


@pytest.fixture
def server(dovecot, postal, users_file, folder):
    """server(mechanisms) is a Dovecot with one user and three messages."""
    def start(names=("PLAIN",), messages=3):
        made = dovecot([USER], reading=True, extra=with_mechanisms(folder, *names))
        postal("-L", "--messages", messages, made.endpoint, users_file([USER]))
        made.logins = users_file(login_names([USER]))
        return made
    return start


def reading(server, way, logins=None):
    share = ["-i", "100", "--imap", server.imap] if way == "imap" else []
    return ["-d", "100:0", *share, server.pop3, logins or server.logins]


@pytest.mark.parametrize("way", ["pop3", "imap"])
def test_every_mechanism_of_dovecot(server, rabid, users_file, folder, way):
    """Each logs in twice, reads what is there, is counted by its name, and shows its secret nowhere."""
    check_the_check()
    dovecot = server([*MECHANISMS, *TOKENS, "ANONYMOUS"])
    token = folder / "token"
    token.write_text(token_of(USER) + "\n")
    tokens_in_list = users_file([f"{USER} {token_of(USER)}"])
    runs = [(name, ["--auth", name, "--auth-insecure"], None) for name in [*MECHANISMS, "ANONYMOUS"]]
    runs += [(name, ["--auth", name, "--auth-insecure", "--auth-token-file", token], users_file([USER])) for name in TOKENS]
    runs += [("XOAUTH2", ["--auth", "XOAUTH2", "--auth-insecure"], tokens_in_list)]
    runs += [("OAUTHBEARER", ["--auth", "auto", "--auth-insecure", "--auth-token-file", token], users_file([USER])),
             ("SCRAM-SHA-256", ["--auth", "auto"], None), ("PLAIN", ["--auth", "plain", "--auth-insecure"], None)]
    shown = folder / "shown"
    shown.mkdir()
    texts = {}
    for number, (name, words, logins) in enumerate(runs):
        run = rabid("--connections", 2, "-Z", shown / f"t{number}", "-a", *words, *reading(dovecot, way, logins))
        check_reading(run)
        assert run.record["integrity"]["verified"] == 6, name
        assert run.record["errors"] == [], name
        assert run.record["authentications"] == {name: 2}
        texts |= {f"{name} stdout": run.stdout, f"{name} stderr": run.stderr, f"{name} record": json.dumps(run.record)}
    assert_hidden([PASSWORD, token_of(USER)], texts | files_below(shown))
    transcripts = b"".join(files_below(shown).values())
    # Of mail that was read any octets are to be expected.
    spoken = [line for line in transcripts.splitlines() if b" -> " in line[:20] or b" <- +" in line[:20]]
    assert not any(b"*** " in line for line in spoken) and any(line.endswith(b"***") for line in spoken)


@pytest.mark.parametrize("way", ["pop3", "imap"])
def test_plain_text_needs_leave(server, rabid, way):
    """Without TLS auto takes no mechanism that shows the password, and a named one is refused."""
    dovecot = server(["PLAIN", "LOGIN"])
    for method, reason in (("auto", "no_mechanism"), ("PLAIN", "insecure"), ("LOGIN", "insecure"),
                           ("SCRAM-SHA-256", "not_offered")):
        run = rabid("--connections", 1, "--auth", method, *reading(dovecot, way), status=4)
        assert [(error["stage"], error["reason"]) for error in run.record["errors"]] == [("login", reason)]
        assert "authentications" not in run.record
    run = rabid("--connections", 1, "--auth", "auto", "--auth-insecure", *reading(dovecot, way))
    assert run.record["authentications"] == {"PLAIN": 1}
    # what the original did stays: a login in plain text, without SASL
    run = rabid("--connections", 1, *reading(dovecot, way))
    assert run.record["integrity"]["verified"] == 3 and "authentications" not in run.record


@pytest.mark.parametrize("way", ["pop3", "imap"])
def test_a_wrong_password_names_the_mechanism(server, rabid, users_file, folder, way):
    dovecot = server(["PLAIN", "CRAM-MD5", "SCRAM-SHA-256", "XOAUTH2"], messages=1)
    wrong = users_file([f"{USER} not-the-password"])
    for method in ("PLAIN", "CRAM-MD5", "SCRAM-SHA-256", "XOAUTH2"):
        run = rabid("--connections", 1, "--auth", method, "--auth-insecure", "-z", folder / f"wrong-{method}",
                    *reading(dovecot, way, wrong), status=4)
        (error,) = run.record["errors"]
        assert (error["stage"], error["reason"]) == ("login", "refused")
        assert error["sample"].startswith(f"{method}: "), error
        assert_hidden(["not-the-password"], files_below(folder, but=[wrong.name]))


@pytest.mark.parametrize("way", ["pop3", "imap"])
def test_what_the_original_says_is_hidden_as_well(server, rabid, folder, way):
    """USER and PASS, APOP, and LOGIN."""
    dovecot = server(["PLAIN", "APOP"])
    shown = folder / "shown"
    shown.mkdir()
    for number, words in enumerate(([], ["--apop", "auto"])):
        rabid("--connections", 1, "-z", shown / f"t{number}", *words, *reading(dovecot, way))
    texts = files_below(shown)
    assert_hidden([PASSWORD], texts)
    words = b"PASS ***" if way == "pop3" else b" LOGIN user0@example.com ***"
    assert any(words in text for text in texts.values())
    assert way == "imap" or any(b"APOP user0@example.com ***" in text for text in texts.values())
