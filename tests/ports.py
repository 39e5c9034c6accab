"""Ports for servers that cannot take port 0: they must be known before the server starts."""

from __future__ import annotations

import itertools
import os
import socket

LEAST, MOST = 12_000, 32_000
"""Below what Linux gives to outgoing connections (``ip_local_port_range``): none takes it meanwhile.  Above
those that browsers never open (fetch.spec.whatwg.org, bad ports: the highest is 10080)."""
ROW, LANES = 10, 8
"""Ports that are given together; processes of a test run that have ports of their own."""


def _rows() -> itertools.cycle[int]:
    """First ports of rows, for this process alone: two that run at once look in different lanes."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")  # gw0, gw1, …; none where one process runs all
    lane = int(worker.removeprefix("gw")) % LANES if worker else LANES - 1 - os.getpid() % 2
    width = (MOST - LEAST) // LANES
    first = LEAST + lane * width
    return itertools.cycle(range(first, first + width - ROW + 1, ROW))


_next = _rows()


def free_port() -> int:
    """A port of loopback at which nobody listens."""
    return free_ports()[0]


def free_ports() -> range:
    """:data:`ROW` of them, given to nobody else for a while; at the first nobody listens."""
    for first in _next:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", first))
            except OSError:
                continue
        return range(first, first + ROW)
    raise AssertionError("a cycle has no end")
