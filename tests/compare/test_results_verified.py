# SPDX-License-Identifier: GPL-3.0-or-later
"""--verify of a folder in which somebody left out, changed or invented something."""
import json
import shutil

import pytest
from support.compare import Experiments


@pytest.fixture(scope="module")
def done(programs, tmp_path_factory):
    """An experiment of two blocks, for tests that work on copies."""
    made = Experiments(programs.postal_compare, tmp_path_factory.mktemp("done"))
    assert made(blocks=2).run().status == 0
    return made


@pytest.fixture
def harmed(done, programs, tmp_path):
    shutil.copytree(done.results, tmp_path / "results")
    made = Experiments(programs.postal_compare, tmp_path)
    return made


def write(experiment, record):
    (experiment.results / "experiment.json").write_text(json.dumps(record))


def analysed_anew(experiment, record):
    """As whoever hides something would: with the verdicts that follow from what is left."""
    write(experiment, record)
    assert experiment.verify().status == 3
    return [line for line in experiment.verify().stdout.splitlines() if line.startswith("WRONG: ")]


def test_as_it_was(harmed):
    verified = harmed.verify()
    assert verified.status == 0 and verified.stdout.endswith("Nothing was left out or changed.\n") and not verified.stderr


def record_changed(path):
    record = json.loads(path.read_text())
    record["intervals"][0]["messages"] *= 2
    path.write_text(json.dumps(record))


@pytest.mark.parametrize("name", ["delivery.json", "costs.json"])
@pytest.mark.parametrize("harm, said", [
    (lambda path: path.unlink(), "No such file"),
    (lambda path: path.write_text(path.read_text() + "\n"), "is not what the run wrote"),
    (lambda path: path.write_text("{}"), "is not what the run wrote"),
    (lambda path: (path.unlink(), path.mkdir()), "irectory"),
])
def test_a_file_of_a_run(harmed, name, harm, said):
    path = sorted(harmed.results.glob(f"runs/*/{name}"))[1]
    harm(path)
    verified = harmed.verify()
    assert verified.status == 3
    wrong = [line for line in verified.stdout.splitlines() if line.startswith("WRONG: ")]
    assert any(said in line and f"{path.parent.name}/{name}" in line for line in wrong), verified.stdout
    assert "Nothing was left out" not in verified.stdout


def test_a_figure_of_a_record(harmed):
    record_changed(sorted(harmed.results.glob("runs/*/delivery.json"))[0])
    verified = harmed.verify()
    assert verified.status == 3
    assert "is not what the run wrote" in verified.stdout
    assert "WRONG: the verdicts in the record are not those that follow from the runs" in verified.stdout


@pytest.mark.parametrize("number", range(4))
def test_a_run_that_was_taken_out(harmed, number):
    record = harmed.record
    variant = record["variants"][record["runs"][number]["variant"]]["name"]
    block = record["runs"][number]["block"]
    del record["runs"][number]
    wrong = analysed_anew(harmed, record)
    assert f"WRONG: block {block}: the run of {variant} is missing, or not in its place" in wrong


def test_the_last_block_taken_out(harmed):
    record = harmed.record
    del record["runs"][2:]
    assert any("WRONG: block 2: the run of " in line for line in analysed_anew(harmed, record))


def test_a_run_that_was_done_until_it_pleased(harmed):
    record = harmed.record
    record["runs"].insert(1, record["runs"][0])
    variant = record["variants"][record["runs"][0]["variant"]]["name"]
    assert f"WRONG: block 1: the run of {variant} was done again" in analysed_anew(harmed, record)


def test_runs_in_another_order(harmed):
    record = harmed.record
    record["runs"][0], record["runs"][1] = record["runs"][1], record["runs"][0]
    assert any("is missing, or not in its place" in line for line in analysed_anew(harmed, record))


def test_verdicts_of_another_version(harmed):
    """Its rules may have been others: no success, and not said to be wrong."""
    record = harmed.record
    record["version"] = "0.0.1"
    record["analysis"]["metrics"].pop()
    write(harmed, record)
    verified = harmed.verify()
    assert verified.status == 8 and "DIFFERS: the verdicts in the record are not those that follow" in verified.stdout
    assert "WRONG" not in verified.stdout and "Nothing was left out" not in verified.stdout


@pytest.mark.parametrize("harm", [
    lambda found: found["metrics"][0]["comparisons"][0].update(verdict="faster"),
    lambda found: found["metrics"][0]["comparisons"][0].update(ratio=2.5),
    lambda found: found["metrics"][0]["blocks"][0].insert(0, found["metrics"][0]["blocks"][0].pop() + 1),
    lambda found: found["metrics"].pop(),
    lambda found: found.update(voided=True),
    lambda found: found["blocks"][0].update(voided="two: because"),
    lambda found: found.clear(),
])
def test_a_verdict(harmed, harm):
    record = harmed.record
    harm(record["analysis"])
    write(harmed, record)
    verified = harmed.verify()
    assert verified.status == 3
    wrong = [line for line in verified.stdout.splitlines() if line.startswith("WRONG: ")]
    assert wrong == ["WRONG: the verdicts in the record are not those that follow from the runs"]


@pytest.mark.parametrize("harm, said", [
    (lambda record: record.update(schema="postal-experiment/9"), "schema"),
    (lambda record: record["runs"][0]["loads"][0].update(path="../../etc/passwd"), "path"),
    (lambda record: record["runs"][0]["loads"][0].update(path="/etc/passwd"), "path"),
    (lambda record: record["runs"][0].update(variant=2), "variant"),
    (lambda record: record["runs"][0].update(variant=-1), "variant"),
    (lambda record: record["runs"][0].update(state="splendid"), "state"),
    (lambda record: record["verdict"].update(program=7), "program"),
    (lambda record: record["verdict"].update(margin=0), "margin"),
    (lambda record: record.update(variants=[]), "variant"),
    (lambda record: record.update(seed="x"), "seed"),
])
def test_what_is_no_record_of_an_experiment(harmed, harm, said):
    record = harmed.record
    harm(record)
    write(harmed, record)
    verified = harmed.verify()
    assert verified.status == 1 and not verified.stdout
    assert len(verified.stderr.splitlines()) == 1 and said in verified.stderr and "experiment.json" in verified.stderr


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"schema": "postal-experiment/1"}', "\x00" * 100, "[" * 100000])
def test_what_is_no_record_at_all(harmed, text):
    (harmed.results / "experiment.json").write_text(text)
    verified = harmed.verify()
    assert verified.status == 1 and len(verified.stderr.splitlines()) == 1 and "experiment.json" in verified.stderr
