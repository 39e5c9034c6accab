"""``python -m benchmarks.pollers PORT TOKEN_FILE CLIENTS``: readers of ``/api/v1/paths``, each once a second.

Each has a connection of its own, for as long as the server leaves it open, and then another at once.  At the
end of standard input, one line: how many answers came, how many were not what was asked for, and seconds.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from pathlib import Path

EVERY_S = 1.0

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Pollers:
    """See the module's text."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        head = f"GET /api/v1/paths HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
        self._request = head.encode()
        self.answers = self.failures = 0

    async def poll(self, first: float) -> None:
        """Ask for ever, beginning at some moment of the first second."""
        await asyncio.sleep(first)
        loop = asyncio.get_running_loop()
        streams = None
        while True:
            due = loop.time() + EVERY_S
            streams = await self._answer(streams)
            await asyncio.sleep(max(0.0, due - loop.time()))

    async def _answer(self, streams: Streams | None) -> Streams | None:
        """Ask once; what was closed since the last time is no failure, what does not answer when new is."""
        for known in (streams, None) if streams is not None else (None,):
            try:
                used = await asyncio.open_connection("127.0.0.1", self._port) if known is None else known
                await self._ask(*used)
            except (OSError, asyncio.IncompleteReadError):
                if known is not None:
                    known[1].close()
                continue
            return used
        self.failures += 1
        return None

    async def _ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(self._request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.split(b":")[1]))
        if head.split(b" ", 2)[1] == b"200":
            self.answers += 1
        else:
            self.failures += 1


async def main() -> None:
    """Poll until standard input ends."""
    port, token, clients = int(sys.argv[1]), Path(sys.argv[2]).read_text().strip(), int(sys.argv[3])
    pollers, begun = Pollers(port, token), time.monotonic()
    tasks = [asyncio.create_task(pollers.poll(random.uniform(0, EVERY_S))) for _ in range(clients)]
    await asyncio.to_thread(sys.stdin.read)
    for task in tasks:
        task.cancel()
    print(f"{pollers.answers} {pollers.failures} {time.monotonic() - begun:.1f}")


if __name__ == "__main__":
    asyncio.run(main())
