# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds that are not the usual one: without anything optional, for another machine, as a part of another project."""
import os
import pathlib
import subprocess

import pytest

from conftest import ROOT

OPTIONAL = ("MPI", "METRICS", "SCREEN", "SYSTEMD", "EXPERIMENTS", "BUNDLES")
NEEDED = ("prometheus", "ncurses", "libsystemd", "libarchive", "libmount", "libblkid", "blkid.h", "postal_mpi")
# What stands in for a part that was left out.
STANDS_IN = ("lib/metrics/CMakeFiles/postal_metrics.dir/absent.cpp.o", "lib/screen/CMakeFiles/postal_screen.dir/absent.cpp.o",
             "lib/os/CMakeFiles/postal_os.dir/absent_manager.cpp.o", "lib/bundle/CMakeFiles/postal_bundle.dir/absent.cpp.o",
             "postal-report/CMakeFiles/program_postal-report.dir/absent_folder.cpp.o")
STOOD_IN_FOR = ("lib/metrics/CMakeFiles/postal_metrics.dir/scrape_endpoint.cpp.o",)


@pytest.fixture
def configure(tool, tmp_path):
    """configure(folder of sources, option, ...) gives the rules of ninja, and the folder of the build."""
    cmake = tool("cmake")

    def run(sources, *options, **environment):
        build = tmp_path / "build"
        done = subprocess.run([cmake, "-G", "Ninja", "-S", sources, "-B", build, *options], capture_output=True, text=True,
                              env={**os.environ, **environment})
        assert done.returncode == 0, done.stderr
        return (build / "build.ninja").read_text(), build
    return run


def without(*parts):
    return [f"-DPOSTAL_{part}=OFF" for part in parts]


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def test_without_anything_optional_for_another_machine(configure, tool, tmp_path):
    """With the flags of Debian's packages, which are not added to, in a folder as those of a version between releases."""
    sources = tmp_path / "postal-1.0.0+git.0123"
    sources.symlink_to(ROOT)
    flags = " ".join(run(tool("dpkg-buildflags"), "--get", kind).strip() for kind in ("CXXFLAGS", "CPPFLAGS"))
    rules, _ = configure(sources, *without(*OPTIONAL), "-DCMAKE_SYSTEM_NAME=Linux", CXXFLAGS=flags)
    assert not [name for name in NEEDED if name in rules]
    assert "ccache" not in rules and "-fcf-protection" not in rules
    assert rules.count("-fstack-protector-strong") == rules.count("_FORTIFY_SOURCE") > 0
    assert "build bin/postal-report:" in rules and "build bin/unit_os:" in rules
    assert "bin/postal-compare" not in rules and "--completion" not in rules
    assert all(f"build {one}:" in rules for one in STANDS_IN)
    assert not any(f"build {one}:" in rules for one in STOOD_IN_FOR)


def test_as_a_part_of_another_project(configure, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.25)\nproject(around LANGUAGES CXX)\nadd_subdirectory({ROOT} postal)\n")
    rules, build = configure(tmp_path)
    assert "ccache" not in rules and "-fstack-protector-strong" in rules
    assert "build postal/bin/postal-audit:" in rules and "bin/unit_base" not in rules


@pytest.mark.full
def test_what_was_left_out_is_refused(configure, tmp_path):
    _, build = configure(ROOT, *without(*OPTIONAL, "TESTS"), "-DCMAKE_CXX_FLAGS=-O0", "-DPOSTAL_CCACHE=ON")
    run("ninja", "-C", build, "postal", "bhm", "lmtp-deliver", "postal-report")
    users = tmp_path / "users.txt"
    users.write_text("user@example.com\n")
    (tmp_path / "results").mkdir()
    (tmp_path / "results/experiment.json").touch()
    (tmp_path / "run.tar.gz").write_bytes(b"\x1f\x8b")
    for words, said in ((["postal", "--metrics", "127.0.0.1:0", "127.0.0.1:1", users], "--metrics: this build has no metrics"),
                        (["bhm", "--live", "-b", "127.0.0.1", "-p", "0"], "--live: this build has no screen; "),
                        (["postal-report", tmp_path / "results"], f"{tmp_path}/results: this build has no experiments"),
                        (["postal-report", "--verify", tmp_path / "run.tar.gz"], f"{tmp_path}/run.tar.gz: this build has no bundles"),
                        (["env", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2", "postal", "127.0.0.1:1", users], "built without MPI"),
                        (["sh", "-c", "LISTEN_PID=$$ LISTEN_FDS=1 exec lmtp-deliver --agent /bin/true"], "this build has no systemd")):
        done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PATH": f"{build}/bin:{os.environ['PATH']}"})
        assert done.returncode != 0 and said in done.stderr and done.stderr.count("\n") == 1, (words, done.stderr)
    assert not pathlib.Path(build / "bin/postal-compare").exists()
