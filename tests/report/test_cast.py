# SPDX-License-Identifier: GPL-3.0-or-later
"""scripts/cast and the recording in docs/pictures: an asciicast of programs that did what it shows."""
import json
import re
import subprocess

import pytest
from conftest import ROOT

KEPT = ROOT / "docs/pictures/postal.cast"


def read(path):
    """What it shows, without what a terminal does with it."""
    head, *events = map(json.loads, path.read_text().splitlines())
    assert head["version"] == 2 and head["width"] > 0 and head["height"] > 0
    times = [time for time, kind, _ in events]
    assert times == sorted(times) and {kind for _, kind, _ in events} == {"o"} and times[-1] < 120
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", "".join(text for _, _, text in events)).replace("\r", "")


def check(shown):
    assert [line.split()[:3] for line in re.findall(r"(?m)^\$ (.*)$", shown)] == [
        ["postal", "--open-loop", "--rate"], ["postal-report", "--ledger", "mail.ledger"],
        ["postal-report", "--bundle", "run.tar.gz"], ["postal-report", "--verify", "run.tar.gz"]]
    assert re.search(r"postal: 1,200 messages accepted in ", shown)
    assert "mail.ledger: 1,200 acknowledged messages: nothing lost, nothing corrupt" in shown
    # The ledger itself is not in it.
    assert re.search(r"\nVerified in part: \d+ lines of text and \d+ figures follow from 1 file of the bundle; what is unchecked may say anything\.\s*\Z", shown)


def test_what_is_kept():
    check(read(KEPT))
    assert KEPT.stat().st_size < 50000


@pytest.mark.serial
@pytest.mark.beside_others
def test_what_is_recorded(programs, tmp_path):
    done = subprocess.run([ROOT / "scripts/cast", tmp_path / "new.cast"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    check(read(tmp_path / "new.cast"))
