# SPDX-License-Identifier: GPL-3.0-or-later
"""Experiments on file systems of their own, on loop devices: ext4 below Dovecot, full disks, disks of somebody else's."""
import pathlib
import re
import signal
import subprocess

import pytest
from support.process import wait_until

pytestmark = pytest.mark.usefixtures("storage")

SAMPLE = pathlib.Path(__file__).resolve().parents[2] / "conf/experiments/ext4-mount-options.toml"
EXT4 = '[storage]\nsize = "{size}"\nmake = {make}\ntype = "ext4"\noptions = "{options}"\ndrop_caches = false\n'
MAKE = '["mkfs.ext4", "-q", "${device}"]'


def ext4(size="16M", make=MAKE, options="", device=""):
    return EXT4.format(size=size, make=make, options=options) + (f'device = "{device}"\n' if device else "")


def test_ext4_with_and_without_barriers_below_dovecot(experiment, tool, sized):
    """The sample, with fewer variants and shorter runs: what barrier=0 saves is flushes of the device."""
    tool("dovecot")
    text, blocks = SAMPLE.read_text(), sized(2, 3)
    head, *variants = text.split("[[variant]]")
    chosen = [each for each in variants if re.search(r'name = "(default|default again|barrier=0)"', each)]
    assert len(chosen) == 3
    experiment.file.write_text("[[variant]]".join([head, *chosen]))
    ended = experiment.run("--set", "size=64M", "--set", f"port={experiment.port}", "--set", "sessions=2", "--duration", "1200ms",
                           "--warmup", "0s", "--blocks", blocks, "--seed", "5")
    assert ended.status == 0, ended.stderr
    experiment.check_clean()
    record = experiment.record
    assert {run[:2] for run in experiment.runs} == experiment.planned and len(experiment.runs) == 3 * blocks
    assert all(run[2] == "complete" for run in experiment.runs), ended.stderr
    for run, (_, variant, _) in zip(record["runs"], experiment.runs):
        assert re.match(r"/dev/loop\d+ .*/results/mount ext4 ", run["mounted"])
        assert ("nobarrier" in run["mounted"]) == (variant == "barrier=0")
        assert run["flush_median_s"] > 0 and run["caches"] == "dropped" and len(run["devices"]) == 1
        load = experiment.load(run["loads"][0])
        assert load["totals"]["messages"] > 0 and load["totals"]["errors"] == 0
    metrics = {each["metric"]: each for each in record["analysis"]["metrics"]}
    values = {name: [block for block in metrics[name]["blocks"]] for name in metrics}
    assert {"messages", "p50", "cpu", "written", "flushes"} <= set(values)
    for block in values["flushes"]:
        assert block[0] > 0 and block[1] > 0 and block[2] == 0, "barrier=0 flushes nothing"
    for name in ("messages", "cpu", "written"):
        assert all(value > 0 for block in values[name] for value in block), name
    assert [each["variant"] for each in metrics["messages"]["comparisons"]] == ["barrier=0"]
    assert metrics["messages"]["same"]["variant"] == "default again"
    for said in ("storage: flushes", "storage: written", "processors, user", '"barrier=0" '):
        assert said in ended.stdout, said
    # Which of Dovecot's processes come to a tick of the processor's clock is left to chance.
    assert re.search(r"\b(dovecot|lmtp): processor time", ended.stdout), ended.stdout
    assert "dovecot --version" in record["versions"]
    assert experiment.verify().status == 0


