"""A socket that sFlow agents send to."""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from measurement.profiling import sflow
from measurement.profiling.sampled import Sampled, Sampling
from measurement.profiling.tasks import Tasks

LARGEST = 65_535
BUFFER = 4 * 2**20
"""Bytes that the kernel keeps for us, if it may: a second of many agents' datagrams."""
LOOK_S = 0.2
"""How often it is asked whether to stop."""


@contextmanager
def open_socket(address: str, port: int = sflow.PORT) -> Iterator[socket.socket]:
    """A socket at an address of this machine.

    :raises OSError: if it cannot be had.
    """
    family = socket.AF_INET6 if ipaddress.ip_address(address).version == 6 else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as made:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        made.bind((address, port))
        made.settimeout(LOOK_S)
        yield made


def listen(bound_to: socket.socket, tasks: Tasks, enough: Callable[[], bool]) -> tuple[Sampled, int]:
    """Take what comes until it is enough; what was found, and how many datagrams were no sFlow."""
    sampling, refused, began = Sampling(tasks), 0, time.time()
    while not enough():
        try:
            data = bound_to.recv(LARGEST)
        except TimeoutError:
            continue
        try:
            sampling.add(sflow.read(data))
        except ValueError:
            refused += 1
    return sampling.found(began, time.time()), refused
