# SPDX-License-Identifier: GPL-3.0-or-later
"""scripts/demo-ledger, the first thing that a reader of README.md is shown of the ledger, says what happened to the mail."""
import os
import re

from conftest import ROOT
from support.postal import run


def test_the_message_that_is_removed_and_the_one_that_is_changed(programs, tool, folder):
    tool("dovecot")
    done = run([ROOT / "scripts" / "demo-ledger", programs.folder, "1"], env={**os.environ, "TMPDIR": str(folder)})
    assert (done.status, done.stderr) == (0, "")
    assert re.search(r"(?m)^first\.ledger: [\d,]+ acknowledged messages: nothing lost, nothing corrupt(; .*)?$", done.stdout)
    assert re.search(r"(?m)^second\.ledger: [\d,]+ acknowledged messages: 1 lost, 1 corrupt(; .*)?$", done.stdout)
    assert re.search(r"(?m)^    octet changed +1$", done.stdout)
    assert done.stdout.count("(status 3)") >= 1
    assert list(folder.iterdir()) == []
