# SPDX-License-Identifier: GPL-3.0-or-later
"""postal against a real Postfix over SMTP: its log must tell the same story as our books.

Postfix logs every message that it takes responsibility for, every command count of a connection
and every refusal; those are the judges here, not our own server.
"""
import collections
import re

import pytest

from support.postal import check_books

LOAD = ("-t", "4", "-M", "1", "-m", "20")


def reject_table(**answers):
    """smtpd_recipient_restrictions that answers RCPT for the users named with the text given."""
    rows = " ".join(f"{{{user}@example.com = {answer}}}" for user, answer in answers.items())
    return {"smtpd_relay_restrictions": f"check_recipient_access inline:{{ {rows} }}, permit_mynetworks, reject"}


@pytest.mark.thinned(5)
@pytest.mark.parametrize("options, keywords", [
    pytest.param(["--pipelining", "off"], "", id="plain"),
    pytest.param(["--pipelining", "auto"], "", id="pipelined"),
    pytest.param(["--pipelining", "overlap"], "", id="overlapping"),
    pytest.param(["--chunking", "auto"], "", id="chunked"),
    pytest.param(["--chunking", "auto", "--in-flight", "8"], "", id="chunked-8-in-flight"),
    pytest.param(["--chunking", "auto"], "chunking", id="server-without-chunking"),
    pytest.param([], "pipelining", id="server-without-pipelining"),
    pytest.param([], "pipelining, chunking, size, 8bitmime, smtputf8, enhancedstatuscodes, dsn, etrn, vrfy",
                 id="server-without-extensions"),
])
@pytest.mark.parametrize("per_connection", ["1", "5", "-1"])
def test_what_postfix_took_is_what_was_counted(postfix, postal, users_file, options, keywords, per_connection):
    server = postfix("discard:", smtpd_discard_ehlo_keywords=keywords)
    run = postal(*LOAD, "-c", per_connection, *options, "--messages", "120", server.endpoint, users_file(10))
    check_books(run)
    assert run.total("messages") == 120
    assert run.total("errors") == 0
    assert server.drain(120) == 120
    assert len(server.outcomes("sent")) == run.total("recipients") == 120
    sessions = server.sessions()
    assert len(sessions) == run.total("connections")
    told = sum((collections.Counter(commands) for _, commands in sessions), collections.Counter())
    chunked = "--chunking" in options and "chunking" not in keywords
    assert (told["mail"], told["bdat"], told["data"]) == (120, 120 * chunked, 120 * (not chunked))
    assert told["quit"] == told["ehlo"] == len(sessions)
    (greeting,) = run.record["greetings"]
    assert greeting["server"] == server.endpoint and "ESMTP" in greeting["text"]


@pytest.mark.parametrize("place", ["[::1]:{port}", "[127.0.0.1]{port}", "+localhost:{port}", "unix:{socket}",
                                   "127.0.0.1:{port},[::1]:{port},unix:{socket}"])
def test_every_form_of_endpoint_reaches_postfix(postfix, postal, users_file, place):
    server = postfix("discard:")
    target = place.format(port=server.port, socket=server.socket)
    run = postal("-c", "1", "-t", "2", "--messages", "30", target, users_file(10))
    check_books(run)
    assert run.total("messages") == server.drain(30) == 30
    if "," in target:  # both sessions of each of the three; how often depends on how fast each is
        origins = collections.Counter(client for client, _ in server.sessions())
        assert len(origins) == 3 and min(origins.values()) >= 2, origins


def test_several_local_addresses_take_turns(postfix, postal, users_file):
    server = postfix("discard:")
    run = postal("-c", "1", "-l", "127.0.0.1,127.0.0.2", "--messages", "20", server.endpoint, users_file(10))
    check_books(run)
    assert server.drain(20) == 20
    origins = collections.Counter(client for client, _ in server.sessions())
    assert origins == {"unknown[127.0.0.1]": 10, "unknown[127.0.0.2]": 10}


@pytest.mark.parametrize("options", [["--pipelining", "off"], ["--pipelining", "auto"], ["--pipelining", "overlap"],
                                     ["--chunking", "auto"], ["--chunking", "auto", "--in-flight", "8"]],
                         ids=["plain", "pipelined", "overlapping", "chunked", "chunked-8-in-flight"])
