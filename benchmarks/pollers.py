"""``python -m benchmarks.pollers PORT TOKEN_FILE CLIENTS``: readers of ``/api/v1/paths``, each once a second.

Each has a connection of its own that stays open.  When standard input ends, one line: how many answers came,
and how many were not what was asked for.
"""

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path

EVERY_S = 1.0


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
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
                while True:
                    await self._ask(reader, writer)
                    await asyncio.sleep(EVERY_S)
            except (OSError, asyncio.IncompleteReadError):
                self.failures += 1
                await asyncio.sleep(EVERY_S)

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
    pollers = Pollers(port, token)
    tasks = [asyncio.create_task(pollers.poll(random.uniform(0, EVERY_S))) for _ in range(clients)]
    await asyncio.to_thread(sys.stdin.read)
    for task in tasks:
        task.cancel()
    print(f"{pollers.answers} {pollers.failures}")


if __name__ == "__main__":
    asyncio.run(main())
