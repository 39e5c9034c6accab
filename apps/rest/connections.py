"""Connections of clients, with time limits.

uvicorn's HTTP/1.1 over h11, which reads strictly and bounds the memory of a request.  In addition, a client
that does not complete a request's head or does not take its answer is disconnected, a request that is not
HTTP leaves no stack trace, and a head that is too large is refused with 431.
"""

from __future__ import annotations

import asyncio
import http
import logging
import sys
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

log = logging.getLogger(__name__)

MAX_HEAD = 32_768
"""Bytes of a request line and its headers."""
HEAD_S = 10.0
"""Seconds for a head, from its first byte or from the start of the connection."""
UNTAKEN_S = 15.0
"""Seconds for the last bytes of an answer, which are in the connection's own buffer."""
LOOK_EVERY_S = 1.0
CONNECTION = "connection"
"""Key of a request's state for its connection."""


class Connection(H11Protocol):
    """See the module."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, CONNECTION: self}, _loop)
        self._head_since: float | None = self.loop.time()
        self._untaken_since: float | None = None

    def data_received(self, data: bytes) -> None:
        """Read received bytes; a request that cannot be read is refused, and the connection ends."""
        if self._head_since is None and not self._working:
            self._head_since = self.loop.time()
        try:
            super().data_received(data)
        except (UnicodeDecodeError, h11.LocalProtocolError):
            self._refuse(400)
        if self._working:
            self._head_since = None

    def on_response_complete(self) -> None:
        """Prepare for the next request."""
        super().on_response_complete()
        if not self._working and self.conn.trailing_data[0]:
            self._head_since = self.loop.time()  # half of the next request came with this one

    def send_400_response(self, msg: str) -> None:
        """Refuse bytes that are not HTTP, with the status that h11 gives."""
        del msg
        error = sys.exception()
        self._refuse(error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400)

    def cut(self) -> None:
        """End the connection now, also with unsent bytes."""
        if self.cycle is not None:
            self.cycle.disconnected = True
        self.transport.abort()

    def look(self, now: float) -> None:
        """Disconnect the client if its time is over."""
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
    """Check the time limits of all connections, without end."""
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        for one in list(state.connections):
            if isinstance(one, Connection):
                one.look(loop.time())
