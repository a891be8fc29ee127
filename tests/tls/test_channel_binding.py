"""SCRAM over TLS with clients that say whether they could bind the channel (RFC 5802 6), worked out with hashlib."""
import base64
import smtplib
import ssl

import pytest

from support.scram import ScramClient
from support.tls_books import ENGINES, engine

USER, PASSWORD = "user@example.com", "pencil"


def log_in(server, flag):
    """The code of the last reply to a login with SCRAM-SHA-256."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    scram = ScramClient("sha256", USER, PASSWORD, flag=flag)
    with smtplib.SMTP("127.0.0.1", int(server.endpoint.rsplit(":", 1)[1]), timeout=30) as client:
        client.starttls(context=context)
        client.ehlo()
        code, text = client.docmd("AUTH", "SCRAM-SHA-256 " + base64.b64encode(scram.first.encode()).decode())
        if code != 334:
            return code
        code, text = client.docmd(base64.b64encode(scram.final(base64.b64decode(text).decode()).encode()).decode())
        if code != 334:
            return code
        assert scram.proves(base64.b64decode(text).decode())
        return client.docmd("")[0]


@pytest.mark.parametrize("offered, flag, wanted", [
    ("SCRAM-SHA-256", "n", 235),
    ("SCRAM-SHA-256", "y", 235),
    ("SCRAM-SHA-256,SCRAM-SHA-1-PLUS", "y", 235),
    ("SCRAM-SHA-256,SCRAM-SHA-256-PLUS", "n", 235),
    ("SCRAM-SHA-256,SCRAM-SHA-256-PLUS", "y", 535),  # somebody has taken the -PLUS out of what it heard
])
@pytest.mark.parametrize("name", ENGINES)
def test_a_client_that_thinks_the_server_cannot_bind(bhm, users_file, name, offered, flag, wanted):
    server = bhm("-s", *engine(name), "--auth", offered, users_file([f"{USER} {PASSWORD}"]))
    assert log_in(server, flag) == wanted
    assert server.stop().record.get("authentications", {}) == ({"SCRAM-SHA-256": 1} if wanted == 235 else {})
