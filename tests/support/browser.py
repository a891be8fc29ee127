# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages as a real browser shows them: Chromium without a screen."""
import pathlib
import re
import subprocess
from dataclasses import dataclass

FRAME = """<!doctype html><body><iframe src="{page}" style="width:{width}px;height:2000px;border:0"></iframe>
<script>addEventListener("load", () => {{
    const page = document.querySelector("iframe").contentDocument;
    for (const each of page.querySelectorAll("details")) each.open = true;
    const wide = [...page.querySelectorAll("html, body, .scroll, pre")].filter(each => each.scrollWidth > each.clientWidth + 1);
    document.title = "wide:" + wide.map(each => (each.closest("[id]") || each).id || each.tagName).join(",") + ";";
}})</script>"""


@dataclass
class Shown:
    """`dom` as it is when the page's scripts have run; `complaints` are the lines of the browser's console."""
    dom: str
    complaints: list

    @property
    def charts(self):
        """How many have been drawn: Chart.js gives each its size."""
        return len(re.findall(r"<canvas[^>]* style=\"[^\"]*width: [1-9]", self.dom))


class Browser:
    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)

    def open(self, page, *options):
        done = subprocess.run(
            [self.program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr", *options,
             f"--user-data-dir={self.folder / 'browser'}", "--dump-dom", pathlib.Path(page).as_uri()],
            capture_output=True, text=True, timeout=120, check=False)
        return Shown(done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line])

    def too_wide_on_a_telephone(self, page):
        return self.too_wide(page, 390)

    def too_wide(self, page, width):
        """The names of what scrolls sideways at so many px, the whole page among them; everything that can be opened is open."""
        frame = self.folder / "frame.html"
        frame.write_text(FRAME.format(page=pathlib.Path(page).as_uri(), width=width))
        shown = self.open(frame, "--allow-file-access-from-files").dom
        return re.search(r"wide:([^;]*);", shown.split("<script>")[0]).group(1)
