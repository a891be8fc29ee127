# SPDX-License-Identifier: GPL-3.0-or-later
"""Behaviours that make no sense are refused before anything listens, with a line that says where; and what --check-behaviour
says about those that do.

tests/unit/behaviour has the tables of all texts; here is one of each kind, as a user meets it.
"""
import re

import pytest

from conftest import ROOT
from support.postal import refused, run

RULE = '[[rule]]\nname = "one"\n'  # lines 1 and 2
RCPT = '[rule.rcpt]\nreply = "450 4.2.1 Later"\n'

# what is wrong: the file, the line, and what the message names
FILES = {
    "no TOML": ('[[rule]\n', 1, []),
    "no rules": ("# nothing\n", None, ["no rules"]),
    "a key that is none": (RULE + 'sendr = "a@example.com"\n' + RCPT, 3, ["sendr", "did you mean sender?"]),
    "a stage that is none": (RULE + '[rule.rctp]\nreply = "450 4.2.1 Later"\n', 3, ["rctp"]),
    "a key of a stage that is none": (RULE + RCPT + 'repyl = "x"\n', 5, ["repyl"]),
    "no stage": (RULE, 1, ["stage"]),
    "a stage without an effect": (RULE + "[rule.mail]\n", 3, ["rule.mail"]),
    "a reply that is none": (RULE + '[rule.mail]\nreply = "Later"\n', 4, ["Later"]),
    "a preset that is none": (RULE + '[rule.mail]\nreply = "gmail-rat"\n', 4, ["gmail-rat", "did you mean gmail-rate?"]),
    "a code that the stage cannot have": (RULE + '[rule.data]\nreply = "250 2.0.0 Ok"\n', 4, ["250", "data"]),
    "a deferred greeting": (RULE + '[rule.banner]\nreply = "450 4.2.1 Later"\n', 4, ["450", "banner"]),
    "a reply at connect": (RULE + '[rule.connect]\nreply = "421 4.7.0 No"\n', 4, ["reply", "connect"]),
    "codes of two classes": (RULE + '[rule.mail]\nreply = "450 5.2.1 Later"\n', 4, ["450", "5.2.1"]),
    "an enhanced code that is none": (RULE + '[rule.mail]\nreply = "450 4.2 Later"\n', 4, ["4.2"]),
    "a reply of two lines": (RULE + '[rule.mail]\nreply = "450 4.2.1 a\\r\\nb"\n', 4, ["reply"]),
    "a reply that is not ASCII": (RULE + '[rule.mail]\nreply = "450 4.2.1 spät"\n', 4, ["reply", "ASCII"]),
    "a reply without end": (RULE + f'[rule.mail]\nreply = "450 4.2.1 {"x" * 401}"\n', 4, ["reply", "400"]),
    "a delay that is none": (RULE + '[rule.mail]\ndelay = "soon"\n', 4, ["delay", "soon"]),
    "an empty delay": (RULE + '[rule.mail]\ndelay = "3s..1s"\n', 4, ["3s..1s"]),
    "a delay per octet at RCPT": (RULE + '[rule.rcpt]\ndelay_per_octet = "1us"\n', 4, ["delay_per_octet", "end"]),
    "a close that is none": (RULE + '[rule.mail]\nclose = "slam"\n', 4, ["slam", "fin", "rst", "silence"]),
    "a probability above 1": (RULE + 'probability = "101%"\n' + RCPT, 3, ["101%"]),
    "a probability of nothing": (RULE + 'probability = "0%"\n' + RCPT, 3, ["0%"]),
    "a network that is none": (RULE + 'client = "192.0.2.0/33"\n' + RCPT, 3, ["client", "192.0.2.0/33"]),
    "a listener that is none": (RULE + 'listener = "127.0.0.1:99999"\n' + RCPT, 3, ["listener", "99999"]),
    "a domain that is none": (RULE + 'domain = "ex*mple.com"\n' + RCPT, 3, ["ex*mple.com", "*.example.com"]),
    "an empty range": (RULE + 'session = "9..3"\n' + RCPT, 3, ["session", "9..3"]),
    "what cannot be known yet": (RULE + 'recipient = "a@*"\n[rule.mail]\nreply = "450 4.2.1 Later"\n', 3,
                                 ["recipient", "mail", "never"]),
    "STARTTLS over TLS": (RULE + 'tls = true\n[rule.starttls]\nreply = "454 4.7.0 Not now"\n', 3, ["tls", "never"]),
    "a rule behind one that takes all": (RULE + RCPT + '[[rule]]\nname = "two"\ndomain = "example.com"\n' + RCPT, 8,
                                       ["line 1", "rcpt", "never"]),
    "two rules of a name": (RULE + 'domain = "example.com"\n' + RCPT + '[[rule]]\nname = "one"\n' + RCPT, 7, ["one", "line 1"]),
    "a rate and a limit": (RULE + '[rule.rcpt]\nrate = "10/s"\nlimit = 5\n', 5, ["limit", "rate"]),
    "a burst of nothing": (RULE + '[rule.rcpt]\nburst = 5\nreply = "450 4.2.1 Later"\n', 4, ["burst", "rate"]),
    "what is unknown counted apart": (RULE + '[rule.mail]\nlimit = 5\nper = "recipient"\n', 5, ["per", "recipient", "mail"]),
    "a key of a bucket that is none": (RULE + '[rule.mail]\nlimit = 5\nper = "moon"\n', 5, ["per", "moon", "client"]),
    "a greylist at MAIL": (RULE + "[rule.mail]\ngreylist = {}\n", 4, ["greylist", "rcpt"]),
    "a greylist that nobody passes": (RULE + '[rule.rcpt]\ngreylist = { wait = "1h", window = "1m" }\n', 4, ["window"]),
}


