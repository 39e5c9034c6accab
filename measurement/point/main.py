"""``adon-measurement-point``: run a measurement point until SIGTERM or SIGINT; SIGHUP rereads its trust file.

See ``docs/perfsonar-and-measurement-point.md`` for running one by hand.
"""

from __future__ import annotations

import argparse
import logging
import queue
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from measurement.custom.registry import available
from measurement.errors import MeasurementError
from measurement.point import certificate, options
from measurement.point.access import Doorkeeper
from measurement.point.api import LARGEST_BODY, Settings, create_app
from measurement.point.engine import Engine
from measurement.point.metrics import Metrics
from measurement.point.peers import PeerSettings
from measurement.point.store import Store
from measurement.point.trust import Network
from measurement.point.web import WebServer

LOG = logging.getLogger("measurement.point")

Pair = tuple[Path, Path]
"""Files of a certificate and its key."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the point; returns the exit status."""
    given = options.parser().parse_args(arguments)
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO,
        format="time=%(asctime)s level=%(levelname)s logger=%(name)s %(message)s",
    )
    try:
        given.data.mkdir(parents=True, exist_ok=True)
        return _serve(given)
    except (OSError, ValueError, MeasurementError) as error:
        LOG.critical('event=cannot_start cause="%s"', error)
        return 1


def _serve(given: argparse.Namespace) -> int:
    doorkeeper = Doorkeeper(_trust_file(given), _networks(given), opened=given.open)
    pair = None if given.plain_http else _certificate(given)
    server = WebServer((given.host, given.port), pair, LARGEST_BODY)
    ports = range(given.test_ports[0], given.test_ports[1] + 1)
    metrics = Metrics(available(given.metrics))
    engine = Engine(Store(), _towards_peers(given, doorkeeper), metrics, ports, given.probe_key)
    stop = _told_to_stop(doorkeeper)
    server.begin(create_app(engine, Settings(given.name, doorkeeper.access)))
    LOG.info("event=ready url=%s/pscheduler", server.url)
    while server.serving and not _came(stop, 1.0):
        pass
    died = not server.serving
    engine.stop()
    server.stop()
    LOG.info("event=%s", "http_server_died" if died else "stopped")
    return 1 if died else 0


def _came(stop: queue.SimpleQueue[int], seconds: float) -> bool:
    try:
        stop.get(timeout=seconds)
    except queue.Empty:
        return False
    return True


def _told_to_stop(doorkeeper: Doorkeeper) -> queue.SimpleQueue[int]:
    # Not an event: its lock may be held by the very thread that the handler interrupts.
    stop: queue.SimpleQueue[int] = queue.SimpleQueue()

    def on_stop(number: int, _frame: FrameType | None) -> None:
        stop.put(number)

    def on_reload(_number: int, _frame: FrameType | None) -> None:
        doorkeeper.reload()

    signal.signal(signal.SIGTERM, on_stop)
    signal.signal(signal.SIGINT, on_stop)
    signal.signal(signal.SIGHUP, on_reload)
    return stop


def _trust_file(given: argparse.Namespace) -> Path | None:
    usual = Path(given.data) / options.TRUST_FILE
    chosen: Path | None = given.trust
    return usual if chosen is None and usual.exists() else chosen


def _networks(given: argparse.Namespace) -> tuple[Network, ...] | None:
    return None if given.allow is None else tuple(given.allow)


def _certificate(given: argparse.Namespace) -> Pair:
    if given.certificate is not None:
        return given.certificate, given.key if given.key is not None else given.certificate
    return certificate.ensure(given.data, [given.name, given.host, "localhost", "127.0.0.1"])


def _towards_peers(given: argparse.Namespace, doorkeeper: Doorkeeper) -> PeerSettings:
    if given.peer_verify is False:
        LOG.warning("event=peers_not_verified")

    def token_for(node: str) -> str | None:
        trust = doorkeeper.access().trust
        return None if trust is None else trust.token_for(node)

    return PeerSettings("http" if given.plain_http else "https", given.peer_verify, token_for)


if __name__ == "__main__":
    sys.exit(main())
