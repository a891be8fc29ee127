# SPDX-License-Identifier: GPL-3.0-or-later
"""What postal counts and what its server counts are the same events: as many messages (over LMTP: recipients) started at both
ends, and each of them with the same outcome, whatever is refused and when."""

import pytest

from conftest import user_names
from support.postal import check_books

COUNT = 240
SIZES = ("-m", "4", "-M", "1")
USERS = user_names(40)
SAME = ("started", "messages", "rejected", "deferred", "failed", "in_doubt", "recipients", "bytes", "errors")

LOADS = {
    "plain": ("--pipelining", "off"),
    "plain, chunked": ("--pipelining", "off", "--chunking", "auto"),
    "pipelined": (),
    "overlapping": ("--pipelining", "overlap"),
    "chunked": ("--chunking", "auto"),
    "sixteen in flight": ("--chunking", "auto", "--in-flight", "16"),
    "up to three a connection": ("-c", "3"),
}

# what is refused: (options of bhm, whom it knows, options of postal, which outcomes there must be)
REFUSALS = {
    "nothing": ((), None, (), {"messages"}),
    "senders": (("--auth", "PLAIN", "--require-auth"), USERS, (), {"rejected"}),
    "all recipients": ((), ["nobody@example.com"], (), {"rejected"}),
    "some recipients": ((), USERS[::3], (), {"messages", "rejected"}),
    "too many recipients": (("--max-recipients", "2"), None, (), {"messages"}),
    "some, and too many": (("--max-recipients", "2"), USERS[::3], (), {"messages", "rejected"}),
    "by the size that was said": (("-m", "2"), None, (), {"messages", "rejected"}),
    "by the size that came": (("-m", "2"), None, ("--mail-parameter", "SIZE=1"), {"messages", "rejected"}),
    "senders, recipients": (("-m", "2"), USERS[::3], (), {"messages", "rejected"}),
}
# Without PIPELINING the recipients of a sender that was refused are never named: here there is one.
SENDERS = ("senders", "by the size that was said", "senders, recipients")


@pytest.mark.thinned(9)
@pytest.mark.parametrize("dialect", ["SMTP", "LMTP"])
@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("refused", REFUSALS)
def test_both_ends_count_the_same(bhm, postal, users_file, refused, load, dialect):
    options, known, more, outcomes = REFUSALS[refused]
    lmtp = dialect == "LMTP"
    if lmtp and refused == "too many recipients":
        outcomes = outcomes | {"deferred"}
    named = not (lmtp and refused in SENDERS and "off" in LOADS[load])
    hole = bhm(*options, *(["--lmtp"] if lmtp else []),
               *([users_file([f"{user} secret" for user in known])] if known else []))
    sent = postal(*SIZES, "-t", "4", "-c", "-1", "--recipients", "1..5" if named else "1", "--seed", "7", "--messages", COUNT,
                  *LOADS[load], *more, *(["-L"] if lmtp else []), hole.endpoint, users_file(USERS), status=None)
    check_books(sent)
    done = hole.stop()
    check_books(done)
    theirs, ours = done.record["totals"], sent.record["totals"]
    assert {name: theirs[name] for name in SAME} == {name: ours[name] for name in SAME}
    assert ours["started"] == COUNT and outcomes <= {name for name in SAME if ours[name]}


def test_recipients_that_are_never_named(bhm, postal, users_file):
    """Of a sender that was refused a server without PIPELINING hears of no recipient: it counts one."""
    hole = bhm("--lmtp", "--auth", "PLAIN", "--require-auth", users_file(["a@example.com secret"]))
    sent = postal(*SIZES, "-L", "-t", "2", "-c", "-1", "--recipients", "3", "--messages", "30", "--pipelining", "off",
                  hole.endpoint, users_file(USERS), status=4)
    done = hole.stop()
    check_books(done)
    assert sent.total("started") == sent.total("rejected") == 30
    assert done.total("started") == done.total("rejected") == done.total("errors") == 10


@pytest.mark.parametrize("load", LOADS)
def test_lmtp_deliver(lmtp_deliver, agents, postal, users_file, load):
    """Addresses that it refuses, and agents that end in each way."""
    kinds = ["status-0", "status-0", "status-67", "status-75", "a/b", "-dash"]
    users = users_file([f"{kind}@host{number}.example.com" for number, kind in enumerate(kinds * 7)])
    server = lmtp_deliver(agents("any", "%to_user%"))
    sent = postal("-L", *SIZES, "-t", "4", "-c", "-1", "--recipients", "1..5", "--seed", "7", "--messages", "120", *LOADS[load],
                  "-f", users_file(["a@example.com"]), server.endpoint, users)
    done = server.stop()
    theirs, ours = done.record["totals"], sent.record["totals"]
    assert {name: theirs[name] for name in SAME} == {name: ours[name] for name in SAME}
    assert all(ours[name] > 0 for name in ("messages", "rejected", "deferred"))
    assert {error["stage"] for error in done.record["errors"]} == {"rcpt", "end"}
