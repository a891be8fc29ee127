# SPDX-License-Identifier: GPL-3.0-or-later
"""rabid against POP3 and IMAP servers that misbehave: every step of the dialogue times every kind of misbehaviour.

Half of the connections meet the fault, the other half are served well. Wanted of every run: it ends by itself and in
time, the fault stands in the record under its own stage, each message that was begun has exactly one outcome, memory is
bounded, nothing is taken for corrupt that is not, and the other sessions went on.
"""
import resource
import signal
import sqlite3
import time

import pytest

from conftest import login_names, user_names
from support.hostile_imap import STEPS as IMAP_STEPS, HostileImap
from support.hostile_pop3 import STEPS as POP3_STEPS, HostilePop3
from support.mail import Message, made_message
from support.postal import RABID_HEADER, check_reading
from support.process import wait_until
from support.watched import Sending, memory_limit

ADDRESS_SPACE = 3 << 30  # so that a number from a server cannot take the machine's memory
SHORT = ("--timeout", "10s", "--grace", "1s", "--workers", "1", "-p", "4")
IMPATIENT = ("--timeout", "700ms")
STAGES = {"pop3": {"banner": "banner", "capa": "login", "user": "login", "pass": "login", "stat": "list", "uidl": "list",
                   "retr": "retrieve", "message": "retrieve", "dele": "delete", "quit": "quit"},
          "imap": {"banner": "banner", "capability": "login", "login": "login", "select": "list", "fetch": "retrieve",
                   "message": "retrieve", "store": "delete", "expunge": "delete", "logout": "quit"}}
PROFILE_STAGES = {"status": "command", "list": "command", "noop": "command", "idle": "idle", "append": "command",
                  "search": "list"}
LOST = {"silence": {"timeout"}, "half_line": {"timeout"}, "close": {"closed", "reset"}, "reset": {"closed", "reset"}}


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))


@pytest.fixture
def start(programs, folder, users_file):
    """start(SERVER, option, …) starts rabid with short timeouts against a hostile server."""
    users, started = users_file(login_names(user_names(30))), []

    def begin(server, *words, ledger=True):
        share = ["-i", "100", "--imap", server.endpoint] if isinstance(server, HostileImap) else []
        # A ledger makes it ask for unique ids.
        name = f"reading-{len(started)}"
        book = ["--ledger", folder / f"{name}.db"] if ledger else []
        started.append(Sending(programs.rabid, folder, *SHORT, *book, *words, *share, server.endpoint, users, name=name,
                               preexec_fn=limited))
        return started[-1]
    yield begin
    for one in started:
        one.__exit__()


@pytest.fixture
def read(start):
    """read(SERVER, option, …) is one run to its end; checks what holds whatever the fault was."""
    def run_to_end(server, *words, status=0, timeout=60, **more):
        run = start(server, *words, **more).wait(timeout)
        run.header = RABID_HEADER
        assert run.status == status, (run.stderr[-2000:], run.record and run.record["errors"])
        check_reading(run)
        assert run.peak_rss < memory_limit(run.argv[0])
        assert run.record["integrity"]["corrupt"] == run.record["integrity"]["foreign"] == 0
        return run
    return run_to_end


def errors_at(run, *stages):
    return [error for error in run.record["errors"] if error["stage"] in stages]


def reasons(errors):
    return {error["reason"] for error in errors}


def hostile(way, step, fault, **more):
    return (HostilePop3 if way == "pop3" else HostileImap)(step, fault, **more)


def half_faulty(read, way, step, fault, *words, ledger=True, **more):
    with hostile(way, step, fault, every=2, **more) as server:
        run = read(server, "--connections", "12", "--duration", "6s", *words, ledger=ledger)
    assert server.count.faults > 0
    assert run.total("messages") > 0, "the other sessions went on"
    if fault not in ("flood", "drip", "endless", "other_uid"):  # where deleting and answering are not the same
        deleted = run.total("deleted")
        assert deleted <= server.count.deleted <= deleted + run.total("delete_in_doubt"), server.count
    return run


def cases(faults, ways=STAGES, leave_out=()):
    for way in ways:
        for step in STAGES[way]:
            for fault in faults:
                if (step, fault) not in leave_out:
                    yield pytest.param(way, step, fault, id=f"{way}-{step}-{fault}")


def test_steps_are_all_there():
    assert set(POP3_STEPS) == set(STAGES["pop3"])
    assert set(IMAP_STEPS) == set(STAGES["imap"]) | set(PROFILE_STAGES)


