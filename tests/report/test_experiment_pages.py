# SPDX-License-Identifier: GPL-3.0-or-later
"""postal-report of an experiment's folder: outputs, refusals, and the page in a real browser."""
import csv
import html
import io
import json
import os
import re
import time

import pytest
import sample_experiments
import sample_records
from printed import run

ATTACK = "</script><img src=x onerror=alert(1)><!-- \u001b[31m \u202e '\"&|`"


@pytest.fixture
def folder(tmp_path):
    def make(name="results", **options):
        return sample_experiments.make(tmp_path / name, **options)
    return make


def rows_of(page, name):
    """A table's rows as lists of texts."""
    table = re.search(rf'<section class="card" id="{name}">.*?</section>', page, re.DOTALL).group()
    return [[html.unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
            for row in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)]


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="chart-data">(.*?)</script>', page, re.DOTALL).group(1))


# Draws nothing: says for each canvas how many of its pixels are not empty, and how many colours they have.
PROBE = """<script nonce="{nonce}">
const took = performance.now();
const shown = [];
for (const figure of document.querySelectorAll('figure.chart')) {{
    const canvas = figure.querySelector('canvas');
    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    let filled = 0;
    const colours = new Set();
    for (let at = 0; at < pixels.length; at += 4) {{
        if (pixels[at + 3] > 200) {{
            ++filled;
            if (Math.max(pixels[at], pixels[at + 1], pixels[at + 2]) - Math.min(pixels[at], pixels[at + 1], pixels[at + 2]) > 60)
                colours.add(pixels[at] * 65536 + pixels[at + 1] * 256 + pixels[at + 2]);
        }}
    }}
    shown.push([figure.id, filled, colours.size]);
}}
document.body.dataset.probe = JSON.stringify([took, shown]);
</script>"""


@pytest.fixture
def shown(browser, tmp_path):
    """Opens a page in a browser, which must not complain: the pixels of each chart. `took` is in ms, from the start of the
    navigation until all charts were drawn."""
    def look(page):
        nonce = re.search(r"'nonce-([0-9a-f]+)'", page).group(1)
        target = tmp_path / "probed.html"
        target.write_text(page.replace("</body>", PROBE.format(nonce=nonce) + "</body>"))
        done = browser.open(target, 1280, 900)
        assert not done.complaints
        probe = re.search(r'data-probe="([^"]*)"', done.dom)
        assert probe, "the page's own script did not come to its end"
        look.took, charts = json.loads(html.unescape(probe.group(1)))
        return {name: (filled, colours) for name, filled, colours in charts}
    return look


OVER_TIME = ["chart-rate", "chart-distribution", "chart-user", "chart-system", "chart-iowait", "chart-writes",
             "chart-flushes", "chart-busy"]


def test_text_and_markdown_begin_with_the_verdict(run, folder):
    made = folder(seed=5)
    text = run(made).stdout
    assert re.match(r'"noatime" .*"default".*\n"nobarrier" is 3\d\.\d % faster than "default"', text)
    markdown = run(made, "--markdown").stdout
    assert markdown.startswith("# ext4 mount options\n") and '\n- **"nobarrier" is 3' in markdown
    assert run(f"{made}/").stdout == text


def test_csv_has_a_line_for_each_run_with_the_records_numbers(run, folder):
    seen = []
    made = folder(blocks=2, change=lambda run_, record, log: seen.append((run_, record, log)))
    rows = list(csv.DictReader(io.StringIO(run(made, "--csv").stdout)))
    assert len(rows) == 6
    for row, (kept, record, log) in zip(rows, seen):
        assert (int(row["block"]), int(row["position"])) == (kept["block"], kept["position"])
        assert row["variant"] == ["default", "noatime", "nobarrier"][kept["variant"]]
        assert (row["state"], row["voids"]) == ("complete", "")
        assert int(row["messages"]) == record["totals"]["messages"]
        assert float(row["messages_per_minute"]) == pytest.approx(record["rate"]["messages_per_minute"]["mean"])
        assert float(row["latency_p99_us"]) == pytest.approx(record["latency_us"]["message"]["p99"])
        # From the warm-up's end to the stop.
        user = log["machine"]["user_s"][33] - log["machine"]["user_s"][8]
        flushes = log["devices"][0]["flushes"][33] - log["devices"][0]["flushes"][8]
        assert float(row["cpu_user_s"]) == pytest.approx(user, abs=1e-6)
        assert float(row["storage_flushes"]) == flushes
        assert float(row["flushes_a_message"]) == pytest.approx(flushes / record["totals"]["messages"], abs=1e-6)


