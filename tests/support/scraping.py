# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking the suite's programs for their metrics, as a scraper does, and a Prometheus that does."""
import dataclasses
import http.client
import json
import re
import urllib.parse

from .process import Process, free_port, wait_until

SAMPLE = re.compile(r'(\w+)\{([^}]*)\} (\S+)$')


@dataclasses.dataclass
class Page:
    """What /metrics said: text, and values by name and labels."""
    text: str

    def __post_init__(self):
        self.values = {}
        for line in self.text.splitlines():
            if not line.startswith("#"):
                name, labels, value = SAMPLE.match(line).groups()
                self.values[name, frozenset(re.findall(r'(\w+)="([^"]*)"', labels))] = float(value)

    def value(self, name, **labels):
        """The sum of what has these labels."""
        wanted = set(labels.items())
        found = [value for (each, those), value in self.values.items() if each == name and wanted <= those]
        assert found, f"no {name} with {labels}"
        return sum(found)

    @property
    def names(self):
        return {name for name, _ in self.values}


def place_of(process):
    """Host and port that a program says it can be scraped at."""
    return process.wait_for_line(r"metrics at http://(\S+):(\d+)/metrics$").groups()


def fetch(place, path="/metrics", method="GET", **headers):
    """(status, headers, octets) of one request; ConnectionError if the program ends before its answer does."""
    connection = http.client.HTTPConnection(place[0].strip("[]"), int(place[1]), timeout=30)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    except http.client.HTTPException as error:
        raise ConnectionError(f"no whole answer for {path}: {error}") from error
    finally:
        connection.close()


def ask(place, path="/metrics", method="GET"):
    """The same as text."""
    status, headers, octets = fetch(place, path, method)
    return status, headers, octets.decode()


def scrape(place):
    status, _, text = ask(place)
    assert status == 200
    return Page(text)


class Prometheus:
    """Debian's own, scraping one place four times a second; where asked for it takes native histograms."""

    def __init__(self, program, folder, place, *features):
        config = folder / "prometheus.yml"
        config.write_text(f"""\
global: {{scrape_interval: 250ms, scrape_timeout: 250ms}}
scrape_configs:
  - job_name: postal
    static_configs: [{{targets: ["{place[0]}:{place[1]}"]}}]
""")
        self.port = free_port()
        self.process = Process([program, f"--config.file={config}", f"--storage.tsdb.path={folder / 'prometheus'}",
                                f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn",
                                *(f"--enable-feature={one}" for one in features)], folder, "prometheus")
        wait_until(self.ready, lambda: f"Prometheus: {self.process.stderr}")

    def get(self, path):
        return ask(("127.0.0.1", self.port), path)

    def ready(self):
        try:
            return self.get("/-/ready")[0] == 200
        except OSError:
            return False

    def query(self, expression):
        """{labels: value} as Prometheus has it now."""
        status, _, text = self.get("/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
        assert status == 200, text
        return {frozenset(one["metric"].items()): float(one["value"][1]) for one in json.loads(text)["data"]["result"]}

    def sum(self, name):
        return sum(self.query(name).values())

    def stop(self):
        self.process.stop()
        self.process.wait()