def test_refused_recipients_are_counted_by_code(postfix, postal, users_file, options, sized):
    server = postfix("discard:", **reject_table(user0="550 5.7.1 not you", user1="450 4.2.1 not now"))
    run = postal("-t", "3", "-c", "-1", *options, "--messages", sized(60, 150), server.endpoint, users_file(6))
    check_books(run)
    refused = {code: len(re.findall(rf"NOQUEUE: reject: RCPT from \S+: {code} ", server.log)) for code in (550, 450)}
    assert refused[550] and refused[450]
    assert run.total("rejected") == refused[550]
    assert run.total("deferred") == refused[450]
    assert {(error["stage"], error["code"], error["enhanced"]): error["count"] for error in run.record["errors"]} == {
        ("rcpt", 550, "5.7.1"): refused[550], ("rcpt", 450, "4.2.1"): refused[450]}
    assert server.drain(run.total("messages")) == run.total("messages")


def test_one_refused_recipient_of_several_leaves_the_others(postfix, postal, users_file):
    server = postfix("discard:", **reject_table(user0="550 5.7.1 not you"))
    run = postal("-t", "3", "-c", "-1", "--recipients", "3", "--messages", "60", server.endpoint, users_file(6))
    check_books(run)
    refused = len(re.findall(r": reject: RCPT ", server.log))
    assert refused > 0
    assert server.drain(run.total("messages")) == run.total("messages")
    assert len(server.outcomes("sent")) == run.total("recipients")
    assert sum(error["count"] for error in run.record["errors"] if error["stage"] == "rcpt") == refused


@pytest.mark.parametrize("keywords, stage", [("", "mail"), ("size, chunking", "end")])
def test_mail_beyond_the_size_limit_is_rejected_and_nothing_delivered_is_status_4(
        postfix, postal, users_file, keywords, stage):
    server = postfix("discard:", message_size_limit="8000", smtpd_discard_ehlo_keywords=keywords)
    run = postal.failing("--size", "fixed:20K", "-c", "-1", server.endpoint, users_file(3))
    check_books(run)
    assert run.total("messages") == 0
    assert run.total("rejected") == run.total("started") > 0
    assert {(error["stage"], error["code"]) for error in run.record["errors"]} == {(stage, 552)}
    assert not server.accepted


def test_a_server_that_closes_after_its_errors_is_survived(postfix, postal, users_file):
    server = postfix("discard:", smtpd_hard_error_limit="3", smtpd_soft_error_limit="1", smtpd_error_sleep_time="0",
                     **reject_table(**{f"user{i}": "550 5.7.1 not you" for i in range(4)}))
    # Four of five are refused: three in a row, which close the connection, cannot fail to come.
    run = postal("-t", "2", "-c", "-1", "--messages", "100", server.endpoint, users_file(5))
    check_books(run)
    assert run.total("messages") == server.drain(run.total("messages")) > 0
    assert run.total("in_doubt") == 0
    assert run.total("connections") > 2


def commands_seen(server, verb):
    """The commands that Postfix saw, from its log of a debugged peer."""
    return re.findall(rf"smtpd\[\d+\]: < \S+: ({verb} .*)", server.log)


def parameters_of_mail(server):
    return commands_seen(server, "MAIL")


def test_mail_declares_size_and_8bitmime_where_offered_and_needed(postfix, postal, users_file):
    server = postfix("discard:", debug_peer_list="127.0.0.1")
    run = postal("--size", "fixed:5000", "--body", "8bit", "--messages", "5", server.endpoint, users_file(3))
    assert run.total("messages") == 5
    server.drain(5)
    commands = parameters_of_mail(server)
    assert len(commands) == 5
    for command in commands:
        path, *parameters = command.split(" ")[1:]
        assert re.fullmatch(r"FROM:<\S+@example\.com>", path), command
        assert sorted(parameters) == ["BODY=8BITMIME", "SIZE=5000"], command


def test_nothing_is_declared_that_was_not_offered(postfix, postal, users_file):
    server = postfix("discard:", debug_peer_list="127.0.0.1", smtpd_discard_ehlo_keywords="size, 8bitmime")
    postal("--messages", "3", server.endpoint, users_file(3))
    server.drain(3)
    assert [command.split(" ")[2:] for command in parameters_of_mail(server)] == [[]] * 3


