"""Carry out one order from this host, without an agent here, and print the report as JSON.

``python -m measurement.probes.once --key FILE --target HOST [--port N] [--probes JSON]``
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import sys
from pathlib import Path
from typing import Any

from measurement.instances import PORT
from measurement.probes.documents import order_from_json, report_to_json
from measurement.probes.findings import Report
from measurement.probes.key import read_key
from measurement.probes.orders import Order
from measurement.probes.prober import Prober
from measurement.probes.service import Limits
from measurement.probes.threads import Loads, Threads


def main() -> int:
    """0 with a report, whatever it says; 1 with a reason on standard error."""
    parser = argparse.ArgumentParser(prog="measurement.probes.once", description=__doc__)
    parser.add_argument("--key", type=Path, required=True, help="file with the key, mode 0600")
    parser.add_argument("--target", required=True, help="address or name of the host to probe")
    parser.add_argument("--port", type=int, default=PORT, help="of its agent (default: %(default)s)")
    parser.add_argument(
        "--probes", default='[{"kind": "udp"}]', help="JSON list; see docs/health-and-probes.md"
    )
    arguments = parser.parse_args()
    try:
        key = read_key(arguments.key)
        order = order_from_json(
            {
                "target": {
                    "name": "target",
                    "address": _address(arguments.target),
                    "port": arguments.port,
                },
                "probes": _json(arguments.probes),
            }
        )
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    report = asyncio.run(_carried_out(order, key))
    sys.stdout.write(json.dumps(report_to_json(report)) + "\n")
    return 0


async def _carried_out(order: Order, key: bytes) -> Report:
    threads = Threads()
    try:
        return await Prober(key, threads, Loads(Limits().loads)).carry_out(order)
    finally:
        threads.close()


def _address(host: str) -> str:
    try:
        return str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError as error:
        raise ValueError(f"target: {host[:80]!r}: {error.strerror}") from None
    except UnicodeError:
        raise ValueError(f"target: {host[:80]!r} is no name of a host") from None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("probes: is no JSON") from None


if __name__ == "__main__":
    sys.exit(main())
