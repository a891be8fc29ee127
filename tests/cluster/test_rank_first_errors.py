# SPDX-License-Identifier: GPL-3.0-or-later
"""Of several ranks rank 0 says the first error of a kind, once, with the rank that met it; --fail-fast and ';abort' end all."""
import pytest

from support.postal import read_record
from support.process import free_port
from support.ranks import run_ranks


@pytest.fixture
def whole(programs, folder, tool):
    """whole(3, word, …) runs postal in so many ranks to its end, with its record."""
    tool("mpirun")

    def begin(ranks, *words):
        path = folder / "whole.json"
        done = run_ranks(ranks, [programs.postal, "--record", path, "--workers", "1", *words], folder)
        done.record = read_record(path)
        return done
    return begin


def test_fail_fast_ends_all_ranks(whole, users_file):
    nobody = f"127.0.0.1:{free_port()}"
    done = whole(3, "--fail-fast", nobody, users_file(5))
    assert done.status == 4 and done.record["ended"] == "first_error" and done.record["duration_s"] < 20
    assert {one["ended"] for one in done.record["ranks"]} == {"first_error"}
    assert done.stderr.count("first error of its kind: ") == 1, done.stderr
    assert f"first error of its kind: connect refused at {nobody}" in done.stderr and "postal: rank " in done.stderr
    assert done.stderr.count("hint: ") == 1


def test_a_threshold_of_the_whole_run_ends_all_ranks(whole, bhm, users_file):
    sink = bhm(users_file([f"user{number}@example.com - {'r' if number == 4 else ''}" for number in range(5)]))
    done = whole(2, "--threshold", "rejected<1%;abort=20", "--rate", "50/s", sink.endpoint, users_file(5))
    assert done.status == 3 and done.record["ended"] == "threshold" and done.record["duration_s"] < 40
    assert {one["ended"] for one in done.record["ranks"]} == {"threshold"}
    assert done.record["thresholds"][0]["passed"] is False and done.record["totals"]["started"] >= 20
    for name in ("messages", "rejected", "started"):
        assert done.record["totals"][name] == sum(one["totals"][name] for one in done.record["ranks"]), name
