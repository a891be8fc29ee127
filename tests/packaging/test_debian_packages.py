# SPDX-License-Identifier: GPL-3.0-or-later
"""Tarballs, the Debian source package and the packages that are built from it."""
import hashlib
import os
import pathlib
import re
import subprocess

import pytest

from conftest import ROOT

PROGRAMS = ("postal", "rabid", "bhm", "lmtp-deliver", "postal-list", "postal-report", "postal-compare", "postal-audit")
# Of scripts/packages.txt: for who works on the sources, or there wherever packages are built.
NOT_FOR_PACKAGES = {"ccache", "build-essential", "g++", "debhelper", "libjs-chart.js"}
# That the environment leaves no trace in what is made.
ELSEWHERE = {"TZ": "America/Los_Angeles", "LC_ALL": "C", "LANG": "C"}


def run(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{words}: {done.stderr or done.stdout}"[-3000:]
    return done.stdout


@pytest.fixture
def clone(tool, tmp_path):
    """What is committed, of which nothing is checked out yet; a release where it is tagged."""
    for name in ("git", "dpkg-buildpackage", "xz"):
        tool(name)
    if not (ROOT / ".git").exists():
        pytest.skip("these sources are no repository")
    folder = tmp_path / "checkout"
    run("git", "-c", "safe.directory=*", "clone", "-q", "--shared", "--no-checkout", ROOT, folder)
    run("git", "-C", folder, "reset", "-q")
    return folder


@pytest.fixture
def whole_checkout(clone):
    run("git", "-C", clone, "checkout-index", "-a")
    return clone


@pytest.fixture
def checkout(clone):
    """Without the sources, their tests and documents: they are most of the octets, and a tarball takes its time for each."""
    git = ("git", "-C", clone, "-c", "user.name=nobody", "-c", "user.email=nobody@invalid")
    folders = set(run(*git, "ls-tree", "-d", "--name-only", "HEAD").split()) - {"cmake", "debian", "scripts"}
    run(*git, "rm", "-rq", "--cached", "--", *folders)
    run(*git, "commit", "-qm", "What makes packages")
    run(*git, "checkout-index", "-a")
    return clone


def package(checkout, folder, *options, **environment):
    run(checkout / "scripts/package", folder, *options, env={**os.environ, **environment})
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("postal*")
            if path.is_file() and path.suffix in {".xz", ".dsc", ".deb"}}


def field(name, package):
    return run("dpkg-deb", "-f", package, name).strip()


def files_of(package):
    return {line.split()[5].removeprefix("./") for line in run("dpkg-deb", "-c", package).splitlines() if not line.endswith("/")}


def check_lint(tool, *files):
    said = run(tool("lintian"), "--allow-root", "--pedantic", *files)
    assert said == "", said


def test_what_a_build_needs_is_the_list():
    """Build-Depends, which Debian's tools read, against the list that scripts/bootstrap installs."""
    listed = {}
    for line in (ROOT / "scripts/packages.txt").read_text().splitlines():
        words = line.partition("#")[0].split()
        if words and words[0] in {"build", "dist"}:
            listed[words[1]] = words[0]
    needed = re.search(r"^Build-Depends:((?:.|\n )*)", (ROOT / "debian/control").read_text(), re.MULTILINE)[1]
    asked = {"|".join(re.sub(r"\(.*?\)|<.*?>", "", name).strip() for name in one.split("|")) for one in needed.split(",")}
    assert asked - {"debhelper-compat"} == set(listed) - NOT_FOR_PACKAGES


def test_its_tests_may_write_to_standard_error():
    """Where the programs' summaries are; autopkgtest takes what stands there for a failure otherwise."""
    paragraphs = (ROOT / "debian/tests/control").read_text().strip().split("\n\n")
    assert {re.search(r"^Tests: (\S+)$", one, re.MULTILINE)[1] for one in paragraphs} == {
        path.name for path in (ROOT / "debian/tests").iterdir() if path.name != "control"}
    for one in paragraphs:
        assert "allow-stderr" in re.search(r"^Restrictions: (.*)$", one, re.MULTILINE)[1].split(", "), one


