# SPDX-License-Identifier: GPL-3.0-or-later
"""scripts/fuzz: what it reads of a fuzzer's words, its table, and how it ends. The fuzzers here are shell scripts."""
import importlib.machinery
import importlib.util
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAID = """INFO: Seed: 1
#2\tINITED cov: 10 ft: 12 corp: 1/1b exec/s: 0 rss: 30Mb
#9\tNEW    cov: 15 ft: 20 corp: 2/9b lim: 4 exec/s: 0 rss: 30Mb L: 8/8 MS: 1 InsertByte-
#524288\tpulse  cov: 15 ft: 20 corp: 2/9b lim: 4096 exec/s: 262144 rss: 31Mb
#600000\tDONE   cov: 16 ft: 22 corp: 3/10b lim: 4096 exec/s: 300000 rss: 31Mb
stat::number_of_executed_units: 600000
"""
CRASHED = """#2\tINITED cov: 10 ft: 12 corp: 1/1b exec/s: 0 rss: 30Mb
==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1
SUMMARY: AddressSanitizer: heap-buffer-overflow a.cpp:1 in f()
artifact_prefix='x/'; Test unit written to x/crash-1
"""


@pytest.fixture(scope="module")
def script():
    loader = importlib.machinery.SourceFileLoader("fuzz_script", str(ROOT / "scripts/fuzz"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("fuzz_script", loader))
    sys.modules["fuzz_script"] = module  # dataclasses look there
    loader.exec_module(module)
    return module


@pytest.fixture
def campaign(script, folder):
    """Of fuzzers that say that and end so."""
    def make(**fuzzers):
        (folder / "bin").mkdir()
        for name, (said, status) in fuzzers.items():
            (folder / "said").mkdir(exist_ok=True)
            (folder / "said" / name).write_text(said)
            fuzzer = folder / "bin" / f"fuzz_{name}"
            fuzzer.write_text(f"#!/bin/sh\ncat said/{name} >&2\nexit {status}\n")
            fuzzer.chmod(0o755)
        return script.Campaign(list(fuzzers), folder, 2)
    return make


def test_what_a_fuzzer_says(script):
    turn = script.Turn.of(SAID)
    assert (turn.executions, str(turn.first), str(turn.last), turn.reproducer) == (600000, "10/12", "16/22", "")
    turn = script.Turn.of(CRASHED)
    assert (turn.executions, turn.reproducer) == (2, "x/crash-1")
    assert turn.reason.startswith("AddressSanitizer: heap-buffer-overflow")
    assert script.Turn.of("").last is None


def test_table(script):
    first, second = script.Record("one"), script.Record("another")
    for _ in range(2):
        first.add(script.Turn.of(SAID), 2.0)
    lines = script.table([first, second], lambda name: (3, 2048)).splitlines()
    assert lines[0].split() == ["target", "executions", "/s", "cov/ft", "before", "after", "inputs", "KiB"]
    assert lines[1].split() == ["one", "1,200,000", "300,000", "10/12", "16/22", "3", "2"]
    assert lines[2].split() == ["another", "0", "0", "-", "-", "3", "2"]
    assert lines[3].split()[:3] == ["all", "1,200,000", "300,000"]
    assert len({len(line) for line in lines}) == 1


def test_all_ran(campaign):
    all_well = campaign(one=(SAID, 0), two=(SAID, 0))
    all_well.run(0.5)
    assert all_well.succeeded()
    assert all(one.executions >= 600000 for one in all_well.records.values())


def test_first_find_ends_all(campaign, capsys):
    broken = campaign(one=(CRASHED, 77), two=(SAID, 0))
    broken.run(60)
    assert broken.found == "one" and not broken.succeeded()
    assert "heap-buffer-overflow" in (said := capsys.readouterr().out)
    assert re.search(r"again with: \S+/bin/fuzz_one .* x/crash-1\n", said)


def test_nothing_ran(campaign):
    silent = campaign(one=("", 0), two=(SAID, 0))
    silent.run(0.1)
    assert not silent.succeeded()


def test_each_fuzzer_has_inputs(script):
    for name in script.targets():
        assert (ROOT / "tests/fuzz" / f"{name}.cpp").exists()
        assert any((ROOT / "tests/fuzz/corpus" / name).iterdir()), name
    every = [file.stat().st_size for file in (ROOT / "tests/fuzz/corpus").glob("*/*")]
    assert max(every) <= script.LARGEST_INPUT and sum(every) <= 2 * 1024 * 1024
    known = {f"{name}.dict" for name in script.targets()}
    assert {file.name for file in (ROOT / "tests/fuzz/dictionaries").iterdir()} <= known
