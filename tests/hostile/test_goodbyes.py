# SPDX-License-Identifier: GPL-3.0-or-later
"""A client says goodbye where the server still listens, whatever was refused before (RFC 5321 4.1.1.10, RFC 3501 6.1.3)."""
import socket
import threading

import pytest

from support.hostile_imap import HostileImap


class Refusing:
    """Greets so, says so to each command, and keeps what it heard; ends a connection at QUIT, or at once where it is told to."""

    def __init__(self, greeting, answers, closes=False):
        self.greeting, self.answers, self.closes, self.heard = greeting, answers, closes, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client, client.makefile("rwb") as line:
                said = []
                self.heard.append(said)
                line.write(self.greeting + b"\r\n")
                line.flush()
                if self.closes:
                    continue
                while text := line.readline():
                    verb = text.split()[0].upper()
                    said.append(verb)
                    line.write(b"221 bye\r\n" if verb == b"QUIT" else self.answers.get(verb, b"502 no") + b"\r\n")
                    line.flush()
                    if verb == b"QUIT":
                        break

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


@pytest.mark.parametrize("end, reason", [('close = "fin"', "closed"), ('close = "rst"', "reset"), ('close = "silence"', "timeout")])
def test_a_reply_that_never_comes_is_an_error_behind_the_outcome_too(behaving, postal, users_file, end, reason):
    """The recipient was refused, and then RSET is not answered: the message has its outcome, and the connection was lost."""
    hole = behaving(f'[[rule]]\n[rule.rcpt]\nreply = "550 5.1.1 nobody"\n[[rule]]\n[rule.rset]\n{end}\n')
    done = postal("-t", "2", "-c", "-1", "--messages", "6", "--pipelining", "off", "--timeout", "1s", hole.endpoint, users_file(5), status=4)
    assert done.total("started") == done.total("rejected") == 6
    found = {(one["stage"], one["code"] or one["reason"]): one["count"] for one in done.record["errors"]}
    assert found.pop(("rcpt", 550)) == 6 and found == {("rset", reason): 6} and done.total("errors") == 12


@pytest.mark.serial
@pytest.mark.beside_others
@pytest.mark.parametrize("theirs, ours", [((), ()), (("--ssl",), ("--tls", "starttls"))], ids=["plain", "TLS"])
def test_no_message_is_begun_behind_a_goodbye(bhm, postal, users_file, theirs, ours):
    """Between two messages of a paced run the server says 421 and closes: each message is begun on a connection that is there."""
    hole = bhm("--timeout", "100ms", *theirs)
    done = postal("-t", "1", "-c", "-1", "--rate", "1.1/s", "--duration", "4s", *ours, hole.endpoint, users_file(5))
    assert done.total("started") == done.total("messages") > 0 and done.total("deferred") == 0
    assert {(one["stage"], one["code"]) for one in done.record["errors"]} - {("quit", 421)} == {("idle", 421)}
    assert hole.stop().total("messages") == done.total("messages")


@pytest.mark.parametrize("words, greeting, answers, heard, error", [
    (["-L"], b"220 x", {}, [b"LHLO", b"QUIT"], ("ehlo", 502)),
    ([], b"220 x", {}, [b"EHLO", b"HELO", b"QUIT"], ("ehlo", 502)),
    ([], b"554 no service", {}, [b"QUIT"], ("banner", 554)),
    ([], b"421 later", {}, [], ("banner", 421)),
    (["--tls", "starttls"], b"220 x", {b"EHLO": b"250 x"}, [b"EHLO", b"QUIT"], ("tls", "no_starttls")),
    (["--tls", "starttls"], b"220 x", {b"EHLO": b"250-x\r\n250 STARTTLS", b"STARTTLS": b"454 not now"},
     [b"EHLO", b"STARTTLS", b"QUIT"], ("tls", 454)),
    (["--xclient", "--client-addresses", "192.0.2.0/24"], b"220 x", {b"EHLO": b"250 x"}, [b"EHLO", b"QUIT"], ("xclient", "no_xclient"))])
def test_postal_says_quit(postal, users_file, words, greeting, answers, heard, error):
    with Refusing(greeting, answers) as server:
        done = postal("-t", "1", "--messages", "1", "--fail-fast", *words, server.endpoint, users_file(1), status=4)
    assert server.heard[0] == heard
    (counted,) = done.record["errors"]
    assert (counted["stage"], counted["code"] or counted["reason"]) == error


def test_a_server_that_does_not_wait_for_it_is_at_no_fault(postal, users_file):
    with Refusing(b"554 no service", {}, closes=True) as server:
        done = postal("-t", "1", "--messages", "1", "--fail-fast", server.endpoint, users_file(1), status=4)
    assert {one["stage"] for one in done.record["errors"]} == {"banner"}


def test_rabid_says_logout_where_login_is_disabled(rabid, folder, programs, users_file):
    log = folder / "log"
    with HostileImap(capabilities=(b"IMAP4rev1", b"LOGINDISABLED")) as server:
        rabid("--connections", "1", "-i", "100", "--imap", server.endpoint, "-z", log, "--fail-fast", server.endpoint,
              users_file(["a@example.com secret"]), status=4)
    text = "".join(path.read_text() for path in folder.glob("log:*"))
    assert "LOGOUT" in text and "LOGIN a" not in text
