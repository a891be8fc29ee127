# SPDX-License-Identifier: GPL-3.0-or-later
"""Mail that postal has put into Dovecot, read back by rabid over POP3 and IMAP.

What rabid counts must be what Dovecot has, before and after; poplib and imaplib look at the mailboxes as well. With as
many connections as here every account is visited but for once in a million runs (`--connections` with few users).
"""
import contextlib
import re
import signal
import sqlite3

import pytest

from conftest import login_names
from support.mail import Message
from support.postal import RABID_HEADER, check_reading
from support.process import wait_until
from support.watched import Sending

BODIES = "ascii=20,8bit=20,dots=20,long-lines=10,crlf-edge=20,multipart=10"
WAYS = ["pop3", "imap"]
STRANGER = (b"From: <friend@example.net>\r\nTo: <user0@example.com>\r\nSubject: dinner\r\n"
            b"Message-ID: <%d@example.net>\r\n\r\nSeven o'clock?\r\n.\r\n..dots\r\n")
# As postal 0.76 of Debian 12 (amd64) sent it; tests/unit/mail/difference_test.cpp has it, too.
ORIGINAL = (b"From: <u2@example.com>\r\nTo: <u1@example.com>\r\nSubject: q>Z(6:,sJc\r\n"
            b"Date: Fri, 20 Nov 2026 20:13:31 +0000\r\nMessage-Id: <6B00A9F6.157.001.u2@example.com>\r\n"
            b"X-PostalHash: e2df045f08b3f308aaf7f1d25bf74cd6\r\n"
            b"X-Postal: 0.75 - the mad postman.\r\nX-Postal: http://www.coker.com.au/postal/\r\n"
            b"X-Postal: This is not a real email.\r\n\r\n")


@pytest.fixture
def filled(dovecot, postal, users_file):
    """filled(users, messages, …) is a Dovecot with so many messages of postal's, each for one user."""
    def fill(users, messages, *words, **keywords):
        server = dovecot(users, reading=True, **keywords)
        if messages:
            sizes = () if "--size" in words else ("-M", "2", "-m", "8")
            sent = postal("-L", "-t", "2", "-c", "-1", *sizes, "--body", BODIES, "--messages", messages, *words,
                          server.endpoint, users_file(server.users))
            assert sent.total("messages") == messages
        server.logins = users_file(login_names(server.users))
        return server
    return fill


def reading(server, way, logins=None):
    """The words that make rabid read this server's mail in one way."""
    share = ["-i", "100", "--imap", server.imap] if way == "imap" else []
    return [*share, server.pop3, logins or server.logins]


def keys(messages):
    return sorted(message.key for message in messages)


def there(server):
    """What poplib and imaplib find, by user; they must agree."""
    result = {}
    for user in server.users:
        found = [message.octets for message in server.pop3_mail(user)]
        assert sorted(found) == sorted(message.octets for message in server.imap_mail(user))
        result[user] = [Message(octets, user) for octets in found]
    return result


def integrity(run):
    return {kind: count for kind, count in run.record["integrity"].items() if count}


@pytest.mark.parametrize("way, pipelining", [("pop3", "auto"), ("pop3", "off"), ("imap", "auto")])
def test_everything_is_read_and_deleted(filled, rabid, way, pipelining):
    server = filled(3, 40)
    run = rabid("-p", "3", "--connections", "36", "--pipelining", pipelining, *reading(server, way))
    check_reading(run)
    assert integrity(run) == {"verified": 40}
    assert run.total("messages") == run.total("deleted") == 40
    assert run.total("connections") == 36 and run.record["errors"] == []
    assert run.total("imap_connections") == (36 if way == "imap" else 0)
    assert server.all_mail() == []
    assert not any(there(server).values())


def test_both_ways_at_once(filled, rabid):
    server = filled(3, 30)
    run = rabid("-p", "3", "--connections", "36", "-i", "50", "--imap", server.imap, server.pop3, server.logins)
    check_reading(run)
    assert {one["server"]: "Dovecot" in one["text"] for one in run.record["greetings"]} == {server.imap: True, server.pop3: True}
    assert run.total("deleted") == run.record["integrity"]["verified"] == 30
    assert 4 <= run.total("imap_connections") <= 32
    assert run.record["errors"] == []