def test_messages_are_as_postal_makes_them():
    made = Message(made_message(7))
    made.verify()
    assert int(made.identity["size"]) == len(made.octets)


@pytest.mark.parametrize("way", STAGES)
def test_nothing_wrong(read, way):
    with hostile(way, None, None) as server:
        run = read(server, "--connections", "12")
    assert run.record["errors"] == []
    assert run.total("messages") == run.total("deleted") == server.count.sent == server.count.deleted == 36
    assert run.record["integrity"]["verified"] == 36
    assert server.count.most_at_once == 1, "no account is used twice at a time"


@pytest.mark.thinned(5)
@pytest.mark.parametrize("way, step, fault", cases(LOST))
def test_lost_connection(read, way, step, fault):
    run = half_faulty(read, way, step, fault, *IMPATIENT)
    # A reset may come before connect(2) has been looked at.
    errors = errors_at(run, STAGES[way][step], *(["connect"] if (step, fault) == ("banner", "reset") else []))
    assert reasons(errors) & LOST[fault], run.record["errors"]
    if step == "message":
        assert run.total("failed") > 0
    if step in ("quit", "expunge"):
        assert run.total("delete_in_doubt") > 0


@pytest.mark.thinned(5)
@pytest.mark.parametrize("way, step, fault", cases(["garbage", "long_line"],
                                                   leave_out=[("message", "garbage"), ("message", "long_line")]))
def test_not_an_answer(read, way, step, fault):
    """Octets that mean nothing within a message are part of it, over POP3 and within a literal."""
    run = half_faulty(read, way, step, fault)
    assert errors_at(run, STAGES[way][step]), run.record["errors"]


@pytest.mark.parametrize("way, step, fault", cases(["refuse"], leave_out=[("message", "refuse")]))
def test_refused(read, way, step, fault):
    run = half_faulty(read, way, step, fault)
    if (way, step) == ("pop3", "capa") or (way, step) == ("pop3", "uidl"):
        assert run.record["errors"] == [], "they are optional"
        return
    errors = errors_at(run, STAGES[way][step])
    assert reasons(errors) == {"bye" if (way, step) == ("imap", "banner") else "refused"}, run.record["errors"]
    assert "not today" in str(errors)
    if (way, step) == ("pop3", "retr"):
        assert run.total("rejected") > 0
    if (way, step) == ("pop3", "quit"):
        assert run.total("delete_in_doubt") > 0


@pytest.mark.thinned(3)
@pytest.mark.parametrize("way, step, fault", cases(["split"]))
def test_answers_split_at_every_octet(read, way, step, fault):
    run = half_faulty(read, way, step, fault, "--duration", "20s")
    assert run.record["errors"] == []
    assert run.total("messages") == run.total("deleted") == 36


@pytest.mark.thinned(3)
@pytest.mark.parametrize("way, step, fault", list(cases(["bye", "bye_and_silence"], ["imap"]))
                         + [pytest.param("pop3", step, "says_goodbye", id=f"pop3-{step}-says_goodbye") for step in POP3_STEPS
                            if step != "message"])
def test_the_server_says_goodbye(read, way, step, fault):
    run = half_faulty(read, way, step, fault, *IMPATIENT)
    if step == "message":
        return  # part of the literal
    if (way, step) == ("imap", "logout"):
        assert reasons(run.record["errors"]) <= {"closed", "reset", "timeout"}
        return
    assert run.record["errors"], "somewhere"
    errors = errors_at(run, STAGES[way][step], *(["quit", "login", "list", "retrieve"] if way == "pop3" else []))
    assert errors, run.record["errors"]
    if way == "imap":
        assert "bye" in reasons(errors)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("way, step, fault", list(cases(["flood"], leave_out=[("message", "flood")]))
                         + [pytest.param(way, step, "drip", id=f"{way}-{step}-drip") for way, step in
                            (("pop3", "banner"), ("pop3", "retr"), ("imap", "login"), ("imap", "fetch"))]
                         + [pytest.param("pop3", step, "endless", id=f"pop3-{step}-endless") for step in
                            ("capa", "uidl", "retr", "message")])
def test_what_never_ends(read, way, step, fault):
    """The run's own end ends it, and whatever was begun is in the books."""
    begun = time.monotonic()
    half_faulty(read, way, step, fault, "--timeout", "1m", "--duration", "2s", "--grace", "1s")
    assert time.monotonic() - begun < 20


