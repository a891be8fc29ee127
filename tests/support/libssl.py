# SPDX-License-Identifier: GPL-3.0-or-later
"""OpenSSL by its own functions, for what Python's ssl cannot do: key updates, renegotiation, data after close_notify.

    with Session(raw, certificate) as tls:     # a server; without a certificate a client
        tls.key_update()
        tls.write(b"220 here\\r\\n")

On a connected socket, which blocks, but not for ever. Failures are OSError, as if the socket had them.
"""
import ctypes
import functools
import socket
import struct

FILETYPE_PEM = 1
SET_MIN_VERSION, SET_MAX_VERSION = 123, 124
VERSIONS = {"1.2": 0x0303, "1.3": 0x0304}
WITH_ANSWER = 1  # SSL_KEY_UPDATE_REQUESTED
PATIENCE_S = 5


@functools.cache
def library():
    loaded = ctypes.CDLL("libssl.so.3")
    pointer, number, octets = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
    for name, result, *arguments in (
            ("TLS_server_method", pointer), ("TLS_client_method", pointer), ("SSL_CTX_new", pointer, pointer),
            ("SSL_CTX_free", None, pointer), ("SSL_CTX_ctrl", ctypes.c_long, pointer, number, ctypes.c_long, pointer),
            ("SSL_CTX_use_certificate_chain_file", number, pointer, octets),
            ("SSL_CTX_use_PrivateKey_file", number, pointer, octets, number), ("SSL_new", pointer, pointer),
            ("SSL_free", None, pointer), ("SSL_set_fd", number, pointer, number), ("SSL_accept", number, pointer),
            ("SSL_connect", number, pointer), ("SSL_write", number, pointer, octets, number),
            ("SSL_read", number, pointer, octets, number), ("SSL_key_update", number, pointer, number),
            ("SSL_do_handshake", number, pointer), ("SSL_renegotiate", number, pointer), ("SSL_shutdown", number, pointer),
            ("SSL_set_shutdown", None, pointer, number)):
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


class Session:
    def __init__(self, raw, certificate=None, only="1.3"):
        self.own = library()
        raw.setblocking(True)
        for side in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            raw.setsockopt(socket.SOL_SOCKET, side, struct.pack("ll", PATIENCE_S, 0))
        self.context = self.own.SSL_CTX_new(self.own.TLS_server_method() if certificate else self.own.TLS_client_method())
        for what in (SET_MIN_VERSION, SET_MAX_VERSION):
            self.own.SSL_CTX_ctrl(self.context, what, VERSIONS[only], None)
        if certificate:
            path = str(certificate).encode()
            assert self.own.SSL_CTX_use_certificate_chain_file(self.context, path) == 1
            assert self.own.SSL_CTX_use_PrivateKey_file(self.context, path, FILETYPE_PEM) == 1
        self.ssl = self.own.SSL_new(self.context)
        self.own.SSL_set_fd(self.ssl, raw.fileno())
        self.pending = b""
        self.check(self.own.SSL_accept(self.ssl) if certificate else self.own.SSL_connect(self.ssl))

    def check(self, result):
        if result <= 0:
            raise OSError("TLS has failed, or the other side has left")
        return result

    def write(self, octets):
        self.check(self.own.SSL_write(self.ssl, octets, len(octets)))

    def line(self):
        while b"\n" not in self.pending:
            room = ctypes.create_string_buffer(16384)
            size = self.check(self.own.SSL_read(self.ssl, room, len(room)))
            self.pending += room.raw[:size]
        line, _, self.pending = self.pending.partition(b"\n")
        return line + b"\n"

    def key_update(self):
        """RFC 8446 4.6.3; asks for the other side's as well."""
        self.check(self.own.SSL_key_update(self.ssl, WITH_ANSWER))
        self.check(self.own.SSL_do_handshake(self.ssl))

    def renegotiate(self):
        """TLS 1.2 (RFC 5246 7.4.1.1): a HelloRequest of a server, a ClientHello of a client."""
        self.check(self.own.SSL_renegotiate(self.ssl))
        self.check(self.own.SSL_do_handshake(self.ssl))

    def goodbye(self):
        """Sends close_notify; write() works all the same afterwards."""
        self.own.SSL_shutdown(self.ssl)
        self.own.SSL_set_shutdown(self.ssl, 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.own.SSL_free(self.ssl)
        self.own.SSL_CTX_free(self.context)
