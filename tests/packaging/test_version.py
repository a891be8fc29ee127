# SPDX-License-Identifier: GPL-3.0-or-later
"""The version that a build has from the state of its repository, and where it stands."""
import json
import os
import re
import subprocess

import pytest

from conftest import ROOT

SCRIPT = ROOT / "cmake/write_version.cmake"
COMMIT_EPOCH = 1769904000  # 2026-02-01T00:00:00Z, and still January in the west
BETWEEN = r"1\.2\.3\+git20260201\.[0-9a-f]{10}"


@pytest.fixture
def sources(tmp_path):
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "CHANGELOG.md").write_text("# Changelog\n")
    os.utime(folder / "CHANGELOG.md", (1700000000, 1700000000))
    return folder


@pytest.fixture
def git(tool, sources):
    path = tool("git")

    def run(*words, folder=sources):
        when = f"{COMMIT_EPOCH} -0800"
        environment = {"PATH": os.environ["PATH"], "HOME": str(sources.parent), "GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when}
        subprocess.run([path, "-C", folder, "-c", "user.name=n", "-c", "user.email=e@example.com", *words], check=True,
                       capture_output=True, env=environment)

    return run


@pytest.fixture
def commit(git):
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")


@pytest.fixture
def write(tool, sources):
    """Runs the script and returns the version."""
    cmake = tool("cmake")

    def run(**environment):
        out = sources.parent / "out"
        subprocess.run([cmake, f"-DSOURCE={sources}", "-DRELEASE=1.2.3", f"-DOUT={out}", "-P", SCRIPT], check=True,
                       capture_output=True, env={"PATH": os.environ["PATH"], "HOME": str(sources.parent), **environment})
        source = (out / "version.cpp").read_text()
        assert 'release_version = "1.2.3"' in source
        return re.search(r'build_version = "(.*)"', source)[1]

    return run


def test_sources_without_a_repository_are_the_release(write):
    assert write() == "1.2.3"


def test_a_tarball_says_which_commit_it_is(write, sources):
    (sources / ".version").write_text("1.2.3+git20260201.0123456789\n")
    assert write() == "1.2.3+git20260201.0123456789"


def test_the_repository_around_the_sources_is_not_theirs(git, write, sources):
    git("init", "-q", folder=sources.parent)
    git("add", "sources", folder=sources.parent)
    git("commit", "-qm", "another project", folder=sources.parent)
    assert write() == "1.2.3"


def test_a_commit_is_named_with_its_day(commit, write):
    version = write()
    assert re.fullmatch(BETWEEN, version)
    assert write(SOURCE_DATE_EPOCH="0") == version
    assert write(TZ="America/Los_Angeles", GIT_DIR="/nonexistent", GIT_INDEX_FILE="x") == version


def test_changed_files_make_it_dirty(commit, write, sources):
    (sources / "users.txt").write_text("user@example.com\n")
    assert re.fullmatch(BETWEEN, write())
    (sources / "CHANGELOG.md").write_text("# Changed\n")
    assert re.fullmatch(BETWEEN + r"\.dirty", write())


def test_the_tagged_commit_is_the_release(git, commit, write, sources):
    git("tag", "v1.2.30")
    assert re.fullmatch(BETWEEN, write())
    git("tag", "v1.2.3")
    assert write() == "1.2.3"
    (sources / "CHANGELOG.md").write_text("# Changed\n")
    assert re.fullmatch(BETWEEN + r"\.dirty", write())


def test_nothing_is_written_when_nothing_changed(commit, write, sources):
    """Or each build would link everything anew."""
    write()
    made = list((sources.parent / "out").iterdir())
    for path in made:
        os.utime(path, (1, 1))
    write()
    assert [path.stat().st_mtime for path in made] == [1]


def test_debian_sorts_a_commit_behind_its_release(tool):
    ordered = ["1.0.0", "1.0.0+git20260131.ffffffffff", "1.0.0+git20260201.0123456789", "1.0.0+git20260201.0123456789.dirty", "1.0.1"]
    for earlier, later in zip(ordered, ordered[1:]):
        subprocess.run([tool("dpkg"), "--compare-versions", earlier, "lt", later], check=True)


def test_records_name_the_build(programs, tmp_path):
    said = subprocess.run([programs.postal, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
    users, record = tmp_path / "users.txt", tmp_path / "record.json"
    users.write_text("user@example.com\n")
    subprocess.run([programs.postal, "--messages", "1", "--fail-fast", "--record", record, "127.0.0.1:1", users], capture_output=True)
    assert json.loads(record.read_text())["version"] == said
