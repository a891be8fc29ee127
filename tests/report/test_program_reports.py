# SPDX-License-Identifier: GPL-3.0-or-later
"""postal-report: each program's record is told in that program's words, with what it alone has, in every form alike."""
import csv
import io
import re

import pytest
import sample_records
from printed import run

AGENTS = {"started": 1004, "cpu_user_s": 1.5, "cpu_system_s": 0.5, "max_rss_bytes": 3 << 20,
          "exits": {"0": 900, "75": 70, "signal 9": 20, "timeout": 10}}
CONNECTIONS = {"messages_per_connection": 12.5, "recipients_per_transaction": 1.25, "tls_share": 0.5, "pipelined_share": None,
               "most_open": 1234}
TLS = {"library": "OpenSSL 3.0.15", "full": 12, "resumed": 3, "versions": {"TLSv1.3": 14, "TLSv1.2": 1}, "ciphers": {},
       "groups": {}, "verification": {}}

COMMANDS = {"sent": 1240, "ok": 1233, "no": 4, "bad": 1, "unanswered": 2, "by_kind": {
    "FETCH": {"sent": 1000, "ok": 998, "no": 0, "bad": 0, "unanswered": 2},
    "SELECT": {"sent": 235, "ok": 235, "no": 0, "bad": 0, "unanswered": 0},
    "CREATE": {"sent": 5, "ok": 0, "no": 4, "bad": 1, "unanswered": 0}}}
TIMES = {"count": 90, "mean": 2000.0, "p50": 1500.0, "p90": 3000.0, "p99": 8000.0, "p999": None, "min": 900.0, "max": 9000.0}
PROFILE = {"name": "desktop", "least_actions": 2, "most_actions": 6, "begun": 200, "ok": 190, "refused": 5, "failed": 2, "nothing": 3,
           "verbs": {
               "read-one": {"weight": 3.0, "first": 0, "last": 0, "begun": 100, "ok": 90, "refused": 5, "failed": 2, "nothing": 3,
                            "latency_us": TIMES},
               "noop": {"weight": 1.0, "first": 1, "last": 0, "begun": 100, "ok": 100, "refused": 0, "failed": 0, "nothing": 0,
                        "latency_us": {"count": 100, "p50": 100.0, "p99": 200.0, "max": 300.0}}}}


@pytest.fixture
def record(tmp_path):
    def write(name="run.json", **changes):
        return sample_records.write(tmp_path / name, sample_records.record(**changes))
    return write


def forms(run, *files):
    """Text, Markdown without its escapes, and the page."""
    return [run(*files).stdout, re.sub(r"\\\\(.)", r"\\1", run(*files, "--markdown").stdout), run(*files, "--html", "-").stdout]


def rows_of(text, title):
    """The rows of a text table, by what they begin with."""
    return dict(re.split(r"  +", line.strip(), maxsplit=1) for line in text.split(f"\n{title}\n")[1].split("\n\n")[0].splitlines()
                if re.search(r"\S  +\S", line))


def test_agents_of_lmtp_deliver(run, record):
    file = record(program="lmtp-deliver", agents=AGENTS, connection_use=CONNECTIONS)
    for out in forms(run, file):
        for words in ("Delivery agents", "ended with status 75", "ended by signal 9", "ended for taking too long", "delivered"):
            assert words in out, words
    rows = rows_of(run(file).stdout, "Delivery agents")
    assert rows["started"] == "1,004" and rows["ended with status 0"] == "900 (90.00 %)"
    assert rows["processor time of each"] == "2.00 ms" and rows["memory of the largest"] == "3.0 MiB"
    rows = rows_of(run(file).stdout, "Connections of the clients")
    assert rows["messages a connection"] == "12.5" and rows["most open at once"] == "1,234" and rows["with TLS"] == "50.0 %"
    assert "transactions pipelined" not in rows


