# SPDX-License-Identifier: GPL-3.0-or-later
"""lmtp-deliver with the agents that people use, and behind the MTA that they use.

Messages, a thousand with --full, go from postal over 12 sessions through dovecot-lda, maildrop and procmail into Maildirs, where each
must be found once, unharmed, in the mailbox of the one it was addressed to. Postfix hands mail on over TCP and Unix
sockets, and is the judge of what exit statuses mean: its pipe(8) runs the same agent.
"""
import os
import pwd
import re
import smtplib
import tomllib

import pytest

from conftest import ROOT, missing, user_names
from support.agents import literal, template
from support.mail import Message, read_maildir, to_crlf
from support.postal import check_books
from support.process import wait_until
from support.scraping import place_of, scrape

LOAD = ("-L", "-t", "12", "-c", "-1", "-m", "10", "--body",
        "ascii=30,8bit=20,dots=20,long-lines=10,crlf-edge=10,multipart=10")
DOVECOT_LDA = "/usr/lib/dovecot/dovecot-lda"
MAIL = b"From: <a@example.com>\r\nTo: <b@example.com>\r\nSubject: one\r\n\r\n.dot\r\n..\r\nline\r\n"
OWNER = "mail"  # who runs the agents of virtual users, and owns their mailboxes


class Mailboxes:
    """Maildirs of virtual users, which belong to OWNER."""

    def __init__(self, folder, users):
        self.folder, self.users = folder / "mail", users
        owner = pwd.getpwnam(OWNER)
        places = [self.folder] + [self.folder / user for user in users]
        for box in [self.folder / user / "Maildir" for user in users]:
            places += [box, *(box / part for part in ("new", "cur", "tmp"))]
        for place in places:
            place.mkdir(mode=0o700)
            os.chown(place, owner.pw_uid, owner.pw_gid)
        self.folder.chmod(0o755)

    def configuration(self, name, text):
        """A file that maildrop and procmail trust: OWNER's own."""
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o600)
        owner = pwd.getpwnam(OWNER)
        os.chown(path, owner.pw_uid, owner.pw_gid)
        return path

    def mailbox(self, user):
        return read_maildir(self.folder / user / "Maildir")


def check_mailboxes(boxes, count):
    """`count` messages in all, each there once, unharmed, and with the one it was addressed to."""
    keys = set()
    for user in boxes.users:
        for message in boxes.mailbox(user):
            message.verify()
            assert f"<{user}>" in message.text("to"), message.source
            assert message.key not in keys, f"{message.source}: a second time"
            keys.add(message.key)
    assert len(keys) == count
    assert len({run for run, _, _ in keys}) == 1


def check_load(postal, server, boxes, users_file, messages):
    sent = postal(*LOAD, "--messages", str(messages), server.endpoint, users_file(boxes.users), timeout=280)
    check_books(sent)
    assert sent.total("messages") == messages, sent.stderr
    done = server.stop()
    for key in ("messages", "recipients", "bytes", "connections"):
        assert done.total(key) == sent.total(key), key
    assert done.total("errors") == 0, done.stderr
    assert done.record["agents"]["exits"] == {"0": messages}
    assert sum(line["messages"] for line in done.lines) == messages
    check_mailboxes(boxes, messages)


@pytest.fixture
def messages(sized):
    return sized(100, 1000)


@pytest.fixture
def virtual(folder):
    if os.geteuid() != 0:
        missing(f"root, who may run agents as {OWNER}")
    return Mailboxes(folder, user_names(20))


