# SPDX-License-Identifier: GPL-3.0-or-later
"""--metrics: what Prometheus scrapes from a run is what its record says in the end, and no scraper disturbs a run."""
import json
import re
import select
import socket
import subprocess
import time

import pytest

from conftest import ROOT
from support.behaviours import rule
from support.postal import refused, run
from support.process import Process, wait_until
from support.scraping import Prometheus, ask, fetch, place_of, scrape

REFUSES = rule("rcpt", 'reply = "550 5.1.1 nobody of that name"', 'probability = "30%"')
AT_ANY_PORT = ("--metrics", "127.0.0.1:0")


def totals_shown(page, record):
    """Each counter of the record's totals that the page has, as the page has it."""
    return {key: page.value(f"postal_{key}_total") for key in record["totals_with_warmup"]
            if f"postal_{key}_total" in page.names and key != "errors"}


def test_prometheus_has_what_the_record_has(behaving, postal, users_file, folder, tool):
    hole = behaving(REFUSES, *AT_ANY_PORT)
    prometheus = Prometheus(tool("prometheus"), folder, place_of(hole.process))
    try:
        sent = postal("-t", "4", "--messages", "400", "--max-size", "2", hole.endpoint, users_file(10))
        assert sent.total("rejected") > 0
        wait_until(lambda: prometheus.sum("postal_started_total") == 400, "Prometheus to see all messages")
        wait_until(lambda: prometheus.sum("postal_connections_total") == sent.total("connections"), "all connections")
        assert prometheus.sum("postal_messages_total") == sent.total("messages")
        assert prometheus.sum("postal_rejected_total") == sent.total("rejected")
        assert prometheus.sum('postal_errors_total{stage="rcpt",code="550"}') == sent.total("rejected")
        assert prometheus.sum('postal_phase_seconds_count{phase="message"}') == sent.total("messages")
        assert set(prometheus.query("postal_messages_total")) == {frozenset({
            "__name__": "postal_messages_total", "program": "bhm", "job": "postal",
            "instance": ":".join(place_of(hole.process))}.items())}
        last = scrape(place_of(hole.process))
    finally:
        prometheus.stop()
    record = hole.stop().record
    shown = totals_shown(last, record)
    assert len(shown) > 10
    assert shown == {key: record["totals_with_warmup"][key] for key in shown}


@pytest.mark.parametrize("features, series", [((), "postal_phase_seconds_bucket"), (("native-histograms",), "postal_phase_seconds")],
                         ids=["classic", "native"])
def test_percentiles_of_prometheus_are_those_of_the_record(behaving, postal, users_file, folder, tool, features, series):
    """Latencies that spread over more than an octave, and no bound of ours was chosen for them."""
    hole = behaving(rule("end", 'delay = "20ms..75ms"'), *AT_ANY_PORT)
    prometheus = Prometheus(tool("prometheus"), folder, place_of(hole.process), *features)
    try:
        sent = postal("-t", "20", "--messages", "1200", "--max-size", "2", hole.endpoint, users_file(10))
        wait_until(lambda: prometheus.sum('postal_phase_seconds_count{phase="message"}' if not features else
                                          'histogram_count(postal_phase_seconds{phase="message"})') == 1200, "Prometheus to see all")
        shown = {q: prometheus.sum(f'histogram_quantile({q}, {series}{{phase="message"}})') for q in (0.5, 0.9, 0.99)}
    finally:
        prometheus.stop()
    latency = hole.stop().record["latency_us"]["message"]
    assert latency["count"] == sent.total("messages")
    assert shown == {q: pytest.approx(latency[f"p{int(q * 100)}"] / 1e6, rel=0.02) for q in shown}


def test_who_prefers_protocol_buffers_gets_them(bhm):
    place = place_of(bhm(*AT_ANY_PORT).process)
    wanted = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
    for accept, kind in ((f"{wanted},text/plain;q=0.5", "application/vnd.google.protobuf"), ("*/*", "text/plain"),
                         ("," * 4000, "text/plain"), (f"text/plain,{wanted};q=0.1", "text/plain")):
        status, headers, octets = fetch(place, Accept=accept)
        assert (status, headers["Content-Type"].partition(";")[0]) == (200, kind)
        assert b"postal_phase_seconds" in octets


def programs_that_serve(bhm, lmtp_deliver, agents):
    return {"bhm": bhm(*AT_ANY_PORT).process, "lmtp-deliver": lmtp_deliver(agents("status", "0"), *AT_ANY_PORT).process}