def test_commands_and_profile_of_rabid(run, record):
    file = record(program="rabid", commands=COMMANDS, profile=PROFILE)
    for out in forms(run, file):
        for words in ("IMAP commands", "Actions of the profile", "Actions of the profile desktop", "5 refused, 2 failed, 3 without work", "60.00 %"):
            assert words in out, words
    rows = rows_of(run(file).stdout, "IMAP commands")
    assert rows["command"].split() == ["sent", "OK", "NO", "BAD", "unanswered"]
    assert rows["all"].split() == ["1,240", "1,233", "4", "1", "2"] and rows["FETCH"].split() == ["1,000", "998", "0", "0", "2"]
    rows = rows_of(run(file).stdout, "Actions of the profile desktop")
    # Of four drawn actions on average three quarters, beside one that comes first.
    assert re.split("  +", rows["read-one"]) == ["90", "5 refused, 2 failed, 3 without work", "50.00 %", "60.00 %", "1.50 ms", "8.00 ms",
                                                 "9.00 ms"]


def test_commands_and_profiles_side_by_side(run, record):
    files = [record("plain.json"), record("rabid.json", program="rabid", commands=COMMANDS, profile=PROFILE)]
    for out in forms(run, *files):
        for words in ("1,240 sent: 1,233 OK, 4 NO, 1 BAD, 2 unanswered", "235 sent, all OK", "5 sent: 4 NO, 1 BAD",
                      "190 done, 5 refused, 2 failed, 3 without work",
                      "90 done, 5 refused, 2 failed, 3 without work; 50.00 %, wanted 60.00 %; p50 1.50 ms, p99 8.00 ms, max 9.00 ms"):
            assert words in out, words


def test_csv_has_commands_and_actions(run, record):
    files = [record("plain.json"), record("rabid.json", program="rabid", commands=COMMANDS, profile=PROFILE)]
    plain, rabid = csv.DictReader(io.StringIO(run(*files, "--csv").stdout))
    assert [rabid[f"commands_{end}"] for end in ("sent", "ok", "no", "bad", "unanswered")] == ["1240", "1233", "4", "1", "2"]
    assert rabid["commands_by_kind"] == "FETCH x 1000, SELECT x 235, CREATE x 5"
    assert rabid["actions_begun"] == "200" and rabid["actions_refused"] == "5"
    assert rabid["actions_by_verb"] == "read-one x 100, noop x 100"
    assert plain["commands_sent"] == plain["actions_begun"] == ""
    assert "commands_sent" not in run(record(), "--csv").stdout


def test_what_a_program_does_not_have_is_not_there(run, record):
    for out in forms(run, record()):
        for title in ("Delivery agents", "IMAP commands", "Actions of the profile", "Connections of the clients", "Mailboxes", "Integrity of the messages"):
            assert title not in out
    outcomes = rows_of(run(record(program="rabid", totals__deferred=0, totals__in_doubt=0)).stdout, "Outcome of the messages started")
    assert set(outcomes) == {"outcome", "read", "rejected", "failed"}
    # What was counted all the same is shown.
    assert "deferred" in rows_of(run(record(program="rabid")).stdout, "Outcome of the messages started")


def test_connections_that_the_warm_up_opened(run, record):
    totals = {"connections": 12}
    rows = rows_of(run(record(totals__connections=0, totals_with_warmup=totals)).stdout, "Result")
    assert rows["connections"].startswith("0") and rows["connections of the warm-up"] == "12"
    assert "connections of the warm-up" not in run(record(totals__connections=12, totals_with_warmup=totals)).stdout


def test_what_was_offered_stands_beside_what_came_of_it(run, record):
    capped = record(cap={"asked_per_s": 300.0, "reached_per_s": 285.0, "all_busy": 0.12, "behind": 9})
    rows = rows_of(run(capped).stdout, "Result")
    assert rows["offered"] == "18,000 /min" and rows["begun of these"] == "17,100 /min, 95.00 %"
    assert rows["all sessions busy"] == "12.0 % of the time"
    opened = record(totals__due=20000, totals__not_started=5000, measured_s=600.0)
    rows = rows_of(run(opened).stdout, "Result")
    assert rows["offered"] == "2,000 /min" and rows["begun of these"] == "1,500 /min, 75.00 %"
    assert "offered" not in rows_of(run(record()).stdout, "Result")


def test_the_difference_is_one_line(run, record):
    files = [record("one.json"), record("eight.json", per_minute=29504, options__sessions=24, version="1.1.0", totals__errors=9)]
    line = re.compile(r"eight against one: version 1.1.0 instead of 1.0.0, sessions 24 instead of 12; "
                      r"rate \+\d+\.\d %, p50 the same, p99 the same, errors 9 instead of 1,707")
    for out in forms(run, *files):
        assert line.search(out.replace("&#39;", "'")), out[:600]
    same = run(record("a.json"), record("b.json")).stdout
    assert "b against a: no option differs; rate the same" in same


