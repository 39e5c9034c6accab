"""Measurement points in the DTNs of a testbed: real servers of :mod:`measurement.point`.

They listen on the management network only, so that requests do not load what they measure.  Each has its own
certificate and trust file: it measures for the controller, which has a token, takes part in tests that other
points lead, and shows results to the controller only.
"""

from __future__ import annotations

import hashlib
import secrets
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from adon.errors import Unavailable
from measurement.point import certificate
from measurement.point.options import TRUST_FILE
from mininet_topos.commands import stop_process, wait_until
from mininet_topos.testbed import Testbed

PORT = 4443
FOLDER = "points"
"""Folder of the testbed's folder."""
READY, READY_TIMEOUT, READY_INTERVAL = "event=ready", 120.0, 0.05
"""Text of a log when its point answers, and seconds to wait for it."""
STOP_TIMEOUT = 5.0


@dataclass(frozen=True, slots=True)
class PointContact:
    """How a measurement point is reached.

    :param node: ``address:port``, for other points.
    :param certificate: PEM file by which clients know it.
    """

    node: str
    certificate: Path

    @property
    def url(self) -> str:
        """URL of its pScheduler API."""
        return f"https://{self.node}/pscheduler"


@dataclass(frozen=True, slots=True)
class Points:
    """Measurement points that run.

    :param contacts: by DTN.
    :param token: file of the token by which the points know their controller.
    """

    contacts: Mapping[str, PointContact]
    token: Path


@contextmanager
def start_points(testbed: Testbed, metrics: Path | None = None) -> Iterator[Points]:
    """Start a measurement point in the measuring DTN of each campus; all end with the context.

    :param metrics: file of the points' custom metrics; None for those of a host.
    :raises Unavailable: if one does not answer, with the end of its log.
    """
    folder = testbed.folder / FOLDER
    hosts = [campus.measuring for campus in testbed.topo.campuses.values()]
    addresses = {host: testbed.management_address(host) for host in hosts}
    points = _introduce(folder, addresses)
    common = ["--port", str(PORT), "--peer-verify", str(folder / "peers.pem")]
    common += [] if metrics is None else ["--metrics", str(metrics)]
    with ExitStack() as stack:
        running = dict[str, subprocess.Popen[bytes]]()
        for host, address in addresses.items():
            options = ["--name", host, "--host", address, "--data", str(folder / host), *common]
            argv = [sys.executable, "-m", "measurement.point.main", *options]
            with _log(folder, host).open("wb") as log:
                running[host] = testbed.popen(host, argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            stack.callback(stop_process, running[host], STOP_TIMEOUT)
        for host, process in running.items():
            _await_ready(host, process, _log(folder, host))
        yield points


def _log(folder: Path, host: str) -> Path:
    return folder / f"{host}.log"


def _await_ready(host: str, process: subprocess.Popen[bytes], log: Path) -> None:
    def is_ready_or_ended() -> bool:
        return READY in log.read_text(errors="replace") or process.poll() is not None

    if not wait_until(is_ready_or_ended, READY_TIMEOUT, READY_INTERVAL) or process.poll() is not None:
        last = log.read_text(errors="replace").splitlines()[-3:]
        raise Unavailable(f"the measurement point in {host} does not answer: {' | '.join(last)}")


def _introduce(folder: Path, addresses: Mapping[str, str]) -> Points:
    """Make the points' certificates, tokens and trust files.

    :param folder: made; each point's own is in it, by host.
    """
    folder.mkdir()
    contacts = dict[str, PointContact]()
    for host, address in addresses.items():
        (folder / host).mkdir()
        pem, _ = certificate.ensure(folder / host, [host, address])
        contacts[host] = PointContact(f"{address}:{PORT}", pem)
    (folder / "peers.pem").write_text("".join(one.certificate.read_text() for one in contacts.values()))
    token = folder / "controller.token"
    controller = _trust_entry("controller", _digest_of_new_token(token), 'may = ["start", "read"]')
    trust = dict.fromkeys(addresses, f'reading = "known"\n{controller}')
    for host in addresses:
        for other in addresses:
            if other != host:
                digest = _digest_of_new_token(folder / host / f"{other}.token")
                peer = f'node = "{contacts[host].node}"\ntoken_file = "{host}.token"\nmay = ["take-part"]'
                trust[other] += _trust_entry(host, digest, peer)
    for host, text in trust.items():
        (folder / host / TRUST_FILE).write_text(text)
    return Points(contacts, token)


def _trust_entry(name: str, digest: str, rest: str) -> str:
    """Return an entry of a trust file."""
    return f'\n[[known]]\nname = "{name}"\ntoken_sha256 = "{digest}"\n{rest}\n'


def _digest_of_new_token(file: Path) -> str:
    token = secrets.token_urlsafe(24)
    file.touch(0o600, exist_ok=False)
    file.write_text(f"{token}\n")
    return hashlib.sha256(token.encode()).hexdigest()
