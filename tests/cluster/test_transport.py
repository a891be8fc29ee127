# SPDX-License-Identifier: GPL-3.0-or-later
"""The way between ranks, with Open MPI itself: parcels come whole and in order, and a killed rank holds up nobody."""
import os
import re
import time

import pytest

from support.postal import run
from support.process import wait_until
from support.ranks import Hosts, Ranks, mpirun_argv, namespaces_are_missing, run_ranks

ALONE = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMI"))}


@pytest.fixture
def rank_echo(programs, tool):
    if "MPI: no" in run([programs.postal, "--version"]).stdout:
        pytest.skip("built without MPI")
    tool("mpirun")
    return programs.path("rank_echo")


def told(folder, ranks):
    """What each rank wrote; nothing of those that wrote nothing."""
    paths = [folder / f"rank-{rank}" for rank in range(ranks)]
    return [path.read_text().rstrip("\n") for path in paths if path.exists()]


def all_parcels(ranks):
    return [f"rank {rank} of {ranks}: {4 * ranks} parcels" for rank in range(ranks)]


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_parcels_of_all_lengths_come_whole_and_in_order(rank_echo, folder, ranks):
    done = run_ranks(ranks, [rank_echo, folder], folder)
    assert (done.status, told(folder, ranks)) == (0, all_parcels(ranks)), done.stderr
    assert done.stderr == ""


def test_parcels_go_by_tcp(rank_echo, folder):
    options = ["--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"]
    done = run_ranks(3, [rank_echo, folder], folder, options)
    assert (done.status, told(folder, 3)) == (0, all_parcels(3)), done.stderr


@pytest.mark.parametrize("way", ["vader,self", "tcp,self"])
def test_a_killed_rank_holds_up_nobody(rank_echo, folder, way):
    """mpirun itself may not end: see docs/many-machines.md."""
    argv = mpirun_argv(4, [rank_echo, folder, "lonely"], ["--enable-recovery", "--mca", "btl", way])
    with Ranks(argv, folder) as ranks:
        survivors = [f"rank {rank} heard 3 survivors" for rank in range(3)]
        wait_until(lambda: told(folder, 4) == survivors,
                   lambda: f"the survivors, who said {told(folder, 4)}, {ranks.process.stderr}")


def test_hosts_differ_in_name_and_clock(rank_echo, folder):
    if why := namespaces_are_missing():
        pytest.skip(why)
    with Hosts(folder, ahead=[0, 1000]) as hosts:
        done = hosts.run_ranks(4, [rank_echo, folder])
        assert (done.status, told(folder, 4)) == (0, all_parcels(4)), done.stderr
        say = "import os, sys, time; open(f'{sys.argv[1]}/{os.uname()[1]}', 'w').write(f'{time.monotonic()}')"
        assert hosts.run_ranks(2, ["/usr/bin/python3", "-c", say, folder]).status == 0
        first, second = (float((folder / f"postal-host-{number}").read_text()) for number in range(2))
        assert abs(second - first - 1000) < 30
        assert first <= time.monotonic()
        networks = [host.network for host in hosts.hosts]
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            assert os.readlink(f"/proc/{entry}/ns/net") not in networks
        except OSError:
            pass


def test_without_a_launcher_nobody_loads_mpi(programs, tool):
    tool("ldd")
    assert "libmpi" not in run(["ldd", programs.postal]).stdout
    assert re.search(r"^MPI: (no|.*\d\.\d.*)$", run([programs.postal, "--version"], env=ALONE).stdout, re.MULTILINE)
