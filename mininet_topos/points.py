"""Measurement points in the DTNs of a running testbed: real servers of :mod:`measurement.point`.

They listen on the management network only, so that asking them does not load what they measure.  Each has a
certificate of its own and a trust file: it measures for the testbed's controller, which it knows by a client
certificate, takes part in what the other points lead, and shows results to the controller only.
"""

from __future__ import annotations

import ssl
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from adon.errors import Unavailable
from measurement.point import certificate
from measurement.point.options import TRUST_FILE
from mininet_topos.network_config import MEASUREMENT_POINT_PORT
from mininet_topos.testbed import Testbed
from mininet_topos.waiting import wait_until

READY_TIMEOUT = 20.0
STOP_TIMEOUT = 5.0
CONTROLLER = "controller"


@dataclass(frozen=True, slots=True)
class Points:
    """Measurement points that run.

    :param certificates: per host the PEM file to pin by whoever asks its point.
    :param controller: PEM files of the certificate and key that the points know their controller by.
    """

    certificates: Mapping[str, Path]
    controller: tuple[Path, Path]


@contextmanager
def measurement_points(testbed: Testbed) -> Iterator[Points]:
    """Start a point in every host that has a management address; all end with the context.

    :raises Unavailable: if one does not answer, with the end of its log.
    """
    addresses = {
        host.name: str(host.management.ip) for host in testbed.topology.hosts if host.management is not None
    }
    folder = testbed.folder / "points"
    points = introduce(folder, addresses)
    with ExitStack() as stack:
        started = [
            (host, address, stack.enter_context(_point(testbed, host, address)))
            for host, address in addresses.items()
        ]
        for host, address, process in started:
            if not _answers(address, process):
                raise Unavailable(
                    f"the measurement point in {host} does not answer: {_last_lines(folder, host)}"
                )
        yield points


def introduce(folder: Path, addresses: Mapping[str, str]) -> Points:
    """Make certificates for a controller and points, and tell the points of one another.

    :param folder: made; each point's own is in it, by host.
    :param addresses: each point's, by host.
    """
    folder.mkdir()
    for host, address in addresses.items():
        (folder / host).mkdir()
        certificate.ensure(folder / host, [host, address])
    pems = {host: folder / host / certificate.CERTIFICATE for host in addresses}
    (folder / "peers.pem").write_text("".join(pem.read_text() for pem in pems.values()))
    controller = certificate.ensure(folder, [CONTROLLER], CONTROLLER)
    for host in addresses:
        (folder / host / TRUST_FILE).write_text(_trust(other for other in addresses if other != host))
    return Points(pems, controller)


def _trust(others: Iterable[str]) -> str:
    parties = [(CONTROLLER, f"../{CONTROLLER}.pem", '"start", "read", "archive"')]
    parties += [(host, f"../{host}/{certificate.CERTIFICATE}", '"take-part"') for host in others]
    return 'reading = "known"\n' + "".join(
        f'\n[[known]]\nname = "{name}"\ncertificates = "{file}"\nmay = [{may}]\n'
        for name, file, may in parties
    )


@contextmanager
def _point(testbed: Testbed, host: str, address: str) -> Iterator[subprocess.Popen[bytes]]:
    folder = testbed.folder / "points"
    argv = [sys.executable, "-m", "measurement.point.main", "--name", host, "--data", str(folder / host)]
    argv += ["--host", address, "--port", str(MEASUREMENT_POINT_PORT)]
    argv += ["--peer-verify", str(folder / "peers.pem")]
    with (folder / f"{host}.log").open("wb") as log:
        process = testbed.host(host).popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
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
