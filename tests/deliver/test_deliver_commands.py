# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of lmtp-deliver: what is refused before it listens, --check, --config, files, the service manager."""
import json
import os
import re
import shlex
import signal
import socket
import ssl
import stat

import pytest

from conftest import ROOT
from support.deliver import activation
from support.postal import read_record, run
from support.process import Process

# status, words, what must be named. {folder} is the test's, {agent} an agent that works.
REFUSED = [
    (1, [], ["--agent"]),
    (1, ["--agent", "{folder}/plain-file"], ["--agent", "{folder}/plain-file", "executable"]),
    (1, ["--agent", "{agent} %nobody%"], ["--agent", "column", "%nobody%", "%to_user%"]),
    (1, ["--agent", "{agent}", "--user", "no-such-user"], ["--user", "no-such-user"]),
    (1, ["--agent", "{agent}", "--limit", "cpu=fast"], ["--limit", "fast"]),
    (1, ["--agent", "{agent}", "--exit-statuses", "{folder}/plain-file"], ["--exit-statuses", "{folder}/plain-file:1"]),
    (1, ["--agent", "{agent}", "--check"], ["--check", "--to"]),
    (1, ["--agent", "{agent}", "--check", "--to", "two words@example.com"], ["--to"]),
    (1, ["--agent", "{agent}", "--check", "--to", "b@example.com", "--from", "not@an@address"], ["--from"]),
    (2, ["--agent", "{agent}", "--listen", "198.51.100.77:0"], ["198.51.100.77"]),
    (2, ["--agent", "{agent}", "--listen", "unix:{folder}/missing/socket"], ["{folder}/missing/socket"]),
    (2, ["--agent", "{agent}", "--listen", "unix:{folder}/plain-file"], ["{folder}/plain-file"]),
    (1, ["--agent", "{agent}", "--record", "/nowhere/record.json"], ["/nowhere/record.json"]),
    (1, ["--agent", "{agent}", "-z", "/nowhere/log"], ["/nowhere/log"]),
    (1, ["--agent", "{agent}", "a-word-too-many"], ["a-word-too-many"]),
]


@pytest.fixture
def words_of(agents, folder):
    """words_of([…]) with {folder} and {agent} filled in."""
    (folder / "plain-file").write_text("no table of anything\n")
    return lambda words: [word.replace("{folder}", str(folder)).replace("{agent}", str(agents.path("status"))) for word in words]


def refused(done, status, *names):
    assert done.status == status, (done.status, done.stderr)
    assert done.stdout == "", "nothing on standard output"
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith("lmtp-deliver: ")
    assert "listening" not in done.stderr
    for name in names:
        assert name in done.stderr, f"{name} is not named in: {done.stderr}"


@pytest.mark.parametrize("status, words, names", REFUSED, ids=[" ".join(words)[:60] for _, words, _ in REFUSED])
def test_bad_input(programs, words_of, status, words, names):
    listen = [] if "--listen" in words else ["--listen", "127.0.0.1:0"]
    refused(run([programs.lmtp_deliver, "--allow-root-agent", *listen, *words_of(words)], timeout=20), status, *words_of(names))


@pytest.mark.parametrize("what", ["--directory", "--agent"])
def test_what_the_user_of_the_agents_may_not_do(programs, folder, what):
    """Each delivery would fail of it."""
    if os.geteuid() != 0:
        pytest.skip("root is needed to become another one")
    private = folder / "private"
    private.mkdir(mode=0o700)
    (private / "agent").write_text("#!/bin/sh\n")
    (private / "agent").chmod(0o755)
    given = {"--directory": "/", "--agent": "/bin/true"} | {what: private if what == "--directory" else private / "agent"}
    words = [word for pair in given.items() for word in map(str, pair)]
    done = run([programs.lmtp_deliver, "--listen", "127.0.0.1:0", "--user", "nobody", *words], timeout=20)
    refused(done, 1, what, str(given[what]), "user nobody", "Permission denied")


def test_a_user_whom_only_root_may_become(programs, agents, folder):
    if os.geteuid() != 0:
        pytest.skip("root is needed to become another one first")
    if not all(parent.stat().st_mode & 0o001 for parent in programs.lmtp_deliver.parents):
        pytest.skip("the programs are in a folder that only root may enter")
    done = run([programs.lmtp_deliver, "--allow-root-agent", "--listen", "127.0.0.1:0", "--agent", agents("status", "0"), "--user", "mail"], timeout=20,
               user="nobody", group="nogroup", extra_groups=[], cwd="/")
    refused(done, 1, "--user", "mail")


