# SPDX-License-Identifier: GPL-3.0-or-later
"""A server of a test's own: asyncio in a thread, on a free port of 127.0.0.1, while a block runs.

    class Greeter(Served):
        async def converse(self, reader, writer):
            writer.write(b"220 here\\r\\n")

    with Greeter() as server:
        ... something connects to server.endpoint ...

A connection is closed behind converse(), also when the peer has gone; those that last are broken off with the block. What
else goes wrong in it fails the block.
"""
import asyncio
import socket
import threading


class Served:
    """port: 0 is a free one. stream: further words for asyncio.start_server()."""

    def __init__(self, port=0, **stream):
        self.port, self.stream = port, stream
        self.sessions, self.failure, self.ready = set(), None, threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True)

    endpoint = property(lambda self: f"127.0.0.1:{self.port}")

    def __enter__(self):
        self.thread.start()
        self.ready.wait()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.ended.set)
        self.thread.join(10)
        assert not self.thread.is_alive(), f"{type(self).__name__} did not end"
        if self.failure:
            raise self.failure

    def prepare(self, listener):
        """Sets what accepted sockets inherit."""

    async def serve(self):
        self.loop, self.ended = asyncio.get_running_loop(), asyncio.Event()
        listener = socket.create_server(("127.0.0.1", self.port))
        self.prepare(listener)
        server = await asyncio.start_server(self.accept, sock=listener, backlog=512, **self.stream)
        self.port = listener.getsockname()[1]
        self.ready.set()
        await self.ended.wait()
        server.close()
        for session in self.sessions:
            session.cancel()
        await asyncio.gather(*self.sessions, return_exceptions=True)

    async def accept(self, reader, writer):
        self.sessions.add(asyncio.current_task())
        try:
            await self.converse(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        except asyncio.CancelledError:
            writer.transport.abort()
        except Exception as error:  # a fault of this server
            self.failure = error
        finally:
            self.sessions.discard(asyncio.current_task())
            writer.close()
