# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages as a real browser shows them: one Chromium without a screen for all tests of a process, since its start costs more than
most pages. It is asked through a pipe, in Chrome's DevTools protocol: objects of JSON, each with a zero octet behind it. One page
comes behind the other, with an empty one between them. What it does not answer in time ends the test.
"""
import itertools
import json
import os
import pathlib
import re
import select
import time
from dataclasses import dataclass

from .process import Process

ALONE = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-extensions", "--disable-sync", "--disable-breakpad")
COMPLAINTS = {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"}
LONGEST = 120.0
TOO_WIDE = """(() => {
    for (const each of document.querySelectorAll("details")) each.open = true;
    const wide = [...document.querySelectorAll("html, body, .scroll, pre")].filter(each => each.scrollWidth > each.clientWidth + 1);
    return wide.map(each => (each.closest("[id]") || each).id || each.tagName).join(",");
})()"""


@dataclass
class Shown:
    """`dom` as it is when the page's scripts have run; `complaints` are what the browser's console has."""
    dom: str
    complaints: list

    @property
    def charts(self):
        """How many have been drawn: Chart.js gives each its size."""
        return len(re.findall(r"<canvas[^>]* style=\"[^\"]*width: [1-9]", self.dom))


class Browser:
    """Begins with the first page that is opened."""

    def __init__(self, program, folder):
        self.program, self.folder, self.process = program, pathlib.Path(folder), None
        self.numbers, self.events, self.octets = itertools.count(1), [], b""

    def start(self):
        theirs, self.commands = os.pipe()
        self.answers, also_theirs = os.pipe()
        # Its end of the two has the numbers 3 and 4.
        self.octets, self.events = b"", []
        self.process = Process(["bash", "-c", f'exec "$@" 3<&{theirs} 4>&{also_theirs}', "bash", self.program, *ALONE, "--remote-debugging-pipe",
                                f"--user-data-dir={self.folder / 'profile'}", "about:blank"], self.folder, "chromium",
                               pass_fds=(theirs, also_theirs))
        os.close(theirs)
        os.close(also_theirs)
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Inspector"):
            self.ask(f"{domain}.enable", self.session)
        self.ask("Page.setLifecycleEventsEnabled", self.session, enabled=True)

    def stop(self):
        if self.process:
            os.close(self.commands)  # which ends it
            os.close(self.answers)
            self.process.ends_within(5)
            self.process.kill()
            self.process = None

    def read(self, deadline):
        """The next object that it sends."""
        while b"\0" not in self.octets:
            ready, _, _ = select.select([self.answers], [], [], max(0.0, deadline - time.monotonic()))
            octets = os.read(self.answers, 1 << 20) if ready else b""
            assert octets, f"the browser did not answer: {self.process.stderr[-2000:]}"
            self.octets += octets
        one, _, self.octets = self.octets.partition(b"\0")
        return json.loads(one)

    def ask(self, method, session=None, **parameters):
        """The answer; what happens meanwhile is kept in `events`."""
        number, deadline = next(self.numbers), time.monotonic() + LONGEST
        asked = {"id": number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        octets = json.dumps(asked).encode() + b"\0"
        while octets:
            octets = octets[os.write(self.commands, octets):]
        while (one := self.read(deadline)).get("id") != number:
            self.events.append(one)
        assert "error" not in one, f"{method}: {one['error']}"
        return one["result"]

    def navigate(self, url):
        """Until this page is loaded: the answer names the loading, for an event may be of the page before."""
        self.events.clear()
        begun = self.ask("Page.navigate", self.session, url=url)
        assert "errorText" not in begun, f"{url}: {begun['errorText']}"
        deadline = time.monotonic() + LONGEST
        while not any(event.get("method") == "Page.lifecycleEvent" and event["params"]["name"] == "load"
                      and event["params"]["loaderId"] == begun["loaderId"] for event in self.events):
            self.events.append(self.read(deadline))
            assert self.events[-1].get("method") != "Inspector.targetCrashed", url

    def load(self, path, width, height):
        """A browser that failed once is not asked again: the next page gets a new one."""
        try:
            self.show(path, width, height)
        except BaseException:
            self.stop()
            raise

    def show(self, path, width, height):
        if not self.process:
            self.start()
        self.navigate("about:blank")
        self.ask("Emulation.setDeviceMetricsOverride", self.session, width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.navigate(pathlib.Path(path).absolute().as_uri())

    def value_of(self, expression):
        return self.ask("Runtime.evaluate", self.session, expression=expression)["result"]["value"]

    def open(self, path, width=800, height=600):
        self.load(path, width, height)
        dom = self.value_of("document.documentElement.outerHTML")
        return Shown(dom, [json.dumps(event["params"]) for event in self.events if event.get("method") in COMPLAINTS])

    def too_wide_on_a_telephone(self, path):
        return self.too_wide(path, 390)

    def too_wide(self, path, width):
        """The names of what scrolls sideways at so many px, the whole page among them; everything that can be opened is open."""
        self.load(path, width, 2000)
        return self.value_of(TOO_WIDE)
