# SPDX-License-Identifier: GPL-3.0-or-later
"""What a record must say of TLS, and the words that all tests of it give to the programs."""
ENGINES = ("openssl", "gnutls")
NAMES = {"1.2": "TLSv1.2", "1.3": "TLSv1.3"}


def engine(name, only=None):
    """The options that choose an engine, and one version alone."""
    return ["--tls-backend", name, *(["--tls-min", only, "--tls-max", only] if only else [])]


def check_tls(run, connections=None, version=None, verification=None):
    """The "tls" section and the phases agree with the connections that had TLS; gives the section."""
    section, totals, latency = run.record["tls"], run.record["totals"], run.record["latency_us"]
    assert section["full"] + section["resumed"] == totals["tls_connections"], section
    for name in ("versions", "ciphers"):
        assert sum(section[name].values()) == totals["tls_connections"], section
    asks = run.record["program"] in ("postal", "rabid") or "--tls-client-ca" in run.argv
    assert sum(section["verification"].values()) == asks * totals["tls_connections"], section
    assert latency["tls"]["count"] == section["full"]
    assert latency["tls_resumed"]["count"] == section["resumed"]
    assert sum(line["SSL connections"] for line in run.lines) == totals["tls_connections"]
    if connections is not None:
        assert totals["tls_connections"] == connections
    if version is not None:
        assert section["versions"] == ({NAMES[version]: connections} if connections else {})
    if verification is not None:
        assert set(section["verification"]) == {verification}
    return section


def tls_errors(run, stage="tls"):
    """{reason: count} of one stage."""
    found = {}
    for error in run.record["errors"]:
        if error["stage"] == stage and error["code"] == 0:
            found[error["reason"]] = found.get(error["reason"], 0) + error["count"]
    return found
