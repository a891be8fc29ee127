# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample experiments in conf/experiments: postal-compare takes them all, and they use what they name.

Nothing is run here. Those whose servers are installed must pass --check; DRBD and GlusterFS are not to be expected on
any machine that runs tests, and there --check names what is missing.
"""
import re
import shutil
import subprocess
import tomllib

import pytest

from conftest import ROOT
from support.process import free_port

SAMPLES = sorted((ROOT / "conf/experiments").glob("*.toml"))
OUR_OWN = {"postal", "rabid", "bhm", "lmtp-deliver"}


def text_of(value):
    """All texts of a parsed file, in one."""
    if isinstance(value, dict):
        return "\n".join(text_of(each) for each in value.values())
    if isinstance(value, list):
        return "\n".join(text_of(each) for each in value)
    return str(value)


def programs_of(experiment):
    """The first words of all commands, as they are written."""
    for table in [experiment, *experiment["variant"]]:
        storage, server = table.get("storage", {}), table.get("server", {})
        commands = [command for key in ("setup", "teardown") for command in table.get(key, [])]
        commands += [command for key in ("prepare", "start", "stop") for command in server.get(key, [])]
        commands += [storage["make"]] if "make" in storage else []
        commands += [server["version"]] if "version" in server else []
        yield from (command[0] for command in commands if not command[0].startswith("${"))  # whoever names it has it


def compare(programs, *words, folder):
    return subprocess.run([programs.path("postal-compare"), *words], cwd=folder, capture_output=True, text=True,
                          timeout=60)


@pytest.fixture(params=SAMPLES, ids=lambda path: path.stem)
def sample(request):
    return request.param


def test_there_are_samples():
    assert len(SAMPLES) >= 12


def test_plan_is_shown(programs, sample, tmp_path):
    done = compare(programs, "--plan", sample, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    for variant in tomllib.loads(sample.read_text())["variant"]:
        assert variant["name"] in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_check_says_whether_it_can_run_here(programs, sample, tmp_path):
    experiment = tomllib.loads(sample.read_text())
    # Somebody may be running the sample.
    ports = [name for name, value in experiment["variables"].items() if re.fullmatch(r"\d{5}", str(value))]
    done = compare(programs, "--check", *(f"--set={name}={free_port()}" for name in ports), sample, folder=tmp_path)
    if why := re.search("is for root|there are no loop devices", done.stderr):
        pytest.skip(why[0])
    missing = {name for name in programs_of(experiment) if name not in OUR_OWN and not shutil.which(name)}
    if missing:
        said = re.fullmatch(r'postal-compare: (.+):\d+: there is no program "(.+)" in PATH\n', done.stderr)
        assert (done.returncode, said[1]) == (1, str(sample))
        assert said[2] in missing
    else:
        assert (done.returncode, done.stderr) == (0, "")
        assert "it can run here" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_every_variable_is_used(sample):
    experiment = tomllib.loads(sample.read_text())
    variables = experiment["variables"]
    used = set(re.findall(r"\$\{([\w-]+)\}", text_of(experiment)))
    assert sorted(set(variables) - used) == []
    for variant in experiment["variant"]:
        for name, value in variant.get("variables", {}).items():
            assert value != variables[name], f"{variant['name']}: {name} is what it is without"


def test_the_baseline_runs_twice(sample):
    first, *others = tomllib.loads(sample.read_text())["variant"]
    assert [other["name"] for other in others if other.get("same_as") == first["name"]] == [first["name"] + " again"]


def test_a_disk_is_one_variable_away(sample):
    """Where there is a file system to be made, it is made on ${disk}, and without one on a file."""
    experiment = tomllib.loads(sample.read_text())
    if "storage" not in experiment:
        return
    assert experiment["storage"]["device"] == "${disk}"
    assert experiment["variables"]["disk"] in ("", "/dev/drbd0")


def test_sockets_have_short_names(sample):
    """A name of a Unix socket has 108 octets, and the folder of a run holds the variant's name."""
    for file in tomllib.loads(sample.read_text()).get("file", []):
        assert not re.search(r"(?m)^(base_dir|queue_directory) = \$\{run\}", file["text"])
