"""A TCP relay that keeps a second set of books: the replies that really came back over the wire.

It forwards both directions unchanged to a server that may be killed and come back on the same port, and
counts lines from the server that fit `pattern`. When one side is gone the other is closed, after what was
received has been passed on.
"""
import asyncio
import re
import threading


class Relay:
    def __init__(self, target_port, pattern=rb"(?m)^250 2\.[06]\.0 "):
        self.target_port, self.pattern = target_port, re.compile(pattern)
        self.counted, self.lock = 0, threading.Lock()
        self.ready, self.port = threading.Event(), None
        self.thread = threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True)

    endpoint = property(lambda self: f"127.0.0.1:{self.port}")

    async def serve(self):
        self.loop, self.ended = asyncio.get_running_loop(), asyncio.Event()
        self.sessions = set()
        server = await asyncio.start_server(self.relay, "127.0.0.1", 0, backlog=512)
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        await self.ended.wait()
        server.close()
        for session in self.sessions:
            session.cancel()
        await asyncio.gather(*self.sessions, return_exceptions=True)

    async def relay(self, reader, writer):
        self.sessions.add(asyncio.current_task())
        try:
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self.target_port)
            back = asyncio.ensure_future(self.pump(there_reader, writer, counting=True))
            try:
                await asyncio.wait({back, asyncio.ensure_future(self.pump(reader, there_writer))})
            finally:
                there_writer.close()
        except OSError:
            pass
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            self.sessions.discard(asyncio.current_task())
            writer.close()

    async def pump(self, reader, writer, counting=False):
        """One direction, until its end; then the other side hears the end too."""
        pending = b""
        try:
            while octets := await reader.read(65536):
                if counting:
                    whole, _, pending = (pending + octets).rpartition(b"\n")
                    self.counted += len(self.pattern.findall(whole + b"\n"))
                writer.write(octets)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    def __enter__(self):
        self.thread.start()
        self.ready.wait()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.ended.set)
        self.thread.join(10)
