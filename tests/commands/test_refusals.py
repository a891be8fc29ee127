"""Bad input is refused before anything is sent: one line that names the culprit, status 1."""
import os
import re
import resource
import subprocess

import pytest

from support.postal import run
from support.process import wait_until

ANYWHERE = "127.0.0.1:1"


def refused(done, *words, status=1, program="postal"):
    assert done.status == status, done.stderr
    assert done.stdout == "", "nothing on standard output"
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith(f"{program}: ")
    for word in words:
        assert str(word) in done.stderr, f"{word} is not named in: {done.stderr}"


@pytest.mark.parametrize("words, names", [
    (["-M", "20", "-m", "10"], ["20", "10"]),
    (["-r", "0"], ["rate"]),
    (["--rate", "0/s"], ["rate"]),
    (["--rate", "-5/s"], ["rate"]),
    (["--rate", "ten"], ["ten"]),
    (["--open-loop"], ["rate"]),
    (["--duration", "1 fortnight"], ["duration"]),
    (["--interval", "0s"], ["interval"]),
    (["-t", "0"], ["0"]),
    (["-t", "many"], ["many"]),
    (["-c", "-2"], ["-2"]),
    (["--recipients", "0"], ["recipients"]),
    (["--recipients", "3..1"], ["recipients"]),
    (["--size", "gauss:1,2"], ["gauss"]),
    (["--size", "histogram:/nowhere"], ["/nowhere"]),
    (["--body", "martian"], ["martian"]),
    (["--body", "ascii=0"], ["ascii"]),
    (["--digest", "crc32"], ["crc32"]),
    (["--pipelining", "perhaps"], ["perhaps"]),
    (["--arrival", "sometimes", "--open-loop", "--rate", "1/s"], ["sometimes"]),
    (["--stages", "100/s"], ["stages"]),
    (["--stages", "100/s@0s"], ["stages"]),
    (["--threshold", "p99(nothing)<1s"], ["nothing"]),
    (["--threshold", "p99(message)"], ["p99(message)"]),
    (["-b", "mosaic"], ["mosaic"]),
    (["-s", "101"], ["101"]),
    (["--in-flight", "0"], ["in-flight"]),
    (["--in-flight", "4"], ["in-flight", "chunking"]),
    (["--dsn", "always"], ["--dsn", "always"]),
    (["--dsn", "notify=never+delay"], ["never+delay"]),
    (["--mail-parameter", "A B"], ["--mail-parameter", "A B"]),
    (["--mail-parameter", "A=1", "--mail-parameter", "a=2"], ["--mail-parameter", "twice"]),
    (["--rcpt-parameter", "=1"], ["--rcpt-parameter"]),
    (["--dsn", "ret=full", "--mail-parameter", "ENVID=1"], ["--mail-parameter", "ENVID", "--dsn"]),
    (["--corpus", "/tmp", "--size", "fixed:1K"], ["corpus"]),
    (["--messages", "0"], ["messages"]),
    (["--workers", "0"], ["workers"]),
    (["--log-format", "xml"], ["xml"]),
    (["-l", "198.51.100.77"], ["198.51.100.77"]),
    (["-l", "127.0.0.1,2001:db8::77"], ["2001:db8::77"]),
    (["-f", "/nowhere/senders"], ["/nowhere/senders"]),
    (["--record", "/nowhere/record.json"], ["/nowhere/record.json"]),
    (["-z", "/nowhere/log"], ["/nowhere/log"]),
], ids=" ".join)
def test_options(programs, folder, users_file, words, names):
    refused(run([programs.postal, "--messages", "1", *words, ANYWHERE, users_file(2)], timeout=20), *names)


@pytest.mark.parametrize("server", ["", "127.0.0.1:99999", "127.0.0.1:port", "[::1:25", "unix:", "127.0.0.1,", "no-such-host.invalid", "+no-such-host.invalid", "[127.0.0.1]x",
                                    "unix:/" + "x" * 200])
def test_endpoints(programs, users_file, server):
    refused(run([programs.postal, "--messages", "1", server, users_file(2)], timeout=20))


@pytest.mark.parametrize("octets, line", [
    (b"a@example.com\nb@example.com one d extra\n", 2),
    (b"a@example.com\nb@example.com one q\n", 2),
    (b"# fine\n\na@example.com\n<b@example.com>\n", 4),
    (b"a@example.com\nb@example.com\rRCPT TO:<x@example.com>\n", 2),
    (b"a@example.com\r\n\0\r\n", 2),
    (b"a@example.com>\n", 1),
    (b"a@example.com\x01\n", 1),
    (b"\xff\xfe@example.com\n", 1),
    (b"PK\x03\x04\x14\0\0\0\x08\0\n", 1),
], ids=["too-many-fields", "unknown-behaviour", "angle-brackets", "injected-cr", "nul", "bracket", "control", "not-utf-8",
        "a-zip-file"])
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
    (["--delay", "end"], ["end"]),
    (["--bare-newline", "maybe"], ["maybe"]),
    (["-r", "/nowhere/hosts"], ["/nowhere/hosts"]),
    (["--listen", "unix:"], ["unix:"]),
    (["-p", "70000"], ["70000"]),
    (["-z", "/nowhere/log"], ["/nowhere/log"]),
    (["-m", "x"], ["x"]),
    (["-t", "0"], ["0"]),
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
