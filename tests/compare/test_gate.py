# SPDX-License-Identifier: GPL-3.0-or-later
"""Gates: which answer they have of servers whose difference is known, and how a build hears of it."""
import json
import signal
import xml.etree.ElementTree as ElementTree

import pytest
from support.compare import EXPERIMENT
from support.postal import run
from support.process import wait_until

# The second server takes ten times as long for each message.
SLOWER = EXPERIMENT.replace('step = "true"', 'takes = "10ms"').replace('"--rate", "6000"', '"-t", "1"')
DELAYED = {"start": '[["bhm", "--listen", "127.0.0.1:${port}", "--delay", "end=${takes}"]]',
           "variants": '[variant.variables]\ntakes = "100ms"', "duration": "600ms"}


def answers(junit):
    """Of each test case its name, what came of it and what is said of it."""
    suite = ElementTree.parse(junit).getroot().find("testsuite")
    cases = [(case.get("name"), case[0].tag, case[0].get("message") or case[0].text) for case in suite.findall("testcase")]
    for key, tag in {"failures": "failure", "errors": "error", "skipped": "skipped"}.items():
        assert int(suite.get(key)) == [each for _, each, _ in cases].count(tag)
    assert int(suite.get("tests")) == len(cases)
    return cases


def test_one_is_missed_and_one_is_kept(experiment, programs, tmp_path):
    junit = tmp_path / "gates.xml"
    gates = ["--gate", "p50<+20%", "--gate", "rate>-99%"]
    ended = experiment(SLOWER, blocks=3, **DELAYED).run(*gates, "--junit", junit)
    assert ended.status == 3, ended.stderr
    missed, kept = answers(junit)
    assert missed[:2] == ("p50<+20% of two", "failure") and kept[:2] == ("rate>-99% of two", "system-out")
    assert missed[2].startswith('p50<+20% of "two" is missed: ') and kept[2].startswith('rate>-99% of "two" is kept: ')
    said = " ".join(ended.stdout.split())
    assert f"{missed[2]}." in said and f"{kept[2]}." in said
    record = experiment.record
    assert record["gates"] == ["p50<+20%", "rate>-99%"]
    assert [each["verdict"] for each in record["analysis"]["gates"]] == ["missed", "kept"]
    assert 2 < record["analysis"]["gates"][0]["ratio"] < 20
    assert experiment.verify().status == 0
    # Pages and Markdown have them, too; so has the way to repeat it, for a shell to read.
    page = tmp_path / "report.html"
    report = run([programs.postal_report, "--html", page, experiment.results])
    assert report.status == 0 and "p50&lt;+20% of &quot;two&quot; is missed" in page.read_text()
    text = run([programs.postal_report, "--markdown", experiment.results])
    assert text.status == 0 and "is missed: " in text.stdout and "'rate>-99%'" in text.stdout.replace("\\", "")
    experiment.check_clean()


def test_what_a_page_reads_while_it_runs_and_after_a_kill(experiment, tmp_path):
    """Who kills it has no green build; --resume has the gates of the record."""
    hold = '[["sh", "-c", "touch ${experiment}/reached; until [ -e ${experiment}/go ]; do sleep 0.02; done"]]'
    junit = tmp_path / "gates.xml"
    under_way = experiment(SLOWER, blocks=3, **DELAYED, prepare=hold).start("--gate", "p50<+20%", "--junit", junit)
    wait_until((experiment.folder / "reached").exists, lambda: under_way.stderr)
    under_way.signal(signal.SIGKILL)
    under_way.wait(30)
    assert answers(junit) == [("p50<+20% of two", "error", "the experiment has not ended")]
    (experiment.folder / "go").touch()
    ended = experiment.run("--resume", "--junit", junit)
    assert ended.status == 3, ended.stderr
    assert [each[1] for each in answers(junit)] == ["failure"]
    experiment.check_clean()


def test_cut_short_is_no_green_build(experiment, tmp_path):
    """After three blocks there would be answers; but that was not what was asked for."""
    junit = tmp_path / "gates.xml"
    under_way = experiment(SLOWER, blocks=50, **DELAYED).start("--gate", "rate>-99%", "--junit", junit)
    wait_until(lambda: len(experiment.runs if (experiment.results / "experiment.json").exists() else []) >= 6,
               lambda: under_way.stderr, 60)
    under_way.signal(signal.SIGTERM)
    assert under_way.wait(30) == 4, under_way.stderr
    assert [each[1:] for each in answers(junit)] == [("error", "the experiment did not come to its end: interrupted")]
    experiment.check_clean()
    # Nobody takes what stands in the record for something else.
    refused = experiment.run("--resume", "--gate", "rate>-5%", "--baseline", "/nowhere")
    assert refused.status == 1 and "--baseline: /nowhere: " in refused.stderr
    assert [each[1:] for each in answers(junit)] == [("error", "the experiment did not come to its end: interrupted")]


def test_a_run_that_is_refused_leaves_no_old_answers(experiment, tmp_path):
    junit = tmp_path / "gates.xml"
    junit.write_text("<testsuites><testsuite><testcase name='passed'/></testsuite></testsuites>")
    ended = experiment().run("--gate", "rate>-5%", "--baseline", "/nowhere", "--junit", junit)
    assert ended.status == 1 and [each[1] for each in answers(junit)] == ["error"] * 2


