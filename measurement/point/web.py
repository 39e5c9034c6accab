"""The point's HTTP(S) server: cheroot.

Who connects and then says nothing must not hold up the others: a connection waits outside until its client
has sent something, and the handshake is made by the worker that then reads the request, not by the thread
that accepts connections.
"""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any

from cheroot.server import HTTPConnection
from cheroot.ssl.builtin import BuiltinSSLAdapter
from cheroot.wsgi import Server
from flask import Flask

from measurement.errors import shorten

LOG = logging.getLogger(__name__)
WORKERS = 10  # as many as a stock pScheduler
BACKLOG = 128
"""Connections that may wait to be accepted; of more TCP drops the SYN, and they come again after a second."""
PATIENCE = 10.0
HANDSHAKE = 3.0
"""Seconds that a client may be silent in the middle of a request, or of a handshake."""


class WebServer(Server):
    """A server that listens at once, and serves when it has been given an application.

    :param certificate: PEM files of certificate and key; None for plain HTTP.
    :param largest: bytes that a request's body may have.
    :raises OSError: for an address that cannot be bound, or a certificate that cannot be read.
    """

    def __init__(self, address: tuple[str, int], certificate: tuple[Path, Path] | None, largest: int) -> None:
        super().__init__(address, None, numthreads=WORKERS, max=2 * WORKERS, request_queue_size=BACKLOG)
        self.timeout = PATIENCE
        self.shutdown_timeout = 1
        self.max_request_body_size = largest
        self.max_request_header_size = 65_536  # a test's specification may travel in the query
        self.ConnectionClass = _Connection
        if certificate is not None:
            self.ssl_adapter = _Adapter(*map(str, certificate))
        self._scheme = "http" if certificate is None else "https"
        self._host = f"[{address[0]}]" if ":" in address[0] else address[0]
        self._thread: threading.Thread | None = None
        self.prepare()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"{self._scheme}://{self._host}:{self.bind_addr[1]}"

    def begin(self, app: Flask) -> None:
        """Serve an application, in a thread, until :meth:`stop`."""
        self.wsgi_app = app
        self._thread = threading.Thread(target=self.serve, name="http", daemon=True)
        self._thread.start()

    @property
    def serving(self) -> bool:
        """False when its thread has died."""
        return self._thread is not None and self._thread.is_alive()

    def process_conn(self, conn: Any) -> None:
        """Take up a connection that has something to say; a new one is watched until it has."""
        if conn.heard:
            super().process_conn(conn)
        else:
            conn.heard = True
            self._connections.put(conn)  # type: ignore[attr-defined]  # missing in cheroot's stubs

    def error_log(self, msg: str = "", level: int = logging.INFO, traceback: bool = False) -> None:
        """Log a complaint in one line."""
        LOG.log(max(level, logging.WARNING), 'event=http cause="%s"', shorten(msg), exc_info=traceback)


class _Adapter(BuiltinSSLAdapter):
    def wrap(self, sock: Any) -> tuple[Any, dict[str, Any]]:
        return self.context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False), {}


class _Connection(HTTPConnection):
    heard = False

    def communicate(self) -> bool:
        if self.server.ssl_adapter is not None and not self.ssl_env:
            try:
                self.socket.settimeout(HANDSHAKE)
                self.socket.do_handshake()
                self.socket.settimeout(PATIENCE)
            except OSError as error:
                LOG.warning(
                    'event=refused address=%s cause="TLS handshake: %s"',
                    self.remote_addr,
                    shorten(str(error)),
                )
                return False
            self.ssl_env = self.server.ssl_adapter.get_environ(self.socket)
        return bool(super().communicate())  # type: ignore[no-untyped-call]