@pytest.fixture
def pages(bhm, lmtp_deliver, agents, programs, users_file, folder):
    """A page of each program that has one: while it runs, after its first second."""
    processes = programs_that_serve(bhm, lmtp_deliver, agents)
    target = bhm()
    users = users_file(5)
    named = ["--title", 'a "new" disk', "--tag", "disk=nvme"]
    (folder / "spool/queue").mkdir(parents=True)
    named += ["--queue", f"opensmtpd:{folder / 'spool'}", "--sample-command", "one=/bin/echo 1"]
    processes["postal"] = Process([programs.postal, *AT_ANY_PORT, *named, "--rate", "50/s", "--open-loop", "--duration", "60s",
                                   target.endpoint, users], folder, "postal")
    # nobody listens: what is shown of errors is asked here
    processes["rabid"] = Process([programs.rabid, *AT_ANY_PORT, "--duration", "60s", "127.0.0.1:9",
                                  users_file(["a@example.com secret"])], folder, "rabid")

    sampled = {"postal_sample", "postal_queue_messages"}

    def after_a_second(name, place):
        def page_of_it():
            page = scrape(place)
            wanted = {"postal_worker_wall_seconds_total"} | (sampled if name == "postal" else set())
            return page if wanted <= page.names else None
        return wait_until(page_of_it, "a second of the run")
    yield {name: after_a_second(name, place_of(process)) for name, process in processes.items()}
    for name in ("postal", "rabid"):
        processes[name].kill()


def test_pages_are_what_promtool_takes(pages, tool):
    for name, page in pages.items():
        done = subprocess.run([tool("promtool"), "check", "metrics"], input=page.text, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), name
        assert page.value("postal_run_info", program=name) == 1
    assert 'title="a \\"new\\" disk"' in pages["postal"].text and 'tag_disk="nvme"' in pages["postal"].text
    assert "title=" not in pages["bhm"].text
    assert pages["postal"].value("postal_due_total") > 0
    assert pages["rabid"].value("postal_errors_total", stage="connect", code="refused") > 0
    assert pages["lmtp-deliver"].value("postal_agents_running") == 0


def test_nothing_is_due_for_a_server(pages):
    has = {name: "postal_not_started_total" in page.names for name, page in pages.items()}
    assert has == {"postal": True, "rabid": True, "bhm": False, "lmtp-deliver": False}


def test_the_dashboard_asks_for_what_there_is(pages):
    board = json.loads((ROOT / "conf/grafana/postal.json").read_text())
    asked = {name for panel in board["panels"] for target in panel["targets"]
             for name in re.findall(r"\bpostal_\w+", target["expr"])}
    asked |= {name for each in board["templating"]["list"] for name in re.findall(r"\bpostal_\w+", each["query"])}
    assert len(asked) > 10
    assert asked <= set.union(*(page.names for page in pages.values()))


def test_the_documented_metrics_are_those_that_there_are(pages):
    rows = re.findall(r"^\| `(postal_\w+)", (ROOT / "docs/metrics.md").read_text(), re.MULTILINE)
    rows = [name for name in rows if not name.startswith("postal_result_")]  # with --push
    there = set.union(*(page.names for page in pages.values()))
    families = {re.sub(r"_(bucket|count|sum)$", "", name) for name in there}
    record_counters = {name for name in families if name.endswith("_total") and name not in rows}
    assert set(rows) <= families | {"postal_still_deferred", "postal_not_retried", "postal_agents_ended_total"}
    # the others are the record's, by the same name
    schema = json.loads((ROOT / "share/postal-record-1.schema.json").read_text())
    keys = set(re.findall(r'"(\w+)":', json.dumps(schema)))
    assert {name[len("postal_"):-len("_total")] for name in record_counters} <= keys


def test_what_a_run_shows_never_becomes_less(bhm, programs, users_file, folder):
    hole = bhm()
    record = folder / "record.json"
    sender = Process([programs.postal, *AT_ANY_PORT, "-t", "4", "--rate", "200/s", "--duration", "4s", "--warmup", "1s", "--record", record,
                      hole.endpoint, users_file(5)], folder, "postal")
    place, pages = place_of(sender), []
    while sender.running:
        try:
            pages.append(scrape(place))
        except OSError:
            break
        time.sleep(0.05)
    assert sender.wait(60) == 0
    counts = [page.value("postal_messages_total") for page in pages]
    assert counts == sorted(counts)
    assert counts[-1] > 0
    assert counts[-1] <= json.loads(record.read_text())["totals_with_warmup"]["messages"]
    assert {page.value("postal_warmup") for page in pages} == {0, 1}
    for page in pages:
        assert page.value("postal_phase_seconds_bucket", phase="message", le="+Inf") == page.value("postal_messages_total")


