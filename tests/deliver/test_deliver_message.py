# SPDX-License-Identifier: GPL-3.0-or-later
"""The message as an agent gets it: octet by octet what the client sent, whole for each of them, and nothing left behind."""
import itertools
import os
import random
import re
import socket
import ssl
import subprocess

import pytest

from support.deliver import MAIL
from support.mail import Message, to_crlf
from support.process import wait_until
from support.watched import peak_rss

KILOBYTE, MEGABYTE = 1024, 1024 * 1024
SIZES = [0, 1, 63 * KILOBYTE, MEGABYTE - 1, MEGABYTE, MEGABYTE + 1, 5 * MEGABYTE]


def any_octets(size):
    """What only BDAT carries: every octet, bare newlines, no line end at the end."""
    return random.Random(size).randbytes(size)


def lines(size):
    """Whole CRLF lines, many of which begin with dots, of `size` octets in all."""
    block = b"plain\r\n.\r\n..two\r\n.x\r\n\r\n" + b"y" * 70 + b" \t\r\n. \r\n"
    text = block * (size // len(block) + 1)
    cut = text[:size - 2]
    if cut.endswith(b"\r"):
        cut = cut[:-1] + b"z"
    return cut + b"\r\n" if size else b""


def unchecked():
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


@pytest.fixture
def kept(folder):
    """What the agent `keep` wrote, by name."""
    place = folder / "kept"
    place.mkdir(mode=0o777)
    place.chmod(0o777)
    return place


@pytest.fixture
def as_it_came(lmtp_deliver):
    """A server that leaves the ends of lines alone."""
    return lambda agent, *options: lmtp_deliver(agent, "--line-ends", "crlf", *options)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("way", ["DATA", "BDAT"])
def test_every_octet_arrives(as_it_came, agents, kept, way, size):
    if (way, size) == ("DATA", 1):
        size = 2  # no message of whole lines is shorter
    octets = lines(size) if way == "DATA" else any_octets(size)
    assert len(octets) == size
    server = as_it_came(agents("keep", kept, "%to_user%-%size%"), "--bare-newline", "accept")
    with server.connect() as client:
        for chunks in (0,) if way == "DATA" else (1, 3):
            [answer] = client.deliver([f"user{chunks}@example.com"], octets, chunks=chunks)
            assert answer.code == 250, answer
            assert (kept / f"user{chunks}-{size}").read_bytes() == octets
        client.quit()
    done = server.stop()
    assert done.total("bytes") == size * done.total("messages")


def test_dots_are_taken_away_and_nothing_else(as_it_came, agents, kept):
    server = as_it_came(agents("keep", kept, "%to_user%"))
    with server.connect() as client:
        client.envelope_for(["user@example.com"])
        client.say("DATA", 354)
        client.write(b"..one\r\n...\r\n.. \r\n \r\n\r\nx.\r\n.x\r\ntab\t \r\n\xff\xfe\r\n.\r\n")
        client.expect(250)
    assert (kept / "user").read_bytes() == b".one\r\n..\r\n. \r\n \r\n\r\nx.\r\nx\r\ntab\t \r\n\xff\xfe\r\n"


@pytest.mark.parametrize("mode", ["reject", "accept"])
def test_bare_newlines(as_it_came, agents, kept, mode):
    server = as_it_came(agents("keep", kept, "%to_user%"), "--bare-newline", mode)
    octets = b"Subject: x\r\n\r\nbare\nand\rbare\r\n"
    with server.connect() as client:
        answers = client.deliver(["one@example.com", "two@example.com"], octets)
        wanted = 250 if mode == "accept" else 550
        assert [answer.code for answer in answers] == [wanted] * 2
    found = {path.name: path.read_bytes() for path in kept.iterdir()}
    assert found == ({"one": octets, "two": octets} if mode == "accept" else {})


def test_a_message_that_is_too_big_runs_no_agent(as_it_came, agents, kept):
    server = as_it_came(agents("keep", kept, "%to_user%"), "-m", "100")
    with server.connect() as client:
        client.say("MAIL FROM:<a@example.com> SIZE=102401", 552)
        answers = client.deliver(["one@example.com", "two@example.com"], lines(100 * KILOBYTE + 3))
        assert [(answer.code, answer.enhanced) for answer in answers] == [(552, "5.3.4")] * 2
        assert client.deliver(["three@example.com"], lines(100 * KILOBYTE))[0].code == 250
    assert [path.name for path in kept.iterdir()] == ["three"]


# --line-ends

def test_what_stands_in_a_maildir_then_is_what_was_sent(lmtp_deliver, agents, kept, postal, users_file):
    """Files of a system, and what postal marked in them is right."""
    server = lmtp_deliver(agents("keep", kept, "%id%.%to_user%"))
    postal("-L", "-t", "2", "-c", "-1", "-m", "20", "--body", "ascii=40,8bit=30,dots=30", "--messages", "20", server.endpoint, users_file(3))
    found = list(kept.iterdir())
    assert len(found) == 20
    for path in found:
        assert b"\r" not in path.read_bytes()
        Message(to_crlf(path.read_bytes()), str(path)).verify()


@pytest.mark.parametrize("recipients", [1, 3])
@pytest.mark.parametrize("size", [64 * KILOBYTE, 3 * MEGABYTE])
def test_lines_that_end_in_lf(lmtp_deliver, agents, kept, size, recipients):
    """Totals are of what came, %size% is of what the agent reads."""
    server = lmtp_deliver(agents("keep", kept, "%to_user%-%size%"))
    octets = lines(size)
    wanted = octets.replace(b"\r\n", b"\n")
    answers = server.deliver([f"user{number}@example.com" for number in range(recipients)], octets)
    assert [answer.code for answer in answers] == [250] * recipients
    found = {path.name: path.read_bytes() for path in kept.iterdir()}
    assert found == {f"user{number}-{len(wanted)}": wanted for number in range(recipients)}
    assert server.stop().total("bytes") == size * recipients


@pytest.mark.parametrize("way", ["DATA", "BDAT"])
def test_a_cr_at_the_end_of_what_was_read(lmtp_deliver, agents, kept, way):
    """Every octet comes in a segment of its own, so that the server reads a CR last again and again."""
    server = lmtp_deliver(agents("keep", kept, "%to_user%"), "--bare-newline", "accept")
    octets = b"Subject: x\r\n\r\n" + b"\rone\rtwo\r\r\n" * 40 + b"end\r\n"
    with server.connect() as client:
        client.envelope_for(["user@example.com"])
        if way == "DATA":
            client.say("DATA", 354)
        said = octets + b".\r\n" if way == "DATA" else b"BDAT %d LAST\r\n" % len(octets) + octets
        for piece in re.findall(rb"(?s)[^\r]*\r|[^\r]+", said):
            client.write(piece)
        client.expect(250)
    assert (kept / "user").read_bytes() == octets.replace(b"\r\n", b"\n")


def test_a_cr_alone_at_the_end_of_a_chunk(lmtp_deliver, agents, kept):
    server = lmtp_deliver(agents("keep", kept, "%to_user%-%size%"), "--bare-newline", "accept")
    with server.connect() as client:
        client.envelope_for(["user@example.com"])
        client.write(b"BDAT 3\r\na\r\r")
        client.expect(250)
        client.write(b"BDAT 3\r\n\nb\r")
        client.expect(250)
        client.write(b"BDAT 0 LAST\r\n")
        client.expect(250)
    assert {path.name: path.read_bytes() for path in kept.iterdir()} == {"user-5": b"a\r\nb\r"}


def test_added_headers_end_in_lf_too(lmtp_deliver, agents, kept):
    words = [word for name in ("return-path", "delivered-to", "received") for word in ("--add-header", name)]
    server = lmtp_deliver(agents("keep", kept, "%to_user%-%size%"), *words)
    server.deliver(["one@example.com", "two@example.com"])
    for path in kept.iterdir():
        octets = path.read_bytes()
        assert b"\r" not in octets and octets.startswith(b"Return-Path: <sender@example.com>\nDelivered-To: ")
        assert octets.endswith(b"\n" + MAIL.replace(b"\r\n", b"\n"))
        assert path.name.endswith(f"-{len(octets)}")


# --add-header

HEADERS = ["return-path", "delivered-to", "received"]
FORMS = {
    "return-path": r"Return-Path: <sender@example\.com>\r\n",
    "delivered-to": r"Delivered-To: user\+detail@example\.com\r\n",
    "received": r"Received: from client\.example \(\[127\.0\.0\.1\]\)\r\n\tby \S+ with LMTP id \S+\r\n\tfor <user\+detail@example\.com>; "
                r"[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}\r\n",
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("size", [len(MAIL), 2 * MEGABYTE])
@pytest.mark.parametrize("chosen", [chosen for count in range(4) for chosen in itertools.combinations(HEADERS, count)],
                         ids=lambda chosen: "+".join(chosen) or "none")
def test_headers_stand_in_front(as_it_came, agents, kept, chosen, size):
    octets = MAIL if size == len(MAIL) else lines(size)
    options = [word for name in reversed(chosen) for word in ("--add-header", name)]
    server = as_it_came(agents("keep", kept, "%to_user%"), *options)
    assert [answer.code for answer in server.deliver(["user+detail@example.com"], octets)] == [250]
    found = (kept / "user").read_bytes()
    assert found.endswith(octets)
    head = found[:len(found) - len(octets)].decode()
    # Return-Path on top, whatever the order of the options (RFC 5321 4.4)
    assert re.fullmatch("".join(FORMS[name] for name in HEADERS if name in chosen), head), head


@pytest.mark.parametrize("words, said", [("", "LMTP"), ("utf8", "UTF8LMTP"), ("starttls", "LMTPS"), ("tls utf8", "UTF8LMTPS")])
@pytest.mark.parametrize("each", [[], ["--add-header", "delivered-to"]], ids=["for all", "for each"])
def test_received_says_how_it_came(lmtp_deliver, agents, kept, certificates, words, said, each):
    """RFC 3848, and of SMTPUTF8 RFC 6531 (4.3)."""
    server = lmtp_deliver(agents("keep", kept, "%to_user%"), "-s", "--tls-cert", certificates.good, "--add-header", "received", *each,
                          listen_tls=words.startswith("tls"))
    place = server.tls_endpoint if words.startswith("tls") else server.endpoint
    with server.connect(place, greet=False) as client:
        if words.startswith("tls"):
            client.socket = unchecked().wrap_socket(client.socket)
        client.greet()
        if words == "starttls":
            client.say("STARTTLS", 220)
            client.socket = unchecked().wrap_socket(client.socket)
            client.say("LHLO client.example", 250)
        answers = client.deliver(["one@example.com", "two@example.com"], parameters=" SMTPUTF8" if "utf8" in words else "")
    assert [answer.code for answer in answers] == [250] * 2
    for name in ("one", "two"):
        assert f"\tby {socket.gethostname()} with {said} id " in (kept / name).read_text()


def test_headers_of_several_recipients_and_of_nobody(as_it_came, agents, kept):
    server = as_it_came(agents("keep", kept, "%to_user%"), *[word for name in HEADERS for word in ("--add-header", name)])
    recipients = [f"user{number}@example.com" for number in range(3)]
    assert [answer.code for answer in server.deliver(recipients, MAIL, sender="")] == [250] * 3
    for recipient in recipients:
        found = (kept / recipient.partition("@")[0]).read_bytes()
        assert found.startswith(b"Return-Path: <>\r\nDelivered-To: %s\r\nReceived: " % recipient.encode())
        assert found.count(b"@example.com") == MAIL.count(b"@example.com") + found.count(recipient.encode()), "nobody else's name"
        assert found.endswith(b"\r\n" + MAIL)


def test_size_is_that_of_what_the_agent_reads(as_it_came, agents, kept):
    server = as_it_came(agents("keep", kept, "%to_user%-%size%"), "--add-header", "return-path")
    server.deliver(["user@example.com"])
    [path] = kept.iterdir()
    assert path.name == f"user-{path.stat().st_size}"


# Several readers, and where it lies meanwhile.

@pytest.mark.parametrize("size", [64 * KILOBYTE, 3 * MEGABYTE])
def test_each_agent_reads_all_of_it(as_it_came, agents, kept, size):
    server = as_it_came(agents("keep", kept, "%to_user%"), "--max-deliveries", "20")
    octets = lines(size)
    recipients = [f"user{number}@example.com" for number in range(20)]
    assert [answer.code for answer in server.deliver(recipients, octets)] == [250] * 20
    assert len(list(kept.iterdir())) == 20
    assert all(path.read_bytes() == octets for path in kept.iterdir())


@pytest.mark.parametrize("size, words", [(64 * KILOBYTE, []), (3 * MEGABYTE, []), (3 * MEGABYTE, ["--user", "nobody"])])
def test_no_agent_can_change_what_the_next_one_reads(as_it_came, agents, kept, size, words):
    """Nor where it stands in it. A file on the disk could be opened anew to write by the same user, or by root; one in memory is sealed."""
    if words and os.geteuid() != 0:
        pytest.skip("only root becomes another user")
    deeds = "echo gone >&0; head -c 100 >/dev/null; "
    if size < MEGABYTE or words:
        deeds += "true >/proc/self/fd/0; truncate -s 3 /proc/self/fd/0; "
    vandal = agents.folder / "vandal"
    vandal.write_text(f'#!/bin/sh\ncase $2 in bad*) {deeds}exit 0 ;; esac\nexec cat >"$1/$2"\n')
    vandal.chmod(0o755)
    server = as_it_came(f"{vandal} {kept} %to_user%", "--max-deliveries", "1", *words)
    octets = lines(size)
    assert [answer.code for answer in server.deliver(["bad1@example.com", "good@example.com"], octets)] == [250] * 2
    assert (kept / "good").read_bytes() == octets


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
@pytest.mark.parametrize("size", [64 * KILOBYTE, 3 * MEGABYTE])
@pytest.mark.parametrize("recipients", [1, 2])
def test_agents_of_another_user_open_what_they_have_by_its_name(as_it_came, size, recipients):
    """What is in memory and on the disk, and where they print."""
    server = as_it_came("sh -c 'wc -c /dev/stdin >/dev/stderr; exit 67'", "--user", "nobody")
    answers = server.deliver([f"user{number}@example.com" for number in range(recipients)], lines(size))
    assert [answer.code for answer in answers] == [550] * recipients
    assert all(f"{size} /dev/stdin" in answer.text for answer in answers), answers


def open_files(server):
    links = []
    for name in os.listdir(f"/proc/{server.pid}/fd"):
        try:
            links.append(os.readlink(f"/proc/{server.pid}/fd/{name}"))
        except OSError:
            pass  # closed meanwhile
    return links


@pytest.mark.parametrize("limit, size, on_disk", [("1M", MEGABYTE, False), ("1M", MEGABYTE + 1, True), ("4K", 5000, True), ("8M", 5 * MEGABYTE, False)])
def test_longer_messages_lie_in_the_temporary_folder_without_a_name(as_it_came, agents, kept, folder, limit, size, on_disk):
    place = folder / "temporary"
    place.mkdir()
    journal = agents.journal()
    with agents.gate() as gate:
        server = as_it_came(agents("journal", journal, "%to_user%", gate), "--memory-limit", limit, "--temporary", place)
        with server.connect() as client:
            client.start_delivery(["user@example.com", "other@example.com"], lines(size))
            journal.wait_for(started=2)
            assert os.listdir(place) == []
            assert any(link.startswith(f"{place}/") and link.endswith("(deleted)") for link in open_files(server)) == on_disk
            gate.open()
            assert client.replies(2) == [250, 250]
            client.say("NOOP", 250)
            wait_until(lambda: not any(link.startswith((str(place), "/memfd:")) for link in open_files(server)), "the message to be dropped")
        assert os.listdir(place) == []
        server.stop()
        assert os.listdir(place) == []


def test_a_message_that_never_ended_leaves_nothing_behind(as_it_came, agents, folder):
    place = folder / "temporary"
    place.mkdir()
    server = as_it_came(agents("status", "0"), "--memory-limit", "4K", "--temporary", place)
    with server.connect() as client:
        client.envelope_for(["user@example.com"])
        client.say("DATA", 354)
        client.write((b"x" * 76 + b"\r\n") * 40_000)
        wait_until(lambda: any(link.startswith(str(place)) for link in open_files(server)), "a temporary file")
        client.reset()
    wait_until(lambda: not any(link.startswith(str(place)) for link in open_files(server)), "the file to be closed")
    assert server.stop().total("messages") == 0


def test_a_long_message_costs_no_more_memory_than_a_short_one(as_it_came, agents):
    server = as_it_came(agents("status", "0"), "--workers", "1")
    assert server.deliver(["user@example.com"], lines(2 * MEGABYTE))[0].code == 250
    before = peak_rss(server.pid)
    assert server.deliver(["user@example.com"], lines(16 * MEGABYTE))[0].code == 250
    assert peak_rss(server.pid) - before < 2 * MEGABYTE


def test_a_full_disk_defers_and_breaks_nothing(as_it_came, agents, kept, small_disk):
    server = as_it_came(agents("keep", kept, "%to_user%"), "--memory-limit", "64K", "--temporary", small_disk, "--min-free", "0")
    with server.connect() as client:
        answers = client.deliver(["one@example.com", "two@example.com"], lines(3 * MEGABYTE))
        assert all(400 <= answer.code < 500 and answer.enhanced == "4.3.1" for answer in answers), answers
        assert client.deliver(["three@example.com"], lines(500 * KILOBYTE))[0].code == 250
    assert [path.name for path in kept.iterdir()] == ["three"]
    done = server.stop()
    assert (done.total("messages"), done.total("deferred")) == (1, 2)


def test_a_message_that_would_leave_too_little_is_not_kept(as_it_came, agents, kept, small_disk):
    """There is room when MAIL comes, which does not say how long the message is."""
    server = as_it_came(agents("keep", kept, "%to_user%"), "--memory-limit", "64K", "--temporary", small_disk, "--min-free", "980K")
    with server.connect() as client:
        [answer] = client.deliver(["one@example.com"], lines(200 * KILOBYTE))
        assert str(answer) == "452 4.3.1 Too little free space for mail here"
        assert client.deliver(["two@example.com"], lines(10 * KILOBYTE))[0].code == 250
    assert [path.name for path in kept.iterdir()] == ["two"]
    assert server.stop().record["limits"]["min-free"] == 1


@pytest.fixture
def small_disk(folder):
    """A file system of 1 MiB, where one may be mounted."""
    place = folder / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", "-l", place], check=True)
