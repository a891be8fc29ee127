# SPDX-License-Identifier: GPL-3.0-or-later
"""What one broken connection leaves behind must not be seen on the next, nor keep a run from ending."""
import socket
import threading

from support.hostile import Hostile
from support.process import free_port


class RefusesInMidMessage(threading.Thread):
    """Answers 552 when the message has only begun and closes; keeps what each connection said first."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.said = []
        self.start()

    def run(self):
        try:
            while True:
                with self.listener.accept()[0] as peer:
                    self.serve(peer)
        except OSError:
            pass

    def serve(self, peer):
        peer.settimeout(10)
        lines = peer.makefile("rb")
        peer.sendall(b"220 x\r\n")
        said = []
        self.said.append(said)
        while line := lines.readline():
            verb = line[:4].upper()
            said.append(verb)
            if verb == b"DATA":
                peer.sendall(b"354 go\r\n")
                lines.read(10_000)
                peer.sendall(b"552 5.3.4 too big\r\n")
                return
            peer.sendall(b"250 ok\r\n")


def test_the_rest_of_a_message_is_not_sent_to_the_next_connection(postal, users_file):
    server = RefusesInMidMessage()
    run = postal("-t", "1", "-c", "-1", "--size", "fixed:30M", "--messages", "3", "--duration", "20s",
                 server.endpoint, users_file(3), status=None)
    server.listener.close()
    assert len(server.said) >= 2
    for said in server.said:
        assert said in ([b"EHLO", b"MAIL", b"RCPT", b"DATA"], [b"EHLO", b"QUIT"], [b"EHLO"], []), said
    outcomes = sum(run.record["totals"][name] for name in ("messages", "rejected", "deferred", "failed", "in_doubt"))
    assert outcomes == run.record["totals"]["started"]


def test_workers_of_a_dead_server_leave_their_share(postal, users_file):
    with Hostile() as server:
        run = postal("--workers", "2", "-t", "1", "-c", "1", "--messages", "500", "--duration", "30s",
                     f"127.0.0.1:{free_port()},{server.endpoint}", users_file(3))
    assert run.total("messages") == server.count.accepted == 500
    assert run.record["duration_s"] < 20


def test_a_slow_run_whose_messages_are_used_up_ends_at_once(postal, users_file):
    with Hostile() as server:
        run = postal("-t", "2", "-c", "-1", "-r", "2/min", "--messages", "1", "--duration", "60s", server.endpoint, users_file(3))
    assert run.total("messages") == 1
    assert run.record["duration_s"] < 5


def test_what_an_open_loop_could_not_begin_is_in_the_books(postal, users_file):
    """600 a minute for 2 s are 20 messages (21 with the one at the very end), all due, none begun."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        run = postal("--open-loop", "-r", "600/min", "--duration", "2s", "--grace", "1s", "-t", "5",
                     f"127.0.0.1:{silent.getsockname()[1]}", users_file(3), status=None)
    totals = run.record["totals"]
    assert totals["started"] == 0
    assert totals["not_started"] in (20, 21)
