# SPDX-License-Identifier: GPL-3.0-or-later
"""`--body multipart` as others read it: Python's email package finds nothing wrong with it, Dovecot says the same
structure, and rabid, which remakes it, finds an octet that was changed wherever that is."""
import collections
import random
import re
import zlib

import pytest

from conftest import login_names
from support.ledger import read_mailboxes
from support.mail import read_maildir
from support.mime import (decoded_name, defects_of, joined_response, parsed, read_list, structure_of, told_structure)
from support.postal import check_books

LOAD = ("-c", "-1", "--body", "multipart", "--seed", "11")
MAGIC = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff\xe0", "application/pdf": b"%PDF-1.4\n",
         "application/zip": b"PK\3\4",
         "application/vnd.openxmlformats-officedocument.wordprocessingml.document": b"PK\3\4",
         "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": b"PK\3\4"}
ENDS = {".png": b"IEND\xaeB`\x82", ".jpg": b"\xff\xd9", ".pdf": b"%%EOF\n",
        ".zip": b"\0" * 18, ".docx": b"\0" * 18, ".xlsx": b"\0" * 18}
LANGUAGES = {"en", "de", "fr", "pl", "ru", "el", "ar", "hi", "zh", "ja", "ko"}


def own(message):
    """The octets that postal has made: those above were put there on the way."""
    return message.octets[message.octets.index(b"From: <"):]


@pytest.fixture
def kept(bhm, postal, users_file, folder):
    """kept(sizes, messages) are mails that bhm has verified and kept, as octets."""
    def keep(sizes, count, sessions=2):
        store = folder / f"store-{sizes.replace(':', '-')}"
        hole = bhm("--store", store, "-m", "20M")
        sent = postal("-t", sessions, *LOAD, "--size", sizes, "--messages", count, hole.endpoint, users_file(3))
        check_books(sent)
        taken = hole.stop()
        assert taken.record["integrity"] == {"verified": count, "foreign": 0, "corrupt": 0, "duplicate": 0}
        mail = read_maildir(store)
        assert len(mail) == count and sum(len(own(one)) for one in mail) == sent.total("bytes")
        for one in mail:
            one.verify()
            assert len(own(one)) == int(one.identity["size"])
        return [own(one) for one in mail]
    return keep


def check_names(part, seen):
    name = part.get_filename()
    if not name:
        return
    name = decoded_name(name)
    stem, number, extension = re.fullmatch(r"(.+)-(\d{4})(\.\w{3,4})", name).groups()
    seen["name", "ascii" if stem.isascii() else "other"] += 1
    seen["form", re.search(r"name[*\d]*=\S{0,13}", part["Content-Disposition"])[0][:13]] += 1
    if part.get_content_type() != "text/csv":
        assert part.get_payload(decode=True).endswith(ENDS[extension])


def check_part(part, seen):
    kind, content = part.get_content_type(), part.get_payload(decode=True)
    seen["type", kind] += 1
    seen["encoding", part["Content-Transfer-Encoding"]] += 1
    check_names(part, seen)
    if kind in MAGIC:
        assert content.startswith(MAGIC[kind])
        inner = content[57:-40]
        assert len(inner) < 500 or len(zlib.compress(inner, 9)) > 0.99 * len(inner)
        return
    text = content.decode(part.get_content_charset())
    if kind == "text/html":
        seen["language", re.match(r'<html lang="(\w\w)"', text)[1]] += 1
        assert text.endswith("</body></html>")
    elif kind == "text/csv":
        assert re.match(r'\d+;"[^"]+";\d+;\d\d\r\n', text) or len(text) < 200
    if len(content) > 3000:
        assert len(zlib.compress(content, 9)) < 0.75 * len(content), "text is as people write it, not noise"


def check_html(message):
    """What the HTML shows is there, and shown."""
    shown = {f"<{one}>" for part in message.walk() if part.get_content_type() == "text/html"
             for one in re.findall(r'src="cid:([^"]+)"', part.get_payload(decode=True).decode())}
    there = {part["Content-ID"] for part in message.walk() if part["Content-ID"]}
    assert shown == there


def check_lines(octets):
    for line in octets.split(b"\r\n"):
        assert len(line) <= 998 and not line.startswith(b".")
    assert octets.isascii() and not re.search(rb"[^\r]\n|\r[^\n]", octets)


def shape(message):
    containers = [part.get_content_type() for part in message.walk() if part.is_multipart()]
    return " ".join(containers) or message.get_content_type()


@pytest.mark.parametrize("sizes, count, full", [("uniform:3K,16K", 400, True), ("uniform:0,2K", 200, False),
                                                ("fixed:300K", 12, False)], ids=["usual", "small", "large"])
