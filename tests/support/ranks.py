# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that run as ranks: under mpirun on this host, and on hosts that are namespaces of it.

A host has its own network, host name, /tmp and CLOCK_MONOTONIC (time_namespaces(7)), so that ranks meet what they meet
between machines: TCP, clocks that differ by a known amount, no shared memory. mpirun reaches it by a launch agent in
place of ssh. Namespaces need root. All that was started in them ends with them.
"""
import contextlib
import os
import pathlib
import re
import shlex
import subprocess
from signal import SIGKILL

from .postal import Run
from .process import Process, kill_session, wait_until

NETWORK = "10.77.0.0/24"
NAMESPACES = ["--net", "--uts", "--mount", "--time"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 60.0
# What mpirun itself needs to start by the agent, and ranks to use nothing but the hosts' network.
BETWEEN_HOSTS = ["--mca", "plm", "rsh", "--mca", "plm_rsh_no_tree_spawn", "1", "--mca", "oob_tcp_if_include", NETWORK,
                 "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", NETWORK]


def mpirun_argv(ranks, argv, options=()):
    """Also where there are fewer processors than ranks, and for root."""
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", ranks, *options, *argv]


class Ranks:
    """mpirun with its ranks, which are running: to be signalled, or waited for. A context; none is left behind."""

    def __init__(self, argv, folder, **popen):
        # Open MPI's session folders are where TMPDIR is; its sockets there need a short path.
        environment = {**os.environ, "TMPDIR": str(folder), **popen.pop("env", {})}
        self.process = Process(argv, folder, "mpirun", env=environment, **popen)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        kill_session(self.process.pid)

    def signal(self, number):
        """To mpirun, which passes it on in its own way."""
        self.process.signal(number)

    def finish(self, timeout=LIMIT):
        """What they left: mpirun's status, and all that they said."""
        status = self.process.wait(timeout)
        return Run(self.process.argv, status, self.process.stdout, self.process.stderr)


def rank_pids(started, ranks):
    """The processes of a run, by rank; its `record_path` is among its words, and no other run's."""
    def rank_of(pid):
        with contextlib.suppress(OSError):
            process = pathlib.Path("/proc", pid)
            if str(started.record_path).encode() in process.joinpath("cmdline").read_bytes():
                found = re.search(rb"(?:^|\0)OMPI_COMM_WORLD_RANK=(\d+)\0", process.joinpath("environ").read_bytes())
                return found and int(found[1])

    def look():
        found = {rank_of(pid): int(pid) for pid in filter(str.isdigit, os.listdir("/proc"))}
        found.pop(None, None)
        return [found[rank] for rank in range(ranks)] if len(found) == ranks else None
    return wait_until(look, f"{ranks} ranks")


def run_ranks(ranks, argv, folder, options=(), timeout=LIMIT, **popen):
    """Runs them on this host to their end."""
    with Ranks(mpirun_argv(ranks, argv, options), folder, **popen) as running:
        return running.finish(timeout)


def namespaces_are_missing():
    """Why there can be no Hosts here; nothing where there can. A root folder that is no mount point, as chroot(1) makes
    it, cannot have mounts of its own."""
    tried = subprocess.run(["unshare", *NAMESPACES, "--monotonic", "5", "--fork", "true"], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, timeout=LIMIT, check=False)
    return tried.stderr.strip() or "namespaces need root" if tried.returncode else None


