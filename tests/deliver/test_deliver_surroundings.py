# SPDX-License-Identifier: GPL-3.0-or-later
"""What an agent finds when it starts: its arguments, its environment, three descriptors, and nothing of the server's.

Agents look for themselves (support.agents.mirror), in /proc, which shows what the kernel gave them and not what a shell
made of it.
"""
import grp
import os
import pwd
import re
import resource
import signal
import socket
import stat
import subprocess
import time

import pytest

from conftest import ROOT
from support.agents import Mirror, mirror
from support.deliver import HANDED_ON, LmtpClient, activation
from support.nss import Database
from support.process import wait_until

ENVIRONMENT = {"PATH", "HOME", "USER", "SENDER", "RECIPIENT", "SIZE"}
PLACEHOLDERS = ["%from%", "%from_user%", "%from_domain%", "%to%", "%to_user%", "%to_domain%", "%to_detail%", "%size%", "%client%", "%helo%",
                "%recipients%", "%%"]


@pytest.fixture
def place(folder):
    """Where agents of any user may write."""
    made = folder / "mirrors"
    made.mkdir()
    made.chmod(0o777)
    return made


@pytest.fixture
def seen(lmtp_deliver, place):
    """seen(option, …) is the Mirror of one agent; words: more words of its template."""
    def run(*options, words=(), to="user@example.com", sender="sender@example.com", **more):
        server = lmtp_deliver(mirror(place, *words), *options, **more)
        [answer] = server.deliver([to], sender=sender)
        assert answer.code == 250, answer
        [path] = place.iterdir()
        return Mirror(path)
    return run


# Arguments

def test_every_placeholder(seen):
    found = seen(words=[*PLACEHOLDERS, "a%to_user%-%to_domain%b", ""], to="user+detail+more@example.com", sender="Some.One+x@sub.example.org")
    assert found.arguments == ["Some.One+x@sub.example.org", found.arguments[1], "sub.example.org", "user+detail+more@example.com", "user",
                               "example.com", "detail+more", str(len(HANDED_ON)), "127.0.0.1", "client.example", "1", "%", "auser-example.comb", ""]
    assert found.arguments[1] in ("Some.One", "Some.One+x")


def test_the_null_sender_is_an_empty_argument(seen):
    found = seen(words=["-f", "%from%", "x%from_user%y%from_domain%z", "end"], sender="")
    assert found.arguments == ["-f", "", "xyz", "end"]
    assert found.environment["SENDER"] == ""


def test_a_text_for_the_null_sender(seen):
    found = seen("--null-sender", "MAILER-DAEMON", words=["-f", "%from%", "x%from_user%y%from_domain%z"], sender="")
    assert found.arguments[:2] == ["-f", "MAILER-DAEMON"]


def test_another_delimiter(seen):
    found = seen("--detail-delimiter", "-", words=["%to_user%", "%to_detail%"], to="list-owner+x@example.com")
    assert found.arguments == ["list", "owner+x"]


def test_no_delimiter(seen):
    assert seen("--detail-delimiter", "", words=["%to_user%", "%to_detail%"], to="a+b@example.com").arguments == ["a+b", ""]


def test_without_a_domain(seen):
    assert seen(words=["%to%", "%to_user%", "%to_domain%"], to="postmaster").arguments == ["postmaster", "postmaster", ""]


# local part as the protocol has it, and unquoted
AWKWARD = [
    ('"a b"', "a b"), (r'"a\"b"', 'a"b'), (r'"a\\b"', r"a\b"), ('"two  blanks  "', "two  blanks  "), ('"a\'b"', "a'b"), ("a'b", "a'b"),
    ("a%to%b", "a%to%b"), ("%25", "%25"), ("100%", "100%"), ("%%", "%%"), ('"$(id)"', "$(id)"), ("$HOME", "$HOME"), ("`id`", "`id`"),
    ("a|b", "a|b"), ('"a;b"', "a;b"), ("a&b", "a&b"), ('"a>b<c"', "a>b<c"), ("a*b?", "a*b?"), ("a{b}c", "a{b}c"), ("~root", "~root"),
    ("a#b", "a#b"), ("!a", "!a"), ("a=b", "a=b"), ('"a\\ b"', "a b"), ('"@"', "@"), ('"a@b@c"', "a@b@c"), ('"--x y"', "--x y"),
]


