# SPDX-License-Identifier: GPL-3.0-or-later
"""A POP3 server that lets in so many a second, one after the other, and holds the rest up: its capacity is known.

    with PacedPop3(rate=20) as server:      # a visit's password is answered in its turn, 1/20 s behind the one before
        rabid(server.endpoint, …)

Mailboxes are empty. `let_in` counts the logins that were answered. The server has a thread of its own.
"""
import asyncio
import threading


class PacedPop3:
    ANSWERS = {b"USER": b"+OK\r\n", b"STAT": b"+OK 0 0\r\n", b"LIST": b"+OK\r\n.\r\n", b"UIDL": b"+OK\r\n.\r\n",
               b"NOOP": b"+OK\r\n", b"QUIT": b"+OK bye\r\n"}

    def __init__(self, rate):
        self.step = 1 / rate
        self.next = 0
        self.let_in = 0
        self.loop = asyncio.new_event_loop()
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self.work)

    def __enter__(self):
        self.thread.start()
        assert self.ready.wait(30)
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.over.set)
        self.thread.join()

    def work(self):
        self.loop.run_until_complete(self.serve())

    async def serve(self):
        self.over = asyncio.Event()
        server = await asyncio.start_server(self.session, "127.0.0.1", 0)
        self.endpoint = "127.0.0.1:{}".format(server.sockets[0].getsockname()[1])
        self.ready.set()
        await self.over.wait()
        server.close()
        for task in asyncio.all_tasks():
            if task is not asyncio.current_task():
                task.cancel()

    async def turn(self):
        now = self.loop.time()
        self.next = max(self.next, now - self.step) + self.step
        await asyncio.sleep(self.next - now)

    async def session(self, reader, writer):
        try:
            writer.write(b"+OK paced\r\n")
            while line := await reader.readline():
                verb = line.split()[0].upper() if line.split() else b""
                if verb == b"PASS":
                    await self.turn()
                    self.let_in += 1
                    writer.write(b"+OK\r\n")
                else:
                    writer.write(self.ANSWERS.get(verb, b"-ERR not here\r\n"))
                await writer.drain()
                if verb == b"QUIT":
                    break
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
