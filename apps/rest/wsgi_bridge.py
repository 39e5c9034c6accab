"""Bridge from ASGI to WSGI, in which a slow client holds memory and no thread.

A request's body is read completely, within a size and a time, before a thread handles it.  An answer is
complete before its first byte is sent.  The number of threads bounds the processor time of the web process;
requests above the bound are refused at once (:class:`Busy`).

A header arrives in the WSGI environment as ``HTTP_…``, so that no header can replace a key of ADON.  A
header with an underscore in its name is dropped, because it would be equal to one with a dash
(``X_Forwarded_For``).
"""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

SLOW_CLIENT_S = 10.0
"""Seconds for a body or an answer, in addition to its time at :data:`LEAST_RATE`."""
LEAST_RATE = 20_000.0
"""Bytes per second of the slowest client that is served."""
PIECE = 65_536
"""Bytes of an answer that the connection gets at once."""


class Busy(Exception):
    """Too many requests wait for a thread, or hold memory for large bodies."""


class TooLarge(Exception):
    """The body is larger than the limit."""


class TooSlow(Exception):
    """The body did not arrive in time."""


class Gone(Exception):
    """The client has left."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of the application."""

    status: int
    headers: Headers
    body: bytes


async def read_body(scope: Scope, receive: Receive, most_bytes: int) -> bytes:
    """Return the whole body of a request.

    :raises TooLarge: if it is larger than ``most_bytes``.
    :raises TooSlow: if it does not arrive in time.
    :raises Gone: if the client leaves before its end.
    """
    expected = body_size(scope, most_bytes)
    if expected > most_bytes:
        raise TooLarge
    body = bytearray()
    try:
        async with asyncio.timeout(SLOW_CLIENT_S + expected / LEAST_RATE):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise Gone
                body += message.get("body", b"")
                if len(body) > most_bytes:
                    raise TooLarge
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise TooSlow from None


def body_size(scope: Scope, most_bytes: int) -> int:
    """Return the bytes of a request's body; ``most_bytes`` for a body in chunks."""
    headers = dict(scope["headers"])
    unknown = most_bytes if b"transfer-encoding" in headers else 0
    return int(headers.get(b"content-length", unknown))


async def send_answer(answer: Answer, send: Send) -> bool:
    """Send an answer; False if the client was too slow in taking it."""
    try:
        async with asyncio.timeout(SLOW_CLIENT_S + len(answer.body) / LEAST_RATE):
            await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
            for start in range(0, len(answer.body), PIECE):
                piece = answer.body[start : start + PIECE]
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
    except TimeoutError:
        return False
    return True


class Threads:
    """Threads that run a WSGI application.

    :param most_waiting: requests that may wait for a thread.
    """

    def __init__(self, app: Callable[..., Iterable[bytes]], threads: int, most_waiting: int) -> None:
        self._app = app
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="web")
        self._most = threads + most_waiting
        self._inside = 0

    async def call(self, environ: dict[str, Any]) -> Answer:
        """Return the application's answer.

        :raises Busy: at once, if too many requests wait already.
        """
        if self._inside >= self._most:
            raise Busy
        self._inside += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, self._run, environ)
        finally:
            self._inside -= 1

    def close(self) -> None:
        """Accept no more requests; the present ones continue."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _run(self, environ: dict[str, Any]) -> Answer:
        begun: list[tuple[int, Headers]] = []
        body = io.BytesIO()

        def start(status: str, headers: list[tuple[str, str]], _exception: Any = None) -> Any:
            lower = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
            begun.append((int(status.partition(" ")[0]), lower))
            return body.write

        parts = self._app(environ, start)
        try:
            for part in parts:
                body.write(part)
        finally:
            getattr(parts, "close", lambda: None)()
        status, headers = begun[-1]
        return Answer(status, headers, body.getvalue())


def environ_of(scope: Scope, body: bytes, more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the WSGI environment (PEP 3333) of a request.

    :param more: keys of this process, which no header can replace.
    """
    server = scope.get("server") or ("localhost", 80)
    client = scope.get("client")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": str(server[0]),
        "SERVER_PORT": str(server[1] or 0),
        "REMOTE_ADDR": "" if client is None else str(client[0]),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for raw, content in scope["headers"]:
        name, value = raw.decode("latin-1").upper(), content.decode("latin-1")
        if "_" in name or name in ("CONTENT-LENGTH", "TRANSFER-ENCODING"):
            continue
        key = "CONTENT_TYPE" if name == "CONTENT-TYPE" else f"HTTP_{name.replace('-', '_')}"
        joined = "; " if key == "HTTP_COOKIE" else ","
        environ[key] = f"{environ[key]}{joined}{value}" if key in environ else value
    if body:
        environ["CONTENT_LENGTH"] = str(len(body))
    return {**environ, **more}
