"""The web process: ``python -m apps.rest --config FILE --data DIR``; normally started by ``adon serve``.

It waits for its databases when it starts.  The exit status of an error is :func:`~adon.errors.exit_status`.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import logging
import os
import socket
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from adon import config
from adon.errors import AdonError, InvalidInput, exit_status
from apps.database_wait import wait_for
from apps.rest.services import open_services
from apps.rest.web_app import Site
from apps.rest.web_server import WebServer

log = logging.getLogger("apps.rest")

YOUNG_OBJECTS = 50_000
"""New objects between two looks for cycles; most answers make fewer and leave none behind."""
HEAPS = 2
"""Heaps of the C library, for all threads together."""
M_ARENA_MAX = -8
"""Parameter of mallopt(3)."""
FIRST_DESCRIPTOR = 3
"""First descriptor that systemd passes (sd_listen_fds(3))."""
NICENESS = 5
"""Who reads pages lets the controller go first where both want the processor."""


def main(arguments: list[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT; the exit status."""
    options = _options(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        return _serve(options)
    except AdonError as error:
        log.error("event=web.refused error=%r", str(error))  # noqa: TRY400 - the trace tells nothing more
        return exit_status(error)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m apps.rest", description="ADON's REST API and dashboard.")
    parser.add_argument("--config", type=Path, required=True, help="the configuration file")
    parser.add_argument("--data", type=Path, required=True, help="the folder of databases and sockets")
    parser.add_argument("--store", help="database URL (default: state.db in the data folder)")
    parser.add_argument("--listen-fd", type=int, help="descriptor of a socket that listens already")
    return parser.parse_args(arguments)


def _limit_heaps() -> None:
    """Make all threads share :data:`HEAPS` heaps; called before there are threads.

    glibc gives each thread a heap of its own, up to eight per processor, and one thread cannot use the free
    memory of another: with sixteen threads that make large answers, the process grows.  Python's threads
    seldom wait for a heap, since only one of them runs at a time.  Other C libraries have no such heaps.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_ARENA_MAX, HEAPS)


def _inherited_descriptor(environment: Mapping[str, str], pid: int) -> int | None:
    """Return the descriptor that systemd's protocol hands to this process, or None.

    A supervisor in between does not know this process id and leaves ``LISTEN_PID`` out.
    """
    if environment.get("LISTEN_FDS") != "1":
        return None
    meant_for = environment.get("LISTEN_PID")
    return FIRST_DESCRIPTOR if meant_for is None or meant_for == str(pid) else None


def _open_listener(host: str, port: int, descriptor: int | None) -> socket.socket:
    """Return the socket to serve on.

    :param descriptor: a listening socket that was handed to this process; None to open one.
    :raises OSError: if the address is taken, or the descriptor is no socket.
    """
    if descriptor is None:
        descriptor = socket.create_server((host, port), backlog=128).detach()
    os.set_inheritable(descriptor, False)
    # Made of a descriptor, a socket knows that its protocol is TCP, and so do those that it accepts:
    # asyncio turns Nagle's algorithm off (RFC 896) for no others, and every answer would wait 40 ms.
    return socket.socket(fileno=descriptor)


def settle() -> None:
    """Tell Python's collector of cycles that what is loaded by now stays.

    It goes through everything it knows of now and then, while every request waits: modules, models and
    pages are hundreds of thousands of objects.  What comes after them is little.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)


def _serve(options: argparse.Namespace) -> int:
    os.nice(NICENESS)
    _limit_heaps()
    configuration = config.load(options.config)
    where = configuration.controller
    descriptor = options.listen_fd
    if descriptor is None:
        descriptor = _inherited_descriptor(os.environ, os.getpid())
    try:
        listener = _open_listener(where.web_host, where.web_port, descriptor)
    except OSError as error:
        raise InvalidInput.of("controller.web_port", f"cannot listen: {error.strerror}") from error
    with ExitStack() as ends:
        services = wait_for(
            "state and access",
            lambda: ends.enter_context(
                open_services(configuration, options.data, options.store, options.config)
            ),
        )
        server = WebServer(
            Site(services),
            services.stream,
            proxies=[*map(str, where.web_proxies)],
            most_connections=where.web_limits.connections,
            standing=lambda ids: services.access.tokens.list_actors(ids, services.clock()),
        )
        settle()
        log.info("event=web.listening host=%s port=%d", *listener.getsockname()[:2])
        server.serve_on(listener)
        log.info("event=web.stopping")
    return 0


if __name__ == "__main__":
    sys.exit(main())
