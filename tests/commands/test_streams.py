# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a run's words go: the record and the log through pipes, and what Ctrl-C leaves behind."""
import errno
import fcntl
import json
import os
import re
import signal
import socket
import struct
import subprocess
import termios

import pytest

from support.postal import HEADER, run
from support.process import wait_until
from support.watched import Sending

SMALL = ("-m", "1", "-M", "1")
RFC_3339 = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
WAITS = r"stopping: waits for (\d+ connections? to finish what (it|they) began|what was begun), at most 10s; again to end at once"


@pytest.fixture
def briefly(programs, bhm, users_file):
    """The command line of a short run of a program, with what it needs."""
    hole, users, logins = bhm(), users_file(2), users_file(["reader@example.com secret"])
    words = {"postal": ["--messages", "5", *SMALL, hole.endpoint, users],
             "rabid": ["--connections", "1", "--timeout", "1s", hole.endpoint, logins],
             "bhm": ["--listen", "127.0.0.1:0", "--duration", "300ms"],
             "lmtp-deliver": ["--listen", "127.0.0.1:0", "--allow-root-agent", "--agent", "/bin/true", "--duration", "300ms"]}
    path = {"postal": programs.postal, "rabid": programs.rabid, "bhm": programs.bhm, "lmtp-deliver": programs.lmtp_deliver}
    return lambda name, *more: [str(word) for word in (path[name], *more, *words[name])]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize("name", ["postal", "rabid", "bhm", "lmtp-deliver"])
def test_a_record_has_standard_output_for_itself(programs, briefly, name, form):
    done = run(briefly(name, "--record", "-", "--log-format", form))
    assert json.loads(done.stdout)["program"] == name
    assert len(done.stdout.splitlines()) == 1
    shown = subprocess.run([programs.postal_report, "-"], input=done.stdout.encode(), capture_output=True, timeout=30, check=False)
    assert shown.returncode == 0 and shown.stdout.startswith(name.encode()), shown.stderr
    log = [line for line in done.stderr.splitlines() if line.startswith(HEADER if form == "csv" else '{"time":')]
    assert log, done.stderr
    if form == "jsonl":
        assert all(re.fullmatch(RFC_3339, json.loads(line)["time"]) for line in log)


def on_terminal(columns, stream, words):
    """What a command writes to that stream when it is a terminal of so many columns."""
    ours, its = os.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with subprocess.Popen(words, env=environment, **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: its}) as process:
        os.close(its)
        text = b""
        try:
            while octets := os.read(ours, 65536):
                text += octets
        except OSError as ended:  # how Linux tells that nobody has the other side any more
            assert ended.errno == errno.EIO
        assert process.wait(30) == 0
    os.close(ours)
    return text.decode().replace("\r\n", "\n").rpartition("\r\033[K")[2]


def test_lines_fit_a_terminal_and_stay_whole_elsewhere(programs, briefly, folder):
    record = folder / "run.json"
    words = briefly("postal", "--record", record, "--threshold", "errors<1", "--force")
    whole = run(words).stderr
    outcomes = re.search(r"(?m)^  outcomes  .*started$", whole)
    assert outcomes and len(outcomes[0]) > 60
    table = [line for line in whole.splitlines() if re.match(r"  (latency|message) ", line)]
    assert table and all(len(line) <= 80 for line in table)
    summary = on_terminal(60, "stderr", words)
    assert "  outcomes " in summary and "started" in summary
    assert all(len(line) <= 60 for line in summary.splitlines()), summary
    assert summary.split() and "5 accepted" in " ".join(summary.split())
    report = [programs.postal_report, record]
    # A path that is longer than its column stays whole.
    wide = [line for line in on_terminal(60, "stdout", report).splitlines() if len(line) > 60 and max(map(len, line.split())) <= 30]
    assert wide == [], on_terminal(60, "stdout", report)
    assert max(map(len, run(report).stdout.splitlines())) > 60


def closed_pipe():
    reading, writing = os.pipe()
    os.close(reading)
    return writing


@pytest.mark.parametrize("name", ["postal", "rabid", "bhm", "lmtp-deliver"])
def test_a_log_that_nobody_reads_is_one_line(briefly, name):
    pipe = closed_pipe()
    done = subprocess.run(briefly(name), stdout=pipe, stderr=subprocess.PIPE, timeout=30, check=False)
    os.close(pipe)
    assert done.returncode == 2
    about = [line for line in done.stderr.decode().splitlines() if "write" in line or "output" in line]
    assert about == [f"{name}: cannot write the interval log: Broken pipe"], done.stderr


