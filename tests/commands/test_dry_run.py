# SPDX-License-Identifier: GPL-3.0-or-later
"""--dry-run says what a run would do, connects to nothing, and refuses what a run would; --explain knows the names of errors."""
import socket

import pytest

from support.postal import refused, run


def rows(done):
    assert done.status == 0 and done.stderr == "", done.stderr
    pairs = [line.split("  ", 1) for line in done.stdout.splitlines()]
    return {name.strip(): text.strip() for name, text in pairs}


@pytest.fixture
def nobody_comes():
    """A listening socket that must not be connected to."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(TimeoutError):
            listener.accept()


def test_postal(programs, users_file, nobody_comes):
    found = rows(run([programs.postal, "--dry-run", "--seed", "7", "-t", "3", "-c", "-1", "-r", "10/s", "--stages", "100/s@1m", "--open-loop",
                      "--tls", "starttls", "--size", "fixed:5K", "--recipients", "2", f"{nobody_comes},localhost:2525", users_file(9)]))
    assert found["protocol"] == "SMTP" and found["servers"] == nobody_comes and found["sessions"] == "6"
    assert found["pace"] == "messages: 10/s, to 100/s within 1m; whether the servers keep up or not (open loop)"
    assert found["ends"] == "after 1m" and found["seed"] == "7" and "STARTTLS" in found["TLS"]
    assert found["users"] == "9 recipients, 9 senders" and "fixed:5K" in found["a message"]
    assert found["session 0"].endswith(", 5,120 octets") and "@example.com to " in found["session 0"]


def test_what_is_shown_is_what_is_sent(programs, bhm, postal, users_file, folder):
    """The same seed: the same envelope and size, by the ledger's and bhm's account of them."""
    users = users_file(50)
    hole = bhm("--store", folder / "store")
    words = ["--seed", "99", "-t", "1", "--messages", "1", hole.endpoint, users]
    shown = rows(run([programs.postal, "--dry-run", *words]))["session 0"]
    message = run([programs.postal, "--dry-run-message", *words]).stdout.encode()
    done = postal(*words)
    hole.stop()
    sender, rest = shown.split(" to ")
    recipient, octets = rest.removesuffix(" octets").split(", ", 1)
    (kept,) = [path for path in (folder / "store").rglob("*") if path.is_file() and b"X-Postal-Id" in path.read_bytes()]
    text = kept.read_bytes()
    assert f"From: <{sender}>".encode() in text and f"To: <{recipient}>".encode() in text
    assert done.total("bytes") == int(octets.replace(",", ""))
    assert f"From: <{sender}>".encode() in message and f"To: <{recipient}>".encode() in message and b"seed=99" in message
    body = message.replace(b"\r\n", b"\n").split(b"\n\n", 1)[1]
    assert body.rstrip(b"\n") in text.replace(b"\r\n", b"\n"), "the body is the seed's"


def test_rabid(programs, users_file, nobody_comes):
    users = users_file(["a@example.com secret", "b@example.com secret"])
    done = run([programs.rabid, "--dry-run", "-u", "-i", "50", "--imap", nobody_comes, "-d", "100:0", "-r", "5/s", "--connections", "8",
                nobody_comes, users])
    found = rows(done)
    assert found["POP3"] == found["IMAP"] == nobody_comes and found["accounts"] == "2"
    assert found["pace"] == "connections: 5/s; at most (closed loop)" and found["ends"] == "after 8 connections (--connections)"
    assert "deletes 0 %" in found["messages"] and "secret" not in done.stdout


@pytest.mark.parametrize("words, wanted", [
    ((), {"messages": "all messages of a mailbox; reads 100 % of them, and deletes 100 % of those that it has read and that are postal's"}),
    (("-i", "100", "--profile", "desktop"), {"messages": "what the profile says, which has no verb read and deletes nothing"}),
    (("-i", "50", "--profile", "append", "-c", "3", "-d", "50:20"), {
        "messages": "at most 3 messages of a mailbox; reads 50 % of them, and deletes 20 % of those that it has read and that are postal's",
        "over IMAP": "what the profile says, which has no verb read and deletes nothing"}),
    (("-i", "100", "--watch", "1s", "-d", "100:50"),
     {"messages": "what comes into INBOX; deletes 50 % of those that it has read and that are postal's"}),
    (("-i", "100", "--watch", "1s", "--watch-by", "notify", "--watch-folders", "lists,Work/new", "--delete-foreign"),
     {"messages": "what comes into INBOX, lists, Work/new; deletes 100 % of those that it has read, also foreign ones"})])
def test_who_deletes_what(programs, users_file, words, wanted):
    found = rows(run([programs.rabid, "--dry-run", *words, "127.0.0.1:1", users_file(["a@example.com secret"])]))
    assert {name: found[name] for name in ("messages", "over IMAP") if name in found} == wanted


def test_what_a_run_refuses_is_refused(programs, users_file):
    refused(run([programs.postal, "--dry-run", "--resolve", "no-such-host.invalid", users_file(2)]), "no address")
    refused(run([programs.postal, "--dry-run", "192.0.2.1", users_file(2)]), "--target-is-mine")
    refused(run([programs.postal, "--resolve", "127.0.0.1:1", users_file(2)]), "--resolve", "--dry-run")
    refused(run([programs.postal, "--dry-run", "127.0.0.1:1", "/nowhere/users"]), "/nowhere/users")
    refused(run([programs.rabid, "--dry-run", "127.0.0.1:0", users_file(["a@example.com b"])]), "port 0", program="rabid")


def test_names_are_not_looked_up(programs, users_file):
    users = users_file(["a@example.com secret"])
    unknown = "neither looked up nor checked (--resolve does both)"
    sending = rows(run([programs.postal, "--dry-run", "mail.example.invalid,127.0.0.1:2525", users]))
    assert sending["servers"] == f"mail.example.invalid: {unknown}"
    assert rows(run([programs.rabid, "--dry-run", "mail.example.invalid", users]))["POP3"] == f"mail.example.invalid: {unknown}"
    assert run([programs.postal, "--dry-run-message", "mail.example.invalid", users]).status == 0


def test_one_is_one(programs, users_file):
    found = rows(run([programs.postal, "--dry-run", "--messages", "1", "127.0.0.1:1", users_file(1)]))
    assert found["users"] == "1 recipient, 1 sender" and found["a connection"] == "1 message" and found["ends"] == "after 1 message (--messages)"
    assert found["a message"].startswith("1 recipient; ")


def test_rabid_stages_begin_at_the_rate(programs, users_file):
    """As those of postal do."""
    users = users_file(["a@example.com secret"])
    for words, start in (((), "0/min"), (("-r", "10/s"), "10/s")):
        found = rows(run([programs.rabid, "--dry-run", *words, "--stages", "50/s@1m", "127.0.0.1:1", users]))
        assert found["pace"].startswith(f"connections: {start}, to 50/s within 1m"), found["pace"]


@pytest.mark.parametrize("program", ["postal", "rabid"])
def test_explain(programs, program):
    one = run([programs.path(program), "--explain", "timeout"])
    assert one.status == 0 and one.stdout.startswith("timeout (a reason): ") and "  try " in one.stdout
    closed = run([programs.path(program), "--explain", "closed"]).stdout
    assert closed.startswith("closed (a reason): the peer, or a rule of bhm's, closed the connection")
    every = run([programs.path(program), "--explain"])
    assert every.status == 0 and "\n  rcpt " in every.stdout and "\n  no_starttls " in every.stdout
    refused(run([programs.path(program), "--explain", "tiemout"]), "--explain", "did you mean timeout?", program=program)


@pytest.mark.parametrize("program", ["postal", "rabid"])
def test_what_can_be_seen_without_sending_is_looked_at(programs, users_file, folder, program):
    def dry(*words):
        return run([programs.path(program), "--dry-run", *words, users_file(["a@example.com secret"])])
    absent = folder / "socket"
    assert rows(dry(f"unix:{absent}"))["servers" if program == "postal" else "POP3"] == f"unix:{absent}: nothing is there yet"
    text = folder / "text"
    text.write_text("no ledger\n" * 100)
    refused(dry("--ledger", text, "127.0.0.1:1"), "--ledger", "is no ledger", program=program)
    assert text.read_text() == "no ledger\n" * 100
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        refused(dry("--metrics", place, "127.0.0.1:1"), "--metrics", place.rpartition(":")[2], program=program)
    assert dry("--metrics", place, "127.0.0.1:1").status == 0
    assert dry("--metrics", "no-such-host.invalid:1", "127.0.0.1:1").status == 0, "no name is looked up"


@pytest.mark.parametrize("words, said", [
    (("--profile", "phone"), "--profile: is what IMAP sessions do"), (("--compress", "auto"), "--compress: is for IMAP sessions"),
    (("--imap", "127.0.0.1:1"), "--imap: is where IMAP sessions go"), (("--store", "a"), "--store: is what a ledger calls them"),
    (("-i", "100", "--apop", "auto"), "--apop: is for POP3 sessions"), (("-i", "100", "--pipelining", "off"), "--pipelining: is for POP3"),
    (("-i", "100", "--watch", "1s", "--profile", "phone"), "--profile: means nothing with --watch")])
def test_rabid_says_what_means_nothing(programs, users_file, words, said):
    done = run([programs.rabid, "--dry-run", *words, "127.0.0.1:1", users_file(["a@example.com secret"])])
    assert done.status == 0 and done.stderr.startswith(f"rabid: {said}") and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("line, said", [
    ("rate = 10/s", 'rate: put "10/s" in quotes'), ("log-format = csv  # as ever", 'log-format: put "csv" in quotes'),
    ('helo = "a', "helo: the text has no quote at its end"), ("sessions 5", '"sessions 5" is no line of the form KEY = VALUE'),
    ("sessions = 5 5", "is no TOML: ")])
def test_mistakes_in_a_configuration_file(programs, users_file, folder, line, said):
    config = folder / "postal.toml"
    config.write_text(f"# first\n{line}\n")
    done = run([programs.postal, "--config", config, "--dry-run", "127.0.0.1:1", users_file(1)])
    refused(done, f"--config: {config}:2: {said}")


@pytest.mark.parametrize("program, option", [("postal", "--record"), ("postal", "--ledger"), ("postal", "--samples"), ("rabid", "--record"),
                                             ("rabid", "--ledger")])
def test_a_file_that_cannot_be_written_is_refused_here_too(programs, users_file, folder, program, option):
    """And nothing is left where it can."""
    users = users_file(["a@example.com secret"])
    refused(run([programs.path(program), "--dry-run", option, folder / "none" / "file", "127.0.0.1:1", users]), option, "No such file",
            program=program)
    assert run([programs.path(program), "--dry-run", option, folder / "file", "127.0.0.1:1", users]).status == 0
    assert not (folder / "file").exists()
