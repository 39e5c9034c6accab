"""PostgreSQL stops and comes back under ``adon serve``, with everything in it and Open vSwitch in front."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from measurement.archive import Archive
from measurement.model import Metric
from tests import postgresql
from tests.apps.edge import (
    BRIDGES,
    DIES_WITH_US,
    ROOT,
    TEMPLATE,
    Switches,
    both_edges,
    end,
    eventually,
    write_configuration,
)
from tests.measurement.sources.messages import TCP, message
from tests.ports import free_port

pytestmark = pytest.mark.integration

SLOW = pytest.mark.slow
FLOW = "0xad1"
POINT_TOKEN = "token-of-mu"  # noqa: S105 - of this test
ADDRESSES = {"al2s": ("10.1.0.11", "10.2.0.11"), "internet": ("10.1.0.12", "10.2.0.12")}
WISH = {
    "source": "mu-dtn",
    "destination": "osu-dtn",
    "size": "1 GB",
    "template": TEMPLATE["name"],
    "ports": [5001],
}
BULK = {**TEMPLATE, "qspec": {}, "selection": {"min_dwell": "1 h", "idle_timeout": "1 h"}}
"""A template whose flows are content with few packets and stay where they are."""
ETHERNET = "in_port({}),eth(src=02:00:00:00:0a:0a,dst=02:00:00:00:0a:01)"
IP = (
    "eth_type(0x0800),ipv4(src=10.1.0.10,dst=10.2.0.10,proto=6,tos=0,ttl=64,frag=no),"
    "tcp(src=40000,dst=5001),tcp_flags(0x010)"
)
PACKETS = {
    "mu-edge-dtn": f"{ETHERNET.format(1)},{IP}",
    "osu-edge-al2s": f"{ETHERNET.format(2)},eth_type(0x8100),vlan(vid=1701,pcp=0),encap({IP})",
}
"""A packet of the flow at the port where it enters each site's switch."""
AGAIN_S = 60.0
"""The longest that a part may take to be ready again, on a machine that has much else to do."""
UNREACHABLE = 0
READY = {"store": "ok", "controller": "ok", "collector": "ok"}


