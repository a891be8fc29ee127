# SPDX-License-Identifier: GPL-3.0-or-later
"""Bad input is refused before anything is sent: one line that names the culprit, status 1.

One case for each kind; tests/unit/*/refused_options_test.cpp has the tables."""
import json
import os
import pathlib
import re
import resource
import socket
import subprocess

import pytest

from support.postal import refused, run
from support.process import wait_until

ANYWHERE = "127.0.0.1:1"


@pytest.mark.parametrize("words, names", [
    (["-M", "20", "-m", "10"], ["20", "10"]),
    (["-t", "many"], ["many"]),
    (["-l", "198.51.100.77"], ["198.51.100.77"]),
    (["-l", "127.0.0.1,::1"], ["--local-address", ANYWHERE, "only IPv4"]),
    (["-f", "/nowhere/senders"], ["/nowhere/senders"]),
    (["--record", "/nowhere/record.json"], ["/nowhere/record.json"]),
    (["-z", "/nowhere/log"], ["/nowhere/log"]),
], ids=" ".join)
def test_options(programs, folder, users_file, words, names):
    refused(run([programs.postal, "--messages", "1", *words, ANYWHERE, users_file(2)], timeout=20), *names)


@pytest.mark.parametrize("server, why", [
    ("127.0.0.1:99999", "99999"), ("127.0.0.1:0", "port 0"), ("no-such-host.invalid", "no address"), ("+no-such-host.invalid", "no address"),
    ("unix:/nowhere/socket", "No such file"), ("unix:/etc/passwd", "not a socket"),
])
def test_endpoints(programs, users_file, server, why):
    refused(run([programs.postal, "--messages", "1", server, users_file(2)], timeout=20), why)
    users = users_file(["a@example.com password"])
    refused(run([programs.rabid, "--connections", "1", server, users], timeout=20), why, program="rabid")
    refused(run([programs.rabid, "--connections", "1", "--imap", server, ANYWHERE, users], timeout=20), why, program="rabid")


def test_a_local_address_of_a_unix_socket(programs, folder, users_file):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "lmtp"))
        server.listen()
        refused(run([programs.postal, "-l", "127.0.0.1", "--messages", "1", f"unix:{folder}/lmtp", users_file(2)], timeout=20),
                "--local-address", "Unix socket")


@pytest.mark.parametrize("option", ["--listen", "--listen-tls", "--bind"])
def test_a_name_to_listen_at_that_is_none(programs, option):
    refused(run([programs.bhm, option, "no-such-host.invalid"], timeout=20), option, "no address", program="bhm")
    if option != "--bind":
        refused(run([programs.lmtp_deliver, "--allow-root-agent", "--agent", "/bin/true", option, "no-such-host.invalid"], timeout=20), option, "no address",
                program="lmtp-deliver")


@pytest.mark.parametrize("octets, line", [
    (b"# fine\n\na@example.com\n<b@example.com>\n", 4),
    (b"PK\x03\x04\x14\0\0\0\x08\0\n", 1),
], ids=["angle-brackets", "a-zip-file"])
@pytest.mark.parametrize("kind", ["users", "senders"])
def test_user_lists_with_a_bad_line(programs, folder, users_file, octets, line, kind):
    bad = folder / "bad.txt"
    bad.write_bytes(octets)
    words = [ANYWHERE, bad] if kind == "users" else ["-f", bad, ANYWHERE, users_file(2)]
    refused(run([programs.postal, "--messages", "1", *words], timeout=20), f"{bad}:{line}:")


@pytest.mark.parametrize("kind", ["absent", "folder", "empty", "only-comments", "unreadable"])
@pytest.mark.parametrize("program", ["postal", "bhm"])
def test_user_lists_that_are_none(programs, folder, kind, program):
    path = folder / "list"
    options = {}
    if kind == "folder":
        path.mkdir()
    elif kind == "empty":
        path.touch()
    elif kind == "only-comments":
        path.write_text("# nobody\n\n   \n")
    elif kind == "unreadable":
        path.write_text("a@example.com\n")
        path.chmod(0)
        if os.geteuid() == 0:
            options = {"user": "nobody", "group": "nogroup", "extra_groups": [], "cwd": "/"}
            if not reachable_by_nobody(programs.path(program)):
                pytest.skip("the programs are in a folder that only root may enter")
    words = ["--messages", "1", ANYWHERE, path] if program == "postal" else ["--listen", "127.0.0.1:0", path]
    refused(run([programs.path(program), *words], timeout=20, **options), path, program=program)


def reachable_by_nobody(program):
    return subprocess.run([program, "--version"], capture_output=True, check=False, cwd="/", **{
        "user": "nobody", "group": "nogroup", "extra_groups": []}).returncode == 0 if os.access(program, os.X_OK) and all(
            folder.stat().st_mode & 0o001 for folder in program.parents) else False


