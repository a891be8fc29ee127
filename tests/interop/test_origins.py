# SPDX-License-Identifier: GPL-3.0-or-later
"""Where connections say that they come from: PROXY headers and XCLIENT, as Postfix, Dovecot and our own servers take
them. The judges are the servers' logs.
"""
import contextlib
import ipaddress
import re
import socket

import pytest

from conftest import login_names
from support.postal import check_books, check_reading
from support.process import free_port

RANGE = "198.51.100.0/24"
RANGE6 = "2001:db8::/32"


def origins(server):
    return [re.fullmatch(r"\S+\[(.*)\]", client)[1] for client, _ in server.sessions()]


@pytest.mark.parametrize("addresses", [RANGE, RANGE6])
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_postfix_takes_our_proxy_headers(postfix, postal, users_file, version, addresses):
    server = postfix("discard:", smtpd_upstream_proxy_protocol="haproxy", mynetworks=f"{RANGE} [2001:db8::]/32")
    run = postal("-c", "1", "-t", "2", "--proxy-protocol", version, "--client-addresses", addresses, "--messages", "20",
                 server.endpoint, users_file(5))
    check_books(run)
    assert run.total("messages") == server.drain(20) == 20
    told = {ipaddress.ip_address(one) for one in origins(server)}
    assert all(one in ipaddress.ip_network(addresses) for one in told) and len(told) > 10


def test_postfix_takes_xclient(postfix, postal, users_file):
    server = postfix("discard:", smtpd_authorized_xclient_hosts="127.0.0.0/8", mynetworks=RANGE)
    run = postal("-c", "2", "-t", "2", "--xclient", "--client-addresses", RANGE, "--messages", "20", server.endpoint,
                 users_file(5))
    check_books(run)
    assert run.total("messages") == server.drain(20) == 20
    clients = set(re.findall(r"smtpd\[\d+\]: \w+: client=\S+\[(198\.51\.100\.\d+)\]", server.log))
    assert len(clients) > 5


def test_a_server_without_xclient_is_said_so(bhm, postal, users_file):
    server = bhm()
    run = postal.failing("--xclient", server.endpoint, users_file(5))
    assert {(one["stage"], one["reason"]) for one in run.record["errors"]} == {("xclient", "no_xclient")}


@pytest.mark.parametrize("protocol", ["pop3", "imap"])
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_dovecot_takes_rabids_proxy_headers(dovecot, postal, rabid, users_file, protocol, version):
    port = free_port()
    server = dovecot(2, reading=True, extra=f"""
haproxy_trusted_networks = 127.0.0.0/8
service {protocol}-login {{
  inet_listener proxied {{
    address = 127.0.0.1
    port = {port}
    haproxy = yes
  }}
}}
""")
    check_books(postal("-L", "-c", "-1", "--messages", "10", server.endpoint, users_file(server.users)))
    server.wait_for(10)
    imap = ["-i", "100", "--imap", f"127.0.0.1:{port}"] if protocol == "imap" else []
    run = rabid("--connections", "2", "--proxy-protocol", version, "--client-addresses", RANGE, *imap, f"127.0.0.1:{port}",
                users_file(login_names(server.users)))
    check_reading(run)
    assert run.total("messages") == 10 and run.total("errors") == 0
    assert len(re.findall(r"rip=198\.51\.100\.\d+", server.log)) >= 2


@pytest.mark.parametrize("tls", [[], ["--tls", "implicit"], ["-s", "100"]], ids=["plain", "implicit", "starttls"])
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_bhm_takes_headers_in_front_of_everything(bhm, postal, users_file, version, tls):
    port = free_port()
    server = bhm("-s", "--proxy-trusted", "127.0.0.0/8,::1", "--listen-tls", f"127.0.0.1:{port}")
    server.process.wait_for_line(rf"listening on 127.0.0.1:{port}")
    where = f"127.0.0.1:{port}" if "implicit" in tls else server.endpoint
    run = postal("-c", "1", "-t", "2", "--proxy-protocol", version, *tls, "--messages", "20", where, users_file(5))
    check_books(run)
    assert run.total("messages") == 20 and run.total("errors") == 0
    assert run.total("tls_connections") == (20 if tls else 0)
    done = server.stop()
    assert done.total("messages") == 20 and not done.record["errors"]


@pytest.mark.parametrize("said", [b"EHLO client.example\r\n", b"PROXY TCP4 nonsense\r\n", b"PROXY TCP4 1.2.3.4 1.2.3.4 1 99999\r\n",
                                  b"\r\n\r\n\0\r\nQUIT\n\x21\x11\xff\xff", b"PROXY UNKNOWN" + 200 * b"x", b""])
def test_a_proxy_that_does_not_say_whom_it_speaks_for_is_left(bhm, said):
    server = bhm("--proxy-trusted", "127.0.0.1")
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as line:
        line.sendall(said)
        if not said:
            line.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):  # what was not read was thrown away
            assert line.recv(100) == b""
    done = server.stop()
    reason = "no_proxy_header" if said else "closed"
    assert [(one["stage"], one["reason"], one["count"]) for one in done.record["errors"]] == [("connect", reason, 1)]


def test_who_is_no_proxy_may_not_say_so(bhm, postal, users_file):
    server = bhm("--proxy-trusted", "192.0.2.0/24")
    run = postal.failing("--proxy-protocol", "v1", server.endpoint, users_file(5))
    assert run.total("messages") == 0
    assert run.total("errors") > 0