class Database:
    """A PostgreSQL server that can be stopped and started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ends = ExitStack()

    def create(self) -> None:
        self._ends.enter_context(postgresql.running(self.folder, ["fsync=off"]))
        program = postgresql.program("createdb")
        assert program is not None
        for name in ("adon", "measurements"):
            subprocess.run([program, "-h", str(self.folder), "-U", "adon", name], check=True, timeout=60)

    def url(self, name: str) -> str:
        return f"postgresql://adon@/{name}?host={self.folder}"

    def stop(self) -> None:
        """Stop the server; it refuses and breaks connections from now on."""
        number = postgresql.pid(self.folder)
        os.kill(number, signal.SIGINT)
        eventually(lambda: not postgresql.alive(self.folder), "the database is still there")

    def start(self) -> None:
        self._ends.close()
        self._ends.enter_context(postgresql.again(self.folder, ["fsync=off"]))

    def close(self) -> None:
        self._ends.close()


class Service:
    """``adon serve`` with state, access and archive in one PostgreSQL server."""

    def __init__(self, folder: Path, database: Database) -> None:
        self.folder, self.database = folder, database
        self.openflow, self.ingest = free_port(), free_port()
        self.config = write_configuration(folder, self.openflow)
        document = yaml.safe_load(self.config.read_text())
        document["measurements"] |= {
            "archive_url": database.url("measurements"),
            "ingest": {"port": self.ingest, "trust": "points.toml"},
        }
        self.config.write_text(yaml.safe_dump(document))
        digest = hashlib.sha256(POINT_TOKEN.encode()).hexdigest()
        trust = folder / "points.toml"
        trust.write_text(f'[[known]]\nname = "mu"\ntoken_sha256 = "{digest}"\nmay = ["archive"]\n')
        self.url = f"http://127.0.0.1:{document['controller']['web_port']}/api/v1"
        self.process: subprocess.Popen[bytes] | None = None

    def configure(self, ha: Mapping[str, Any] | None) -> None:
        document = yaml.safe_load(self.config.read_text())
        document["controller"]["ha"] = ha
        self.config.write_text(yaml.safe_dump(document))

    def start(self) -> None:
        words = ["--config", str(self.config), "--data", str(self.folder / "data")]
        words += ["--store", self.database.url("adon"), "--admin-token-file", str(self.folder / "token")]
        with (self.folder / "serve.log").open("ab") as output:
            self.process = subprocess.Popen(
                [*DIES_WITH_US, sys.executable, "-m", "apps.cli", "serve", *words],
                cwd=ROOT,
                env={**os.environ, "NO_PROXY": "*"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    @property
    def log(self) -> str:
        return (self.folder / "serve.log").read_text()

    @property
    def runs(self) -> bool:
        assert self.process is not None
        return self.process.poll() is None

    def ask(self, method: str, path: str, body: Any = None) -> requests.Response:
        token = (self.folder / "token").read_text().strip()
        head = {"Authorization": f"Bearer {token}"}
        return requests.request(method, self.url + path, json=body, headers=head, timeout=AGAIN_S)

    def get(self, path: str) -> Any:
        answer = self.ask("GET", path)
        assert answer.ok, answer.text
        return answer.json()

    def ready(self) -> bool:
        """Whether every part is ready; ends the test if the service has ended."""
        assert self.process is not None
        assert self.runs, f"adon serve ended with status {self.process.returncode}:\n{self.log}"
        try:
            answer = requests.get(f"{self.url}/readyz", timeout=60)
        except requests.RequestException:
            return False
        return answer.ok and answer.json()["checks"] == READY

    def report(self, path: str, mbps: float) -> int:
        """The status that the collector answers to a throughput result of a measurement point."""
        source, destination = ADDRESSES[path]
        summary = {"throughput-bits": mbps * 1e6, "retransmits": 0}
        result = {**TCP, "summary": {"summary": summary, "streams": []}}
        spec = {"source": source, "dest": destination, "count": None}
        body = message("throughput", result, spec, ended=time.time() - 1, participants=[source])
        body["test"]["spec"].pop("count")
        bearer = {"Authorization": f"Bearer {POINT_TOKEN}"}
        try:
            found = requests.post(
                f"http://127.0.0.1:{self.ingest}/results", json=body, headers=bearer, timeout=40
            )
        except requests.ConnectionError:
            return UNREACHABLE
        return found.status_code

    def throughputs(self) -> list[float]:
        with Archive(self.database.url("measurements"), readonly=True) as archive:
            return [one.value / 1e6 for one in archive.query(path="al2s", metric=Metric.THROUGHPUT)]


@contextmanager
def database() -> Iterator[Database]:
    if importlib.util.find_spec("psycopg") is None or not postgresql.installed():
        pytest.skip("no PostgreSQL server, or no driver, is installed")
    folder = Path(tempfile.mkdtemp(prefix="adon-pg-"))
    folder.chmod(0o755)
    made = Database(folder)
    try:
        made.create()
        yield made
    finally:
        made.close()
        shutil.rmtree(folder)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with database() as server:
        made = Service(tmp_path, server)
        yield made
        if made.process is not None:
            end(made.process)


@contextmanager
def traffic(switches: Switches) -> Iterator[list[int]]:
    """Packets of the flow arrive until the end of the context; how many, as the only item of a list."""
    sent, stopping = [0], threading.Event()

    def send() -> None:
        while not stopping.wait(0.2):
            for port, packet in PACKETS.items():
                switches.appctl("netdev-dummy/receive", port, packet)
            sent[0] += 1

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield sent
    finally:
        stopping.set()
        thread.join()


def flow_rules(switches: Switches) -> list[str]:
    return [line for bridge in BRIDGES for line in switches.rules(bridge) if f"cookie={FLOW}" in line]


def cookies(lines: list[str]) -> list[str]:
    return sorted(line.partition(",")[0] for line in lines)


def start_flow(service: Service) -> str:
    """Have both paths measured and a flow active on the faster one."""
    eventually(lambda: service.report("al2s", 50) == 200, "the archive takes no results")
    eventually(lambda: service.report("internet", 5) == 200, "the archive takes no results")
    assert service.ask("POST", "/templates", BULK).status_code == 201
    answer = service.ask("POST", "/flows", WISH)
    assert answer.status_code == 202, answer.text
    name = str(answer.json()["id"])
    eventually(lambda: service.get(f"/flows/{name}")["state"] == "active", "the flow is not active")
    return name


def during_outage(service: Service, seconds: float) -> list[int]:
    """Report results until the outage is over; what the collector answered."""
    statuses, over = [], time.monotonic() + seconds
    while time.monotonic() < over:
        assert service.runs, f"adon serve ended:\n{service.log}"
        statuses.append(service.report("al2s", 52))
        time.sleep(1)
    return statuses


def ingress(switches: Switches) -> str:
    """The rule that takes the flow's packets from the DTN's port."""
    (line,) = [one for one in switches.rules("mu-edge") if "cookie=0xad10" in one and "tp_dst=5001" in one]
    return line


def packets(line: str) -> int:
    return int(line.partition("n_packets=")[2].partition(",")[0])


def age(line: str) -> float:
    return float(line.partition("duration=")[2].partition("s")[0])


@pytest.mark.parametrize(
    ("seconds", "ha"),
    [(6, None), pytest.param(6, {"lease": "5 s"}, marks=SLOW), pytest.param(30, None, marks=SLOW)],
    ids=["6s", "6s-ha", "30s"],
)
def test_every_part_resumes_after_an_outage_and_the_flow_keeps_its_rules(
    service: Service, tmp_path: Path, seconds: float, ha: Mapping[str, Any] | None
) -> None:
    service.configure(ha)
    with both_edges(tmp_path, service.openflow) as switches:
        service.start()
        eventually(service.ready, "it is not ready")
        flow = start_flow(service)
        before, decisions = flow_rules(switches), service.get(f"/decisions?flow={flow}")["items"]
        with traffic(switches) as sent:
            service.database.stop()
            statuses = during_outage(service, seconds)
            service.database.start()
            eventually(service.ready, "a part is not ready again", AGAIN_S)
        assert set(statuses) <= {UNREACHABLE, 503}
        assert cookies(flow_rules(switches)) == cookies(before)
        assert age(ingress(switches)) > seconds, "a rule was removed and installed again"
        eventually(lambda: packets(ingress(switches)) == sent[0], "packets were lost", AGAIN_S)
        assert service.get(f"/flows/{flow}")["state"] == "active"
        made = [one["id"] for one in service.get(f"/decisions?flow={flow}")["items"]]
        assert {one["id"] for one in decisions} <= set(made)
        eventually(lambda: service.report("al2s", 55) == 200, "the archive takes no results", AGAIN_S)
        assert service.throughputs() == [55, 50]
        answer = service.ask("POST", "/flows", {**WISH, "ports": [5002]})
        assert answer.status_code == 202, answer.text
        stops_well(service)
    assert service.log.count("event=refused part=") == 0
    assert "Traceback" not in service.log


def test_start_waits_for_a_database_that_does_not_answer(service: Service) -> None:
    service.database.stop()
    service.start()
    eventually(
        lambda: "event=database.waiting database=state" in service.log, "it does not say what it waits for"
    )
    assert service.runs
    service.database.start()
    eventually(service.ready, "it is not ready")
    assert "event=database.answers" in service.log
    stops_well(service)


def stops_well(service: Service) -> None:
    assert service.process is not None
    service.process.terminate()
    assert service.process.wait(60) == 0
