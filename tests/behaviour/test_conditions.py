# SPDX-License-Identifier: GPL-3.0-or-later
"""Whom a rule is about: for each condition one client that it holds for, and others that it does not hold for."""
import dataclasses
import time

import pytest

from support.behaviours import rule
from support.process import free_port, wait_until
from support.scripted import Scripted
from support.tls_peers import client_context

REFUSED = 450
REPLY = 'reply = "450 4.2.1 It is about you"'


@dataclasses.dataclass
class Who:
    """A client, and what it says."""
    listener: int = 0  # 0 is an IPv4 address, 1 an IPv6 address
    tls: bool = False
    proxy: str = ""
    helo: str = "client.example"
    sender: str = "sender@example.com"
    recipient: str = "user0@example.com"
    size: int = 0  # SIZE= of MAIL, when it is not 0
    content: int = 0  # octets, about
    lmtp: bool = False


def who(**what):
    return Who(**what)


# condition: its text, the stage, whom it holds for, whom it does not hold for
CASES = {
    "IPv4 network": ('client = ["127.0.0.0/8"]', "mail", [who()], [who(listener=1)]),
    "IPv6 address": ('client = ["::1/128"]', "mail", [who(listener=1)], [who()]),
    "several networks": ('client = ["192.0.2.0/24", "2001:db8::/32"]', "mail",
                         [who(proxy="192.0.2.1"), who(proxy="192.0.2.255"), who(proxy="2001:db8::1")],
                         [who(proxy="192.0.3.0"), who(proxy="2001:db9::1")]),
    "PROXY header, not the proxy": ('client = "127.0.0.1/32"', "mail", [], [who(proxy="192.0.2.1")]),
    "client at the greeting": ('client = "192.0.2.0/24"', "ehlo", [who(proxy="192.0.2.1")], [who(proxy="198.51.100.1")]),
    "TLS": ("tls = true", "mail", [who(tls=True)], [who()]),
    "no TLS": ("tls = false", "mail", [who()], [who(tls=True)]),
    "helo": ('helo = "mx.example.net"', "mail", [who(helo="mx.example.net"), who(helo="MX.Example.NET")],
             [who(), who(helo="a.mx.example.net")]),
    "helo at EHLO": ('helo = "*.example.net"', "ehlo", [who(helo="mx.example.net")], [who(helo="example.net")]),
    "sender": ('sender = "boss@example.com"', "mail", [who(sender="boss@example.com"), who(sender="BOSS@Example.com")],
               [who(), who(sender="boss@example.com.example")]),
    "null sender": ('sender = "<>"', "mail", [who(sender="")], [who()]),
    "any sender": ('sender = "*"', "mail", [who()], []),
    "senders of a domain": ('sender = ["*@example.net", "*@example.org"]', "rcpt",
                            [who(sender="a@example.net"), who(sender="b@example.org")], [who(), who(sender="")]),
    "recipient": ('recipient = "u*0@example.com"', "rcpt", [who(), who(recipient="u0@example.com")],
                  [who(recipient="user1@example.com"), who(recipient="user0@sub.example.com")]),
    "domain": ('domain = "example.com"', "rcpt", [who(), who(recipient="any@EXAMPLE.com")],
               [who(recipient="user0@a.example.com"), who(recipient="user0@anexample.com")]),
    "domains below": ('domain = ["*.example.com"]', "rcpt", [who(recipient="x@a.example.com"), who(recipient="x@b.a.example.com")],
                      [who(), who(recipient="x@anexample.com")]),
    "domain at DATA": ('domain = "example.com"', "data", [who()], [who(recipient="user0@example.net")]),
    "domain at the end": ('domain = "example.com"', "end", [who()], [who(recipient="user0@example.net")]),
    "domain at the end, LMTP": ('domain = "example.com"', "end", [who(lmtp=True)], [who(lmtp=True, recipient="user0@example.net")]),
    "size declared": ('size = "10K.."', "mail", [who(size=10240), who(size=100_000)], [who(), who(size=10239)]),
    "size in a range": ('size = "1000..2000"', "mail", [who(size=1000), who(size=2000)], [who(size=999), who(size=2001)]),
    "size as it came": ('size = "10K.."', "end", [who(content=20_000)], [who(), who(content=5000)]),
    "all together": ('client = "127.0.0.0/8"\nhelo = "mx.*"\nsender = "*@example.com"\ndomain = "example.com"', "rcpt",
                     [who(helo="mx.example.net")],
                     [who(), who(helo="mx.example.net", listener=1), who(helo="mx.example.net", sender=""),
                      who(helo="mx.example.net", recipient="a@example.org")]),
}


