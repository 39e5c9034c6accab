"""From ASGI to WSGI, so that a slow client holds memory and never a thread.

A request's body is read in full before a thread is taken, within a size and a time; an answer is made in
full before its first byte is sent.  So the threads of the application work only, and their number bounds
how much of the processor the web side takes; what comes in too fast is refused at once (:class:`Busy`).

The WSGI environment is made here of what HTTP says and of what the caller adds: a header arrives as
``HTTP_…``, so none can pass for a key of ours, and one with an underscore in its name is dropped, since it
could not be told from another that has a dash there (``X_Forwarded_For``).
"""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

SLOW_CLIENT_S = 10.0
"""Seconds a client has for a body or an answer, and on top of them what it takes at :data:`LEAST_RATE`."""
LEAST_RATE = 20_000.0
"""Bytes per second below which a client is too slow to be served."""
PIECE = 65_536
"""Bytes of an answer handed to the connection at once."""


class Busy(Exception):
    """More requests wait for a thread than may, or hold more memory."""


class TooLarge(Exception):
    """The body is larger than what is taken."""


class TooSlow(Exception):
    """The body did not arrive in time."""


class Gone(Exception):
    """The client has left."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the application answered."""

    status: int
    headers: Headers
    body: bytes


class Room:
    """Memory for the bodies of all requests together; lives on one event loop.

    :param most: bytes.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.taken = 0

    @contextmanager
    def held(self) -> Iterator[Callable[[int], None]]:
        """Takes so many more bytes each time it is called; all are given back at the end of the context.

        :raises Busy: when called, if there are not so many.
        """
        held = 0

        def more(size: int) -> None:
            nonlocal held
            if self.taken + size > self._most:
                raise Busy
            held += size
            self.taken += size

        try:
            yield more
        finally:
            self.taken -= held


async def read_body(scope: Scope, receive: Receive, largest: int, take: Callable[[int], None]) -> bytes:
    """The whole body of a request.

    :param take: asked for memory as it comes (:meth:`Room.held`).
    :raises TooLarge: if it says that it is, or turns out to be.
    :raises TooSlow: if it is not there in time.
    :raises Gone: if the client leaves before.
    """
    said = next((value for name, value in scope["headers"] if name == b"content-length"), None)
    expected = largest if said is None else int(said)
    if expected > largest:
        raise TooLarge
    body = bytearray()
    try:
        async with asyncio.timeout(SLOW_CLIENT_S + expected / LEAST_RATE):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise Gone
                piece = message.get("body", b"")
                take(len(piece))
                body += piece
                if len(body) > largest:
                    raise TooLarge
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise TooSlow from None


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
    """A WSGI application and the threads that carry it.

    :param most_waiting: requests that may wait for a thread.
    """

    def __init__(self, app: Callable[..., Iterable[bytes]], threads: int, most_waiting: int) -> None:
        self._app = app
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="web")
        self._most = threads + most_waiting
        self._inside = 0

    async def call(self, environ: dict[str, Any]) -> Answer:
        """The application's answer.

        :raises Busy: at once, if too many wait already.
        """
        if self._inside >= self._most:
            raise Busy
        self._inside += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, self._run, environ)
        finally:
            self._inside -= 1

    def close(self) -> None:
        """Take no more; what is under way ends by itself."""
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
    """The WSGI environment (PEP 3333) of a request.

    :param more: what this process says about the request; it comes last, so nothing can replace it.
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
