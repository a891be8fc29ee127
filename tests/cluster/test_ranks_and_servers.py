# SPDX-License-Identifier: GPL-3.0-or-later
"""Real servers loaded from four hosts, each with its own name and steady clock: one log, one record, one page."""
import pytest

from conftest import user_names
from support.postal import HEADER, read_record, run
from support.process import wait_until
from support.ranks import Hosts, namespaces_are_missing

AHEAD = [0, 10_000, 7_200, 3]
MESSAGES = 300
PORT = 2525
LMTP_LISTENER = """
service lmtp {{
  inet_listener ranks {{
    address = {address}
    port = {port}
  }}
}}
"""


@pytest.fixture
def hosts(folder, tool):
    tool("mpirun")
    if why := namespaces_are_missing():
        pytest.skip(why)
    with Hosts(folder, AHEAD) as made:
        yield made


def check_one_run(programs, folder, hosts, words, users):
    """Four ranks deliver all messages; what they said is that of one run, and each stands on the page. Their record."""
    path, page = folder / "whole.json", folder / "page.html"
    done = hosts.run_ranks(4, [programs.postal, "--record", path, "--messages", MESSAGES, "--interval", "1s", "-m", "2", "-t", "2",
                               "--workers", "1", "--rate", "150/s", *words, f"{hosts[0].address}:{PORT}", users])
    assert done.status == 0, done.stderr
    assert done.stdout.count(HEADER) == 1 and done.stderr.count("messages accepted") == 1
    record = read_record(path)
    assert record["totals"]["messages"] == MESSAGES == sum(one["totals"]["messages"] for one in record["ranks"])
    assert sum(interval["messages"] for interval in record["intervals"]) == MESSAGES
    for one, seconds in zip(record["ranks"], AHEAD):
        assert abs(one["clock_offset_s"] - seconds) <= one["clock_bound_s"] + 1e-5, one
        assert 0 <= one["start_late_s"] < 1, one
    assert run([programs.postal_report, "--html", page, path]).status == 0
    text = page.read_text()
    assert all(f"postal-host-{number}" in text for number in range(4))
    return record


def test_postfix(programs, folder, hosts, postfix, users_file):
    server = postfix(master=f"{hosts[0].address}:{PORT} inet n - n - 200 smtpd\n", launcher=hosts[0].argv(),
                     mynetworks="127.0.0.0/8 10.77.0.0/24")
    record = check_one_run(programs, folder, hosts, [], users_file(20))
    recipients = record["totals"]["recipients"]
    wait_until(lambda: server.log.count("status=sent") == recipients,
               lambda: f"{recipients} deliveries of Postfix, which has {server.log.count('status=sent')}")
    server.stop()


def test_dovecot(programs, folder, hosts, dovecot, users_file):
    extra = LMTP_LISTENER.format(address=hosts[0].address, port=PORT)
    server = dovecot(user_names(10), extra=extra, launcher=hosts[0].argv())
    record = check_one_run(programs, folder, hosts, ["-L"], users_file(server.users))
    assert len(server.wait_for(record["totals"]["recipients"])) == record["totals"]["recipients"]
    server.stop()
