# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses that would be more than addresses in an agent's arguments or in a path are refused, unless they are allowed."""
import pytest

from support.agents import Mirror, mirror


def ask(client, *recipients, sender="sender@example.com"):
    """(reply to MAIL, replies to RCPT), pipelined, and everything forgotten again."""
    lines = [f"MAIL FROM:<{sender}>", *(f"RCPT TO:<{recipient}>" for recipient in recipients), "RSET"]
    client.write("".join(f"{line}\r\n" for line in lines).encode())
    mail, *rcpts, reset = client.answers(len(lines))
    assert reset.code == 250
    return mail, rcpts


def refused(answer):
    return (answer.code, answer.enhanced) == (550, "5.1.3")


@pytest.fixture
def asked(lmtp_deliver, agents):
    """asked(template's words, option, …) is a client of a server whose agent gets these words."""
    def start(words, *options):
        return lmtp_deliver(agents("status", "0", *words), *options).connect()
    return start


# Which templates an address with a leading dash would reach as the beginning of an argument.
@pytest.mark.parametrize("word, where", [
    ("%to%", "rcpt"), ("%to_user%", "rcpt"), ("%to_user%@%to_domain%", "rcpt"), ("%from%", "mail"), ("%from_user%", "mail"), ("%from_user%x", "mail"),
    ("%to_detail%%to_user%", "rcpt"),
    ("-d%to%", None), ("x%to%", None), ("<%to%>", None), ("%to_domain%", None), ("%id%%to%", None), ("--to=%to_user%", None), ("-f%from%", None),
])
def test_leading_dash(asked, word, where):
    with asked([word]) as client:
        mail, [rcpt] = ask(client, "-rf@example.com")
        assert mail.code == 250
        assert refused(rcpt) if where == "rcpt" else rcpt.code == 250, rcpt
        mail, rcpts = ask(client, "plain@example.com", sender="-rf@example.com")
        assert refused(mail) if where == "mail" else mail.code == 250, mail
        assert rcpts[0].code == (503 if where == "mail" else 250), "there is no transaction without its sender"
        mail, [rcpt] = ask(client, "a-b-@example.com", sender="a-@example.com")
        assert (mail.code, rcpt.code) == (250, 250)


def test_leading_dash_of_a_detail(asked):
    with asked(["%to_detail%"]) as client:
        _, answers = ask(client, "user+-rf@example.com", "user+r-f@example.com", "user@example.com", "-user@example.com")
        assert [refused(answer) for answer in answers] == [True, False, False, False]


def test_leading_dash_of_a_name_at_lhlo(lmtp_deliver, agents):
    """%helo% comes from the network too."""
    server = lmtp_deliver(agents("status", "0", "%helo%"))
    with server.connect(greet=False) as client:
        client.expect(220)
        client.write(b"LHLO -rf\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nQUIT\r\n")
        lhlo, mail, rcpt = client.reply()[0], client.reply()[0], client.reply()[0]
        assert lhlo >= 500 or mail == 550 or rcpt == 550, (lhlo, mail, rcpt)


@pytest.mark.parametrize("quoted", ['"-rf"', '"\\-rf"', '"-x y"'])
def test_leading_dash_in_quotes(asked, quoted):
    with asked(["%to%"]) as client:
        _, [answer] = ask(client, f"{quoted}@example.com")
        assert refused(answer)


def test_leading_dash_allowed(lmtp_deliver, folder):
    place = folder / "mirrors"
    place.mkdir()
    server = lmtp_deliver(mirror(place, "%to%", "%from%", name="%size%"), "--allow-leading-dash")
    with server.connect() as client:
        [answer] = client.deliver(["-rf@example.com"], b"x" * 7, chunks=1, sender="--help@example.com")
        assert answer.code == 250, answer
    assert Mirror(place / "7").arguments == ["-rf@example.com", "--help@example.com"]


def test_leading_dash_that_the_operator_wrote(lmtp_deliver, folder):
    """For the null sender, and in front of a placeholder."""
    place = folder / "mirrors"
    place.mkdir()
    server = lmtp_deliver(mirror(place, "%from%", "-%to_user%"), "--null-sender", "-")
    assert server.deliver(["user@example.com"], sender="")[0].code == 250
    assert Mirror(place / "user").arguments == ["-", "-user"]


PATHS = ["a/b", "/etc/passwd", "../x", "a..b/c", '".."', '"a..b"', '"../../x"', '"/"', '"a\\/b"', "user+../x", "user+a/b"]


@pytest.mark.parametrize("local_part", PATHS)
def test_slash_and_two_dots_in_a_recipient(asked, local_part):
    with asked(["%to_domain%"]) as client:
        _, [answer, other] = ask(client, f"{local_part}@example.com", "plain@example.com")
        # two dots in a row are no address unless they are quoted (RFC 5321 4.1.2)
        assert refused(answer) or (answer.code == 501 and local_part[0] != '"' and ".." in local_part), answer
        assert other.code == 250


def test_slash_allowed(lmtp_deliver, folder):
    place = folder / "mirrors"
    place.mkdir()
    server = lmtp_deliver(mirror(place, "%to_user%", "%from_user%", name="%size%"), "--allow-slash")
    with server.connect() as client:
        for local_part, meant in (("a/b", "a/b"), ('"../x"', "../x")):
            octets = b"x" * len(local_part)
            [answer] = client.deliver([f"{local_part}@example.com"], octets, chunks=1, sender="c/d@example.com")
            assert answer.code == 250, answer
            assert Mirror(place / str(len(octets))).arguments == [meant, "c/d"]


