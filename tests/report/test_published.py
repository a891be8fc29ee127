# SPDX-License-Identifier: GPL-3.0-or-later
"""What is published in docs/results: each bundle is what its page says, and what it prints follows from what it holds.

A later version may print other words; then --verify says so and nothing else: sums and figures are as they were."""
import hashlib

import pytest
from conftest import ROOT
from printed import run

BUNDLES = sorted((ROOT / "docs/results").glob("*.tar.gz"))
WORDS = 8  # the status of other words


def test_there_are_results():
    assert BUNDLES


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda path: path.name)
def test_a_bundle_that_was_published(programs, run, bundle):
    octets = bundle.read_bytes()
    page = (ROOT / "docs/experiments" / bundle.name.replace(".tar.gz", ".md")).read_text()
    assert hashlib.sha256(octets).hexdigest() in page and f"../results/{bundle.name}" in page
    assert len(octets) < 200_000
    verified = run("--verify", bundle, status=None)
    lines = verified.stdout.splitlines()
    assert verified.returncode in (0, WORDS), verified.stdout + verified.stderr
    assert not [line for line in lines if line.startswith("WRONG: ")]
    assert not [line for line in lines if line.startswith("DIFFERS: ") and ".csv" in line]
    if verified.returncode == 0:
        assert lines[-1] == "Nothing was left out or changed."
