"""Ports for servers that cannot take port 0: they must be known before the server starts."""

from __future__ import annotations

import itertools
import os
import random
import socket

LEAST, MOST = 10_000, 32_000
"""Below what Linux gives to outgoing connections (``ip_local_port_range``): none takes it meanwhile."""

_next = itertools.count(random.Random(os.getpid()).randrange(MOST - LEAST))


def free_port() -> int:
    """A port of loopback at which nobody listens; this process gives it once only."""
    for number in _next:
        port = LEAST + number % (MOST - LEAST)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    raise AssertionError("counting has no end")