@pytest.mark.parametrize("side", ["to", "from"])
def test_an_address_is_always_one_argument(lmtp_deliver, place, side):
    """Blanks, quotes, percent signs and what a shell would act upon; each a recipient, or the sender, of one server."""
    words = ["%to%", "%from%", "-%to_user%-", "-%from_user%-", "end"]
    # leading dashes are for the addresses' own test
    server = lmtp_deliver(mirror(place, *words, name="%size%"), "--allow-leading-dash", "--detail-delimiter", "")
    with server.connect() as client:
        for number, (written, meant) in enumerate(AWKWARD):
            octets = b"x" * (number + 100)
            awkward, plain = f"{written}@example.com", "plain@example.com"
            [answer] = client.deliver([awkward if side == "to" else plain], octets, chunks=1, sender=awkward if side == "from" else plain)
            assert answer.code == 250, f"{written}: {answer}"
            to, sender = (meant, "plain") if side == "to" else ("plain", meant)
            found = Mirror(place / str(len(octets)))
            assert found.arguments == [f"{to}@example.com", f"{sender}@example.com", f"-{to}-", f"-{sender}-", "end"]
            assert found.environment["RECIPIENT"] == f"{to}@example.com" and found.environment["SENDER"] == f"{sender}@example.com"


def test_an_address_in_unicode(lmtp_deliver, place):
    server = lmtp_deliver(mirror(place, "%to%", "%from_domain%"))
    with server.connect() as client:
        [answer] = client.deliver(["jörg@bücher.example"], sender="δοκιμή@παράδειγμα.example", parameters=" SMTPUTF8")
        assert answer.code == 250, answer
    assert Mirror(place / "jörg").arguments == ["jörg@bücher.example", "παράδειγμα.example"]


# Environment

def test_the_environment_is_clean(seen):
    os.environ["POSTAL_TEST_SECRET"] = "of the server's"
    try:
        found = seen()
    finally:
        del os.environ["POSTAL_TEST_SECRET"]
    assert set(found.environment) == ENVIRONMENT
    assert found.environment["SENDER"] == "sender@example.com"
    assert found.environment["RECIPIENT"] == "user@example.com"
    assert found.environment["SIZE"] == str(len(HANDED_ON))
    assert "/usr/bin" in found.environment["PATH"].split(":")


def test_further_variables(seen):
    found = seen("--env", "ONE=1", "--env", "TWO=with blanks = and %to% signs", "--env", "EMPTY=", "--env", "PATH=/opt/bin:/bin:/usr/bin")
    assert set(found.environment) == ENVIRONMENT | {"ONE", "TWO", "EMPTY"}
    assert found.environment["TWO"] == "with blanks = and %to% signs"
    assert found.environment["EMPTY"] == ""
    assert found.environment["PATH"] == "/opt/bin:/bin:/usr/bin"


def test_variables_from_a_file(lmtp_deliver, place, folder):
    """Which no command line, no record and no log shows."""
    secrets = folder / "secrets.env"
    secrets.write_text("# of the database\nPASSWORD=hush hush = 'x'\n\nEMPTY=\nONE=file\n")
    secrets.chmod(0o600)
    server = lmtp_deliver(mirror(place), "--env-file", secrets, "--env", "ONE=line")
    assert server.deliver(["user@example.com"])[0].code == 250
    found = Mirror(place / "user").environment
    assert (found["PASSWORD"], found["EMPTY"], found["ONE"]) == ("hush hush = 'x'", "", "line"), "as it stands there, and --env counts more"
    done = server.stop()
    assert "hush" not in server.record_path.read_text() + done.stderr + done.stdout


