# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of all tests that start processes. Each test gets its own servers, ports and folders; a browser is there for several.

Run as `/usr/bin/python3 -m pytest -n 4 tests`; with --full every case runs, each at its whole size. The programs under test are
those in $POSTAL_BIN, or in build/release/bin. A peer (Postfix, Dovecot, swaks, …) that is not installed fails the test where
CI=true and skips it elsewhere.
"""
import collections
import contextlib
import functools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

from support.agents import Agents
from support.audit import Audit
from support.browser import Browser
from support.certificates import Certificates
from support.compare import Experiments
from support.deliver import Deliverer
from support.dovecot import PASSWORD, Dovecot
from support.ledger import Report
from support.machine import Watch
from support.mariadb import MariaDB
from support.postal import BlackHole, Reader, Sender
from support.postfix import MASTER, Postfix
from support.process import adopt_orphans

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Thousands of inputs, none of which pytest has to look at.
collect_ignore = ["fuzz/corpus"]
SYSTEM_FOLDERS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="every case, each at its whole size: an hour; scripts/soak runs it")


def pytest_configure(config):
    config.addinivalue_line("markers", "full: what another test has shown in less time; only with --full")
    config.addinivalue_line("markers", "thinned(n): of its cases every nth, and each value of a parameter that several have, is enough to see "
                                       "that it holds; all with --full")
    config.addinivalue_line("markers", "serial: measures time; run alone (-n 0 -m serial); skipped if it fails on a busy machine")
    config.addinivalue_line("markers", "beside_others: of these, what mostly waits: may run beside others of its kind (-n 16)")
    config.addinivalue_line("markers", "begins_first: of what mostly waits, what takes longest")
    config.addinivalue_line("markers", "stands_behind: of the same, what takes a moment: it waits until one of these is over")
    adopt_orphans()
    os.environ["PATH"] = SYSTEM_FOLDERS
    os.environ["LC_ALL"] = "C.UTF-8"


def pytest_ignore_collect(collection_path, config):
    """Where only what measures is wanted, files that say nowhere that they do need not be read: each worker would."""
    wanted = config.getoption("markexpr")
    if collection_path.suffix == ".py" and re.match(r"serial\b(?!.* or )", wanted) and "mark.serial" not in collection_path.read_text():
        return True
    return None


@pytest.hookimpl(trylast=True)  # of what -m and -k have left
def pytest_collection_modifyitems(config, items):
    if config.getoption("--full"):
        return
    left_out = {item for item in items if item.get_closest_marker("full")}
    functions = collections.defaultdict(list)
    for item in items:
        if item.get_closest_marker("thinned"):
            functions[item.parent.nodeid, item.originalname].append(item)
    for cases in functions.values():
        left_out.update(set(cases) - sample(cases, cases[0].get_closest_marker("thinned").args[0]))
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = early([item for item in items if item not in left_out])


def sample(cases, nth):
    """Every nth, and the first one with each value that none of these has and several cases have. What only one case has,
    such as the words of a message that is wanted, is no reason to keep it."""
    values = {case: {(name, repr(value)) for name, value in case.callspec.params.items()} for case in cases}
    several = {value for value, times in collections.Counter(value for each in values.values() for value in each).items() if times > 1}
    kept = set(cases[::nth])
    seen = set().union(*(values[case] for case in kept))
    for case in cases:
        if (values[case] & several) - seen:
            kept.add(case)
            seen |= values[case]
    return kept


def early(items):
    """What takes longest first, each with a short one behind it: xdist gives every worker two at the beginning."""
    first = [item for item in items if item.get_closest_marker("begins_first")]
    others = [item for item in items if not item.get_closest_marker("begins_first")]
    if first:
        others.sort(key=lambda item: item.get_closest_marker("stands_behind") is None)
    pairs = [one for pair in zip(first, others) for one in pair]
    return pairs + first[len(others):] + others[len(first):]


def measures(item):
    return item.get_closest_marker("serial") is not None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    if not measures(item):
        yield
        return
    with Watch() as item.machine:
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """What was measured on a busy machine and is wrong says so instead; on a quiet one it fails."""
    report = (yield).get_result()
    wrong = call.when == "call" and call.excinfo is not None and call.excinfo.errisinstance(AssertionError)
    if wrong and measures(item) and (why := item.machine.busy()):
        said = str(call.excinfo.value).partition("\n")[0][:120]
        report.outcome, report.longrepr = "skipped", (item.location[0], item.location[1] + 1, f"Skipped: the machine was busy: {why}; {said}")


def missing(what):
    """A peer is not there: a failure on CI, where everything must be installed, else a skip."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} is not installed", pytrace=False)
    pytest.skip(f"{what} is not installed")


