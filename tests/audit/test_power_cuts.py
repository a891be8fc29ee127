# SPDX-License-Identifier: GPL-3.0-or-later
"""postal-audit: servers that flush and servers that do not, below the same power cuts."""
import hashlib
import json
import os
import pathlib
import re
import signal

import pytest

from conftest import ROOT
from support.audit import missing_of
from support.postal import run as run_program
from support.process import free_port, wait_until

pytestmark = pytest.mark.usefixtures("storage", "audit_tools")

FAULTS = ("no-folder", "late-flush", "ack-first", "nothing")
# On ext4 the flush of a file makes sure of its name, too, where the name was given before.
CAREFUL = ("safe", "rename-first")


def test_each_fault_is_found_and_care_is_not_accused(audit, sized):
    careful, faults = sized((CAREFUL[:1], FAULTS[-2:]), (CAREFUL, FAULTS))
    audit(*careful, *faults)
    expected = [f"--expect={fault}=lost" for fault in faults] + [f"--expect={each}=kept" for each in careful]
    done = audit.run(*expected, timeout=240)
    assert done.status == 0, done.stderr + done.stdout
    audit.check_clean()
    controls = {each["control"]: each for each in audit.record["variants"] if each["control"] != "no"}
    assert any(image["lost"] for image in controls["must_lose"]["images"])
    assert not any(missing_of(image) for image in controls["must_keep"]["images"])
    assert re.search(r"^safe: none lost in \d+ cuts \(at most \d", done.stdout, re.MULTILINE)
    for image in audit.images("safe"):
        assert image["failure"] == "" and image["found"] == image["acknowledged"]
    for fault in faults:
        for image in audit.images(fault):
            assert image["found"] + image["lost"] == image["acknowledged"] <= 60
    # Nothing was flushed, so that whatever was not written by itself is gone; unless somebody else's sync(2), which is for all
    # file systems of the machine, fell into the recording.
    nothing, = (each for each in audit.record["variants"] if each["name"] == "nothing")
    assert nothing["flushes"] > 0 or all(image["found"] == 0 for image in nothing["images"] if image["survival"] == "none")


@pytest.mark.thinned(2)
@pytest.mark.parametrize("fails", ["once", "always"])
def test_a_disk_is_out_of_reach_when_it_is_so_three_times(audit, fails):
    """What a busy machine holds up, or anybody's mishap, is no mail that a cut took."""
    audit("safe", cuts=2)
    again = "[ $(wc -l < tries) -ne 1 ]" if fails == "once" else "false"
    recover = f'recover = [["sh", "-c", "cd ${{experiment}}; echo try >> tries; {again}"]]'
    audit.file.write_text(audit.file.read_text().replace("[audit]\n", f"[audit]\n{recover}\n"))
    done = audit.run("--seed", "11", timeout=120)
    images = audit.images("safe")  # the controls recover in their own way
    tries = len((audit.folder / "tries").read_text().splitlines())
    if fails == "once":
        assert done.status == 0, done.stderr
        assert tries == len(images) + 1 and not any(image["failure"] for image in images)
        assert len(re.findall(r"cut at \d+, draw \d+: read at try 2; the first: .*mail.toml:\d+: sh ended with status 1", done.stderr)) == 1
    else:
        assert tries == 3 * len(images) and all("sh ended with status 1" in image["failure"] for image in images)
        assert "read at try" not in done.stderr
    audit.check_clean()


def test_a_cut_can_be_had_again(audit):
    audit("late-flush", cuts=3)
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
        assert again.stdout.count(" lost message ") == len(wanted["first_lost"]) == min(wanted["lost"], 5)
        disk = kept / f"cut-{wanted['cut']}-draw-{wanted['draw']}.image"
        digests.add(hashlib.sha256(disk.read_bytes()).hexdigest())
        disk.unlink()
    assert len(digests) == 1
    assert audit.record == before
    audit.check_clean()


def told(done):
    """The variants that standard output names at the beginning of a line."""
    return {name for name in ("late-flush", "nothing", "safe") if re.search(rf"^ *{name}\b", done.stdout, re.MULTILINE)}


def test_a_replay_tells_of_what_it_replays(audit):
    audit("late-flush", "nothing", "safe", cuts=2)
    assert audit.run("--seed", "11", "--variant", "late-flush", "--variant", "nothing", timeout=120).status == 0
    place = str(audit.images("late-flush")[-1]["cut"])
    wrong = r"--cut-at: the load of nothing wrote entries \d+ to \d+ of its log$"
    again = audit.run("--replay", "--variant", "late-flush", "--cut-at", place)
    assert again.status == 0 and told(again) == {"late-flush"}, again.stdout
    # Of a cut of its own, where it has been recorded.
    both = audit.run("--replay", "--cut-at", place, "--draw", "0")
    if both.status == 0:
        assert told(both) == {"late-flush", "nothing"}
    else:
        assert both.status == 1 and re.search(wrong, both.stderr)
    for words, said in ((["--variant", "nothing", "--cut-at", "999999"], wrong),
                        (["--variant", "safe", "--cut-at", place], r"--replay: \S+recording\.json: cannot be read: No such file or directory$")):
        refused = audit.run("--replay", *words)
        assert (refused.status, refused.stdout, refused.stderr.count("\n")) == (1, "", 1) and re.search(said, refused.stderr), refused.stderr
    audit.check_clean()


