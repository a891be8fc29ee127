# SPDX-License-Identifier: GPL-3.0-or-later
"""SCRAM (RFC 5802, RFC 7677) worked out with hashlib alone, both sides, to hold against ours and GNU SASL."""
import base64
import hashlib
import hmac
import os


def attributes(message):
    return dict(part.split("=", 1) for part in message.split(",") if "=" in part)


def xor(one, other):
    return bytes(a ^ b for a, b in zip(one, other))


class Scram:
    """hash_name: "sha1" or "sha256". What both sides work out from the password and the messages."""

    def __init__(self, hash_name, password):
        self.hash_name, self.password = hash_name, password.encode()

    def mac(self, key, text):
        return hmac.new(key, text, self.hash_name).digest()

    def keys(self, salt, iterations, messages):
        """(proof, server signature) of the three messages."""
        salted = hashlib.pbkdf2_hmac(self.hash_name, self.password, salt, iterations)
        client_key = self.mac(salted, b"Client Key")
        stored = hashlib.new(self.hash_name, client_key).digest()
        messages = ",".join(messages).encode()
        proof = xor(client_key, self.mac(stored, messages))
        return proof, self.mac(self.mac(salted, b"Server Key"), messages)


class ScramClient(Scram):
    """flag: "n" for one that cannot bind channels, "y" for one that can and thinks that the server cannot."""

    def __init__(self, hash_name, user, password, nonce=None, flag="n"):
        super().__init__(hash_name, password)
        self.header = f"{flag},,"
        self.bare = f"n={user},r={nonce or base64.b64encode(os.urandom(12)).decode()}"
        self.first = self.header + self.bare

    def final(self, server_first):
        told = attributes(server_first)
        without_proof = f"c={base64.b64encode(self.header.encode()).decode()},r={told['r']}"
        proof, self.signature = self.keys(base64.b64decode(told["s"]), int(told["i"]),
                                          [self.bare, server_first, without_proof])
        return f"{without_proof},p={base64.b64encode(proof).decode()}"

    def proves(self, server_final):
        return server_final == "v=" + base64.b64encode(self.signature).decode()


class ScramServer(Scram):
    def __init__(self, hash_name, password, iterations=4096):
        super().__init__(hash_name, password)
        self.salt, self.iterations = os.urandom(16), iterations

    def first(self, client_first):
        self.bare = client_first.split(",", 2)[2]
        self.message = (f"r={attributes(self.bare)['r']}{base64.b64encode(os.urandom(9)).decode()},"
                        f"s={base64.b64encode(self.salt).decode()},i={self.iterations}")
        return self.message

    def final(self, client_final):
        """The server's last message; None for a wrong proof."""
        without_proof, _, proof = client_final.rpartition(",p=")
        wanted, signature = self.keys(self.salt, self.iterations, [self.bare, self.message, without_proof])
        return "v=" + base64.b64encode(signature).decode() if base64.b64decode(proof) == wanted else None


def check_examples():
    """RFC 5802 5 and RFC 7677 3."""
    for name, nonce, first, final, signature in (
            ("sha1", "fyko+d2lbbFgONRv9qkxdawL",
             "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
             "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
             "v=rmF9pqV8S7suAoZWja4dJRkFsKQ="),
            ("sha256", "rOprNGfwEbeRWgbNEkqO",
             "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
             "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
             "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
             "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")):
        client = ScramClient(name, "user", "pencil", nonce)
        assert client.final(first) == final and client.proves(signature), name