@pytest.mark.parametrize("rounds", [1, 3])
def test_each_account_so_many_times(filled, rabid, users_file, rounds):
    """Dovecot's own log has so many logins of each; who cannot log in had its turn, and nobody else gets it."""
    server = filled(7, 30)
    logins = users_file([*login_names(server.users), "stranger@example.com wrong", *login_names(server.users[:1])])
    run = rabid("-p", "3", "-d", "100:0", "--rounds", rounds, *reading(server, "pop3", logins))
    assert ["Dovecot" in one["text"] for one in run.record["greetings"]] == [True]
    assert run.total("connections") == 8 * rounds
    assert run.total("messages") == 30 * rounds == run.record["integrity"]["verified"] + run.record["integrity"]["duplicate"]
    assert sum(error["count"] for error in run.record["errors"]) == rounds, run.record["errors"]
    for user in server.users:
        assert len(re.findall(rf"pop3-login: Info: Login: user=<{re.escape(user)}>", server.log)) == rounds


@pytest.mark.parametrize("store", ["maildir", "sdbox", "mdbox"])
def test_nothing_is_deleted_without_being_asked(filled, rabid, users_file, store):
    """-d 100:0, one connection for each user: what is counted is what Dovecot has. Then everything goes."""
    server = filled(3, 30, store=store)
    before = there(server)
    assert sum(map(len, before.values())) == 30
    for way in WAYS:
        for user in server.users:
            run = rabid("--connections", "1", "-d", "100:0", *reading(server, way, users_file(login_names([user]))))
            check_reading(run)
            assert (run.total("messages"), run.total("deleted")) == (len(before[user]), 0)
            assert run.record["integrity"]["verified"] == len(before[user])
            assert run.total("bytes") == sum(len(message.octets) for message in before[user])
            assert run.record["errors"] == []
    after = there(server)
    assert {user: keys(mail) for user, mail in before.items()} == {user: keys(mail) for user, mail in after.items()}
    for way, user in zip(WAYS, server.users):
        run = rabid("--connections", "1", *reading(server, way, users_file(login_names([user]))))
        assert run.total("deleted") == len(before[user])
    assert [len(mail) for mail in there(server).values()] == [0, 0, len(before[server.users[2]])]


@pytest.mark.parametrize("way", WAYS)
def test_half_is_read_and_half_of_that_deleted(filled, rabid, folder, way):
    """Only what was read is gone, as the ledger has it."""
    server = filled(1, 60, "-M", "1", "-m", "1")
    before = keys(server.imap_mail(server.users[0]))
    book = folder / "book"
    run = rabid("--connections", "1", "-d", "50:50", "--ledger", book, *reading(server, way))
    check_reading(run)
    after = keys(server.pop3_mail(server.users[0]))
    assert 10 <= run.total("messages") <= 50
    assert 0 < run.total("deleted") < run.total("messages")
    assert len(after) == 60 - run.total("deleted")
    with sqlite3.connect(book) as ledger:
        seen = ledger.execute("SELECT run, session, sequence FROM seen_messages").fetchall()
    seen = {(found, str(session), str(sequence)) for found, session, sequence in seen}
    assert len(seen) == run.total("messages")
    assert set(before) - set(after) <= seen <= set(before)


@pytest.mark.parametrize("way", WAYS)
def test_at_most_so_many_a_connection(filled, rabid, way):
    server = filled(1, 20, "-M", "1", "-m", "1")
    none = rabid("--connections", "1", "-c", "0", *reading(server, way))
    assert none.total("messages") == none.total("deleted") == none.total("errors") == 0
    some = rabid("--connections", "1", "-c", "7", "-d", "100:0", *reading(server, way))
    assert (some.total("messages"), some.total("deleted")) == (7, 0)
    before = keys(server.pop3_mail(server.users[0]))
    gone = rabid("--connections", "2", "-c", "7", *reading(server, way))
    check_reading(gone)
    assert gone.total("messages") == gone.total("deleted") == 14
    after = keys(server.imap_mail(server.users[0]))
    assert len(after) == 6 and set(after) < set(before)
    more = rabid("--connections", "1", "-c", "1000", *reading(server, way))
    assert more.total("deleted") == 6


