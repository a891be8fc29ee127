"""The way between ranks, with Open MPI itself: parcels come whole and in order, and a killed rank holds up nobody."""
import os
import re
import time

import pytest

from support.postal import run
from support.ranks import Hosts, namespaces_are_missing, run_ranks

ALONE = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMI"))}


@pytest.fixture
def rank_echo(programs, tool):
    if "MPI: no" in run([programs.postal, "--version"]).stdout:
        pytest.skip("built without MPI")
    tool("mpirun")
    return programs.path("rank_echo")


def all_parcels(ranks):
    return sorted(f"rank {rank} of {ranks}: {4 * ranks} parcels" for rank in range(ranks))


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_parcels_of_all_lengths_come_whole_and_in_order(rank_echo, folder, ranks):
    done = run_ranks(ranks, [rank_echo], folder)
    assert (done.status, sorted(done.stdout.splitlines())) == (0, all_parcels(ranks)), done.stderr
    assert done.stderr == ""


def test_parcels_go_by_tcp(rank_echo, folder):
    done = run_ranks(3, [rank_echo], folder, ["--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"])
    assert (done.status, sorted(done.stdout.splitlines())) == (0, all_parcels(3)), done.stderr


@pytest.mark.parametrize("way", ["vader,self", "tcp,self"])
def test_a_killed_rank_holds_up_nobody(rank_echo, folder, way):
    done = run_ranks(4, [rank_echo, "lonely"], folder, ["--enable-recovery", "--mca", "btl", way])
    survivors = [f"rank {rank} heard 3 survivors" for rank in range(3)]
    assert [line for line in sorted(done.stdout.splitlines()) if line.startswith("rank ")] == survivors, done.stderr


def test_hosts_differ_in_name_and_clock(rank_echo, folder):
    if why := namespaces_are_missing():
        pytest.skip(why)
    with Hosts(folder, ahead=[0, 1000]) as hosts:
        done = hosts.run_ranks(4, [rank_echo])
        assert (done.status, sorted(done.stdout.splitlines())) == (0, all_parcels(4)), done.stderr
        told = hosts.run_ranks(2, ["/usr/bin/python3", "-c", "import os, time; print(os.uname()[1], time.monotonic())"])
        clocks = dict(line.split() for line in told.stdout.splitlines())
        ahead = float(clocks["postal-host-1"]) - float(clocks["postal-host-0"])
        assert abs(ahead - 1000) < 30
        assert float(clocks["postal-host-0"]) <= time.monotonic()
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