class Programs:
    """The suite's programs by name: `programs.path("postal")`."""

    def __init__(self):
        self.folder = pathlib.Path(os.environ.get("POSTAL_BIN", ROOT / "build/release/bin"))

    def path(self, name):
        program = self.folder / name
        if not program.exists():
            pytest.fail(f"{program} is not built: cmake --preset release && cmake --build --preset release, "
                        "or set POSTAL_BIN", pytrace=False)
        return program

    postal = property(lambda self: self.path("postal"))
    bhm = property(lambda self: self.path("bhm"))
    lmtp_deliver = property(lambda self: self.path("lmtp-deliver"))
    rabid = property(lambda self: self.path("rabid"))
    postal_report = property(lambda self: self.path("postal-report"))
    postal_compare = property(lambda self: self.path("postal-compare"))
    postal_list = property(lambda self: self.path("postal-list"))
    postal_audit = property(lambda self: self.path("postal-audit"))


@pytest.fixture(scope="session")
def sized(pytestconfig):
    """sized(few, all): how much of something is looked at, and how much of it with --full."""
    return lambda few, whole: whole if pytestconfig.getoption("--full") else few


@pytest.fixture(scope="session")
def programs():
    return Programs()


@pytest.fixture(scope="session")
def tool():
    """tool("swaks") is the path of an installed program, or the test ends here."""
    def find(name):
        return shutil.which(name) or missing(name)
    return find


@pytest.fixture(scope="session")
def browser(tool):
    """One for all tests of a process; see support.browser."""
    with tempfile.TemporaryDirectory(prefix="postal-browser-", dir="/tmp", ignore_cleanup_errors=True) as place:
        made = Browser(tool("chromium"), place)
        yield made
        made.stop()


@pytest.fixture
def folder():
    """A folder with a short name (Unix sockets) that daemons of other users may enter."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="postal-test-", dir="/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="session")
def certificates(tool):
    """What servers and clients show each other; see support.certificates."""
    tool("openssl")
    with tempfile.TemporaryDirectory(prefix="postal-certificates-", dir="/tmp") as place:
        os.chmod(place, 0o755)
        yield Certificates(place)


@pytest.fixture
def users_file(folder):
    """users_file(["a@example.com", …]) or users_file(20) writes a user list and gives its path."""
    made = []

    def write(users=10, name=None):
        if isinstance(users, int):
            users = user_names(users)
        path = folder / (name or f"users-{len(made)}.txt")
        path.write_text("".join(f"{user}\n" for user in users), encoding="utf-8")
        made.append(path)
        return path
    return write


def user_names(count, domain="example.com"):
    return [f"user{number}@{domain}" for number in range(count)]


@pytest.fixture
def postal(programs, folder):
    """postal("-t", "4", …) runs postal to its end; see support.postal.Sender."""
    return Sender(programs.postal, folder)


@pytest.fixture
def rabid(programs, folder):
    """rabid("-p", "4", …) runs rabid to its end; see support.postal.Reader."""
    return Reader(programs.rabid, folder)


@pytest.fixture
def report(programs):
    """report(LEDGER, …) asks postal-report; see support.ledger.Report."""
    return Report(programs.postal_report)


@contextlib.contextmanager
def each_in_its_folder(folder, name, start, end):
    """A function that starts another one in folder/NAME-NUMBER; all of them end behind the block."""
    started = []

    def start_another(*words, **keywords):
        place = folder / f"{name}-{len(started)}"
        place.mkdir()
        started.append(start(place, *words, **keywords))
        return started[-1]
    yield start_another
    for one in started:
        end(one)


@pytest.fixture
def bhm(programs, folder):
    """bhm("--lmtp", …, listen=["127.0.0.1:0"]) starts a black hole; it ends with the test."""
    with each_in_its_folder(folder, "bhm", functools.partial(BlackHole, programs.bhm), BlackHole.__exit__) as start:
        yield start


@pytest.fixture
def behaving(bhm, folder):
    """behaving('[[rule]]…', option, …) starts a black hole that does what these rules say; see support.behaviours."""
    written = []

    def start(rules, *options, **keywords):
        path = folder / f"behaviour-{len(written)}.toml"
        path.write_text(rules, encoding="utf-8")
        written.append(path)
        return bhm("--behaviour", path, *options, **keywords)
    return start


@pytest.fixture
def agents(folder):
    """agents("status", "%to_user%") is a template for lmtp-deliver; see support.agents."""
    return Agents(folder)


@pytest.fixture
def gate(agents):
    """Where agents wait until it is opened."""
    with agents.gate() as made:
        yield made


@pytest.fixture
def journal(agents):
    return agents.journal()


@pytest.fixture
def held(lmtp_deliver, agents, journal, gate):
    """held(option, …) starts a server whose agents wait at the gate and write their recipient's name down."""
    return lambda *options, **more: lmtp_deliver(agents("journal", journal, "%to_user%", gate), *options, **more)