def test_csv_of_several_programs_names_them(run, folder):
    made = folder(blocks=1)
    record = json.loads((made / "experiment.json").read_text())
    record["programs"] = ["delivery", "reading"]
    for one in record["runs"]:
        one["loads"].append({**one["loads"][0], "name": "reading"})
    (made / "experiment.json").write_text(json.dumps(record))
    row = next(csv.DictReader(io.StringIO(run(made, "--csv").stdout)))
    assert row["delivery.messages"] == row["reading.messages"] != "" and "messages" not in row
    page = run(made, "--html", "-").stdout
    names = re.findall(r' id="([^"]+)"', page)
    assert len(names) == len(set(names)) and "reading: messages/min" in page


def test_an_experiment_is_shown_alone(run, folder, tmp_path):
    other = sample_records.write(tmp_path / "run.json", sample_records.record())
    assert "is shown by itself" in run(folder(), other, status=1).stderr
    (tmp_path / "empty").mkdir()
    assert "is a directory" in run(tmp_path / "empty", status=1).stderr
    (tmp_path / "results" / "experiment.json").write_text('{"schema": "postal-experiment/9"}')
    done = run(tmp_path / "results", "--html", tmp_path / "x.html", status=1)
    assert "schema" in done.stderr and done.stderr.count("\n") == 1 and not (tmp_path / "x.html").exists()


def test_the_page_shows_verdicts_first_and_charts_are_drawn(run, folder, shown):
    made = folder(seed=5)
    page = run(made, "--html", "-").stdout
    assert page.index('class="say"') < page.index('id="summary"') < page.index('id="chart-ratios"') \
        < page.index('id="chart-rate"') < page.index('id="costs"') < page.index("The experiment: ext4.toml")
    assert "&quot;ext4 mount options&quot;\n\n[load]\nduration" in page
    charts = shown(page)
    assert list(charts) == ["chart-ratios", *OVER_TIME]
    for name, (filled, colours) in charts.items():
        # Axes and letters are grey: series are what has colours.
        assert filled > 1500 and colours > 20, (name, filled, colours)
    heads = re.findall(r"<th\b[^>]*>", page)
    assert heads and all(re.search(r'scope="(col|row)"', head) for head in heads)
    assert len(re.findall(r'<canvas role="img" aria-label="[^"]+" aria-describedby="([^"]+)-text">', page)) == len(charts)
    names = re.findall(r' id="([^"]+)"', page)
    assert len(names) == len(set(names))


def test_the_pages_numbers_are_the_records(run, folder):
    seen = []
    made = folder(blocks=3, change=lambda run_, record, log: seen.append((run_, record, log)))
    page = run(made, "--html", "-").stdout
    rates = {(run_["block"], run_["variant"]): record["rate"]["messages_per_minute"]["mean"] for run_, record, _ in seen}
    blocks = rows_of(page, "blocks")
    assert [row[1:4] for row in blocks[1:]] == [
        [f"{round(rates[block, variant]):,}/min" for variant in range(3)] for block in (1, 2, 3)]
    data = data_of(page)
    for variant, ratios in ((1, data["ratios"][0]), (2, data["ratios"][1])):
        for one in ratios["blocks"]:
            wanted = rates[one["block"], variant] / rates[one["block"], 0]
            assert one["ratio"] == pytest.approx(wanted, rel=1e-4) and not one["voided"]
        assert ratios["interval"][0] < ratios["mean"] < ratios["interval"][1]
    first = data["variants"][0]
    mine = [(record, log) for run_, record, log in seen if run_["variant"] == 0]
    for second in (0, 10, 29):
        wanted = sum(record["intervals"][second]["messages"] for record, _ in mine) / 3 * 60
        assert first["times"][second] == {"start": second, "end": second + 1, "together": 1, "warmup": second < 5}
        assert first["rate"][second] == pytest.approx(wanted, rel=1e-4)
        system = [log["machine"]["system_s"] for _, log in mine]
        assert first["system"][second] == pytest.approx(sum(one[second + 4] - one[second + 3] for one in system) / 3, rel=1e-4)
    assert len(first["runs"]) == 3 and first["runs"][1][10] == mine[1][0]["intervals"][10]["messages"] * 60
    # The storage is one device, whichever loop device a run got.
    costs = {row[0]: row[1:] for row in rows_of(page, "costs")}
    flushes = [(log["devices"][0]["flushes"][33] - log["devices"][0]["flushes"][8]) / record["totals"]["messages"]
               for record, log in mine]
    assert float(costs["storage: flushes"][0]) == pytest.approx(sum(flushes) / 3, rel=5e-3)
    assert not [name for name in costs if name.startswith("loop")]
    count = sum(record["latency_us"]["message"]["count"] for record, _ in mine)
    assert first["tail"][-1][0] == count


