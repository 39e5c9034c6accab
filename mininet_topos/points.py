"""Measurement points in the DTNs of a running testbed: real servers of :mod:`measurement.point`.

They listen on the management network only, so that asking them does not load what they measure.
"""

from __future__ import annotations

import ssl
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from adon.errors import Unavailable
from measurement.point import certificate
from mininet_topos.network_config import MEASUREMENT_POINT_PORT
from mininet_topos.testbed import Testbed
from mininet_topos.waiting import wait_until

READY_TIMEOUT = 20.0
STOP_TIMEOUT = 5.0


@contextmanager
def measurement_points(testbed: Testbed) -> Iterator[dict[str, Path]]:
    """Start a point in every host that has a management address; all end with the context.

    They share one certificate, made for this testbed, by which they also know each other.

    :returns: per host the PEM file to pin by whoever asks its point.
    :raises Unavailable: if one does not answer, with the end of its log.
    """
    addresses = {
        host.name: str(host.management.ip) for host in testbed.topology.hosts if host.management is not None
    }
    folder = testbed.folder / "points"
    folder.mkdir()
    pem, key = certificate.ensure(folder, list(addresses.values()))
    known = ("--certificate", str(pem), "--key", str(key), "--peer-verify", str(pem))
    with ExitStack() as stack:
        started = [
            (host, address, stack.enter_context(_point(testbed, host, address, known)))
            for host, address in addresses.items()
        ]
        for host, address, process in started:
            if not _answers(address, process):
                raise Unavailable(
                    f"the measurement point in {host} does not answer: {_last_lines(folder, host)}"
                )
        yield dict.fromkeys(addresses, pem)


@contextmanager
def _point(
    testbed: Testbed, host: str, address: str, known: Sequence[str]
) -> Iterator[subprocess.Popen[bytes]]:
    folder = testbed.folder / "points"
    listen = ("--host", address, "--port", str(MEASUREMENT_POINT_PORT), "--data", str(folder / host))
    with (folder / f"{host}.log").open("wb") as log:
        process = testbed.host(host).popen(
            [sys.executable, "-m", "measurement.point.main", "--name", host, *listen, *known],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        yield process
    finally:
        _end(process)


def _answers(address: str, process: subprocess.Popen[bytes]) -> bool:
    """Wait until it shows a certificate, or has ended."""

    def shown() -> bool:
        try:
            ssl.get_server_certificate((address, MEASUREMENT_POINT_PORT), timeout=1.0)
        except (OSError, ssl.SSLError):
            return False
        return True

    return wait_until(lambda: process.poll() is not None or shown(), READY_TIMEOUT) and process.poll() is None


def _last_lines(folder: Path, host: str) -> str:
    return " | ".join((folder / f"{host}.log").read_text(errors="replace").splitlines()[-3:])


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