def test_an_audit_goes_on_as_it_was_begun(audit):
    audit("safe", messages=20, cuts=2)
    assert audit.run("--torn", "50%", timeout=120).status == 0
    before = audit.record
    assert before["settings"][0]["values"]["mode"] == "safe"
    for way in (["--resume"], ["--replay", "--cut-at", str(audit.images("safe")[0]["cut"])]):
        for words, said in ((["--set", "port=1"], f"{way[0]}: the variables of safe are not those that it was begun with"),
                            (["--seed", "6"], f"{way[0]}: its seed is 5; leave --seed out"),
                            (["--torn", "10%"], "--torn: the audit was begun with 50%"), (["--draws", "2"], "--draws: the audit was begun with 3")):
            refused = audit.run(*way, *words)
            assert (refused.status, refused.stderr.count("\n")) == (1, 1) and said in refused.stderr, refused.stderr
    refused = audit.run("--resume", "--cut-at", "5")
    assert refused.status == 1 and "--resume: the audit was begun with cuts of its own; leave --cut-at out" in refused.stderr
    assert audit.record == before
    # On another machine nothing is added to it, and whoever looks again is told.
    (audit.results / "audit.json").write_text(json.dumps(before | {"host": before["host"] | {"kernel": "Linux 2.4"}}))
    refused = audit.run("--resume")
    assert refused.status == 1 and "--resume: the kernel was Linux 2.4 when it was begun and is Linux" in refused.stderr
    looked = audit.run(*way)
    assert looked.status == 0 and "--replay: the kernel was Linux 2.4 when it was begun" in looked.stderr
    # A version that did not record them.
    (audit.results / "audit.json").write_text(json.dumps({key: value for key, value in before.items() if key != "settings"}))
    assert audit.run(*way).status == 0 and audit.run("--resume").status == 0
    audit.check_clean()


@pytest.mark.parametrize("left_alone", [("\"${users}\"", "\"2\""), ("100:0", "0:0")], ids=["some mailboxes", "some mail"])
def test_mail_that_nobody_looked_for_is_not_lost(audit, tool, left_alone):
    tool("dovecot")
    sample = (ROOT / "conf/experiments/power-cut-dovecot.toml").read_text()
    reader = sample.index("read = ")
    audit.file.write_text(sample[:reader] + sample[reader:].replace(*left_alone, 1))
    done = audit.run("--variant", "mail_fsync=always", "--cuts", "3", "--draws", "1", "--messages", "60", "--set", f"port={audit.port}",
                     "--set", f"imap_port={free_port()}", "--set", "users=10", "--set", "size=128M", timeout=120)
    assert done.status == 2, done.stdout + done.stderr
    assert re.search(r"mail_fsync=always: \d disks? looked at; cut at \d+, draw \d: nobody looked for \d+ of \d+ acknowledged messages: `read` did "
                     r"not visit the mailbox of user\d+@example\.com, or left", done.stderr), done.stderr
    assert not any(image["lost"] or image["failure"] for image in audit.images("mail_fsync=always"))
    assert "acknowledged mail lost" not in done.stdout.split("\n", 1)[0]
    audit.check_clean()


@pytest.mark.thinned(2)
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
    assert len(set(cuts)) == 5 and cuts != sorted(cuts), "in an order of the seed's, not the log's"
    pairs = [(image["cut"], image["draw"]) for image in audit.images("late-flush")]
    assert len(pairs) == len(set(pairs))


def test_a_disk_that_stalls_is_taken_away(audit):
    audit("safe", messages=3000)
    audit.file.write_text(audit.file.read_text().replace("[audit]", '[audit]\nstall_limit = "2s"'))
    started = audit.start()
    wait_until(lambda: list(audit.results.glob("audit/1*/sent.ledger")), "a load that is recorded", timeout=60)
    daemon, = (pid for pid, words in audit.children(started.pid) if words[0].endswith("qemu-storage-daemon"))
    os.kill(daemon, signal.SIGSTOP)
    done = started.wait(60)
    assert done != 0 and "did nothing for 2s and was taken away" in started.stderr, started.stderr
    audit.check_clean()


def test_torn_writes_are_told(audit):
    """Of few writes that were not flushed it may be that none is torn: so there are many draws of them."""
    audit("nothing", cuts=2)
    done = audit.run("--torn", "50%", "--draws", "8", timeout=120)
    assert done.status == 0, done.stderr
    torn = [image for image in audit.images("nothing") if image["torn"]]
    assert torn and all(image["survival"] == "some" and image["torn"] <= image["survived"] for image in torn)
    assert audit.record["torn_percent"] == 50


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
