# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that fail, servers that break, and teardowns that do not work: what is said and what goes on."""
import os
import re
import signal

import pytest
from support.process import wait_until


def test_a_server_that_dies_under_load_voids_its_block(experiment):
    """The first of block 1 loses its server; the second of that block is left out, and block 2 takes place."""
    experiment(blocks=2, duration="1s")
    under_way = experiment.start()
    log = wait_until(lambda: list(experiment.results.glob("runs/b01-1-*/delivery.log")), "the load")[0]
    wait_until(lambda: log.read_text().count("\n") > 1, lambda: log.read_text())
    server = [pid for pid, words in experiment.children(under_way.pid) if words[0] == "bhm"]
    os.kill(server[0], signal.SIGKILL)
    assert under_way.wait() == 0, under_way.stderr
    assert [run[0] for run in experiment.runs] == [1, 2, 2]
    assert experiment.record["runs"][0]["state"] == "failed"
    why = "bhm was ended by signal 9 (Killed)"
    assert why in experiment.record["runs"][0]["reason"] and why in experiment.blocks()[1] and experiment.blocks()[2] is None
    assert "failed, which voids the block: " in under_way.stderr and "! Block 1 is voided: " in under_way.stdout
    verified = experiment.verify()
    assert verified.status == 0 and "noted: runs/b01-1-" in verified.stdout and why in verified.stdout
    experiment.check_clean()


# The parts of the experiment, and what is said; nothing but two failed runs takes place.
@pytest.mark.parametrize("parts, said, at", [
    ({"setup": 'setup = [["sh", "-c", "echo no luck; exit 7"]]'}, "sh ended with status 7: no luck", "setup = "),
    ({"prepare": '[["sh", "-c", "kill -SEGV $$"]]'}, "sh was ended by signal 11 (Segmentation fault)", "prepare = "),
    ({"start": '[["sh", "-c", "echo cannot bind; exit 1"]]'}, "sh ended with status 1: cannot bind", "start = "),
    ({"start": '[["sleep", "60"]]', "server": 'start_limit = "200ms"'}, "lets no connection in after 200ms", "[server]"),
    ({"prepare": '[["sleep", "60"]]', "limit": "200ms"}, "sleep did not end within 200ms", "prepare = "),
    ({"start": '[["sh", "-c", "exit 0"]]'}, "sh ended with status 0", "start = "),
    ({"load": '"--wrong-option"'}, "postal ended with status 1: postal: --wrong-option: unknown option", "argv = "),
    ({"load": '"--sessions", "none"'}, "postal ended with status 1: postal: --sessions", "argv = "),
    ({"more": '[[file]]\npath = "/proc/none/x"\ntext = "x"'}, "/proc/none: cannot be made", "[[file]]"),
])
def test_a_step_that_fails_in_two_blocks_ends_it(experiment, parts, said, at):
    parts = {"limit": "20s", "load": '"--rate", "6000"', **parts}
    limit, load = parts.pop("limit"), parts.pop("load")
    experiment(blocks=5, **parts)
    text = experiment.file.read_text().replace('command_limit = "20s"', f'command_limit = "{limit}"')
    experiment.file.write_text(text.replace('"--rate", "6000"', load))
    ended = experiment.run()
    assert ended.status == 4, ended.stderr
    lines = ended.stderr.splitlines()
    assert len(lines) == 3 and all(said in line for line in lines[:2]), ended.stderr
    texts = [""] + experiment.file.read_text().splitlines()
    for line in lines[:2]:
        assert at in texts[int(re.search(r"mail\.toml:(\d+): ", line)[1])], line
    assert lines[2].endswith("ended before all blocks were done: 2 blocks in a row have failed")
    assert [run[0] for run in experiment.runs] == [1, 2] and all(run[2] == "failed" for run in experiment.runs)
    assert all(said in voided for voided in experiment.blocks().values())
    experiment.check_clean()
    assert experiment.verify().status == 0


def test_errors_above_the_bound_void_the_block(experiment):
    (experiment.folder / "known").write_text("somebody.else@example.com\n")
    start = '[["bhm", "--listen", "127.0.0.1:${port}", "${experiment}/users-of-${variant}"]]'
    (experiment.folder / "users-of-one").write_text("user@example.com\n")
    (experiment.folder / "users-of-two").write_text("user@example.com\n")
    (experiment.folder / "users").write_text("user@example.com\nnobody@example.com\n")
    ended = experiment(blocks=1, start=start).run()
    assert ended.status == 4, "no block counts"
    assert all(run[2] == "complete" for run in experiment.runs) and len(experiment.runs) == 2
    assert "% errors, more than 1.0 %" in experiment.blocks()[1]
    assert "voids the block: delivery: " in ended.stderr
    experiment.check_clean()


def test_a_teardown_that_fails_ends_it_and_says_what_is_left(experiment):
    """The remedy is a line for a shell; once it works, --resume goes on."""
    teardown = 'teardown = [["sh", "-c", "test -e ${experiment}/mended || { echo no way back; exit 5; }"]]'
    experiment(blocks=2, setup=teardown)
    ended = experiment.run()
    assert ended.status == 2
    assert len(experiment.runs) == 1 and experiment.record["end"] == "something is left behind"
    left = [line for line in ended.stderr.splitlines() if "; remove it with: " in line]
    assert len(left) == 1 and "sh ended with status 5: no way back" in left[0], ended.stderr
    assert left[0].rpartition("; remove it with: ")[2].startswith("sh -c 'test -e ")
    again = experiment.run("--resume")
    assert again.status == 2 and again.stderr.count("status 5: no way back") == 2, "that of before, and that of the next run"
    assert again.stderr.count("; remove it with: ") == 1 and len(experiment.runs) == 2
    (experiment.folder / "mended").touch()
    resumed = experiment.run("--resume")
    assert resumed.status == 0, resumed.stderr
    assert len(experiment.runs) == 4 and set(run[:2] for run in experiment.runs) == experiment.planned
    experiment.check_clean()


def test_a_teardown_that_was_done_by_hand_holds_nothing_up(experiment):
    """It cannot be done twice: what is told of it is no reason to stop."""
    teardown = 'setup = [["mkdir", "${experiment}/own"]]\nteardown = [["sh", "-c", "test -e ${experiment}/mended && rmdir ${experiment}/own"]]'
    experiment(setup=teardown)
    assert experiment.run().status == 2
    (experiment.folder / "own").rmdir()
    (experiment.folder / "mended").touch()
    resumed = experiment.run("--resume")
    assert resumed.status == 0 and "rmdir: " in resumed.stderr and "remove it with" not in resumed.stderr, resumed.stderr
    assert set(run[:2] for run in experiment.runs) == experiment.planned
    experiment.check_clean()


def test_who_stays_behind_is_ended(experiment):
    """A daemon that left its group, its session and its parent."""
    daemon = "setsid sh -c 'touch ${run}/up; exec sleep 60' & until [ -e ${run}/up ]; do sleep 0.01; done"
    ended = experiment(prepare=f'[["sh", "-c", "{daemon}"]]').run()
    assert ended.status == 0, ended.stderr
    assert len(re.findall(r"left behind and now ended: sleep", ended.stderr)) == 2, ended.stderr
    experiment.check_clean()