def test_every_option_and_the_host_are_in_every_form(run, record):
    for out in forms(run, record(options__sessions="4711-one")):
        for words in ("Effective options", "4711-one", "pipelining", "Run and host", "mx1.example.com", "Intervals", "busiest worker"):
            assert words in out, words


def test_intervals_of_a_long_run_are_bounded(run, record):
    out = run(record(minutes=300)).stdout
    assert "(The first 100 of 301 intervals; the record has all)" in out


def test_csv_has_phases_tls_and_agents(run, record):
    files = [record("plain.json"), record("agents.json", program="lmtp-deliver", agents=AGENTS, tls=TLS)]
    plain, agents = csv.DictReader(io.StringIO(run(*files, "--csv").stdout))
    assert agents["agents_started"] == "1004" and agents["agent_exits"] == "0 x 900, 75 x 70, signal 9 x 20, timeout x 10"
    assert agents["tls_versions"] == "TLSv1.3 x 14, TLSv1.2 x 1" and agents["tls_resumed_handshakes"] == "3"
    assert plain["agents_started"] == plain["tls_library"] == ""
    assert float(plain["envelope_p99_us"]) > float(plain["envelope_p50_us"]) > 0 and plain["connect_count"] == "2050"
    header = run(record(), "--csv").stdout.splitlines()[0].split(",")
    assert "agents_started" not in header and len(header) == len(set(header))


def test_nothing_is_wider_than_a_telephone(run, record, browser, tmp_path, sized):
    deliver = record("deliver.json", program="lmtp-deliver", agents=AGENTS, connection_use=CONNECTIONS, tls=TLS)
    rabid = record("rabid.json", program="rabid", commands=COMMANDS, profile=PROFILE)
    many = [record(f"a-run-with-a-long-name-{number}.json", seed=number, options__sessions=number) for number in range(5)]
    page = tmp_path / "report.html"
    for files in [[deliver, rabid], many, [record()], [deliver], [rabid], many[:2]][:sized(2, None)]:
        run(*files, "--html", page, "--force")
        assert browser.too_wide_on_a_telephone(page) == ""


@pytest.mark.parametrize("harm, tile, loud", [
    ({"corrupt": 3, "duplicate": 2}, "bad\"><dt>integrity</dt><dd>3 corrupt, 2 duplicate, 5,003 checked", 2),
    ({"corrupt": 0, "duplicate": 0}, "good\"><dt>integrity</dt><dd>all whole, 5,000 checked", 0)])
def test_a_readers_page_begins_with_whether_mail_is_whole(run, tmp_path, harm, tile, loud):
    made = sample_records.record(program="rabid", integrity={"verified": 5000, "foreign": 0, **harm})
    made["options"].update({"server": "127.0.0.1:110", "imap-percent": "50", "loop": "closed"})
    made["title"] = "Maildir <1>"
    page = run(sample_records.write(tmp_path / "rabid.json", made), "--html", "-").stdout
    assert tile in page and page.count("remark bad loud") == loud
    assert page.index("remark bad") == page.index("remark bad loud" if loud else "remark bad")
    assert "127.0.0.1:110, 50 % over IMAP, 12 sessions, closed loop, sizes uniform:0..10K, no TLS" in page
    assert page.index("Maildir &lt;1&gt;") < page.index("127.0.0.1:110, 50 %")
    assert page.index('id="headline"') < page.index('id="thresholds"') < page.index('id="chart-rate"')


@pytest.mark.parametrize("size, told", [
    ("uniform:0,10240", "sizes from 0 B to 10.0 KiB"), ("fixed:5120", "5.0 KiB each"), ("lognormal:4096,1", "sizes lognormal:4096,1"),
    ("uniform:7", "sizes uniform:7"), ("uniform:,", "sizes uniform:,"), ("fixed:", "sizes fixed:")])
def test_sizes_are_told_in_words(run, tmp_path, size, told):
    made = sample_records.record()
    made["options"]["size"] = size
    assert told + ", no TLS" in run(sample_records.write(tmp_path / "run.json", made), "--html", "-").stdout
