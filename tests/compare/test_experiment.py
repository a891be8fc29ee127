# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole experiment without storage: what it says, what it writes down, and how it ends."""
import hashlib
import os
import re

import pytest
from support.compare import EXPERIMENT
from support.process import free_port

# Of a server that takes its time: it ends last.
SLOW_LOAD = """\
[[load.program]]
name = "slow"
argv = ["postal", "--rate", "1200", "127.0.0.1:{port}", "${{{{experiment}}}}/users"]
"""


def test_what_is_written_down_is_what_took_place(experiment):
    ended = experiment(blocks=3, variants='[[variant]]\nname = "again"\nsame_as = "one"').run("--expect", "two=undecided")
    assert ended.status in (0, 3), ended.stderr
    record = experiment.record
    assert {run[:2] for run in experiment.runs} == experiment.planned and len(experiment.runs) == 9
    assert all(state == "complete" for _, _, state in experiment.runs)
    assert [run[0] for run in experiment.runs] == [1] * 3 + [2] * 3 + [3] * 3
    assert record["end"] == "all blocks done" and record["seed"] == 7 and record["blocks"] == 3
    assert record["text"] == experiment.file.read_text()
    for run in record["runs"]:
        for kept in [*run["loads"], run["costs"]]:
            assert hashlib.sha256((experiment.results / kept["path"]).read_bytes()).hexdigest() == kept["sha256"]
        load = experiment.load(run["loads"][0])
        assert "--duration" in load["argv"] and load["duration_s"] >= 0.3
    seeds = {(run["block"], experiment.load(run["loads"][0])["seed"]) for run in record["runs"]}
    assert len(seeds) == 3, "the variants of a block get the same mail, and each block other mail"
    first = record["analysis"]["metrics"][0]
    assert first["metric"] == "messages" and first["carries_verdict"]
    assert [each["variant"] for each in first["comparisons"]] == ["two"] and first["same"]["variant"] == "again"
    for run in record["runs"]:
        assert experiment.value(run, "delivery") == pytest.approx(experiment.rate(run["loads"][0]))
    assert '"two" ' in ended.stdout and "processors, user" in ended.stdout
    verified = experiment.verify()
    assert verified.status == 0 and "Nothing was left out or changed." in verified.stdout
    experiment.check_clean()


@pytest.mark.parametrize("about, status", [("two=none", 0), ("two=faster", 3)])
def test_an_expectation_decides_the_status(experiment, about, status):
    ended = experiment().run("--expect", about)
    assert ended.status == status
    assert ("the verdict on two is none, not faster" in ended.stderr) == (status == 3)


def test_what_each_of_two_loads_did_is_its_own(experiment):
    """The record names loads in the order in which they ended: what they did is known by name."""
    port = free_port()
    start = f'[["bhm", "--listen", "127.0.0.1:${{port}}"], ["bhm", "--listen", "127.0.0.1:{port}", "--delay", "end=300ms"]]'
    text = EXPERIMENT.replace("[[load.program]]", SLOW_LOAD.format(port=port) + "[[load.program]]", 1)
    ended = experiment(text, start=start, duration="500ms").run()
    assert ended.status == 0 and experiment.blocks() == {1: None}, ended.stderr
    for run in experiment.record["runs"]:
        for load in run["loads"]:
            assert experiment.value(run, load["name"]) == pytest.approx(experiment.rate(load)), run["loads"]
    assert experiment.verify().status == 0


def test_the_width_of_the_intervals_ends_an_experiment(experiment):
    ended = experiment(blocks=9, duration="200ms").run("--until-width", "90%")
    record = experiment.record
    counting = [number for number, voided in experiment.blocks().items() if voided is None]
    assert ended.status == 0
    comparison, = record["analysis"]["metrics"][0]["comparisons"]
    if len(experiment.blocks()) < 9:
        assert len(counting) >= 6 and record["end"] == "as many blocks as the width takes"
        assert len(counting) == comparison["blocks"] >= comparison["blocks_for_width"]
        assert "postal-compare: a width of 90 % takes" in ended.stderr
        assert "ended before all blocks were done: as many blocks as the width takes" in ended.stderr
    if len(counting) >= 6:
        assert comparison["blocks_for_width"] is not None
    assert record["until_width"] == 0.9
    assert experiment.verify().status == 0


def test_a_line_for_each_run_and_no_control_characters_where_nobody_watches(experiment):
    ended = experiment(blocks=2).run()
    lines = ended.stderr.splitlines()
    assert len(lines) == 4 and re.fullmatch(r"postal-compare: block 1 of 2, 1 of 2: (one|two): [\d,.]+/min.*", lines[0])
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", ended.stderr + ended.stdout)


@pytest.mark.parametrize("on_terminal", [True, False])
def test_a_live_line_where_somebody_watches_or_asks(experiment, on_terminal):
    experiment(duration="1200ms")
    if on_terminal:
        ours, theirs = os.openpty()
        pid = os.fork()
        if pid == 0:
            os.dup2(theirs, 2)
            with open(os.devnull, "wb") as nothing:
                os.dup2(nothing.fileno(), 1)
            words = [str(word) for word in experiment.words()]
            os.execv(words[0], words)
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 4096):
                said += part
        except OSError:
            pass  # the other side is closed
        os.close(ours)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        said = said.decode()
    else:
        said = experiment.run("--progress").stderr
    shown = re.findall(r"\r\x1b\[K(block 1/1  (?:one|two)  [^\r\n]*)", said)
    assert any("load 0:" in line and line.endswith(" left") for line in shown), said
    assert all(len(line) < 80 for line in shown)
    # It is gone wherever a line that stays comes.
    assert len(re.findall(r"\r\x1b\[Kpostal-compare: block 1 of 1, \d of 2: ", said)) == 2


def test_the_plan_and_the_check_start_nothing(experiment):
    experiment(blocks=4)
    plan = experiment.run("--plan", "--seed", "3")
    assert plan.status == 0 and "4 blocks of 2 variants: 8 runs of 300ms" in plan.stdout and "from seed 3" in plan.stdout
    assert experiment.run("--plan", "--seed", "3").stdout == plan.stdout
    check = experiment.run("--check")
    assert check.status == 0 and "2 variants, 4 blocks: it can run here" in check.stdout
    assert not experiment.results.exists()
