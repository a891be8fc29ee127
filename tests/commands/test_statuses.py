# SPDX-License-Identifier: GPL-3.0-or-later
"""Exit statuses 0 to 4, the configuration file, the forms of the log."""
import json
import os
import re
import time

import pytest

from support.postal import HEADER, check_books, run
from support.process import dead_socket, free_port


def test_0_done(bhm, postal, users_file):
    done = postal("--messages", "10", bhm().endpoint, users_file(2))
    check_books(done)
    assert done.total("messages") == 10


def test_1_bad_parameters(postal, users_file):
    postal("-c", "none", "127.0.0.1:1", users_file(2), status=1)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_2_disk_full(bhm, programs, users_file):
    done = run([programs.postal, "--record", "/dev/full", "--messages", "10", bhm().endpoint, users_file(2)])
    assert done.status == 2
    assert "/dev/full" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_2_nowhere_to_print(bhm, programs, users_file):
    import subprocess
    with open("/dev/full", "wb") as full:
        done = subprocess.run([programs.postal, "--messages", "10", bhm().endpoint, users_file(2)], stdout=full,
                              stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 2, done.stderr


def test_3_threshold_not_met(bhm, postal, users_file):
    words = ["--messages", "20", "--threshold", "p99(message)<1ns", "--threshold", "errors==0"]
    done = postal(*words, bhm().endpoint, users_file(2), status=3)
    assert [(entry["expression"], entry["passed"]) for entry in done.record["thresholds"]] == [
        ("p99(message)<1ns", False), ("errors==0", True)]
    assert "p99(message)<1ns" in done.stderr


def test_0_thresholds_met(bhm, postal, users_file):
    done = postal("--messages", "20", "--threshold", "p99(message)<1m", "--threshold", "messages>=20",
                  bhm().endpoint, users_file(2))
    assert all(entry["passed"] for entry in done.record["thresholds"])


@pytest.mark.parametrize("place", ["127.0.0.1:{port}", "[::1]:{port}", "unix:{folder}/nobody"])
def test_4_target_never_answered(postal, users_file, folder, place):
    dead_socket(folder / "nobody")
    begun = time.monotonic()
    done = postal("-t", "2", "--duration", "1s", place.format(port=free_port(), folder=folder), users_file(2), status=4)
    assert time.monotonic() - begun < 15
    check_books(done)
    assert done.total("messages") == 0
    assert {error["stage"] for error in done.record["errors"]} <= {"connect", "resolve"}
    assert done.total("errors") > 0
    assert done.total("connections") == 0
    # a back-off from 100 ms: a second holds few attempts
    assert done.total("errors") <= 2 * 12


def test_only_refusals_are_status_4(bhm, postal, users_file):
    hole = bhm(users_file(["other@example.com"]))
    done = postal("--messages", "10", hole.endpoint, users_file(2), status=4)
    check_books(done)
    assert done.total("rejected") == 10
    assert [(error["stage"], error["code"], error["enhanced"], error["count"]) for error in done.record["errors"]] == [
        ("rcpt", 550, "5.1.1", 10)]
    assert len(done.stderr.splitlines()) < 40, "equal errors are said once"


def test_configuration_file_and_command_line(bhm, postal, users_file, folder):
    settings = folder / "settings.toml"
    settings.write_text('messages = 7\nrecipients = "2"\nseed = 99\npipelining = "off"\n')
    hole = bhm()
    done = postal("--config", settings, hole.endpoint, users_file(5))
    assert (done.total("messages"), done.total("recipients"), done.record["seed"]) == (7, 14, 99)
    done = postal("--config", settings, "--messages", "3", hole.endpoint, users_file(5))
    assert (done.total("messages"), done.total("recipients")) == (3, 6)


@pytest.mark.parametrize("text, line", [("messages = 1\nmesages = 2\n", 2), ("messages = \n", 1),
                                        ('\nrate = "quick"\n', 2), ("messages = [1, 2]\n", 1), ("messages = 1\n[tls]\nx=1\n", 2)])
def test_mistakes_in_the_configuration_file(postal, users_file, folder, text, line):
    settings = folder / "settings.toml"
    settings.write_text(text)
    done = postal("--config", settings, "127.0.0.1:1", users_file(2), status=1)
    assert len(done.stderr.splitlines()) == 1
    assert f"{settings}:{line}" in done.stderr


def test_log_as_the_original_wrote_it(bhm, postal, users_file):
    done = postal("--rate", "200/s", "--duration", "3s", "--interval", "1s", "-c", "5", bhm().endpoint, users_file(5))
    check_books(done)
    header, *rows = done.stdout.splitlines()
    assert header == HEADER
    assert len(rows) in (3, 4)
    for row in rows:
        assert re.fullmatch(r"\d\d:\d\d:\d\d,\d+,\d+,0,\d+,0", row)
    assert sum(interval["messages"] for interval in done.record["intervals"]) == done.total("messages")


def test_whole_minutes_have_no_seconds(bhm, postal, users_file):
    done = postal("--messages", "5", bhm().endpoint, users_file(5))
    assert re.fullmatch(r"\d\d:\d\d,5,\d+,0,\d+,0", done.stdout.splitlines()[1])


def test_extended_log_adds_columns(bhm, postal, users_file):
    done = postal("--messages", "50", "--log-format", "extended", bhm().endpoint, users_file(5))
    header, *rows = done.stdout.splitlines()
    assert header.startswith(HEADER + ",")
    assert all(len(row.split(",")) == len(header.split(",")) for row in rows)


def test_json_lines_log(bhm, postal, users_file):
    done = postal("--messages", "50", "--log-format", "jsonl", bhm().endpoint, users_file(5))
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert sum(row["messages"] for row in rows) == 50


def test_record_on_standard_output(bhm, programs, users_file):
    done = run([programs.postal, "--record", "-", "--messages", "5", "--log-format", "jsonl", bhm().endpoint, users_file(5)])
    assert done.status == 0
    record = json.loads(done.stdout.splitlines()[-1])
    assert record["schema"] == "postal-record/1"
    assert record["totals"]["messages"] == 5


def test_no_live_line_unless_asked(bhm, postal, users_file):
    hole = bhm()
    words = ["--rate", "200/s", "--duration", "2s", "--interval", "1s", hole.endpoint, users_file(5)]
    assert "\r" not in postal(*words).stderr
    assert "\r" in postal("--progress", *words).stderr


def test_transcript_is_in_the_record(bhm, postal, users_file, folder):
    done = postal("-z", folder / "log", "--messages", "3", "--seed", "1", bhm().endpoint, users_file(2))
    assert done.record["transcript"] is True
    [path] = folder.glob("log:*")
    text = path.read_text(errors="replace")
    for word in ("EHLO ", "MAIL FROM:<", "RCPT TO:<", "QUIT", "220 ", "250 ", "221 "):
        assert word in text, word
    assert postal("--messages", "3", bhm().endpoint, users_file(2)).record["transcript"] is False


def test_transcript_for_each_connection(bhm, postal, users_file, folder):
    done = postal("-Z", folder / "log", "-c", "1", "--messages", "3", bhm().endpoint, users_file(2))
    assert len(list(folder.glob("log:*:*"))) == done.total("connections") == 3


@pytest.mark.parametrize("option", ["-z", "-Z"])
def test_a_transcript_that_is_cut_is_a_failed_run(bhm, postal, users_file, folder, option):
    """On a full disk; the record is written all the same."""
    (folder / "log:0").symlink_to("/dev/full")
    (folder / "log:0:1").symlink_to("/dev/full")
    done = postal(option, folder / "log", "--force", "--messages", "3", bhm().endpoint, users_file(2), status=2)
    assert done.total("messages") == 3
    assert re.search(r"^postal: .*log:0(:1)?: cannot write the transcript: No space left on device$", done.stderr, re.MULTILINE)


def test_a_servers_transcript_that_is_cut_is_a_failed_run(bhm, postal, users_file, folder):
    (folder / "log:0").symlink_to("/dev/full")
    hole = bhm("-z", folder / "log", "--force")
    postal("--messages", "3", hole.endpoint, users_file(2))
    done = hole.stop(status=2)
    assert done.total("messages") == 3
    assert "log:0: cannot write the transcript: No space left on device" in done.stderr


def test_connections_only(bhm, postal, users_file):
    """-c 0 connects and quits."""
    hole = bhm()
    done = postal("-c", "0", "-t", "2", "--duration", "1s", hole.endpoint, users_file(2), status=None)
    assert done.total("messages") == 0
    assert done.total("connections") > 10
    assert done.total("errors") == 0
    assert done.status == 0
    # at the end each of the two sessions may have been connecting still
    assert 0 <= hole.stop().total("connections") - done.total("connections") <= 2
