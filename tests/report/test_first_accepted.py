# SPDX-License-Identifier: GPL-3.0-or-later
"""How long the first accepted message took: measured by programs, and shown in every form of a report."""
import csv
import io

import pytest
import sample_records
from printed import run

COLUMN = "first_accepted_s"


def column(run, path):
    [row] = csv.DictReader(io.StringIO(run(path, "--csv").stdout))
    return row.get(COLUMN)


def test_a_sender_and_a_server_measure_it(bhm, postal, users_file):
    hole = bhm("--delay", "end=300ms")
    sent = postal("--messages", "3", "-t", "1", hole.endpoint, users_file(2))
    received = hole.stop()
    assert 0.3 <= sent.record[COLUMN] < 0.6, "of the first, not of the last"
    assert sent.record[COLUMN] < sent.record["duration_s"]
    assert 0.3 <= received.record[COLUMN] <= received.record["duration_s"]


def test_the_warm_up_counts(bhm, postal, users_file):
    sent = postal("--rate", "200/s", "--warmup", "1s", "--duration", "2s", "-t", "1", bhm().endpoint, users_file(2))
    assert sent.record[COLUMN] < 1


def test_where_nothing_is_accepted_there_is_none(bhm, postal, users_file):
    hole = bhm("--max-size", "1")
    sent = postal("--messages", "2", "-t", "1", "-m", "50", "-M", "50", hole.endpoint, users_file(2), status=4)
    assert sent.total("messages") == 0 and COLUMN not in sent.record
    assert COLUMN not in hole.stop().record


@pytest.mark.parametrize("seconds, shown, cell", [(0.0123, "12.3 ms", "0.012"), (4.5, "4.50 s", "4.500")])
def test_every_form_shows_it(run, tmp_path, seconds, shown, cell):
    path = sample_records.write(tmp_path / "run.json", sample_records.record(**{COLUMN: seconds}))
    for words in ((), ("--markdown",), ("--html", "-")):
        out = run(path, *words).stdout
        assert "first message after" in out and shown in out
    assert column(run, path) == cell


def test_of_a_record_without_it_nothing_is_said(run, tmp_path):
    path = sample_records.write(tmp_path / "run.json", sample_records.record())
    assert "first message after" not in run(path).stdout and column(run, path) is None
