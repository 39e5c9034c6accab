"""Real measurement points for tests: started, stopped, asked."""

from __future__ import annotations

import hashlib
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from measurement.point import certificate
from measurement.pscheduler import specs
from measurement.pscheduler.client import PSchedulerClient
from tests.ports import free_port, free_ports

A, B = "127.0.0.1", "127.0.0.2"
PATIENCE_S = 60.0
"""Seconds that a test waits for a point on a busy machine."""


@dataclass
class RunningPoint:
    process: subprocess.Popen[str]
    url: str
    certificate: Path
    log: list[str]

    @property
    def node(self) -> str:
        return self.url.split("/")[2]

    def client(self) -> PSchedulerClient:
        return PSchedulerClient(self.url, verify=str(self.certificate))

    def get(self, path: str, **query: Any) -> requests.Response:
        return requests.get(self.url + path, params=query, verify=str(self.certificate), timeout=PATIENCE_S)

    def post(self, path: str, body: Any, **query: Any) -> requests.Response:
        return requests.post(
            self.url + path, json=body, params=query, verify=str(self.certificate), timeout=PATIENCE_S
        )

    def delete(self, path: str, **query: Any) -> requests.Response:
        return requests.delete(
            self.url + path, params=query, verify=str(self.certificate), timeout=PATIENCE_S
        )


def token_of(name: str) -> str:
    """What a point of this name shows to others, in tests."""
    return f"point-token-of-{name}-0123456789"


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def start_known(folder: Path, addresses: Mapping[str, str], known: str) -> dict[str, RunningPoint]:
    """Start points that know one another by token.

    :param addresses: by name, which is the name of each point's folder too.
    :param known: what every trust file says in addition.
    """
    nodes = {name: f"{address}:{free_port()}" for name, address in addresses.items()}
    for name, address in addresses.items():
        (folder / name).mkdir()
        certificate.ensure(folder / name, [name, address])
        (folder / name / "own.token").write_text(f"{token_of(name)}\n")
        (folder / name / "trust.toml").write_text(
            known
            + "".join(
                f'\n[[known]]\nname = "{other}"\ntoken_sha256 = "{digest(token_of(other))}"\n'
                f'node = "{node}"\ntoken_file = "own.token"\nmay = ["take-part"]\n'
                for other, node in nodes.items()
                if other != name
            )
        )
    peers = folder / "peers.pem"
    peers.write_text("".join((folder / name / certificate.CERTIFICATE).read_text() for name in addresses))
    return {
        name: start(
            folder / name, address, "--port", nodes[name].rpartition(":")[2], "--peer-verify", str(peers)
        )
        for name, address in addresses.items()
    }


def start(folder: Path, address: str, *options: str) -> RunningPoint:
    ports = free_ports()  # others' points look for free ones at the same moment
    process = subprocess.Popen(
        [sys.executable, "-m", "measurement.point.main", "--host", address, "--port", "0",
         "--data", str(folder), "--name", folder.name,
         "--test-ports", f"{ports[0]}-{ports[-1]}", *options],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    log: list[str] = []
    for line in process.stderr:
        log.append(line)
        found = re.search(r"event=ready url=(\S+)", line)
        if found:
            # Keep reading: a full pipe would stop the point.
            threading.Thread(target=log.extend, args=(process.stderr,), daemon=True).start()
            return RunningPoint(process, found[1], folder / certificate.CERTIFICATE, log)
    process.wait(PATIENCE_S)
    process.stderr.close()
    raise AssertionError(f"the point did not start: {''.join(log)}")


def stop(point: RunningPoint) -> int:
    point.process.send_signal(signal.SIGTERM)
    status = point.process.wait(PATIENCE_S)
    if point.process.stderr is not None:
        point.process.stderr.close()
    return status


@contextmanager
def run_peers(folder: Path) -> Iterator[tuple[RunningPoint, RunningPoint]]:
    """Run two points that trust each other until the context ends."""
    trusted = folder / "peers.pem"
    with trusted.open("wb") as out:
        for name, address in (("a", A), ("b", B)):
            (folder / name).mkdir()
            out.write(certificate.ensure(folder / name, [name, address])[0].read_bytes())
    options = ("--peer-verify", str(trusted))
    running = start(folder / "a", A, *options), start(folder / "b", B, *options)
    yield running
    assert [stop(point) for point in running] == [0, 0]


def ends_of(points: tuple[RunningPoint, RunningPoint]) -> specs.Ends:
    """Return the ends of a test from the first point to the second."""
    return specs.Ends(A, B, points[0].node, points[1].node)