@pytest.mark.parametrize("wrong", FILES)
def test_file(programs, folder, wrong):
    text, line, words = FILES[wrong]
    path = folder / "behaviour.toml"
    path.write_text(text, encoding="utf-8")
    done = run([programs.bhm, "--listen", "127.0.0.1:0", "--behaviour", path], timeout=20)
    refused(done, f"{path}:{line}:" if line else path, *words, program="bhm")
    assert "listening" not in done.stderr


@pytest.mark.parametrize("kind", ["absent", "a folder", "empty", "a zip file"])
def test_no_file(programs, folder, kind):
    path = folder / "behaviour.toml"
    if kind == "a folder":
        path.mkdir()
    elif kind != "absent":
        path.write_bytes(b"" if kind == "empty" else b"PK\x03\x04\x14\0\0\0\x08\0\n")
    refused(run([programs.bhm, "--listen", "127.0.0.1:0", "--behaviour", path], timeout=20), path, program="bhm")


# ---- --check-behaviour ----

ASKED = """\
[[rule]]
name = "the slow domain"
domain = ["slow.example", "*.slow.example"]
[rule.rcpt]
reply = "450 4.2.1 Too many messages"
delay = "1s..3s"
[rule.end]
delay = "lognormal 200ms 0.8"

[[rule]]
name = "now and then"
probability = "20%"
[rule.mail]
close = "rst"

[[rule]]
name = "strangers"
client = "192.0.2.0/24"
[rule.rcpt]
limit = 3
per = "client"
"""


@pytest.mark.parametrize("words", [["--listen", "127.0.0.1:2525"], ["--listen", "unix:{folder}/nowhere"], ["--bind", "127.0.0.1", "--port", "2526"],
                                   ["--listen", "0.0.0.0:2526"], ["--listen", "[::]:2525"]])
@pytest.mark.parametrize("listener", ["127.0.0.2:2525", "unix:/elsewhere"])
def test_listeners_of_another_run(programs, folder, words, listener):
    """They can never match; nothing listens."""
    words = [word.format(folder=folder) for word in words]
    path = folder / "behaviour.toml"
    path.write_text(f'# first\n{RULE}listener = "{listener}"\n{RCPT}')
    refused(run([programs.bhm, "--behaviour", path, *words], timeout=20), f"{path}:2", listener, "can never match",
            f"listens on {':'.join(words[1::2])}", program="bhm")


def test_an_address_of_another_host(programs, folder):
    path = folder / "behaviour.toml"
    path.write_text(f'{RULE}listener = "192.0.2.1:2525"\n{RCPT}')
    refused(run([programs.bhm, "--behaviour", path, "--listen", "0.0.0.0:2525"], timeout=20), "192.0.2.1:2525", "can never match", program="bhm")


