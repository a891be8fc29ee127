# SPDX-License-Identifier: GPL-3.0-or-later
"""postal-report, called; a fixture of its tests."""
import subprocess

import pytest


@pytest.fixture
def run(programs):
    def call(*arguments, status=0, **options):
        done = subprocess.run([programs.postal_report, *map(str, arguments)], capture_output=True, text=True,
                              timeout=60, **options)
        assert status is None or done.returncode == status, done.stderr
        return done
    return call
