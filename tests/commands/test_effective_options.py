# SPDX-License-Identifier: GPL-3.0-or-later
"""A record says with which options a run ran: every row of --help that has a default, and what was given anywhere."""
import re

import pytest

from support.postal import read_record, run
from support.process import free_port

PLACES = {
    "postal": lambda users: [f"127.0.0.1:{free_port()}", users],
    "rabid": lambda users: [f"127.0.0.1:{free_port()}", users],
    "bhm": lambda users: ["--listen", "127.0.0.1:0"],
    "lmtp-deliver": lambda users: ["--listen", "127.0.0.1:0", "--allow-root-agent", "--agent", "/bin/true"],
}


def defaults(help_text):
    """The long name of each option that has a default, and what --help says it is."""
    found = {}
    for row in re.split(r"(?m)^ {2,6}(?=-)", help_text)[1:]:
        words = " ".join(row.split("\n\n")[0].split())
        name = re.match(r"(?:-\w, ?)?--([a-z][a-z0-9-]*)", words)
        default = re.search(r"\[default: (.*)\]", words)
        if name and default:
            found[name.group(1)] = default.group(1)
    return found


@pytest.mark.parametrize("name", PLACES)
def test_the_record_has_the_options_in_effect(programs, folder, users_file, name):
    program, path, settings = programs.path(name), folder / "run.json", folder / "settings.toml"
    settings.write_text('grace = "7s"\ninterval = "1s"\n')
    expected = defaults(run([program, "--help"]).stdout)
    assert len(expected) > 5
    run([program, "--config", settings, "--interval", "250ms", "--duration", "300ms", "--record", path,
         "--threshold", "errors>=0", "--threshold", "messages>=0", *PLACES[name](users_file(["user@example.com secret"]))], timeout=60)
    options = read_record(path)["options"]
    expected.update({"grace": "7s", "interval": "250ms", "duration": "300ms", "record": str(path),
                     "threshold": ["errors>=0", "messages>=0"]})
    if name in ("bhm", "lmtp-deliver"):
        expected["listen"] = "127.0.0.1:0"
    if "give-up" in expected:  # what the rule came to: a run with an end is not given up
        expected["give-up"] = "0s"
    if name == "lmtp-deliver":  # whose defaults follow from others
        expected.update({"queue-timeout": "4m40s", "max-per-recipient": str((int(expected["max-deliveries"]) + 1) // 2)})
    assert {key: options.get(key) for key in expected} == expected
