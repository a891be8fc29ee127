# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses, lists, headers and subjects as a person gives them on the command line."""
import subprocess

import pytest

from support.postal import refused, run


def kept(folder):
    return [path.read_bytes() for path in sorted((folder / "store").rglob("*")) if path.is_file() and b"X-Postal-Id" in path.read_bytes()]


def test_addresses_without_a_list(bhm, postal, folder):
    hole = bhm("--store", folder / "store")
    done = postal("--from", "me@example.com", "--to", "you@example.com", "--to", "them@example.net", "--recipients", "2", "--messages", "3",
                  hole.endpoint)
    hole.stop()
    assert done.status == 0 and done.total("messages") == 3 and done.total("recipients") == 6
    for text in kept(folder):
        assert b"From: <me@example.com>" in text and b"<you@example.com>" in text and b"<them@example.net>" in text


@pytest.mark.parametrize("more", [(), ("-c", "-1", "--chunking", "auto"), ("--body", "8bit=1,dots=1")], ids=" ".join)
def test_given_fields_leave_the_message_whole(bhm, postal, folder, more):
    hole = bhm("--store", folder / "store")
    done = postal("--to", "you@example.com", "--messages", "20", "--size", "fixed:2K", "--subject", "Half   price", "--header",
                  "List-Id: <test.example.com>", "--header", "X-Spam-Flag:YES", *more, hole.endpoint)
    taken = hole.stop()
    assert done.status == 0 and done.total("bytes") == 20 * 2048, "they count in the size"
    assert taken.record["integrity"] == {"verified": 20, "foreign": 0, "corrupt": 0, "duplicate": 0}
    assert kept(folder)
    for text in kept(folder):
        head = text.replace(b"\r\n", b"\n").split(b"\n\n")[0]
        assert b"\nSubject: Half   price\n" in head and b"\nList-Id: <test.example.com>\nX-Spam-Flag: YES" in head
        assert b"subject=given" in head


def test_fields_on_top_of_real_mail(bhm, postal, folder):
    (folder / "real.eml").write_bytes(b"Subject: its own\r\n\r\nhello\r\n")
    hole = bhm("--store", folder / "store")
    done = postal("--to", "you@example.com", "--messages", "2", "--corpus", folder / "real.eml", "--header", "X-Tried: 1", hole.endpoint)
    taken = hole.stop()
    assert done.status == 0 and taken.record["integrity"]["verified"] == 2
    assert all(b"X-Tried: 1" in text and b"Subject: its own" in text for text in kept(folder))


def piped(programs, name, *words, text):
    return subprocess.run([programs.path(name), *map(str, words)], input=text, capture_output=True, text=True, timeout=60, check=False)


def test_a_list_from_standard_input(programs, bhm):
    hole = bhm()
    done = piped(programs, "postal", "--messages", "4", hole.endpoint, "-", text="a@example.com\nb@example.com\n")
    taken = hole.stop()
    assert done.returncode == 0 and taken.record["totals"]["messages"] == 4
    wrong = piped(programs, "postal", "--messages", "4", "127.0.0.1:1", "-", text="a@example.com\n<b>\n")
    assert wrong.returncode == 1 and "USER-LIST: standard input:2: " in wrong.stderr
    bare = piped(programs, "rabid", "--connections", "1", "127.0.0.1:1", "-", text="a@example.com\n")
    assert bare.returncode == 1 and "USER-LIST: standard input:1: no password" in bare.stderr
    none = piped(programs, "bhm", "-", text="")
    assert none.returncode == 1 and "USER-LIST: standard input: no user" in none.stderr


def test_what_is_missing_is_told(programs, users_file):
    refused(run([programs.postal, "127.0.0.1:1"]), "USER-LIST is missing", "--to")
    refused(run([programs.postal, "--to", "a@example.com", "127.0.0.1:1", users_file(2)]), "--to", "USER-LIST")
    refused(run([programs.postal, "-f", "-", "127.0.0.1:1", "-"]), "--sender-list", "USER-LIST")


def test_what_a_run_is_called(programs, bhm, postal, folder):
    hole = bhm("--title", "the target", "--tag", "side=server")
    done = postal("--to", "you@example.com", "--messages", "2", "--title", "The new disk", "--note", "a, \"b\" & <c>", "--tag", "disk=nvme",
                  "--tag", "fs=ext4", hole.endpoint)
    taken = hole.stop()
    assert done.record["title"] == "The new disk" and done.record["tags"] == {"disk": "nvme", "fs": "ext4"}
    assert taken.record["title"] == "the target" and "note" not in taken.record and taken.record["tags"] == {"side": "server"}
    assert "\n  title        The new disk\n" in done.stderr and "\n  tags         disk=nvme, fs=ext4\n" in done.stderr
    text = run([programs.postal_report, folder / "postal-1.json"]).stdout
    assert text.startswith("The new disk\n") and "disk=nvme, fs=ext4" in text
    header, values = run([programs.postal_report, "--csv", folder / "postal-1.json"]).stdout.splitlines()
    assert ",title,note,tags," in header and ',"The new disk","a, ""b"" & <c>","disk=nvme, fs=ext4",' in values
    page = run([programs.postal_report, folder / "postal-1.json", "--html", "-"]).stdout
    assert "The new disk" in page and "<c>" not in page


@pytest.mark.parametrize("words, names", [
    (("--tag", "disk"), ("--tag", "KEY=VALUE")), (("--tag", "1x=y"), ("--tag", "digit")), (("--tag", "a-b=y"), ("--tag", "a-b=y")),
    (("--tag", "a=1", "--tag", "a=2"), ("--tag", "a is given twice")), (("--tag", "a="), ("--tag: a", "empty")),
    (("--title", "a\nb"), ("--title", "control character")), (("--title", "x" * 201), ("--title", "201 octets")),
    (sum((["--tag", f"t{i}=1"] for i in range(33)), []), ("--tag", "at most 32")),
], ids=lambda words: " ".join(words)[:30])
def test_names_that_cannot_be(programs, words, names):
    refused(run([programs.postal, "--to", "a@example.com", *words, "127.0.0.1:1"]), *names)