class TestAgents:
    def test_dovecot_lda(self, lmtp_deliver, dovecot, postal, users_file, messages):
        if not os.access(DOVECOT_LDA, os.X_OK):
            missing("dovecot-lda")
        store = dovecot(20)
        server = lmtp_deliver(template(DOVECOT_LDA, "-c", store.folder / "dovecot.conf", "-e", "-f", "%from%", "-a", "%to%", "-d", "%to%"))
        check_load(postal, server, store, users_file, messages)

    def test_dovecot_lda_says_who_is_unknown(self, lmtp_deliver, dovecot):
        store = dovecot(2)
        server = lmtp_deliver(template(DOVECOT_LDA, "-c", store.folder / "dovecot.conf", "-e", "-f", "%from%", "-d", "%to%"))
        answers = server.deliver(["user0@example.com", "nobody@example.com", "user1@example.com"], MAIL)
        assert [(answer.code, answer.enhanced) for answer in answers] == [(250, "2.1.5"), (550, "5.1.1"), (250, "2.1.5")], answers
        assert [message.body for message in store.all_mail()] == [MAIL.partition(b"\r\n\r\n")[2]] * 2

    def test_maildrop(self, lmtp_deliver, tool, postal, users_file, virtual, messages):
        rules = virtual.configuration("mailfilter", f'to "{virtual.folder}/$1@$2/Maildir/."\n')
        server = lmtp_deliver(template(tool("maildrop"), "-f", "%from%", literal(rules), "%to_user%", "%to_domain%"), "--user", OWNER)
        check_load(postal, server, virtual, users_file, messages)

    def test_procmail(self, lmtp_deliver, tool, postal, users_file, virtual, messages):
        rules = virtual.configuration("procmailrc", f"DEFAULT={virtual.folder}/$1/Maildir/\n")
        server = lmtp_deliver(template(tool("procmail"), "-t", "-f", "%from%", "-a", "%to%", literal(rules)), "--user", OWNER)
        check_load(postal, server, virtual, users_file, messages)

    def test_procmail_to_dev_null_reads_nothing_and_has_delivered(self, lmtp_deliver, tool, virtual):
        rules = virtual.configuration("procmailrc", "DEFAULT=/dev/null\n")
        server = lmtp_deliver(template(tool("procmail"), "-t", literal(rules)), "--user", OWNER)
        with server.connect() as client:
            assert client.deliver(["b@example.com"], MAIL + b"x" * 5_000_000, chunks=1)[0].code == 250

    def test_maildrop_that_cannot_write_defers(self, lmtp_deliver, tool, virtual):
        rules = virtual.configuration("mailfilter", 'to "/nowhere/Maildir/."\n')
        server = lmtp_deliver(template(tool("maildrop"), literal(rules)), "--user", OWNER)
        [answer] = server.deliver(["b@example.com"])
        assert (answer.code, answer.enhanced) == (451, "4.3.0")
        assert "maildrop" in answer.words, "what it printed"


def test_the_named_template_of_dovecot(lmtp_deliver, dovecot, folder):
    """The built-in one with the configuration of this test's Dovecot."""
    store = dovecot(["user0@example.com"])
    named = tomllib.loads((ROOT / "conf/agents.toml").read_text())["dovecot"]["template"]
    table = folder / "agents.toml"
    table.write_text(f"[dovecot]\ntemplate = '{named.replace(DOVECOT_LDA, f'{DOVECOT_LDA} -c {store.folder}/dovecot.conf')}'\n")
    server = lmtp_deliver("dovecot", "--agents", table)
    answers = server.deliver(["user0+detail@example.com", "nobody@example.com", "user0@example.com"], MAIL)
    assert [(answer.code, answer.enhanced) for answer in answers] == [(250, "2.1.5"), (550, "5.1.1"), (250, "2.1.5")], answers
    assert len(store.all_mail()) == 2


@pytest.mark.parametrize("name", ["maildrop", "procmail"])
def test_named_templates_are_accepted_by_their_programs(lmtp_deliver, tool, name):
    """For a user that does not exist each ends with 67; for options that it did not know it would be 64."""
    if os.geteuid() != 0:
        missing("root, whom these agents need")
    tool(name)
    server = lmtp_deliver(name)
    [answer] = server.deliver(["no-such-user+detail@example.com"])
    assert (answer.code, answer.enhanced) == (550, "5.1.1"), answer


# Behind Postfix

@pytest.fixture
def keeping(lmtp_deliver, agents, folder):
    """keeping(listen, option, …) starts a server whose agents keep each message as file RECIPIENT-ID."""
    place = folder / "kept"
    place.mkdir(mode=0o700)

    def start(listen, *options):
        server = lmtp_deliver(agents("keep", place, "%to%-%id%"), *options, listen=[listen])
        server.kept = place
        return server
    return start


def check_kept(place, count):
    """`count` messages of postal, each whole, once for each recipient, whose name is in its To field."""
    seen = set()
    for path in place.iterdir():
        recipient = path.name.partition("-")[0]
        message = Message(to_crlf(path.read_bytes()), path.name)
        message.verify()
        assert recipient in message.text("to")
        assert (message.key, recipient) not in seen
        seen.add((message.key, recipient))
    assert len(seen) == count


