# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual pages as mandoc and man read them, and the services as systemd judges them."""
import os
import re
import subprocess

import pytest

from conftest import ROOT

MANUALS = ROOT / "build/release/man"


def test_manuals_are_clean(tool):
    mandoc = tool("mandoc")
    pages = sorted(MANUALS.glob("*.[18]"))
    if not pages:
        pytest.skip("there is no build with manual pages")
    assert len(pages) == 8
    said = subprocess.run([mandoc, "-T", "lint", "-W", "warning", *pages], capture_output=True, text=True)
    assert said.returncode == 0 and said.stdout == "", said.stdout
    for page in pages:
        shown = subprocess.run([tool("man"), "--warnings", "--local-file", page], capture_output=True, text=True,
                               env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
        assert (shown.returncode, shown.stderr) == (0, ""), page.name


def test_errors_of_services_reach_the_journal():
    """Standard error goes where standard output goes, where nothing else is said (systemd.exec(5))."""
    for unit in (ROOT / "conf").glob("*.service"):
        text = unit.read_text()
        assert "StandardOutput=" not in text or "\nStandardError=journal\n" in text, unit.name


@pytest.mark.parametrize("unit, most", [("bhm.service", 2.0), ("lmtp-deliver.service", 3.0)])
def test_services_are_exposed_little(tool, unit, most):
    """lmtp-deliver becomes the users whose mail it is, which costs it some of what bhm has."""
    judged = subprocess.run([tool("systemd-analyze"), "security", "--offline=true", "--no-pager", ROOT / "conf" / unit],
                            check=True, capture_output=True, text=True).stdout
    assert float(re.search(r"Overall exposure level for \S+: ([0-9.]+)", judged)[1]) < most


def test_what_agents_use_together_is_bounded():
    """TasksMax and MemoryMax; and what they write is nobody else's."""
    unit = (ROOT / "conf/lmtp-deliver.service").read_text()
    manual = (ROOT / "docs/man/lmtp-deliver.8.md").read_text()
    for setting in ("TasksMax", "MemoryMax", "UMask", "KillMode", "OOMPolicy", "TimeoutStopSec", "LimitNOFILE"):
        [line] = re.findall(rf"(?m)^{setting}=.+$", unit)
        assert f"\n    {line}\n" in manual, f"the manual has another {setting}"
