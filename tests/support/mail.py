# SPDX-License-Identifier: GPL-3.0-or-later
"""Mail as this project marks it, worked out here a second time and independently of lib/mail.

`Message` takes the octets of one mail (line ends as a Maildir keeps them are made CRLF first),
knows the fields of its X-Postal-Id header and works out the digest that this header must carry:
over From, To, Subject, Date and Message-ID in the relaxed form of RFC 6376 (3.4.2), one CRLF, and
the body with a final CRLF. `read_maildir` gives all mails of a Maildir.
"""
import hashlib
import pathlib
import re

IDENTITY = "x-postal-id"
DIGESTED_FIELDS = {"f": "from", "t": "to", "s": "subject", "d": "date", "m": "message-id"}


def to_crlf(octets):
    """LF, CRLF and lone CR all as CRLF."""
    return re.sub(rb"\r\n|\r|\n", b"\r\n", octets)


def digest_of(algorithm, octets):
    if algorithm == "xxh3":
        import xxhash
        return xxhash.xxh3_64_hexdigest(octets)
    return hashlib.new(algorithm, octets).hexdigest()


def split_mail(octets):
    """(header fields as [(lower-case name, raw value)], body) of a mail with CRLF line ends."""
    if octets.startswith(b"\r\n"):
        return [], octets[2:]
    header, _, body = octets.partition(b"\r\n\r\n")
    unfolded = re.sub(rb"\r\n([ \t])", rb"\1", header)
    fields = []
    for line in unfolded.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if colon:
            fields.append((name.strip().lower().decode("ascii", "replace"), value))
    return fields, body


def relaxed(value):
    return re.sub(rb"[ \t]+", b" ", value).strip(b" ")


class Message:
    def __init__(self, octets, source="<bytes>"):
        self.source = source
        self.octets = octets
        self.fields, self.body = split_mail(octets)

    def values(self, name):
        return [value for field, value in self.fields if field == name]

    def text(self, name):
        found = self.values(name)
        return relaxed(found[0]).decode("utf-8", "surrogateescape") if found else None

    @property
    def identity(self):
        """The fields of X-Postal-Id as a dictionary, or None."""
        value = self.text(IDENTITY)
        if value is None:
            return None
        return dict(part.strip().split("=", 1) for part in value.split(";") if part.strip())

    @property
    def key(self):
        """What no two messages share: (run, session, sequence number)."""
        return tuple(self.identity[field] for field in ("run", "s", "n"))

    def canonical(self):
        """What the digest covers; h= names the fields where mail lacks some; of repeated ones the last."""
        names = [DIGESTED_FIELDS[letter] for letter in self.identity.get("h", "ftsdm")]
        lines = [name.encode() + b":" + relaxed(self.values(name)[-1]) + b"\r\n" for name in names if self.values(name)]
        body = self.body
        if body and not body.endswith(b"\r\n"):
            body += b"\r\n"
        return b"".join(lines) + b"\r\n" + body

    def verify(self):
        """Asserts that the mail carries our identity and that its digest is that of its content."""
        identity = self.identity
        assert identity, f"{self.source}: no X-Postal-Id header"
        algorithm, stated = identity["d"].split(":", 1)
        found = digest_of(algorithm, self.canonical())
        assert found == stated, f"{self.source}: digest {algorithm}:{stated} stated, {found} found"


def read_maildir(folder):
    """Every mail in new/ and cur/ of a Maildir (none if it does not exist)."""
    folder = pathlib.Path(folder)
    return [Message(to_crlf(path.read_bytes()), str(path))
            for part in ("new", "cur") for path in sorted((folder / part).glob("*"))]


def made_message(number=0, to="user0@example.com", body=b"one line\r\n.a dot\r\n\r\nthe end\r\n", run="00000000000000aa"):
    """A mail as postal could have sent it, with a digest of its own; its body cannot be remade from its seed."""
    text = (f"From: <sender@example.com>\r\nTo: <{to}>\r\nSubject: number {number}\r\n"
            f"Date: Fri, 20 Nov 2026 20:59:10 +0000\r\nMessage-ID: <{run}.0.{number}@made>\r\n"
            f"X-Postal-Id: v=1; run={run}; s=0; n={number}; seed=1; kind=ascii; size=%d; head=%d;\r\n"
            " t=1795208350.283741; d=md5:%s\r\n\r\n").encode()
    empty = text % (0, 0, b"0" * 32)
    digest = digest_of("md5", Message(empty + body).canonical()).encode()
    head = len(empty)
    for _ in range(3):  # the numbers count themselves
        head = len(text % (head + len(body), head, digest))
    return text % (head + len(body), head, digest) + body
