"""Measurement points in the DTNs of a testbed: real servers of :mod:`measurement.point`.

They listen on the management network only, so that requests do not load what they measure.  Each has its own
certificate and trust file: it measures for the controller, which has a token, takes part in tests that other
points lead, and shows results to the controller only.
"""

from __future__ import annotations

import hashlib
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from measurement.point import certificate
from measurement.point.options import TRUST_FILE
from mininet_topos.commands import Popen, start_servers
from mininet_topos.testbed import Testbed

PORT = 4443
PEERS = "peers.pem"
IDENTITY = "point.token"
"""File in the folder of a point: the token by which other points know it."""


@contextmanager
def start_points(testbed: Testbed, metrics: Path | None = None) -> Iterator[Path]:
    """Start a measurement point in the measuring DTN of each campus; all end with the context.

    Yield the folder with the certificate of each point, ``HOST.pem``, and ``controller.token``, by which the
    points know their controller.

    :param metrics: file of the points' custom metrics; None for those of a host.
    :raises Unavailable: if one does not answer, with the end of its log.
    """
    folder = testbed.folder / "points"
    campuses = testbed.topo.campuses.values()
    addresses = {campus.measuring: campus.management for campus in campuses}
    _write_credentials(folder, addresses)
    common = ["--port", str(PORT), "--peer-verify", str(folder / PEERS)]
    common += [] if metrics is None else ["--metrics", str(metrics)]
    servers: dict[str, Popen] = {}
    for host, address in addresses.items():
        options = ["--name", host, "--host", address, "--data", str(folder / host), *common]
        argv = [sys.executable, "-m", "measurement.point.main", *options]
        servers[host] = partial(testbed.popen, host, argv)
    with start_servers(servers, folder):
        yield folder


def _write_credentials(folder: Path, addresses: Mapping[str, str]) -> None:
    """Write the points' certificates, tokens and trust files.

    :param folder: made; each point's own files are in it, by host.
    """
    folder.mkdir()
    for host, address in addresses.items():
        (folder / host).mkdir()
        pem, _ = certificate.ensure(folder / host, [host, address])
        (folder / f"{host}.pem").write_text(pem.read_text())
    (folder / PEERS).write_text("".join((folder / f"{host}.pem").read_text() for host in addresses))
    token = _digest_of_new_token(folder / "controller.token")
    controller = _trust_entry("controller", token, 'may = ["start", "read"]')
    digests = {host: _digest_of_new_token(folder / host / IDENTITY) for host in addresses}
    for host in addresses:
        trust = ['reading = "known"\n', controller]
        for other, address in addresses.items():
            if other != host:
                peer = f'node = "{address}:{PORT}"\ntoken_file = "{IDENTITY}"\nmay = ["take-part"]'
                trust.append(_trust_entry(other, digests[other], peer))
        (folder / host / TRUST_FILE).write_text("".join(trust))


def _trust_entry(name: str, digest: str, rest: str) -> str:
    """Return an entry of a trust file."""
    return f'\n[[known]]\nname = "{name}"\ntoken_sha256 = "{digest}"\n{rest}\n'


def _digest_of_new_token(file: Path) -> str:
    token = secrets.token_urlsafe(24)
    file.touch(0o600, exist_ok=False)
    file.write_text(f"{token}\n")
    return hashlib.sha256(token.encode()).hexdigest()
