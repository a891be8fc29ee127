# SPDX-License-Identifier: GPL-3.0-or-later
"""How soon somebody is told beside what it costs: experiments whose programs share a ledger, against Dovecot, and against
one behind a proxy that keeps every announcement to itself."""
import csv
import json
import re
import socket

import pytest

from conftest import login_names
from support.postal import run
from support.swallowing import SwallowingProxy

pytestmark = [pytest.mark.serial, pytest.mark.beside_others]

TOLD = """\
title = "who is told"
[load]
duration = "{duration}"
warmup = "{warmup}"
blocks = {blocks}
seed = 7
ledger = true
linger = "8s"
[[load.program]]
name = "delivery"
argv = ["postal", "-L", "-c", "-1", "-M", "1", "-m", "1", "--open-loop", "--rate", "10/s", "{lmtp}", "${{experiment}}/users"]
[[load.program]]
name = "waiting"
argv = ["rabid", "-p", "3", "-i", "100", "--watch", "25m", "-d", "100:0", "--imap", "${{imap}}", "${{imap}}", "${{experiment}}/logins"]
[verdict]
metric = "announced_p50"
[variables]
imap = "{imap}"
[[variant]]
name = "told"
[[variant]]
name = "deaf"
variables = {{ imap = "{deaf}" }}
"""


def told(experiment, server, deaf, text=TOLD, **parts):
    made = experiment(text, **{"duration": "3s", "warmup": "0s", "blocks": 1, **parts}, lmtp=server.endpoint, imap=server.imap, deaf=deaf)
    (made.folder / "users").write_text("\n".join(server.users) + "\n")
    (made.folder / "logins").write_text("\n".join(login_names(server.users)) + "\n")
    return made


@pytest.mark.begins_first
def test_who_never_tells_is_worst(experiment, dovecot, programs):
    server = dovecot(3, reading=True)
    with SwallowingProxy(server.imap) as proxy:
        ended = told(experiment, server, proxy.endpoint, duration="6s", warmup="4s").run()
    assert ended.status in (0, 4), ended.stderr
    record = experiment.record
    assert [state for *_, state in experiment.runs] == ["complete"] * 2 and experiment.blocks() == {1: None}, ended.stderr
    accounts = {each["variant"]: json.loads((experiment.results / each["announced"]["path"]).read_text()) for each in record["runs"]}
    for run_of, account in accounts.items():
        sent = next(experiment.load(kept) for each in record["runs"] if each["variant"] == run_of for kept in each["loads"]
                    if kept["name"] == "delivery")
        # What is accepted while the last seconds of the warm-up are is left out of both, with clocks that differ by little.
        assert account["schema"] == "postal-announced/1" and 0 < account["accepted"] <= sent["totals"]["started"]
    # By then sessions are there; whoever has none, on a machine that others had, is told of nothing, and that is never.
    assert accounts[1]["announced"] == 0 <= accounts[0]["announced"] <= accounts[0]["accepted"]
    if accounts[0]["announced"] * 2 <= accounts[0]["accepted"]:
        pytest.skip("others had the machine: Dovecot told of less than half")
    first = record["analysis"]["metrics"][0]
    assert first["metric"] == "announced_p50" and first["typical"][0] > 0 and first["typical"][1] is None
    assert first["typical_never"] == [1] and first["never"] == [[1]] and first["comparisons"][0]["never"] == [1, 0]
    assert re.search(r'"deaf" against "told", from 250 to announced: p50 \S+ (µs|ms|s) -> never, p99 .+ -> never', ended.stdout)
    # The sessions that were told nothing of were open all the same, and their run counts.
    assert experiment.verify().status == 0
    report = run([programs.postal_report, "--csv", experiment.results])
    rows = {row["variant"]: row for row in csv.DictReader(report.stdout.splitlines())}
    assert rows["deaf"]["delivery.announced_p50_us"] == rows["deaf"]["delivery.announced_p99_us"] == "never"
    assert float(rows["told"]["delivery.announced_p50_us"]) > 0 and rows["told"]["delivery.idle_cpu_ms_a_second_1000_sessions"] == ""
    page = run([programs.postal_report, "--markdown", experiment.results])
    assert "never in 1 of 1 of" in page.stdout and re.search(r"p50 [^,]* -\S*> never", page.stdout)
    assert experiment.left() == []


@pytest.mark.begins_first
def test_who_lets_no_reader_in_tells_nobody_of_anything(experiment, dovecot):
    """Neither the errors of such readers nor their sessions leave out the run."""
    server = dovecot(3, reading=True)
    with socket.socket() as shut:
        shut.bind(("127.0.0.1", 0))
        ended = told(experiment, server, f"127.0.0.1:{shut.getsockname()[1]}", duration="3s").run()
    assert ended.status in (0, 4), ended.stderr
    assert [state for *_, state in experiment.runs] == ["complete"] * 2 and experiment.blocks() == {1: None}, ended.stderr
    assert 1 in experiment.record["analysis"]["metrics"][0]["typical_never"]
    assert "readers that wait went wrong, and count all the same: what they were not told of is never" in ended.stdout
    assert experiment.verify().status == 0 and experiment.left() == []


@pytest.mark.begins_first
def test_an_account_that_was_changed_is_noticed(experiment, dovecot):
    server = dovecot(3, reading=True)
    assert told(experiment, server, server.imap, duration="1s").run().status in (0, 4)
    path = experiment.results / experiment.record["runs"][0]["announced"]["path"]
    whole = path.read_text()
    for wrong, said in ((whole.replace('"announced": ', '"announced": 1'), "times is not of as many messages"), ("{", "parse error"), ("", "parse error")):
        path.write_text(wrong)
        verified = experiment.verify()
        assert verified.status == 3 and "announced.json: is not what the run wrote" in verified.stdout and said in verified.stdout
    path.write_text(whole)
    assert experiment.verify().status == 0


def test_who_watches_by_a_file_of_its_own_would_not_linger(experiment, dovecot):
    server = dovecot(3, reading=True)
    more = TOLD.replace("[verdict]", """[[load.program]]
name = "unseen"
argv = ["rabid", "--config", "${{experiment}}/rabid.toml", "-p", "1", "-i", "100", "-d", "100:0", "--imap", "{imap}", "{imap}",
        "${{experiment}}/logins"]
[verdict]""")
    made = told(experiment, server, server.imap, text=more, duration="1s")
    (made.folder / "rabid.toml").write_text('watch = "25m"\n')
    made.run()
    assert 'load "unseen" watches by a file of its own, and so did not linger' in experiment.record["runs"][0]["reason"]
