# SPDX-License-Identifier: GPL-3.0-or-later
"""postal-report as a person and a script call it: outputs, refusals, exit status, the page itself."""
import base64
import csv
import io
import json
import os
import re
import subprocess
from html.parser import HTMLParser

import pytest
import sample_records
from printed import run


# What links hold, so that nothing is fetched for them.
DOWNLOADS = ["data:text/csv;base64,", "data:application/json;base64,"]


@pytest.fixture
def record(tmp_path):
    def write(name="run.json", **changes):
        return sample_records.write(tmp_path / name, sample_records.record(**changes))
    return write


class Page(HTMLParser):
    """What a browser would fetch, run and show."""

    def __init__(self, text):
        super().__init__()
        self.fetched, self.scripts, self.words, self._script = [], [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("src", "href", "action", "data", "poster", "srcset"):
                self.fetched.append(value.partition(",")[0] + ",")
            assert not name.startswith("on"), f"{name} in <{tag}>"
        if tag == "script":
            self._script = dict(attributes)
            self.scripts.append([self._script, ""])

    def handle_endtag(self, tag):
        if tag == "script":
            self._script = None

    def handle_data(self, data):
        if self._script is not None:
            self.scripts[-1][1] += data
        else:
            self.words.append(data)


def test_text_has_the_result_first_and_units(run, record):
    out = run(record()).stdout
    assert out.index("Result") < out.index("Outcome") < out.index("Latency by phase") < out.index("Errors")
    assert re.search(r"rate +[\d,]+ /min", out) and re.search(r"mean within this run, 95 % +± [\d,]+ /min", out)
    assert re.search(r"latency p99 +[\d.]+ ms", out)
    assert "550 5.1.1" in out and "refused" in out
    assert "! Threshold errors<1% was not met: measured 1.27 %." in out
    assert max(map(len, out.splitlines())) <= 130


def test_several_records_are_columns_compared_with_the_first(run, record):
    out = run(record("ext4.json"), record("xfs.json", seed=7, per_minute=20000), "--text").stdout
    header = next(line for line in out.splitlines() if line.split() == ["ext4", "xfs"])
    assert header
    rate = next(line for line in out.splitlines() if line.strip().startswith("rate "))
    assert rate.count("/min") == 2 and re.search(r"\(\+\d+\.\d %\)", rate)


def test_markdown_tables_are_whole(run, record):
    out = run(record(), "--markdown").stdout
    rows = [line for line in out.splitlines() if line.startswith("|")]
    assert len(rows) > 30
    for table in re.findall(r"(?:^\|.*\n)+", out, re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1, table


def test_csv_is_read_back(run, record):
    files = [record("a.json"), record("b.json", seed=3)]
    rows = list(csv.DictReader(io.StringIO(run(*files, "--csv").stdout)))
    assert [row["record"] for row in rows] == [str(file) for file in files]
    for row, file in zip(rows, files):
        made = json.loads(file.read_text())
        assert int(row["messages"]) == made["totals"]["messages"]
        assert float(row["messages_per_minute"]) == pytest.approx(
            made["rate"]["messages_per_minute"]["mean"], abs=0.001)
        assert float(row["latency_p99_us"]) == made["latency_us"]["message"]["p99"]
        assert row["generator_limited"] == "0" and row["thresholds_not_met"] == "1"


@pytest.mark.parametrize("options", [[], ["--csv"]])
def test_records_with_any_number_of_errors_and_options(run, tmp_path, options):
    """With a look through all for each this takes minutes."""
    made = sample_records.record()
    made["errors"] = [{**made["errors"][0], "enhanced": f"5.{i // 1000}.{i % 1000}"} for i in range(30000)]
    made["options"] = {f"option{i}": i for i in range(9000)}
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file in files:
        file.write_text(json.dumps(made))
    out = run(*files, *options).stdout
    assert options or ("option8999" in out and "5.29.999" in out)


def test_standard_input_is_a_record(run, record):
    assert "Result" in run("-", input=record().read_text()).stdout
    assert "only once" in run("-", "-", input="", status=1).stderr


def test_the_page_stands_alone(run, record, tmp_path):
    target = tmp_path / "report.html"
    assert run(record(), "--html", target).stdout == ""
    text = target.read_text()
    page = Page(text)
    assert page.fetched == ["data:,", *DOWNLOADS]
    assert "@import" not in text and "url(" not in text.split("</style>")[0]
    assert re.search(r"default-src 'none'; script-src 'nonce-[0-9a-f]{32}'", text)
    assert [attributes.get("type") for attributes, _ in page.scripts] == ["application/json", None, None]
    data = json.loads(page.scripts[0][1])
    assert len(data["series"]) == 1 and len(data["series"][0]["intervals"]) == 11
    for name in ("message", "service"):
        curve = data["series"][0][name]
        assert curve[0][0] == 1 and curve == sorted(curve) and curve[-1][0] == json.loads(target.with_name("run.json").read_text())["latency_us"][name]["count"]
    heads = re.findall(r"<th\b[^>]*>", text)
    assert heads and all(re.search(r'scope="(col|row)"', head) for head in heads)
    assert "prefers-color-scheme: dark" in text and "@media print" in text
    words = " ".join(page.words)
    assert "Effective options" in words and "mx1.example.com" in words and "in doubt" in words


def test_the_page_holds_its_figures(run, record):
    """Two links, without a script: what --csv prints, and the same as JSON."""
    files = [record("a.json"), record("b, \"c\".json", seed=3, program="</script>")]
    page = run(*files, "--html", "-").stdout
    held = {kind: base64.b64decode(text).decode() for kind, text in re.findall(r'href="data:([^;]+);base64,([^"]+)"', page)}
    assert held["text/csv"] == run(*files, "--csv").stdout
    rows = list(csv.DictReader(io.StringIO(held["text/csv"])))
    for row, told in zip(rows, json.loads(held["application/json"]), strict=True):
        assert list(row) == list(told)
        assert all(float(text) == told[name] if isinstance(told[name], (int, float)) else text == (told[name] or "") for name, text in row.items())
        assert isinstance(told["messages"], int) and isinstance(told["latency_p99_us"], float) and "</" not in held["application/json"]


def test_a_hostile_record_stays_text(run, record, tmp_path):
    attack = "</script><img src=x onerror=alert(1)><!-- \u001b[31m \u202e '\"&"
    made = sample_records.record(program=attack, argv=[attack], host__name=attack, generator__limited=True,
                                 generator__reason=attack, started=attack)
    made["errors"][0].update(stage=attack, sample=attack)
    made["options"][attack] = attack
    made["latency_us"][attack] = made["latency_us"]["message"]
    file = sample_records.write(tmp_path / "hostile.json", made)
    page = Page((run(file, "--html", "-").stdout))
    assert page.fetched == ["data:,", *DOWNLOADS]
    assert len(page.scripts) == 3
    for form in ("--text", "--markdown", "--csv"):
        out = run(file, form).stdout
        assert "\x1b" not in out and "\u202e" not in out
    assert "<img" not in run(file, "--markdown").stdout


def test_a_limited_generator_is_said_plainly(run, record):
    file = record(generator__limited=True, generator__reason="a worker was 97 % busy")
    assert "! Generator limited: a worker was 97 % busy." in run(file).stdout
    assert 'class="remark limit"' in run(file, "--html", "-").stdout


def test_a_full_machine_is_said_plainly(run, record):
    file = record(generator__verdict="machine_full", generator__run_delay=0.45, generator__machine_idle=0.02,
                  generator__reason="a worker waited 45 % of the time for a processor")
    out = run(file).stdout
    assert "! Machine full: a worker waited 45 % of the time for a processor." in out
    assert re.search(r"was the limit +no\n", out) and re.search(r"machine was full +YES\n", out)
    assert 'class="remark limit"' in run(file, "--html", "-").stdout
    row = next(csv.DictReader(io.StringIO(run(file, "--csv").stdout)))
    assert (row["generator_limited"], row["generator_verdict"], row["run_delay"]) == ("0", "machine_full", "0.450")
    # A record of before has no verdict.
    old = next(csv.DictReader(io.StringIO(run(record(generator__limited=True), "--csv").stdout)))
    assert old["generator_verdict"] == "limit" and old["run_delay"] == ""


def test_comparisons_begin_with_what_was_compared(run, record):
    files = [record("one.json"), record("eight.json", options__in_flight=8)]
    out = run(*files).stdout
    shown = out[out.index("Options that differ"):out.index("Result")]
    assert "in_flight" in shown and "sessions" not in shown
    page = run(*files, "--html", "-").stdout
    assert page.index("Options that differ") < page.index("<details") < page.index("Other options")
    assert "Options that differ" not in run(files[0]).stdout


def test_what_was_asked_in_vain_is_said(run, record):
    why = "--in-flight 8: the server offers no CHUNKING, at most 2 in flight"
    assert f"! Asked for and not in effect: {why}." in run(record(not_in_effect={why: 3})).stdout


def test_tls_and_logins_are_shown_where_there_were_any(run, record):
    assert "TLS and logins" not in run(record()).stdout
    secured = record("tls.json", tls={
        "library": "GnuTLS 3.7.9", "full": 1200, "resumed": 34, "versions": {"TLSv1.3": 1230, "TLSv1.2": 4},
        "ciphers": {"TLS_AES_256_GCM_SHA384": 1234}, "groups": {}, "verification": {"ok": 1234}}, authentications={"PLAIN": 7})
    out = run(secured).stdout
    for name, text in (("library", "GnuTLS 3.7.9"), ("handshakes", "1,200 full, 34 resumed"), ("versions", "TLSv1.3 x 1,230, TLSv1.2 x 4"),
                       ("cipher suites", "TLS_AES_256_GCM_SHA384 x 1,234"), ("certificates", "ok x 1,234"), ("logins", "PLAIN x 7")):
        assert re.search(rf"^\s*{name} +{re.escape(text)}$", out, re.MULTILINE), name
    assert "key exchange" not in out
    phases = re.findall(r"^  (\w+) p50 ", run(record("a.json", latency_us__auth={"count": 1, "p50": 5.0}), record()).stdout, re.MULTILINE)
    assert phases.index("ehlo") < phases.index("auth") < phases.index("envelope")
    both = run(record(), secured).stdout
    assert re.search(r"^\s*library +\S+ +GnuTLS 3.7.9$", both, re.MULTILINE)
    assert "TLS and logins" in run(secured, "--html", "-").stdout


@pytest.mark.parametrize("content, wanted", [
    ("", "is empty"),
    ("{", "is not a run record"),
    ("time,messages,data(K)\n", "is not a run record"),
    ("[" * 100_000, "is not a run record"),
    ("{}", "names no schema"),
    ('{"schema": "postal-record/9"}', 'has schema "postal-record/9"; this program reads postal-record/1'),
    ('{"schema": "postal-record/1", "program": "p", "totals": {}, "tls": 5}', "tls is not an object"),
    ('{"schema": "postal-record/1", "program": "p", "totals": {"\\u001b[2J": 1, "messages": "\\u001b[2J"}}', "totals.messages is not a whole number"),
])
def test_a_bad_record_is_one_line_and_status_1(run, record, tmp_path, content, wanted):
    bad = tmp_path / "bad.json"
    bad.write_text(content)
    target = tmp_path / "report.html"
    done = run(record(), bad, "--html", target, status=1)
    assert done.stdout == "" and not target.exists()
    assert done.stderr.count("\n") == 1 and len(done.stderr) < 700
    assert str(bad) in done.stderr and wanted in done.stderr and "\x1b" not in done.stderr


@pytest.mark.parametrize("arguments, wanted", [
    (["/nonexistent/run.json"], "/nonexistent/run.json: cannot be read: No such file or directory"),
    (["/tmp"], "/tmp: is a directory"),
    ([], "RECORD is missing"),
    (["--ledger", "x"], "--ledger"),
    (["RECORD", "--csv", "--markdown"], "exclude each other"),
    (["RECORD", "--csv", "--html", "-"], "standard output"),
    (["RECORD", "--html", "x.html", "--chart-library", "/nonexistent/chart.js"], "libjs-chart.js"),
    (["RECORD", "--html", "x.html", "--chart-library", "/dev/null"], "is not Chart.js"),
])
def test_refusals(run, record, arguments, wanted, tmp_path):
    file = record()
    done = run(*[file if one == "RECORD" else one for one in arguments], status=1, cwd=tmp_path)
    assert wanted in done.stderr and done.stderr.count("\n") == 1
    assert done.stdout == "" and not (tmp_path / "x.html").exists()


def test_a_page_that_cannot_be_written_is_refused_as_other_files_are(run, record, tmp_path):
    """With status 1, and a full disk with 2; nothing is left behind."""
    done = run(record(), "--html", tmp_path / "none" / "report.html", status=1)
    assert done.stderr.startswith("postal-report: --html: ") and "No such file or directory" in done.stderr
    assert "No space left" in run(record(), "--html", "/dev/full", status=2).stderr
    old = tmp_path / "old.html"
    old.mkdir()
    run(record(), "--html", old, status=1)
    assert sorted(os.listdir(tmp_path)) == ["old.html", "run.json"]


def test_a_full_disk_behind_standard_output_is_status_2(programs, record):
    with open("/dev/full", "w") as full:
        done = subprocess.run([programs.postal_report, record()], stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 2 and done.stderr


def test_the_charts_are_drawn(run, record, browser, tmp_path):
    """Without one error and with the nonce alone letting scripts run."""
    target = tmp_path / "report.html"
    for files in ([record()], [record("a.json"), record("b.json", seed=3, interval_s=30.0)]):
        run(*files, "--html", target)
        text = target.read_text()
        done = "<script>document.title = 'foreign'</script>"
        target.write_text(text.replace("</body>", done + "</body>"))
        shown = browser.open(target)
        assert len(shown.complaints) == 1 and "Content Security Policy" in shown.complaints[0], shown.complaints
        assert "<title>foreign" not in shown.dom
        assert shown.charts == 4
