# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing is deaf and nothing lies when memory or a system call fails: a sample of what scripts/soak tries at each place.

Where a program is to fail is fixed, so that a failure comes again. See support.faults for what must hold."""
import dataclasses
import errno
import pathlib
import random

import pytest

from support.faults import (Batch, Bhm, BhmTls, Fault, LmtpDeliver, Postal, PostalTls, RabidImap, RabidPop3, RabidPop3Tls, Rig)

TRIALS = [Bhm, BhmTls, LmtpDeliver, Postal, PostalTls, RabidPop3, RabidPop3Tls, RabidImap]


@pytest.fixture
def rig(programs, folder, certificates):
    made = Rig(programs, folder)
    if not made.injector.exists():
        pytest.skip(f"{made.injector} is not built: sanitizers have an allocator of their own")
    PostalTls.certificate = certificates.good
    return made


def places(trial, fault, count):
    """So many, one in each of as many equal parts of what there is; the last is the very last."""
    whole = trial.run(dataclasses.replace(fault, nth=0))
    whole.check()
    assert whole.seen > count
    some = random.Random(f"{trial.name} {count}")
    return [1 + int((number + some.random()) * (whole.seen - 1) / count) for number in range(count)]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("kind", TRIALS)
def test_one_allocation_fails(rig, kind):
    trial, fault = kind(rig), Fault("allocation")
    for nth in places(trial, fault, 14):
        trial.run(dataclasses.replace(fault, nth=nth)).check()


@pytest.mark.parametrize("kind", TRIALS)
def test_no_memory_from_then_on(rig, kind):
    trial, fault = kind(rig), Fault("allocation", times=0)
    for nth in places(trial, fault, 3):
        trial.run(dataclasses.replace(fault, nth=nth)).check()


# Not postal with GnuTLS: libtasn1 crashes where it reads the server's certificate without memory (asn1_create_element).
@pytest.mark.parametrize("kind, backend", [(BhmTls, "openssl"), (PostalTls, "openssl"), (RabidPop3Tls, "openssl"), (BhmTls, "gnutls")])
def test_what_tls_needs_when_it_is_first_used(rig, kind, backend):
    """Parts of a library that are set up once, and never again when that has failed."""
    trial = kind(rig, "--tls-backend", backend)
    for nth in range(40, 640, 75):
        trial.run(Fault("allocation", nth=nth)).check()


@pytest.mark.parametrize("kind", [Bhm, LmtpDeliver, Postal, RabidPop3])
def test_an_allocation_before_anybody_listens_or_connects_fails(rig, kind, sized):
    """With --full dense enough to meet some fifty of OpenSSL's, in which it crashes when it is left alone with that."""
    trial, fault = kind(rig), Fault("allocation", begin="main")
    for nth in places(trial, fault, sized(8, 1000)):
        trial.run(dataclasses.replace(fault, nth=nth)).check()


CALLS = [
    (Bhm, Fault("epoll_ctl", begin="main"), (1, 2, 3, 4, 5, 6)),  # loops, timers, signals, listeners
    (Postal, Fault("epoll_ctl", begin="main"), (1, 2, 3, 4, 5, 6, 7)),
    (Bhm, Fault("epoll_ctl"), (1, 3, 5)),
    (LmtpDeliver, Fault("epoll_ctl"), (2, 4, 9)),
    (Bhm, Fault("accept4", error=errno.ECONNABORTED), (1, 2)),
    (Bhm, Fault("accept4", error=errno.EINTR), (1,)),
    (Bhm, Fault("accept4", error=errno.EMFILE), (1,)),
    (Bhm, Fault("send", error=errno.EINTR), (1, 5)),
    (Bhm, Fault("send", error=errno.ENOBUFS), (2,)),
    (Postal, Fault("send", error=errno.ENOBUFS), (2,)),
    (Bhm, Fault("write", error=errno.EINTR, kind="eventfd"), (1, 2)),
    (Postal, Fault("write", error=errno.EINTR, kind="eventfd", begin="main"), (1, 2)),
    (Bhm, Fault("eventfd", error=errno.EMFILE, begin="main"), (1, 2)),
    (Bhm, Fault("timerfd_create", error=errno.EMFILE, begin="main"), (1, 2)),
    (Bhm, Fault("pthread_create", error=errno.EAGAIN, begin="main"), (1, 2)),
    (LmtpDeliver, Fault("clone", error=errno.EAGAIN), (1, 3)),
    (LmtpDeliver, Fault("mmap", begin="main"), (1, 2)),
    (Bhm, Fault("pwrite64", error=errno.ENOSPC), (1,)),
    (Postal, Fault("pwrite64", error=errno.EIO, begin="main"), (1, 3)),
    (Bhm, Fault("open", error=errno.ENOSPC, begin="main"), (2, 4)),
]
OPENED = {"ledger": ("/ledger", ()), "user list": ("/users.txt", ("{users}",)), "store": ("/mail/new", ("--store", "{place}/mail")),
          "mbox": ("/mail/mbox", ("--store", "{place}/mail", "--store-format", "mbox"))}