@pytest.fixture
def check(programs, folder):
    """check(envelope) is what is said, one line a stage that any rule is about; nothing listens."""
    path = folder / "behaviour.toml"
    path.write_text(ASKED)

    def ask(envelope, *words):
        done = run([programs.bhm, "--check-behaviour", path, "--envelope", envelope, *words], timeout=20)
        assert done.status == 0 and not done.stderr, done.stderr
        lines = done.stdout.splitlines()
        return {stage: [line for line in lines if line.startswith(f"{stage}: ")] for stage in ("mail", "rcpt", "end", "data")}
    return ask


def test_what_a_recipient_of_the_domain_meets(check):
    said = check("client=198.51.100.1 helo=mx.example.com from=a@example.org to=b@sub.slow.example size=10K session=1 message=1")
    [rcpt], [end] = said["rcpt"], said["end"]
    assert all(word in rcpt for word in ("line 1", '"the slow domain"', "450 4.2.1 Too many messages", "1s..3s"))
    assert all(word in end for word in ('"the slow domain"', "200ms", "0.8"))
    assert not said["data"], "no rule is about it"


def test_what_others_meet(check):
    said = check("client=198.51.100.1 from=a@example.org to=b@example.com")
    assert said["rcpt"] == ["rcpt: nothing"] and said["end"] == ["end: nothing"]
    assert "20 %" in said["mail"][0] and '"now and then"' in said["mail"][0] and "reset" in said["mail"][0]
    said = check("client=192.0.2.7 from=<> to=b@example.com")
    assert '"strangers"' in said["rcpt"][0] and "451" in said["rcpt"][0] and "more than 3" in said["rcpt"][0]


def test_what_is_drawn_depends_on_the_seed(check):
    said = {check("from=a@example.org to=b@example.com", "--seed", seed)["mail"][0] for seed in range(20)}
    assert len(said) == 2
    assert check("from=a@example.org to=b@example.com", "--seed", 5) == check("from=a@example.org to=b@example.com", "--seed", 5)


def test_without_an_envelope_mistakes_are_looked_for(programs, folder):
    path = folder / "behaviour.toml"
    path.write_text(ASKED)
    done = run([programs.bhm, "--check-behaviour", path], timeout=20)
    assert done.status == 0 and not done.stderr and done.stdout.startswith(f"{path}: 3 rules, and no mistake"), done
    path.write_text(ASKED.replace('"rst"', '"rest"'))
    refused(run([programs.bhm, "--check-behaviour", path], timeout=20), "--check-behaviour", f"{path}:14", "rest", program="bhm")


@pytest.mark.parametrize("envelope, words", [
    ("client=300.0.0.1", ["client", "300.0.0.1"]), ("from=a@@b", ["from"]), ("to=", ["to"]), ("size=large", ["size", "large"]),
    ("colour=red", ["colour"]), ("just text", ["just"]), ("time=late", ["time", "late"]), ("tls=perhaps", ["tls", "perhaps"]),
    ("session=0", ["session"]),
])
def test_envelopes_that_are_none(programs, folder, envelope, words):
    path = folder / "behaviour.toml"
    path.write_text(ASKED)
    refused(run([programs.bhm, "--check-behaviour", path, "--envelope", envelope], timeout=20), "--envelope", *words,
            program="bhm")


@pytest.mark.parametrize("words, names", [(["--check-behaviour"], ["--check-behaviour", "FILE"]),
                                          (["--behaviour", "a.toml", "--check-behaviour", "b.toml"], ["--check-behaviour", "--behaviour"]),
                                          (["--envelope", "to=a@example.com"], ["--envelope", "--check-behaviour"])])
def test_options_that_need_each_other(programs, words, names):
    refused(run([programs.bhm, "--listen", "127.0.0.1:0", *words], timeout=20), *names, program="bhm")


@pytest.mark.parametrize("name", ["behaviour", "profiles/fast", "profiles/slow-dialup", "profiles/greylisting", "profiles/big-provider",
                                  "profiles/broken", "profiles/silent", "profiles/mixed-world"])
def test_samples(programs, name):
    """Those that come along are right, and say something about somebody."""
    path = ROOT / f"conf/{name}.toml"
    done = run([programs.bhm, "--check-behaviour", path, "--envelope", "client=192.0.2.1 helo=mx.example.com "
                "from=a@example.org to=b@example.com size=10K session=1 message=1 time=10s tls=no"], timeout=20)
    assert done.status == 0 and not done.stderr
    assert re.search(r"^\w+: ", done.stdout, re.MULTILINE)