def test_a_result_that_nobody_reads_is_no_line(programs, briefly, folder):
    record = folder / "run.json"
    assert run(briefly("postal", "--record", record)).status == 0
    # More than a buffer's worth, and less.
    for words in ([programs.postal_report, *[record] * 60, "--csv"], [programs.postal_report, record], [programs.postal, "--help"],
                  [programs.postal_report, "--html", "-", record]):
        pipe = closed_pipe()
        done = subprocess.run(words, stdout=pipe, stderr=subprocess.PIPE, timeout=30, check=False)
        os.close(pipe)
        assert done.returncode == 2
        assert done.stderr in (b"", b"postal-report: standard output: cannot be written: Broken pipe\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_is_named(programs, briefly, folder):
    record = folder / "run.json"
    assert run(briefly("postal", "--record", record)).status == 0
    for words in ([programs.postal_report, *[record] * 60, "--csv"], [programs.postal_report, record]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, timeout=30, check=False)
        assert done.returncode == 2
        assert done.stderr == b"postal-report: cannot write to standard output: No space left on device\n"


def test_ctrl_c_in_a_pipeline(programs, bhm, users_file, folder):
    """A terminal sends the signal to both, and the record is written after it."""
    hole = bhm()
    words = [programs.postal, "--record", "-", *SMALL, "--duration", "60s", "--interval", "100ms", hole.endpoint, users_file(2)]
    log = folder / "log"
    with open(log, "wb") as errors, \
            subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors) as sending, \
            subprocess.Popen([programs.postal_report, "-"], stdin=sending.stdout, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE) as reading:
        sending.stdout.close()
        try:
            wait_until(lambda: log.read_text().count("\n") > 2, "two intervals")
            wait_until(lambda: ignores(reading.pid, signal.SIGINT), "postal-report to wait for the record")
            reading.send_signal(signal.SIGINT)
            sending.send_signal(signal.SIGINT)
            shown, said = reading.communicate(timeout=30)
            assert sending.wait(30) == 0 and reading.returncode == 0, said
        finally:
            for one in (sending, reading):
                one.kill()
    assert re.search(WAITS, log.read_text())
    describes, remark = shown.decode().splitlines()[:2]
    assert describes.endswith(", ended by a signal")
    assert remark.startswith("! Interrupted by SIGINT after ") and "before the run's own end" in remark


def ignores(pid, number):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        mask = next(line for line in status if line.startswith("SigIgn:"))
    return int(mask.split()[1], 16) >> (number - 1) & 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_interrupts_is_told_what_is_waited_for(programs, bhm, users_file, folder, number):
    hole = bhm()
    with Sending(programs.postal, folder, *SMALL, "-t", "3", "--duration", "60s", "--interval", "100ms", hole.endpoint,
                 users_file(2)) as sending:
        wait_until(lambda: sending.process.stdout.count("\n") > 2, "two intervals")
        sending.signal(number)
        done = sending.wait()
    assert done.status == 0
    assert len(re.findall(WAITS, done.stderr)) == 1, done.stderr
    assert "abandoned" not in done.stderr and "interrupted before its end" in done.stderr
    assert done.record["ended"] == "signal"
    interrupted = done.record["interrupted"]
    assert interrupted.pop("at_s") == pytest.approx(done.record["duration_s"], abs=5)
    assert interrupted == {"signal": number.name, "early": True, "cut_short": False}


def test_a_second_signal_says_what_is_abandoned(programs, users_file, folder):
    with socket.create_server(("127.0.0.1", 0)) as silent, \
            Sending(programs.postal, folder, *SMALL, f"127.0.0.1:{silent.getsockname()[1]}", users_file(2)) as sending:
        client, _ = silent.accept()
        with client:
            client.sendall(b"220 it says no more\r\n")
            assert client.recv(100).startswith(b"EHLO"), "its session has begun"
            sending.signal(signal.SIGINT)
            wait_until(lambda: re.search(WAITS, sending.process.stderr), "the first to be heard")
            sending.signal(signal.SIGINT)
            done = sending.wait()
    assert "postal: what is still in flight is abandoned" in done.stderr.splitlines()
    interrupted = done.record["interrupted"]
    assert not interrupted["early"], "it had no end of its own"
    assert interrupted["cut_short"]
    shown = run([programs.postal_report, sending.record_path])
    assert "Interrupted by SIGINT" in shown.stdout and "abandoned" in shown.stdout


def test_servers_say_it_too_and_end_as_they_should(bhm, lmtp_deliver):
    for server in (bhm(), lmtp_deliver("/bin/true")):
        done = server.stop()
        assert re.search(WAITS, done.stderr), done.stderr
        assert done.record["ended"] == "signal"
        interrupted = done.record["interrupted"]
        assert not interrupted["early"] and not interrupted["cut_short"]
