# SPDX-License-Identifier: GPL-3.0-or-later
"""What a record has over time adds up: seconds and intervals tell of the same connections and the same processor time."""
import pytest

SESSIONS = 6


def area(stretches):
    """Of [start, end, mean]."""
    return sum((end - start) * mean for start, end, mean in stretches)


@pytest.mark.parametrize("options", [("--rate", "100/s"), ("--rate", "100/s", "--open-loop", "--warmup", "1s")])
def test_seconds_and_intervals_add_up_to_the_same(bhm, postal, users_file, options):
    hole = bhm()
    run = postal("-t", str(SESSIONS), "--workers", "2", "-c", "-1", "-m", "1", "--duration", "4s", "--interval", "1500ms", *options,
                 hole.endpoint, users_file(10))
    seconds = run.record["seconds"]
    before = [each for each in run.record["intervals"] if not each["draining"]]
    after = [each for each in run.record["intervals"] if each["draining"]]
    rounding = 1e-4 * (len(before) + len(seconds["t_s"]))
    assert sum(seconds["messages"]) == sum(each["messages"] for each in before)
    assert sum(seconds["worker_cpu_s"]) == pytest.approx(sum(each["worker_cpu_s"] for each in before), abs=rounding)
    assert sum(seconds["asked"]) == pytest.approx(sum(each["asked"] for each in before), abs=rounding) == pytest.approx(400, abs=1)
    assert all(each["asked"] == 0 for each in after)

    starts = [0.0, *seconds["t_s"]]
    by_second = area(zip(starts, seconds["t_s"], seconds["open_connections"]))
    assert by_second == pytest.approx(area((each["start_s"], each["t_s"], each["open_connections"]) for each in before), abs=0.01)
    assert 0 < by_second <= SESSIONS * run.record["duration_s"] + 0.01
    # Of other threads there is some more.
    totals = run.record["totals"]
    workers_s = sum(each["worker_cpu_s"] for each in run.record["intervals"])
    assert 0 < workers_s <= totals["cpu_user_s"] + totals["cpu_system_s"] + 0.02
