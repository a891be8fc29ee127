# SPDX-License-Identifier: GPL-3.0-or-later
"""Where mail comes back to: a receiver of bounces that reads what they say (RFC 3464).

    with Returns() as returns:
        relay = postfix(…, transport_maps=f"inline:{{ {{{DOMAIN} = {returns.transport}}} }}")
        …
        returns.failed   # the recipients that did not get their mail
"""
import dataclasses
import email
import socketserver
import threading

from .content_filter import TakesMail

DOMAIN = "returns.example"  # of those who want to hear of it


@dataclasses.dataclass
class Failure:
    """One recipient of a notification."""
    recipient: str
    status: str
    diagnostic: str


def failures(octets):
    """Those that a delivery status notification is about."""
    report = email.message_from_bytes(octets)
    assert report.get_content_type() == "multipart/report" and report.get_param("report-type") == "delivery-status", report.items()
    [status] = [part for part in report.get_payload() if part.get_content_type() == "message/delivery-status"]
    _, *recipients = status.get_payload()
    assert recipients and all(one["Action"] == "failed" for one in recipients)
    return [Failure(one["Final-Recipient"].partition(";")[2].strip(), one["Status"], " ".join(one["Diagnostic-Code"].split()))
            for one in recipients]


class Receiving(TakesMail):
    def take(self, octets):
        self.server.taken.append((self.reverse_path, list(self.forward_paths), octets))
        return "250 2.0.0 taken"


class Returns(socketserver.ThreadingTCPServer):
    """`taken` has (reverse-path, forward-paths, octets) of each message."""
    daemon_threads = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Receiving)
        self.taken = []

    transport = property(lambda self: f"smtp:[127.0.0.1]:{self.server_address[1]}")

    @property
    def failures(self):
        """Of all notifications; each comes with the null reverse-path to somebody of DOMAIN."""
        for reverse_path, forward_paths, _ in self.taken:
            assert reverse_path == "" and all(path.endswith("@" + DOMAIN) for path in forward_paths)
        return [one for _, _, octets in self.taken for one in failures(octets)]

    failed = property(lambda self: [one.recipient for one in self.failures])

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()