@pytest.fixture
def lmtp_deliver(programs, folder):
    """lmtp_deliver(template, option, …, listen=["127.0.0.1:0"]) starts one; it ends with the test."""
    with each_in_its_folder(folder, "lmtp-deliver", functools.partial(Deliverer, programs.lmtp_deliver), Deliverer.__exit__) as start:
        yield start


@pytest.fixture
def experiment(programs, folder):
    """experiment(blocks=2, …).run("--seed", "1"); see support.compare.Experiments."""
    made = Experiments(programs.postal_compare, folder)
    yield made
    made.end()


@pytest.fixture(scope="session")
def storage(tool):
    """Ends the test where no file system can be mounted from a loop device; a container may not, whatever it has installed."""
    for name in ("mkfs.ext4", "losetup", "mount"):
        tool(name)
    with tempfile.TemporaryDirectory(prefix="postal-test-", dir="/tmp") as place:
        image = os.path.join(place, "image")
        subprocess.run(["mkfs.ext4", "-q", image, "16M"], check=True)
        tried = subprocess.run(["mount", "-o", "loop", image, place], capture_output=True, text=True, check=False)
        if tried.returncode:
            pytest.skip(f"nothing can be mounted from a loop device here: {tried.stderr.strip()}")
        subprocess.run(["umount", place], check=True)


@pytest.fixture(scope="session")
def audit_tools(tool):
    tool("qemu-storage-daemon")
    tool("eatmydata")
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip("there is no /dev/fuse here")


@pytest.fixture
def audit(programs, folder):
    """audit("safe", …) writes an experiment with these variants; then run(), record and images(). In memory where there is
    enough, since disks are made, mounted and thrown away by the hundred."""
    memory = pathlib.Path("/dev/shm")
    enough = memory.is_mount() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2 << 30
    with tempfile.TemporaryDirectory(prefix="postal-test-", dir=memory if enough else folder) as place:
        os.chmod(place, 0o755)  # a server's user goes in there
        made = Audit(programs.postal_audit, pathlib.Path(place))
        yield made
        made.end()


def login_names(users, password=PASSWORD):
    """Lines of a user list for rabid, as users_file() writes them."""
    return [f"{user} {password}" for user in users]


def needs_root(what):
    if os.geteuid() != 0:
        missing(f"{what} run by root (this is not root)")


@pytest.fixture
def postfix(folder):
    """postfix(transport, setting=value, …) starts a Postfix; see support.postfix.Postfix."""
    if not os.path.exists(MASTER):
        missing("postfix")
    needs_root("Postfix")

    def begin(place, transport="discard:", **settings):
        return Postfix(place, transport, **settings)
    with each_in_its_folder(folder, "postfix", begin, Postfix.stop) as start:
        yield start


@pytest.fixture
def dovecot(folder, tool):
    """dovecot(users, …) starts a Dovecot; see support.dovecot.Dovecot."""
    tool("dovecot")
    for part in ("lmtp", "pop3", "imap"):
        if not os.path.exists(f"/usr/lib/dovecot/{part}"):
            missing(f"dovecot-{part}d")
    needs_root("Dovecot")

    def begin(place, users=10, **keywords):
        return Dovecot(place, user_names(users) if isinstance(users, int) else users, **keywords)
    with each_in_its_folder(folder, "dovecot", begin, Dovecot.stop) as start:
        yield start


@pytest.fixture
def mariadb(folder, tool):
    """mariadb() starts a MariaDB that Dovecot can ask for its users; see support.mariadb.MariaDB."""
    for name in ("mariadbd", "mariadb-install-db", "mariadb"):
        tool(name)
    if not os.path.exists("/usr/lib/dovecot/modules/auth/libdriver_mysql.so"):
        missing("dovecot-mysql")
    needs_root("MariaDB")
    with each_in_its_folder(folder, "mariadb", MariaDB, MariaDB.stop) as start:
        yield start
