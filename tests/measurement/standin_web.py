"""A small web server on loopback for stand-ins of archives."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit


class Asked(NamedTuple):
    """A request."""

    method: str
    path: str
    query: dict[str, str]
    body: Any


class Raw(NamedTuple):
    """An answer as it is to be sent."""

    status: int
    data: bytes
    headers: tuple[tuple[str, str], ...] = ()


@contextmanager
def serving(answer: Callable[[Asked], Any]) -> Iterator[str]:
    """The URL of a server that answers with what ``answer`` returns: JSON, or :class:`Raw`."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            place = urlsplit(self.path)
            length = int(self.headers.get("Content-Length", "0"))
            body = json.loads(self.rfile.read(length)) if length else None
            query = {name: values[0] for name, values in parse_qs(place.query).items()}
            found = answer(Asked(self.command, place.path, query, body))
            raw = found if isinstance(found, Raw) else Raw(200, json.dumps(found).encode())
            try:
                self.send_response(raw.status)
                for name, value in raw.headers:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(raw.data)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client had enough, as it should

        do_GET = do_POST = answer  # noqa: N815  # http.server's names

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