def test_resumed_with_gates_that_it_did_not_have(experiment, tmp_path):
    days = experiment.folder / "days"
    days.mkdir()
    experiment(blocks=2)
    assert experiment.run("--gate", "rate>-5%", "--baseline", days).status == 4
    refused = experiment.run("--resume", "--gate", "rate>-10%")
    assert refused.status == 1
    assert f"--resume: its gates compare with the results in {days}; give --baseline, too, or leave --gate out" in refused.stderr
    assert experiment.run("--resume").status == 4, "with its own gates"


def test_an_answer_is_asked_for_and_there_is_no_gate(experiment, tmp_path):
    assert experiment(blocks=2).run().status == 0
    refused = experiment.run("--resume", "--junit", tmp_path / "gates.xml")
    assert refused.status == 1 and "--junit: is for the answers of gates, and it was begun without; give --gate" in refused.stderr


def test_too_few_blocks_are_no_answer(experiment, tmp_path):
    junit = tmp_path / "gates.xml"
    ended = experiment().run("--gate", "rate>-5%", "--junit", junit)
    assert ended.status == 4, ended.stderr
    assert answers(junit) == [("rate>-5% of two", "error",
                               'rate>-5% of "two" has no answer: 1 block of which it is known, and 3 are needed')]


def test_against_results_that_were_kept(experiment, programs):
    """Three days make a baseline; a build that is slower is missed, and is none of the results for the day after."""
    days = experiment.folder / "days"
    days.mkdir()
    one = SLOWER[:SLOWER.index('[[variant]]\nname = "two"')]
    experiment(one, start=DELAYED["start"], duration="600ms")

    def day(number, *options):
        return run([programs.postal_compare, "--out", days / str(number), "--baseline", days, "--gate", "p50<+20%",
                    *options, experiment.file])
    first = [day(number) for number in range(3)]
    assert [each.status for each in first] == [4] * 3, first[-1].stderr
    assert 'p50<+20% of "one" has no answer: 2 kept results of which it is known, and 3 are needed' in first[2].stdout
    slower = day(3, "--set", "takes=100ms")
    assert slower.status == 3 and 'p50<+20% of "one" is missed: ' in slower.stdout, slower.stdout
    assert "; 3 kept results see " in " ".join(slower.stdout.split())
    after = day(4)
    assert f"--baseline: {days}/3 is left out: it missed a gate" in after.stderr
    record = json.loads((days / "4/experiment.json").read_text())
    assert [each["folder"] for each in record["kept"]] == [f"{days}/{number}" for number in range(3)]
    (days / "broken").mkdir()
    (days / "broken/experiment.json").write_text("{")
    assert f"--baseline: {days}/broken is left out: " in day("6").stderr
    assert run([programs.postal_compare, "--verify", days / "4"]).status == 0
    # Nothing is measured where it would say nothing.
    text = (days / "1/experiment.json").read_text()
    (days / "1/experiment.json").write_text(text.replace(f'"cpus": {record["host"]["cpus"]}', '"cpus": 77'))
    refused = day(5)
    assert refused.status == 1 and f"--baseline: {days}/1 was measured on 77 processors, and here " in refused.stderr
    (days / "1/experiment.json").write_text(text)
    refused = day(5, "--duration", "700ms")
    assert refused.status == 1 and f"--baseline: {days}/0 has runs of 0.6 s of which 0 s are left out, and here " in refused.stderr
    assert not (days / "5").exists()
    # Who goes on has the durations of the record.
    shorter = experiment.folder / "shorter"
    shorter.mkdir()
    begun = ["--gate", "p50<+20%", "--baseline", shorter, experiment.file]
    for number in range(2):
        assert run([programs.postal_compare, "--out", shorter / str(number), "--duration", "300ms", *begun]).status == 4
    again = run([programs.postal_compare, "--resume", "--out", shorter / "1", *begun])
    assert again.status == 4 and "1 kept result of which it is known" in " ".join(again.stdout.split()), again.stderr


@pytest.mark.parametrize("options, says", [
    (["--gate", "rate<5%"], '--gate: "rate<5%": less of it is worse; want rate>-5%'),
    (["--gate", "speed>-5%"], '--gate: "speed>-5%" is no gate; want rate>-5%, or one of p50'),
    (["--baseline", "/tmp"], "--baseline: is for gates; give --gate, such as rate>-5%"),
    (["--gate", "rate>-5%", "--baseline", "/nowhere"], "--baseline: /nowhere: "),
    (["--junit", "x.xml"], "--junit: is for the answers of gates; give --gate, such as rate>-5%"),
    (["--gate", "rate>-5%", "--junit", "/nowhere/x.xml"], "--junit: /nowhere/x.xml: "),
])
def test_refused(experiment, options, says):
    ended = experiment().run(*options)
    assert ended.status == 1 and f"postal-compare: {says}" in ended.stderr
    assert not experiment.results.exists()


def test_one_variant_has_nothing_to_be_compared_with(experiment):
    text = EXPERIMENT[:EXPERIMENT.index('[[variant]]\nname = "two"')]
    ended = experiment(text).run("--gate", "rate>-5%")
    assert ended.status == 1 and "--gate: compares variants with the first one, and " in ended.stderr
    assert not experiment.results.exists()
