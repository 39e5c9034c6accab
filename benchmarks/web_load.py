"""Ask at a steady rate, whatever becomes of the answers: ``python -m benchmarks.web_load < PLAN > RESULT``.

A process of its own, whose own processor time is told beside what it measured.  Requests leave when they are
due (an open loop): who waits for an answer before asking again would not see what a slow server does to
everybody else.  A time runs from when the request was due to the last byte of its answer.

The plan is JSON: ``url``, ``tokens``, ``rate`` (requests/s), ``seconds``, ``questions``
(``[name, [path...]]``), which are asked in turns, and ``offset``, where in the turns to begin.  The result:
``milliseconds`` by name, ``failed`` (``[name, status]``), ``late`` (the largest delay of a request that this
process is to blame for, ms), ``cpu`` (its processor seconds) and ``seconds``.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

PATIENCE_S = 30.0
OK = (200, 304)


class Asker:
    """Connections to one server, kept and used again; one request at a time on each."""

    def __init__(self, url: str) -> None:
        found = urlsplit(url)
        self._host, self._port = str(found.hostname), int(found.port or 80)
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def get(self, path: str, token: str) -> tuple[int, bytes]:
        """Status and body of the answer."""
        status, _, answer = await self._asked("GET", path, (f"Authorization: Bearer {token}",))
        return status, answer

    async def look(self, path: str, cookie: str, tag: str) -> tuple[int, str]:
        """Status and entity tag of the answer to a page of a browser that has what ``tag`` names."""
        known = (f"If-None-Match: {tag}",) if tag else ()
        status, fields, _ = await self._asked("GET", path, (f"Cookie: {cookie}", *known))
        return status, fields.get("etag", tag)

    async def post(self, path: str, body: str, cookie: str) -> tuple[int, bytes]:
        """Status and body of the answer to JSON that a page of a browser sends."""
        fields = f"Cookie: {cookie}", "Content-Type: application/json"
        status, _, answer = await self._asked("POST", path, fields, body.encode())
        return status, answer

    async def stream(self, path: str, token: str) -> AsyncIterator[bytes]:
        """Pieces of an answer that does not end, on a connection of its own."""
        reader, writer = await self._opened()
        try:
            writer.write(self._head("GET", path, f"Authorization: Bearer {token}"))
            while piece := await reader.read(65_536):
                yield piece
        finally:
            writer.close()

    def _head(self, method: str, path: str, *fields: str) -> bytes:
        return "\r\n".join((f"{method} {path} HTTP/1.1", f"Host: {self._host}", *fields, "", "")).encode()

    async def _asked(
        self, method: str, path: str, said: Sequence[str], body: bytes = b""
    ) -> tuple[int, Mapping[str, str], bytes]:
        reader, writer = await self._connection()
        more = (f"Content-Length: {len(body)}",) if body else ()
        writer.write(self._head(method, path, *said, *more) + body)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
        fields = dict(line.split(": ", 1) for line in head[1:] if line)
        chunked = fields.get("transfer-encoding") == "chunked"
        length = int(fields.get("content-length", "0"))
        answer = await _chunks(reader) if chunked else await reader.readexactly(length)
        if fields.get("connection") == "close":
            writer.close()
        else:
            self._free.append((reader, writer))
        return int(head[0].split()[1]), fields, answer

    async def _connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while self._free:
            reader, writer = self._free.pop()
            if not reader.at_eof():  # the server closes those that nobody used for a while
                return reader, writer
            writer.close()
        return await self._opened()

    async def _opened(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(self._host, self._port, limit=2**20)

    def close(self) -> None:
        """Close the connections that nobody uses."""
        for _, writer in self._free:
            writer.close()


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    """A body in pieces (RFC 9112 section 7.1)."""
    found = []
    while size := int((await reader.readline()).split(b";")[0], 16):
        found.append((await reader.readexactly(size + 2))[:-2])
    await reader.readline()
    return b"".join(found)


async def load(plan: dict[str, Any]) -> dict[str, Any]:
    """Carry out the plan."""
    asker = Asker(plan["url"])
    took: dict[str, list[float]] = defaultdict(list)
    failed: list[tuple[str, int]] = []
    late = 0.0

    async def ask(name: str, path: str, token: str, due: float) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                status, _ = await asker.get(path, token)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            status = 0
        took[name].append((time.monotonic() - due) * 1e3)
        if status not in OK:
            failed.append((name, status))

    questions, tokens = plan["questions"], plan["tokens"]
    began = time.monotonic()
    async with asyncio.TaskGroup() as group:
        for number in range(round(plan["rate"] * plan["seconds"])):
            due = began + number / plan["rate"]
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            late = max(late, time.monotonic() - due)
            turn = plan["offset"] + number
            name, paths = questions[turn % len(questions)]
            path = paths[turn // len(questions) % len(paths)]
            group.create_task(ask(name, path, tokens[turn % len(tokens)], due))
    asker.close()
    own = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "milliseconds": took,
        "failed": failed,
        "late": late * 1e3,
        "cpu": own.ru_utime + own.ru_stime,
        "seconds": time.monotonic() - began,
    }


if __name__ == "__main__":
    json.dump(asyncio.run(load(json.load(sys.stdin))), sys.stdout)
