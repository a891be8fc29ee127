# SPDX-License-Identifier: GPL-3.0-or-later
"""EXTERNAL (RFC 4422 appendix A): bhm takes clients for whom their certificates name, as postal and Python's smtplib show them."""
import smtplib
import ssl

import pytest

from support.postal import check_books
from support.tls_books import ENGINES, check_tls, engine, tls_errors

NAMES = {"client": "client@example.com", "only_a_name": "only_a_name.example.com"}


@pytest.fixture
def server(bhm, users_file, certificates):
    def start(*words, users=tuple(NAMES.values())):
        return bhm("-s", "--tls-cert", certificates.good, "--tls-client-ca", certificates.ca, "--auth", "EXTERNAL,ANONYMOUS",
                   "--require-auth", *words, users_file(users))
    return start


def with_python(server, certificates, kind=None):
    context = ssl.create_default_context(cafile=certificates.ca)
    if kind:
        context.load_cert_chain(getattr(certificates, kind))
    client = smtplib.SMTP("localhost", int(server.endpoint.rsplit(":", 1)[1]), timeout=30)
    client.starttls(context=context)
    client.ehlo()
    return client


@pytest.mark.thinned(3)
@pytest.mark.parametrize("only", ["1.2", "1.3"])
@pytest.mark.parametrize("client_engine", ENGINES)
@pytest.mark.parametrize("server_engine", ENGINES)
def test_who_the_certificate_names(server, postal, users_file, certificates, client_engine, server_engine, only):
    """Also in sessions that are resumed, in which no certificate is shown again."""
    there = server(*engine(server_engine))
    words = ["-s", "100", "-c", "1", "--messages", "5", *engine(client_engine, only)]
    for kind, method in (("client", "EXTERNAL"), ("only_a_name", "auto")):
        run = postal(*words, "--tls-cert", getattr(certificates, kind), "--tls-resume", "100", "--auth", method, there.endpoint,
                     users_file(["client@example.com"]))
        check_books(run)
        assert run.total("messages") == 5 and run.record["authentications"] == {"EXTERNAL": 5}
        assert check_tls(run, 5)["resumed"] == 4
    assert there.stop().record["authentications"] == {"EXTERNAL": 10}


@pytest.mark.parametrize("name", ENGINES)
def test_who_has_no_certificate_is_not_asked_for_it(server, postal, users_file, certificates, name):
    there = server(*engine(name))
    run = postal.failing("-s", "100", "--auth", "EXTERNAL", there.endpoint, users_file(2))
    assert {error["reason"] for error in run.record["errors"]} == {"not_offered"}
    with with_python(there, certificates) as client:
        assert client.esmtp_features["auth"].split() == ["ANONYMOUS"]
        assert client.docmd("AUTH", "EXTERNAL =")[0] == 504
    assert "authentications" not in there.stop().record


@pytest.mark.parametrize("name", ENGINES)
def test_who_they_may_be(server, certificates, name):
    there = server(*engine(name))
    with with_python(there, certificates, "client") as client:
        assert client.esmtp_features["auth"].split() == ["EXTERNAL", "ANONYMOUS"]
        for other in ("only_a_name.example.com", "CLIENT@example.com.example", "x"):
            with pytest.raises(smtplib.SMTPAuthenticationError) as refused:
                client.auth("EXTERNAL", lambda _=None, other=other: other)
            assert refused.value.smtp_code == 535
        client.auth("EXTERNAL", lambda _=None: NAMES["client"])
        client.sendmail("a@example.com", [NAMES["client"]], "Subject: x\r\n\r\nx\r\n")
    assert there.stop().record["authentications"] == {"EXTERNAL": 1}


@pytest.mark.parametrize("name", ENGINES)
def test_which_name_counts(server, certificates, name):
    """Of several addresses the first, and a common name as it stands there."""
    there = server(*engine(name), users=["first@example.com", "tim+x@example.com"])
    for kind in ("two_names", "plus_name"):
        with with_python(there, certificates, kind) as client:
            client.auth("EXTERNAL", lambda _=None: "")
    assert there.stop().record["authentications"] == {"EXTERNAL": 2}


@pytest.mark.parametrize("name", ENGINES)
def test_who_is_in_no_list(server, certificates, name):
    """A name that ends early elsewhere is none."""
    there = server(*engine(name), users=["somebody@example.com", "victim@example.com", "second@example.com", "two_names.example.com"])
    for kind in ("client", "only_a_name", "two_names"):
        with with_python(there, certificates, kind) as client, pytest.raises(smtplib.SMTPAuthenticationError):
            client.auth("EXTERNAL", lambda _=None: "")
    with with_python(there, certificates, "odd_name") as client:
        assert client.esmtp_features["auth"].split() == ["ANONYMOUS"]
    assert "authentications" not in there.stop().record


@pytest.mark.parametrize("name", ENGINES)
def test_a_certificate_for_servers_is_no_client_s(server, certificates, name):
    there = server(*engine(name))
    with pytest.raises((ssl.SSLError, smtplib.SMTPException, OSError)):
        with with_python(there, certificates, "server_only") as client:
            client.auth("EXTERNAL", lambda _=None: "")
    done = there.stop()
    assert "authentications" not in done.record
    assert set(tls_errors(done)) == {"certificate_bad"}, done.record["errors"]