@pytest.mark.parametrize("way", WAYS)
def test_mail_of_others_is_counted_and_left_alone(filled, rabid, way):
    server = filled(1, 6, "-M", "1", "-m", "1")
    [user] = server.users
    for number in range(3):
        server.put(user, STRANGER % number)
    run = rabid("--connections", "2", *reading(server, way))
    check_reading(run)
    assert integrity(run) == {"verified": 6, "foreign": 6}, "the strangers' mail is read twice"
    assert run.total("deleted") == 6 and run.record["errors"] == []
    assert sorted(message.octets for message in server.pop3_mail(user)) == [STRANGER % number for number in range(3)]
    with server.imap_session(user) as client:
        assert client.search(None, "DELETED")[1] == [b""]
    run = rabid("--connections", "1", "--delete-foreign", *reading(server, way))
    check_reading(run)
    assert integrity(run) == {"foreign": 3} and run.total("deleted") == 3
    assert server.all_mail() == []


def test_mail_that_somebody_else_marked_as_deleted_stays(filled, rabid):
    """rabid expunges what it has marked itself, and nothing else."""
    server = filled(1, 4, "-M", "1", "-m", "1")
    [user] = server.users
    server.put(user, STRANGER % 1)
    with server.imap_session(user, readonly=False) as client:
        client.store("5", "+FLAGS", "\\Deleted")
    run = rabid("--connections", "1", *reading(server, "imap"))
    assert run.total("deleted") == 4
    assert [message.octets for message in server.imap_mail(user)] == [STRANGER % 1]


@pytest.mark.parametrize("way", WAYS)
def test_mail_of_the_original_postal(filled, rabid, way):
    server = filled(1, 0)
    [user] = server.users
    server.put(user, ORIGINAL)
    server.put(user, b"Received: from a by b\r\n\tlater\r\n" + ORIGINAL)
    server.put(user, ORIGINAL + b"x\r\n")
    run = rabid("--connections", "1", "-d", "100:0", *reading(server, way))
    check_reading(run)
    assert integrity(run) == {"original": 3, "corrupt": 1}
    assert [(error["stage"], error["count"]) for error in run.record["errors"]] == [("check", 1)]


@pytest.mark.parametrize("way", WAYS)
def test_the_domain_can_be_left_out(filled, rabid, folder, way):
    server = filled(1, 5, bare_logins=True)
    book = folder / "book"
    run = rabid("-u", "--connections", "1", "--ledger", book, *reading(server, way))
    check_reading(run)
    assert run.total("deleted") == 5
    assert re.search(rf"{way}-login: .*user=<user0>", server.log)
    with sqlite3.connect(book) as ledger:
        assert ledger.execute("SELECT DISTINCT mailbox FROM seen_messages").fetchall() == [("user0@example.com",)]


def test_an_account_is_used_by_many_if_that_is_wanted(filled, rabid):
    server = filled(1, 10, "-M", "1", "-m", "1")
    run = rabid("-p", "4", "--connections", "12", "--shared-accounts", "-d", "100:0", *reading(server, "imap"))
    check_reading(run)
    assert integrity(run) == {"verified": 120} and run.record["errors"] == []
    run = rabid("-p", "4", "--connections", "12", "--shared-accounts", *reading(server, "imap"))
    check_reading(run)
    assert server.all_mail() == []
    assert {error["reason"] for error in run.record["errors"]} <= {"refused"}, "what another session has deleted"
    assert run.record["integrity"]["corrupt"] == 0


@pytest.mark.parametrize("way", WAYS)
def test_messages_that_come_together_share_their_time(filled, rabid, way):
    """Many small ones that are asked for at once end in one read: none of them took less than a look at it takes."""
    run = rabid("--connections", "1", *reading(filled(1, 300, "--size", "fixed:1K", "--body", "ascii"), way))
    check_reading(run)
    retrieve = run.record["latency_us"]["retrieve"]
    assert retrieve["count"] == 300
    assert retrieve["p50"] > 1, retrieve  # microseconds


@pytest.mark.parametrize("way", WAYS)
def test_large_messages(filled, rabid, way):
    server = filled(1, 3, "--size", "fixed:3M", "--body", "ascii")
    run = rabid("--connections", "1", *reading(server, way))
    check_reading(run)
    assert integrity(run) == {"verified": 3} and run.total("deleted") == 3
    assert run.total("bytes") > 9 << 20