def limit_descriptors(soft, hard):
    def set_limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return set_limit


def test_too_few_descriptors_for_the_sessions(programs, users_file):
    done = run([programs.postal, "-t", "500", "--messages", "1", ANYWHERE, users_file(2)], timeout=20,
               preexec_fn=limit_descriptors(64, 64))
    refused(done, "64", "ulimit -n", status=2)
    assert done.status in (1, 2)


def test_a_low_soft_limit_is_raised(bhm, postal, users_file):
    hole = bhm()
    done = postal("-t", "100", "-c", "-1", "--messages", "500", hole.endpoint, users_file(5),
                  preexec_fn=limit_descriptors(32, 4096))
    assert done.total("messages") == 500


@pytest.mark.parametrize("words, names", [
    (["--tls-cert", "x"], ["--tls-cert", "TLS"]),
    (["--delay", "lunch=1s"], ["lunch"]),
    (["-r", "/nowhere/hosts"], ["/nowhere/hosts"]),
    (["-z", "/nowhere/log"], ["/nowhere/log"]),
])
def test_bhm_options(programs, words, names):
    listen = [] if "-p" in words else ["--listen", "127.0.0.1:0"]
    refused(run([programs.bhm, *listen, *words], timeout=20), *names, program="bhm")


def test_bhm_hosts_file_with_a_bad_line(programs, folder):
    hosts = folder / "hosts"
    hosts.write_text("127.0.0.1 one.example.com\nnot-an-address two.example.com\n")
    refused(run([programs.bhm, "--listen", "127.0.0.1:0", "-r", hosts], timeout=20), f"{hosts}:2:", program="bhm")


def test_bhm_on_a_port_that_is_taken(programs, bhm):
    first = bhm()
    refused(run([programs.bhm, "--listen", first.endpoint], timeout=20), first.endpoint, status=2, program="bhm")


def test_bhm_takes_over_the_socket_of_one_that_died(bhm, folder):
    first = bhm(listen=[f"unix:{folder}/hole"])
    first.process.kill()
    second = bhm(listen=[f"unix:{folder}/hole"])
    second.stop()
    wait_until(lambda: not (folder / "hole").exists(), "the socket to be removed at a clean end")


def test_bhm_leaves_a_file_that_is_no_socket_alone(programs, folder):
    precious = folder / "precious"
    precious.write_text("data")
    refused(run([programs.bhm, "--listen", f"unix:{precious}"], timeout=20), precious, status=2, program="bhm")
    assert precious.read_text() == "data"


def test_no_folder_is_written_to_without_being_asked(programs, bhm, users_file, folder):
    """The original truncated postal.log in the current folder."""
    hole = bhm()
    place = folder / "current"
    place.mkdir()
    done = run([programs.postal, "--messages", "3", hole.endpoint, users_file(2)], cwd=place)
    assert done.status == 0
    assert re.match(r"\d\d:\d\d", done.stdout.splitlines()[1])
    assert not list(place.iterdir())


def test_no_file_is_overwritten_by_mistake(programs, bhm, users_file, folder):
    """A word that was forgotten, or a pattern that the shell expanded, names a file that is needed."""
    hole, users = bhm(), users_file(2)
    before = users.read_bytes()
    link = folder / "link"
    link.symlink_to(users)
    for output in (users, link):
        for option in ("--record", "--ledger"):
            done = run([programs.postal, "--messages", "1", option, output, hole.endpoint, users])
            refused(done, option, output, "USER-LIST")
    refused(run([programs.postal, "--messages", "1", "--record", folder / "new", "--ledger", f"{folder}/current/../new", hole.endpoint, users]),
            "is the file of")
    refused(run([programs.postal, "--messages", "1", "--record", users, hole.endpoint, users_file(3)]),
            f"--record: {users}: exists and is no run record")
    refused(run([programs.bhm, "--listen", "127.0.0.1:0", "--record", users, users], timeout=20), "USER-LIST", program="bhm")
    refused(run([programs.rabid, "--record", users, hole.endpoint, users]), "USER-LIST", program="rabid")
    refused(run([programs.lmtp_deliver, "--allow-root-agent", "--agent", "/bin/true", "--record", users], timeout=20), "no run record",
            program="lmtp-deliver")
    for option in ("-z", "-Z"):  # with a number behind it
        numbered = folder / f"shown{option}:0"
        numbered.symlink_to(users)
        refused(run([programs.postal, "--messages", "1", option, folder / f"shown{option}", hole.endpoint, users]), numbered, "USER-LIST")
        refused(run([programs.rabid, option, folder / f"shown{option}", hole.endpoint, users]), numbered, "USER-LIST", program="rabid")
    assert users.read_bytes() == before and link.is_symlink()