@pytest.mark.parametrize("words, matters", [
    (["%from_user%"], True), (["%from%"], False), (["%to%"], False), (["%from_domain%"], False),
    (["of=/srv/spool/%from%"], True), (["of=%from%"], True), (["/srv/%from%"], True), (["/srv/%from_domain%"], False),
])
def test_slash_in_a_sender_matters_where_its_local_part_is_used(asked, words, matters):
    """A sender's a/b is in use: bounces of some lists, and VERP."""
    with asked(words) as client:
        mail, _ = ask(client, "plain@example.com", sender="a/b@example.com")
        assert refused(mail) if matters else mail.code == 250, mail


@pytest.mark.parametrize("word, matters", [("%from%", True), ("%from_domain%", True), ("/srv/%from_domain%", True), ("%to%", False)])
@pytest.mark.parametrize("domain", ["[x:../../etc]", "[tag:a/b]"])
def test_a_general_address_literal_that_leads_elsewhere(asked, word, matters, domain):
    """RFC 5321 4.1.3: nearly anything may stand in it."""
    with asked([word]) as client:
        mail, [rcpt] = ask(client, f"plain@{domain}", sender=f"plain@{domain}")
        assert refused(mail) if matters else mail.code == 250, mail
        mail, [rcpt] = ask(client, f"plain@{domain}", sender="a@[IPv6:::1]")
        assert mail.code == 250 and refused(rcpt)


def test_the_operators_own_text_for_the_null_sender_may_be_a_path(lmtp_deliver, agents):
    server = lmtp_deliver(agents("status", "0", "of=%from%"), "--null-sender", "/dev/null")
    assert server.deliver(["user@example.com"], sender="")[0].code == 250


@pytest.mark.parametrize("name, mail, plain", [
    (b"client.example", 250, 250), (b"[127.0.0.1]", 250, 250), ("h\u00f6st.example".encode(), 250, 250),
    (b"../../etc/x", 550, 250), (b"[x:a/b]", 550, 250), (b"a\tb", 550, 250), (b"a\xc2\x85b", 550, 250), (b"a\xffb", 550, 250),
])
def test_a_name_at_lhlo_that_is_more_than_a_name(asked, name, mail, plain):
    """Only where the template uses it."""
    for words, code in ((["/srv/%helo%"], mail), (["%helo%"], mail), (["%to%"], plain)):
        with asked(words) as client:
            client.write(b"LHLO " + name + b"\r\nMAIL FROM:<a@example.com>\r\n")
            assert client.reply()[0] == 250
            answer = client.answer()
            assert answer.code == code and (code == 250 or answer.enhanced == "5.7.1"), (words, answer)


@pytest.mark.parametrize("local_part", ["a\u0085b", '"a\u009bb"', "a\u202eb"])
def test_what_cannot_be_printed_is_refused(asked, local_part):
    """C1 controls and overrides are UTF-8, so that an address may have them (RFC 6531 3.3); no agent gets them."""
    with asked(["%to%"]) as client:
        client.write(f"MAIL FROM:<{local_part}@example.com> SMTPUTF8\r\n".encode())
        assert refused(client.answer())
        client.write(f"MAIL FROM:<a@example.com> SMTPUTF8\r\nRCPT TO:<{local_part}@example.com>\r\nRCPT TO:<\u00fc@example.com>\r\n".encode())
        mail, rcpt, fine = client.answers(3)
        assert mail.code == 250 and refused(rcpt) and fine.code == 250


def test_the_null_sender(asked):
    with asked(["%from%"]) as client:
        mail, [rcpt] = ask(client, "plain@example.com", sender="")
        assert (mail.code, rcpt.code) == (250, 250)
        client.say("MAIL FROM:<a@example.com>", 250)
        client.write(b"RCPT TO:<>\r\n")
        assert client.reply()[0] >= 500


# What the address parser refuses, with a reply that begins with 5.
@pytest.mark.parametrize("written", [
    b"a\0b@example.com", b"a\x01b@example.com", b'"a\x7fb"@example.com', b'"a\x0bb"@example.com', b"a b@example.com", b"@example.com",
    b"a@", b"a@b@c", b"a..b@example.com", b".a@example.com", b"x" * 65 + b"@example.com", b"a@" + b"x" * 64 + b".com",
    b"a@" + b"x." * 130 + b"com", b"\xff\xfe@example.com",
], ids=range(14))
def test_addresses_that_are_none(asked, written):
    with asked(["%to%"]) as client:
        client.say("MAIL FROM:<a@example.com>", 250)
        client.write(b"RCPT TO:<" + written + b">\r\n")
        assert 500 <= client.reply()[0] < 600
        client.say("RCPT TO:<plain@example.com>", 250)
        client.say("RSET", 250)
        client.write(b"MAIL FROM:<" + written + b">\r\n")
        assert 500 <= client.reply()[0] < 600


def test_a_refused_recipient_is_no_delivery(lmtp_deliver, agents):
    server = lmtp_deliver(agents("status", "0", "%to%"))
    answers = server.deliver(["one@example.com", "-two@example.com", "a/b@example.com", "four@example.com"])
    assert [answer.code for answer in answers] == [250, 550, 550, 250]
    done = server.stop()
    assert done.total("messages") == 2
    assert done.record["agents"]["started"] == 2
    assert sorted((error["stage"], error["code"], error["enhanced"], error["count"]) for error in done.record["errors"]) in (
        [("rcpt", 550, "5.1.3", 2)], [("rcpt", 550, "5.1.3", 1)] * 2)
