# SPDX-License-Identifier: GPL-3.0-or-later
"""rabid --populate against a real Dovecot: mailboxes filled from a seed, gone on with, read back, and held in a ledger."""
import contextlib
import datetime
import email.utils
import imaplib
import re
import sqlite3

import pytest

from conftest import login_names
from support.ledger import wrong
from support.mail import made_message
from support.postal import run as run_program
from support.process import Process, wait_until

SMALL = "messages=120,folders=4,years=2,size=lognormal:2K,0.5,16K"
STORES = ("maildir", "sdbox", "mdbox")


def imap(server, user):
    host, port = server.imap.split(":")
    client = imaplib.IMAP4(host, int(port), timeout=60)
    client.login(user, "secret")
    return client


def folders_of(client):
    return sorted(re.search(rb'"?([^"]+)"?$', line)[1].decode().strip() for line in client.list()[1])


def mailbox(server, user):
    """{folder: [(flags, date, octets)]} as imaplib sees it, in the order of UIDs."""
    found = {}
    client = imap(server, user)
    for name in folders_of(client):
        assert client.select(f'"{name}"', readonly=True)[0] == "OK"
        parts = client.fetch("1:*", "(FLAGS INTERNALDATE BODY.PEEK[])")[1] if client.search(None, "ALL")[1] != [b""] else []
        found[name] = [(tuple(sorted(set(imaplib.ParseFlags(head)) - {rb"\Recent"})), re.search(rb'INTERNALDATE "([^"]+)"', head)[1],
                        text) for head, text in (part for part in parts if isinstance(part, tuple))]
    client.logout()
    return found


def instant(internaldate):
    return datetime.datetime.strptime(internaldate.decode().strip(), "%d-%b-%Y %H:%M:%S %z")


def messages(box):
    return sum(map(len, box.values()))


@pytest.fixture
def filled(dovecot, users_file, rabid):
    """A Dovecot, and rabid that fills its mailboxes."""
    def make(users=2, **keywords):
        server = dovecot(users, reading=True, **keywords)
        server.logins = users_file(login_names(server.users))

        def populate(*words, recipe=SMALL, status=0, **more):
            return rabid("--populate", recipe, *words, "--imap", server.imap, server.imap, server.logins, status=status, **more)
        return server, populate
    return make


@pytest.mark.parametrize("store", STORES)
def test_fills_and_reads_back(filled, store):
    server, populate = filled(store=store)
    run = populate("-p", "2")
    totals = run.record["totals"]
    assert (totals["wanted"], totals["appended"], totals["confirmed"]) == (240, 240, 240)
    assert run.record["integrity"] == {"verified": 240, "foreign": 0, "corrupt": 0, "duplicate": 0} | {
        key: 0 for key in run.record["integrity"] if key == "original"}
    for user in server.users:
        box = mailbox(server, user)
        assert messages(box) == 120 and len(box) >= 4
        flags = {flag for all in box.values() for flags, _, _ in all for flag in flags}
        assert {rb"\Seen", rb"\Answered"} <= flags
        for all in box.values():
            for _, arrived, text in all:
                said = email.utils.parsedate_to_datetime(re.search(rb"^Date: (.*?)\r\n", text, re.M)[1].decode())
                assert said == instant(arrived)
            dates = [instant(arrived) for _, arrived, _ in all]
            assert dates == sorted(dates)


def test_the_same_seed_makes_the_same_mailboxes(filled):
    one, fill_one = filled()
    other, fill_other = filled()
    fill_one("-p", "1", "--workers", "1")
    fill_other("-p", "2", "--workers", "2")
    for user in one.users:
        assert mailbox(one, user) == mailbox(other, user)
    third, fill_third = filled(users=1)
    fill_third("--seed", "2")
    assert mailbox(third, third.users[0]) != mailbox(one, third.users[0])