@pytest.mark.parametrize("way", WAYS)
def test_empty_mailboxes_are_no_fault(filled, rabid, way):
    server = filled(2, 0)
    run = rabid("-p", "2", "--connections", "4", *reading(server, way))
    check_reading(run)
    assert (run.total("messages"), run.total("connections"), run.record["errors"]) == (0, 4, [])


@pytest.mark.parametrize("way", WAYS)
def test_wrong_passwords(filled, rabid, users_file, way):
    server = filled(2, 0)
    wrong = users_file(login_names(server.users, "wrong"))
    run = rabid("--connections", "1", *reading(server, way, wrong), status=4)
    check_reading(run)
    assert [(error["stage"], error["reason"], error["count"]) for error in run.record["errors"]] == [("login", "refused", 1)]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("profile", ["original", "poller", "archive", "desktop", "webmail", "phone", "append"])
def test_profiles(filled, rabid, folder, profile):
    """Without an error or a contradiction, and without harm to anybody's mail."""
    server = filled(3, 15, "-M", "1", "-m", "1")
    server.put(server.users[0], STRANGER % 1)
    before = {key for mail in there(server).values() for key in keys(message for message in mail if message.identity)}
    book = folder / "book"
    run = rabid("-p", "3", "--duration", "3s", "--grace", "20s", "--profile", profile, "-d", "100:0", "--ledger", book,
                *reading(server, "imap"))
    check_reading(run)
    assert run.record["errors"] == [], run.record["errors"]
    assert run.total("imap_connections") >= 3
    assert run.record["integrity"]["corrupt"] == 0
    inbox = [message for mail in there(server).values() for message in mail]
    elsewhere = 0
    for user in server.users:
        with server.imap_session(user) as client:
            if client.select("postal-elsewhere", readonly=True)[0] == "OK":
                elsewhere += len(client.search(None, "ALL")[1][0].split())
    assert sum(message.identity is None for message in inbox) == 1
    if profile != "append":
        assert len(before) + 1 - elsewhere <= len(inbox) <= len(before) + 1
        return
    with sqlite3.connect(book) as ledger:
        sent = ledger.execute("SELECT run, session, sequence FROM sent_messages WHERE outcome = 'accepted'").fetchall()
    appended = [message for message in inbox if message.identity and message.key not in before]
    assert {(name, str(session), str(number)) for name, session, number in sent} == set(keys(appended))
    assert len(appended) == len(sent) == run.total("appended") > 0
    for message in appended:
        message.verify()


@pytest.mark.parametrize("actions, connections", [(1, 7), (40, 5)])
def test_what_is_appended_is_counted(dovecot, rabid, users_file, folder, actions, connections):
    """As many messages as APPENDs: in the mailboxes, in the record, in its intervals, in the log and for people."""
    server = dovecot(2, reading=True)
    own = folder / "own.toml"
    own.write_text(f'actions = "{actions}"\n[weights]\nappend = 1\n')
    run = rabid("-p", "2", "--connections", connections, "--profile", own, "--log-format", "extended", "--interval", "100ms",
                "--threshold", f"appended=={actions * connections}",
                *reading(server, "imap", users_file(login_names(server.users))))
    assert run.record["errors"] == [] and run.total("messages") == run.total("append_in_doubt") == 0
    count = actions * connections
    assert sum(len(server.imap_mail(user)) for user in server.users) == run.total("appended") == count
    # LOGIN, SELECT and LOGOUT, and perhaps CAPABILITY
    assert count + 3 * connections <= run.total("imap_commands") <= count + 4 * connections
    run.header = run.stdout.splitlines()[0]
    for name in ("appended", "imap_commands"):
        assert sum(line[name] for line in run.lines) == run.total(name)
        assert sum(interval[name] for interval in run.record["intervals"]) == run.total(name)
    assert re.search(rf"^ +mailboxes .*\b{count} appended, {run.total('imap_commands')} IMAP commands$", run.stderr, re.M)


PERSONAL = "namespace inbox {{\n  inbox = yes\n  prefix = {0}\n  separator = {1}\n}}\n"
MAILBOXES = 'first = ["read", "create", "copy", "copy", "move", "list"]\n'


