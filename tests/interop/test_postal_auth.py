# SPDX-License-Identifier: GPL-3.0-or-later
"""postal logs in before it sends: to Postfix with Dovecot's SASL, and to bhm, with every mechanism; lmtp to bhm, too."""
import json
import re
import smtplib

import pytest

from conftest import user_names
from support.dovecot import PASSWORD
from support.dovecot_sasl import token_of, with_mechanisms
from support.postal import check_books
from support.process import wait_until
from support.secrets import assert_hidden, files_below

MECHANISMS = ["PLAIN", "LOGIN", "CRAM-MD5", "SCRAM-SHA-1", "SCRAM-SHA-256"]
TOKENS = ["OAUTHBEARER", "XOAUTH2"]
USERS = user_names(3)


def offers_auth(server):
    """Until Dovecot is ready Postfix closes connections without a word."""
    try:
        with smtplib.SMTP(*server.endpoint.rsplit(":", 1), timeout=10) as client:
            client.ehlo()
            return client.has_extn("auth")
    except (OSError, smtplib.SMTPException):
        return False


@pytest.fixture
def submission(dovecot, postfix, folder):
    """A Postfix that takes mail only from who has logged in, as that login, and asks Dovecot for the passwords."""
    path = folder / "auth"
    listener = f"service auth {{\n  unix_listener {path} {{\n    mode = 0666\n  }}\n}}\n"
    names = [*MECHANISMS, *TOKENS, "ANONYMOUS"]
    dovecot(USERS, extra=with_mechanisms(folder, *names) + listener)
    owners = " ".join(f"{{ {user} = {user} }}" for user in USERS)
    server = postfix("discard:", smtpd_sasl_auth_enable="yes", smtpd_sasl_type="dovecot", smtpd_sasl_path=path,
                     smtpd_sasl_security_options="", mynetworks="192.0.2.1/32",
                     smtpd_relay_restrictions="permit_sasl_authenticated, reject",
                     smtpd_sender_login_maps=f"inline:{{ {owners} }}",
                     smtpd_sender_restrictions="reject_sender_login_mismatch")
    wait_until(lambda: offers_auth(server), "a Postfix that has found Dovecot's passwords")
    return server


def test_postfix_as_a_submission_server(submission, postal, users_file, folder):
    """What was sent is from who logged in: anything else would be refused."""
    users = users_file([f"{user} {PASSWORD}" for user in USERS])
    texts, sent, shown = {}, 0, folder / "shown"
    shown.mkdir()
    for name in [*MECHANISMS, "auto"]:
        run = postal("-c", "2", "-t", "2", "--messages", "10", "--auth", name, "--auth-insecure", "-z", shown / name,
                     submission.endpoint, users)
        check_books(run)
        sent += run.total("messages")
        assert run.total("messages") == 10 and run.record["errors"] == [], name
        used = "SCRAM-SHA-256" if name == "auto" else name
        assert run.record["authentications"] == {used: run.total("connections")}
        assert run.record["latency_us"]["auth"]["count"] == run.total("connections")
        texts |= {f"{name} out": run.stdout, f"{name} err": run.stderr, f"{name} record": json.dumps(run.record)}
    assert_hidden([PASSWORD], texts | files_below(shown))
    assert submission.drain(sent) == sent
    logins = re.findall(r"sasl_method=(\S+), sasl_username=(\S+)", submission.log)
    assert {method.upper().rstrip(",") for method, _ in logins} == set(MECHANISMS)


def test_tokens_and_nobody(submission, postal, users_file, folder):
    user = USERS[0]
    for name in TOKENS:
        run = postal("--messages", "3", "--auth", name, "--auth-insecure", submission.endpoint,
                     users_file([f"{user} {token_of(user)}"]))
        assert run.record["authentications"] == {name: 3} and run.total("messages") == 3
        refused = postal.failing("--auth", name, "--auth-insecure", submission.endpoint,
                                 users_file([f"{user} {token_of(USERS[1])}x"]))
        (error,) = refused.record["errors"]
        assert error["stage"] == "auth" and error["sample"].startswith(f"{name}: "), error
    run = postal("--messages", "2", "--auth", "ANONYMOUS", submission.endpoint, users_file([user]), status=None)
    assert set(run.record.get("authentications", ())) == {"ANONYMOUS"}, run.record["errors"]


