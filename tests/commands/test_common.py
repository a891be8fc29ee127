# SPDX-License-Identifier: GPL-3.0-or-later
"""What every program of the suite promises on its command line: help, version, manual page, statuses."""
import re

import pytest

from conftest import ROOT
from support.postal import run

PROGRAMS = ["postal", "rabid", "bhm", "lmtp-deliver", "postal-list", "postal-report"]
LETTERS = {"postal": "mMtcrsLlabzZf", "rabid": "rplcasidbuzZ", "bhm": "mtbpsazZr", "lmtp-deliver": "tmzZa"}

SPEAK_TLS = ["postal", "rabid", "bhm", "lmtp-deliver"]
RANKS = ["postal", "rabid"]  # that can be one of many


def built_with_mpi(programs):
    return any(programs.folder.parent.glob("lib*/**/postal/modules/postal_mpi.so"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_version_says_what_is_built_in(programs, name):
    done = run([programs.path(name), "--version"])
    assert (done.status, done.stderr) == (0, "")
    first, *more = done.stdout.splitlines()
    assert re.fullmatch(rf"{name} \d+\.\d+\.\d+(\+git\d{{8}}\.[0-9a-f]{{10,}}(\.dirty)?)?", first)
    tls = [line for line in more if line.startswith("TLS: ")]
    mpi = [line for line in more if line.startswith("MPI: ")]
    assert more == tls + mpi
    assert (len(tls), len(mpi)) == (name in SPEAK_TLS, name in RANKS)
    if mpi and built_with_mpi(programs):
        assert re.fullmatch(r"MPI: \D+\d+\.\d+.*", mpi[0])
    elif mpi:
        assert mpi == ["MPI: no"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_help_fits_the_screen_and_has_every_letter(programs, name):
    for columns in (80, 100):
        done = run(["env", f"COLUMNS={columns}", programs.path(name), "--help"])
        assert (done.status, done.stderr) == (0, "")
        assert name in done.stdout.splitlines()[0]
        assert max(map(len, done.stdout.splitlines())) <= columns
    for letter in LETTERS.get(name, ""):
        assert re.search(rf"(?m)^\s+-{letter}[, ]", done.stdout), f"-{letter} is not in --help"


@pytest.mark.parametrize("name", ["postal", "rabid", "bhm", "lmtp-deliver"])
def test_short_help_is_a_screen_and_says_where_the_rest_is(programs, name):
    short = run([programs.path(name), "-h"])
    assert (short.status, short.stderr) == (0, "")
    assert len(short.stdout.splitlines()) <= 25
    whole = run([programs.path(name), "--help", "all"]).stdout
    assert long_options(short.stdout) <= long_options(whole)
    words = re.search(r"--help with (.*?)\. Explained", short.stdout.replace("\n", " "))[1].split(", ")
    for word in words:
        group = run([programs.path(name), "--help", word]).stdout
        assert group.lower().startswith(word)
        assert long_options(group) < long_options(whole)
    assert run([programs.path(name), "--help"]).stdout == whole
    for words in (["--help=nothing"], ["--help", "nothing"]):
        refused = run([programs.path(name), *words])
        assert refused.status == 1
        assert "nothing is no group of options" in refused.stderr


def long_options(help_text):
    return set(re.findall(r"(?m)^\s+(?:-\w, ?)?(--[a-z][a-z0-9-]+)", help_text))


@pytest.mark.parametrize("name", PROGRAMS)
def test_manual_page_explains_every_option(programs, name):
    options = long_options(run([programs.path(name), "--help"]).stdout)
    assert len(options) > 3
    [page] = (ROOT / "docs" / "man").glob(f"{name}.[18].md")
    text = page.read_text()
    assert not [option for option in options if not re.search(rf"{option}(?![\w-])", text)]


def test_install_puts_programs_and_manual_pages_in_place(programs, folder):
    build = programs.folder.parent
    if not (build / "cmake_install.cmake").exists():
        pytest.skip(f"{build} is no build folder")
    installed = run(["cmake", "--install", build, "--prefix", folder / "usr"])
    assert installed.status == 0, f"is all of {build} built? {installed.stderr}"
    for name in PROGRAMS:
        assert run([folder / "usr/bin" / name, "--version"]).status == 0
    pages = {path.name.split(".")[0] for path in (folder / "usr/share/man").rglob("*.[18]*")}
    assert set(PROGRAMS) <= pages


@pytest.mark.parametrize("name, words", [
    (name, words) for name in ("postal", "rabid", "bhm", "lmtp-deliver")
    for words in (["--no-such-option"], ["-Q"], ["--interval"], ["--config", "/nowhere.toml"])
] + [("postal-report", ["--no-such-option"])])
def test_a_wrong_command_line_is_one_line_and_status_1(programs, name, words):
    done = run([programs.path(name), *words])
    assert done.status == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith(f"{name}: ")


def test_a_mistyped_option_is_recognised(programs):
    assert "--messages" in run([programs.postal, "--mesages", "1"]).stderr


@pytest.mark.parametrize("name, words", [("postal", []), ("postal", ["127.0.0.1"]), ("rabid", []), ("rabid", ["127.0.0.1"]), ("postal-report", []),
                                         ("lmtp-deliver", [])])
def test_missing_words_are_asked_for(programs, name, words):
    done = run([programs.path(name), *words])
    assert done.status == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) <= 2 and done.stderr.startswith(f"{name}: ")


def test_help_names_each_kind_of_list(programs):
    """Those that the manual has, and the program knows."""
    manual = (ROOT / "docs/man/postal-report.1.md").read_text()
    kinds = re.findall(r"\*\*([a-z-]+)\*\*", re.search(r"\*\*--list\*\* \*KIND\*\n(.*?) A line has", manual, re.S)[1])
    whole = " ".join(run([programs.postal_report, "--help", "all"]).stdout.split())
    named = re.search(r"print these messages, one a line, and nothing else: (.*?) -", whole)[1]
    assert len(kinds) > 10 and sorted(re.findall("[a-z-]+", named)) == sorted(kinds)
