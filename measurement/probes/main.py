"""``adon-probe-agent``: the probe agent of an instance as a process, or one order without an agent here."""

from __future__ import annotations

import argparse
import gc
import json
import logging
import signal
import socket
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

from measurement.instances import PORT
from measurement.probes.agent import AgentLimits, ProbeAgent
from measurement.probes.documents import from_document, to_document
from measurement.probes.probe_types import ProbeOrder
from measurement.probes.prober import LoadSlots, Prober
from measurement.probes.secure_channel import read_key, write_key


def main() -> int:
    """Run until SIGTERM or SIGINT, or for one order; return 1, with the cause, if it cannot start."""
    arguments = _parser().parse_args()
    logging.basicConfig(
        level=logging.INFO if arguments.verbose else logging.WARNING,
        format="time=%(asctime)s level=%(levelname)s %(message)s",
        stream=sys.stderr,
    )
    try:
        if arguments.new_key:
            write_key(arguments.key)
        elif arguments.target is not None:
            _carry_out(_read_order(arguments), read_key(arguments.key))
        else:
            _serve(arguments, read_key(arguments.key))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"adon-probe-agent: {error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="adon-probe-agent", description="Answer probes of other instances, and probe them on request."
    )
    parser.add_argument("--host", default="0.0.0.0", help="address to listen on (default: all of IPv4)")  # noqa: S104
    parser.add_argument(
        "--port",
        type=partial(_parse_number, 0, 65_535),
        default=PORT,
        help="TCP and UDP (default: %(default)s)",
    )
    parser.add_argument("--key", type=Path, required=True, help="file with the key, mode 0600")
    parser.add_argument("--new-key", action="store_true", help="make that file, and end")
    loads = "trains and transfers at a time (%(default)s)"
    parser.add_argument(
        "--loads", type=partial(_parse_number, 1, 10_000), default=AgentLimits().loads, help=loads
    )
    parser.add_argument("--verbose", action="store_true", help="log connections and refusals")
    once = parser.add_argument_group(
        "one order", "Probe a target from here, print the report as JSON, and end."
    )
    once.add_argument("--target", help="address or name of the host to probe; --port is of its agent")
    probes = "JSON list; see docs/health-and-probes.md"
    once.add_argument("--probes", default='[{"kind": "udp"}]', help=probes)
    return parser


def _serve(arguments: argparse.Namespace, key: bytes) -> None:
    gc.freeze()  # imported objects stay; with many agents on a host, examining them again costs them all
    try:
        agent = ProbeAgent(arguments.host, arguments.port, key, AgentLimits(loads=arguments.loads))
    except OSError as error:
        raise OSError(f"--host {arguments.host} --port {arguments.port}: {error.strerror}") from error
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: agent.stop())
    sys.stdout.write(f"event=ready port={agent.port}\n")
    sys.stdout.flush()
    agent.run()


def _carry_out(order: ProbeOrder, key: bytes) -> None:
    report = Prober(key, LoadSlots(AgentLimits().loads)).carry_out(order, threading.Event())
    sys.stdout.write(json.dumps(to_document(report)) + "\n")


def _read_order(arguments: argparse.Namespace) -> ProbeOrder:
    target = {"name": "target", "address": _resolve(arguments.target), "port": arguments.port}
    document = {"target": target, "probes": _parse_json(arguments.probes)}
    return from_document(ProbeOrder, document, "order")


def _resolve(host: str) -> str:
    try:
        return str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError as error:
        raise ValueError(f"target: {host[:80]!r}: {error.strerror}") from None
    except UnicodeError:
        raise ValueError(f"target: {host[:80]!r} is not the name of a host") from None


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("probes: is not JSON") from None


def _parse_number(least: int, most: int, text: str) -> int:
    if not text.isdecimal() or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number; expected {least} to {most}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
