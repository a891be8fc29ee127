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