def test_wrong_and_missing_passwords(submission, postal, users_file, folder):
    run = postal.failing("--auth", "CRAM-MD5", submission.endpoint, users_file([f"{USERS[0]} wrong"]))
    (error,) = run.record["errors"]
    assert (error["stage"], error["code"], error["enhanced"]) == ("auth", 535, "5.7.8")
    assert error["sample"].startswith("CRAM-MD5: ")
    for words, complaint in ((["--auth", "auto"], "no password"), (["--auth-insecure"], "--auth"),
                             (["--auth-users", "/nonexistent"], "--auth"), (["--auth", "KERBEROS_V4"], "KERBEROS_V4"),
                             (["--auth", "XOAUTH2", "--auth-token-file", "/nonexistent"], "/nonexistent"),
                             (["--auth", "PLAIN", "--auth-token-file", "/nonexistent"], "PLAIN")):
        run = postal(*words, submission.endpoint, users_file([USERS[0]]), status=1)
        assert complaint in run.stderr
    bad = folder / "token"
    for text in ("", "two words", "a\nb"):
        bad.write_text(text)
        run = postal("--auth", "XOAUTH2", "--auth-token-file", bad, submission.endpoint, users_file([USERS[0]]), status=1)
        assert str(bad) in run.stderr and "words" not in run.stderr


def test_without_tls_nothing_is_shown(submission, postal, bhm, users_file):
    users = users_file([f"{USERS[0]} {PASSWORD}"])
    for name, reason in (("PLAIN", "insecure"), ("XOAUTH2", "insecure"), ("SCRAM-SHA-256-PLUS", "not_offered")):
        run = postal.failing("--auth", name, submission.endpoint, users)
        assert [error["reason"] for error in run.record["errors"]] == [reason]
    plain = bhm("--auth", "PLAIN", "--auth-insecure", users)
    run = postal.failing("--auth", "auto", plain.endpoint, users)
    assert [error["reason"] for error in run.record["errors"]] == ["no_mechanism"]
    run = postal("--messages", "2", "--auth", "auto", "--auth-insecure", plain.endpoint, users)
    assert run.record["authentications"] == {"PLAIN": 2}


@pytest.mark.parametrize("lmtp", [False, True])
def test_bhm_and_postal(bhm, postal, users_file, folder, lmtp):
    """Both ends are ours; the other tests hold each against somebody else's."""
    senders = user_names(3, "example.net")
    secret = "hush-hush-7"
    users = users_file([f"{user} {secret}" for user in [*USERS, *senders]])
    names = [*MECHANISMS, *TOKENS, "ANONYMOUS"]
    server = bhm("--auth", ",".join(names), "--auth-insecure", "--require-auth", *(["--lmtp"] if lmtp else []), "-Z",
                 folder / "theirs", "-a", users)
    accounts, total = users_file([f"{user} {secret}" for user in senders], "accounts"), 0
    for name in names:
        run = postal(*(["-L"] if lmtp else []), "-c", "-1", "-t", "2", "--messages", "6", "--auth", name, "--auth-insecure",
                     "--auth-users", accounts, "-Z", folder / f"ours-{name}", server.endpoint, users_file(USERS))
        check_books(run)
        total += run.total("messages")
        assert run.total("messages") == 6 and run.record["errors"] == []
        assert run.record["authentications"] == {name: run.total("connections")}
        assert_hidden([secret], {"out": run.stdout, "err": run.stderr, "record": json.dumps(run.record)})
    done = server.stop()
    assert done.total("messages") == total and done.record["integrity"]["verified"] == total
    assert set(done.record["authentications"]) == set(names)
    texts = {path: text for path, text in files_below(folder).items() if path not in (str(users), str(accounts))}
    assert_hidden([secret], texts | {"record": json.dumps(done.record)})
    assert any(b"AUTH PLAIN ***" in text for path, text in texts.items() if "theirs" in path)
    assert any(b"AUTH PLAIN ***" in text for path, text in texts.items() if "ours" in path)
