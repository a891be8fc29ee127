"""Options about TLS that cannot be: one line that names the culprit, status 1, and nothing is sent."""
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
                "bhm": ["--listen", "127.0.0.1:0", "--duration", "1s"], "lmtp-deliver": ["--listen", "127.0.0.1:0", "--agent", "/bin/true"]}[program]
        return run([programs.path(program), *words, *rest], timeout=20)
    return run_it


BOTH = [
    (["--tls-min", "1.2"], ["--tls-min", "without TLS"]),
    (["--tls-backend", "gnutls"], ["--tls-backend", "without TLS"]),
    (["--tls-crl", "/nowhere"], ["--tls-crl"]),
    (["-s", "--tls-min", "1.3", "--tls-max", "1.2"], ["--tls-min", "--tls-max"]),
    (["-s", "--tls-min", "1.1"], ["--tls-min", "1.1"]),
    (["-s", "--tls-max", "1.4"], ["--tls-max", "1.4"]),
    (["-s", "--tls-backend", "schannel"], ["--tls-backend", "schannel", "openssl", "gnutls"]),
]
CLIENT = [
    (["--tls-ca", "/nowhere"], ["--tls-ca", "without TLS"]),
    (["--tls-verify", "on"], ["--tls-verify", "without TLS"]),
    (["--tls-resume", "50"], ["--tls-resume", "without TLS"]),
    (["-s", "0", "--tls-sni", "x"], ["--tls-sni", "without TLS"]),
    (["-s", "50", "--tls", "implicit"], ["--tls", "implicit"]),
    (["--tls", "always"], ["--tls", "always"]),
    (["-s", "100", "--tls-verify", "maybe"], ["--tls-verify", "maybe"]),
    (["-s", "100", "--tls-ca", "/nowhere"], ["--tls-ca", "--tls-verify on"]),
    (["-s", "100", "--tls-resume", "101"], ["--tls-resume", "101"]),
    (["-s", "100", "--tls-early-data", "on"], ["--tls-early-data"]),
    (["-s", "100", "--tls-key", "/nowhere"], ["--tls-key", "--tls-cert"]),
]
SERVER = [
    (["--require-tls"], ["--require-tls", "without TLS"]),
    (["--tls-cert", "/nowhere"], ["--tls-cert", "without TLS"]),
    (["--tls-client-ca", "/nowhere"], ["--tls-client-ca", "without TLS"]),
    (["-s", "--tls-crl", "/nowhere"], ["--tls-crl", "--tls-client-ca"]),
    (["-s", "--tls-key", "/nowhere"], ["--tls-key", "--tls-cert"]),
    (["-s", "--listen-tls", "127.0.0.1:99999"], ["--listen-tls", "99999"]),
]


def with_share(program, words):
    """-s is a percentage for clients."""
    return [part for word in words for part in ([word, "100"] if word == "-s" and program in CLIENTS else [word])]


@pytest.mark.parametrize("program", CLIENTS + SERVERS)
@pytest.mark.parametrize("words, names", BOTH, ids=lambda words: " ".join(words))
def test_options_of_all(start, program, words, names):
    refused(start(program, *with_share(program, words)), program, *names)


@pytest.mark.parametrize("program", CLIENTS)
@pytest.mark.parametrize("words, names", CLIENT, ids=lambda words: " ".join(words))
def test_options_of_clients(start, program, words, names):
    refused(start(program, *words), program, *names)


@pytest.mark.parametrize("program", SERVERS)
@pytest.mark.parametrize("words, names", SERVER, ids=lambda words: " ".join(words))
def test_options_of_servers(start, program, words, names):
    refused(start(program, *words), program, *names)


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
@pytest.mark.parametrize("option, value", [("--tls-ciphers", "ROT-13"), ("--tls-groups", "P-17"), ("--tls-ciphers", "AES-128-GCM:ROT-13")])
def test_names_that_the_library_does_not_know(start, program, name, option, value):
    on = ["--tls-backend", name, *(["-s", "100"] if program == "postal" else ["-s"])]
    refused(start(program, *on, option, value), program, option)


@pytest.mark.parametrize("program", CLIENTS + SERVERS)
def test_the_version_names_the_libraries(programs, program):
    done = run([programs.path(program), "--version"])
    assert done.status == 0 and "TLS: OpenSSL 3." in done.stdout and ", GnuTLS 3." in done.stdout