class TestPostfix:
    @pytest.mark.thinned(2)
    @pytest.mark.parametrize("way", ["inet", "unix"])
    def test_relays_everything(self, postfix, postal, keeping, users_file, folder, way):
        options = [] if way == "inet" else ["--socket-mode", "0600", "--socket-owner", "postfix"]
        server = keeping("127.0.0.1:0" if way == "inet" else f"unix:{folder}/deliver", *options)
        target = f"lmtp:inet:{server.endpoint}" if way == "inet" else f"lmtp:unix:{folder}/deliver"
        relay = postfix(target, lmtp_destination_concurrency_limit="12")
        sent = postal("-t", "4", "-c", "-1", "--body", "ascii=40,8bit=20,dots=20,crlf-edge=20", "--recipients", "1..5", "--messages", "100",
                      relay.endpoint, users_file(10))
        assert sent.total("messages") == relay.drain(100, timeout=180) == 100
        assert len(relay.outcomes("sent")) == sent.total("recipients")
        done = server.stop()
        assert done.total("messages") == done.total("started") == sent.total("recipients")
        check_kept(server.kept, sent.total("recipients"))

    def test_connections_that_it_keeps_are_no_errors(self, postfix, postal, keeping, users_file):
        """It closes them without QUIT when no more mail comes; whether it keeps any is its own business, so that it has ten tries."""
        def idle_closes():
            server = keeping("127.0.0.1:0", "--metrics", "127.0.0.1:0")
            place = place_of(server.process)
            relay = postfix(f"lmtp:inet:{server.endpoint}", lmtp_connection_cache_destinations="static:all",
                            lmtp_connection_cache_time_limit="1s")
            sent = postal("-t", "4", "-c", "-1", "--messages", "50", relay.endpoint, users_file(10))
            assert relay.drain(50, timeout=180) == sent.total("messages") == 50

            def all_closed():
                page = scrape(place)
                return page.value("postal_messages_total") == 50 and page.value("postal_open_connections") == 0
            wait_until(all_closed, "Postfix to close what it kept")
            done = server.stop()
            assert done.total("messages") == 50
            assert done.record["errors"] == [] and done.total("errors") == 0
            assert done.total("idle_closes") <= done.total("connections")
            return done.total("idle_closes")
        assert any(idle_closes() for _ in range(10))

    def test_tells_each_recipient_its_own_story(self, postfix, lmtp_deliver, agents):
        server = lmtp_deliver(agents("any", "%to_user%"))
        relay = postfix(f"lmtp:inet:{server.endpoint}")
        recipients = [f"{kind}@example.com" for kind in ("status-0", "status-67", "status-75", "signal-9", "status-99", "status-77")]
        with smtplib.SMTP("127.0.0.1", relay.port) as client:
            client.sendmail("", recipients, MAIL)
        def all_told():
            return sum(len(relay.outcomes(status)) for status in ("sent", "bounced", "deferred")) == len(recipients)
        wait_until(all_told, lambda: f"six outcomes: {relay.log}")
        assert relay.outcomes("sent") == ["status-0@example.com"]
        assert sorted(relay.outcomes("bounced")) == ["status-67@example.com", "status-77@example.com", "status-99@example.com"]
        assert sorted(relay.outcomes("deferred")) == ["signal-9@example.com", "status-75@example.com"]
        assert re.search(r"to=<status-67@example\.com>.*dsn=5\.1\.1.* said: 550 5\.1\.1 Agent ended with status 67 \(user unknown\)", relay.log)

    def test_null_sender_and_sizes(self, postfix, lmtp_deliver, agents, folder):
        server = lmtp_deliver(agents("keep", folder, "from-%from%-%size%"), "-m", "100")
        relay = postfix(f"lmtp:inet:{server.endpoint}")
        with smtplib.SMTP("127.0.0.1", relay.port) as client:
            client.sendmail("", ["b@example.com"], MAIL)
            client.sendmail("a@example.com", ["big@example.com"], MAIL + b"x" * 70 * 2000 + b"\r\n")
        wait_until(lambda: relay.outcomes("sent") and relay.outcomes("bounced"), lambda: f"two outcomes: {relay.log}")
        assert relay.outcomes("bounced")[0] == "big@example.com"
        [kept] = [path for path in folder.glob("from--*") if path.read_bytes().endswith(b"\n\n.dot\n..\nline\n")]
        assert kept.name == f"from--{kept.stat().st_size}", "the null sender is empty, the size is right"

    def test_a_stop_and_a_start_lose_nothing(self, postfix, postal, keeping, users_file, folder):
        """Postfix keeps what was not acknowledged and tries again."""
        place = f"unix:{folder}/deliver"
        first = keeping(place)
        relay = postfix(f"lmtp:unix:{folder}/deliver", minimal_backoff_time="1s", maximal_backoff_time="1s", queue_run_delay="1s", transport_retry_time="1s")
        sent = postal("-t", "2", "-c", "-1", "--messages", "300", "--rate", "400/s", relay.endpoint, users_file(10))
        wait_until(lambda: len(list(first.kept.iterdir())) > 20, "the first deliveries")
        first.stop()
        before = len(list(first.kept.iterdir()))
        second = keeping(place)
        assert sent.total("messages") == relay.drain(300, timeout=180) == 300
        done = second.stop()
        assert before + done.total("messages") == 300
        check_kept(first.kept, 300)