def test_the_record_has_no_values_of_variables(lmtp_deliver, agents, folder):
    settings = folder / "settings.toml"
    settings.write_text('env = ["FILE=hush-hush"]\n')
    for words in (("--env", "ONE=hush-hush", "--env=TWO=hush=hush", "--env", "EMPTY="), ("--config", settings)):
        server = lmtp_deliver(agents("status", "0"), *words)
        done = server.stop()
        assert "hush" not in server.record_path.read_text()
        names = ["ONE", "TWO", "EMPTY"] if len(words) > 2 else "FILE"
        assert done.record["options"]["env"] == names
        if len(words) > 2:
            assert [word for word in done.record["argv"] if word.startswith("--env")] == ["--env", "--env=TWO", "--env"]


def test_home_and_name_of_the_recipient_who_is_a_user_of_the_system(seen):
    found = seen(to="mail@example.com")
    assert (found.environment["USER"], found.environment["HOME"]) == ("mail", pwd.getpwnam("mail").pw_dir)


def test_home_and_name_of_whoever_runs_the_server_otherwise_but_never_those_of_root(seen):
    found = seen(to="no-such-user@example.com")
    own = pwd.getpwuid(os.geteuid())
    wanted = (own.pw_name, own.pw_dir) if own.pw_uid else ("nobody", "/nonexistent")
    assert (found.environment["USER"], found.environment["HOME"]) == wanted


def test_when_the_user_database_cannot_be_asked(lmtp_deliver, place, folder):
    """Whose mail it is is not known then: it is nobody's, and tried again. That it failed is known for some seconds."""
    users = Database(folder)
    server = lmtp_deliver(mirror(place), env=users.environment)
    users.fail()
    [answer] = server.deliver(["mail@example.com"])
    assert (answer.code, answer.enhanced) == (451, "4.3.0"), answer
    assert not list(place.iterdir())
    users.work()
    wait_until(lambda: server.deliver(["mail@example.com"])[0].code == 250, "the account to be asked for again")
    assert Mirror(place / "mail").environment["HOME"] == pwd.getpwnam("mail").pw_dir
    assert users.asked.count("mail") == 2
    assert server.stop().total("deferred") >= 1


# Descriptors

def test_three_descriptors_and_no_other(seen):
    found = seen()
    assert found.descriptors == [0, 1, 2]
    assert "memfd:" in found.targets[0]
    assert found.targets[1] == found.targets[2] and found.targets[1].startswith("pipe:")


@pytest.mark.parametrize("low", [True, False], ids=["low numbers", "high numbers"])
def test_what_the_server_inherited_is_not_handed_on(lmtp_deliver, place, low):
    """Nor its sessions, its listening sockets, its other agents' pipes and messages."""
    pipes = [end for _ in range(10) for end in os.pipe()]
    if not low:
        pipes += [os.dup2(end, 900 + number) for number, end in enumerate(pipes)]
    server = lmtp_deliver(mirror(place), "--max-deliveries", "8", pass_fds=pipes, listen=["127.0.0.1:0", f"unix:{place}/socket"])
    for end in pipes:
        os.close(end)
    sessions = [server.connect() for _ in range(20)]
    for number, client in enumerate(sessions):
        client.start_delivery([f"user{number}@example.com"])
    for client in sessions:
        assert client.answer().code == 250
    for number in range(20):
        assert Mirror(place / f"user{number}").descriptors == [0, 1, 2]


