# SPDX-License-Identifier: GPL-3.0-or-later
"""Ended at any step, by a signal that asks or by one that does not: what was begun is undone, and --resume does what is missing."""
import signal

import pytest
from support.process import alive, wait_until

# Says that it was reached, and waits for the file that lets it go on, or for its end.
HOLD = "echo held >> ${experiment}/reached; until [ -e ${experiment}/go ]; do sleep 0.02; done"
HELD = f'[["sh", "-c", "{HOLD}"]]'
STEPS = {
    "setup": {"setup": f'setup = {HELD}\nteardown = [["touch", "${{experiment}}/undone"]]'},
    "prepare": {"prepare": HELD},
    "server": {"start": f'[["sh", "-c", "{HOLD}; exec BHM --listen 127.0.0.1:${{port}}"]]'},
    "load": {"duration": "1500ms"},
    "stop": {"server": f"stop = {HELD}"},
    "teardown": {"setup": f"teardown = {HELD}"},
}


@pytest.mark.thinned(4)
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda how: how.name)
@pytest.mark.parametrize("step", STEPS)
def test_ended_at_a_step_and_resumed(experiment, programs, step, how):
    # Of 300 ms nothing may be left for a message on a busy machine, and a run without one voids its block.
    experiment(**{"blocks": 2, "duration": "1s", **{key: text.replace("BHM", str(programs.bhm)) for key, text in STEPS[step].items()}})
    under_way = experiment.start()
    reached = "results/runs/*/delivery.log" if step == "load" else "reached"
    wait_until(lambda: list(experiment.folder.glob(reached)), lambda: f"step {step}: {under_way.stderr}")
    under_way.signal(how)
    # What is being undone is undone to its end.
    undoing = step in ("stop", "teardown") and how != signal.SIGKILL
    if undoing:
        assert under_way.running
        (experiment.folder / "go").touch()
    status = under_way.wait(30)
    if how == signal.SIGKILL:
        assert status == -signal.SIGKILL
    else:
        assert status == 4, "one variant ran at most, and was compared with nothing: " + under_way.stderr
        assert "ended before all blocks were done: interrupted" in under_way.stderr
        assert "postal-compare: stopping: ends what runs and undoes what was set up" in under_way.stderr
        assert experiment.record["end"] == "interrupted"
        experiment.check_clean()
        assert experiment.verify().status == 0
    done = [run for run in experiment.runs if run[2] == "complete"]
    (experiment.folder / "go").touch()
    resumed = experiment.run("--resume")
    assert resumed.status == 0, resumed.stderr
    runs = [run for run in experiment.runs if run[2] == "complete"]
    assert {run[:2] for run in runs} == experiment.planned and len(runs) == 4 and runs[:len(done)] == done
    assert experiment.record["end"] == "all blocks done" and set(experiment.blocks()) == {1, 2}
    assert experiment.record["analysis"]["metrics"][0]["comparisons"][0]["verdict"] is None, "two blocks are too few"
    experiment.check_clean()
    verified = experiment.verify()
    assert verified.status == 0, verified.stdout
    assert ("noted: runs/" in verified.stdout) == (how != signal.SIGKILL and not undoing)
    assert (experiment.folder / "undone").exists() == (step == "setup")


@pytest.mark.parametrize("key", ["setup", "teardown"])
def test_what_a_command_started_is_ended_after_a_kill(experiment, key):
    """The command ends with the program that was killed; what it started goes on until somebody looks."""
    started = "sleep 60 & echo $! > ${experiment}/pid; touch ${experiment}/reached; wait"
    experiment(setup=f'{key} = [["sh", "-c", "test -e ${{experiment}}/go || {{ {started}; }}"]]')
    under_way = experiment.start()
    wait_until((experiment.folder / "reached").exists, lambda: under_way.stderr)
    pid = int((experiment.folder / "pid").read_text())
    under_way.signal(signal.SIGKILL)
    under_way.wait()
    assert alive(pid)
    (experiment.folder / "go").touch()
    resumed = experiment.run("--resume")
    assert resumed.status == 0, resumed.stderr
    wait_until(lambda: not alive(pid), "the end of what was killed")
    experiment.check_clean()


def test_the_order_goes_on_as_it_would_have(experiment):
    """An experiment that was interrupted twice and one that was not have their runs in the same order."""
    experiment(blocks=3, variants='[[variant]]\nname = "three"', duration="1s").run()
    whole = experiment.runs
    experiment.results.rename(experiment.folder / "whole")
    for number in (2, 5):
        under_way = experiment.start(*(["--resume"] if number > 2 else []))
        wait_until(lambda: under_way.stderr.count("postal-compare: block") >= 2, lambda: under_way.stderr)
        under_way.stop(signal.SIGINT)
    assert experiment.run("--resume").status == 0
    assert [run for run in experiment.runs if run[2] == "complete"] == whole
    experiment.check_clean()