@pytest.mark.parametrize("place", ["tcp", "unix"])
def test_a_place_that_is_taken(programs, lmtp_deliver, agents, folder, place):
    first = lmtp_deliver(agents("status", "0"), listen=["127.0.0.1:0" if place == "tcp" else f"unix:{folder}/socket"])
    done = run([programs.lmtp_deliver, "--allow-root-agent", "--agent", agents("status", "0"), "--listen", first.endpoint], timeout=20)
    refused(done, 2, first.endpoint)
    assert first.deliver(["b@example.com"])[0].code == 250, "the first one was left alone"


def test_the_socket_of_one_that_died_is_taken_over(lmtp_deliver, agents, folder):
    first = lmtp_deliver(agents("status", "0"), listen=[f"unix:{folder}/socket"])
    first.process.kill()
    second = lmtp_deliver(agents("status", "0"), listen=[f"unix:{folder}/socket"])
    assert second.deliver(["b@example.com"])[0].code == 250
    second.stop()
    assert not (folder / "socket").exists()


EXIT_STATUSES = [
    ('[exit]\n75 = "451 4.3.0 Try again"\n0 = "250"\n', 3), ('[exit]\n256 = "451 4.3.0"\n', 2), ('[exit]\nfine = "250 2.1.5"\n', 2),
    ('[exit]\n75 = "354 3.0.0"\n', 2), ('[exit]\n75 = "451 5.3.0"\n', 2), ('[exit]\n75 = 451\n', 2), ('[exits]\n75 = "451 4.3.0"\n', 1),
    ('[exit]\nsignal = "250 2.1.5"\n', 2), ('[exit]\n75 = "451 4.3.0 two\\r\\nlines"\n', 2), ("[exit\n", 1), ('[exit]\n75 = "999 9.9.9"\n', 2),
]


@pytest.mark.parametrize("text, line", EXIT_STATUSES, ids=range(len(EXIT_STATUSES)))
def test_mistakes_in_the_table_of_exit_statuses(programs, agents, folder, text, line):
    table = folder / "exits.toml"
    table.write_text(text)
    done = run([programs.lmtp_deliver, "--allow-root-agent", "--listen", "127.0.0.1:0", "--agent", agents("status", "0"), "--exit-statuses", table], timeout=20)
    refused(done, 1, "--exit-statuses", f"{table}:")
    assert line in (1, 2, 3) and re.search(rf"{re.escape(str(table))}:\d+", done.stderr)


def test_a_table_of_exit_statuses(lmtp_deliver, agents, folder):
    table = folder / "exits.toml"
    table.write_text('[exit]\n1 = "250 2.1.5 As good as delivered"\n75 = "452 4.2.2"\n99 = "550 5.7.1 Not here"\nother = "451 4.3.0"\n'
                     'signal = "550 5.3.0"\n"not started" = "554 5.3.5"\n')
    server = lmtp_deliver(agents("any", "%to_user%"), "--exit-statuses", table)
    found = [str(answer) for answer in server.deliver([f"{name}@example.com" for name in (
        "status-1", "status-75", "status-99", "status-2", "signal-9", "status-0", "status-67")])]
    wanted = ["250 2.1.5 As good as delivered", "452 4.2.2 Agent ended with status 75", "550 5.7.1 Not here", "451 4.3.0 Agent ended with status 2",
              "550 5.3.0 ", "250 2.1.5 Delivered", "550 5.1.1 Agent ended with status 67"]
    assert all(one.startswith(other) for one, other in zip(found, wanted, strict=True)), found
    agents.path("any").unlink()
    assert str(server.deliver(["status-0@example.com"])[0]).startswith("554 5.3.5 ")
    done = server.stop()
    assert done.total("messages") == 2


def test_the_sample_of_exit_statuses_is_the_built_in_table(lmtp_deliver, agents, folder):
    """With every line of conf/exit-statuses.toml in force nothing changes."""
    sample = (ROOT / "conf/exit-statuses.toml").read_text()
    table = folder / "exits.toml"
    table.write_text(re.sub(r'(?m)^#(?=("?[a-z0-9 ]+"? = "))', "", sample))
    assert table.read_text() != sample
    recipients = [f"{status}@example.com" for status in range(256)]
    server = lmtp_deliver(agents("status", "%to_user%"))
    other = lmtp_deliver(agents("status", "%to_user%"), "--exit-statuses", table)
    assert list(map(str, server.deliver(recipients))) == list(map(str, other.deliver(recipients)))


