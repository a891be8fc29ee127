# SPDX-License-Identifier: GPL-3.0-or-later
"""bhm under clients that nobody here wrote: what they say they sent is what it counted.

Postfix as a relay, smtp-source in all its modes, swaks, Python's smtplib, and the original postal.
"""
import os
import re
import smtplib
import socket
import subprocess

import pytest

from conftest import ROOT
from support.postal import check_books
from support.process import Process, wait_until

MAIL = b"From: <a@example.com>\r\nTo: <b@example.com>\r\nSubject: one\r\n\r\n.dot\r\n..\r\n.\r\nline\r\n"
OLD_POSTAL = ROOT / "build/peers/postal-0.76/usr/sbin/postal"


def check_server(run, messages, **totals):
    """bhm's own books: its intervals, its lines and its totals agree, and `messages` came in."""
    assert run.total("messages") == messages
    assert sum(interval["messages"] for interval in run.record["intervals"]) == messages
    assert sum(line["messages"] for line in run.lines) == messages
    for name, value in totals.items():
        assert run.total(name) == value, name


def integrity(run):
    return {name: run.record["integrity"][name] for name in ("verified", "foreign", "corrupt")}


def call(argv, **options):
    done = subprocess.run([str(word) for word in argv], stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                          check=False, **options)
    assert done.returncode == 0, f"{argv}: {done.returncode} {done.stderr.decode()} {done.stdout.decode()}"
    return done.stdout.decode()


class TestPostfix:
    """Postfix as the sending client, with mail from postal, so that bhm can check every digest."""

    # Postfix's SMTP client has no Unix sockets
    @pytest.mark.parametrize("protocol, way", [("smtp", "tcp"), ("lmtp", "tcp"), ("lmtp", "unix")])
    def test_relays_everything_unchanged(self, postfix, postal, bhm, users_file, folder, protocol, way):
        listen = "127.0.0.1:0" if way == "tcp" else f"unix:{folder}/hole"
        hole = bhm(*(["--lmtp"] if protocol == "lmtp" else []), listen=[listen])
        if way == "unix":
            os.chmod(f"{folder}/hole", 0o666)  # Postfix's client is not root
        target = {"smtp": f"smtp:[127.0.0.1]:{hole.endpoint.rpartition(':')[2]}",
                  "lmtp": f"lmtp:{'inet:' if way == 'tcp' else ''}{hole.endpoint}"}[protocol]
        relay = postfix(target)
        sent = postal("-t", "4", "-c", "-1", "--body", "ascii=40,8bit=20,dots=20,crlf-edge=20", "--recipients", "1..3",
                      "--messages", "60", relay.endpoint, users_file(10))
        assert sent.total("messages") == relay.drain(60) == 60
        assert len(relay.outcomes("sent")) == sent.total("recipients")
        done = hole.stop()
        # over LMTP each accepted recipient counts, over SMTP each message
        check_server(done, sent.total("recipients") if protocol == "lmtp" else 60,
                     recipients=sent.total("recipients"), rejected=0, errors=0)
        assert integrity(done) == {"verified": done.total("messages"), "foreign": 0, "corrupt": 0}

    @pytest.mark.parametrize("protocol", ["smtp", "lmtp"])
    def test_is_told_which_recipients_are_unknown(self, postfix, bhm, users_file, protocol):
        hole = bhm(*(["--lmtp"] if protocol == "lmtp" else []), users_file(["known@example.com"]))
        relay = postfix(f"{protocol}:{'inet:' if protocol == 'lmtp' else ''}[127.0.0.1]:{hole.port}")
        with smtplib.SMTP("127.0.0.1", relay.port) as client:
            client.sendmail("", ["known@example.com", "unknown@example.com"], MAIL)
            client.sendmail("", ["Known@EXAMPLE.com"], MAIL)
        wait_until(lambda: len(relay.removed) >= 2, lambda: f"the end of the messages: {relay.log}")
        assert len(relay.outcomes("sent")) == 2
        assert relay.outcomes("bounced") == ["unknown@example.com"]
        assert re.search(r"to=<unknown@example\.com>.*dsn=5\.1\.1.* said: 550 5\.1\.1 ", relay.log)
        hole.stop()

    def test_learns_the_size_limit(self, postfix, bhm):
        hole = bhm("-m", "2")
        relay = postfix(f"smtp:[127.0.0.1]:{hole.port}")
        with smtplib.SMTP("127.0.0.1", relay.port) as client:
            client.sendmail("", ["b@example.com"], MAIL + b"x" * 70 * 50)
        wait_until(lambda: len(relay.removed) >= 1, lambda: f"the end of the message: {relay.log}")
        assert relay.outcomes("bounced") == ["b@example.com"]
        check_server(hole.stop(), 0)


