# SPDX-License-Identifier: GPL-3.0-or-later
"""--samples: a line for each message that was started, which says of it what the record says of all; and the same from a ledger."""
import csv
import gzip
import io
import subprocess
import zlib

import pytest

from support.behaviours import rule
from support.postal import refused, run
from support.process import Process, wait_until
from support.watched import OUTCOMES

OUTCOME_NAMES = {"messages": "accepted", **{name: name for name in OUTCOMES if name != "messages"}}
TROUBLE = (rule("rcpt", 'reply = "550 5.1.1 nobody of that name"', 'probability = "10%"')
           + rule("end", 'reply = "451 4.2.0 not now"', 'probability = "20%"', "not now")
           + rule("end", 'close = "rst"', 'probability = "5%"', "cut"))
HEADER = "t_s session sequence outcome code octets late_us envelope_us data_us service_us message_us".split()


def samples(path):
    octets = path.read_bytes()
    text = (gzip.decompress(octets) if path.suffix == ".gz" else octets).decode()
    assert text.endswith("\n")
    lines = csv.DictReader(io.StringIO(text))
    assert lines.fieldnames == HEADER
    return list(lines)


def of(outcome, lines):
    return [line for line in lines if line["outcome"] == outcome]


def check_against_record(lines, record):
    totals = record["totals_with_warmup"]
    assert len(lines) == totals["started"]
    assert {name: len(of(word, lines)) for name, word in OUTCOME_NAMES.items()} == {name: totals[name] for name in OUTCOME_NAMES}
    assert sum(int(line["octets"]) for line in of("accepted", lines)) == totals["bytes"]
    for line in lines:
        assert float(line["message_us"]) == pytest.approx(float(line["late_us"]) + float(line["service_us"]), abs=0.21)
        assert bool(line["data_us"]) == bool(line["envelope_us"]) == (line["outcome"] == "accepted")


