"""postal-audit: servers that flush and servers that do not, below the same power cuts."""
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess

import pytest

from conftest import ROOT
from support.compare import Experiments
from support.postal import run as run_program
from support.process import wait_until

pytestmark = pytest.mark.usefixtures("storage", "audit_tools")

WRITER = ROOT / "tests/support/careless_lmtp.py"
EXPERIMENT = """\
title = "a test"
command_limit = "20s"
[load]
seed = 5
[[load.program]]
name = "delivery"
argv = ["postal", "-L", "--sessions", "3", "-m", "3", "127.0.0.1:${{port}}", "${{experiment}}/users"]
[variables]
port = "{port}"
mode = "safe"
[storage]
make = ["mkfs.ext4", "-q", "-F", "-E", "nodiscard", "${{device}}"]
type = "ext4"
[server]
prepare = [["mkdir", "-p", "${{mount}}/user@example.com/tmp", "${{mount}}/user@example.com/new"], ["sync"]]
start = [["/usr/bin/python3", "{writer}", "${{port}}", "${{mount}}", "${{mode}}"]]
ready = ["127.0.0.1:${{port}}"]
[audit]
messages = {messages}
cuts = {cuts}
size = "64M"
maildirs = ["${{mount}}/%u"]
check = ["e2fsck", "-f", "-n", "${{device}}"]
{variants}
"""
FAULTS = ("no-folder", "late-flush", "ack-first", "nothing")
# On ext4 the flush of a file makes sure of its name, too, where the name was given before.
CAREFUL = ("safe", "rename-first")


@pytest.fixture(scope="module")
def audit_tools(tool):
    tool("qemu-storage-daemon")
    tool("eatmydata")
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip("there is no /dev/fuse here")


