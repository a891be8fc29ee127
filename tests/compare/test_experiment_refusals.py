# SPDX-License-Identifier: GPL-3.0-or-later
"""What is refused before anything starts: one line, status 1, and nothing on the disk."""
import os
import re
import shutil
import socket

import pytest
from support.compare import EXPERIMENT


def refused(experiment, *options, **keywords):
    ended = experiment.run(*options, **keywords)
    assert ended.status == 1 and not ended.stdout, (ended.stderr, ended.stdout)
    assert len(ended.stderr.splitlines()) == 1 and ended.stderr.startswith("postal-compare: ")
    assert not experiment.results.exists() and not list(experiment.folder.glob("*.results"))
    return ended.stderr


# The experiment's parts or a text in place of another, and what is said behind "mail.toml:LINE: "; the line holds the last.
@pytest.mark.parametrize("harm, said, line", [
    ({"setup": 'setup = [["no-such-program"]]'}, 'there is no program "no-such-program" in PATH', "no-such-program"),
    ({"prepare": '[["/dev/null"]]'}, "/dev/null is no program", "/dev/null"),
    ({"start": '[["bhn"]]'}, 'there is no program "bhn" in PATH', "bhn"),
    ({"server": 'stop = [["no-such-stop"]]'}, 'there is no program "no-such-stop"', "no-such-stop"),
    ({"server": 'surprise = 1'}, "surprise", "surprise"),
    ({"more": '[costs]\nsurprise = 1'}, "surprise", "surprise"),
    ({"more": '[verdict]\nmetric = "joy"'}, '"joy" is no metric; there are messages, p50', "joy"),
    ({"more": '[verdict]\nmargin = "0%"'}, "margin", "margin"),
    ({"variants": '[[variant]]\nname = "one"'}, 'the variant in line', 'name = "one"'),
    ({"variants": '[[variant]]\nname = "three"\nsame_as = "four"'}, 'no variant above is called "four"', "four"),
    ({"variants": '[[variant]]\nname = "three"\nvariables = { stop = "x" }'}, "is none of the experiment's variables", "stop"),
    ({"setup": 'setup = [["true", "${nothing}"]]'}, "${nothing} has no value", "nothing"),
    ({"setup": "setup = [true]"}, "setup", "setup"),
    ({"duration": "soon"}, "duration", "soon"),
    ({"more": "[costs"}, "", "[costs"),
    ('"--rate", "6000"', '"--duration", "1s"', "--duration is decided by the experiment"),
    ('argv = ["postal"', 'argv = ["swaks"', '"swaks" is neither postal nor rabid'),
])
def test_with_file_and_line(experiment, harm, said, line):
    if isinstance(harm, dict):
        experiment(**harm)
    else:
        experiment(EXPERIMENT.replace(harm, said))
        said, line = line, said
    lines = experiment.file.read_text().splitlines()
    holding = [number for number, text in enumerate(lines, 1) if line in text]
    stderr = refused(experiment)
    assert said in stderr
    assert any(f"mail.toml:{number}" in stderr for number in holding), (stderr, holding)


@pytest.mark.parametrize("options, said", [
    (["--set", "stop=x"], "--set stop: "),
    (["--set", "step"], "--set"),
    (["--set", "step=no-such-program", "--check"], None),
    (["--expect", "three=faster"], '--expect: there is no verdict on "three"'),
    (["--expect", "one=faster"], '--expect: there is no verdict on "one"'),
    (["--expect", "two=better"], '"better" is no verdict; there are faster, slower, equivalent, undecided, none'),
    (["--warmup", "1s"], "--warmup: 1s is no shorter than the run of 300ms"),
    (["--resume"], "--resume: there is no "),
    (["--resume", "--plan"], "exclude each other"),
    (["--quick", "--classic"], "exclude each other"),
    (["--max-blocks", "3"], "--max-blocks: is for --until-width"),
    (["--until-width", "0%"], "is no width"),
    (["--blocks", "0"], "--blocks"),
    (["--verify", "/nowhere"], "--verify: is for a folder of results"),
    (["--surprise"], "--surprise"),
])
def test_of_the_command_line(experiment, options, said):
    experiment(setup='setup = [["${step}"]]' if said is None else "")
    assert (said or 'there is no program "no-such-program"') in refused(experiment, *options)


def test_without_a_file(experiment):
    assert "mail.toml: " in refused(experiment)


def test_results_that_are_there(experiment):
    experiment()
    experiment.results.mkdir()
    ended = experiment.run()
    assert ended.status == 1 and "is there already; --resume goes on with it" in ended.stderr
    assert not list(experiment.results.iterdir())


def test_where_somebody_listens_already(experiment):
    with socket.create_server(("127.0.0.1", experiment.port)):
        said = refused(experiment())
    assert f"127.0.0.1:{experiment.port} lets connections in already" in said
    assert re.search(r"mail\.toml:\d+: ready", said)


def test_storage_is_for_root(experiment, tool):
    words = []
    if os.geteuid() == 0:
        words = [tool("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups"]
        # Where it was built may not be theirs to enter.
        for name in ("postal-compare", "postal", "bhm"):
            shutil.copy(experiment.program.parent / name, experiment.folder / name)
        experiment.program = experiment.folder / "postal-compare"
    experiment(more='[storage]\nmake = ["mkfs.ext4", "${device}"]\ntype = "ext4"')
    experiment.before = words
    said = refused(experiment)
    assert "[storage] is for root" in said and "mail.toml:" in said
