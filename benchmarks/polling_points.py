"""Stand-in points for the polling benchmark: ``python -m benchmarks.polling_points COUNT MODE [CERT KEY]``.

One process, many listeners on loopback.  Each point answers what a pScheduler host would to one that reads
its results: ``/clock``, ``/schedule`` (four new finished runs each time), ``/result`` of each.  MODE is
``keep-alive`` or ``close`` (each answer ends its connection, as stock pScheduler does).  The ports are
written to standard output as one line of JSON; when standard input ends, so are the counts of connections
and requests.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import ssl
import sys
import time
from typing import Any, ClassVar

from measurement.pscheduler.iso8601 import format_timestamp

TASKS = {
    "throughput": "00000000-0000-4000-8000-000000000001",
    "rtt": "00000000-0000-4000-8000-000000000002",
    "latency": "00000000-0000-4000-8000-000000000003",
    "udp": "00000000-0000-4000-8000-000000000004",
}
INTERVALS = [
    {"summary": {"start": n, "end": n + 1, "throughput-bits": 9.3e8, "retransmits": 0, "omitted": False}}
    for n in range(10)
]
RESULTS: dict[str, dict[str, Any]] = {
    "throughput": {
        "succeeded": True,
        "summary": {"summary": {"throughput-bits": 9.4e8, "receiver-throughput-bits": 9.39e8}, "streams": []},
        "intervals": INTERVALS,
    },
    "rtt": {"succeeded": True, "sent": 10, "loss": 0.0, "mean": "PT0.0026S", "roundtrips": []},
    "latency": {
        "succeeded": True,
        "packets-sent": 600,
        "packets-lost": 2,
        "histogram-latency": {f"{12 + n / 100:.2f}": 6 for n in range(100)},
    },
    "udp": {
        "succeeded": True,
        "summary": {
            "summary": {"throughput-bits": 1e7},
            "streams": [{"sent": 1000, "lost": 10, "jitter": 0.2}],
        },
    },
}
_HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: {}\r\n\r\n"


class Counts:
    """What all points of this process have seen."""

    connections = 0
    requests = 0


class Point(asyncio.Protocol):
    """One connection to a point; the requests have no bodies."""

    numbers: ClassVar = itertools.count(1)
    results: ClassVar = {TASKS[name]: json.dumps(document) for name, document in RESULTS.items()}

    def __init__(self, connection: str, counts: Counts) -> None:
        self._connection, self._counts, self._held = connection, counts, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count it."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._counts.connections += 1

    def data_received(self, data: bytes) -> None:
        """Answer each request that is whole."""
        *requests, self._held = (self._held + data).split(b"\r\n\r\n")
        for request in requests:
            self._counts.requests += 1
            body = self._answer(request.split(b" ", 2)[1].decode("ascii"))
            self._transport.write((_HEAD.format(len(body), self._connection) + body).encode())
            if self._connection == "close":
                self._transport.close()

    def _answer(self, path: str) -> str:
        if path.endswith("/result"):
            return self.results[path.split("/")[3]]
        if "/schedule?" in path:
            return self._schedule()
        now = format_timestamp(time.time(), fraction=True)
        return json.dumps({"time": now, "synchronized": True})

    def _schedule(self) -> str:
        now = format_timestamp(time.time())
        runs = [
            {
                "href": f"http://point/pscheduler/tasks/{task}/runs/{next(self.numbers):08x}-0000-4000-8000-{0:012x}",
                "state": "finished",
                "start-time": now,
                "end-time": now,
            }
            for task in TASKS.values()
        ]
        return json.dumps(runs)


async def serve(count: int, connection: str, context: ssl.SSLContext | None) -> None:
    """Serve until standard input ends."""
    loop, counts = asyncio.get_running_loop(), Counts()
    servers = [
        await loop.create_server(lambda: Point(connection, counts), "127.0.0.1", 0, ssl=context, backlog=64)
        for _ in range(count)
    ]
    print(json.dumps([server.sockets[0].getsockname()[1] for server in servers]), flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    print(json.dumps({"connections": counts.connections, "requests": counts.requests}), flush=True)


def main(count: str, connection: str, *certificate: str) -> None:
    """Run the points."""
    context = None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
    asyncio.run(serve(int(count), connection, context))


if __name__ == "__main__":
    main(*sys.argv[1:])
