# SPDX-License-Identifier: GPL-3.0-or-later
"""--push: what a run came to is what a Pushgateway has of it, and no gateway holds a run up for long."""
import re
import socket
import threading
import time

import pytest

from conftest import ROOT
from support.postal import refused, run
from support.process import Process, free_port, wait_until
from support.scraping import Page, ask

SHORT = ("-t", "2", "-c", "-1", "--messages", "60", "--max-size", "2")


@pytest.fixture
def gateway(tool, folder):
    """Debian's own; its place."""
    port = free_port()
    process = Process([tool("prometheus-pushgateway"), f"--web.listen-address=127.0.0.1:{port}", "--persistence.file="], folder, "gateway")

    def ready():
        try:
            return ask(("127.0.0.1", port), "/-/ready")[0] == 200
        except OSError:
            return False
    wait_until(ready, lambda: f"the gateway: {process.stderr}")
    yield "127.0.0.1", port
    process.stop()
    process.wait()


def pushed(gateway):
    status, _, text = ask(gateway)
    assert status == 200
    return Page("\n".join(line for line in text.splitlines() if line.startswith("postal_")))


def test_a_gateway_has_what_the_record_has(bhm, postal, users_file, gateway):
    hole = bhm()
    sent = postal(*SHORT, "--threshold", "errors<1%", "--threshold", "messages>1000", "--push", "http://{}:{}".format(*gateway), hole.endpoint,
                 users_file(5), status=3)
    page = pushed(gateway)
    rows = re.findall(r"`(postal_result_\w+)`", (ROOT / "docs/metrics.md").read_text())
    shown = {name for name in page.names if name.startswith("postal_result_")}
    assert shown <= set(rows) <= shown | {"postal_result_messages_per_minute", "postal_result_messages_per_minute_ci95"}
    here = {"job": "postal", "instance": sent.record["host"]["name"], "program": "postal"}
    assert page.value("postal_messages_total", **here) == sent.total("messages") == 60
    assert page.value("postal_result_thresholds_missed", **here) == 1
    assert page.value("postal_result_duration_seconds", **here) == pytest.approx(sent.record["duration_s"], abs=1e-3)
    latency = sent.record["latency_us"]["message"]
    assert page.value("postal_result_latency_seconds", phase="message", quantile="0.5") == pytest.approx(latency["p50"] / 1e6, rel=0.01)
    assert ("postal_result_latency_seconds" in page.names) and not [
        labels for name, labels in page.values if name == "postal_result_latency_seconds" and ("quantile", "0.99") in labels], "of 60 values"
    # the next one's stand in place of them, and another group beside them
    postal(*SHORT, "--push", "http://{}:{}/metrics/job/nightly/disk/nvme".format(*gateway), hole.endpoint, users_file(5))
    postal(*SHORT, "--messages", "70", "--push", "http://{}:{}/".format(*gateway), hole.endpoint, users_file(5))
    page = pushed(gateway)
    assert page.value("postal_messages_total", job="nightly", disk="nvme") == 60
    assert page.value("postal_messages_total", **here) == 70
    assert not [labels for name, labels in page.values if name == "postal_result_thresholds_missed" and ("job", "postal") in labels]


class Answering:
    """Takes one connection after the other, and says the same to each; with None nothing, and it stays open."""

    def __init__(self, answer):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:{}".format(self.socket.getsockname()[1])
        self.answer = answer
        self.kept = []
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            self.kept.append(client)
            if self.answer is None:
                continue
            client.settimeout(20)
            try:
                client.recv(1 << 20)
                client.sendall(self.answer)
                client.shutdown(socket.SHUT_WR)
            except OSError:
                pass


@pytest.mark.parametrize("answer, why", [
    (b"HTTP/1.1 400 Bad Request\r\nContent-Length: 11\r\n\r\nno\x1b[31m\x07way", r"answered 400: no\x1b[31m\x07way"),
    (b"HTTP/1.1 500 No\r\n\r\n" + b"x" * 300_000, "body limit exceeded"),
    (b"220 mail.example.com ESMTP\r\n", "bad version"),
    (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 20_000, "header limit exceeded"),
    (b"", "the connection was closed without an answer"),
    (None, "no answer within 10 s"),
], ids=["refused", "endless", "smtp", "headers", "closed", "silent"])
def test_a_gateway_that_takes_nothing(bhm, postal, users_file, answer, why):
    """The run is over by then, and its record written; status 2 says that somebody misses something."""
    gateway = Answering(answer)
    sent = postal(*SHORT, "--push", gateway.url, bhm().endpoint, users_file(5), status=2)
    gateway.socket.close()
    assert f"--push: {gateway.url}/metrics/job/postal/instance/" in sent.stderr
    assert why in sent.stderr
    assert sent.total("messages") == 60


def test_an_interrupt_ends_the_waiting_for_a_gateway(programs, bhm, users_file, folder):
    gateway = Answering(None)
    sender = Process([programs.postal, *SHORT, "--push", gateway.url, bhm().endpoint, users_file(5)], folder, "postal")
    wait_until(lambda: gateway.kept, "the gateway to be connected to")
    began = time.monotonic()
    sender.stop()
    assert sender.wait(30) == 2
    assert time.monotonic() - began < 5
    assert "/metrics/job/postal/instance/" in sender.stderr and ": interrupted" in sender.stderr


def test_nobody_listens(bhm, postal, users_file):
    sent = postal(*SHORT, "--push", f"http://127.0.0.1:{free_port()}", bhm().endpoint, users_file(5), status=2)
    assert "refused" in sent.stderr and sent.total("messages") == 60


@pytest.mark.parametrize("url, why", [
    ("127.0.0.1:9091", "is not the URL of a gateway; give http://HOST[:PORT][/PATH]"),
    ("https://127.0.0.1", "is not the URL"),
    ("http://me:secret@127.0.0.1", "without a password"),
    ("http://127.0.0.1/a b", "has what no path may have"),
    ("http://127.0.0.1:x", "127.0.0.1:x"),
    ("http://no-such-host.invalid", "no-such-host.invalid"),
    ("http://unix:/tmp/x", "unix"),
])
def test_no_gateway(programs, users_file, url, why):
    done = run([programs.postal, "--push", url, "127.0.0.1:1", users_file(1)])
    refused(done, "--push: ", why)
    assert "secret" not in done.stderr