SOURCE_MODES = {
    "plain": [], "keeps-connection": ["-d"], "sessions": ["-d", "-s", "10"],
    "no-abort": ["-A"], "numbered-recipients": ["-N", "-d"], "recipients": ["-r", "7"],
    "numbered-recipients-many": ["-N", "-r", "5", "-d"], "long": ["-l", "200000"], "short": ["-l", "1"],
    "subject": ["-S", "hello"], "window": ["-T", "1024"], "ipv4": ["-4"],
    "counter": ["-c"], "retries": ["-C", "3"], "hello-name": ["-M", "client.example.com"], "verbose": ["-v"],
    "random-delay": ["-R", "1"], "fixed-delay": ["-w", "1"], "from": ["-f", "a@example.com"],
    "null-sender": ["-f", ""],
}


class TestSmtpSource:
    @pytest.mark.thinned(5)
    @pytest.mark.parametrize("lmtp", [False, True], ids=["smtp", "lmtp"])
    @pytest.mark.parametrize("mode", SOURCE_MODES)
    def test_mode(self, tool, bhm, mode, lmtp):
        hole = bhm(*(["--lmtp"] if lmtp else []))
        options = SOURCE_MODES[mode]
        count = 3 if "delay" in mode else 40
        recipients = int(options[options.index("-r") + 1]) if "-r" in options else 1
        call([tool("smtp-source"), *(["-L"] if lmtp else []), *options, "-m", str(count), "-t", "b@example.com",
              f"127.0.0.1:{hole.port}"])
        done = hole.stop()
        accepted = count * recipients if lmtp else count
        check_server(done, accepted, recipients=count * recipients, errors=0)
        assert integrity(done) == {"verified": 0, "foreign": accepted, "corrupt": 0}

    def test_mail_without_a_greeting_is_out_of_order(self, tool, bhm):
        """-o sends no HELO, which RFC 5321 (4.1.4) demands before a mail transaction."""
        hole = bhm()
        done = subprocess.run([tool("smtp-source"), "-o", "-m", "2", f"127.0.0.1:{hole.port}"], capture_output=True,
                              timeout=60, check=False)
        assert done.returncode == 1 and b"503 5.5.1" in done.stderr
        check_server(hole.stop(), 0)

    def test_file_as_message(self, tool, bhm, folder):
        (folder / "mail").write_bytes(MAIL.replace(b"\r\n", b"\n"))
        hole = bhm()
        call([tool("smtp-source"), "-F", folder / "mail", "-m", "5", f"127.0.0.1:{hole.port}"])
        check_server(hole.stop(), 5, errors=0)

    @pytest.mark.parametrize("lmtp", [False, True], ids=["smtp", "lmtp"])
    @pytest.mark.parametrize("listen, target", [("[::1]:0", "[::1]:{port}"), ("unix:{folder}/hole", "unix:{folder}/hole")],
                             ids=["ipv6", "unix"])
    def test_other_sockets(self, tool, bhm, folder, listen, target, lmtp):
        hole = bhm(*(["--lmtp"] if lmtp else []), listen=[listen.format(folder=folder)])
        port = hole.endpoint.rpartition(":")[2]
        call([tool("smtp-source"), *(["-L"] if lmtp else []), "-d", "-m", "20", target.format(folder=folder, port=port)])
        check_server(hole.stop(), 20, errors=0)


