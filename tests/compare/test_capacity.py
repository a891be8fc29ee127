# SPDX-License-Identifier: GPL-3.0-or-later
"""Variants compared by the rate that a search finds, of servers that take no more than so many messages a second."""
import pytest

from conftest import login_names
from support.compare import EXPERIMENT
from support.paced_pop3 import PacedPop3

pytestmark = [pytest.mark.serial, pytest.mark.beside_others]

# The first takes 30 messages a second and refuses the rest, the other four times as many.
OPTIONS = '"-t", "10", "-c", "-1", "-m", "1", "--rate", "20/s"'
SEARCHING = EXPERIMENT.replace('"--rate", "6000"', OPTIONS).replace('step = "true"', 'taken = "30/s"')
SEARCHING = SEARCHING.replace("[load]\n", """[capacity]
goal = ["errors<10%;final=3s,sum=9s"]
goal_set = "quick"
width = "100%"
most_rate = "500/s"
[load]
""") + """
variables = {{ taken = "120/s" }}
[[file]]
path = "${{run}}/behaviour.toml"
text = '''
[[rule]]
name = "so many a second"
[rule.end]
rate = "${{taken}}"
burst = 3
reply = "452 4.3.1 Too much for now"
'''
"""
BEHAVING = '[["bhm", "--listen", "127.0.0.1:${port}", "--behaviour", "${run}/behaviour.toml"]]'


def searching(experiment, **parts):
    return experiment(SEARCHING, start=BEHAVING, **parts)


@pytest.mark.begins_first
def test_the_runs_search_and_what_they_found_is_compared(experiment, sized):
    """A search that has little time, or is held up by others on the machine, may end without a rate, which voids the block
    with its sentence."""
    duration = sized("14s", "38s")
    ended = searching(experiment, duration=duration).run()
    record = experiment.record
    assert [state for *_, state in experiment.runs] == ["complete"] * 2, ended.stderr
    table = record["analysis"]["metrics"][0]
    assert table["metric"] == record["verdict"]["metric"] == "capacity" and table["carries_verdict"]
    names = {each["metric"] for each in record["analysis"]["metrics"]}
    assert not names & {"messages", "p50", "p99"}, "of all trials together they say nothing"
    found, sentences = {}, {}
    for run in record["runs"]:
        load = experiment.load(run["loads"][0])
        said = " ".join(load["argv"])
        assert "--find-rate --goal errors<10%;final=3s,sum=9s --goal-set quick --width 100% --most-rate 500/s" in said
        assert "--warmup" not in said
        search = load["capacity"]
        result = search["result"]
        rate = result["goals"][result["limiting"]]["rate"] if result["end"] in {"found", "not_closer"} else None
        assert table["blocks"][0][run["variant"]] == (pytest.approx(rate) if rate else None)
        found[run["variant"]], sentences[run["variant"]] = rate, search["sentence"]
    voided = experiment.blocks()[1]
    if all(found.values()):
        assert voided is None and found[1] > found[0] * 1.3, found
        assert '"two" against "one": no verdict from 1 block; ' in ended.stdout and "/s against " in ended.stdout
    else:
        reasons = [f"delivery: its search ended without a rate: {sentences[each]}" for each in found if not found[each]]
        assert any(reason in voided for reason in reasons), voided
    assert f"searches of {duration[:-1]} s at most" in ended.stdout
    assert experiment.verify().status == 0
    experiment.check_clean()


def test_the_plan_says_how_long_at_most(experiment):
    plan = searching(experiment, blocks=3, duration="2m").run("--plan")
    assert plan.status == 0 and "3 blocks of 2 variants: 6 runs, searches of 2m at most\nAt most 12m, " in plan.stdout


@pytest.mark.parametrize("option", ["--quick", "--classic", "--warmup=1s"])
def test_a_search_has_no_warm_up(experiment, option):
    ended = searching(experiment).run(option)
    assert ended.status == 1 and f"{option.partition('=')[0]}: is for runs at one rate" in ended.stderr
    assert not experiment.results.exists()


# Readers, of which a server lets in ten a second, beside mail that another takes as fast as it comes.
BESIDE = SEARCHING.replace("[variables]", """[[load.program]]
name = "readers"
argv = ["rabid", "-p", "10", "{readers}", "${{experiment}}/accounts"]
[[capacity.beside]]
program = "readers"
goal = ["p50(session)<200ms"]
share = "20%"
[variables]""").replace('taken = "30/s"', 'taken = "1000/s"').replace('"20/s"', '"30/s"')
BESIDE = BESIDE[:BESIDE.index('[[variant]]\nname = "two"')] + BESIDE[BESIDE.index("[[file]]"):]


def test_readers_beside_the_search(experiment):
    with PacedPop3(rate=10) as paced:
        searching_beside = experiment(BESIDE, start=BEHAVING, duration="8s", readers=paced.endpoint)
        accounts = login_names([f"user{number}@example.com" for number in range(20)])
        (experiment.folder / "accounts").write_text("\n".join(accounts) + "\n")
        plan = searching_beside.run("--plan")
        ended = searching_beside.run()
        let_in = paced.let_in
    assert plan.status == 0 and "1 run, searches of 8s at most by delivery, beside readers (20%)\n" in plan.stdout
    record = experiment.record
    assert [state for *_, state in experiment.runs] == ["complete"], ended.stderr
    assert record["programs"] == ["delivery", "readers"] and record["verdict"]["program"] == 0
    sent, read = (experiment.load(kept) for kept in record["runs"][0]["loads"])
    assert "capacity" not in read and "--join-search" in read["argv"] and "--search-socket" in sent["argv"]
    search = sent["capacity"]
    goals = [(goal["promise"], goal.get("flow", 0)) for goal in search["search_goals"]]
    assert goals == [("errors<10%", 0), ("p50(session)<200ms", 1)]
    messages = sum(round(one[part] * one["load"]) for one in search["trials"] for part in ("settle_s", "asked_s"))
    assert sent["totals"]["due"] == messages and abs(read["totals"]["due"] - messages / 5) <= 1
    assert let_in == read["totals"]["connections"]
    result = search["result"]
    found = result["end"] in {"found", "not_closer"} and result["goals"][result["limiting"]]["rate"]
    voided = experiment.blocks()[1]
    table = record["analysis"]["metrics"]
    assert table[0]["metric"] == "capacity" and table[0]["carries_verdict"]
    assert not {each["metric"] for each in table} & {"messages", "p50", "p99"}  # of all trials they say nothing
    if found:
        assert voided is None and table[0]["blocks"][0][0] == pytest.approx(found)
    else:
        assert f"delivery: its search ended without a rate: {search['sentence']}" in voided
    assert experiment.verify().status == 0
    experiment.check_clean()