def test_a_server_without_standard_descriptors(programs, folder, place):
    """Started with 0, 1 and 2 closed, as some supervisors do: no session may take their numbers."""
    listener = socket.create_server(("127.0.0.1", 0))
    words = [str(programs.lmtp_deliver), "--allow-root-agent", "--agent", mirror(place), "--grace", "1s"]
    launch = activation([listener])
    child = subprocess.Popen(["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *launch["launcher"], *words], pass_fds=launch["pass_fds"],
                             start_new_session=True)
    try:
        with LmtpClient(listener.getsockname()) as client:
            client.greet()
            answers = client.deliver([f"user{number}@example.com" for number in range(3)])
            assert [answer.code for answer in answers] == [250] * 3
        assert Mirror(place / "user0").descriptors == [0, 1, 2]
        assert Mirror(place / "user0").message == HANDED_ON
    finally:
        child.terminate()
        child.wait(20)
        listener.close()


# The process

def test_a_process_group_of_its_own(lmtp_deliver, place):
    server = lmtp_deliver(mirror(place))
    server.deliver(["one@example.com", "two@example.com"])
    groups = set()
    for name in ("one", "two"):
        pid, parent, group, _ = Mirror(place / name).process
        assert group == pid and parent == server.pid
        groups.add(group)
    assert len(groups) == 2


def test_signals_are_at_their_defaults(seen):
    def ignore_and_block():
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGUSR1, signal.SIGCHLD):
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGALRM, signal.SIGCHLD})
    found = seen(preexec_fn=ignore_and_block)
    assert found.signals("SigIgn") == set() and found.signals("SigBlk") == set()


def test_working_directory(seen):
    assert seen().cwd == "/"


def test_what_agents_write_is_nobody_elses(lmtp_deliver, place):
    """The manual's own example, whatever the server's umask is."""
    manual = (ROOT / "docs/man/lmtp-deliver.8.md").read_text()
    [agent] = re.findall(r"(?m)^    lmtp-deliver --agent '(/bin/dd of=.*?)' --add-header return-path$", manual)
    server = lmtp_deliver(agent.replace("/srv/spool", str(place)), preexec_fn=lambda: os.umask(0))
    assert server.deliver(["user@example.com"])[0].code == 250
    [file] = place.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_another_working_directory(seen, folder):
    where = folder / "with a blank"
    where.mkdir()
    assert seen("--directory", where).cwd == str(where)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user(seen):
    account = pwd.getpwnam("nobody")
    found = seen("--user", "nobody", to="mail@example.com")
    assert found.status("Uid") == [str(account.pw_uid)] * 4, "and there is no way back"
    assert found.status("Gid") == [str(account.pw_gid)] * 4
    assert set(map(int, found.status("Groups"))) == set(os.getgrouplist("nobody", account.pw_gid))
    assert int(found.status("CapEff")[0], 16) == 0 and int(found.status("CapPrm")[0], 16) == 0
    assert (found.environment["USER"], found.environment["HOME"]) == ("nobody", account.pw_dir)
    assert found.message == HANDED_ON


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("size", [1000, 3_000_000])
def test_another_user_reads_the_message_wherever_it_lies(lmtp_deliver, place, folder, size):
    temporary = folder / "temporary"
    temporary.mkdir(mode=0o700)
    server = lmtp_deliver(mirror(place), "--user", "nobody", "--temporary", temporary)
    octets = b"x" * size
    with server.connect() as client:
        assert client.deliver(["user@example.com"], octets, chunks=1)[0].code == 250
    assert Mirror(place / "user").message == octets


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_user_who_may_not_enter_the_directory_any_more(lmtp_deliver, agents, folder):
    closed = folder / "closed"
    closed.mkdir()
    closed.chmod(0o755)
    server = lmtp_deliver(agents("status", "0"), "--user", "nobody", "--directory", closed)
    closed.chmod(0o700)
    [answer] = server.deliver(["user@example.com"])
    assert (answer.code, answer.enhanced) == (451, "4.3.0")


# Limits

