# SPDX-License-Identifier: GPL-3.0-or-later
"""Recipes for Fedora, Alpine and Nix: version, options and the names of what a build needs, each from one place."""
import re
import subprocess

import pytest

from conftest import ROOT

SPEC = ROOT / "packaging/rpm/postal.spec"
APKBUILD = ROOT / "packaging/alpine/APKBUILD"
PACKAGE = ROOT / "packaging/nix/package.nix"
FLAKE = ROOT / "flake.nix"
PROGRAMS = {"postal", "rabid", "bhm", "lmtp-deliver", "postal-list", "postal-report", "postal-compare", "postal-audit"}
# Of scripts/packages.txt: for who works on the sources, or what only Debian's packages are made with.
NOT_FOR_RECIPES = {"ccache", "build-essential", "debhelper", "libjs-chart.js"}
# Of a recipe: macros, and what its language has around a package.
BESIDE = {"systemd-rpm-macros"}


def version():
    return re.search(r"^project\(postal VERSION ([0-9.]+) ", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]


def table():
    """packaging/names.txt: Debian's name, then Fedora's, Alpine's and nixpkgs'."""
    lines = (ROOT / "packaging/names.txt").read_text().splitlines()
    rows = [line.split() for line in lines if line and line[0] != "#"]
    assert all(len(row) == 4 for row in rows)
    return rows


def column(number):
    return {row[number] for row in table()} - {"-", "."}


def needed_by_fedora():
    return set(re.findall(r"^BuildRequires: +(\S+)", SPEC.read_text(), re.MULTILINE)) - BESIDE


def needed_by_alpine():
    lists = re.findall(r'^(?:make|check)depends="([^"]*)"', APKBUILD.read_text(), re.MULTILINE)
    return {name for words in lists for name in words.split()}


def needed_by_nix():
    text = PACKAGE.read_text()
    lists = re.findall(r"^  (?:nativeBuildInputs|buildInputs|checkInputs) = \[([^]]*)\]", text, re.MULTILINE)
    assert len(lists) == 3
    names = {name for words in lists for name in words.split()}
    asked = set(re.search(r"^\{\n(.*?)\n\}:", text, re.DOTALL | re.MULTILINE)[1].replace(",", "").split())
    assert asked - {"lib", "stdenv"} == names, "it asks for what it uses"
    return names


def test_the_table_has_all_that_a_build_needs():
    kinds = [line.partition("#")[0].split() for line in (ROOT / "scripts/packages.txt").read_text().splitlines()]
    listed = {words[1].partition("|")[0] for words in kinds if words and words[0] in {"build", "dist"}}
    assert column(0) == listed - NOT_FOR_RECIPES


@pytest.mark.parametrize("number, needed", [(1, needed_by_fedora), (2, needed_by_alpine), (3, needed_by_nix)])
def test_a_recipe_names_what_stands_in_the_table(number, needed):
    assert needed() == column(number)


def test_recipes_have_the_version_of_the_sources():
    assert f"\nVersion:        {version()}\n" in SPEC.read_text()
    assert f" - {version()}-1\n" in SPEC.read_text().partition("%changelog")[2], "a line of the changelog"
    assert f"\npkgver={version()}\n" in APKBUILD.read_text()
    assert f"\nversion: {version()}\n" in (ROOT / "CITATION.cff").read_text()
    found = re.search(r'builtins\.match "(.*)" \(builtins.readFile \.\./\.\./CMakeLists.txt\)', PACKAGE.read_text())[1]
    pattern = found.replace("\\\\", "\\").replace("\\n", "\n")
    assert re.fullmatch(pattern, (ROOT / "CMakeLists.txt").read_text(), re.DOTALL)[1] == version()
    assert (PACKAGE.parent / "../../CMakeLists.txt").resolve() == ROOT.resolve() / "CMakeLists.txt"


@pytest.mark.parametrize("recipe", [SPEC, APKBUILD, PACKAGE])
def test_options_of_recipes_are_options_of_the_build(recipe):
    known = set(re.findall(r"option\((POSTAL_\w+)", "".join(path.read_text() for path in (
        ROOT / "CMakeLists.txt", *sorted((ROOT / "cmake").glob("*.cmake"))))))
    used = set(re.findall(r"POSTAL_[A-Z]+", recipe.read_text()))
    assert {"POSTAL_HARDENED", "POSTAL_TESTS", "POSTAL_UNITY"} <= used <= known


def test_what_is_left_out_is_switched_off():
    """What has no package in a system is not built there either."""
    parts = {"prometheus-cpp-dev": "METRICS", "libprotozero-dev": "METRICS", "libsystemd-dev": "SYSTEMD",
             "libopenmpi-dev": "MPI", "libncurses-dev": "SCREEN", "libmount-dev": "EXPERIMENTS", "libarchive-dev": "BUNDLES",
             "libblkid-dev": "EXPERIMENTS"}
    for number, recipe in ((1, SPEC), (2, APKBUILD), (3, PACKAGE)):
        missing = {row[0] for row in table() if row[number] == "-"}
        off = set(re.findall(r"-DPOSTAL_(\w+?)(?::BOOL)?=OFF", recipe.read_text())) - {"HARDENED"}
        assert off == {parts[name] for name in missing}, recipe.name


def test_the_spec_has_what_is_installed():
    files = SPEC.read_text().partition("\n%files\n")[2].partition("\n%changelog")[0].splitlines()
    assert {name.removeprefix("%{_bindir}/") for name in files if name.startswith("%{_bindir}/")} == PROGRAMS
    units = {path.name for pattern in ("*.service", "*.socket") for path in (ROOT / "conf").glob(pattern)}
    assert {name.removeprefix("%{_unitdir}/") for name in files if name.startswith("%{_unitdir}/")} == units
    [licence] = [name.removeprefix("%license ") for name in files if name.startswith("%license ")]
    assert (ROOT / licence).is_file() and not (ROOT / licence).is_symlink()


@pytest.mark.parametrize("command", [
    ["rpmspec", "-P", SPEC], ["rpmlint", SPEC], ["sh", "-n", APKBUILD],
    ["shellcheck", "-s", "dash", "-e", "SC2034,SC2154", APKBUILD],
    ["nix-instantiate", "--store", "dummy://", "--parse", PACKAGE],
    ["nix-instantiate", "--store", "dummy://", "--parse", FLAKE],
], ids=lambda words: f"{words[0]} {words[-1].name}")
def test_tools_of_these_systems_find_no_error(tool, command):
    done = subprocess.run([tool(command[0]), *command[1:]], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
