# SPDX-License-Identifier: GPL-3.0-or-later
"""What rules refuse and break is counted as the same events by postal and by bhm: as many messages (over LMTP: recipients)
started on both sides, each with the same outcome."""
import pytest

from conftest import user_names
from support.behaviours import rule
from support.postal import check_books
from support.watched import OUTCOMES

COUNT = 120
ACTIONS = {"4xx": 'reply = "451 4.3.0 Not now"', "5xx": 'reply = "554 5.7.1 Not for you"', "421": 'reply = "421 4.7.0 Too much"',
           "fin": 'close = "fin"', "rst": 'close = "rst"', "delay": 'delay = "1ms..20ms"'}
WANTED = {"4xx": "deferred", "5xx": "rejected", "421": "deferred", "fin": "failed", "rst": "failed", "delay": "messages"}
STAGES = ("mail", "rcpt", "data", "end")


@pytest.mark.thinned(5)
@pytest.mark.parametrize("dialect", ["SMTP", "LMTP"])
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("action", ACTIONS)
def test_outcomes(behaving, postal, users_file, stage, action, dialect):
    """What a client has said behind a close is not heard: over LMTP that can be recipients, so there is one each then."""
    breaks = action in ("421", "fin", "rst")
    hole = behaving(rule(stage, ACTIONS[action], 'probability = "30%"'), *(["--lmtp"] if dialect == "LMTP" else []))
    sent = postal("-t", "4", "-c", "-1", "-m", "1", "-M", "1", "--seed", "7", "--messages", COUNT,
                  "--recipients", "1" if breaks and dialect == "LMTP" else "1..3", *(["-L"] if dialect == "LMTP" else []),
                  hole.endpoint, users_file(user_names(40)))
    check_books(sent)
    done = hole.stop()
    check_books(done)
    names = ("started", *OUTCOMES, "recipients", "bytes", *(() if breaks else ("errors",)))
    assert {name: done.total(name) for name in names} == {name: sent.total(name) for name in names}
    wanted = "in_doubt" if stage == "end" and action in ("fin", "rst") else WANTED[action]
    assert sent.total("started") == COUNT and sent.total("messages") > 0
    if not (stage == "rcpt" and dialect == "SMTP"):  # others of its recipients may be taken
        assert sent.total(wanted) > 0


@pytest.mark.thinned(3)
@pytest.mark.parametrize("load", [("--pipelining", "off"), ("--chunking", "auto"), ("--pipelining", "off", "--chunking", "auto"),
                                  ("-c", "3")], ids=["plain", "chunked", "plain, chunked", "three a connection"])
@pytest.mark.parametrize("stage", ["chunk", *STAGES])
def test_ways_to_send(behaving, postal, users_file, stage, load):
    """A refusal at each stage; postal's chunks are whole messages, so that of chunks no rule says anything."""
    hole = behaving(rule(stage, ACTIONS["4xx"], 'probability = "30%"'))
    sent = postal("-t", "4", "-c", "-1", "-m", "1", "-M", "1", "--seed", "7", "--messages", COUNT, "--recipients", "1..3", *load,
                  hole.endpoint, users_file(user_names(40)))
    check_books(sent)
    done = hole.stop()
    check_books(done)
    names = ("started", *OUTCOMES, "recipients", "bytes", "errors")
    assert {name: done.total(name) for name in names} == {name: sent.total(name) for name in names}
    if stage == "chunk" or stage == "data" and "--chunking" in load:
        assert sent.total("messages") == COUNT
