# SPDX-License-Identifier: GPL-3.0-or-later
"""--corpus: real mail (the test data of CPython's email package) to Dovecot and back, unchanged.

A server may put its trace headers above, and end-of-line forms become CRLF on the way; below our
own identity headers everything else must come back as it was.
"""
import mailbox
import pathlib
import re

import pytest

from support.mail import to_crlf
from support.postal import check_books

FOLDERS = ["/usr/lib/python3.11/test/test_email/data"]


@pytest.fixture(scope="session")
def mails():
    """{file name: octets} of the files there that are mail."""
    from conftest import missing
    folder = next((path for path in map(pathlib.Path, FOLDERS) if path.is_dir()), None)
    if folder is None:
        missing("libpython3.11-testsuite")
    found = {path.name: path.read_bytes() for path in sorted(folder.glob("msg_*.txt"))}
    assert len(found) > 40
    return {name: octets for name, octets in found.items() if is_mail(octets)}


def is_mail(octets):
    """It begins with a header field (RFC 5322, 2.2), perhaps below an mbox's separator."""
    return re.match(rb"(From .*\n)?[!-9;-~]+[ \t]*:", octets) is not None


def as_received(octets):
    """What a mailbox must end with: CRLF line ends, the last one made up where it is missing, and
    no "From " line on top, which belongs to an mbox and not to the mail."""
    octets = re.sub(rb"\AFrom .*\r\n", b"", to_crlf(octets))
    return octets if octets.endswith(b"\r\n") else octets + b"\r\n"


def check_round_trip(server, run, wanted):
    """Each mail of `wanted` was found at least once, nothing else, and all digests are right."""
    check_books(run)
    found = server.wait_for(run.total("messages"))
    assert len(found) == run.total("messages")
    assert len({message.key for message in found}) == len(found)
    seen = set()
    for message in found:
        message.verify()
        # the longest that fits: one mail may end as another does
        fits = [octets for octets in wanted if message.octets.endswith(b"\r\n" + octets)]
        assert fits, f"{message.source} is no mail of the corpus:\n{message.octets[:2000]!r}"
        seen.add(max(fits, key=len))
    assert seen == set(wanted)


def write_eml(folder, mails):
    place = folder / "corpus"
    place.mkdir()
    for name, octets in mails.items():
        (place / name).with_suffix(".eml").write_bytes(octets)
    return place


@pytest.mark.parametrize("options", [["--pipelining", "off"], ["--pipelining", "auto"], ["--chunking", "auto"]],
                         ids=["plain", "pipelined", "chunked"])
def test_directory_of_files(dovecot, postal, users_file, folder, mails, options):
    server = dovecot(2)
    run = postal("-L", "-c", "-1", *options, "--corpus", write_eml(folder, mails), "--messages",
                 len(mails) * 2, server.endpoint, users_file(2))
    check_round_trip(server, run, [as_received(octets) for octets in mails.values()])


def test_maildir(dovecot, postal, users_file, folder, mails):
    mailbox.Maildir(folder / "box", create=True)
    for number, octets in enumerate(mails.values()):
        place = folder / "box" / ("cur" if number % 2 else "new")
        (place / f"{number}.M1P1.host{':2,S' if number % 2 else ''}").write_bytes(octets)
    server = dovecot(1)
    run = postal("-L", "-c", "-1", "--corpus", folder / "box", "--messages", len(mails) * 2,
                 server.endpoint, users_file(1))
    check_round_trip(server, run, [as_received(octets) for octets in mails.values()])


def test_mbox(dovecot, postal, users_file, folder, mails):
    path = folder / "box.mbox"
    with open(path, "wb") as box:
        for octets in mails.values():
            octets = as_received(octets).replace(b"\r\n", b"\n")
            quoted = re.sub(rb"(?m)^(>*From )", rb">\1", octets)  # mboxrd
            box.write(b"From sender@example.com Thu Jan  1 00:00:00 1970\n" + quoted + b"\n")
    server = dovecot(1)
    run = postal("-L", "-c", "-1", "--corpus", path, "--messages", len(mails) * 2, server.endpoint,
                 users_file(1))
    check_round_trip(server, run, [as_received(octets) for octets in mails.values()])


NOT_MAIL = [("python.gif", None), ("sndhdr.wav", None), ("msg_19.txt", None),
            ("nothing", b""), ("words", b"Hello there\n\nhow are you\n"), ("zeros", b"From: <a@example.com>\n\n\0\0\n")]


@pytest.mark.parametrize("name, octets", NOT_MAIL, ids=[name for name, _ in NOT_MAIL])
def test_what_is_not_mail_is_refused_by_name(postal, users_file, folder, mails, name, octets):
    place = write_eml(folder, mails)
    if octets is None:
        octets = pathlib.Path(FOLDERS[0], name).read_bytes()
    (place / f"{name}.eml").write_bytes(octets)
    run = postal("-L", "--corpus", place, "--messages", "1", "127.0.0.1:1", users_file(1), status=1)
    assert len(run.stderr.splitlines()) == 1
    assert f"{name}.eml" in run.stderr
    assert run.stdout == ""


@pytest.mark.parametrize("name", ["empty-folder", "absent", "empty-mbox"])
def test_a_corpus_without_mail_is_refused(postal, users_file, folder, name):
    path = folder / name
    if name == "empty-folder":
        path.mkdir()
    elif name == "empty-mbox":
        path.touch()
    run = postal("--corpus", path, "--messages", "1", "127.0.0.1:1", users_file(1), status=1)
    assert len(run.stderr.splitlines()) == 1 and str(path) in run.stderr