def block_of_the_manual(heading):
    """The indented lines behind the line that begins with `heading`."""
    manual = (ROOT / "docs/man/lmtp-deliver.8.md").read_text().split("# BEHIND POSTFIX")[1]
    found = re.search(rf"(?m)^{re.escape(heading)}(?:.*\n)+?\n((?:    .*\n)+)", manual)
    assert found, f"{heading} is not in the manual"
    return "".join(line[4:] for line in found[1].splitlines(True))


class TestManual:
    """What lmtp-deliver(8) says about Postfix, done: only the queue folder and the agent are this test's own."""

    @pytest.mark.thinned(2)
    @pytest.mark.parametrize("kind", ["mailbox_transport", "virtual_transport"])
    def test_the_settings_work_as_they_stand(self, postfix, postal, lmtp_deliver, agents, users_file, folder, kind):
        main = dict(line.split(" = ", 1) for line in block_of_the_manual("In */etc/postfix/main.cf*").splitlines())
        target = main.pop("mailbox_transport")
        if kind == "mailbox_transport":
            main |= {"mydestination": "example.com", "local_recipient_maps": "", "mailbox_transport": target}
        else:
            main |= {"virtual_mailbox_domains": "example.com", "virtual_transport": target}
        relay = postfix("discard:", master=block_of_the_manual("In */etc/postfix/master.cf*") + "local unix - n n - - local\n",
                        relay_domains="", **main)
        place = folder / "kept"
        place.mkdir()
        settings = block_of_the_manual("In */etc/lmtp-deliver.toml*")
        assert 'agent = "procmail"\n' in settings and "/var/spool/postfix/private/" in settings
        own = folder / "lmtp-deliver.toml"
        own.write_text(settings.replace('"procmail"', f"\'\'\'{agents('keep', place, '%to%-%id%')}\'\'\'").replace("/var/spool/postfix", str(relay.queue)))
        server = lmtp_deliver(None, "--config", own, listen=())
        server.process.wait_for_line(rf"listening on unix:{relay.queue}/private/lmtp-deliver$")
        sent = postal("-t", "4", "-c", "-1", "--recipients", "1..3", "--messages", "60", relay.endpoint, users_file(10))
        assert sent.total("messages") == relay.drain(60) == 60
        done = server.stop()
        assert done.total("messages") == sent.total("recipients") == len(relay.outcomes("sent"))
        check_kept(place, sent.total("recipients"))
        assert re.search(r"relay=\S*\[private/lmtp-deliver\], .*status=sent \(250 2\.1\.5 Delivered\)", relay.log), "what the manual says to look for"


def test_exit_statuses_mean_what_they_mean_to_pipe(postfix, lmtp_deliver, agents, folder):
    """Postfix's own pipe(8) runs the same agent: what it bounces is 5xx, what it defers 4xx, with its enhanced code.
    For statuses without a row in the table the code alone is compared: 68 is 5.1.2 there, and 5.3.0 here."""
    path = agents.path("status")
    master = f"agent unix - n n - 20 pipe\n  flags= user=nobody argv={path} ${{user}}\n"
    relay = postfix("agent:", master=master, agent_destination_recipient_limit="1")
    with smtplib.SMTP("127.0.0.1", relay.port) as client:
        for first in range(0, 256, 64):
            client.sendmail("", [f"{status}@example.com" for status in range(first, first + 64)], MAIL)
    pattern = r"to=<(\d+)@example\.com>.*dsn=([\d.]+), status=(\w+)"
    wait_until(lambda: len(re.findall(pattern, relay.log)) >= 256, lambda: f"256 outcomes: {relay.log[-2000:]}", 120)
    theirs = {int(status): (dsn, outcome) for status, dsn, outcome in re.findall(pattern, relay.log)}
    answers = lmtp_deliver(agents("status", "%to_user%")).deliver([f"{status}@example.com" for status in range(256)])
    classes = {"sent": 2, "deferred": 4, "bounced": 5}
    assert {status: classes[outcome] for status, (_, outcome) in theirs.items()} == {
        status: answer.code // 100 for status, answer in enumerate(answers)}
    known = [64, 65, 67, 69, 70, 71, 73, 74, 75, 77, 78]
    assert {status: theirs[status][0] for status in known} == {status: answers[status].enhanced for status in known}