class TestSwaks:
    def swaks(self, tool, hole, *options):
        where = ["--socket", hole.endpoint[5:]] if hole.endpoint.startswith("unix:") else [
            "--server", "127.0.0.1", "--port", str(hole.port)]
        return call([tool("swaks"), "--from", "a@example.com", "--helo", "client.example.com", *where, *options])

    @pytest.mark.thinned(3)
    @pytest.mark.parametrize("options", [
        [], ["--pipeline"], ["--protocol", "SMTP"], ["--body", ".\n..\n.x\n"], ["--body", "jörg"],
        ["--header-X-Test", "1"], ["--suppress-data"], ["--xclient-optional"]],
        ids=["esmtp", "pipeline", "smtp", "dots", "8bit", "header", "suppressed", "optional-xclient"])
    @pytest.mark.parametrize("recipients", [1, 3])
    def test_esmtp(self, tool, bhm, options, recipients):
        hole = bhm()
        names = ",".join(f"user{number}@example.com" for number in range(recipients))
        self.swaks(tool, hole, "--to", names, *options)
        check_server(hole.stop(), 1, recipients=recipients, errors=0)

    @pytest.mark.parametrize("way", ["tcp", "unix"])
    @pytest.mark.parametrize("options", [[], ["--pipeline"]], ids=["plain", "pipeline"])
    def test_lmtp(self, tool, bhm, folder, way, options):
        hole = bhm("--lmtp", listen=["127.0.0.1:0" if way == "tcp" else f"unix:{folder}/hole"])
        self.swaks(tool, hole, "--protocol", "LMTP", "--to", "b@example.com", *options)
        check_server(hole.stop(), 1, recipients=1, errors=0)

    @pytest.mark.thinned(5)
    @pytest.mark.parametrize("how, where", [
        (how, where) for how in ("--quit-after", "--drop-after")
        for where in ("CONNECT", "BANNER", "HELO", "MAIL", "RCPT", "DATA") if (how, where) != ("--quit-after", "DATA")])
    def test_leaving_early_is_no_message(self, tool, bhm, where, how):
        hole = bhm()
        self.swaks(tool, hole, "--to", "b@example.com", how, where)
        self.swaks(tool, hole, "--to", "b@example.com")  # and the next one is served
        done = hole.stop()
        # one that is dropped after the data may have been taken before the server saw the end
        assert done.total("messages") in ((1, 2) if where == "DATA" else (1,))
        assert done.total("connections") == 2


