# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks for passwords and tokens where none may stand: in all that a run leaves behind.

    assert_hidden(["pass word"], run.stdout, run.stderr, run.record_text, *files_below(folder))
"""
import base64
import hashlib
import pathlib


def forms_of(secret, user=""):
    """A secret in every form in which a protocol shows it: as it is, alone in base64, and as part of the messages of
    PLAIN, OAUTHBEARER and XOAUTH2 (the part that does not depend on what stands around it)."""
    octets = secret.encode()
    forms = {octets, base64.b64encode(octets), octets.hex().encode(), hashlib.md5(octets).hexdigest().encode()}
    for before in range(3):  # the secret behind so many octets, without the letters that those share
        text = base64.b64encode(b"\0" * before + octets).rstrip(b"=")
        forms.add(text[(before * 8 + 5) // 6 + (1 if before else 0):-1])
    return {form for form in forms if len(form) >= 6}


def files_below(folder, but=()):
    """The contents of all files below a folder, by name; without those whose names are in `but`."""
    return {str(path): path.read_bytes() for path in pathlib.Path(folder).rglob("*")
            if path.is_file() and path.name not in but}


def assert_hidden(secrets, texts):
    """No text (by name) has one of the secrets in any form."""
    for name, text in texts.items():
        text = text.encode(errors="surrogateescape") if isinstance(text, str) else text
        for secret in secrets:
            for form in forms_of(secret):
                at = text.find(form)
                assert at < 0, f"{name} shows {secret!r}: …{text[max(0, at - 60):at + 60]!r}…"


def check_the_check():
    """The look-out finds what it must."""
    for message in (b"\0tim\0hush-hush-1", b"n,a=tim,\1host=h\1port=1\1auth=Bearer hush-hush-1\1\1", b"hush-hush-1"):
        shown = base64.b64encode(message)
        try:
            assert_hidden(["hush-hush-1"], {"x": b"AUTH PLAIN " + shown})
        except AssertionError:
            continue
        raise AssertionError(f"{shown} was not recognized")
