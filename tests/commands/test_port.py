# SPDX-License-Identifier: GPL-3.0-or-later
"""postal -p, a letter of the original: the port of servers that are written without one."""
import pytest

from support.postal import refused


@pytest.mark.parametrize("option", ["-p", "--port"])
def test_servers_without_a_port_have_this_one(bhm, postal, users_file, option):
    hole, other = bhm(), bhm()
    # A pace at which the second session has its turn, however late its connection is.
    run = postal(option, str(hole.port), "--messages", "20", "--rate", "20/s", "-c", "1", f"127.0.0.1,[127.0.0.1]{other.port}", users_file(2))
    assert run.total("messages") == 20
    assert hole.stop().total("messages") > 0 and other.stop().total("messages") > 0


@pytest.mark.parametrize("words, said", [
    (("-p", "25", "127.0.0.1:2525"), '--port: 25 is not used, each server of "127.0.0.1:2525" has its own; leave one out'),
    (("-p", "25", "unix:/nowhere"), '--port: 25 is not used, each server of "unix:/nowhere" has its own; leave one out'),
    (("-p", "0", "127.0.0.1"), "--port: "),
    (("-p", "65536", "127.0.0.1"), "--port: "),
])
def test_a_port_that_cannot_be_used(postal, users_file, words, said):
    refused(postal(*words, users_file(2), status=1), said)