def test_python_reads_what_is_meant(kept, sizes, count, full):
    seen, shapes = collections.Counter(), collections.Counter()
    for octets in kept(sizes, count):
        message = parsed(octets)
        assert defects_of(message) == []
        check_lines(octets)
        check_html(message)
        shapes[shape(message)] += 1
        subject = decoded_name(message["Subject"])
        seen["subject", "ascii" if subject.isascii() else "other"] += 1
        assert "=?" not in subject and "�" not in subject
        for part in message.walk():
            if part.is_multipart():
                assert not part.epilogue and part.preamble in (None, "", "This is a multi-part message in MIME format.")
            else:
                check_part(part, seen)
    if sizes == "uniform:0,2K":
        assert shapes["text/plain"] > 20 and shapes["multipart/alternative"] > 40
    if not full:
        return
    mixed, both, related, enclosed = "multipart/mixed", "multipart/alternative", "multipart/related", "message/rfc822"
    shares = {both: 40, mixed: 15, f"{mixed} {both}": 20, f"{both} {related}": 10, f"{mixed} {both} {related}": 5}
    for one, share in shares.items():
        assert abs(shapes[one] - share * count / 100) < 0.08 * count, (one, shapes)
    inside = [shapes[f"{mixed} {enclosed}{more}"] for more in (" text/plain", f" {both}", "")]
    assert abs(sum(inside) - 10 * count / 100) < 0.08 * count and sum(shapes.values()) == count
    assert {what for sort, what in seen if sort == "language"} == LANGUAGES
    assert {what for sort, what in seen if sort == "type"} == {*MAGIC, "text/plain", "text/html", "text/csv"}
    assert {what for sort, what in seen if sort == "encoding"} == {"7bit", "quoted-printable", "base64"}
    forms = {"name*=UTF-8''", "name*0*=UTF-8", "name*=ISO-885", 'name="=?UTF-8'}
    assert {what for sort, what in seen if sort == "form"} >= forms
    for one in ("subject", "name"):
        assert min(seen[one, "ascii"], seen[one, "other"]) > 30, seen


def test_the_same_seed_gives_the_same_mail(kept):
    """But for run, date and what depends on them."""
    def bodies(sizes):
        return sorted(octets.partition(b"\r\n\r\n")[2] for octets in kept(sizes, 30, sessions=1))
    assert bodies("uniform:4K,9K") == bodies("uniform:4096,9216")


def structures(server, user):
    """[(octets, what Dovecot says of their structure)]"""
    with server.imap_session(user) as client:
        _, found = client.fetch("1:*", "(UID)")
        for number in range(1, len([one for one in found if one]) + 1):
            _, (mail, *_) = client.fetch(str(number), "(BODY.PEEK[])")
            _, said = client.fetch(str(number), "(BODYSTRUCTURE)")
            yield mail[1], read_list(joined_response(said)[len(b"1 "):])[1]


def test_dovecot_says_the_same_structure(dovecot, postal, users_file):
    server = dovecot(2, reading=True)
    sent = postal("-L", "-t", "2", *LOAD, "--size", "uniform:1K,12K", "--messages", 150, server.endpoint,
                  users_file(server.users))
    check_books(sent)
    compared = 0
    for user in server.users:
        for octets, said in structures(server, user):
            assert told_structure(said) == structure_of(parsed(octets)), octets.decode()
            compared += 1
    assert compared == 150


@pytest.mark.parametrize("way", ["pop3", "imap"])
@pytest.mark.parametrize("store", ["maildir", "mdbox"])
def test_a_changed_octet_is_found_wherever_it_is(dovecot, postal, rabid, users_file, folder, report, way, store):
    """rabid verifies all; then messages are put there again of each of which one octet is another."""
    server, book = dovecot(1, reading=True, store=store), folder / "book"
    user, logins = server.users[0], users_file(login_names(server.users))
    sent = postal("-L", *LOAD, "--size", "uniform:2K,9K", "--messages", 40, "--ledger", book, server.endpoint,
                  users_file(server.users))
    check_books(sent)
    read = read_mailboxes(rabid, server, logins, book, way=way)
    assert read.record["integrity"]["verified"] == 40 and read.record["errors"] == []
    whole = [message.octets for message in server.imap_mail(user)]
    source, places = random.Random(5), set()
    for octets in whole:
        begin = octets.index(b"\r\n\r\n") + 4
        at = source.choice([at for at in range(begin, len(octets)) if octets[at:at + 1].isalnum()])
        changed = octets[:at] + bytes([octets[at] ^ 1]) + octets[at + 1:]
        own_at = at - octets.index(b"From: <") + 1
        places.add((own_at, octets[at], octets[at] ^ 1))
        server.put(user, changed)
    again = read_mailboxes(rabid, server, logins, book, way=way)
    counts = again.record["integrity"]
    assert counts["verified"] == counts["duplicate"] == counts["corrupt"] == 40, counts
    rows = report(book, "corrupt")
    detail = re.compile(r"byte (\d+) changed from (0x\w\w) to (0x\w\w)")
    found = {tuple(int(one, 0) for one in detail.fullmatch(row["detail"]).groups()) for row in rows}
    assert found == places


def test_search_finds_words_of_every_language(dovecot, postal, users_file):
    """A server that decodes what it searches has words that it can find; those of no message it does not find."""
    server = dovecot(1, reading=True)
    postal("-L", *LOAD, "--size", "uniform:6K,12K", "--messages", 120, server.endpoint, users_file(server.users))
    with server.imap_session(server.users[0]) as client:
        def count(word):
            client.literal = word.encode()
            return len(client.search("UTF-8", "BODY")[1][0].split())
        for word in ("meeting", "Rechnung", "réunion", "zamówienie", "отчёт", "παραγγελία", "اجتماع", "बैठक", "会议",
                     "会議", "회의"):
            assert 0 < count(word) < 120, word
        assert count("nowhere") == 0