def test_non_ascii_addresses_go_with_smtputf8(postfix, postal, users_file):
    users = ["jörg@example.com", "δοκιμή@example.com", "plain@example.com"]
    server = postfix("discard:", debug_peer_list="127.0.0.1")
    run = postal("-c", "-1", "--messages", "30", server.endpoint, users_file(users))
    check_books(run)
    assert run.total("messages") == server.drain(30) == 30
    assert set(server.outcomes("sent")) == set(users)
    commands = parameters_of_mail(server)
    assert any("SMTPUTF8" in command for command in commands)


def test_without_smtputf8_no_non_ascii_address_is_sent(postfix, postal, users_file):
    server = postfix("discard:", debug_peer_list="127.0.0.1", smtpd_discard_ehlo_keywords="smtputf8")
    run = postal("-c", "-1", "--messages", "30", server.endpoint, users_file(["jörg@example.com", "plain@example.com"]))
    check_books(run)
    assert run.total("messages") == server.drain(run.total("messages")) > 0
    assert run.total("failed") == run.total("errors") == 30 - run.total("messages") > 0
    assert not [command for command in parameters_of_mail(server) if not command.isascii()]


@pytest.mark.parametrize("notify, answered", [("success+failure", True), ("never", False)])
def test_delivery_status_notifications(postfix, postal, users_file, notify, answered):
    """Postfix sends one for each message, or none, as was asked; ENVID and ORCPT are what RFC 3461 wants."""
    server = postfix("discard:", debug_peer_list="127.0.0.1")
    users = ["one+tag@example.com", "two@example.com"]
    run = postal("-c", "-1", "--dsn", f"notify={notify},ret=hdrs", "--messages", "6", server.endpoint, users_file(users))
    check_books(run)
    assert (run.total("messages"), run.total("errors")) == (6, 0)
    server.drain(6)
    mails = commands_seen(server, "MAIL")
    assert all(" RET=HDRS " in command + " " for command in mails)
    envelopes = {re.search(r" ENVID=([!-*,-<>-~]+)", command).group(1) for command in mails}
    assert len(envelopes) == len(mails) == 6
    assert all(re.fullmatch(r"[0-9a-f]{16}\.\d+\.\d+@\S+", one) for one in envelopes), envelopes
    for command in commands_seen(server, "RCPT"):
        path, *parameters = command.split(" ")[1:]
        address = path.removeprefix("TO:<").removesuffix(">")
        assert parameters == [f"NOTIFY={notify.upper().replace('+', ',')}", "ORCPT=rfc822;" + address.replace("+", "+2B")]
    told = len(re.findall("sender delivery status notification: ", server.log))
    assert told == (6 if answered else 0)


def test_no_notification_is_asked_of_a_server_that_has_none(postfix, postal, users_file):
    server = postfix("discard:", debug_peer_list="127.0.0.1", smtpd_discard_ehlo_keywords="dsn")
    run = postal("-t", "3", "--dsn", "notify=never", "--messages", "9", server.endpoint, users_file(3))
    check_books(run)
    assert run.total("messages") == server.drain(9) == 9
    assert not [command for command in commands_seen(server, "MAIL") if "ENVID" in command]
    assert not [command for command in commands_seen(server, "RCPT") if "NOTIFY" in command]
    [error] = run.record["errors"]
    assert (error["stage"], error["reason"], error["count"]) == ("ehlo", "no_dsn", 1)


def test_parameters_are_passed_through(postfix, postal, users_file):
    """Also those that the server does not know, which it refuses."""
    server = postfix("discard:", debug_peer_list="127.0.0.1")
    run = postal("--mail-parameter", "RET=FULL", "--mail-parameter", "SIZE=77", "--rcpt-parameter", "NOTIFY=NEVER",
                 "--messages", "3", server.endpoint, users_file(3))
    check_books(run)
    assert run.total("messages") == server.drain(3) == 3
    assert {command.partition("> ")[2] for command in commands_seen(server, "MAIL")} == {"RET=FULL SIZE=77"}
    assert {command.partition("> ")[2] for command in commands_seen(server, "RCPT")} == {"NOTIFY=NEVER"}
    refused = postal("--mail-parameter", "MT-PRIORITY=3", "--messages", "3", server.endpoint, users_file(3), status=4)
    assert refused.total("rejected") == 3
    assert {(error["stage"], error["code"]) for error in refused.record["errors"]} == {("mail", 555)}