@pytest.mark.full
def test_versions_of_dovecot_in_roots_of_their_own(experiment, tool):
    """The sample as it is: this machine's own root is all three variants'."""
    tool("dovecot")
    experiment.file.write_text(SAMPLE.with_name("dovecot-versions.toml").read_text())
    ended = experiment.run("--set", "size=64M", "--set", f"port={experiment.port}", "--set", "sessions=2", "--duration", "1s",
                           "--warmup", "0s", "--blocks", "1")
    assert ended.status == 0, ended.stderr
    experiment.check_clean()
    assert [run[2] for run in experiment.runs] == ["complete"] * 3, ended.stderr
    for run in experiment.record["runs"]:
        totals = experiment.load(run["loads"][0])["totals"]
        assert totals["messages"] > 0 and totals["errors"] == 0
    version = subprocess.run(["dovecot", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    assert version in str(experiment.record["versions"])


HOLD = "echo held >> ${experiment}/reached; until [ -e ${experiment}/go ]; do sleep 0.02; done"
STEPS = {
    "make": (f'["sh", "-c", "{HOLD}; exec mkfs.ext4 -q ${{device}}"]', "[]"),
    "prepare": (MAKE, f'[["sh", "-c", "cd ${{mount}}; {HOLD}"]]'),
}


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=lambda how: how.name)
@pytest.mark.parametrize("step", STEPS)
def test_ended_with_storage_and_resumed(experiment, step, how):
    make, prepare = STEPS[step]
    experiment(more=ext4(make=make), prepare=prepare, duration="1s")
    under_way = experiment.start()
    wait_until((experiment.folder / "reached").exists, lambda: under_way.stderr)
    assert len(experiment.loops()) == 1 and bool(experiment.mounts()) == (step == "prepare")
    under_way.signal(how)
    under_way.wait(30)
    if how == signal.SIGKILL:
        assert experiment.loops(), "nobody could undo it"
    else:
        experiment.check_clean()
    (experiment.folder / "go").touch()
    resumed = experiment.run("--resume")
    assert resumed.status == 0, resumed.stderr
    assert ("undoing what was left behind" in resumed.stderr) == (how == signal.SIGKILL)
    assert {run[:2] for run in experiment.runs if run[2] == "complete"} == experiment.planned
    experiment.check_clean()


def test_a_mount_that_somebody_copied_is_named(experiment):
    """Such as mount --rbind of a folder above it, for a chroot: the disk stays in use, and the remedy is the line for it."""
    copy = experiment.folder / "copy of it"
    copy.mkdir()
    experiment(more=ext4(), blocks=1, prepare=f'[["sh", "-c", "test -e ${{experiment}}/go || mount --bind ${{mount}} \'{copy}\'"]]')
    ended = experiment.run()
    try:
        assert ended.status == 2, ended.stderr
        left = [line for line in ended.stderr.splitlines() if "; remove it with: " in line]
        assert re.search(r"/dev/loop\d+ is still mounted on .*/copy of it, where somebody else copied it to; ", left[0]), left
        remedy = left[0].rpartition("; remove it with: ")[2]
        assert remedy == f"umount '{copy}'"
    finally:
        subprocess.run(["umount", copy], check=True)
    (experiment.folder / "go").touch()
    resumed = experiment.run("--resume")
    assert "undoing what was left behind" in resumed.stderr and "remove it with" not in resumed.stderr, resumed.stderr
    experiment.check_clean()


def test_a_full_disk_voids_its_block(experiment):
    """Mail goes to a file on the storage, where little is left."""
    start = '[["lmtp-deliver", "--allow-root-agent", "--listen", "127.0.0.1:${port}", "--agent", "/usr/bin/tee -a ${mount}/mail"]]'
    fill = "cd ${mount}; dd if=/dev/zero of=spare bs=64k count=1; dd if=/dev/zero of=ballast bs=64k; sync; rm spare; test -s ballast"
    experiment(more=ext4(size="20M"), start=start, prepare=f'[["sh", "-c", "{fill}"]]', duration="500ms")
    text = experiment.file.read_text().replace('"--rate", "6000"', '"-L", "--rate", "3000", "--size", "fixed:20K"')
    experiment.file.write_text(text)
    ended = experiment.run()
    assert ended.status == 4, ended.stderr
    assert all(run[2] == "complete" for run in experiment.runs)
    assert "% errors, more than 1.0 %" in experiment.blocks()[1]
    experiment.check_clean()


def test_mount_options_that_are_refused(experiment):
    ended = experiment(more=ext4(options="no_such_option"), blocks=3).run()
    assert ended.status == 4 and "no_such_option" in ended.stderr + str(experiment.blocks())
    assert ended.stderr.count("failed, which voids the block: ") == 2
    experiment.check_clean()


@pytest.fixture
def disk(folder):
    """A block device that stands for somebody's disk."""
    image = folder / "disk"
    with open(image, "wb") as file:
        file.truncate(20 << 20)
    done = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, text=True, check=True)
    device = done.stdout.strip()
    yield device
    subprocess.run(["losetup", "-d", device], check=True)


