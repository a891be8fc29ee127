# SPDX-License-Identifier: GPL-3.0-or-later
"""A client that says exactly what it is told, for talking to servers byte by byte.

    with Client(("127.0.0.1", port)) as client:
        client.expect(220)
        client.say("EHLO client.example", 250)
        client.write(b"MAIL FROM:<a@example.com>\\r\\nRCPT TO:<b@example.com>\\r\\n")
        assert client.replies(2) == [250, 250]
"""
import socket
import struct


class Client:
    def __init__(self, endpoint, timeout=60, source=None):
        family = socket.AF_UNIX
        if isinstance(endpoint, tuple):
            family = socket.AF_INET6 if ":" in endpoint[0] else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        if source is not None:
            self.socket.bind((source, 0))
        self.socket.connect(endpoint)
        if family != socket.AF_UNIX:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.pending = b""

    def write(self, octets):
        self.socket.sendall(octets)

    def write_bytewise(self, octets):
        for octet in octets:
            self.socket.sendall(bytes((octet,)))

    def line(self):
        """The next line, b"" at the end of the stream."""
        while b"\n" not in self.pending:
            got = self.socket.recv(65536)
            if not got:
                rest, self.pending = self.pending, b""
                return rest
            self.pending += got
        line, self.pending = self.pending.split(b"\n", 1)
        return line + b"\n"

    def reply(self):
        """(code, text of all lines); (0, b"") when the server has closed."""
        text = b""
        while True:
            line = self.line()
            text += line
            if line[3:4] != b"-":
                return (int(line[:3]) if line else 0), text

    def replies(self, count):
        return [self.reply()[0] for _ in range(count)]

    def rest(self):
        """The codes of all replies until the server closes, however it closes."""
        codes = []
        try:
            while code := self.reply()[0]:
                codes.append(code)
        except ConnectionResetError:
            pass
        return codes

    def expect(self, *codes):
        code, text = self.reply()
        assert code in codes, f"wanted {codes}, got {text!r}"
        return text

    def say(self, command, *codes):
        self.write(command.encode() + b"\r\n")
        return self.expect(*codes)

    def envelope(self, greeting="EHLO", recipients=1):
        """From the banner to the point where DATA or BDAT may follow."""
        self.expect(220)
        self.say(f"{greeting} client.example", 250)
        self.say("MAIL FROM:<sender@example.com>", 250)
        for number in range(recipients):
            self.say(f"RCPT TO:<user{number}@example.com>", 250)

    def quit(self):
        self.say("QUIT", 221)
        self.close()

    def reset(self):
        """Leaves with RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