@pytest.mark.thinned(3)
@pytest.mark.parametrize("prefix, separator", [("INBOX.", "."), ("INBOX/", "/"), ("", "."), ("Post&APw-/", "/")])
def test_a_personal_namespace(filled, rabid, folder, prefix, separator):
    """RFC 2342: mailboxes of our own go where the server has a place for them."""
    server = filled(1, 20, extra=PERSONAL.format(prefix.replace("&APw-", "ü"), separator))
    own = folder / "own.toml"
    own.write_text(MAILBOXES)
    run = rabid("--connections", "12", "--profile", own, "-d", "100:0", *reading(server, "imap"))
    check_reading(run)
    assert run.record["errors"] == [], run.record["errors"]
    [user] = server.users
    with server.imap_session(user) as client:
        assert len([line for line in client.list()[1] if b"postal-" in line]) == 1, "made and deleted again"
        assert client.select(f"{prefix}postal-elsewhere", readonly=True)[0] == "OK"
        assert len(client.search(None, "ALL")[1][0].split()) == 12 * 3
    assert len(server.imap_mail(user)) == 20 - 12


def test_a_refused_command_is_named(filled, rabid, folder):
    """A server that does not say where mailboxes may be made, and refuses them elsewhere: each command is an error of its own."""
    server = filled(1, 4, extra=PERSONAL.format("INBOX.", ".") + "imap_capability = IMAP4rev1 LITERAL+ UIDPLUS\n")
    own = folder / "own.toml"
    own.write_text(MAILBOXES)
    run = rabid("-p", "1", "--connections", "1", "--profile", own, "-d", "100:0", *reading(server, "imap"))
    check_reading(run)
    errors = {error["sample"].partition(": ")[0]: error for error in run.record["errors"]}
    assert {name: error["count"] for name, error in errors.items()} == {"CREATE": 1, "UID COPY": 3}
    assert {(error["stage"], error["reason"]) for error in errors.values()} == {("command", "refused")}
    assert "command refused: CREATE: " in run.stderr and len(server.imap_mail(server.users[0])) == 4


def test_a_later_visit_asks_what_has_happened_since(filled, programs, folder):
    """QRESYNC (RFC 7162): the UIDs that went while nobody looked are said to have vanished, and nothing contradicts."""
    server = filled(1, 12, "-M", "1", "-m", "1")
    own = folder / "sync.toml"
    own.write_text('first = ["flags"]\nresync = true\npause = "200ms"\n')

    def conversations():
        return [path.read_text(errors="replace") for path in sorted(folder.glob("said:0:*"), key=lambda path: int(path.name.rpartition(":")[2]))]

    with Sending(programs.rabid, folder, "-p", "1", "--profile", own, "-d", "100:0", "-Z", folder / "said",
                 *reading(server, "imap")) as visiting:
        wait_until(lambda: len(conversations()) > 2, "the first visits")
        with server.imap_session(server.users[0], readonly=False) as client:
            client.uid("store", "1", "+FLAGS", r"(\Flagged)")
            client.uid("store", "2,5:6", "+FLAGS", r"(\Deleted)")
            client.expunge()
            client.append("INBOX", None, None, STRANGER % 1)
        wait_until(lambda: any("VANISHED (EARLIER) 2,5:6" in text for text in conversations()), lambda: f"the UIDs that went: {conversations()[-9:-5]}")
        before = len(conversations())
        wait_until(lambda: len(conversations()) > before + 2, "visits behind it")
        visiting.signal(signal.SIGTERM)
        run = visiting.wait()
    run.header = RABID_HEADER
    check_reading(run)
    assert run.status == 0 and run.record["errors"] == []
    selects = [re.search(r" SELECT (\S+)(.*)", text) for text in conversations() if " SELECT " in text]
    assert selects[0].group(2).strip() == "", "the first visit knows nothing"
    asked = [re.fullmatch(r" \(QRESYNC \((\d+) (\d+) (\S+)\)\)", one.group(2).rstrip().removesuffix("\\r\\n")) for one in selects[1:]]
    assert all(asked), [one.group(0) for one in selects]
    assert len({one.group(1) for one in asked}) == 1
    modseqs = [int(one.group(2)) for one in asked]
    assert modseqs == sorted(modseqs)
    assert asked[0].group(3) == "1:12" and asked[-1].group(3) == "1,3:4,7:13"