class TestSmtplib:
    def test_many_messages_on_one_connection(self, bhm):
        hole = bhm()
        with smtplib.SMTP("127.0.0.1", hole.port) as client:
            for number in range(20):
                assert client.sendmail("a@example.com", ["b@example.com", "c@example.com"][:1 + number % 2], MAIL) == {}
        check_server(hole.stop(), 20, recipients=30, connections=1, errors=0)

    def test_every_other_command(self, bhm):
        hole = bhm()
        with smtplib.SMTP("127.0.0.1", hole.port) as client:
            assert client.helo("client.example.com")[0] == 250
            assert client.ehlo("client.example.com")[0] == 250
            for extension in ("pipelining", "8bitmime", "smtputf8", "size", "enhancedstatuscodes", "chunking", "dsn",
                              "deliverby", "mt-priority"):
                assert client.has_extn(extension), extension
            assert client.noop()[0] == 250
            assert client.rset()[0] == 250
            assert client.docmd("HELP")[0] in (211, 214)
            assert client.verify("b@example.com")[0] in (250, 252)
            assert client.docmd("EXPN", "list")[0] in (250, 252, 502, 550)
            assert client.docmd("DATA")[0] == 503
            assert client.rcpt("b@example.com")[0] == 503
            assert client.docmd("MAIL", "FROM:<a@example.com> SIZE=1")[0] == 250
            assert client.mail("again@example.com")[0] == 503
            assert client.docmd("DATA")[0] in (503, 554)
            assert client.rset()[0] == 250
            assert client.docmd("STARTTLS")[0] in (500, 502)
            assert client.docmd("FROB")[0] == 500
            assert client.docmd("MAIL", "FROM:a b")[0] == 501
            assert client.docmd("MAIL", "FROM:<a@example.com> FROB=1")[0] == 555
            assert client.docmd("LHLO", "x")[0] == 500
            assert client.sendmail("a@example.com", ["b@example.com"], MAIL) == {}
        check_server(hole.stop(), 1)

    def test_smtputf8_and_8bitmime(self, bhm):
        hole = bhm()
        with smtplib.SMTP("127.0.0.1", hole.port) as client:
            client.ehlo()
            options = ["SMTPUTF8", "BODY=8BITMIME"]
            assert client.sendmail("jörg@example.com", ["δοκιμή@example.com"],
                                   MAIL + "jörg\r\n".encode(), mail_options=options) == {}
            client.docmd("MAIL", "FROM:<a@example.com>")
            code, _ = client.docmd("RCPT", "TO:<b@example.com>")
            assert code == 250
        check_server(hole.stop(), 1, recipients=1)

    def test_unknown_recipients_by_list(self, bhm, users_file):
        hole = bhm(users_file(3))
        with smtplib.SMTP("127.0.0.1", hole.port) as client:
            refused = client.sendmail("a@example.com", ["user0@example.com", "none@example.com"], MAIL)
            assert refused["none@example.com"][0] == 550
            assert refused["none@example.com"][1].startswith(b"5.1.1 ")
            with pytest.raises(smtplib.SMTPRecipientsRefused):
                client.sendmail("a@example.com", ["none@example.com"], MAIL)
        done = hole.stop()
        check_server(done, 1, recipients=1)
        assert [(error["stage"], error["code"], error["enhanced"], error["count"]) for error in done.record["errors"]] == [
            ("rcpt", 550, "5.1.1", 2)]

    def test_size_limit_declared_and_enforced(self, bhm):
        hole = bhm("-m", "1")
        with smtplib.SMTP("127.0.0.1", hole.port) as client:
            client.ehlo()
            assert int(client.esmtp_features["size"]) == 1024
            assert client.docmd("MAIL", "FROM:<a@example.com> SIZE=2000")[0] == 552
            assert client.docmd("MAIL", "FROM:<a@example.com> SIZE=10")[0] == 250
            client.rcpt("b@example.com")
            code, text = client.data(MAIL + b"x" * 78 * 20)
            assert (code, text.split()[0]) == (552, b"5.3.4")
            assert client.sendmail("a@example.com", ["b@example.com"], MAIL) == {}
        check_server(hole.stop(), 1)

    @pytest.mark.parametrize("way", ["tcp", "unix"])
    def test_lmtp(self, bhm, folder, way):
        hole = bhm("--lmtp", listen=["127.0.0.1:0" if way == "tcp" else f"unix:{folder}/hole"])
        host, port = ("127.0.0.1", hole.port) if way == "tcp" else (f"{folder}/hole", 0)
        with smtplib.LMTP(host, port) as client:
            for _ in range(3):
                assert client.sendmail("a@example.com", ["b@example.com"], MAIL) == {}
            # smtplib reads one reply only; three recipients have three, on one line each
            client.mail("a@example.com")
            for number in range(3):
                assert client.rcpt(f"user{number}@example.com")[0] == 250
            codes = [client.data(MAIL)[0]] + [client.getreply()[0] for _ in range(2)]
            assert codes == [250] * 3
            assert client.docmd("HELO", "x")[0] == 500
            assert client.docmd("EHLO", "x")[0] == 500
        check_server(hole.stop(), 6, recipients=6)

    def test_more_sessions_than_allowed_get_421(self, bhm):
        hole = bhm("-t", "2")
        kept = [smtplib.SMTP("127.0.0.1", hole.port) for _ in range(2)]
        with pytest.raises(smtplib.SMTPConnectError) as refusal:
            smtplib.SMTP("127.0.0.1", hole.port)
        assert refusal.value.smtp_code == 421
        kept.pop().quit()
        # the place is free as soon as the server has seen the end of the connection
        def served():
            try:
                with smtplib.SMTP("127.0.0.1", hole.port) as client:
                    return client.sendmail("a@example.com", ["b@example.com"], MAIL) == {}
            except smtplib.SMTPConnectError:
                return False
        wait_until(served, "a free place")
        for client in kept:
            client.close()
        check_server(hole.stop(), 1)

    def test_banner_names_the_address_that_was_connected_to(self, bhm, folder):
        hosts = folder / "hosts"
        hosts.write_text("# names\n127.0.0.1 one.example.com alias\n::1\ttwo.example.com\n")
        hole = bhm("-r", hosts, listen=["127.0.0.1:0", "[::1]:0"])
        for host, endpoint, name in zip(("127.0.0.1", "::1"), hole.endpoints, ("one.example.com", "two.example.com")):
            with smtplib.SMTP() as client:
                code, text = client.connect(host, int(endpoint.rpartition(":")[2]))
                assert (code, text.split()[0].decode()) == (220, name)
        hole.stop()

    def test_original_letters_for_address_and_port(self, programs, folder):
        """-b and -p, as the original has them."""
        server = Process([programs.bhm, "-b", "127.0.0.1", "-p", "0"], folder)
        try:
            port = int(server.wait_for_line(r"listening on 127\.0\.0\.1:(\d+)$").group(1))
            with smtplib.SMTP("127.0.0.1", port) as client:
                assert client.sendmail("a@example.com", ["b@example.com"], MAIL) == {}
            with socket.socket() as other, pytest.raises(OSError):
                other.bind(("127.0.0.1", port))
            assert server.stop() == 0
        finally:
            server.kill()


