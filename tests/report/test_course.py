# SPDX-License-Identifier: GPL-3.0-or-later
"""postal-report: what is drawn over time of real runs, whole and short, and of records of before."""
import json
import re

import pytest
import sample_records
from printed import run


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="chart-data">(.*?)</script>', page, re.S).group(1))


def figures_of(page):
    return re.findall(r'<figure class="card chart" id="([^"]*)"', page)


@pytest.fixture
def short(tmp_path):
    """A run of 20 s within its first interval, with more and more connections."""
    def write(name="short.json", open_connections=None, processors=None, latencies=False, **changes):
        opened = open_connections or [min(20, 2 + 2 * second) for second in range(20)]
        made = sample_records.record(minutes=4, **changes)
        made["intervals"] = [{**made["intervals"][1], "start_s": 0.0, "t_s": 20.0, "message_p90_us": 5000.0, "asked": 6000.0,
                              "open_connections": opened[-1], "worker_cpu_s": 8.0, "partial": True}]
        made["seconds"] = {"width_s": 1, "warmup": 2, "t_s": [second + 1.0 for second in range(20)], "messages": [250] * 20,
                           "errors": [second % 2 for second in range(20)], "worker_cpu_s": processors or [0.1 * second + 0.1 for second in range(20)],
                           "open_connections": opened, "asked": [300.0] * 20}
        if latencies:
            made["seconds"].update({f"message_{name}_us": [None, *([us] * 19)] for name, us in (("p50", 1500), ("p90", 2500), ("p99", 9000))})
        return sample_records.write(tmp_path / name, made)
    return write


def test_a_short_run_is_drawn_by_the_second(run, short):
    page = run(short(), "--html", "-").stdout
    assert figures_of(page) == ["chart-rate", "chart-latency", "chart-distribution", "chart-errors", "chart-open", "chart-workers"]
    series = data_of(page)["series"][0]
    assert len(series["intervals"]) == 1 and len(series["seconds"]) == 20
    assert series["seconds"][3] == [3, 4, 15000, None, None, 0, 0, 1, 60, 18000, None, 8, 0.4]
    assert "By second, since the run has fewer than ten intervals" in page and "Seconds (20)" in page


def test_latencies_are_drawn_by_the_second_where_the_record_has_them(run, short):
    page = run(short(latencies=True), "--html", "-").stdout
    series = data_of(page)["series"][0]
    assert series["seconds"][0][3:5] == [None, None] and series["seconds"][1][3:5] == [1500, 9000] and series["seconds"][1][10] == 2500
    assert "accepted in each second." in page
    assert re.search(r"<th[^>]*>p50</th>.*<th[^>]*>connections open", page[page.index("Seconds (20)"):], re.S)
    before = run(short(), "--html", "-").stdout
    assert "accepted in each interval." in before
    both = run(short("a.json", latencies=True), short("b.json", seed=3), "--html", "-").stdout
    assert "accepted in each interval, or second of a run with fewer than ten." in both


def test_a_level_line_is_a_sentence(run, short):
    page = run(short(open_connections=[11.5] + [12] * 19, processors=[0.03] * 19 + [0.05]), "--html", "-").stdout
    assert not {"chart-open", "chart-workers"} & set(figures_of(page))
    assert "Connections open, on the average of each second: 11.5 to 12." in page
    assert "Processors that the workers kept busy, on the average of each second: 0.03 to 0.05." in page


def test_records_of_before_are_drawn_by_the_interval(run, tmp_path):
    page = run(sample_records.write(tmp_path / "old.json", sample_records.record()), "--html", "-").stdout
    assert figures_of(page) == ["chart-rate", "chart-latency", "chart-distribution", "chart-errors"]
    assert data_of(page)["series"][0]["seconds"] == [] and "Each step is one interval" in page and "By second" not in page


def test_the_curves_are_drawn(run, short, browser, tmp_path, sized):
    """Each figure has a chart, of two records each has its curves, and nothing is too wide."""
    target = tmp_path / "report.html"
    pages = [([short("a.json", latencies=True), short("b.json", seed=3)], 6), ([short(latencies=True)], 6),
             ([short("level.json", open_connections=[4] * 20)], 5)]
    for files, figures in pages[:sized(1, None)]:
        run(*files, "--html", target, "--force")
        shown = browser.open(target)
        assert (shown.complaints, shown.charts) == ([], figures)
        assert browser.too_wide_on_a_telephone(target) == ""
