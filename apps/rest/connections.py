"""One connection of a client, and when it has had time enough.

uvicorn's HTTP/1.1 over h11, which reads strictly and bounds what it keeps of a request.  What is added:
whoever does not finish a request's head, or does not take what was sent, is cut off; nobody has more than
their share of the connections (:class:`Places`); a request that is not HTTP never ends in a stack
trace; and a refusal says 431 where the head was too large.
"""

from __future__ import annotations

import asyncio
import http
import logging
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from apps.rest.proxies import plain
from apps.rest.rate_windows import network_of

log = logging.getLogger(__name__)

MAX_HEAD = 32_768
"""Bytes of a request line and its headers."""
HEAD_S = 10.0
"""Seconds for them, from the first byte or from the connection on."""
UNTAKEN_S = 15.0
"""Seconds for the last bytes of an answer, which lie in the connection's own buffer."""
LOOK_EVERY_S = 1.0
CONNECTION = "connection"
"""Where a request's state names the connection that it came by."""


class Places:
    """Places for connections; lives on one thread.

    :param most: connections at once.
    :param most_each: of those, from one address; an IPv6 /64 is one.
    :param exempt: whether an address may have more: a proxy of ours brings everybody's connections.
    """

    def __init__(self, most: int, most_each: int, exempt: Callable[[str], bool] = lambda _: False) -> None:
        self._most, self._most_each, self._exempt = most, most_each, exempt
        self._taken: Counter[str] = Counter()

    def enter(self, address: str) -> bool:
        """Take a place; False if there is none for this address."""
        who = network_of(address)
        if self._taken.total() >= self._most:
            return False
        if self._taken[who] >= self._most_each and not self._exempt(address):
            return False
        self._taken[who] += 1
        return True

    def leave(self, address: str) -> None:
        """Give it back."""
        who = network_of(address)
        self._taken[who] -= 1
        if self._taken[who] <= 0:
            del self._taken[who]

    @property
    def taken(self) -> int:
        """How many are taken."""
        return self._taken.total()


class Connection(H11Protocol):
    """See the module."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        places: Places,
    ) -> None:
        super().__init__(config, server_state, {**app_state, CONNECTION: self}, _loop)
        self._head_since: float | None = self.loop.time()
        self._untaken_since: float | None = None
        self._places = places
        self._holds: str | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, or end at once if there is no place for one more."""
        super().connection_made(transport)
        address = plain("" if self.client is None else self.client[0])
        if self._places.enter(address):
            self._holds = address
        else:
            log.info("event=web.no-place client=%s", address)
            self._refuse(503)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        super().connection_lost(exc)
        if self._holds is not None:
            self._places.leave(self._holds)
            self._holds = None

    def data_received(self, data: bytes) -> None:
        """Take what has come; a request that cannot be read is refused and the connection ends."""
        if self._head_since is None and not self._working:
            self._head_since = self.loop.time()
        try:
            super().data_received(data)
        except (UnicodeDecodeError, h11.LocalProtocolError):
            self._refuse(400)
        if self._working:
            self._head_since = None

    def on_response_complete(self) -> None:
        """Be ready for the next request."""
        super().on_response_complete()
        if not self._working and self.conn.trailing_data[0]:
            self._head_since = self.loop.time()  # half of the next request came with this one

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, with the status that h11 advises."""
        del msg
        error = sys.exception()
        self._refuse(error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400)

    def cut(self) -> None:
        """End the connection now, whatever waits to be sent."""
        if self.cycle is not None:
            self.cycle.disconnected = True
        self.transport.abort()

    def look(self, now: float) -> None:
        """Cut the client off if it has had time enough."""
        if self._head_since is not None and now - self._head_since > HEAD_S:
            log.info("event=web.slow-client cause=head client=%s", self.client)
            self.cut()
            return
        if self._working or self.transport.get_write_buffer_size() == 0:
            self._untaken_since = None  # while an answer is being made, whoever makes it watches the time
        elif self._untaken_since is None:
            self._untaken_since = now
        elif now - self._untaken_since > UNTAKEN_S:
            log.info("event=web.slow-client cause=answer client=%s", self.client)
            self.cut()

    @property
    def _working(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _refuse(self, status: int) -> None:
        if self.transport.is_closing():
            return
        phrase = http.HTTPStatus(status).phrase.encode()
        if self._working:
            self.cut()  # in the middle of an answer there is no room for another
            return
        line = b"HTTP/1.1 %d %s\r\nserver: adon\r\nconnection: close\r\n" % (status, phrase)
        kind = b"content-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\n\r\n" % len(phrase)
        self.transport.write(line + kind + phrase)
        self.transport.close()


async def watch(state: ServerState) -> None:
    """Look after all connections, for ever."""
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        for one in list(state.connections):
            if isinstance(one, Connection):
                one.look(loop.time())
