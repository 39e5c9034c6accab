"""Measurement points and probe agents in hosts of a testbed: real servers of :mod:`measurement`.

The points listen on the management network only, so that requests do not load what they measure.  A point has
its own certificate.  It measures for the controller, takes part in tests that other points lead, and shows
results to the controller only.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

from measurement.instances import Instance
from measurement.point import certificate
from measurement.point.options import TRUST_FILE
from measurement.probes.secure_channel import write_key
from mininet_topos.commands import Popen, start_servers
from mininet_topos.testbed import Testbed
from mininet_topos.topologies.cloud_topo import CloudTopo

PORT = 4443
PEERS = "peers.pem"
"""File with the certificates of all points."""
CONTROLLER, POINTS = "controller.token", "points.token"
"""Files of tokens: of the controller, and the one that the points share."""


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
    folder.mkdir()
    common = ["--port", str(PORT), "--data", str(folder), "--peer-verify", str(folder / PEERS)]
    common += [] if metrics is None else ["--metrics", str(metrics)]
    servers: dict[str, Popen] = {}
    for host, address in addresses.items():
        own, key = certificate.ensure(folder, [host, address], stem=host)
        options = ["--name", host, "--host", address, "--certificate", str(own), "--key", str(key), *common]
        argv = [sys.executable, "-m", "measurement.point.main", *options]
        servers[host] = partial(testbed.popen, host, argv)
    (folder / PEERS).write_text("".join((folder / f"{host}.pem").read_text() for host in addresses))
    _write_trust(folder, [f"{address}:{PORT}" for address in addresses.values()])
    with start_servers(servers, folder):
        yield folder


def _write_trust(folder: Path, nodes: Sequence[str]) -> None:
    """Write the tokens and the trust file of all points."""
    (folder / TRUST_FILE).write_text(f"""
reading = "known"
[[known]]
name = "controller"
token_sha256 = "{_digest_of_new_token(folder / CONTROLLER)}"
may = ["start", "read"]
[[known]]
name = "points"
token_sha256 = "{_digest_of_new_token(folder / POINTS)}"
node = {json.dumps(nodes)}
token_file = "{POINTS}"
may = ["take-part"]
""")


def _digest_of_new_token(file: Path) -> str:
    token = secrets.token_urlsafe(24)
    file.touch(0o600, exist_ok=False)
    file.write_text(f"{token}\n")
    return hashlib.sha256(token.encode()).hexdigest()


def start_agents(
    testbed: Testbed, hosts: Iterable[str], key: Path, outside: str | None = None
) -> AbstractContextManager[Mapping[str, int]]:
    """Start a probe agent in each host; yield their PIDs when all of them answer.

    :param key: file that is made for them.
    :param outside: name of one more agent, in no host but beside the network as ADON is.
    :raises Unavailable: if one does not start, with the end of its log.
    """
    write_key(key)
    argv = [sys.executable, "-m", "measurement.probes.main", "--key", str(key)]
    agents: dict[str, Popen] = {host: partial(testbed.popen, host, argv) for host in hosts}
    if outside is not None:
        agents[outside] = partial(subprocess.Popen, argv, start_new_session=True)
    return start_servers(agents, key.parent / "agents")


def instances_of(topo: CloudTopo) -> list[Instance]:
    """Return the instances as users of probe agents need them."""
    return [Instance(one.name, one.address, zone=one.zone) for one in topo.instances.values()]