def test_threads_refer_to_what_is_there(filled):
    server, populate = filled(users=1)
    populate(recipe=SMALL.replace("120", "400"))
    texts = [text for all in mailbox(server, server.users[0]).values() for _, _, text in all]
    ids = {re.search(rb"^Message-ID: (<.*?>)\r\n", text, re.M)[1]: text for text in texts}
    assert len(ids) == 400
    answers = 0
    for text in texts:
        head = text.partition(b"\r\n\r\n")[0].replace(b"\r\n ", b" ")
        said = re.search(rb"^In-Reply-To: (<.*?>)", head, re.M)
        if not said:
            continue
        answers += 1
        references = re.search(rb"^References: (.*)", head, re.M)[1].split()
        assert references[-1] == said[1] and all(each in ids for each in references)
        subject = re.search(rb"^Subject: (.*)", head, re.M)[1]
        root = ids[references[0]].partition(b"\r\n\r\n")[0].replace(b"\r\n ", b" ")
        assert subject == b"Re: " + re.search(rb"^Subject: (.*)", root, re.M)[1]
    assert 100 < answers < 300


def test_goes_on_from_what_is_there(filled):
    server, populate = filled(users=1)
    user = server.users[0]
    populate()
    before = mailbox(server, user)
    again = populate()
    assert (again.record["totals"].get("appended", 0), again.record["totals"]["present"]) == (0, 120)
    assert mailbox(server, user) == before
    # Some go, one comes twice, one is somebody else's.
    client = imap(server, user)
    client.select("INBOX")
    client.store("3:9", "+FLAGS", r"(\Deleted)")
    client.expunge()
    client.copy("1", "INBOX")
    client.append("INBOX", None, None, made_message(1, user))
    client.logout()
    mended = populate(status=3)
    totals = mended.record["totals"]
    assert (totals["appended"], totals["present"], totals["confirmed"]) == (7, 113, 120)
    assert mended.record["integrity"]["duplicate"] == 1
    assert "1 more than once" in mended.stderr and "1 message of others lies there, too" in mended.stderr
    assert {text for all in mailbox(server, user).values() for _, _, text in all} >= {
        text for all in before.values() for _, _, text in all}


def test_what_was_changed_is_named(filled):
    server, populate = filled(users=1)
    populate()
    victim = sorted((server.mail / server.users[0] / "Maildir" / "cur").iterdir())[0]
    text = victim.read_bytes()
    at = text.index(b"\n\n") + 5
    victim.write_bytes(text[:at] + bytes([text[at] ^ 1]) + text[at + 1:])
    run = populate(status=3)
    assert run.record["integrity"]["corrupt"] == 1 and run.record["totals"]["confirmed"] == 119
    assert "1 changed" in run.stderr


def test_other_flags_are_named(filled):
    """Also where identities alone are looked at; what the server's own keywords are is nobody's fault."""
    server, populate = filled(users=1)
    populate()
    client = imap(server, server.users[0])
    client.select("INBOX")
    unread = client.search(None, "UNSEEN", "UNDELETED")[1][0].split()[:2]
    client.store(b",".join(unread).decode(), "+FLAGS", r"(\Seen)")
    client.store("1:5", "+FLAGS", "($Something)")
    client.logout()
    for words in ("", ",verify=0%"):
        run = populate(recipe=SMALL + words, status=3)
        assert (run.record["totals"]["confirmed"], run.record["totals"]["changed"]) == (118, 2)
        assert run.record["integrity"]["corrupt"] == 0 and "2 changed" in run.stderr


def test_a_share_is_read_back(filled, folder, report):
    _, populate = filled(users=1)
    run = populate("--ledger", folder / "book", recipe=SMALL + ",verify=20%")
    rows = report(folder / "book", "not-looked-for")
    assert rows and all(re.fullmatch(r"\d+ of \d+ messages were read: verify wants no more", row["detail"]) for row in rows), rows[:3]
    assert run.record["totals"]["confirmed"] == 120
    assert 5 <= run.record["integrity"]["verified"] <= 50
    assert "20 % of them were read back whole" in run.stderr