def test_limits(seen):
    found = seen("--limit", "cpu=30s,memory=512M,files=64,processes=5000,file-size=1M,core=4K")
    assert found.limit("Max cpu time")[0] == 30
    assert found.limit("Max address space")[0] == 512 * 1024 * 1024
    assert found.limit("Max open files") == (64, 64)
    assert found.limit("Max processes") == (5000, 5000)
    assert found.limit("Max file size") == (1 << 20, 1 << 20)
    assert found.limit("Max core file size") == (4096, 4096)


def test_without_limits_an_agent_has_those_that_the_server_was_started_with(seen):
    """The server raises its own number of descriptors; select(2) breaks in programs with a large one. Cores aside, which
    would be of somebody's mail."""
    found = seen("-t", "1500", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 5000)))
    assert found.limit("Max core file size") == (0, 0)
    assert found.limit("Max file size") == (64 << 30, 64 << 30)
    assert found.limit("Max open files") == (256, 5000)
    assert found.limit("Max cpu time")[0] is None


def test_a_limit_is_felt(lmtp_deliver, agents):
    burner = agents.folder / "burner"
    burner.write_text("#!/bin/sh\nwhile :; do :; done\n")
    burner.chmod(0o755)
    server = lmtp_deliver(str(burner), "--limit", "cpu=1s", "--timeout", "60s")
    begun = time.monotonic()
    [answer] = server.deliver(["user@example.com"])
    assert (answer.code, answer.enhanced) == (451, "4.3.0")
    assert f"signal {signal.SIGXCPU:d}" in answer.words or f"signal {signal.SIGKILL:d}" in answer.words
    assert 0.9 < time.monotonic() - begun < 30
    assert server.stop().record["totals"]["deferred"] == 1


def test_agents_are_reaped(lmtp_deliver, agents):
    server = lmtp_deliver(agents("status", "%to_user%"))
    server.deliver([f"{status}@example.com" for status in range(100)])
    wait_until(lambda: not server.children, "all agents to be waited for")


# Unix sockets

def test_mode_and_owner_of_a_socket(lmtp_deliver, agents, folder):
    account = pwd.getpwnam("mail")
    options = ["--socket-owner", "mail:www-data"] if os.geteuid() == 0 else []
    server = lmtp_deliver(agents("status", "0"), "--socket-mode", "0640", *options, listen=[f"unix:{folder}/one", f"unix:{folder}/two"])
    for place in server.endpoints:
        status = os.stat(place[5:])
        assert stat.S_IMODE(status.st_mode) == 0o640
        if options:
            assert (status.st_uid, status.st_gid) == (account.pw_uid, grp.getgrnam("www-data").gr_gid)
        with server.connect(place) as client:
            assert client.deliver(["user@example.com"])[0].code == 250
    server.stop()
    assert not (folder / "one").exists() and not (folder / "two").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives sockets away")
def test_a_socket_with_an_owner_is_not_for_everybody(lmtp_deliver, agents, folder):
    lmtp_deliver(agents("status", "0"), "--socket-owner", "mail", listen=[f"unix:{folder}/one"])
    status = os.stat(folder / "one")
    assert (stat.S_IMODE(status.st_mode), status.st_uid) == (0o660, pwd.getpwnam("mail").pw_uid)


def test_the_mode_is_the_same_whatever_the_umask(lmtp_deliver, agents, folder):
    lmtp_deliver(agents("status", "0"), listen=[f"unix:{folder}/one"], preexec_fn=lambda: os.umask(0o077))
    assert stat.S_IMODE(os.stat(folder / "one").st_mode) == 0o666


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "[::1]:0", "unix:{folder}/socket"])
def test_the_client_as_agents_see_it(lmtp_deliver, place, folder, listen):
    server = lmtp_deliver(mirror(place, "%client%", "%helo%"), listen=[listen.format(folder=folder)])
    with server.connect() as client:
        assert client.deliver(["user@example.com"])[0].code == 250
    client_name = {"1": "127.0.0.1", "[": "::1", "u": "unix"}[listen[0]]
    assert Mirror(place / "user").arguments == [client_name, "client.example"]