def test_long_runs_are_decimated_and_it_is_said(run, folder, shown):
    made = folder(variants={"default": 1.0, "other": 1.1}, blocks=2, seconds=1201, warmup=61)
    page = run(made, "--html", "-").stdout
    first = data_of(page)["variants"][0]
    assert len(first["times"]) <= 310 and first["times"][-1]["end"] == 1201
    together = [point["together"] for point in first["times"]]
    assert sum(together) == 1201 and max(together) == 5
    assert [point["warmup"] for point in first["times"]].count(True) == 13 and first["times"][12]["end"] == 61
    assert "stands for up to 5 intervals" in page
    assert len(page) < 1_000_000
    shown(page)


def test_one_block_has_ratios_and_no_verdict(run, folder, shown):
    page = run(folder(blocks=1), "--html", "-").stdout
    assert "no verdict from 1 block" in page
    assert [one["interval"] for one in data_of(page)["ratios"]] == [None, None]
    assert shown(page)["chart-ratios"][1] > 5


def test_an_interval_that_says_nothing_has_no_long_numbers(run, folder, shown):
    made = folder(blocks=3, scatter=2)
    text = run(made).stdout
    assert re.search(r"times \(< 0\.01 to > 100\)", text), text
    assert "> 100 times" in text and not re.search(r"\d{7}", text.split("What a message cost")[0])
    # Its ends are beyond the chart, whose circles stay apart.
    page = run(made, "--html", "-").stdout
    assert "goes on beyond the chart" in page and shown(page)["chart-ratios"][1] > 20


def test_one_variant_has_no_comparison(run, folder, shown):
    page = run(folder(variants={"only": 1.0}), "--html", "-").stdout
    assert re.search(r'<p class="say">&quot;only&quot;: [\d,]+/min\.</p>', page)
    assert list(shown(page)) == OVER_TIME


def test_where_nothing_was_delivered_every_block_is_voided(run, folder, shown):
    def stop(run_, record, log):
        record["totals"].update(started=500, messages=0, failed=500)
        record["latency_us"] = {}
        for each in record["intervals"]:
            each.update(messages=0)
    made = folder(blocks=2, change=stop)
    page = run(made, "--html", "-").stdout
    assert page.count("is voided") == 2 and "no message came through" in page
    assert shown(page).keys() == {"chart-ratios"}
    assert all(row["voids"] for row in csv.DictReader(io.StringIO(run(made, "--csv").stdout)))


def test_a_failed_run_voids_its_block_and_is_told(run, folder, shown):
    def fail(run_, record, log):
        if (run_["block"], run_["variant"]) == (2, 1):
            run_.update(state="failed", reason="server: ended with status 1 before it was ready")
    made = folder(blocks=4, change=fail)
    page = run(made, "--html", "-").stdout
    assert "Block 2 is voided: noatime: server: ended with status 1" in page
    crosses = [each for each in data_of(page)["ratios"][1]["blocks"] if each["voided"]]
    assert [each["block"] for each in crosses] == [2]
    # What the others did in that block is in no mean either.
    assert {len(each["runs"]) for each in data_of(page)["variants"]} == {3}
    shown(page)


def test_very_many_variants(run, folder, shown, sized):
    count = sized(40, 200)
    made = folder(variants={f"variant {number}": 1 + number / 100 for number in range(count)}, blocks=3, seconds=12, warmup=2)
    page = run(made, "--html", "-").stdout
    data = data_of(page)
    assert len(data["ratios"]) == count - 1 and len(data["variants"]) == 12
    assert data["variants"][0]["label"] == "variant 0" and data["variants"][-1]["label"] == f"variant {count - 1}"
    assert f"Drawn are 12 of {count} variants" in page and len(rows_of(page, "summary")) == count + 1
    assert shown(page)["chart-ratios"][1] > 100