@pytest.mark.thinned(3)
@pytest.mark.parametrize("way, step, fault", cases(["drip"], leave_out=[("user", "drip")]))
def test_what_drips_is_waited_for_as_long_as_silence(read, way, step, fault):
    """An octet each tenth of a second: within lines, within listings, within messages and literals."""
    run = half_faulty(read, way, step, fault, *IMPATIENT)
    assert "timeout" in reasons(errors_at(run, STAGES[way][step])), run.record["errors"]


def test_a_server_may_say_that_it_is_still_at_it(read, profile):
    """RFC 3501 7.1.1; Dovecot does so in long searches."""
    with HostileImap("search", "still_at_it", late_seconds=8) as server:
        run = read(server, "--timeout", "4s", "--connections", "2", "--duration", "1m", "--profile", profile("search"))
    assert server.count.faults == 2
    assert run.record["errors"] == []


@pytest.mark.parametrize("way, step, fault", [
    ("pop3", "message", "endless"), ("imap", "fetch", "literal_without_end"), ("imap", "fetch", "literal_of_4_gib")])
def test_messages_beyond_the_largest(read, way, step, fault):
    """Of a literal that is announced nothing is read; a message that comes without a word about its size is read so far."""
    run = half_faulty(read, way, step, fault, "--max-message", "100K")
    [error] = [error for error in errors_at(run, "retrieve") if error["reason"] == "too_big"]
    assert error["count"] == run.total("oversized") == run.total("failed") > 0


def test_a_message_may_be_as_large_as_it_may(read):
    largest = max(len(made_message(number)) for number in range(3))
    for most, errors in ((largest, 0), (largest - 1, 1)):
        for server in (HostilePop3(), HostileImap()):
            with server:
                run = read(server, "--connections", "1", "-d", "100:0", "--max-message", f"{most}")
            assert run.total("oversized") == len(run.record["errors"]) == errors


# ---- POP3 ----

@pytest.mark.parametrize("capabilities", [(b"USER", b"UIDL", b"PIPELINING"), (b"USER",)], ids=["pipelined", "plain"])
def test_nothing_wrong_without_a_ledger(read, capabilities):
    with HostilePop3(capabilities=capabilities) as server:
        run = read(server, "--connections", "12", ledger=False)
    assert run.record["errors"] == []
    assert run.total("messages") == run.record["integrity"]["verified"] == run.total("deleted") == 36


@pytest.mark.thinned(5)
@pytest.mark.parametrize("capabilities", [(b"USER", b"UIDL", b"PIPELINING"), (b"USER",)], ids=["pipelined", "plain"])
@pytest.mark.parametrize("ledger", [True, False], ids=["uidl", "list"])
@pytest.mark.parametrize("fault", ["more_than_there_are", "fewer_than_there_are", "none_is_there"])
def test_stat_does_not_agree_with_the_list(read, fault, ledger, capabilities):
    run = half_faulty(read, "pop3", "stat", fault, ledger=ledger, capabilities=capabilities)
    [error] = [error for error in errors_at(run, "list") if error["reason"] == "contradiction"]
    assert ("UIDL" if ledger else "LIST") in error["sample"]
    if fault == "more_than_there_are":
        assert run.total("rejected") > 0
        assert reasons(errors_at(run, "retrieve")) == {"refused"}
    assert run.record["integrity"]["duplicate"] == 0


@pytest.mark.parametrize("fault", ["too_many", "no_numbers", "millions"])
def test_stat_cannot_be_right(read, fault):
    """Numbers that no mailbox has take neither memory nor time."""
    run = half_faulty(read, "pop3", "stat", fault)
    assert errors_at(run, "list"), run.record["errors"]


@pytest.mark.parametrize("fault", ["wrong_numbers", "same_uid"])
def test_unique_ids_that_are_none(read, fault):
    run = half_faulty(read, "pop3", "uidl", fault)
    if fault == "wrong_numbers":
        assert "contradiction" in reasons(errors_at(run, "list")), run.record["errors"]
    assert run.total("messages") == run.record["integrity"]["verified"] > 0


@pytest.mark.parametrize("fault", ["garbage", "long_line"])
def test_lines_within_a_message_are_only_its_content(start, fault):
    """What is no message of postal's any more is corrupt or not finished, whatever its lines are like."""
    with HostilePop3("message", fault, every=2) as server:
        run = start(server, *IMPATIENT, "--connections", "8", "--duration", "6s").wait(60)
    assert run.status == 0 and run.peak_rss < memory_limit(run.argv[0])
    found = run.record["integrity"]
    assert found["verified"] > 0
    # a header section of megabytes is nobody's
    assert found["corrupt"] + found["foreign"] + run.total("failed") > 0


