# SPDX-License-Identifier: GPL-3.0-or-later
"""A mail's MIME tree as Python's email package reads it, and as an IMAP server says it (BODYSTRUCTURE, RFC 9051 7.5.2),
both in one form, so that the two can be compared."""
import email
import email.header
import email.policy
import email.utils
import re
import urllib.parse

# With CRLF as it came, and nothing folded anew.
AS_IT_CAME = email.policy.compat32.clone(linesep="\r\n", max_line_length=None)


def parsed(octets):
    return email.message_from_bytes(octets, policy=AS_IT_CAME)


def decoded_name(text):
    """Of encoded words (RFC 2047) as text."""
    return str(email.header.make_header(email.header.decode_header(text)))


def defects_of(message):
    """All that Python finds wrong with a mail, also in its parts and in what they decode to; the encoded words that
    stand in quotes aside."""
    found = []
    for part in message.walk():
        if not part.is_multipart():
            part.get_payload(decode=True)
        found += part.defects
    strict = email.message_from_bytes(message.as_bytes(), policy=email.policy.default)
    for part in strict.walk():
        found += part.defects
        for name, value in part.items():
            quoted_word = name in ("Content-Type", "Content-Disposition") and '"=?UTF-8?Q?' in part.as_string()
            if not quoted_word:
                found += [(name, str(value), defect) for defect in value.defects]
    return found


def parameters_of(part, field):
    """As a dictionary, names in lower case, RFC 2231 decoded."""
    given = part.get_params(failobj=[], header=field)[1:]
    return {name.lower(): email.utils.collapse_rfc2231_value(value) for name, value in given}


def raw_octets(part):
    """What stands between a part's header section and the next boundary."""
    if part.get_content_type() == "message/rfc822":
        return part.get_payload(0).as_bytes(policy=AS_IT_CAME)
    return part.get_payload().encode("ascii", "surrogateescape")


def structure_of(part):
    """(type, parameters, disposition, more), where more are the parts of a multipart, and else id, description,
    encoding, octets, lines of text, and the structure within a message/rfc822."""
    kind = part.get_content_type()
    disposition = part.get_content_disposition()
    disposed = (disposition, parameters_of(part, "content-disposition")) if disposition else None
    about = (kind, parameters_of(part, "content-type"), disposed)
    if part.get_content_maintype() == "multipart":
        return (*about, [structure_of(one) for one in part.get_payload()])
    octets = raw_octets(part)
    inner = structure_of(part.get_payload(0)) if kind == "message/rfc822" else None
    lines = octets.count(b"\n") if inner or part.get_content_maintype() == "text" else None
    encoding = part.get("Content-Transfer-Encoding", "7bit").lower()
    return (*about, (part["Content-ID"], part["Content-Description"], encoding, len(octets), lines, inner))


# ---- of a server ----

TOKEN = re.compile(rb'\s*(?:([()])|"((?:[^"\\]|\\.)*)"|([^\s()"]+))')


def read_list(text):
    """The first list in parentheses: nested lists of str and None, numbers as they stand."""
    stack = [[]]
    for match in TOKEN.finditer(text, text.index(b"(")):
        bracket, quoted, atom = match.groups()
        if bracket == b"(":
            stack.append([])
        elif bracket == b")":
            done = stack.pop()
            stack[-1].append(done)
            if len(stack) == 1:
                return done
        elif quoted is not None:
            stack[-1].append(re.sub(rb"\\(.)", rb"\1", quoted).decode())
        else:
            stack[-1].append(None if atom.upper() == b"NIL" else atom.decode())
    raise AssertionError(f"parentheses are open: {text}")


def joined_response(response):
    """imaplib's pieces of one response, literals as quoted strings."""
    text = b""
    for piece in response:
        if isinstance(piece, tuple):
            quoted = piece[1].replace(b"\\", b"\\\\").replace(b'"', b'\\"')
            text += re.sub(rb"\{\d+\}$", b"", piece[0]) + b'"' + quoted + b'"'
        else:
            text += piece
    return text


def decoded_parameters(given):
    """RFC 2231 decoded, as a server may leave to its client: the name with a star, the value with its charset."""
    result = {}
    for name, value in zip((given or [])[::2], (given or [])[1::2]):
        if name.endswith("*"):
            charset, _, coded = value.split("'", 2)
            result[name[:-1].lower()] = urllib.parse.unquote(coded, encoding=charset)
        else:
            result[name.lower()] = value
    return result


def disposition_of(given):
    return (given[0].lower(), decoded_parameters(given[1])) if given else None


def told_structure(told):
    """The same as structure_of, of a list that a server has sent."""
    if isinstance(told[0], list):
        parts = [one for one in told if isinstance(one, list)]
        count = next(number for number, one in enumerate(told) if not isinstance(one, list))
        kind = f"multipart/{told[count].lower()}"
        return (kind, decoded_parameters(told[count + 1]), disposition_of(told[count + 2]),
                [told_structure(one) for one in parts[:count]])
    kind = f"{told[0]}/{told[1]}".lower()
    inner, lines, behind = None, None, 7
    if kind == "message/rfc822":
        inner, lines, behind = told_structure(told[8]), int(told[9]), 10
    elif kind.startswith("text/"):
        lines, behind = int(told[7]), 8
    return (kind, decoded_parameters(told[2]), disposition_of(told[behind + 1]),
            (told[3], told[4], told[5].lower(), int(told[6]), lines, inner))