class Host:
    """One of Hosts: namespaces that a process holds open."""

    def __init__(self, number, ahead, folder):
        self.number, self.ahead = number, ahead
        self.name = f"postal-host-{number}"
        self.address = f"10.77.0.{number + 1}"
        steps = [f"hostname {self.name}", "mount -t tmpfs none /mnt", "chmod 1777 /mnt"]
        for kept in (folder, ROOT):
            if (kept := pathlib.Path(kept)).is_relative_to("/tmp"):
                inside = shlex.quote("/mnt/" + str(kept.relative_to("/tmp")))
                steps += [f"mkdir -p {inside}", f"mount --bind {shlex.quote(str(kept))} {inside}"]
        steps += ["mount --move /mnt /tmp", "ip link set lo up", "echo ready $$ >&2", "exec sleep infinity"]
        self.holder = Process(["unshare", *NAMESPACES, "--monotonic", ahead, "--fork", "--kill-child", "sh", "-c",
                               " && ".join(steps)], folder, self.name)

    def wait_until_ready(self):
        self.pid = int(self.holder.wait_for_line(r"^ready (\d+)$").group(1))
        self.network = os.readlink(f"/proc/{self.pid}/ns/net")
        clocks = pathlib.Path(f"/proc/{self.pid}/timens_offsets").read_text()
        assert re.search(rf"^(?:monotonic|1)\s+{self.ahead}\s", clocks, re.MULTILINE), clocks

    def argv(self, *words):
        """That runs in it; in the folder /."""
        return ["nsenter", *NAMESPACES, "--target", self.pid, "--", *words]

    def run(self, *words):
        argv = [str(word) for word in self.argv(*words)]
        return subprocess.run(argv, check=True, capture_output=True, text=True, timeout=LIMIT).stdout

    def processes(self):
        """What runs in it."""
        found = []
        for entry in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{entry}/ns/net") == self.network:
                    found.append(int(entry))
        return found

    def end(self):
        def empty():
            left = self.processes()
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)  # an orphan is ours: see adopt_orphans()
            return not left
        if hasattr(self, "network"):
            wait_until(empty, f"the end of all in {self.name}")
        self.holder.kill()


class Hosts:
    """Hosts on one network; `ahead` says by how many seconds the steady clock of each is ahead of this machine's. A
    context. `folder` is below /tmp, and the one folder there that all of them share.

        with Hosts(folder, ahead=[0, 1000]) as hosts:
            done = hosts.run_ranks(4, [program, …])  # ranks 0 and 1 on the first, 2 and 3 on the second
    """

    def __init__(self, folder, ahead):
        self.folder, self.ahead, self.hosts = pathlib.Path(folder), ahead, []

    def __enter__(self):
        try:
            for number, seconds in enumerate(self.ahead):
                self.hosts.append(Host(number, seconds, self.folder))
            for host in self.hosts:
                host.wait_until_ready()
            self._connect()
            self._write_agent()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for host in self.hosts:
            host.end()

    def __getitem__(self, number):
        return self.hosts[number]

    def _connect(self):
        """A bridge in the first one, a pair of devices to each of the others."""
        first, *others = self.hosts
        first.run("ip", "link", "add", "bridge", "type", "bridge")
        for host in others:
            there = f"to-{host.number}"
            first.run("ip", "link", "add", there, "type", "veth", "peer", "name", "to-0", "netns", host.pid)
            first.run("ip", "link", "set", there, "master", "bridge", "up")
        for host in self.hosts:
            device = "bridge" if host is first else "to-0"
            host.run("ip", "address", "add", f"{host.address}/24", "dev", device)
            host.run("ip", "link", "set", device, "up")

    def _write_agent(self):
        """agent HOST COMMAND…, as ssh has it."""
        cases = "".join(f"{host.name}) pid={host.pid} ;;\n" for host in self.hosts)
        self.agent = self.folder / "agent"
        self.agent.write_text(f"#!/bin/sh\ncase $1 in\n{cases}*) exit 255 ;;\nesac\nshift\n"
                              f"exec nsenter {' '.join(NAMESPACES)} --target $pid -- sh -c \"$*\"\n")
        self.agent.chmod(0o755)

    def ranks(self, ranks, argv, options=(), **popen):
        """Starts them, as many on each host, the first ones on the first."""
        slots = -(-ranks // len(self.hosts))
        where = ["--host", ",".join(f"{host.name}:{slots}" for host in self.hosts)]
        chosen = [*BETWEEN_HOSTS, "--mca", "plm_rsh_agent", self.agent, *where, *options]
        return Ranks(self.hosts[0].argv(*mpirun_argv(ranks, argv, chosen)), self.folder, **popen)

    def run_ranks(self, ranks, argv, options=(), timeout=LIMIT, **popen):
        with self.ranks(ranks, argv, options, **popen) as running:
            return running.finish(timeout)