def test_what_sessions_are_at(bhm, programs, users_file, folder):
    """Seven wait for the reply to a message, which their server holds back; then nobody is there any more."""
    hole = bhm("--delay", "end=5s", *AT_ANY_PORT)
    sender = Process([programs.postal, *AT_ANY_PORT, "-t", "7", "--duration", "120s", "--grace", "0s", hole.endpoint, users_file(5)],
                     folder, "postal")

    def sessions(of):
        page = scrape(place_of(of))
        return {dict(labels)["state"]: count for (name, labels), count in page.values.items() if name == "postal_sessions" and count}
    wait_until(lambda: sessions(sender) == {"end": 7}, lambda: f"sessions of postal: {sessions(sender)}")
    wait_until(lambda: sessions(hole.process) == {"delayed": 7}, lambda: f"those of bhm: {sessions(hole.process)}")
    sender.kill()
    wait_until(lambda: sessions(hole.process) == {}, lambda: f"sessions of bhm when postal is gone: {sessions(hole.process)}")


def connect(place):
    return socket.create_connection((place[0], int(place[1])), timeout=30)


def closed(connection):
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_scrapers_that_misbehave_disturb_nobody(bhm, postal, users_file):
    hole = bhm(*AT_ANY_PORT)
    place = place_of(hole.process)
    held = [connect(place) for _ in range(20)]
    for number, one in enumerate(held[:8]):
        one.sendall([b"GET /metrics HTTP/1.1\r\nHo", b"\x16\x03\x01\x00\xa5", b"", b"GET /" + b"a" * 7000][number % 4])
    sent = postal("-t", "2", "--messages", "50", hole.endpoint, users_file(5))
    assert sent.total("messages") == 50
    # those that say nothing have had their time
    def served():
        try:
            return scrape(place).value("postal_messages_total") == 50
        except (OSError, AssertionError):
            return False
    wait_until(served, "a page beside those who say nothing")
    with connect(place) as endless:
        endless.sendall(b"GET /metrics HTTP/1.1\r\n" + b"X: y\r\n" * 5000)
        assert closed(endless)
    with connect(place) as open_at_the_end:
        begun = time.monotonic()
        assert hole.stop().total("messages") == 50
        assert time.monotonic() - begun < 8, "without the grace of 10 s"
        assert closed(open_at_the_end)
    for one in held:
        one.close()


def test_slow_scrapers_do_not_shut_prometheus_out(bhm):
    """Ten that never finish their request, and come again as soon as they are sent away: 30 scrapes beside them, at once."""
    place = place_of(bhm(*AT_ANY_PORT).process)
    slow = [connect(place) for _ in range(10)]
    for _ in range(30):
        for number, one in enumerate(slow):
            if select.select([one], [], [], 0)[0]:
                one.close()
                slow[number] = connect(place)
                slow[number].sendall(b"GET /metrics HTTP/1.1\r\nHo")
        assert scrape(place).value("postal_messages_total") == 0
    for one in slow:
        one.close()


@pytest.mark.parametrize("path, method, status", [("/", "GET", 200), ("/metrics?x=1", "GET", 200), ("/metrics", "HEAD", 200),
                                                  ("/metrics", "POST", 405), ("/metrics/more", "GET", 404)])
def test_other_requests(bhm, path, method, status):
    code, headers, text = ask(place_of(bhm(*AT_ANY_PORT).process), path, method)
    assert code == status
    if status == 200:
        page = path == "/"
        assert headers["Content-Type"] == ("text/html; charset=utf-8" if page else "text/plain; version=0.0.4; charset=utf-8")
        assert ('<a href="/metrics">' in text) == page
        if page:
            return
        assert text.startswith("# HELP postal_run_info ") == (method == "GET")


def test_ipv6(bhm):
    assert scrape(place_of(bhm("--metrics", "[::1]:0").process)).value("postal_messages_total") == 0


@pytest.mark.parametrize("place, status, words", [
    ("unix:/tmp/socket", 1, ("Unix socket", "HOST:PORT")), ("127.0.0.1:x", 1, ("127.0.0.1:x",)),
    ("no-such-host.invalid:9464", 1, ("no-such-host.invalid",)), ("127.0.0.1:taken", 2, ("cannot listen on", "in use"))])
def test_places_that_are_none(programs, users_file, bhm, place, status, words):
    hole = bhm()
    place = place.replace("taken", str(hole.port))
    done = run([programs.postal, "--metrics", place, "--messages", "1", hole.endpoint, users_file(1)])
    refused(done, "--metrics", *words, status=status)
    assert hole.stop().total("connections") == 0