# --check

def check(programs, *words, **options):
    return run([programs.lmtp_deliver, "--check", *words], timeout=20, **options)


CHECKED = [
    # template, from, to, elements; or None where it is refused
    ("/bin/cat -f %from% %to%", "a@example.com", "b@example.com", ["/bin/cat", "-f", "a@example.com", "b@example.com"]),
    ("/bin/cat -f %from% end", "", "b@example.com", ["/bin/cat", "-f", "", "end"]),
    ("/bin/cat -f %from% end", "<>", "b@example.com", ["/bin/cat", "-f", "", "end"]),
    ("/usr/lib/dovecot/deliver -e -f %from% -d %to% -n", "a@example.com", "b@example.com",
     ["/usr/lib/dovecot/deliver", "-e", "-f", "a@example.com", "-d", "b@example.com", "-n"]),
    ("""/bin/cat 'single $HOME "x"' "double \\" \\\\ 'y'" back\\ slash "" ''""", "a@example.com", "b@example.com",
     ["/bin/cat", 'single $HOME "x"', "double \" \\ 'y'", "back slash", "", ""]),
    ("/bin/cat a%to_user%b%to_domain%c %to_detail%. %%to%%", "a@example.com", "user+detail@example.com",
     ["/bin/cat", "auserbexample.comc", "detail.", "%to%"]),
    ("/bin/cat %to%", "a@example.com", '"two words"@example.com', ["/bin/cat", "two words@example.com"]),
    ("/bin/cat %to_user%", "a@example.com", '"%from%"@example.com', ["/bin/cat", "%from%"]),
    ("/bin/cat %recipients%", "a@example.com", "b@example.com", ["/bin/cat", "1"]),
    ("/no/such/program %to%", "a@example.com", "b@example.com", ["/no/such/program", "b@example.com"]),
    ("/bin/cat %to%", "a@example.com", "-b@example.com", None),
    ("/bin/cat %from%", "-a@example.com", "b@example.com", None),
    ("/bin/cat %to%", "a@example.com", "a/b@example.com", None),
    ("/bin/cat %to%", "a@example.com", '"-b"@example.com', None),
]


@pytest.mark.parametrize("template, sender, to, wanted", CHECKED, ids=range(len(CHECKED)))
def test_check_prints_the_arguments(programs, template, sender, to, wanted):
    done = check(programs, "--agent", template, "--from", sender, "--to", to)
    if wanted is None:
        refused(done, 1, "550", "5.1.3", "--to" if "%to" in template else "--from")
    else:
        assert (done.status, done.stderr) == (0, "")
        assert done.stdout == "".join(f"{element}\n" for element in wanted)


def test_check_obeys_the_other_options(programs):
    words = ["--agent", "/bin/cat %to_user% %to_detail% %from%", "--to", "list-x@example.com", "--from", ""]
    assert check(programs, *words, "--detail-delimiter", "-", "--null-sender", "nobody").stdout.split("\n")[1:4] == ["list", "x", "nobody"]
    words = ["--agent", "/bin/cat %to%", "--to", "-a/b@example.com"]
    assert check(programs, *words, "--allow-leading-dash", "--allow-slash").stdout == "/bin/cat\n-a/b@example.com\n"


def test_check_runs_and_listens_to_nothing(programs, agents, folder, lmtp_deliver):
    marker = folder / "ran"
    taken = lmtp_deliver(agents("status", "0"))
    done = check(programs, "--agent", f"/bin/touch {marker}", "--to", "b@example.com", "--listen", taken.endpoint)
    assert (done.status, done.stdout) == (0, f"/bin/touch\n{marker}\n")
    assert not marker.exists()


def test_the_example_of_the_manual(programs):
    manual = (ROOT / "docs/man/lmtp-deliver.8.md").read_text()
    command, wanted = re.search(r"(?m)^    \$ lmtp-deliver (--check.*)\n((?:(?:    .*)?\n)+?)\n(?=\S)", manual).groups()
    assert check(programs, *shlex.split(command)).stdout == re.sub(r"(?m)^    ", "", wanted)


