"""Fixture for tests that read the kernel's time stamps."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from measurement.probes.kernel_timestamps import ANCILLARY, enable_receive_timestamps, read_packet_info


@pytest.fixture(scope="module")
def kernel_times_packets() -> Iterator[None]:
    """Wait until the kernel times packets, which it starts some time after the first socket asks for it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        enable_receive_timestamps(sock)
        software = None
        while software is None:
            sock.sendto(b"x", sock.getsockname())
            software = read_packet_info(sock.recvmsg(1, ANCILLARY)[1]).software
        yield