FOREVER = [
    (Bhm, Fault("accept4", error=errno.ECONNABORTED, times=0)),
    (Bhm, Fault("accept4", error=errno.EINTR, times=0)),
    (Bhm, Fault("send", error=errno.EINTR, times=0)),
    (Postal, Fault("send", error=errno.EINTR, times=0)),
    (RabidPop3, Fault("recv", error=errno.EINTR, times=0)),
    (Bhm, Fault("write", error=errno.EINTR, times=0, kind="eventfd")),
    (Postal, Fault("epoll_ctl", times=0)),
]


def name_of(value):
    return f"{value.what}-{errno.errorcode[value.error]}" if isinstance(value, Fault) else getattr(value, "__name__", "")


@pytest.mark.parametrize("kind, fault, numbers", CALLS, ids=name_of)
def test_a_system_call_fails(rig, kind, fault, numbers):
    for nth in numbers:
        kind(rig).run(dataclasses.replace(fault, nth=nth)).check()


@pytest.mark.parametrize("reason", [errno.ENOMEM, errno.EIO, errno.ENOSPC], ids=errno.errorcode.get)
@pytest.mark.parametrize("what", OPENED)
def test_what_cannot_be_opened_is_no_mistake_of_the_caller(rig, what, reason):
    """The machine's, which another try may find mended: status 2, and one line that names the file."""
    path, words = OPENED[what]
    trial = Bhm(rig, *(word.format(place=rig.folder, users=rig.users) for word in words))
    outcome = trial.run(Fault("open", nth=1, times=0, error=reason, begin="main", path=path))
    outcome.check()
    assert outcome.failed and outcome.status == 2, (outcome.status, outcome.stderr)
    line, = outcome.stderr.splitlines()
    assert path in line, line


@pytest.mark.parametrize("kind, fault", FOREVER, ids=name_of)
def test_a_system_call_fails_for_ever(rig, kind, fault):
    """Nobody can be served then; SIGTERM is heard all the same."""
    kind(rig).run(dataclasses.replace(fault, nth=1)).check()


@pytest.mark.parametrize("name, words, status", [
    ("postal-list", ["--pattern", "user[00-20]@example.com", "--password", "secret"], 0),
    ("postal-report", ["{record}", "--markdown"], 0),
    ("postal-compare", ["{experiment}", "--plan"], 0),
    ("postal-audit", ["--help"], 0),
])
def test_programs_that_only_compute(rig, name, words, status, bhm):
    record = rig.folder / "some.json"
    if "{record}" in words:
        hole = bhm()
        hole.stop()
        hole.record_path.rename(record)
    experiment = pathlib.Path(__file__).resolve().parents[2] / "conf" / "experiments" / "sessions.toml"
    trial = Batch(rig, name, *(word.format(record=record, experiment=experiment) for word in words), status=status)
    fault = Fault("allocation")
    for nth in places(trial, fault, 10):
        trial.run(dataclasses.replace(fault, nth=nth)).check()