def test_a_run_that_ends_before_it_is_done_says_so(filled):
    server, populate = filled(users=3)
    short = populate("--duration", "1s", recipe=SMALL.replace("120", "20000"), status=3)
    assert "not confirmed yet" in short.stderr
    assert short.record["totals"]["wanted"] == 60000
    for user in server.users:
        assert messages(mailbox(server, user)) < 20000


def test_quota_is_a_refusal_and_no_endless_run(filled):
    server, populate = filled(users=1, quota={"user0@example.com": "*:messages=50"},
                              extra="mail_plugins = $mail_plugins quota\nplugin {\n quota = count:User quota\n quota_vsizes = yes\n}\n"
                                    "protocol imap {\n mail_plugins = $mail_plugins imap_quota\n}\n")
    run = populate(status=3)
    assert run.record["totals"]["confirmed"] == 50 == messages(mailbox(server, server.users[0]))
    assert "missing" not in run.stderr and "70 not confirmed yet" in run.stderr


def test_the_ledger_knows_each_message(filled, folder, report):
    server, populate = filled()
    book = folder / "book.db"
    populate("--ledger", book)
    found, status = report(book)
    assert status == 0 and not wrong(found)
    assert found["acknowledged"] == found["found"] == 240
    # Mended in a later run: neither lost, nor doubled, nor out of order.
    client = imap(server, server.users[0])
    client.select("INBOX")
    client.store("2:6", "+FLAGS", r"(\Deleted)")
    client.expunge()
    client.logout()
    mended = populate("--ledger", book)
    assert (mended.record["totals"]["appended"], mended.record["totals"]["present"]) == (5, 235)
    found, status = report(book)
    assert status == 0 and not wrong(found), found
    assert found["acknowledged"] == found["found"] == 240
    # Twice at the same time, and changed behind Dovecot's back.
    client = imap(server, server.users[0])
    client.select("INBOX")
    client.copy("1:3", "INBOX")
    client.logout()
    victim = sorted((server.mail / server.users[1] / "Maildir" / "cur").iterdir())[0]
    text = victim.read_bytes()
    victim.write_bytes(text[:-4] + bytes([text[-4] ^ 1]) + text[-3:])
    populate("--ledger", book, status=3)
    found, status = report(book)
    assert status == 3 and wrong(found) == {"duplicated": 3, "corrupt": 1}, found


def test_a_killed_run_is_gone_on_with(filled, folder, report, programs, sized):
    server, populate = filled()
    book = folder / "book.db"
    each = sized(1500, 3000)
    recipe = SMALL.replace("120", str(each))
    killed = Process([programs.rabid, "--populate", recipe, "-p", "2", "--ledger", book, "--imap", server.imap, server.imap, server.logins],
                     folder, "killed")
    wait_until(lambda: book.exists() and sent_rows(book) > 300, "some messages in the ledger")
    killed.kill()
    # What it had sent, the server may still be at: what it stores after the next run has looked, is there twice.
    def at_work():
        return [line for line in run_program(["doveadm", "-c", server.folder / "dovecot.conf", "who"]).stdout.splitlines() if "user" in line
                and not line.startswith("username")]
    wait_until(lambda: not at_work(), lambda: f"the end of both sessions: {at_work()}")
    run = populate("--ledger", book, recipe=recipe)
    assert run.record["totals"]["confirmed"] == 2 * each
    assert all(messages(mailbox(server, user)) == each for user in server.users)
    found, status = report(book)
    assert status == 0 and not wrong(found), found
    assert found["found"] == 2 * each


def sent_rows(book):
    try:
        with contextlib.closing(sqlite3.connect(f"file:{book}?mode=ro", uri=True)) as rows:
            return rows.execute("SELECT count(*) FROM sent").fetchone()[0]
    except sqlite3.Error:
        return 0


def test_a_dry_run_says_what_would_be_filled(filled):
    server, populate = filled(users=1)
    told = populate("--dry-run", recipe="messages=10,folders=3").stdout
    assert "10 messages in all, in 3 folders of each account, seed 1" in told and "after 1 connection (--populate)" in told
    assert messages(mailbox(server, server.users[0])) == 0