def test_names_stay_text(run, folder, shown):
    made = folder(variants={"default": 1.0, ATTACK: 1.2}, title=ATTACK, text=ATTACK, file=ATTACK, argv=[ATTACK],
                  versions={ATTACK: ATTACK}, end=ATTACK,
                  host={"name": ATTACK, "kernel": ATTACK, "cpus": 2, "memory_bytes": 1})
    page = run(made, "--html", "-").stdout
    assert "<img" not in page and page.count("</script>") == 3 and "\x1b" not in page and "\u202e" not in page
    assert ATTACK.split("<!--")[0] in data_of(page)["ratios"][0]["label"]
    shown(page)
    for form in ("--text", "--markdown", "--csv"):
        out = run(made, form).stdout
        assert "\x1b" not in out and "\u202e" not in out
    assert "<img" not in run(made, "--markdown").stdout


def test_a_damaged_file_is_said_loudly(run, folder, shown):
    made = folder(blocks=4)
    victim = next(made.glob("runs/b02-*-noatime/delivery.json"))
    victim.write_text(victim.read_text() + " ")
    page = run(made, "--html", "-").stdout
    assert re.search(r'<p class="remark bad" role="note">[^<]*delivery.json: is not what the run wrote', page)
    assert page.index("is not what the run wrote") < page.index('id="summary"')
    assert "is not what the run wrote" in run(made).stdout
    victim.unlink()
    page = run(made, "--html", "-").stdout
    assert "delivery.json: cannot be read" in page and "its records are missing" in page
    shown(page)
    # Nobody waits for who writes into it.
    os.mkfifo(victim)
    assert "delivery.json: is no plain file" in run(made).stdout


def test_a_pair_told_apart_is_the_first_that_is_read(run, folder, shown):
    made = folder(variants={"default": 1.0, "again": 1.1, "nobarrier": 1.5}, same_as={"again": 0})
    page = run(made, "--html", "-").stdout
    assert re.search(r'<p class="remark bad loud" role="note">The verdicts do not count', page)
    assert page.index("The verdicts do not count") < page.index('class="say"')
    assert 'class="card verdicts voided"' in page
    assert [one["label"] for one in data_of(page)["ratios"]] == ["nobarrier", "again (A/A)"]
    assert rows_of(page, "summary")[2][3] == "A/A: told apart"
    shown(page)
    kept = folder("alike", scatter=0.001, variants={"default": 1.0, "again": 1.0, "nobarrier": 1.5}, same_as={"again": 0})
    page = run(kept, "--html", "-").stdout
    assert "do not count" not in page and rows_of(page, "summary")[2][3] == "A/A: not told apart"


def test_an_experiment_that_runs_still(run, folder, shown):
    page = run(folder(blocks=2, ended="", end=""), "--html", "-").stdout
    assert "The experiment has not ended" in page and "not yet" in page
    shown(page)
    begun = folder("begun", blocks=0, ended="", end="")
    assert "The experiment has not ended" in run(begun).stdout
    assert shown(run(begun, "--html", "-").stdout).keys() == {"chart-ratios"}
    assert run(begun, "--csv").stdout.count("\n") == 1


def test_without_costs_there_are_no_charts_of_them(run, folder, shown):
    def leave_out(run_, record, log):
        log["schema"] = None
    assert list(shown(run(folder(change=leave_out), "--html", "-").stdout)) == ["chart-ratios", "chart-rate", "chart-distribution"]


@pytest.mark.serial
def test_a_large_experiment_is_written_and_opened_soon(run, folder, shown, tmp_path, sized):
    made = folder(variants={f"variant {number}": 1 + number / 50 for number in range(10)}, blocks=sized(3, 10), seconds=1200, warmup=60)
    target = tmp_path / "large.html"
    begin = time.monotonic()
    run(made, "--html", target)
    took = time.monotonic() - begin
    assert target.stat().st_size < 5 << 20
    shown(target.read_text())
    # Below one second each on two cores; this only tells what has become slow by far.
    assert took < 20 and shown.took < 20000, (took, shown.took)