def test_compressed(filled, rabid):
    """COMPRESS=DEFLATE (RFC 4978): the same mail in fewer octets."""
    server = filled(2, 20, extra="protocol imap {\n  mail_plugins = imap_zlib\n}\nmail_plugins = zlib\n")
    for compress in ("auto", "off"):
        run = rabid("-p", "2", "--connections", "24", "--compress", compress, "-d", "100:0", *reading(server, "imap"))
        check_reading(run)
        assert run.record["errors"] == [] and run.record["integrity"]["verified"] == run.total("messages") > 20
    for user in server.users:
        assert len(server.imap_mail(user)) == len(server.pop3_mail(user))
    run = rabid("-p", "2", "--connections", "24", "--compress", "auto", *reading(server, "imap"))
    assert run.total("deleted") == 20 and server.all_mail() == []


@pytest.mark.parametrize("way", WAYS)
def test_mail_is_seen_as_it_comes(filled, programs, folder, postal, users_file, way):
    """--watch: delivery time is taken of each message that comes in while rabid looks."""
    server = filled(2, 0)
    book = folder / "book"
    with Sending(programs.rabid, folder, "-p", "2", "--watch", "300ms", "--ledger", book, *reading(server, way)) as watching:
        wait_until(lambda: len(re.findall(rf"{way}-login: .*Login: ", server.log)) >= 2, "two that watch")
        postal("-L", "-t", "1", "-c", "-1", "-M", "2", "-m", "2", "--messages", "20", server.endpoint,
               users_file(server.users))
        wait_until(lambda: not [*server.mail.glob("*/Maildir/new/*"), *server.mail.glob("*/Maildir/cur/*")], "everything to be read and deleted")
        watching.signal(signal.SIGTERM)
        run = watching.wait()
    run.header = RABID_HEADER
    check_reading(run)
    assert run.status == 0 and run.record["errors"] == []
    assert integrity(run) == {"verified": 20} and run.total("deleted") == 20
    delivery = run.record["latency_us"]["delivery"]
    assert delivery["count"] == 20 and 0 < delivery["p50"] < 30_000_000
    announced = run.record["latency_us"]["announced"]
    assert announced["count"] == 20 and 0 < announced["p50"] <= delivery["p50"] and announced["max"] <= delivery["max"]
    assert run.total("announced") == (20 if way == "imap" else 0)
    assert run.total("announced_shrunk") == run.total("announced_absent") == 0
    with contextlib.closing(sqlite3.connect(book)) as ledger:
        ask = "SELECT sent_us, announced_us, time_us, notice, arrived_us FROM seen JOIN notices n ON n.id = seen.notice"
        rows = ledger.execute(ask.replace("notice,", "n.notice,")).fetchall()
        kinds = {kind for kind, in ledger.execute("SELECT waiting FROM mailbox_waits")}
    assert len(rows) == 20 and all(sent <= told <= read for sent, told, read, *_ in rows)
    assert {row[3] for row in rows} <= ({"visit"} if way == "pop3" else {"idle", "early", "answer"})
    assert all(row[4] is None if way == "pop3" else 0 <= row[1] - row[4] < 60_000_000 for row in rows)
    assert kinds == ({"visiting"} if way == "pop3" else {"idling"})


def test_idle_or_noop(filled, programs, folder, postal, users_file):
    """--watch-by noop: plain polling, also of a server that has IDLE."""
    server = filled(1, 0)
    with Sending(programs.rabid, folder, "--watch", "100ms", "--watch-by", "noop", *reading(server, "imap")) as watching:
        wait_until(lambda: re.findall("imap-login: .*Login: ", server.log), "one that watches")
        postal("-L", "-t", "1", "-M", "1", "-m", "1", "--messages", "3", server.endpoint, users_file(server.users))
        wait_until(lambda: not [*server.mail.glob("*/Maildir/new/*"), *server.mail.glob("*/Maildir/cur/*")], "everything to be read and deleted")
        watching.signal(signal.SIGTERM)
        run = watching.wait()
    said = {name: kind["sent"] for name, kind in run.record["commands"]["by_kind"].items()}
    assert run.total("announced") == 3 and said.get("IDLE", 0) == 0 and said["NOOP"] > 0, said
