"""Web server: uvicorn, with event streams on its own thread and the application in 16 threads.

Each client costs memory and no thread (:mod:`apps.rest.wsgi_bridge`, :mod:`apps.rest.connections`).  The
heads, the bodies, the waiting requests, the listeners and the connections have limits of size, number and
time.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import resource
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

import uvicorn

from adon import problems
from adon.api.base import MAX_BODY
from apps.rest import connections
from apps.rest.event_stream import Stream
from apps.rest.listeners import HANDOVER, Handover, Listeners, Standing
from apps.rest.request_origin import PEER, PROXIED, ClientAddress
from apps.rest.wsgi_bridge import (
    Answer,
    Busy,
    Gone,
    Receive,
    Scope,
    Send,
    Threads,
    TooLarge,
    TooSlow,
    body_size,
    environ_of,
    read_body,
    send_answer,
)

log = logging.getLogger(__name__)

THREADS = 16
MOST_WAITING = 256
"""Requests that may wait for a thread."""
KEEP_ALIVE_S = 30
"""Seconds for which a connection without a request is kept."""
END_WITHIN_S = 3
"""Seconds for present requests when the server ends."""
CONNECTIONS = 2000
SMALL_BODY = 16_384
MOST_LARGE_BODIES = 64
"""Requests with a body above :data:`SMALL_BODY` bytes at once, which bounds the memory of all bodies."""
REFUSALS = {
    TooLarge: (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body is at most {MAX_BODY} bytes"),
    TooSlow: (HTTPStatus.REQUEST_TIMEOUT, "the body did not arrive in time"),
    Busy: (HTTPStatus.SERVICE_UNAVAILABLE, "too many requests at once; try again"),
}

Wsgi = Callable[..., Iterable[bytes]]


class WebApplication:
    """ASGI application: a WSGI application in threads, and its event streams."""

    def __init__(self, app: Wsgi, stream: Stream, standing: Standing | None) -> None:
        self._threads = Threads(app, THREADS, MOST_WAITING)
        self._large_bodies = asyncio.Semaphore(MOST_LARGE_BODIES)
        self._stream = stream
        self._standing = standing
        self._listeners: Listeners | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        handover = Handover()
        try:
            answer = await self._answer(scope, receive, handover)
            if handover.ticket is not None and answer.status == HTTPStatus.OK and scope["method"] == "GET":
                headers = [one for one in answer.headers if one[0] != b"content-length"]
                done = await self._hub().serve(handover.ticket, headers, receive, send)
            else:
                done = await send_answer(answer, send)
            if not done:
                _disconnect(scope)
        except Gone:
            _disconnect(scope)
        finally:
            if handover.ticket is not None:
                self._stream.leave(handover.ticket.who)

    def close(self) -> None:
        """Accept no more requests and end all event streams."""
        self._stream.close()
        self._threads.close()

    async def _answer(self, scope: Scope, receive: Receive, handover: Handover) -> Answer:
        # h11 bounds a head that is not complete yet, and not one that arrives at once.
        size = len(scope["raw_path"]) + len(scope["query_string"])
        if size + sum(len(name) + len(value) for name, value in scope["headers"]) > connections.MAX_HEAD:
            return _refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the request's head is too large")
        more = {HANDOVER: handover, PROXIED: scope.get(PROXIED, False), PEER: scope.get(PEER, "")}
        try:
            if body_size(scope, MAX_BODY) <= SMALL_BODY:
                body = await read_body(scope, receive, MAX_BODY)
                return await self._threads.call(environ_of(scope, body, more))
            return await self._answer_large(scope, receive, more)
        except (TooLarge, TooSlow, Busy) as error:
            return _refuse(*REFUSALS[type(error)])

    async def _answer_large(self, scope: Scope, receive: Receive, more: Mapping[str, Any]) -> Answer:
        if self._large_bodies.locked():
            raise Busy
        async with self._large_bodies:
            body = await read_body(scope, receive, MAX_BODY)
            return await self._threads.call(environ_of(scope, body, more))

    def _hub(self) -> Listeners:
        if self._listeners is None:
            self._listeners = Listeners(self._stream, self._standing)
        return self._listeners


def _disconnect(scope: Scope) -> None:
    connection = scope.get("state", {}).get(connections.CONNECTION)
    if isinstance(connection, connections.Connection):
        connection.cut()


def _refuse(status: HTTPStatus, detail: str) -> Answer:
    """Return a problem document; the connection ends with it, because the rest of the request is not read."""
    body = json.dumps(problems.http_document(status, status.phrase, detail)).encode() + b"\n"
    headers = [
        (b"content-type", problems.MEDIA_TYPE.encode()),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"connection", b"close"),
    ]
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers.append((b"retry-after", b"2"))
    return Answer(status, headers, body)


class WebServer(uvicorn.Server):
    """Server on a listening socket.

    :param stream: the events; its listeners end with the server.
    :param proxies: addresses of proxies (:mod:`apps.rest.request_origin`).
    :param most_connections: open connections; a request on any further one is answered with 503.
    :param standing: the actors of valid tokens, for the listeners; None if tokens cannot be revoked.
    """

    def __init__(
        self,
        app: Wsgi,
        stream: Stream,
        *,
        proxies: Sequence[str] = (),
        most_connections: int = CONNECTIONS,
        standing: Standing | None = None,
    ) -> None:
        self._application = WebApplication(app, stream, standing)
        self._most_connections = most_connections
        super().__init__(
            uvicorn.Config(
                ClientAddress(self._application, proxies),
                loop="asyncio",
                http=connections.Connection,
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                log_level=logging.WARNING,
                access_log=False,
                proxy_headers=False,  # ClientAddress reads them
                server_header=False,
                headers=[("server", "adon")],
                backlog=512,
                limit_concurrency=most_connections,
                timeout_keep_alive=KEEP_ALIVE_S,
                timeout_graceful_shutdown=END_WITHIN_S,
                h11_max_incomplete_event_size=connections.MAX_HEAD,
            )
        )

    def serve_on(self, listener: socket.socket) -> None:
        """Serve until :meth:`stop`, SIGTERM or SIGINT."""
        _allow_descriptors(self._most_connections + 512)
        asyncio.run(self._serve_watching(listener))

    def stop(self) -> None:
        """End soon; may be called from any thread and from a signal handler."""
        self.should_exit = True
        self._application.close()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End by a signal with exit status 0; uvicorn's own method would raise the signal again."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        try:
            yield
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)

    async def _serve_watching(self, listener: socket.socket) -> None:
        watching = asyncio.create_task(connections.watch(self.server_state))
        try:
            await self.serve([listener])
        finally:
            watching.cancel()


def _allow_descriptors(wanted: int) -> None:
    """Raise the soft limit of open files, as far as the hard limit permits."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
