"""``adon-measurement-point``: run a measurement point until SIGTERM or SIGINT.

See ``docs/measurement-point.md`` for running one by hand.
"""

from __future__ import annotations

import argparse
import ipaddress
import logging
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from cheroot.ssl.builtin import BuiltinSSLAdapter
from cheroot.wsgi import Server

from measurement.point import certificate
from measurement.point.engine import Engine
from measurement.point.peers import PeerSettings
from measurement.point.server import Settings, create_app
from measurement.point.store import Store
from measurement.pscheduler.transport import Verify

LOG = logging.getLogger("measurement.point")
WORKERS = 10
PRIVATE = (
    "127.0.0.0/8",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "::1/128",
    "fc00::/7",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the point; returns the exit status."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO,
        format="time=%(asctime)s level=%(levelname)s logger=%(name)s %(message)s",
    )
    try:
        options.data.mkdir(parents=True, exist_ok=True)
        return _serve(options)
    except OSError as error:
        LOG.critical('event=cannot_start cause="%s"', error)
        return 1


def _serve(options: argparse.Namespace) -> int:
    engine = Engine(
        Store(),
        PeerSettings("http" if options.plain_http else "https", options.peer_verify),
        range(options.test_ports[0], options.test_ports[1] + 1),
    )
    allow = options.allow if options.allow is not None else [ipaddress.ip_network(n) for n in PRIVATE]
    app = create_app(engine, Settings(options.name, allow))
    server = Server((options.host, options.port), app, numthreads=WORKERS, max=2 * WORKERS)
    server.shutdown_timeout = 1
    if not options.plain_http:
        server.ssl_adapter = BuiltinSSLAdapter(*map(str, _certificate(options)))
    if options.peer_verify is False:
        LOG.warning("event=peers_not_verified")
    server.prepare()
    stop = threading.Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    worker = threading.Thread(target=server.serve, name="http", daemon=True)
    worker.start()
    scheme = "http" if options.plain_http else "https"
    LOG.info("event=ready url=%s://%s:%d/pscheduler", scheme, options.host, server.bind_addr[1])
    while not stop.wait(1.0):
        if not worker.is_alive():
            LOG.error("event=http_server_died")
            break
    died = not stop.is_set()
    engine.stop()
    server.stop()
    LOG.info("event=stopped")
    return 1 if died else 0


def _certificate(options: argparse.Namespace) -> tuple[Path, Path]:
    if options.certificate is not None:
        return options.certificate, options.key if options.key is not None else options.certificate
    return certificate.ensure(options.data, [options.name, options.host, "localhost", "127.0.0.1"])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="adon-measurement-point", description="A small server that speaks pScheduler's REST API."
    )
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="management address to listen on (default: %(default)s)")
    add("--port", type=int, default=4443, help="0 takes a free one (default: %(default)s)")
    add("--data", type=Path, required=True, metavar="DIR", help="where its certificate is kept")
    add("--name", default=socket.gethostname(), help="what it calls itself (default: %(default)s)")
    add(
        "--certificate",
        type=Path,
        metavar="PEM",
        help="certificate (default: DIR/point.pem, made if missing)",
    )
    add("--key", type=Path, metavar="PEM", help="its private key, if not in the same file")
    add("--plain-http", action="store_true", help="no TLS, neither here nor towards other points")
    add(
        "--peer-verify",
        type=_verify,
        default=True,
        metavar="system|none|PEM",
        help="how other points' certificates are checked (default: system)",
    )
    add(
        "--allow",
        action="append",
        type=ipaddress.ip_network,
        metavar="NETWORK",
        help="who may ask for tests; repeatable (default: loopback and private networks)",
    )
    add("--test-ports", type=_ports, default=(5201, 5299), metavar="LOW-HIGH", help="for iperf3 servers")
    return parser


def _verify(text: str) -> Verify:
    if text in ("system", "none"):
        return text == "system"
    if not Path(text).is_file():
        raise argparse.ArgumentTypeError(f"{text!r} is neither system, none nor a file")
    return text


def _ports(text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    try:
        found = int(low), int(high)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not LOW-HIGH") from None
    if not 0 < found[0] <= found[1] < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is not a range of ports")
    return found


if __name__ == "__main__":
    sys.exit(main())
