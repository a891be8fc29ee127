# SPDX-License-Identifier: GPL-3.0-or-later
"""postal-report about runs on many machines: the table, the remarks, CSV by rank, the chart."""
import csv
import io
import json
import re

import sample_records
from printed import run


def of_ranks(folder, number, name="run.json", **changes):
    return sample_records.write(folder / name, sample_records.with_ranks(number, **changes))


def test_each_rank_has_a_line(run, tmp_path):
    text = run(of_ranks(tmp_path, 4)).stdout
    table = text[text.index("\nRanks"):].split("\n\n")[0].splitlines()
    lines = [line for line in table if re.match(r" *\d+ +gen\d", line)]
    assert [re.search(r"gen\d", line)[0] for line in lines] == ["gen0", "gen1", "gen2", "gen3"]
    assert "LIMIT" in lines[1] and "LOST after" in lines[3] and "1,234" in lines[3]
    assert "ppm" in lines[2]
    assert re.search(r"^! Rank 3 on gen3 was lost: last heard of after 312.5 s, at least 1,234 messages", text, re.M)
    assert "Ranks" in run(of_ranks(tmp_path, 4), "--markdown").stdout


def test_a_run_of_one_process_has_none(run, tmp_path):
    assert "Ranks" not in run(sample_records.write(tmp_path / "one.json", sample_records.record())).stdout


def test_several_records_name_theirs(run, tmp_path):
    text = run(of_ranks(tmp_path, 2, "two.json"), of_ranks(tmp_path, 3, "three.json")).stdout
    assert len(re.findall(r"^ *(?:two|three) +\d+ +gen\d", text, re.M)) == 5


def test_csv_has_a_line_for_each_rank(run, tmp_path):
    rows = list(csv.DictReader(io.StringIO(run(of_ranks(tmp_path, 4), "--csv", "--ranks").stdout)))
    assert [row["rank"] for row in rows] == ["0", "1", "2", "3"]
    assert rows[3]["lost_s"] == "312.500" and rows[3]["unaccounted"] == "1234" and rows[3]["done_s"] == ""
    assert "--ranks" in run(of_ranks(tmp_path, 4), "--ranks", status=1).stderr


def chart_of(page):
    return json.loads(re.search(r'id="chart-data">(.*?)</script>', page, re.S)[1])


def test_of_many_ranks_three_are_drawn(run, tmp_path):
    page = tmp_path / "page.html"
    run(of_ranks(tmp_path, 16), "--html", page)
    assert len(chart_of(page.read_text())["ranks"]) == 16
    run(of_ranks(tmp_path, 17), "--html", page)
    drawn = chart_of(page.read_text())["ranks"]
    assert len(drawn) == 3 and drawn[2]["label"] == "rank 16 on gen16"
    assert "Of 17 ranks" in page.read_text()


def test_the_chart_of_ranks_is_drawn(run, browser, tmp_path):
    page = tmp_path / "page.html"
    run(of_ranks(tmp_path, 4), "--html", page)
    shown = browser.open(page)
    assert (shown.complaints, shown.charts) == ([], 5)
    assert browser.too_wide_on_a_telephone(page) == ""


def test_a_host_name_cannot_write_into_the_page(run, tmp_path):
    hostile = sample_records.with_ranks(2)
    hostile["ranks"][1]["host"] = "</script><script>alert(1)</script>\x1b[31m"
    path = sample_records.write(tmp_path / "run.json", hostile)
    page = tmp_path / "page.html"
    run(path, "--html", page)
    assert "<script>alert" not in page.read_text()
    assert "\x1b" not in run(path).stdout


def test_a_page_of_an_hour_and_many_ranks_stays_small(run, browser, tmp_path):
    """With an interval a second. How fast it opens depends on the machine, how much it has to draw does not."""
    made = sample_records.with_ranks(30)
    first = {**made["intervals"][1], "warmup": False, "message_p90_us": 4400.123, "open_connections": 117.25, "worker_cpu_s": 0.875}
    made["intervals"] = [{**first, "start_s": float(at), "t_s": at + 1.0, "worker_cpu_s": 0.5 + at % 7 / 10} for at in range(3600)]
    for one in made["ranks"]:
        one["interval_messages"] = [8] * 3600
    page = tmp_path / "hour.html"
    run(sample_records.write(tmp_path / "hour.json", made), "--html", page)
    text = page.read_text()
    data = json.loads(re.search(r'<script type="application/json" id="chart-data">(.*?)</script>', text, re.S).group(1))
    assert len(text) < 2 << 20
    assert [len(one["intervals"]) for one in data["series"]] == [720] and max(len(one["intervals"]) for one in data["ranks"]) <= 750
    shown = browser.open(page)
    assert not shown.complaints and shown.charts == len(re.findall("<canvas role", text))
