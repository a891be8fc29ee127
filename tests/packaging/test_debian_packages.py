"""The Debian packages that cpack makes of a build: what is in them, and what they need."""
import gzip
import re
import subprocess

import pytest

from conftest import ROOT

PROGRAMS = ("postal", "rabid", "bhm", "lmtp-deliver", "postal-list", "postal-report", "postal-compare", "postal-audit")
CONFIGURATION = ROOT / "build/release/CPackConfig.cmake"


@pytest.fixture(scope="module")
def packages(tool, tmp_path_factory):
    """Paths by the packages' names."""
    for name in ("cpack", "dpkg-deb", "dpkg-shlibdeps"):
        tool(name)
    if not CONFIGURATION.exists():
        pytest.skip("there is no build to make packages of")
    made = tmp_path_factory.mktemp("packages")
    subprocess.run(["cpack", "--config", CONFIGURATION, "-B", made], check=True, capture_output=True, timeout=300)
    return {field(path, "Package"): path for path in made.glob("*.deb")}


def field(package, name):
    return subprocess.run(["dpkg-deb", "-f", package, name], check=True, capture_output=True, text=True).stdout.strip()


def files_of(package):
    listed = subprocess.run(["dpkg-deb", "-c", package], check=True, capture_output=True, text=True).stdout
    return {line.split()[5].removeprefix("./") for line in listed.splitlines() if not line.endswith("/")}


def check_links(package, folder):
    """What the documents link to is where they land."""
    subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
    documents = list((folder / "usr/share/doc/postal-suite").rglob("*.md"))
    assert "README.md" in {path.name for path in documents}
    for path in documents:
        for link in re.findall(r"\]\(([^)#]+)", path.read_text()):
            assert "://" in link or (path.parent / link).exists(), f"{path.name}: {link}"


def test_packages(packages, tool, tmp_path):
    """One test, since each that runs elsewhere would make the packages again."""
    lint = subprocess.run([tool("lintian"), "--allow-root", "--display-info", "--fail-on", "error,warning", *packages.values()],
                          capture_output=True, text=True)
    assert lint.returncode == 0 and not re.search("hardening-no-(bindnow|fortify-functions|pie|relro)", lint.stdout), lint.stdout + lint.stderr
    check_links(packages["postal-suite"], tmp_path)

    # Who loads one server needs no MPI.
    suite = packages["postal-suite"]
    assert "mpi" not in field(suite, "Depends")
    files = files_of(suite)
    assert {f"usr/bin/{name}" for name in PROGRAMS} <= files
    said = subprocess.run([tmp_path / "usr/bin/postal-list", "--version"], check=True, capture_output=True, text=True).stdout
    version = field(suite, "Version")
    assert said == f"postal-list {version}\n" and f"_{version}_" in suite.name
    changelog = gzip.decompress((tmp_path / "usr/share/doc/postal-suite/changelog.gz").read_bytes()).decode()
    assert changelog.startswith(f"postal-suite ({version}) ")
    for pattern in ("bash-completion/completions/{}", "zsh/vendor-completions/_{}", "fish/vendor_completions.d/{}.fish"):
        assert {"usr/share/" + pattern.format(name) for name in PROGRAMS} <= files
    assert not [name for name in files if "mpi" in name.rpartition("/")[2] and name.endswith(".so")]

    if "postal-suite-mpi" not in packages:
        pytest.skip("this build is without MPI")
    module = packages["postal-suite-mpi"]
    assert files_of(module) == {"usr/lib/postal/modules/postal_mpi.so", *(f"usr/share/doc/postal-suite-mpi/{name}" for name in ("changelog.gz", "copyright"))}
    needed = field(module, "Depends")
    assert f"postal-suite (= {version})" in needed and "libopenmpi" in needed
    assert not field(module, "Conflicts")
