"""The Debian packages that cpack makes of a build: what is in them, and what they need."""
import subprocess

import pytest

from conftest import ROOT

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


def test_who_loads_one_server_needs_no_mpi(packages):
    """One test, since each that runs elsewhere would make the packages again."""
    suite = packages["postal-suite"]
    assert "mpi" not in field(suite, "Depends")
    files = files_of(suite)
    assert {f"usr/bin/{name}" for name in ("postal", "rabid", "bhm", "lmtp-deliver", "postal-report", "postal-compare", "postal-audit")} <= files
    assert not [name for name in files if "mpi" in name.rpartition("/")[2] and name.endswith(".so")]

    if "postal-suite-mpi" not in packages:
        pytest.skip("this build is without MPI")
    module = packages["postal-suite-mpi"]
    assert files_of(module) == {"usr/lib/postal/postal_mpi.so"}
    needed = field(module, "Depends")
    assert f"postal-suite (= {field(packages['postal-suite'], 'Version')})" in needed and "libopenmpi" in needed
    assert not field(module, "Conflicts")