def test_killed_before_there_was_a_record(experiment):
    experiment(server='version = ["sh", "-c", "touch ${experiment}/reached; exec sleep 60"]')
    under_way = experiment.start()
    wait_until((experiment.folder / "reached").exists, "the version")
    under_way.signal(signal.SIGKILL)
    under_way.wait()
    assert not (experiment.results / "experiment.json").exists()
    experiment.file.write_text(experiment.file.read_text().replace("exec sleep 60", "echo 7.1"))
    resumed = experiment.run("--resume")
    assert resumed.status == 0, resumed.stderr
    assert "7.1" in experiment.record["versions"].values()
    experiment.check_clean()


@pytest.mark.parametrize("options, said", [
    (["--seed", "8"], "--resume: its seed is 7; leave --seed out"),
    (["--duration", "400ms"], "--resume: its runs were 0.3 s"),
    (["--warmup", "100ms"], "--resume: its runs were 0.3 s"),
    (["--set", "step=false"], "--resume: the variables of one are not those that it was begun with"),
])
def test_resumed_as_another_experiment(experiment, options, said):
    assert experiment().run().status == 0
    before = experiment.runs
    refused = experiment.run("--resume", *options)
    assert refused.status == 1 and said in refused.stderr and len(refused.stderr.splitlines()) == 1
    assert experiment.runs == before


def test_resumed_with_another_file_or_none(experiment, folder):
    experiment().run()
    experiment.file.write_text(experiment.file.read_text() + "# another\n")
    refused = experiment.run("--resume")
    assert refused.status == 1 and "is not the experiment that was begun" in refused.stderr
    other = folder / "other"
    other.mkdir()
    experiment.results = other
    refused = experiment.run("--resume")
    assert refused.status == 1 and "is no folder of an experiment's results" in refused.stderr
    assert not list(other.iterdir())


def test_two_at_once_in_one_folder(experiment):
    experiment(setup='setup = [["sh", "-c", "touch ${experiment}/reached; until [ -e ${experiment}/go ]; do sleep 0.02; done"]]')
    first = experiment.start()
    wait_until((experiment.folder / "reached").exists, "the first")
    second = experiment.run("--resume")
    assert second.status == 2 and "journal.jsonl" in second.stderr, second.stderr
    (experiment.folder / "go").touch()
    assert first.wait() == 0
    experiment.check_clean()


@pytest.mark.parametrize("parts, status, said", [
    ({"server": 'stop = [["sleep", "60"]]'}, 4, "sleep did not end within"),
    ({"setup": 'teardown = [["sleep", "60"]]'}, 2, "sleep did not end within 1s; remove it with: sleep 60"),
])
def test_a_second_signal_cuts_the_undoing_short(experiment, parts, status, said):
    """What cannot be undone so fast is named, and the next call tries again."""
    experiment(duration="30s", **parts)
    under_way = experiment.start()
    wait_until(lambda: list(experiment.results.glob("runs/*/delivery.log")), "the load")
    under_way.signal(signal.SIGINT)
    wait_until(lambda: any(words == ["sleep", "60"] for _, words in experiment.children(under_way.pid)), "what undoes it")
    under_way.signal(signal.SIGINT)
    assert under_way.wait(40) == status
    assert said in under_way.stderr, under_way.stderr
    assert "postal-compare: each step of undoing has at most 1s now" in under_way.stderr
    assert bool(experiment.left()) == (status == 2)
    assert experiment.runs[0][2] == "interrupted" and len(experiment.runs) == 1
    # Whatever else there was is gone.
    assert not [words for _, words in experiment.processes() if "bhm" in words or "postal " in words]
    (experiment.results / "journal.jsonl").unlink()


def test_a_folder_that_somebody_else_may_have_written(experiment, folder):
    """What its journal says is run, so it is not looked at."""
    experiment().run()
    entry = f'{{"undo":1000,"kind":"command","words":["touch","{folder}/run"],"log":"{folder}/log","limit_ms":20000,"boot":""}}\n'
    with open(experiment.results / "journal.jsonl", "a") as journal:
        journal.write(entry)
    experiment.results.chmod(0o777)
    refused = experiment.run("--resume")
    assert refused.status == 2 and "can be written by other users" in refused.stderr, refused.stderr
    assert not (folder / "run").exists()
    experiment.results.chmod(0o755)
    experiment.run("--resume")
    assert (folder / "run").exists()


def test_a_new_folder_is_fit_to_be_resumed_whatever_the_umask(experiment):
    experiment.before = ["sh", "-c", 'umask 002; exec "$@"', "sh"]
    assert experiment().run().status == 0
    assert experiment.run("--resume").status == 0