def test_an_empty_line_behind_each_message(start, programs, folder):
    """qmail-pop3d added one; -b qmail-pop is for that."""
    mail = [made_message(number) + b"\r\n" for number in range(3)]
    with HostilePop3(mail=mail) as server:
        run = start(server, "--connections", "2").wait(60)
        assert run.record["integrity"]["corrupt"] == 6
        run = start(server, "--connections", "2", "-b", "qmail-pop").wait(60)
    assert run.record["integrity"] == {"verified": 6, "foreign": 0, "corrupt": 0, "duplicate": 0, "original": 0}
    assert run.record["errors"] == []


def test_apop(read):
    heard = []
    with HostilePop3(heard=heard.append) as server:
        run = read(server, "--connections", "4", "--apop", "auto")
    assert run.total("messages") == 12 and run.record["errors"] == []
    words = {line.split()[0] for line in heard}
    assert b"APOP" in words and not words & {b"USER", b"PASS"}


@pytest.mark.parametrize("mode", ["auto", "off"])
def test_with_and_without_pipelining(read, mode):
    for capabilities in ((b"USER", b"PIPELINING"), (b"USER",)):
        with HostilePop3(capabilities=capabilities, mail=[made_message(n) for n in range(20)]) as server:
            run = read(server, "--connections", "2", "-p", "1", "--pipelining", mode)
        assert run.total("messages") == run.total("deleted") == 40 and run.record["errors"] == []


# ---- IMAP ----

@pytest.mark.parametrize("fault", ["literal_too_short", "literal_too_long", "literal_of_4_gib", "literal_of_2_to_the_64", "literal_of_2_to_the_63",
                                   "literal_without_end", "nested", "nested_open", "literal_as_a_name"])
def test_what_cannot_be_read(read, fault):
    run = half_faulty(read, "imap", "fetch", fault, *IMPATIENT, "--duration", "4s")
    if fault == "literal_without_end":
        assert run.total("failed") > 0
        return
    assert errors_at(run, "retrieve"), run.record["errors"]
    if fault.startswith("literal_of_4") or fault in ("literal_too_long", "literal_too_short"):
        assert run.total("failed") > 0, "the message was begun"


@pytest.mark.parametrize("step, fault", [
    ("select", "unknown_tag"), ("fetch", "unknown_tag"), ("expunge", "answered_twice"), ("login", "unknown_tag"),
    ("select", "no_exists"), ("select", "no_such_number"), ("fetch", "other_uid"), ("fetch", "beyond"), ("fetch", "expunges")])
def test_the_server_contradicts_itself(read, step, fault):
    run = half_faulty(read, "imap", step, fault)
    stages = {STAGES["imap"][step]} | ({"quit"} if fault == "answered_twice" else set())
    assert "contradiction" in reasons(errors_at(run, *stages)), run.record["errors"]


@pytest.mark.parametrize("step", [step for step in STAGES["imap"] if step not in ("message", "banner")])
def test_untagged_responses_at_any_time(read, step):
    run = half_faulty(read, "imap", step, "small_flood")
    wrong = [error for error in run.record["errors"] if "EXISTS while no mailbox" not in str(error)
             and "EXISTS shrank" not in str(error)]
    assert wrong == []
    assert run.total("messages") == 36


@pytest.mark.parametrize("fault", ["two_million", "four_billion"])
def test_more_messages_than_anybody_has(read, fault):
    """EXISTS is a number that anybody can write: it takes neither memory nor time."""
    half_faulty(read, "imap", "select", fault, "--duration", "3s")


def test_four_billion_messages_that_come_later(read):
    """While a mailbox is watched, which reads whatever comes."""
    with HostileImap("noop", "grows", capabilities=(b"IMAP4rev1", b"UIDPLUS")) as server:
        run = read(server, "--watch", "100ms", "--duration", "2s")
    assert "too_many" in reasons(run.record["errors"])


def test_a_search_that_finds_everything(read):
    """A short line that means 16 million million messages takes no time."""
    run = half_faulty(read, "imap", "search", "finds_everything", "--profile", "poller", "--duration", "3s")
    assert run.total("cpu_user_s") + run.total("cpu_system_s") < 10


