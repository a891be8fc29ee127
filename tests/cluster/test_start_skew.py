# SPDX-License-Identifier: GPL-3.0-or-later
"""When ranks start, by the clock of the server that they load: their own clocks differ by hours."""
import json

import pytest

from conftest import ROOT
from support.postal import read_record
from support.process import Process
from support.ranks import Hosts, namespaces_are_missing

AHEAD = [0, 1000, 7_200, 3]
PORT = 2525
SINK = ROOT / "tests/support/first_octets.py"
# That the server's threads and the network take for a connection, its greeting and the first command, seen from outside.
OBSERVED = 0.003


def start_ranks(programs, hosts, folder, users):
    """When the first octet of each came, by the sink's clock, and by how much each said to be late."""
    path = folder / "whole.json"
    sink = Process(hosts[0].argv("/usr/bin/python3", SINK, hosts[0].address, PORT), folder, "sink")
    try:
        sink.wait_for_line("ready")
        done = hosts.run_ranks(4, [programs.postal, "--record", path, "--messages", "8", "-t", "1", "-c", "-1", "-m", "1",
                                   "--workers", "1", f"{hosts[0].address}:{PORT}", users])
        assert done.status == 0, done.stderr
        first = {}
        for line in map(json.loads, sink.stdout.splitlines()):
            first.setdefault(line["client"], line["at"])
    finally:
        sink.stop()
    path.replace(folder / "earlier.json")
    return [first[host.address] for host in hosts.hosts], [one["start_late_s"] for one in read_record(folder / "earlier.json")["ranks"]]


@pytest.mark.serial
def test_first_octets_come_when_the_record_says(programs, folder, tool, users_file):
    """Whatever the sink was kept from only makes it worse, so the best of three starts counts."""
    tool("mpirun")
    if why := namespaces_are_missing():
        pytest.skip(why)
    wrong = []
    with Hosts(folder, AHEAD) as hosts:
        for _ in range(3):
            came, late = start_ranks(programs, hosts, folder, users_file(5))
            unexplained = [at - came[0] - (one - late[0]) for at, one in zip(came, late)]
            wrong.append(max(map(abs, unexplained)))
    assert min(wrong) <= OBSERVED, wrong