def test_a_disk_that_holds_something_or_is_mounted(experiment, disk):
    experiment(more=ext4(device=disk))
    subprocess.run(["mkfs.ext4", "-q", "-L", "precious", disk], check=True)
    refused = experiment.run()
    assert refused.status == 1 and "precious" in refused.stderr and "mail.toml:" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1 and not experiment.results.exists()
    place = experiment.folder / "theirs"
    place.mkdir()
    subprocess.run(["mount", disk, place], check=True)
    try:
        for options in ([], ["--overwrite"], ["--check", "--overwrite"]):
            refused = experiment.run(*options)
            assert refused.status == 1 and "mount" in refused.stderr, refused.stderr
            assert not experiment.results.exists()
    finally:
        subprocess.run(["umount", place], check=True)
    label = subprocess.run(["blkid", "-p", "-s", "LABEL", "-o", "value", disk], capture_output=True, text=True, check=True)
    assert label.stdout.strip() == "precious"


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=lambda how: how.name)
def test_ended_while_a_disk_gets_its_file_system_and_resumed(experiment, disk, how):
    """What is half made there is the experiment's own."""
    experiment(more=ext4(device=disk, make=f'["sh", "-c", "mkfs.ext4 -q ${{device}}; {HOLD}"]'))
    under_way = experiment.start()
    wait_until((experiment.folder / "reached").exists, lambda: under_way.stderr)
    under_way.signal(how)
    under_way.wait(30)
    (experiment.folder / "go").touch()
    resumed = experiment.run("--resume")
    assert resumed.status == 0, resumed.stderr
    assert {run[:2] for run in experiment.runs if run[2] == "complete"} == experiment.planned
    assert not experiment.mounts() and experiment.left() == []


def test_two_experiments_at_once_on_one_disk(experiment, disk):
    """The second is refused, also after a look at the disk that found nothing: the first has it."""
    experiment(more=ext4(device=disk, make='["mkfs.ext4", "-q", "-F", "${device}"]'), prepare=f'[["sh", "-c", "{HOLD}"]]')
    first = experiment.start()
    wait_until((experiment.folder / "reached").exists, lambda: first.stderr)
    for options in ([], ["--overwrite"]):
        second = experiment.run("--out", experiment.folder / "other", *options)
        assert second.status == 1 and disk in second.stderr, second.stderr
        assert not (experiment.folder / "other").exists()
    (experiment.folder / "go").touch()
    assert first.wait() == 0, first.stderr
    assert all(run[2] == "complete" for run in experiment.runs) and len(experiment.runs) == 2
    again = experiment.run("--resume")
    assert again.status == 0 and len(experiment.runs) == 2
    assert not experiment.mounts() and experiment.left() == []


def test_no_space_for_the_results(experiment):
    place = experiment.folder / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20k", "none", place], check=True)
    try:
        experiment.results = place / "results"
        ended = experiment(blocks=3).run()
        assert ended.status == 2
        assert "experiment.json: cannot be written: No space left on device" in ended.stderr
        assert "ended before all blocks were done: the record cannot be written" in ended.stderr
        assert experiment.left() == []
    finally:
        subprocess.run(["umount", place], check=True)
