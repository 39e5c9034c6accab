"""The web server: uvicorn, with event streams on its own thread and everything else in a few more.

uvicorn was chosen by measurement: it kept all of 200 event streams, cheroot and waitress 16 to 98.  Clients
cost memory, never a thread (:mod:`apps.rest.bridge`, :mod:`apps.rest.connections`), and that memory has
bounds: on the head, the body, the number of connections, of waiting requests and of listeners, and each has
a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
import resource
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from http import HTTPStatus
from typing import Any

import uvicorn

from adon import problems
from adon.api.base import MAX_BODY
from adon.errors import AdonError, TooManyRequests
from apps.rest import connections
from apps.rest.bridge import (
    Answer,
    Busy,
    Gone,
    Receive,
    Room,
    Scope,
    Send,
    Threads,
    TooLarge,
    TooSlow,
    environ_of,
    read_body,
    send_answer,
)
from apps.rest.connections import Places
from apps.rest.event_stream import Stream
from apps.rest.listeners import HANDOVER, Handover, Listeners, Standing
from apps.rest.proxies import PEER, PROXIED, behind, trusted
from apps.rest.rate_windows import Rates, network_of

log = logging.getLogger(__name__)

THREADS = 16
MOST_WAITING = 256
"""Requests that may wait for a thread."""
KEEP_ALIVE_S = 30
"""Seconds for which a connection without a request is kept."""
END_WITHIN_S = 3
"""Seconds for requests under way, when the server ends."""
CONNECTIONS = 2000
OF_ONE_ADDRESS = 1000
BODIES = 64 * MAX_BODY
"""Bytes of bodies that may be in memory at once."""

Wsgi = Callable[..., Iterable[bytes]]


class Composed:
    """The ASGI application: the WSGI one in threads, and its event streams here."""

    def __init__(self, app: Wsgi, stream: Stream, rates: Rates | None, standing: Standing | None) -> None:
        self._threads = Threads(app, THREADS, MOST_WAITING)
        self._room = Room(BODIES)
        self._stream = stream
        self._rates = rates
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
                _cut(scope)
        except Gone:
            log.debug("event=web.client-gone")
            _cut(scope)
        finally:
            if handover.ticket is not None:
                self._stream.leave(handover.ticket.who)

    def close(self) -> None:
        """Take no more requests; every listener goes home."""
        self._stream.close()
        self._threads.close()

    async def _answer(self, scope: Scope, receive: Receive, handover: Handover) -> Answer:
        if self._rates is not None:
            client = scope.get("client")
            standing = self._rates.take("addresses", network_of("" if client is None else client[0]))
            if not standing.allowed:
                return _ours(TooManyRequests("too many requests from this address", standing.wait_s))
        # h11 bounds a head that is not complete yet; one that comes all at once is weighed here.
        size = len(scope["raw_path"]) + len(scope["query_string"])
        if size + sum(len(name) + len(value) for name, value in scope["headers"]) > connections.MAX_HEAD:
            return _refusal(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the request's head is too large")
        more = {HANDOVER: handover, PROXIED: scope.get(PROXIED, False), PEER: scope.get(PEER, "")}
        try:
            with self._room.held() as take:
                body = await read_body(scope, receive, MAX_BODY, take)
                return await self._threads.call(environ_of(scope, body, more))
        except TooLarge:
            return _refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body is at most {MAX_BODY} bytes")
        except TooSlow:
            return _refusal(HTTPStatus.REQUEST_TIMEOUT, "the body did not arrive in time")
        except Busy:
            return _refusal(HTTPStatus.SERVICE_UNAVAILABLE, "too many requests at once; try again")

    def _hub(self) -> Listeners:
        if self._listeners is None:
            self._listeners = Listeners(self._stream, self._standing)
        return self._listeners


def _cut(scope: Scope) -> None:
    connection = scope.get("state", {}).get(connections.CONNECTION)
    if isinstance(connection, connections.Connection):
        connection.cut()


def _ours(error: AdonError) -> Answer:
    return _document(error.status, problems.to_document(error), getattr(error, "wait_s", 1.0))


def _refusal(status: HTTPStatus, detail: str) -> Answer:
    return _document(status, problems.http_document(status, status.phrase, detail), 1.0)


def _document(status: int, document: dict[str, Any], wait_s: float) -> Answer:
    """A problem document; what is left of the request is not read, so the connection ends with it."""
    body = json.dumps(document).encode() + b"\n"
    headers = [
        (b"content-type", problems.MEDIA_TYPE.encode()),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"connection", b"close"),
    ]
    if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        headers.append((b"retry-after", b"%d" % max(1, round(wait_s + 0.5))))
    return Answer(status, headers, body)


class WebServer(uvicorn.Server):
    """The server on sockets that listen already.

    :param stream: what happens; listeners are let go when the server ends.
    :param proxies: addresses whose word about the client counts (:mod:`apps.rest.proxies`).
    :param most: connections at once, and :param most_each: of one address that is no proxy; those above are
        answered with 503.
    :param standing: whom tokens prove now, so that no listener outstays one; None where none are revoked.
    """

    def __init__(
        self,
        app: Wsgi,
        stream: Stream,
        *,
        rates: Rates | None = None,
        proxies: Sequence[str] = (),
        most: int = CONNECTIONS,
        most_each: int = OF_ONE_ADDRESS,
        standing: Standing | None = None,
    ) -> None:
        self._composed = Composed(app, stream, rates, standing)
        places = Places(most, most_each, trusted(proxies))
        super().__init__(
            uvicorn.Config(
                behind(self._composed, proxies),
                loop="asyncio",
                http=functools.partial(connections.Connection, places=places),  # type: ignore[arg-type]
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                log_level=logging.WARNING,
                access_log=False,
                proxy_headers=False,  # of our own: see behind()
                server_header=False,
                headers=[("server", "adon")],
                backlog=512,
                timeout_keep_alive=KEEP_ALIVE_S,
                timeout_graceful_shutdown=END_WITHIN_S,
                h11_max_incomplete_event_size=connections.MAX_HEAD,
            )
        )
        self._most = most

    def serve_on(self, listener: socket.socket) -> None:
        """Serve until :meth:`stop`, SIGTERM or SIGINT."""
        _allow_descriptors(self._most)
        asyncio.run(self._serve_watching(listener))

    def stop(self) -> None:
        """End soon; may be called from anywhere, and from a signal's handler."""
        self.should_exit = True
        self._composed.close()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End by a signal, with exit status 0: uvicorn's own way would raise it again."""
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


def _allow_descriptors(connections_at_most: int) -> None:
    """Raise the soft limit of open files to what so many connections need, as far as the hard one goes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections_at_most + 512
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