def test_the_same_tarball_each_time_and_a_source_package(checkout, tool, tmp_path):
    made = package(checkout, tmp_path / "package", "-S")
    assert len(made) == 3
    description = next((tmp_path / "package").glob("*.dsc"))
    tarball = run(checkout / "scripts/release", tmp_path, env={**os.environ, **ELSEWHERE}).strip()
    octets = hashlib.sha256(pathlib.Path(tarball).read_bytes()).hexdigest()
    assert octets in made.values() and octets in pathlib.Path(f"{tarball}.sha256").read_text()
    # A build from the tarball knows which version it is.
    unpacked = next(path for path in (tmp_path / "package").iterdir() if path.is_dir())
    run(tool("cmake"), f"-DSOURCE={unpacked}", "-DRELEASE=1.2.3", f"-DOUT={tmp_path}/out", "-P", ROOT / "cmake/write_version.cmake")
    version = re.search(r'build_version = "(.*)"', (tmp_path / "out/version.cpp").read_text())[1]
    assert unpacked.name == f"postal-{version}" and description.name == f"postal_{version}-1.dsc"


@pytest.mark.full
def test_lintian_has_nothing_to_say_of_the_source(whole_checkout, tool, tmp_path):
    """It looks at each of the fuzzers' thousands of inputs, which takes its time."""
    package(whole_checkout, tmp_path, "-S")
    check_lint(tool, next(tmp_path.glob("*.dsc")))


def test_changes_that_are_not_committed_are_refused(checkout):
    (checkout / "README.md").write_text("mine\n")
    done = subprocess.run([checkout / "scripts/release", checkout], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr == "release: there are changes that are not committed (git status)\n"


def test_a_release_has_its_headings(checkout):
    release = re.search(r"project\(postal VERSION ([0-9.]+)", (checkout / "CMakeLists.txt").read_text())[1]
    run("git", "-C", checkout, "tag", f"v{release}")
    done = subprocess.run([checkout / "scripts/release", checkout], capture_output=True, text=True)
    if re.search(rf"^## {release}\b", (checkout / "CHANGELOG.md").read_text(), re.MULTILINE):
        assert done.returncode == 0 and done.stdout.strip() == f"{checkout}/postal-{release}.tar.xz"
    else:
        assert done.returncode == 1 and done.stderr == f'release: CHANGELOG.md has no heading "## {release}"\n'


def check_links(package, folder):
    """What the documents link to is where they land."""
    run("dpkg-deb", "-x", package, folder)
    documents = list((folder / "usr/share/doc/postal").rglob("*.md"))
    assert "README.md" in {path.name for path in documents}
    for path in documents:
        for link in re.findall(r"\]\(([^)#]+)", path.read_text()):
            assert "://" in link or (path.parent / link).exists(), f"{path.name}: {link}"


@pytest.mark.full
def test_packages(whole_checkout, tool, tmp_path):
    """Twice: in another folder, time zone and language the same octets come out."""
    first, again = (package(whole_checkout, tmp_path / name, "-b", "-Pnocheck", **environment)
                    for name, environment in (("first", {}), ("another/place", ELSEWHERE)))
    assert first == again
    made = {field("Package", path): path for path in (tmp_path / "first").glob("*.deb")}
    check_lint(tool, next((tmp_path / "first").glob("*.changes")))
    check_links(made["postal"], tmp_path / "postal")

    # Who loads one server needs no MPI.
    assert "mpi" not in field("Depends", made["postal"])
    files = files_of(made["postal"])
    assert {f"usr/bin/{name}" for name in PROGRAMS} <= files
    said = run(tmp_path / "postal/usr/bin/postal-list", "--version").splitlines()[0]
    version = field("Version", made["postal"])
    assert said == f"postal-list {version.removesuffix('-1')}"
    for pattern in ("bash-completion/completions/{}", "zsh/vendor-completions/_{}", "fish/vendor_completions.d/{}.fish"):
        assert {"usr/share/" + pattern.format(name) for name in PROGRAMS} <= files
    assert not [name for name in files if "mpi" in name.rpartition("/")[2] and name.endswith(".so")]

    assert [name for name in files_of(made["postal-mpi"]) if not name.startswith("usr/share/doc/")] == [
        name for name in files_of(made["postal-mpi"]) if name.endswith("/postal/modules/postal_mpi.so")]
    needed = field("Depends", made["postal-mpi"])
    assert f"postal (= {version})" in needed and "libopenmpi" in needed
