# SPDX-License-Identifier: GPL-3.0-or-later
"""--queue: a real Postfix whose deliveries are held back, counted in its folders and by its own postqueue."""
import json
import pathlib
import shutil
import subprocess

import pytest

from support.behaviours import rule
from support.postal import read_record, refused, run
from support.process import wait_until
from support.ranks import Ranks, mpirun_argv
from support.scraping import place_of, scrape

PARTS = ("maildrop", "incoming", "active", "deferred", "hold")
# The receiver answers each message after so long that next to none is delivered while the load goes on.
SLOW = rule("data", 'delay = "60s"')
BUSY = rule("rcpt", 'reply = "450 4.2.0 come again"')
DURATION_S = 6


@pytest.fixture
def held_back(behaving, postfix, folder):
    """held_back(rules) is a Postfix before a receiver with these rules."""
    def start(rules, **settings):
        hole = behaving(rules)
        return postfix(f"smtp:[127.0.0.1]:{hole.endpoint.rpartition(':')[2]}", smtp_connection_cache_on_demand="no", **settings)
    return start


def source(record, name):
    return next(one for one in record["samples"] if one["name"] == name)


def series(record, name):
    """Its figures by name, of all sources."""
    return {one["name"]: one for each in record["samples"] for one in each["series"]}[name]


def in_queue(relay):
    """By queue, as Postfix itself says."""
    listed = subprocess.run(["postqueue", "-c", relay.folder, "-j"], capture_output=True, text=True, check=True, timeout=60).stdout
    names = [json.loads(line)["queue_name"] for line in listed.splitlines()]
    return {part: names.count(part) for part in PARTS}


def send(postal, relay, users_file, *words, **keywords):
    return postal("-t", "2", "--rate", "40/s", "--duration", f"{DURATION_S}s", "--interval", "1s", "--max-size", "2",
                  "--queue", f"postfix:{relay.queue}", "--sample-every", "200ms", *words, relay.endpoint, users_file(20), **keywords)


def test_what_waits_is_what_postfix_says(held_back, postal, users_file):
    relay = held_back(SLOW)
    sent = send(postal, relay, users_file, "--threshold", "max(queue)<1000000", "--threshold", "last(postfix hold)<1")
    there = in_queue(relay)
    queue, hold = sent.record["thresholds"]
    assert (queue["value"], queue["passed"]) == (series(sent.record, "postfix")["highest"], True)
    assert (hold["value"], hold["passed"]) == (0, True)
    assert sent.status == 0 and sent.total("messages") > 100
    sampled = source(sent.record, "postfix")
    assert sampled["source"] == f"postfix:{relay.queue}" and sampled["missed"] == 0 and sampled["missed_why"] is None
    assert [one["name"] for one in sampled["series"]] == ["postfix", *(f"postfix {part}" for part in PARTS)]
    # The last sample is taken when all is answered; nothing is handed on yet.
    assert {part: series(sent.record, f"postfix {part}")["values"][-1] for part in PARTS} == there
    whole = series(sent.record, "postfix")
    assert whole["waiting"] and whole["unit"] == "messages"
    assert whole["values"][-1] == sum(there.values()) == sent.record["totals_with_warmup"]["messages"]
    assert whole["highest"] == max(whole["values"]) and whole["highest_at_s"] in sampled["t_s"]
    # From the start to after the end, in order; none while one goes on.
    times = sampled["t_s"]
    assert times[0] < 1 and times[-1] >= DURATION_S
    assert times == sorted(times) and len(times) == sampled["taken"] <= DURATION_S / 0.2 + 2
    assert whole["values"] == sorted(whole["values"])
    said = next(line for line in sent.stderr.splitlines() if line.startswith("  queue "))
    assert f"waited in the queue of postfix ({int(whole['values'][-1]):,} when the run ended)" in said
    assert "The queue of postfix grew: " in sent.stderr


def test_deferred_mail_is_counted_in_its_hashed_folders(held_back, postal, users_file):
    relay = held_back(BUSY, hash_queue_depth="2", minimal_backoff_time="1000s")
    sent = send(postal, relay, users_file)
    there = in_queue(relay)
    assert any(len(path.name) == 1 for path in (relay.queue / "deferred").iterdir()), "hashed"
    last = {part: series(sent.record, f"postfix {part}")["highest"] for part in PARTS}
    # Those that were on their way then may be deferred by now.
    assert 0 < last["deferred"] <= there["deferred"]
    assert sum(there.values()) == sent.total("messages") == series(sent.record, "postfix")["values"][-1]


def test_a_queue_that_is_handed_on_does_not_grow(postfix, postal, users_file):
    sent = send(postal, postfix("discard:"), users_file)
    assert "grew" not in sent.stderr
    assert series(sent.record, "postfix")["highest"] < sent.total("messages")


