# SPDX-License-Identifier: GPL-3.0-or-later
"""--own-limit: what postal can do by itself is measured before a search, with what it was told to send. Nobody listens where the search is
made; the limit stands in the record all the same."""
import json
import shutil
import subprocess

import pytest

from conftest import login_names
from support.postal import refused, run

SEARCH = ("--find-rate", "--goal-set", "quick", "-t", "3", "--rate", "5/s", "--give-up", "1s")
NOBODY = "127.0.0.1:1"


def search(program, folder, *words, **how):
    record = folder / "record.json"
    done = run([program, *SEARCH, "--record", record, *words], **how)
    assert done.status == 4 and "measures for 300ms what it can do by itself, against bhm on this host" in done.stderr
    return json.loads(record.read_text()), done.stderr


@pytest.mark.parametrize("words", [
    ["-c", "-1"],
    ["-c", "-1", "--lmtp", "--recipients", "2", "--header", "X-Test: a b"],
    ["-c", "5", "--tls", "implicit", "--tls-max", "1.2", "--tls-sni", "mx.example.com"],
    ["-c", "-1", "--ssl-percent", "50", "--size", "fixed:20K", "--body", "multipart"],
    ["-c", "-1", "--chunking", "auto", "--in-flight", "4", "--workers", "1"],
    ["-c", "-1", "--auth", "PLAIN", "--auth-insecure", "--mail-parameter", "X-NEVER-HEARD=1"],
], ids=" ".join)
def test_it_is_measured_with_what_is_sent(programs, folder, words):
    users = folder / "users"
    users.write_text("\n".join(login_names([f"user{number}@example.com" for number in range(5)])) + "\n")
    record, said = search(programs.postal, folder, "--own-limit", "300ms", *words, NOBODY, users)
    assert record["options"]["own-limit"] == "300ms"
    limit = record["capacity"].get("own_limit")
    if limit is None:
        assert "what it can do by itself is not known: it was hardly busy" in said  # for others had the machine
        return
    assert limit["rate"] == pytest.approx(limit["load"] / limit["busy"], rel=0.01) and 0.2 < limit["measured_s"] < 1
    assert limit["left_out"] == ("AUTH" if "--auth" in words else "")
    without = ", without AUTH" if "--auth" in words else ""
    assert "messages/s by itself\n" in said and f"/s before the search{without}\n" in said


def test_users_from_standard_input(programs, folder):
    """They have been read, and stand for one user when it is measured."""
    record = folder / "record.json"
    words = [programs.postal, *SEARCH, "--own-limit", "300ms", "--record", record, NOBODY, "-"]
    done = subprocess.run(list(map(str, words)), input=b"a@example.com\nb@example.com\n", capture_output=True, timeout=60, check=False)
    assert done.returncode == 4 and (b"/s before the search" in done.stderr or b"it was hardly busy" in done.stderr)


def test_bhm_is_not_there(programs, folder):
    alone = shutil.copy(programs.postal, folder / "postal")
    record, said = search(alone, folder, "--own-limit", "300ms", "--to", "a@example.com", NOBODY, env={"PATH": "/nowhere"})
    assert "own_limit" not in record["capacity"] and 'what it can do by itself is not known: there is no program "bhm" in PATH' in said


@pytest.mark.parametrize("words, why", [
    (["--own-limit", "1s"], "--own-limit: is about a search; give --find-rate, too"),
    (["--find-rate", "--own-limit", "2m"], "--own-limit: 2m is too long; give at most 1m"),
    (["--join-search", "socket", "--own-limit", "1s"], "--own-limit: is up to the program whose search --join-search joins"),
], ids=lambda one: " ".join(one) if isinstance(one, list) else "")
def test_refused(programs, words, why):
    refused(run([programs.postal, *words, "--to", "a@example.com", NOBODY], timeout=20), why)
