"""The web process: ``python -m apps.rest --config FILE --data DIR``; normally started by ``adon serve``.

It waits for its databases when it starts.  The exit status of an error is :func:`~adon.errors.exit_status`.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import sys
from contextlib import ExitStack
from pathlib import Path

from adon import config
from adon.errors import AdonError, InvalidInput, exit_status
from apps.database_wait import wait_for
from apps.rest import heaps
from apps.rest.services import open_services
from apps.rest.serving import WebServer
from apps.rest.site import Site
from apps.rest.sockets import inherited, listening

log = logging.getLogger("apps.rest")

YOUNG_OBJECTS = 50_000
"""New objects between two looks for cycles; most answers make fewer and leave none behind."""
HEAPS = 2
"""Of the C library, for all threads together."""
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
    heaps.at_most(HEAPS)
    configuration = config.load(options.config)
    where = configuration.controller
    descriptor = options.listen_fd
    if descriptor is None:
        descriptor = inherited(os.environ, os.getpid())
    try:
        listener = listening(where.web_host, where.web_port, descriptor)
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
            rates=services.rates,
            proxies=[*map(str, where.web_proxies)],
            most=where.web_limits.connections,
            most_each=where.web_limits.connections_per_address,
            standing=lambda ids: services.access.tokens.standing(ids, services.clock()),
        )
        settle()
        log.info("event=web.listening host=%s port=%d", *listener.getsockname()[:2])
        server.serve_on(listener)
        log.info("event=web.stopping")
    return 0


if __name__ == "__main__":
    sys.exit(main())
