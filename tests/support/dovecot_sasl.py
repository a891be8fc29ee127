# SPDX-License-Identifier: GPL-3.0-or-later
"""SASL of Dovecot: configuration for mechanisms that need more than a password, and tokens that it believes."""
import base64
import hashlib
import hmac
import json

KEY = b"a key for tokens"


def token_of(user):
    """A JSON Web Token (RFC 7519) that Dovecot's own key has signed."""
    def encoded(octets):
        return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()
    parts = [encoded(json.dumps(part).encode())
             for part in ({"alg": "HS256", "typ": "JWT"}, {"sub": user, "exp": 4102444800, "iat": 1, "nbf": 1})]
    signed = ".".join(parts)
    return f"{signed}.{encoded(hmac.new(KEY, signed.encode(), hashlib.sha256).digest())}"


def with_mechanisms(folder, *names, anonymous="user0@example.com"):
    """Further configuration of Dovecot for these, tokens included. Nobody waits after a wrong password."""
    keys = folder / "keys/default/HS256"
    keys.mkdir(parents=True, exist_ok=True)
    (keys / "default").write_bytes(base64.b64encode(KEY))
    tokens = folder / "oauth2.conf"
    tokens.write_text(f"introspection_mode = local\nlocal_validation_key_dict = fs:posix:prefix={folder}/keys/\n"
                      "username_attribute = sub\n")
    for path in (folder / "keys").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return (f"auth_failure_delay = 0\nauth_mechanisms = {' '.join(names)}\nauth_anonymous_username = {anonymous}\n"
            "service anvil {\n  unix_listener anvil-auth-penalty {\n    mode = 0\n  }\n}\n"
            f"passdb {{\n  driver = oauth2\n  mechanisms = oauthbearer xoauth2\n  args = {tokens}\n}}\n")
