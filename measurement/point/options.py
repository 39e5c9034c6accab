"""The command line of ``adon-measurement-point``."""

from __future__ import annotations

import argparse
import ipaddress
import socket
from pathlib import Path

from measurement.pscheduler.transport import Verify

TRUST_FILE = "trust.toml"


def parser() -> argparse.ArgumentParser:
    """The options; see ``docs/perfsonar-and-measurement-point.md``."""
    made = argparse.ArgumentParser(
        prog="adon-measurement-point", description="A small server that speaks pScheduler's REST API."
    )
    made.add_argument("--data", type=Path, required=True, metavar="DIR", help="where its certificate is kept")
    made.add_argument(
        "--name", default=socket.gethostname(), help="what it calls itself (default: %(default)s)"
    )
    made.add_argument(
        "--metrics", type=Path, metavar="TOML", help="its custom metrics (default: those of the host itself)"
    )
    made.add_argument(
        "--probe-key", type=Path, metavar="FILE", help="key of other hosts' adon-probe-agent, mode 0600"
    )
    _listening(made.add_argument_group("where it listens"))
    _trusting(made.add_argument_group("whom it trusts"))
    return made


def _listening(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--host", default="127.0.0.1", help="management address to listen on (default: %(default)s)")
    add("--port", type=int, default=4443, help="0 takes a free one (default: %(default)s)")
    add(
        "--certificate",
        type=Path,
        metavar="PEM",
        help="certificate (default: DIR/point.pem, made if missing)",
    )
    add("--key", type=Path, metavar="PEM", help="its private key, if not in the same file")
    add("--plain-http", action="store_true", help="no TLS, neither here nor towards other points")
    add("--test-ports", type=_ports, default=(5201, 5299), metavar="LOW-HIGH", help="for iperf3 servers")


def _trusting(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--trust",
        type=Path,
        metavar="TOML",
        help=f"the controllers and points it knows (default: DIR/{TRUST_FILE} if it is there; "
        "without one only this host may have it measure)",
    )
    add(
        "--allow",
        action="append",
        type=ipaddress.ip_network,
        metavar="NETWORK",
        help="make it measure from there only, whoever asks; repeatable",
    )
    add(
        "--open",
        action="store_true",
        help="without a trust file: let every host of --allow (default: private networks) have it measure",
    )
    add(
        "--peer-verify",
        type=_verify,
        default=True,
        metavar="system|none|PEM",
        help="how other points' certificates are checked (default: system)",
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
