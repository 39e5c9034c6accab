"""Relay of a listening socket of the machine outside to ADON's dashboard inside a testbed.

A socket belongs to the network namespace in which it was opened: browsers outside connect to one that was
opened there and handed down, programs inside connect to the dashboard itself.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def relay(outside: socket.socket, inside: tuple[str, int]) -> Iterator[None]:
    """Pass each connection to a socket on to an address, both ways, while the context lasts.

    :param outside: listening; it stays open.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="web relay", daemon=True)
    thread.start()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            onward, back = await asyncio.open_connection(*inside)
        except OSError:  # ADON does not run now
            writer.close()
            return
        await asyncio.gather(_copy(reader, back), _copy(onward, writer))

    async def end() -> None:
        server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    starting = asyncio.start_server(connect, sock=outside.dup())
    server = asyncio.run_coroutine_threadsafe(starting, loop).result()
    try:
        yield
    finally:
        asyncio.run_coroutine_threadsafe(end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()