def rank(values, q):
    """The value of rank ⌈q·n⌉."""
    ordered = sorted(values)
    return ordered[-(-len(ordered) * q // 100) - 1]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", ["samples.csv", "samples.csv.gz"])
@pytest.mark.parametrize("words", [(), ("--pipelining", "overlap"), ("--chunking", "auto", "--in-flight", "4"), ("--recipients", "1..3"),
                                   ("-L", "--recipients", "2")], ids=["plain", "overlap", "chunked", "several", "lmtp"])
def test_each_message_has_a_line(behaving, postal, users_file, folder, name, words):
    hole = behaving(TROUBLE, *(("--lmtp",) if "-L" in words else ()))
    path = folder / name
    sent = postal("-t", "4", "-c", "-1", "--messages", "600", "--max-size", "3", *words, "--samples", path, hole.endpoint, users_file(20))
    lines = samples(path)
    assert sent.total("in_doubt") > 0 and sent.total("rejected") > 0 and sent.total("deferred") > 0
    check_against_record(lines, sent.record)
    assert {line["code"] for line in of("rejected", lines)} == {"550"}
    assert {line["code"] for line in of("deferred", lines)} == {"451"}
    assert {line["code"] for line in of("in_doubt", lines)} == {""}
    units = {(line["session"], line["sequence"]) for line in lines}
    assert len(units) == len(lines) if "-L" not in words else len(units) < len(lines)
    times = [float(line["t_s"]) for line in lines]
    assert 0 <= min(times) and max(times) <= sent.record["duration_s"] + sent.record["intervals"][-1]["t_s"]


def test_percentiles_are_the_records(behaving, postal, users_file, folder):
    """Two sessions do not carry what is due, so that messages begin late."""
    hole = behaving(rule("end", 'delay = "3ms..9ms"'))
    path = folder / "samples.csv"
    sent = postal("-t", "2", "-c", "-1", "--rate", "400/s", "--open-loop", "--duration", "2s", "--samples", path, hole.endpoint, users_file(5))
    lines = of("accepted", samples(path))
    check_against_record(samples(path), sent.record)
    for column, phase in (("service_us", "service"), ("data_us", "data"), ("envelope_us", "envelope")):
        latency = sent.record["latency_us"][phase]
        assert latency["count"] == len(lines)
        for q in (50, 90, 99):
            assert rank([float(line[column]) for line in lines], q) == pytest.approx(latency[f"p{q}"], rel=0.01)
    assert max(float(line["late_us"]) for line in lines) > 10_000


@pytest.mark.parametrize("replies, outcome, code", [
    (["552 5.2.2 over quota"], "rejected", "552"), (["452 4.2.2 full"], "deferred", "452"),
    (["452 4.2.2 full", "550 5.1.1 nobody"], "deferred", "452"), (["550 5.1.1 nobody", "452 4.2.2 full"], "deferred", "452")])
def test_the_code_of_refused_recipients_is_the_servers(behaving, postal, users_file, folder, replies, outcome, code):
    rules = "".join(f'[[rule]]\nrecipient = "user{number}@example.com"\n[rule.rcpt]\nreply = "{reply}"\n'
                    for number, reply in enumerate(replies))
    path = folder / "samples.csv"
    postal("-t", "1", "--messages", "3", "--recipients", str(len(replies)), "--samples", path, behaving(rules).endpoint,
           users_file(len(replies)), status=4)
    assert [(line["outcome"], line["code"]) for line in samples(path)] == [(outcome, code)] * 3


def test_an_envelope_counts_whoever_is_refused_first(behaving, postal, users_file, folder):
    """Over LMTP once for each transaction of which a recipient was accepted."""
    hole = behaving('[[rule]]\nrecipient = "user1@example.com"\n[rule.end]\nreply = "452 4.2.2 full"\n', "--lmtp")
    sent = postal("-L", "-t", "2", "-c", "-1", "--messages", "200", "--recipients", "2", hole.endpoint, users_file(2))
    assert sent.total("messages") == sent.total("deferred") == 100
    assert {sent.record["latency_us"][phase]["count"] for phase in ("envelope", "data", "message")} == {100}


def test_a_ledger_lists_the_same(behaving, postal, programs, users_file, folder):
    hole = behaving(TROUBLE, "--lmtp", "--ledger", folder / "mail.ledger")
    path = folder / "samples.csv"
    sent = postal("-L", "-t", "4", "-c", "-1", "--messages", "300", "--recipients", "1..3", "--max-size", "2", "--samples", path,
                  "--ledger", folder / "mail.ledger", hole.endpoint, users_file(20))
    hole.stop()
    done = subprocess.run([programs.postal_report, "--ledger", folder / "mail.ledger", "--list", "all", "--csv"], capture_output=True,
                          text=True, check=True)
    listed = list(csv.DictReader(io.StringIO(done.stdout)))
    keys = ("session", "sequence", "outcome", "code")
    assert sorted(tuple(line[key] for key in keys) for line in listed) == sorted(
        tuple(line[key] for key in keys) for line in samples(path))
    assert all(line["run"] == sent.record["options"]["run"] for line in listed)
    seen = [line for line in listed if line["seen"]]
    assert {line["outcome"] for line in seen} == {"accepted"} and len(seen) == sent.total("messages")
    assert all(line["condition"] == "verified" and line["mailbox"] == line["recipient"] for line in seen)


def test_what_is_there_is_kept(programs, bhm, users_file, folder):
    hole, users = bhm(), users_file(3)
    path = folder / "precious.gz"
    words = [programs.postal, "--messages", "3", "--samples", path, hole.endpoint, users]
    for content in (b"precious\n", gzip.compress(b"precious\n" * 100), b"\x1f\x8b\x08broken"):
        path.write_bytes(content)
        refused(run(words), "--samples: ", path)
        assert path.read_bytes() == content
    path.unlink()
    for _ in range(2):  # its own is replaced
        assert run(words).status == 0
        assert len(samples(path)) == 3
    refused(run([programs.postal, "--messages", "3", "--samples", "-", hole.endpoint, users]), "--samples: ")


@pytest.mark.parametrize("name", ["samples.csv", "samples.csv.gz"])
def test_a_killed_run_leaves_what_it_had_written(programs, bhm, users_file, folder, name):
    """At a rate that fills no buffer in the time of the test."""
    path = folder / name
    sender = Process([programs.postal, "-c", "-1", "--rate", "20/s", "--duration", "60s", "--samples", path, bhm().endpoint, users_file(3)],
                     folder, "postal")

    def lines():
        octets = path.read_bytes() if path.exists() else b""
        if path.suffix == ".gz":
            octets = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(octets)
        return octets.decode().splitlines()
    wait_until(lambda: len(lines()) > 20, lambda: f"lines to come while the run goes on: {lines()}")
    sender.kill()
    assert lines()[0].split(",") == HEADER
    assert all(len(line.split(",")) == len(HEADER) for line in lines())


def test_a_full_disk(postal, bhm, users_file):
    sent = postal("-t", "2", "-c", "-1", "--messages", "400", "--samples", "/dev/full", bhm().endpoint, users_file(3), status=2)
    assert "--samples: /dev/full: No space left on device" in sent.stderr
    assert sent.total("messages") == 400