class TestOriginalPostal:
    def test_its_mail_is_taken_although_it_writes_a_blank_after_the_colon(self, bhm, users_file, folder):
        if not OLD_POSTAL.exists():
            from conftest import missing
            missing(f"the original postal ({OLD_POSTAL})")
        hole = bhm()
        client = Process([OLD_POSTAL, "-t", "2", "-c", "5", "-m", "10", "-M", "1", f"[127.0.0.1]{hole.port}",
                          users_file(10)], folder, "old-postal", cwd=folder)
        try:
            wait_until(lambda: count_lines(hole) >= 20, lambda: f"20 messages: {hole.process.stdout} {client.stderr}")
        finally:
            client.kill()
        done = hole.stop()
        assert done.total("messages") >= 20
        assert integrity(done) == {"verified": 0, "foreign": done.total("messages"), "corrupt": 0}


class TestPostal:
    """Our own pair, where nothing else stands between them."""

    @pytest.mark.thinned(3)
    @pytest.mark.parametrize("protocol", ["smtp", "lmtp"])
    @pytest.mark.parametrize("options", [["--pipelining", "off"], ["--pipelining", "auto"], ["--pipelining", "overlap"],
                                         ["--chunking", "auto"], ["--chunking", "auto", "--in-flight", "8"]],
                             ids=["plain", "pipelined", "overlapping", "chunked", "chunked-8-in-flight"])
    def test_both_count_the_same(self, bhm, postal, users_file, protocol, options):
        hole = bhm(*(["--lmtp"] if protocol == "lmtp" else []))
        run = postal(*(["-L"] if protocol == "lmtp" else []), "-t", "8", "-c", "-1", *options, "--recipients", "1..3",
                     "--body", "ascii=20,8bit=20,dots=20,long-lines=10,crlf-edge=20,multipart=10", "--messages", "500",
                     hole.endpoint, users_file(20))
        check_books(run)
        done = hole.stop()
        check_server(done, run.total("messages"), recipients=run.total("recipients"), errors=0,
                     connections=run.total("connections"), bytes=run.total("bytes"))
        assert integrity(done)["corrupt"] == integrity(done)["foreign"] == 0
        assert integrity(done)["verified"] == run.total("messages")

    @pytest.mark.parametrize("protocol", ["smtp", "lmtp"])
    def test_parameters_of_delivery(self, bhm, postal, users_file, folder, protocol):
        """bhm takes DSN, DELIVERBY and MT-PRIORITY; an address that is not ASCII goes without ORCPT."""
        hole, lmtp = bhm(*(["--lmtp"] if protocol == "lmtp" else [])), ["-L"] if protocol == "lmtp" else []
        run = postal(*lmtp, "-c", "-1", "--recipients", "2", "--dsn", "notify=delay+failure,ret=full", "--helo", "p+q.example",
                     "--mail-parameter", "BY=120;RT", "--mail-parameter", "MT-PRIORITY=-2", "-z", folder / "said",
                     "--messages", 8 if lmtp else 4, hole.endpoint, users_file(["a+b@example.com", "jörg@example.com"]))
        check_books(run)
        said = (folder / "said:0").read_text()
        mails = re.findall(r"-> (MAIL .*)", said)
        assert 2 * len(mails) == run.total("recipients") == 8
        for command in mails:
            assert re.search(r" RET=FULL ENVID=[0-9a-f]{16}\.0\.\d+ BY=120;RT MT-PRIORITY=-2$", command), command
        assert set(re.findall(r"-> RCPT (.*)", said)) == {
            "TO:<a+b@example.com> NOTIFY=DELAY,FAILURE ORCPT=rfc822;a+2Bb@example.com", "TO:<jörg@example.com> NOTIFY=DELAY,FAILURE"}
        refused = postal(*lmtp, "--mail-parameter", "BY=0;R", "--messages", "1", hole.endpoint, users_file(1), status=4)
        assert [(error["stage"], error["code"]) for error in refused.record["errors"]] == [("mail", 501)]
        # MAIL; RCPT and DATA that were pipelined behind it are no errors of their own
        check_server(hole.stop(), run.total("messages"), recipients=8, errors=1)


def count_lines(hole):
    """Messages in the lines that a running bhm has printed so far."""
    rows = hole.process.stdout.splitlines()[1:]
    return sum(int(row.split(",")[1]) for row in rows if row.count(",") == 5)
