"""The command line of ``adon-measurement-point``."""

from __future__ import annotations

import argparse
import ipaddress
import socket
from pathlib import Path

from measurement.pscheduler.transport import Verify

TRUST_FILE = "trust.toml"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options (docs/perfsonar-and-measurement-point.md)."""
    made = argparse.ArgumentParser(
        prog="adon-measurement-point", description="Measurement point of ADON with pScheduler's REST API."
    )
    made.add_argument(
        "--data", type=Path, required=True, metavar="DIR", help="folder of certificate and trust file"
    )
    made.add_argument(
        "--name", default=socket.gethostname(), help="name of this point (default: %(default)s)"
    )
    made.add_argument(
        "--metrics", type=Path, metavar="TOML", help="custom metrics (default: metrics of the host itself)"
    )
    made.add_argument(
        "--probe-key", type=Path, metavar="FILE", help="key shared with the probe agents, mode 0600"
    )
    _listening(made.add_argument_group("network"))
    _trusting(made.add_argument_group("access"))
    return made


def _listening(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--host", default="127.0.0.1", help="address of the REST server (default: %(default)s)")
    add("--port", type=int, default=4443, help="its TCP port; 0: a free one (default: %(default)s)")
    add(
        "--certificate",
        type=Path,
        metavar="PEM",
        help="server certificate (default: self-signed in DIR/point.pem)",
    )
    add("--key", type=Path, metavar="PEM", help="private key, if not in the same file")
    add("--plain-http", action="store_true", help="no TLS, for this server and towards other points")
    add(
        "--test-ports",
        type=_ports,
        default=(5201, 5299),
        metavar="LOW-HIGH",
        help="TCP and UDP ports of tests (default: 5201-5299)",
    )


def _trusting(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--trust",
        type=Path,
        metavar="TOML",
        help=f"known controllers and points (default: DIR/{TRUST_FILE} if it exists; "
        "without it only this host may start tests)",
    )
    add(
        "--allow",
        action="append",
        type=ipaddress.ip_network,
        metavar="NETWORK",
        help="accept tests only from this network; repeatable",
    )
    add(
        "--open",
        action="store_true",
        help="without a trust file: every host of --allow (default: private networks) may start tests",
    )
    add(
        "--peer-verify",
        type=_verify,
        default=True,
        metavar="system|none|PEM",
        help="verification of other points' certificates (default: system)",
    )


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
