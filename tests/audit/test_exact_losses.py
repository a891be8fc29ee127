# SPDX-License-Identifier: GPL-3.0-or-later
"""postal-audit against a server that knows by itself what was on the disk at each moment: the same mail is missing."""
import json
import sqlite3
import struct

import pytest

from conftest import ROOT

pytestmark = pytest.mark.usefixtures("storage", "audit_tools")

WRITER = ROOT / "tests/support/exact_lmtp.py"
MESSAGES = 240
PAUSE = 0.012  # of the server, behind each reply
FLUSH, DISCARD, MARK = 1, 4, 8
SLOT = 16384  # octets that it writes at once
EXPERIMENT = """\
title = "exact"
command_limit = "20s"
[load]
seed = 5
[[load.program]]
name = "delivery"
argv = ["postal", "-L", "--sessions", "1", "-m", "10", "127.0.0.1:${{port}}", "${{experiment}}/users"]
[variables]
port = "{port}"
[storage]
make = ["mkfs.ext4", "-q", "-F", "-E", "nodiscard", "-b", "4096", "-O", "^has_journal", "${{device}}"]
type = "ext4"
options = "noatime,lazytime"
[server]
prepare = [["/usr/bin/python3", "{writer}", "prepare", "${{mount}}/user@example.com/new", "{messages}"]]
start = [["/usr/bin/python3", "{writer}", "${{port}}", "${{mount}}/user@example.com/new", "${{run}}/writes.log", "${{run}}/notes"]]
ready = ["127.0.0.1:${{port}}"]
[audit]
messages = {messages}
cuts = {cuts}
draws = 1
size = "64M"
maildirs = ["${{mount}}/%u"]
[[variant]]
name = "one"
"""


def entries_of(log):
    """Of each entry of a log in dm-log-writes' format where it ends, its flags and whether it is a message:
    a superblock, then headers with their data behind them."""
    octets = log.read_bytes()
    sector = struct.unpack_from("<I", octets, 24)[0]
    entries, at = [], sector
    while at + sector <= len(octets):
        _, sectors, flags = struct.unpack_from("<3Q", octets, at)
        assert not flags & MARK
        data = 0 if flags & DISCARD else sectors * sector
        at += sector + data
        is_message = data == SLOT and octets[at - data:at].startswith(b"X-Padding: ")
        entries.append((at, flags, is_message))
    return entries


class Truth:
    """What a cut has to leave, from the server's notes and the sender's clock alone."""

    def __init__(self, recorded):
        entries = entries_of(recorded / "writes.log")
        self.ends = [end for end, _, _ in entries]
        self.times = json.loads((recorded / "recording.json").read_text())
        notes = [json.loads(line) for line in (recorded / "notes").read_text().splitlines()]
        self.notes = {(note["session"], note["sequence"]): note for note in notes}
        assert len(self.notes) == MESSAGES
        with sqlite3.connect(f"file:{recorded}/sent.ledger?mode=ro", uri=True) as book:
            rows = book.execute("SELECT session, sequence, s.time_us FROM sent s JOIN outcomes o ON o.id = s.outcome"
                                " WHERE o.outcome = 'accepted'").fetchall()
        self.acknowledged_us = {(session, sequence): time for session, sequence, time in rows}
        assert self.acknowledged_us.keys() == self.notes.keys()
        # The file system writes and flushes by itself, too: of what came between two looks at the log, the one entry that was meant.
        for note in notes:
            note["written"] = only(end for end, _, is_message in entries
                                   if is_message and note["writing"] < end <= note["written"])
        self.flushed = [end for end, flags, _ in entries if flags & FLUSH]
        # QEMU leaves out a flush where nothing was written since the last one, which may have been the file system's own.
        for note in notes:
            assert not note["flushed"] or any(note["written"] < end <= note["flushed"] for end in self.flushed)

    def required(self, cut):
        """Acknowledged before the log was last seen so short; checked against the server's own looks at the log."""
        octets, until = self.ends[cut - 1], self.times["last_us"][cut - self.times["first"]]
        wanted = {each for each, time in self.acknowledged_us.items() if time <= until}
        assert all(self.notes[each]["before"] <= octets for each in wanted), "accused of what was acknowledged after the cut"
        if self.times["longest_gap_s"] < PAUSE / 2:
            assert wanted >= {each for each, note in self.notes.items() if note["behind"] <= octets}
        return wanted

    def found(self, cut, survival):
        octets = self.ends[cut - 1]
        if survival == "none":
            octets = max((end for end in self.flushed if end <= octets), default=0)
        return {each for each, note in self.notes.items() if note["written"] <= octets}


def only(found):
    one, = found
    return one


def test_what_is_missing_is_what_must_be(audit, sized):
    cuts = sized(20, 200)
    audit.file.write_text(EXPERIMENT.format(port=audit.port, writer=WRITER, messages=MESSAGES, cuts=cuts))
    done = audit.run("--seed", "7", timeout=300)
    assert done.status == 0, done.stderr + done.stdout
    audit.check_clean()
    recorded, = (each for each in (audit.results / "audit").iterdir() if not each.name.startswith("0-"))
    truth = Truth(recorded)
    images = audit.images("one")
    assert len({image["cut"] for image in images}) == cuts
    losses = 0
    for image in images:
        required, there = truth.required(image["cut"]), truth.found(image["cut"], image["survival"])
        lost = sorted(required - there)
        said = sorted((int(each["session"]), int(each["sequence"])) for each in image["first_lost"])
        assert (image["failure"], image["acknowledged"], image["found"], image["lost"], said) == \
            ("", len(required), len(required & there), len(lost), lost), image
        losses += len(lost)
    assert losses > cuts / 4