class Audit(Experiments):
    def __call__(self, *modes, messages=60, cuts=12, **_):
        variants = "".join(f'[[variant]]\nname = "{mode}"\nvariables = {{ mode = "{mode}" }}\n' for mode in modes)
        (self.folder / "users").write_text("user@example.com\n")
        self.file.write_text(EXPERIMENT.format(port=self.port, writer=WRITER, messages=messages, cuts=cuts, variants=variants))
        return self

    @property
    def record(self):
        record = json.loads((self.results / "audit.json").read_text())
        assert record["schema"] == "postal-audit/1"
        return record

    def images(self, variant):
        return next(each for each in self.record["variants"] if each["name"] == variant)["images"]

    def check_clean(self):
        super().check_clean()
        assert str(self.folder) not in subprocess.run(["losetup", "-a"], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def audit(programs, folder):
    """audit("safe", …) writes an experiment with these variants; then run(), record and images()."""
    made = Audit(programs.postal_audit, folder)
    yield made
    made.end()


def missing_of(image):
    return image["lost"] + image["misplaced"] + image["truncated"] + image["changed"]


def test_each_fault_is_found_and_care_is_not_accused(audit):
    audit(*CAREFUL, *FAULTS)
    expected = [f"--expect={fault}=lost" for fault in FAULTS] + [f"--expect={each}=kept" for each in CAREFUL]
    done = audit.run(*expected, timeout=240)
    assert done.status == 0, done.stderr + done.stdout
    audit.check_clean()
    controls = {each["control"]: each for each in audit.record["variants"] if each["control"] != "no"}
    assert any(image["lost"] for image in controls["must_lose"]["images"])
    assert not any(missing_of(image) for image in controls["must_keep"]["images"])
    assert re.search(r"^safe: none lost in \d+ cuts \(at most \d", done.stdout, re.MULTILINE)
    for image in audit.images("safe"):
        assert image["failure"] == "" and image["found"] == image["acknowledged"]
    for fault in FAULTS:
        for image in audit.images(fault):
            assert image["found"] + image["lost"] == image["acknowledged"] <= 60
    # Nothing was flushed, so that whatever was not written by itself is gone.
    assert all(image["found"] == 0 for image in audit.images("nothing") if image["survival"] == "none")


def test_a_cut_can_be_had_again(audit):
    audit("late-flush", cuts=5)
    assert audit.run("--seed", "11", timeout=120).status == 0
    before = audit.record
    wanted = max(audit.images("late-flush"), key=missing_of)
    place = ["--cut-at", wanted["cut"], "--draw", wanted["draw"]]
    digests = set()
    for number in range(2):
        kept = audit.folder / f"kept-{number}"
        again = audit.run("--replay", "--variant", "late-flush", *place, "--keep", kept)
        assert again.status == 0, again.stderr
        assert re.search(rf"\b{missing_of(wanted)} messages? at a cut|none lost in 1 cut", again.stdout), again.stdout
        disk = kept / f"cut-{wanted['cut']}-draw-{wanted['draw']}.image"
        digests.add(hashlib.sha256(disk.read_bytes()).hexdigest())
        disk.unlink()
    assert len(digests) == 1
    assert audit.record == before
    audit.check_clean()


@pytest.mark.parametrize("number, moment", [(signal.SIGKILL, "recording"), (signal.SIGINT, "cuts")])
def test_whatever_was_begun_is_undone_and_taken_up_again(audit, number, moment):
    audit("late-flush", cuts=5)
    started = audit.start("--seed", "11")
    if moment == "recording":
        wait_until(lambda: audit.mounts(), "a mount")
    else:
        wait_until(lambda: (audit.results / "audit.json").exists() and audit.images("late-flush"), "a disk that was judged",
                   timeout=60)
    started.signal(number)
    started.wait(60)
    if number == signal.SIGINT:
        audit.check_clean()
    done = audit.run("--resume", timeout=120)
    assert done.status == 0, done.stderr
    audit.check_clean()
    record = audit.record
    assert record["end"] == "all cuts done" and all(each["end"] == "all cuts done" for each in record["variants"])
    cuts = [image["cut"] for image in audit.images("late-flush")]
    assert cuts == sorted(cuts) and len(set(cuts)) == 5
    pairs = [(image["cut"], image["draw"]) for image in audit.images("late-flush")]
    assert len(pairs) == len(set(pairs))


@pytest.mark.parametrize("words, said", [
    (["--draw", "1"], "--draw: is for --cut-at"),
    (["--replay"], "--replay: needs --cut-at"),
    (["--variant", "nobody"], "no variant is called \"nobody\""),
    (["--expect", "safe=gone"], "neither kept nor lost"),
    (["--keep", "/tmp/nowhere"], "needs --cut-at"),
    (["--cuts", "0"], "--cuts: 0"),
])
def test_options_that_do_not_fit_are_refused(audit, words, said):
    done = audit("safe").run(*words)
    assert (done.status, done.stderr.count("\n")) == (1, 1) and said in done.stderr
    assert not audit.results.exists()


@pytest.mark.parametrize("line, said", [
    (('maildirs = ["${mount}/%u"]', ""), "what finds the mail after a cut"),
    (('argv = ["postal", "-L"', 'argv = ["postal", "--messages", "3", "-L"'), "--messages is decided by the audit"),
    (('argv = ["postal", "-L"', 'argv = ["rabid"'), "an audit needs postal"),
    (("messages = 60", "messages = 0"), "messages: want 1 to"),
    (("[audit]", "[audit]\nnonsense = 1"), "nonsense"),
])
def test_experiments_that_cannot_be_audited_are_refused(audit, line, said):
    audit("safe")
    text = audit.file.read_text()
    assert line[0] in text
    audit.file.write_text(text.replace(*line))
    done = audit.run()
    assert (done.status, done.stderr.count("\n")) == (1, 1), done.stderr
    assert said in done.stderr and re.match(r"postal-audit: \S+:\d+: ", done.stderr), done.stderr


def test_a_folder_of_somebody_else_is_left_alone(audit):
    audit("safe")
    audit.results.mkdir()
    (audit.results / "letter").write_text("dear")
    done = audit.run()
    assert done.status == 1 and "is there already" in done.stderr
    assert os.listdir(audit.results) == ["letter"]


def test_an_experiment_without_audit_is_none(programs):
    sample = pathlib.Path(ROOT / "conf/experiments/sessions.toml")
    done = run_program([programs.postal_audit, "--check", sample])
    assert done.status == 1 and "has no [audit]" in done.stderr
