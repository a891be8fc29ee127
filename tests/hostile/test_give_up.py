# SPDX-License-Identifier: GPL-3.0-or-later
"""--give-up: a run in which no server does anything any more ends by itself, says so, and leaves everything that a stop does.
One that only waits, or is slow, goes on."""
import pytest

from conftest import login_names, user_names
from support.hostile import Hostile
from support.hostile_imap import HostileImap
from support.hostile_pop3 import HostilePop3
from support.postal import check_books, check_reading
from support.process import free_port

SOON = ("--give-up", "1s", "--grace", "500ms")
SAID = "gave up: no progress for 1s\n"


def gave_up(run):
    assert SAID in run.stderr and run.record["ended"] == "gave_up", run.stderr
    assert 1 <= run.record["duration_s"] < 20


def went_on(run):
    assert SAID not in run.stderr and run.record["ended"] == "complete", run.stderr


class Dying:
    """`kind` until it has heard so many lines that begin with `word`; whoever connects from then on hears nothing."""

    def __init__(self, kind, word, lines):
        self.server, self.word, self.left = kind("banner", "silence", every=10 ** 9, heard=self.heard), word, lines
        self.server.count.connections = 1  # the first of every so many would be the silent one

    def heard(self, line):
        self.left -= line.startswith(self.word)
        if self.left <= 0:
            self.server.every = 1

    def __enter__(self):
        return self.server.__enter__()

    def __exit__(self, *what):
        return self.server.__exit__(*what)


@pytest.mark.parametrize("pace", [("-c", "0"), ("-c", "1"), ("-c", "-1"), ("-c", "0", "-r", "50/s"), ("-c", "-1", "-r", "50/s"),
                                  ("-c", "1", "-r", "50/s", "--open-loop"), ("-c", "-1", "-r", "50/s", "--open-loop")], ids=" ".join)
def test_nobody_is_there(postal, users_file, pace):
    run = postal("-t", "3", *pace, "--messages", "30", *SOON, f"127.0.0.1:{free_port()}", users_file(3), status=4)
    check_books(run)
    gave_up(run)


@pytest.mark.parametrize("step", ["banner", "ehlo", "mail", "end"])
def test_silent_server(postal, users_file, step):
    with Hostile(step, "silence") as server:
        run = postal("-t", "3", "--messages", "30", *SOON, server.endpoint, users_file(3), status=4)
    check_books(run)
    gave_up(run)


def test_server_that_turns_everybody_away(postal, users_file):
    """It speaks, and nothing comes of it."""
    with Hostile("banner", "shutting_down", once=False) as server:
        run = postal("-t", "3", "--messages", "30", *SOON, server.endpoint, users_file(3), status=4)
    check_books(run)
    gave_up(run)


def test_server_that_dies_after_some_messages(postal, users_file):
    with Dying(Hostile, b"MAIL", 10) as server:
        run = postal("-t", "1", "-c", "1", "--messages", "1000", *SOON, server.endpoint, users_file(3))
    check_books(run)
    gave_up(run)
    assert run.total("messages") == 10


def test_messages_that_are_left_out_are_progress(postal, users_file):
    with Hostile(capabilities=(b"8BITMIME",)) as server:
        run = postal("-c", "-1", "-r", "4/s", "--messages", "8", *SOON, server.endpoint, users_file(["jürgen@example.com"]), status=4)
    check_books(run)
    went_on(run)
    assert run.total("failed") == 8


def test_refusals_are_progress(bhm, postal, users_file):
    """Each message is larger than the server takes."""
    run = postal("-c", "-1", "-r", "4/s", "--messages", "8", "--size", "fixed:5K", *SOON, bhm("-m", "1").endpoint, users_file(3), status=4)
    check_books(run)
    went_on(run)
    assert run.total("rejected") == 8


@pytest.mark.parametrize("loop", [(), ("--open-loop",)], ids=["closed", "open"])
def test_waiting_for_what_is_due_is_no_want_of_progress(bhm, postal, users_file, loop):
    run = postal("-c", "-1", "-r", "30/min", *loop, "--messages", "3", *SOON, bhm().endpoint, users_file(3))
    check_books(run)
    went_on(run)
    assert run.total("messages") == 3


def test_each_reply_is_progress(bhm, postal, users_file):
    """A message takes longer than that, no reply does."""
    hole = bhm(*(word for stage in ("mail", "rcpt", "data", "end") for word in ("--delay", f"{stage}=400ms")))
    run = postal("-t", "1", "-c", "-1", "--pipelining", "off", "--messages", "2", *SOON, hole.endpoint, users_file(3))
    check_books(run)
    went_on(run)


def test_a_run_with_an_end_waits_for_it(postal, users_file):
    run = postal("--messages", "30", "--duration", "2s", f"127.0.0.1:{free_port()}", users_file(3), status=4)
    assert run.record["ended"] == "duration" and "gave up" not in run.stderr


# ---- rabid ----

@pytest.fixture(params=["pop3", "imap"])
def kind(request):
    return {"pop3": HostilePop3, "imap": HostileImap}[request.param]


@pytest.fixture
def read(rabid, users_file):
    def run(endpoint, kind, *words, status):
        share = ["-i", "100", "--imap", endpoint] if kind is HostileImap else []
        return rabid("-p", "3", *words, *SOON, *share, endpoint, users_file(login_names(user_names(20))), status=status)
    return run


def test_no_mailbox_is_there(read, kind):
    run = read(f"127.0.0.1:{free_port()}", kind, "--connections", "20", status=4)
    check_reading(run)
    gave_up(run)


def test_nobody_greets_or_lets_anybody_in(read, kind):
    refused = {HostilePop3: ("pass", "refuse"), HostileImap: ("login", "refuse")}[kind]
    for step, fault in (("banner", "silence"), refused):
        with kind(step, fault) as server:
            run = read(server.endpoint, kind, "--connections", "10000000", status=4)
        check_reading(run)
        gave_up(run)


def test_mailboxes_that_die_after_some_visits(read, kind):
    word = {HostilePop3: b"USER", HostileImap: b""}[kind]
    with Dying(kind, word, 10) as server:
        run = read(server.endpoint, kind, "--connections", "1000", status=0)
    check_reading(run)
    gave_up(run)
    assert run.total("messages") > 0


def test_pauses_are_no_want_of_progress(read, folder):
    path = folder / "idle.toml"
    path.write_text('first = ["idle"]\nidle = "2500ms"\n', encoding="utf-8")
    with HostileImap() as server:
        run = read(server.endpoint, HostileImap, "--connections", "3", "--profile", path, status=0)
    check_reading(run)
    went_on(run)
