"""``adon serve`` as it runs at a campus: a store with a past, four switches, flows under way.

What is outside is not there: measurement points, the compute site's ``ssh``.  So everything
has an answer, and some of it is about trouble.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import requests
import yaml

from apps.link import LinkClient
from benchmarks.filled import campus, filling, people
from benchmarks.filled.lives import KINDS
from measurement.model import Metric, PathKey, to_json
from tests.apps.edge import DIES_WITH_US, PATIENCE_S, ROOT, Switches, end, eventually
from tests.ports import free_port
from tests.support.factories import make_measurement

PREFIX = "/api/v1"
FLOWS, VALUES = 24, 2000
WIDE = {name: {"requests": 100_000, "per": "1 s"} for name in ("reads", "writes", "anonymous", "sign_in")}
RUNNING, WAITING = "f-25", "f-26"
"""Flows that run and wait."""
JOB = {"run": ["/opt/align"], "arguments": 1, "nodes": 2, "cores": 64}
TOO_MUCH = {"throughput": {"min": "9.9 Gbps"}}
PERFORMANCE = {Metric.THROUGHPUT: 5e9, Metric.RTT: 0.02, Metric.LOSS: 0.0}


@dataclass(frozen=True)
class Whole:
    """What runs.

    :param token: an administrator's.
    """

    url: str
    token: str
    folder: Path
    process: subprocess.Popen[bytes]

    def ask(self, method: str, path: str, body: Any = None) -> requests.Response:
        """Ask the API as the administrator; ``path`` without the API's prefix."""
        head = {"Authorization": f"Bearer {self.token}"}
        return requests.request(method, self.url + PREFIX + path, json=body, headers=head, timeout=PATIENCE_S)

    def get(self, path: str) -> Any:
        """The JSON answer; anything but a success fails the test."""
        answer = self.ask("GET", path)
        assert answer.ok, (path, answer.text)
        return answer.json()

    def make(self, path: str, body: Any) -> Any:
        """The JSON answer to a POST; anything but a success fails the test."""
        answer = self.ask("POST", path, body)
        assert answer.ok, (path, answer.text)
        return answer.json()

    def pid(self, part: str) -> int:
        """Of the newest process of a part."""
        started = [line for line in self.log.splitlines() if f"event=started part={part} " in line]
        return int(started[-1].rpartition("=")[2])

    @property
    def log(self) -> str:
        """What all processes have written."""
        return (self.folder / "serve.log").read_text()

    def answers(self, path: str) -> bool:
        """Whether it does, with a success."""
        try:
            return self.ask("GET", path).ok
        except requests.ConnectionError:
            return False


def configuration(openflow_port: int, web_port: int) -> dict[str, Any]:
    """The filled store's, with what its flows and jobs need besides; nothing of it leaves this machine."""
    document = campus.document(openflow_port, web_port)
    document["controller"]["web_limits"] = WIDE
    document["compute"]["osu-hpc"]["adapter"] = {
        "kind": "slurm",
        "through": ["false"],
        "jobs": {"align": JOB},
    }
    return document


@contextmanager
def whole(folder: Path) -> Iterator[Whole]:
    """All of it, with flows that run and wait; nothing is left behind."""
    openflow, web = free_port(), free_port()
    config, data = folder / "network.yaml", folder / "data"
    config.write_text(yaml.safe_dump(configuration(openflow, web)))
    data.mkdir(mode=0o700)
    with mock.patch.object(filling, "PATTERN", FLOWS // 2), mock.patch.object(people, "AUDITED", 200):
        filled = filling.fill(data, config, seed=1, flows=FLOWS, values=VALUES)
    (folder / "ovs").mkdir()
    switches = Switches(folder / "ovs")
    with ExitStack() as ends:
        ends.enter_context(switches.running())
        for name, (dpid, ports) in campus.bridges().items():
            switches.add_bridge(name, dpid, openflow, tuple(ports))
        process = _serve(folder, config, data)
        ends.callback(end, process)
        built = Whole(f"http://127.0.0.1:{web}", filled.tokens[0], folder, process)
        eventually(lambda: built.answers("/readyz"), "it is not ready")
        eventually(lambda: all(one["connected"] for one in built.get("/network")["switches"]), "no switches")
        _begin(built, data)
        yield built


def _serve(folder: Path, config: Path, data: Path) -> subprocess.Popen[bytes]:
    command = [*DIES_WITH_US, sys.executable, "-m", "apps.cli", "serve"]
    with (folder / "serve.log").open("ab") as output:
        return subprocess.Popen(
            [*command, "--config", str(config), "--data", str(data)],
            cwd=ROOT,
            env={**os.environ, "NO_PROXY": "*"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )


def _begin(built: Whole, data: Path) -> None:
    """Have results come, and flows that run and wait."""
    link = LinkClient(data / "controller.sock", "collector")
    try:
        eventually(lambda: link.connected, "the controller does not serve its socket")
        for key in campus.directions():
            for metric, value in PERFORMANCE.items():
                link.send("measurement", _result(key, metric, value))
        eventually(lambda: all(PERFORMANCE.keys() <= one["metrics"].keys() for one in paths(built)))
    finally:
        link.close()
    for flow, state, more in (
        (RUNNING, "active", {}),
        (WAITING, "queued", {"qspec": TOO_MUCH, "queue_patience": "6 h"}),
    ):
        made = built.make("/flows", wish(ports=[30_000 + int(flow[2:])], **more))
        assert made["id"] == flow
        eventually(partial(_is, built, flow, state), f"{flow} is not {state}")


def _is(built: Whole, flow: str, state: str) -> bool:
    return bool(built.get(f"/flows/{flow}")["state"] == state)


def paths(built: Whole) -> list[Mapping[str, Any]]:
    """Every path, in both directions, as the controller knows it."""
    found: list[Mapping[str, Any]] = built.get("/paths?limit=500")["items"]
    return found


def wish(**more: Any) -> Mapping[str, Any]:
    """A request for a flow."""
    return {"source": "mu-dtn1", "destination": "osu-dtn1", "size": "5 TB", "template": KINDS[0], **more}


def _result(key: PathKey, metric: Metric, value: float) -> Any:
    now = time.time()
    name = f"run-{key.path}-{key.source}-{metric}-{now}"
    return to_json(make_measurement(key=key, metric=metric, value=value, observed_at=now, source=name))
