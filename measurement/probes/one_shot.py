"""Carry out one order from this host, without an agent here, and print the report as JSON.

``python -m measurement.probes.one_shot --key FILE --target HOST [--port N] [--probes JSON]``
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
import threading
from pathlib import Path
from typing import Any

from measurement.instances import PORT
from measurement.probes.agent import AgentLimits
from measurement.probes.documents import from_document, to_document
from measurement.probes.probe_types import ProbeOrder
from measurement.probes.prober import LoadSlots, Prober
from measurement.probes.secure_channel import read_key


def main() -> int:
    """0 with a report, whatever it contains; 1 with a cause on standard error."""
    parser = argparse.ArgumentParser(prog="measurement.probes.one_shot", description=__doc__)
    parser.add_argument("--key", type=Path, required=True, help="file with the key, mode 0600")
    parser.add_argument("--target", required=True, help="address or name of the host to probe")
    parser.add_argument("--port", type=int, default=PORT, help="of its agent (default: %(default)s)")
    parser.add_argument(
        "--probes", default='[{"kind": "udp"}]', help="JSON list; see docs/health-and-probes.md"
    )
    arguments = parser.parse_args()
    try:
        key = read_key(arguments.key)
        target = {"name": "target", "address": _resolve(arguments.target), "port": arguments.port}
        document = {"target": target, "probes": _parse_json(arguments.probes)}
        order = from_document(ProbeOrder, document, "order")
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    report = Prober(key, LoadSlots(AgentLimits().loads)).carry_out(order, threading.Event())
    sys.stdout.write(json.dumps(to_document(report)) + "\n")
    return 0


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


if __name__ == "__main__":
    sys.exit(main())