def test_only_what_was_expunged_is_deleted(read):
    """OK to EXPUNGE without a word about any message says that none of them is gone (RFC 3501 6.4.3)."""
    with HostileImap("expunge", "keeps_all") as server:
        run = read(server, "--connections", "3", "--duration", "6s")
    assert run.total("messages") == 9
    assert run.total("deleted") == 0


def test_no_login_is_needed(start):
    """PREAUTH (RFC 3501 7.1.4)."""
    heard = []
    with HostileImap("banner", "preauth", heard=heard.append) as server:
        run = start(server, "--connections", "3").wait(60)
    assert run.total("messages") == 9 and run.record["errors"] == []
    assert not [line for line in heard if b"LOGIN" in line]
    assert run.status == 0


@pytest.mark.parametrize("capabilities", [(b"IMAP4rev1",), (b"IMAP4rev1", b"UIDPLUS", b"LITERAL+"),
                                          (b"IMAP4rev2", b"IMAP4rev1", b"ESEARCH", b"MOVE", b"LITERAL-")], ids=str)
@pytest.mark.parametrize("profile", ["original", "append"])
def test_servers_that_offer_little_or_much(read, capabilities, profile):
    with HostileImap(capabilities=capabilities) as server:
        run = read(server, "--connections", "4", "--profile", profile)
    assert run.record["errors"] == []
    if profile == "append":
        assert server.count.appended >= 80
    else:
        assert run.total("deleted") == server.count.deleted == 12


def test_nobody_is_let_in_without_tls(read):
    with HostileImap(capabilities=(b"IMAP4rev1", b"LOGINDISABLED")) as server:
        run = read(server, "--connections", "2", "--duration", "3s", status=4)
    assert reasons(run.record["errors"]) == {"login_disabled"}


@pytest.fixture
def profile(folder):
    """profile(verb, …) is a file with a profile that says these verbs in this order."""
    def write(*verbs, more=""):
        path = folder / f"{'-'.join(verbs)}.toml"
        path.write_text(f"first = [{', '.join(repr(verb) for verb in verbs)}]\n{more}".replace("'", '"'))
        return path
    return write


@pytest.mark.thinned(5)
@pytest.mark.parametrize("step", PROFILE_STAGES)
@pytest.mark.parametrize("fault", [*LOST, "garbage", "refuse", "bye"])
def test_commands_of_profiles(read, profile, step, fault):
    verb = {"search": "read-new"}.get(step, step)
    behaviour = profile(verb, "read-one", more='idle = "100ms"\n')
    run = half_faulty(read, "imap", step, fault, *IMPATIENT, "--profile", behaviour)
    errors = errors_at(run, PROFILE_STAGES[step])
    expected = LOST.get(fault) or {"refuse": {"refused"}, "bye": {"bye"}}.get(fault)
    assert errors, run.record["errors"]
    assert not expected or reasons(errors) & expected, run.record["errors"]


@pytest.mark.parametrize("fault", ["silence", "close"])
def test_an_append_without_an_answer_is_in_doubt(start, folder, profile, fault):
    """The server may have it: the ledger must not say that it was rejected."""
    with HostileImap("append", fault) as server:
        run = start(server, *IMPATIENT, "--connections", "2", "--duration", "4s", "--profile", profile("append")).wait(60)
    with sqlite3.connect(folder / "reading-0.db") as book:
        outcomes = dict(book.execute("SELECT outcome, count(*) FROM sent_messages GROUP BY outcome"))
    assert set(outcomes) == {"in doubt"} or set(outcomes) == {"in_doubt"}, outcomes
    assert run.total("append_in_doubt") == sum(outcomes.values()) and run.total("appended") == 0


# ---- the end of a run ----

@pytest.mark.parametrize("way", STAGES)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_interrupted_while_servers_are_silent(start, way, number):
    with hostile(way, "message", "silence", every=2) as server:
        reading = start(server, "--timeout", "1m", "--grace", "1s")
        wait_until(lambda: server.count.faults >= 2, "sessions that wait")
        begun = time.monotonic()
        reading.signal(number)
        run = reading.wait(60)
    assert time.monotonic() - begun < 20
    run.header = RABID_HEADER
    check_reading(run)
    assert run.total("failed") >= 2
    assert run.status == 0
    abandoned = [error for error in run.record["errors"] if (error["stage"], error["reason"]) == ("retrieve", "stopped")]
    assert sum(error["count"] for error in abandoned) == run.total("failed")


