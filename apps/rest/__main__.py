"""The web process: ``python -m apps.rest --config FILE --data DIR``; normally started by ``adon serve``.

Exit status 2 for an input it refuses (starting it again would not help), 1 for what may pass.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import socket
import sys
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from cheroot import wsgi

from adon import config
from adon.errors import AdonError, InvalidInput
from apps.rest.app import create_app
from apps.rest.services import open_services
from apps.rest.sockets import inherited, listening

log = logging.getLogger("apps.rest")

THREADS = 16
NICENESS = 5
"""Who reads pages lets the controller go first where both want the processor."""
SLOW_CLIENT = 10
"""Seconds a client may keep a thread waiting for its bytes."""


class Server(wsgi.Server):
    """cheroot on a socket that listens already."""

    def __init__(self, listener: socket.socket, app: Any) -> None:
        self._listener = listener
        name = listener.getsockname()[:2]
        super().__init__(
            name, app, numthreads=THREADS, timeout=SLOW_CLIENT, request_queue_size=128, server_name="adon"
        )
        self.max_request_header_size = 32_768

    def bind(self, family: int, type: int, proto: int = 0) -> socket.socket:  # noqa: A002, ARG002
        """The socket that cheroot would have made here."""
        self.socket = self._listener
        return self._listener


def main(arguments: list[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT; the exit status."""
    options = _options(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        return _serve(options)
    except AdonError as error:
        log.error("event=web.refused error=%r", str(error))  # noqa: TRY400 - the trace tells nothing more
        return 2 if isinstance(error, InvalidInput) else 1


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m apps.rest", description="ADON's REST API and page.")
    parser.add_argument("--config", type=Path, required=True, help="the configuration file")
    parser.add_argument("--data", type=Path, required=True, help="the folder of databases and sockets")
    parser.add_argument("--store", help="database URL (default: state.db in the data folder)")
    parser.add_argument("--listen-fd", type=int, help="descriptor of a socket that listens already")
    return parser.parse_args(arguments)


def _serve(options: argparse.Namespace) -> int:
    os.nice(NICENESS)
    configuration = config.load(options.config)
    where = configuration.controller
    descriptor = options.listen_fd
    if descriptor is None:
        descriptor = inherited(os.environ, os.getpid())
    # cheroot has an idea of its own about these, which knows descriptor 3 only.
    for name in ("LISTEN_PID", "LISTEN_FDS"):
        os.environ.pop(name, None)
    try:
        listener = listening(where.web_host, where.web_port, descriptor)
    except OSError as error:
        raise InvalidInput.of("controller.web_port", f"cannot listen: {error.strerror}") from error
    with open_services(configuration, options.data, options.store, options.config) as services:
        server = Server(listener, create_app(services))
        signal.signal(signal.SIGTERM, _stop)
        log.info("event=web.listening host=%s port=%d", *listener.getsockname()[:2])
        try:
            server.start()
        except KeyboardInterrupt:
            log.info("event=web.stopping")
        finally:
            services.stream.close()  # whoever listens must not keep the server from stopping
            server.stop()
    return 0


def _stop(_number: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