def test_pages_texts_and_metrics_have_it(held_back, postal, programs, users_file, folder, browser, bhm):
    relay = held_back(SLOW)
    sent = send(postal, relay, users_file, "--sample-command", "answer=/bin/echo 42", "--title", "held back")
    path = folder / "run.json"
    path.write_text(json.dumps(sent.record))
    most = int(series(sent.record, "postfix")["highest"])
    for words in ((), ("--markdown",)):
        text = run([programs.postal_report, *words, path]).stdout
        assert f"while up to {most:,} waited in the queue of postfix" in text
        assert "The queue of postfix grew: " in text and "Sampled beside the run" in text
    page = folder / "run.html"
    assert run([programs.postal_report, "--html", page, path]).status == 0
    shown = browser.open(page)
    assert not shown.complaints and shown.charts >= 5
    assert 'id="chart-queue"' in shown.dom and 'id="chart-samples-0"' in shown.dom
    assert browser.too_wide_on_a_telephone(page) == ""
    columns, cells = run([programs.postal_report, "--csv", path]).stdout.splitlines()
    row = dict(zip(columns.split(","), cells.split(",")))
    assert float(row["sample_postfix_active_highest"]) == series(sent.record, "postfix active")["highest"]
    assert float(row["sample_answer_last"]) == 42
    # Another program, which serves, shows the newest of them while it runs.
    hole = bhm("--metrics", "127.0.0.1:0", "--queue", f"postfix:{relay.queue}", "--sample-command", "answer=/bin/echo 42")
    wait_until(lambda: "postal_queue_messages" in scrape(place_of(hole.process)).names, "a sample")
    page = scrape(place_of(hole.process)).values
    assert 0 < page["postal_queue_messages", frozenset({("program", "bhm"), ("name", "postfix")})] <= most
    assert page["postal_sample", frozenset({("program", "bhm"), ("name", "answer")})] == 42


def test_two_instances_have_names_of_their_own(held_back, postfix, postal, users_file, folder):
    first = held_back(SLOW)
    empty = folder / "second"
    (empty / "active").mkdir(parents=True)
    sent = send(postal, first, users_file, "--queue", f"postfix:{empty}")
    assert series(sent.record, f"postfix {first.queue}")["highest"] > 0
    assert series(sent.record, f"postfix {empty} active")["highest"] == 0


@pytest.mark.parametrize("words, said", [
    (("--queue", "qmail"), ("--queue", "postfix, exim, opensmtpd, chasquid or courier")),
    (("--queue", "postfix:"), ("--queue", "postfix:DIRECTORY")),
    (("--queue", "postfix:/nonexistent"), ("--queue postfix: /nonexistent/active: No such file", "give the directory")),
    (("--queue", "exim:/nonexistent"), ("--queue exim: /nonexistent/input",)),
    (("--queue", "opensmtpd:/nonexistent"), ("--queue opensmtpd: /nonexistent/queue",)),
    (("--sample-every", "1s"), ("--sample-every", "give --queue or --sample-command")),
    (("--sample-every", "10ms", "--queue", "postfix"), ("--sample-every", "100ms")),
    (("--sample-command", "x=no-such-program-here"), ("--sample-command x", "no program")),
    (("--sample-command", "x=ls | wc -l"), ("--sample-command", "column 4", "pipe")),
    (("--sample-command", "x=/bin/true", "--sample-command", "x=/bin/true"), ("--sample-command", "twice")),
])
def test_what_cannot_be_sampled_is_refused_before_the_run(programs, users_file, words, said):
    for program in ("postal", "rabid"):
        refused(run([getattr(programs, program), *words, "127.0.0.1:9", users_file(2)]), *said, program=program)
    for program in ("bhm", "lmtp_deliver"):
        more = ("--agent", "/bin/true", "--allow-root-agent") if program == "lmtp_deliver" else ()
        refused(run([getattr(programs, program), *more, "--listen", "127.0.0.1:0", *words]), *said, program=program.replace("_", "-"))


def test_who_may_not_read_the_queue_is_told_who_may(programs, users_file, postfix, tool, folder):
    relay = postfix("discard:")
    folder.chmod(0o755)
    here = folder / "postal"
    shutil.copy(programs.postal, here)
    users = pathlib.Path(users_file(2))
    users.chmod(0o644)
    done = run([tool("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups", here, "--queue", f"postfix:{relay.queue}",
                relay.endpoint, users])
    refused(done, f"--queue postfix: {relay.queue}/", "Permission denied", "run as root, or as postfix")


def test_a_dry_run_tells_what_would_be_sampled(programs, users_file, postfix):
    relay = postfix("discard:")
    told = run([programs.postal, "--dry-run", "--queue", f"postfix:{relay.queue}", "--sample-command", "load=/bin/cat /proc/loadavg",
                "--sample-every", "5s", "127.0.0.1:25", users_file(2)])
    assert told.status == 0
    assert f"samples       the queue of postfix in {relay.queue}, every 5s" in told.stdout
    assert "load: what /bin/cat /proc/loadavg prints, every 5s" in told.stdout


def test_ranks_sample_once(programs, users_file, bhm, tool, folder):
    tool("mpirun")
    hole, path, log = bhm(), folder / "whole.json", folder / "samples"
    script = folder / "one.sh"
    script.write_text(f"#!/bin/sh\necho $$ >> {log}\necho 1\n")
    script.chmod(0o755)
    argv = mpirun_argv(3, [programs.postal, "--record", path, "--duration", "2s", "--rate", "20/s", "--sample-command", f"one={script}",
                           hole.endpoint, users_file(5)])
    with Ranks(argv, folder) as started:
        done = started.finish()
    assert done.status == 0, done.stderr
    record = read_record(path)
    assert record["samples"][0]["taken"] == len(log.read_text().splitlines()) >= 2
    assert done.stderr.count("one: 1 at the end") == 1
    for own in folder.glob("whole.rank-*.json"):
        assert "samples" not in read_record(own)