@pytest.mark.parametrize("name, stream", [("standard output", "stdout"), ("standard error", "stderr")])
def test_the_log_does_not_go_to_a_file_that_is_needed(programs, bhm, users_file, folder, name, stream):
    """`postal ... users.txt >> users.txt`, and `--record run.json > run.json`, whose log would be lost."""
    hole, users, record = bhm(), users_file(2), folder / "run.json"
    before = users.read_bytes()
    words = [programs.postal, "--messages", "1", "--record", record, hole.endpoint, users]
    for path, said in ((users, f"{name}: {users}: is the file of USER-LIST, too"),
                       (record, f"--record: {record}: is the file of {name}, too")):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with open(path, "ab") as file:
            done = subprocess.run(words, check=False, timeout=20, **{**streams, stream: file})
        told = path.read_bytes() if stream == "stderr" else done.stderr
        assert done.returncode == 1 and said in told.decode() and not done.stdout
        assert path.read_bytes().startswith(before if path == users else b"")
        assert b"postal-record" not in path.read_bytes()
        users.write_bytes(before)


def test_force_writes_over_what_is_there_and_no_input(programs, bhm, users_file, folder):
    hole, users = bhm(), users_file(2)
    mail = folder / "precious.eml"
    mail.write_text("From: me@example.com\r\n\r\nhello\r\n")
    words = [programs.postal, "--messages", "1", "--record", mail, hole.endpoint, users]
    refused(run(words), f"--record: {mail}: exists and is no run record, but seems to be a mail", "--force")
    assert mail.read_text().startswith("From: me")
    refused(run([programs.postal, "--force", "--messages", "1", "--record", users, hole.endpoint, users]), "USER-LIST")
    assert run([*words, "--force"]).status == 0
    assert json.loads(mail.read_text())["options"]["force"] == "true"
    assert run(words).status == 0, "a record replaces a record"
    dialogue = folder / "dialogue:0"
    dialogue.write_text("Dear diary\n")
    talks = [programs.postal, "--messages", "1", "-z", folder / "dialogue", hole.endpoint, users]
    refused(run(talks), f"--transcript: {dialogue}: exists and is no transcript, but seems to be text")
    assert dialogue.read_text() == "Dear diary\n"
    assert run([*talks, "--force"]).status == 0 and "EHLO" in dialogue.read_text()
    assert run(talks).status == 0, "a transcript replaces a transcript"
    page = folder / "page.html"
    page.write_text("<!doctype html><title>mine</title>")
    refused(run([programs.postal_report, "--html", page, mail]), "no page of postal-report, but seems to be HTML",
            program="postal-report")
    assert run([programs.postal_report, "--force", "--html", page, mail]).status == 0
    assert "postal-report" in page.read_text()


@pytest.mark.parametrize("option", ["--record", "--transcript", "--connection-transcript"])
def test_every_program_asks_for_force(programs, bhm, users_file, folder, option):
    hole, users = bhm(), users_file(2)
    for name in ("spare", "spare:0", "spare:0:1"):
        (folder / name).write_text("Dear diary\n")
    base = folder / "spare"
    for program, words in ((programs.postal, [hole.endpoint, users]), (programs.rabid, [hole.endpoint, users]),
                           (programs.bhm, ["--listen", "127.0.0.1:0"]),
                           (programs.lmtp_deliver, ["--listen", "127.0.0.1:0", "--allow-root-agent", "--agent", "/bin/true"])):
        refused(run([program, option, base, *words], timeout=20), option, "seems to be text", "--force",
                program=os.path.basename(program))
    assert {path.read_text() for path in folder.glob("spare*")} == {"Dear diary\n"}


def test_no_record_is_replaced_by_a_page(programs, bhm, postal, users_file):
    done = postal("--messages", "1", bhm().endpoint, users_file(2))
    record = next(word for word in done.argv if word.endswith(".json"))
    before = pathlib.Path(record).read_bytes()
    page = pathlib.Path(record).with_name("page.html")
    for words in (["--html", record, record], ["--html", record]):
        wrong = run([programs.postal_report, *words])
        assert wrong.status == 1 and len(wrong.stderr.splitlines()) == 1 and record in wrong.stderr
    copy = page.with_name("copy.json")
    copy.write_bytes(before)
    wrong = run([programs.postal_report, "--html", copy, record])
    assert wrong.status == 1 and f"--html: {copy}: exists and is no page of postal-report" in wrong.stderr
    assert pathlib.Path(record).read_bytes() == copy.read_bytes() == before
    for _ in range(2):  # an older page may be replaced
        assert run([programs.postal_report, "--html", page, record]).status == 0
