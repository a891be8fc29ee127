# SPDX-License-Identifier: GPL-3.0-or-later
"""postal and bhm with one ledger and a relay between them that harms one message: bhm names what was done to it, as rabid
does, over SMTP once for the message and over LMTP for each recipient."""
import csv
import io
import re

import pytest

from support.postal import check_books, run
from support.relay import Relay

COUNT = 6


class Harmful(Relay):
    """Puts change(message) in the place of the first message, as it is on the wire: dots are stuffed, and the final
    dot is not part of it."""

    def __init__(self, port, change):
        super().__init__(port)
        self.change, self.done = change, False

    def listeners(self):
        return self.harm, None

    def harm(self, octets):
        begin, end = octets.index(b"From: "), octets.index(b"\r\n.\r\n") + 2
        changed = self.change(octets[begin:end])
        assert changed != octets[begin:end]
        self.done = True
        return octets[:begin] + changed + octets[end:]

    async def pump(self, reader, writer, listener=None):
        if listener is None:
            return await super().pump(reader, writer)
        pending, in_message = bytearray(), False
        try:
            while octets := await reader.read(65536):
                pending += octets
                in_message = in_message or b"From: " in octets
                if not self.done and in_message:
                    if b"\r\n.\r\n" not in pending[-len(octets) - 4:]:
                        continue
                    pending[:] = listener(bytes(pending))
                writer.write(bytes(pending))
                pending.clear()
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()


def body(message, change):
    header, blank, text = message.partition(b"\r\n\r\n")
    return header + blank + change(text)


def header(message, pattern, replacement):
    section, blank, text = message.partition(b"\r\n\r\n")
    changed, count = re.subn(pattern, replacement, section, count=1)
    assert count == 1
    return changed + blank + text


def first(pattern, replacement):
    """A change of the first place in the body that fits."""
    def change(text):
        changed, count = re.subn(pattern, replacement, text, count=1)
        assert count == 1, f"nothing fits {pattern}"
        return changed
    return lambda message: body(message, change)


def strip_a_line(text):
    """The first line in which that makes no CR, LF or NUL."""
    lines = text.split(b"\r\n")
    at = next(at for at, line in enumerate(lines) if any(octet > 127 for octet in line)
              and not set(line) & {0x80, 0x8a, 0x8d})
    return b"\r\n".join([*lines[:at], bytes(octet & 127 for octet in lines[at]), *lines[at + 1:]])


# fault: (kind of body, what is done to the message, the condition in the ledger, how its detail reads)
DAMAGE = {
    "truncated": ("ascii", lambda message: message[:-300] + b"\r\n", "truncated", r"truncated at byte \d+ of \d+"),
    "a byte changed": ("ascii", first(rb"[a-z](?=[a-z])", b"#"), "octet_changed", r"byte \d+ changed from 0x\w\w to 0x23"),
    "high bits stripped": ("8bit", lambda message: body(message, strip_a_line), "eight_bit_stripped",
                           r"8th bit stripped from byte \d+ on, 0x[89a-f]\w became 0x[0-7]\w"),
    "a dot added": ("dots", first(rb"(?m)^\.\.", b"..."), "dot_added", r"dot added at line \d+"),
    "a dot lost": ("dots", first(rb"(?m)^\.\.\.", b".."), "dot_lost", r"dot lost at line \d+"),
    "blanks cut": ("crlf-edge", first(rb"(?<=\w)[ \t]+\r\n", b"\r\n"), "trailing_blanks_cut",
                   r"trailing blanks cut at line \d+"),
    "the subject rewritten": ("ascii", lambda message: header(message, rb"(?m)^Subject: ", b"Subject: [SPAM] "),
                              "header_changed", r"header Subject rewritten"),
    "another body": ("ascii", lambda message: body(message, lambda text: b"#" * 500 + b"\r\n"), "corrupt",
                     r"differs from byte \d+ on"),
    "an attachment changed": ("multipart", first(rb"\A(?s:.*)(?<=[b-y])[b-y](?=[b-y])",
                                                           lambda found: found[0][:-1] + b"z"),
                              "octet_changed", r"byte \d+ changed from 0x\w\w to 0x7a"),
    "identity unreadable": ("ascii", lambda message: header(message, rb"v=1; run=\w+", b"v=1; run=nobody"), "unreadable",
                            r"identity header unreadable"),
}


@pytest.fixture
def listed(programs):
    """listed(LEDGER) are the rows of the corrupt ones, and the summary."""
    def ask(path):
        answers = []
        for words in ([], ["--list", "corrupt"]):
            done = run([programs.postal_report, "--ledger", path, "--csv", *words])
            assert done.status in (0, 3) and not done.stderr
            answers.append(list(csv.DictReader(io.StringIO(done.stdout))))
        return answers[1], answers[0][0]
    return ask


@pytest.mark.thinned(3)
@pytest.mark.parametrize("dialect", ["SMTP", "LMTP"])
@pytest.mark.parametrize("fault", DAMAGE)
def test_one_message_is_damaged(bhm, postal, users_file, folder, listed, fault, dialect):
    kind, change, condition, detail = DAMAGE[fault]
    lmtp = dialect == "LMTP"
    hole = bhm("--ledger", folder / "book", *(["--lmtp"] if lmtp else []))
    with Harmful(hole.port, change) as relay:
        sent = postal("-t", "1", "-c", "1", "-m", "6", "-M", "4", "--body", kind, "--recipients", "2", "--seed", "5",
                      *(["-L"] if lmtp else []), "--messages", COUNT * (2 if lmtp else 1), "--ledger", folder / "book",
                      relay.endpoint, users_file(4))
        assert relay.done
    check_books(sent)
    black = hole.stop()
    assert black.record["integrity"]["corrupt"] == (2 if lmtp else 1)
    [error] = [error for error in black.record["errors"] if error["stage"] == "end"]
    assert error["reason"] == "corrupt" and re.fullmatch(detail, error["sample"])
    rows, summary = listed(folder / "book")
    assert len(rows) == 2 and int(summary["seen"]) == sent.total("recipients")
    for row in rows:
        assert row["condition"] == condition and re.fullmatch(detail, row["detail"]), row


def test_a_message_too_large_to_be_kept(bhm, postal, users_file, folder, listed):
    """It is corrupt all the same."""
    hole = bhm("--ledger", folder / "book", "-m", "20M")
    with Harmful(hole.port, first(rb"[a-z](?=[a-z])", b"#")) as relay:
        postal("-t", "1", "-c", "1", "-m", "17M", "-M", "17M", "--messages", "1", "--ledger", folder / "book",
               relay.endpoint, users_file(1))
        assert relay.done
    hole.stop()
    [row], _ = listed(folder / "book")
    assert (row["condition"], row["detail"]) == ("corrupt", "differs from what was sent, and is too large to be compared")