@pytest.mark.parametrize("way, step", [("pop3", "banner"), ("pop3", "user"), ("pop3", "stat"), ("imap", "banner"), ("imap", "login"), ("imap", "select")])
def test_the_end_of_a_run_does_not_wait_for_servers_that_send_nothing(read, way, step):
    """The grace is for what is in flight."""
    with hostile(way, step, "silence") as server:
        logged_in = step in ("stat", "select")
        run = read(server, "--timeout", "10m", "--duration", "1s", "--grace", "10m", timeout=60, status=0 if logged_in else 4)
    assert run.total("started") == 0


# ---- what profiles say about time ----

def test_a_pause_between_sessions(read, profile):
    with HostileImap() as server:
        run = read(server, "-p", "1", "--duration", "3s", "--profile", profile("noop", more='pause = "500ms"\n'))
    assert 2 <= run.total("connections") <= 8
    assert run.record["errors"] == []


def test_thinking_between_commands(read, profile):
    with HostileImap() as server:
        run = read(server, "-p", "1", "--connections", "2", "--profile", profile(*["noop"] * 4, more='think = "200ms"\n'))
    assert run.record["latency_us"]["session"]["min"] >= 3 * 200_000
    assert run.record["errors"] == []


def test_idle_lasts_as_long_as_it_says(read, profile):
    heard = []
    with HostileImap(heard=heard.append) as server:
        run = read(server, "-p", "1", "--connections", "2", "--profile", profile("idle", more='idle = "300ms"\n'))
    assert run.record["latency_us"]["session"]["min"] >= 300_000
    assert sum(line.endswith(b" IDLE") for line in heard) == 2
    assert run.record["errors"] == []


def test_a_server_without_idle_is_asked_with_noop(read, profile):
    heard = []
    with HostileImap(capabilities=(b"IMAP4rev1",), heard=heard.append) as server:
        run = read(server, "-p", "1", "--connections", "2", "--profile", profile("idle", more='idle = "100ms"\n'))
    assert not [line for line in heard if line.endswith(b" IDLE")]
    assert sum(line.endswith(b" NOOP") for line in heard) == 2
    assert run.record["errors"] == []


def test_more_sessions_than_accounts_wait_in_a_queue(read, profile):
    """30 accounts; a visit lasts 50 ms, so that most of the 200 sessions wait for one."""
    with HostileImap() as server:
        run = read(server, "--workers", "2", "-p", "200", "-r", "100000/s", "--connections", "200", "--profile", profile("idle", more='idle = "50ms"\n'))
    assert run.total("connections") == 200 and run.record["errors"] == []
    assert run.seconds > 0.3, "seven visits to each account, one after the other"


def test_stages_begin_at_the_rate(read, profile):
    """A ramp from 40/s to 40/s, which was one from 0."""
    with HostileImap() as server:
        run = read(server, "-p", "20", "--open-loop", "-r", "40/s", "--stages", "40/s@1s", "--profile", profile("noop"))
    assert 40 <= run.total("connections") + run.total("not_started") <= 42 + 40 * (run.record["duration_s"] - 1)


def test_an_open_loop_ranks_all_visits_that_were_due(read):
    """Some visits end in vain, and many wait for a session: all that was due by the stop is visited, within the grace, and each
    visit is in the ranking once."""
    with HostilePop3("stat", "refuse", every=50) as server:
        run = read(server, "-p", "1", "--grace", "2m", "--open-loop", "-r", "2000/s", "--duration", "200ms")
    totals, latency = run.record["totals"], run.record["latency_us"]
    assert totals["due"] == totals["connections"] and totals["not_started"] == 0
    assert latency["session"]["count"] == totals["due"]
    assert latency["session"]["not_accepted"] == server.count.faults > 0
    assert latency["successful"]["count"] == latency["service"]["count"] == totals["due"] - server.count.faults


def test_a_pause_ends_an_open_loop_in_good_order(read, profile):
    """Who only waits when the run stops leaves then; that is no visit in vain, nor one that was never begun."""
    with HostileImap() as server:
        run = read(server, "--grace", "1m", "--open-loop", "-r", "40/s", "--duration", "200ms", "-p", "20", "--profile", profile("idle", more='idle = "10m"\n'))
    assert run.seconds < 30 and run.record["errors"] == []
    session = run.record["latency_us"]["session"]
    assert session["count"] == run.total("due") == run.total("connections") >= 8 and "not_accepted" not in session