def code_at(hole, stage, client):
    """What a client hears at a stage; it leaves in order."""
    place = hole.tls_endpoint if client.tls else hole.endpoints[client.listener]
    host, _, port = place.rpartition(":")
    with Scripted((host.strip("[]"), int(port)), lmtp=client.lmtp, tls=client_context() if client.tls else None,
                  proxy=client.proxy) as line:
        line.helo, line.sender, line.recipient, line.size = client.helo, client.sender, client.recipient, client.size
        line.content += b"0123456789012345678901234567890123456789012345678\r\n" * (client.content // 51)
        line.reach(stage)
        code = line.meet(stage).code
        if code == 354:
            line.meet("end")
        line.leave()
    return code


@pytest.mark.parametrize("condition", CASES)
def test_condition(behaving, condition):
    when, stage, those, others = CASES[condition]
    clients = [*those, *others]
    hole = behaving(rule(stage, REPLY, when), *(["--proxy-trusted", "127.0.0.1"] if any(one.proxy for one in clients) else []),
                    *(["--lmtp"] if any(one.lmtp for one in clients) else []),
                    listen=["127.0.0.1:0", "[::1]:0"], listen_tls=any(one.tls for one in clients))
    for one in those:
        assert code_at(hole, stage, one) == REFUSED, one
    for one in others:
        assert code_at(hole, stage, one) != REFUSED, one


def test_listener(behaving):
    """As --listen has it, of clients that come there."""
    ports = [free_port(), free_port()]
    hole = behaving(rule("banner", 'reply = "421 4.3.2 Not here"', f'listener = "127.0.0.1:{ports[1]}"'),
                    listen=[f"127.0.0.1:{port}" for port in ports])
    codes = []
    for port in ports:
        with Scripted(("127.0.0.1", port)) as client:
            codes.append(client.meet("banner").code)
            if codes[-1] == 220:
                client.leave()
    assert codes == [220, 421]
    hole.stop()


@pytest.mark.parametrize("listen, listener, to", [
    ("127.0.0.1:{port}", "localhost:{port}", "127.0.0.1"),
    ("0.0.0.0:{port}", "127.0.0.1:{port}", "127.0.0.1"),
    ("0.0.0.0:{port}", "0.0.0.0:{port}", "127.0.0.2"),
    ("[::]:{port}", "[0::1]:{port}", "::1"),
])
def test_listeners_are_addresses(behaving, listen, listener, to):
    """However they are written, and by the connection's own address where all are listened on."""
    port = free_port()
    behaving(rule("banner", 'reply = "421 4.3.2 Not here"', f'listener = "{listener.format(port=port)}"'),
             listen=[listen.format(port=port)])
    with Scripted((to, port)) as client:
        assert client.meet("banner").code == 421


def test_another_address_of_all(behaving):
    port = free_port()
    behaving(rule("banner", 'reply = "421 4.3.2 Not here"', f'listener = "127.0.0.1:{port}"'), listen=[f"0.0.0.0:{port}"])
    with Scripted(("127.0.0.2", port)) as client:
        assert client.meet("banner").code == 220
        client.leave()


def test_unix_socket(behaving, folder):
    """A listener like others; its clients are in no network."""
    path = f"{folder}/hole"
    behaving(rule("mail", REPLY, 'client = ["0.0.0.0/0", "::/0"]') + rule("rcpt", REPLY, f'listener = "unix:{path}"', "by listener"),
             listen=[f"unix:{path}"])
    with Scripted(path) as client:
        client.reach("rcpt")
        assert client.meet("rcpt").code == REFUSED
        client.leave()


@pytest.mark.parametrize("known, refused", [("true", "user0@example.com"), ("false", "user1@example.com")])
def test_known(behaving, users_file, known, refused):
    """Of the user list; the rule comes before what the list says."""
    hole = behaving(rule("rcpt", REPLY, f"known = {known}"), users_file(["user0@example.com"]))
    with Scripted(("127.0.0.1", hole.port)) as client:
        client.reach("rcpt")
        usual = {"user0@example.com": 250, "user1@example.com": 550}
        for user, code in usual.items():
            assert client.ask(client.words("rcpt", user)).code == (REFUSED if user == refused else code)
        client.leave()


def test_starttls(behaving):
    """Before it there is no TLS, behind it there is."""
    hole = behaving(rule("mail", REPLY, "tls = true"), "-s")
    with Scripted(("127.0.0.1", hole.port)) as client:
        client.pass_by(["banner", "ehlo", "mail", "rset", "starttls", "ehlo"], tls=client_context())
        assert client.meet("mail").code == REFUSED
        client.leave()


@pytest.mark.parametrize("which, hit", [("2", [2]), ("2..3", [2, 3]), ("3..", [3, 4, 5, 6]), ("..2", [1, 2]), ("2../3", [2, 5])])
def test_session_number(behaving, which, hit):
    hole = behaving(rule("mail", REPLY, f'session = "{which}"'))
    assert [number for number in range(1, 7) if code_at(hole, "mail", Who()) == REFUSED] == hit


@pytest.mark.parametrize("which, hit", [("1", [1]), ("2..3", [2, 3]), ("2../2", [2, 4, 6])])
def test_message_number(behaving, which, hit):
    """Of its session; each MAIL begins one."""
    hole = behaving(rule("rcpt", REPLY, f'message = "{which}"'))
    for _ in range(2):
        with Scripted(("127.0.0.1", hole.port)) as client:
            client.pass_by(["banner", "ehlo"])
            codes = []
            for _ in range(6):
                client.pass_by(["mail"])
                codes.append(client.meet("rcpt").code)
                client.pass_by(["rset"])
            client.leave()
        assert [number for number, code in enumerate(codes, 1) if code == REFUSED] == hit


def test_number_as_a_number(behaving):
    """TOML's numbers do, too."""
    hole = behaving(rule("mail", REPLY, "session = 2"))
    assert [code_at(hole, "mail", Who()) for _ in range(3)] == [250, REFUSED, 250]


def test_first_rule_counts(behaving):
    """In the order of the file, one whose conditions hold and that says something about the stage."""
    hole = behaving(rule("rcpt", 'reply = "451 4.2.0 Of example.net"', 'domain = "example.net"', "one")
                    + rule("mail", 'reply = "452 4.3.1 Of mail"', 'sender = "none@example.com"', "two")
                    + rule("rcpt", 'reply = "550 5.1.1 Of user0"', 'recipient = "user0@*"', "three")
                    + rule("rcpt", 'reply = "450 4.2.1 Of all"', name="four"))
    with Scripted(("127.0.0.1", hole.port)) as client:
        client.reach("rcpt")
        codes = [client.ask(client.words("rcpt", user)).code
                 for user in ("user0@example.net", "user0@example.com", "user1@example.com", "user1@example.net")]
        client.leave()
    assert codes == [451, 550, 450, 451]


def draws(hole):
    """Which of some hundred messages with some recipients each are refused."""
    with Scripted(("127.0.0.1", hole.port)) as client:
        client.pass_by(["banner", "ehlo"])
        client.write((client.words("mail") + client.words("rcpt") * 5 + client.words("rset")) * 200)
        codes = client.replies(7 * 200)
        client.leave()
    return [code == REFUSED for number, code in enumerate(codes) if 1 <= number % 7 <= 5]


def test_probability(behaving):
    """Within five standard deviations, not by turns, and the same again with the same seed."""
    rules = rule("rcpt", REPLY, 'probability = "30%"')
    found = [draws(behaving(rules, "--seed", seed)) for seed in ("7", "7", "8")]
    assert found[0] == found[1] and found[0] != found[2]
    for refused in found:
        count = len(refused)
        deviation = (count * 0.3 * 0.7) ** 0.5
        assert abs(sum(refused) - 0.3 * count) < 5 * deviation
        pairs = sum(a and b for a, b in zip(refused, refused[1:]))  # independent of the one before
        assert abs(pairs - 0.09 * count) < 5 * (count * 0.09 * 0.91) ** 0.5 * 1.3


def test_probability_of_sessions(behaving):
    """Sessions draw apart, whoever serves them."""
    found = []
    for workers in ("1", "2"):
        hole = behaving(rule("ehlo", REPLY, 'probability = "50%"'), "--seed", "3", "--workers", workers)
        found.append([code_at(hole, "ehlo", Who()) for _ in range(40)])
    assert found[0] == found[1]
    assert 5 < found[0].count(REFUSED) < 35


@pytest.mark.parametrize("when, first", [('time = "1s.."', 250), ('time = "..1s"', REFUSED)])
def test_time(behaving, when, first):
    """Since the start, which is no earlier than that of the program."""
    begun = time.monotonic()
    hole = behaving(rule("mail", REPLY, when))
    with Scripted(("127.0.0.1", hole.port)) as client:
        client.pass_by(["banner", "ehlo"])

        def answer():
            code = client.meet("mail").code
            if code == 250:
                client.pass_by(["rset"])
            return code
        wait_until(lambda: answer() != first, "the other answer")
        assert time.monotonic() - begun >= 1
        client.leave()