def test_the_manual_knows_the_placeholders(programs):
    manual = (ROOT / "docs/man/lmtp-deliver.8.md").read_text().split("# THE TEMPLATE")[1].split("\n# ")[0]
    said = run([programs.lmtp_deliver, "--agent", "/bin/cat %nobody%"]).stderr
    known = set(re.findall(r"%\w+%", said.split("known:")[1]))
    assert known == {name for row in re.findall(r"(?m)^\| (%.*?) \|", manual) for name in row.split(", ")}


@pytest.mark.parametrize("name", ["dovecot", "maildrop", "procmail"])
def test_names_of_templates(programs, name):
    done = check(programs, "--agent", name, "--from", "a@example.com", "--to", "user+detail@example.com")
    assert done.status == 0, done.stderr
    program, *arguments = done.stdout.splitlines()
    assert name in program and os.access(program, os.X_OK), "a program that Debian installs there"
    assert any("user" in argument for argument in arguments)


def test_names_of_ones_own(programs, folder):
    table = folder / "agents.toml"
    table.write_text('[mine]\ntemplate = "/bin/cat %to_user%"\nabout = "a test"\n')
    assert check(programs, "--agents", table, "--agent", "mine", "--to", "b@example.com").stdout == "/bin/cat\nb\n"


# --config, logs, records

def test_configuration_file(lmtp_deliver, agents, folder):
    settings = folder / "lmtp-deliver.toml"
    settings.write_text(f"""agent = '''{agents("status", "%to_user%")}'''\nmax-recipients = 2\nenv = ["A=1", "B=2"]\nallow-slash = true\n"""
                        'limit = "files=64"\ntimeout = "30s"\n')
    server = lmtp_deliver(None, "--config", settings, "--max-recipients", "3")
    assert [answer.code for answer in server.deliver(["67@example.com", "0@a.example", "0@b.example", "0@c.example"])] == [550, 250, 250, 452]
    options = server.stop().record["options"]
    assert options["timeout"] == "30s" and "template" in options


@pytest.mark.parametrize("text, line", [("agentt = 'x'\n", 1), ("\nmax-deliveries = 'many'\n", 2), ("user = [1]\n", 1), ("[table]\nx = 1\n", 1)])
def test_mistakes_in_the_configuration_file(programs, folder, text, line):
    settings = folder / "lmtp-deliver.toml"
    settings.write_text(text)
    done = run([programs.lmtp_deliver, "--allow-root-agent", "--listen", "127.0.0.1:0", "--config", settings, "--agent", "/bin/true"], timeout=20)
    refused(done, 1, f"{settings}:")
    assert f"{settings}:{line}" in done.stderr


def test_log_to_syslog(lmtp_deliver, agents):
    """Where there is no syslog daemon nothing fails. The summary at the end is for whoever started it, and stays."""
    place = agents.folder / "socket"
    server = lmtp_deliver(agents("says", "words of the agent", "67"), "--log", "syslog", "--listen", f"unix:{place}", listen=())
    server.process.wait_for_listener(place)
    server.endpoint = f"unix:{place}"
    assert server.deliver(["b@example.com"])[0].code == 550
    assert "b@example.com" not in server.process.stderr
    assert "to=<b@example.com>" not in server.stop().stderr


def test_transcripts(lmtp_deliver, agents, folder):
    server = lmtp_deliver(agents("status", "0"), "-z", folder / "log")
    server.deliver(["b@example.com"])
    assert server.stop().record["transcript"] is True
    [path] = folder.glob("log:*")
    text = path.read_text()
    assert "<- QUIT" in text and "-> 250 2.1.5" in text


def test_record_on_standard_output(lmtp_deliver, agents):
    server = lmtp_deliver(agents("status", "0"), "--record", "-")
    server.deliver(["b@example.com"])
    server.process.stop()
    record = json.loads(server.process.stdout.split("\n", 2)[2] if server.process.stdout.count("\n") > 1 else server.process.stdout.splitlines()[-1])
    assert record["schema"] == "postal-record/1" and record["program"] == "lmtp-deliver"


def test_a_threshold_that_is_not_met(lmtp_deliver, agents):
    server = lmtp_deliver(agents("status", "0"), "--threshold", "p99(agent)<1ns", "--threshold", "errors==0")
    server.deliver(["b@example.com"])
    done = server.stop(status=3)
    assert [entry["passed"] for entry in done.record["thresholds"]] == [False, True]


# The service manager

