"""Measurement points in the DTNs of a running testbed: real servers of :mod:`measurement.point`.

They listen on the management network only, so that asking them does not load what they measure.  Each has a
certificate of its own and a trust file: it measures for the testbed's controller, which it knows by a
token, takes part in what the other points lead, and shows results to the controller only.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import ssl
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from adon.errors import Unavailable
from measurement.point import certificate
from measurement.point.options import TRUST_FILE
from mininet_topos.namespaces import Inside
from mininet_topos.topology import MEASUREMENT_POINT_PORT, Topology
from mininet_topos.waiting import wait_until

READY_TIMEOUT = 30.0
READY_INTERVAL = 0.02
STOP_TIMEOUT = 5.0
CONTROLLER = "controller"
FOLDER = "points"
PROCESSES = "processes.json"
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Points:
    """Measurement points that run.

    :param certificates: per host the PEM file to pin by whoever asks its point.
    :param controller: the file of the token that the points know their controller by.
    """

    certificates: Mapping[str, Path]
    controller: Path


@dataclass(frozen=True, slots=True)
class PointProcess:
    """A point that is to run (:mod:`mininet_topos.point_processes`).

    :param pid: of the shell of its host.
    :param log: a file for what it says.
    """

    host: str
    pid: int
    arguments: tuple[str, ...]
    log: str


class Inhabited(Protocol):
    """What of a test network is used here: its switches need not be there."""

    @property
    def topology(self) -> Topology:
        """What is built."""

    @property
    def folder(self) -> Path:
        """The run folder."""

    def host(self, name: str) -> Inside:
        """The host of this name."""


@contextmanager
def measurement_points(testbed: Inhabited) -> Iterator[Points]:
    """Start a point in every host that has a management address; all end with the context.

    They are introduced to one another first, unless that has been done.

    :raises Unavailable: if one does not answer, with the end of its log.
    """
    addresses = addresses_of(testbed.topology)
    folder = testbed.folder / FOLDER
    points = introduced(folder, addresses) if folder.exists() else introduce(folder, addresses)
    with _running(testbed, addresses) as process:
        for host, address in addresses.items():
            if not _answers(address, process):
                raise Unavailable(
                    f"the measurement point in {host} does not answer: {_last_lines(folder, host)}"
                )
        yield points


def addresses_of(topology: Topology) -> dict[str, str]:
    """Of the measurement points, by host: those that have a management address."""
    return {host.name: str(host.management.ip) for host in topology.hosts if host.management is not None}


def introduce(folder: Path, addresses: Mapping[str, str]) -> Points:
    """Make the points' certificates and everybody's tokens, and tell the points of one another.

    :param folder: made; each point's own is in it, by host.
    :param addresses: each point's, by host.
    """
    folder.mkdir()
    for host, address in addresses.items():
        (folder / host).mkdir()
        # Loopback is where the host of a guest reaches it (mininet_topos.old_guest.channel).
        certificate.ensure(folder / host, [host, address, LOOPBACK])
    points = introduced(folder, addresses)
    (folder / "peers.pem").write_text("".join(pem.read_text() for pem in points.certificates.values()))
    controller = _digest_of_new_token(points.controller)
    shown = {
        (host, other): _digest_of_new_token(folder / host / f"{other}.token")
        for host in addresses
        for other in addresses
        if other != host
    }
    for host in addresses:
        others = {other: digest for (other, to), digest in shown.items() if to == host}
        (folder / host / TRUST_FILE).write_text(_trust(controller, others, addresses))
    return points


def introduced(folder: Path, hosts: Iterable[str]) -> Points:
    """What :func:`introduce` makes for these hosts."""
    certificates = {host: folder / host / certificate.CERTIFICATE for host in hosts}
    return Points(certificates, folder / f"{CONTROLLER}.token")


def _digest_of_new_token(file: Path) -> str:
    token = secrets.token_urlsafe(24)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(f"{token}\n")
    return hashlib.sha256(token.encode()).hexdigest()


def _trust(controller: str, others: Mapping[str, str], addresses: Mapping[str, str]) -> str:
    """A point's trust file.

    :param controller: the digest of the controller's token.
    :param others: per other host the digest of the token that its point shows here.
    """
    text = f'reading = "known"\n\n[[known]]\nname = "{CONTROLLER}"\ntoken_sha256 = "{controller}"\n'
    text += 'may = ["start", "read"]\n'
    for host, digest in others.items():
        node = f"{addresses[host]}:{MEASUREMENT_POINT_PORT}"
        text += f'\n[[known]]\nname = "{host}"\ntoken_sha256 = "{digest}"\nnode = "{node}"\n'
        text += f'token_file = "{host}.token"\nmay = ["take-part"]\n'
    return text


@contextmanager
def _running(testbed: Inhabited, addresses: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """All points, by the process that starts and ends them."""
    folder = testbed.folder / FOLDER
    asked = [
        PointProcess(host, testbed.host(host).pid, _arguments(folder, host, address), str(_log(folder, host)))
        for host, address in addresses.items()
    ]
    (folder / PROCESSES).write_text(json.dumps([asdict(one) for one in asked]))
    argv = [sys.executable, "-m", "mininet_topos.point_processes", str(folder / PROCESSES)]
    with (folder / "points.log").open("wb") as log:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    try:
        yield process
    finally:
        _end(process)


def _arguments(folder: Path, host: str, address: str) -> tuple[str, ...]:
    return (
        *("--name", host, "--data", str(folder / host), "--peer-verify", str(folder / "peers.pem")),
        *("--host", address, "--port", str(MEASUREMENT_POINT_PORT)),
    )


def _log(folder: Path, host: str) -> Path:
    return folder / f"{host}.log"


def _answers(address: str, process: subprocess.Popen[bytes]) -> bool:
    """Wait until it shows a certificate, or has ended."""

    def shown() -> bool:
        try:
            ssl.get_server_certificate((address, MEASUREMENT_POINT_PORT), timeout=1.0)
        except (OSError, ssl.SSLError):
            return False
        return True

    def settled() -> bool:
        return process.poll() is not None or shown()

    return wait_until(settled, READY_TIMEOUT, READY_INTERVAL) and process.poll() is None


def _last_lines(folder: Path, host: str) -> str:
    logs = (folder / "points.log", _log(folder, host))
    said = [path.read_text(errors="replace") for path in logs if path.exists()]
    return " | ".join("".join(said).splitlines()[-3:])


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
