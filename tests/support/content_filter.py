# SPDX-License-Identifier: GPL-3.0-or-later
"""A small SMTP and LMTP server that takes mail, and an after-queue content filter (Postfix's FILTER_README) made of it.

    with ContentFilter(port, strip_eighth_bit, announces=["8BITMIME"]) as content_filter:
        relay = postfix(…, master=REINJECTION.format(port=port), content_filter=content_filter.transport)

The filter hands each message, changed, to the SMTP server at `port`, and answers as that did.
"""
import re
import smtplib
import socketserver
import threading

# Where a Postfix takes back what the filter has done with.
REINJECTION = "127.0.0.1:{port} inet n - n - 20 smtpd\n  -o content_filter=\n"


class TakesMail(socketserver.BaseRequestHandler):
    """A session; `take(octets)` of a class derived from it gives the reply to a message. Commands are not checked."""
    announces = ["8BITMIME"]

    def handle(self):
        lines = self.request.makefile("rb")
        self.lmtp, self.reverse_path, self.forward_paths = False, None, []
        self.say("220 here")
        for line in lines:
            verb = line[:4].upper().strip()
            if verb in (b"LHLO", b"EHLO"):
                self.lmtp = verb == b"LHLO"
                *first, last = ["here", *self.announces]
                self.say("\r\n".join([*(f"250-{name}" for name in first), f"250 {last}"]))
            elif verb == b"DATA":
                self.say("354 go")
                reply = self.take(self.content(lines))
                self.say("\r\n".join([reply] * (len(self.forward_paths) if self.lmtp else 1)))
                self.forward_paths = []
            elif verb == b"QUIT":
                return self.say("221 bye")
            else:
                self.note(verb, line)
                self.say("250 2.0.0 fine")
        return None

    def note(self, verb, line):
        path = re.search(r"<([^>]*)>", line.decode("utf-8", "surrogateescape"))
        if verb == b"MAIL":
            self.reverse_path = path[1]
        if verb == b"RCPT":
            self.forward_paths.append(path[1])

    def say(self, text):
        self.request.sendall(text.encode() + b"\r\n")

    @staticmethod
    def content(lines):
        content = []
        for line in lines:
            if line == b".\r\n":
                break
            content.append(line[1:] if line.startswith(b".") else line)
        return b"".join(content)


class Filtering(TakesMail):
    """Of a ContentFilter."""
    announces = property(lambda self: self.server.announces)

    def take(self, octets):
        self.server.taken.append(octets)
        with smtplib.SMTP("127.0.0.1", self.server.target_port, timeout=60) as client:
            try:
                client.sendmail(self.reverse_path, self.forward_paths, self.server.change(octets), ["BODY=8BITMIME"])
            except smtplib.SMTPException as error:
                return f"451 4.3.0 {type(error).__name__}"
        return "250 2.0.0 filtered"


class ContentFilter(socketserver.ThreadingTCPServer):
    """`taken` are the messages as they came. announces: its service extensions."""
    daemon_threads = True

    def __init__(self, target_port, change, announces):
        super().__init__(("127.0.0.1", 0), Filtering)
        self.target_port, self.change, self.announces = target_port, change, announces
        self.taken = []

    transport = property(lambda self: f"smtp:[127.0.0.1]:{self.server_address[1]}")

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


def strip_eighth_bit(octets):
    """As a filter that knows ASCII only does."""
    return bytes(octet & 0x7f for octet in octets)