def test_sockets_of_the_service_manager(lmtp_deliver, agents, folder):
    """As systemd passes them (sd_listen_fds(3)); what --listen says does not count then."""
    tcp = socket.create_server(("127.0.0.1", 0))
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(str(folder / "socket"))
    unix.listen()
    server = lmtp_deliver(agents("status", "%to_user%"), listen_tls=True, **activation([tcp, unix]))
    places = [f"127.0.0.1:{tcp.getsockname()[1]}", f"unix:{folder}/socket"]
    tcp.close()
    unix.close()
    for place in places:
        server.process.wait_for_line(rf"listening on {re.escape(place)}$")
        with server.connect(place) as client:
            assert [answer.code for answer in client.deliver(["0@example.com", "67@example.com"])] == [250, 550]
    # Which the service manager knows nothing of.
    with socket.create_connection(("127.0.0.1", int(server.tls_endpoint.rpartition(":")[2]))) as plain:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with context.wrap_socket(plain) as client:
            assert client.recv(100).startswith(b"220 ")
    assert server.stop().total("messages") == 2
    assert stat.S_ISSOCK(os.stat(folder / "socket").st_mode), "it is the service manager's, who keeps it"


def test_descriptors_that_were_meant_for_another_process(lmtp_deliver, agents, monkeypatch):
    monkeypatch.setenv("LISTEN_FDS", "2")
    monkeypatch.setenv("LISTEN_PID", "1")
    server = lmtp_deliver(agents("status", "0"))
    assert server.deliver(["b@example.com"])[0].code == 250


@pytest.mark.parametrize("kind", ["datagram", "connected", "file"])
def test_descriptors_that_are_no_listening_sockets(programs, agents, folder, kind):
    first = open(folder / "file", "w") if kind == "file" else socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    if kind == "connected":
        first, other = socket.socketpair()
    launch = activation([first])
    launch.pop("listen")
    server = Process([*launch.pop("launcher"), programs.lmtp_deliver, "--allow-root-agent", "--agent", agents("status", "0")], folder, "served", **launch)
    try:
        assert server.wait(20) == 2
        assert len(server.stderr.splitlines()) == 1 and server.stderr.startswith("lmtp-deliver: ")
    finally:
        server.kill()
        first.close()


@pytest.mark.parametrize("abstract", [False, True])
def test_readiness_is_told(lmtp_deliver, agents, folder, monkeypatch, abstract):
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.settimeout(20)
    name = f"\0postal-test-{folder.name}" if abstract else str(folder / "notify")
    manager.bind(name)
    monkeypatch.setenv("NOTIFY_SOCKET", name.replace("\0", "@"))
    with agents.gate() as gate:
        journal = agents.journal()
        server = lmtp_deliver(agents("journal", journal, "%to_user%", gate))
        assert "READY=1" in manager.recv(1000).decode().splitlines()
        with server.connect() as client:
            client.start_delivery(["b@example.com"])
            journal.wait_for(started=1)
            server.process.signal(signal.SIGTERM)
            assert "STOPPING=1" in manager.recv(1000).decode().splitlines()
            gate.open()
            assert client.answer().code == 250
    server.result()
    manager.close()


def test_nobody_is_told_that_it_is_ready_when_it_is_not(programs, lmtp_deliver, agents, folder, monkeypatch):
    first = lmtp_deliver(agents("status", "0"))
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(str(folder / "notify"))
    manager.setblocking(False)
    monkeypatch.setenv("NOTIFY_SOCKET", str(folder / "notify"))
    assert run([programs.lmtp_deliver, "--allow-root-agent", "--agent", agents("status", "0"), "--listen", first.endpoint], timeout=20).status == 2
    with pytest.raises(BlockingIOError):
        manager.recv(1000)


def test_agents_do_not_learn_of_the_service_manager(lmtp_deliver, folder, monkeypatch):
    from support.agents import Mirror, mirror
    place = folder / "mirrors"
    place.mkdir()
    monkeypatch.setenv("NOTIFY_SOCKET", str(folder / "nobody"))
    monkeypatch.setenv("WATCHDOG_USEC", "1000000")
    server = lmtp_deliver(mirror(place))
    server.deliver(["user@example.com"])
    assert not {"NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "WATCHDOG_USEC"} & set(Mirror(place / "user").environment)


def test_the_record_has_the_programs_name(lmtp_deliver, agents):
    server = lmtp_deliver(agents("status", "0"))
    server.stop()
    assert read_record(server.record_path)["program"] == "lmtp-deliver"
