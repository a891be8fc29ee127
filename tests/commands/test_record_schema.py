# SPDX-License-Identifier: GPL-3.0-or-later
"""The schema of run records, which each record of each test is held against, refuses what is no such record."""
import copy

import pytest

from support.record_schema import check_record


@pytest.fixture
def record(bhm, postal, users_file):
    return postal("--messages", "5", "--interval", "1s", bhm().endpoint, users_file(2)).record


def harmed(record, change):
    one = copy.deepcopy(record)
    change(one)
    return one


@pytest.mark.parametrize("change", [
    lambda one: one.update(surprise=1),
    lambda one: one["totals"].update(surprise=1),
    lambda one: one["intervals"][0].update(surprise=1),
    lambda one: one["latency_us"]["message"].update(surprise=1),
    lambda one: one.pop("errors"),
    lambda one: one["totals"].pop("in_doubt"),
    lambda one: one["totals"].update(messages=-1),
    lambda one: one["totals"].update(messages="5"),
    lambda one: one.update(started="2026-01-01 00:00:00"),
    lambda one: one["generator"].update(verdict="fine"),
])
def test_what_is_no_record(record, change):
    check_record(record)
    with pytest.raises(AssertionError, match=r"\$"):
        check_record(harmed(record, change))
