# SPDX-License-Identifier: GPL-3.0-or-later
"""Options about TLS that cannot be: one line that names the culprit, status 1, and nothing is sent.

One case for each kind; tests/unit/refused_options.hpp has the tables."""
import pytest

from support.postal import run
from support.tls_books import ENGINES

ANYWHERE = "127.0.0.1:1"
CLIENTS, SERVERS = ("postal", "rabid"), ("bhm", "lmtp-deliver")


def refused(done, program, *names):
    assert done.status == 1, (done.status, done.stderr)
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith(f"{program}: "), done.stderr
    for name in names:
        assert str(name) in done.stderr, f"{name} is not named in: {done.stderr}"


@pytest.fixture
def start(programs, users_file):
    """start(program, option, …) runs it with everything else that it needs."""
    def run_it(program, *words):
        rest = {"postal": ["--messages", "1", ANYWHERE, users_file(2)], "rabid": ["--connections", "1", ANYWHERE, users_file(["a@example.com x"])],
                "bhm": ["--listen", "127.0.0.1:0", "--duration", "1s"], "lmtp-deliver": ["--listen", "127.0.0.1:0", "--allow-root-agent", "--agent", "/bin/true"]}[program]
        return run([programs.path(program), *words, *rest], timeout=20)
    return run_it


@pytest.mark.parametrize("program", CLIENTS + SERVERS)
def test_an_option_that_means_nothing_without_tls(start, program):
    refused(start(program, "--tls-min", "1.2"), program, "--tls-min", "without TLS")


@pytest.mark.parametrize("program", CLIENTS + SERVERS)
def test_an_option_that_needs_another(start, program):
    on = ["-s", "100"] if program in CLIENTS else ["-s"]
    refused(start(program, *on, "--tls-key", "/nowhere"), program, "--tls-key", "--tls-cert")


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("program", ["postal", "bhm"])
@pytest.mark.parametrize("kind", ["absent", "folder", "empty", "text", "a key alone"])
def test_files_that_are_none(start, program, folder, certificates, kind, name):
    bad = folder / "bad.pem"
    if kind == "folder":
        bad.mkdir()
    elif kind != "absent":
        bad.write_bytes({"empty": b"", "text": b"hello\n", "a key alone": certificates.key("good").read_bytes()}[kind])
    on = ["--tls-backend", name, *(["-s", "100"] if program == "postal" else ["-s"])]
    why = ["No such file or directory"] if kind == "absent" else []
    trusted, verify = ("--tls-ca", ["--tls-verify", "on"]) if program == "postal" else ("--tls-client-ca", [])
    refused(start(program, *on, "--tls-cert", bad), program, "--tls-cert", bad, *why)
    refused(start(program, *on, "--tls-cert", certificates.alone("good"), "--tls-key", bad), program, "--tls-key", bad, *why) if kind != "a key alone" else None
    refused(start(program, *on, *verify, trusted, bad), program, trusted, bad, *why)
    refused(start(program, *on, *verify, trusted, certificates.ca, "--tls-crl", bad), program, "--tls-crl", bad, *why)


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("program", ["postal", "bhm"])
def test_a_key_of_another_certificate(start, program, certificates, name):
    on = ["--tls-backend", name, *(["-s", "100"] if program == "postal" else ["-s"])]
    refused(start(program, *on, "--tls-cert", certificates.alone("good"), "--tls-key", certificates.key("client")), program, "--tls-",
            certificates.key("client"))


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("program", ["postal", "bhm"])
def test_a_name_that_the_library_does_not_know(start, program, name):
    on = ["--tls-backend", name, *(["-s", "100"] if program == "postal" else ["-s"])]
    refused(start(program, *on, "--tls-ciphers", "ROT-13"), program, "--tls-ciphers")


@pytest.mark.parametrize("program", CLIENTS + SERVERS)
def test_the_version_names_the_libraries(programs, program):
    done = run([programs.path(program), "--version"])
    assert done.status == 0 and "TLS: OpenSSL 3." in done.stdout and ", GnuTLS 3." in done.stdout
