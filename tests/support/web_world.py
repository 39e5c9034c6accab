"""A small ADON for tests of its web side: real databases, real links, a real core on a stage."""

from __future__ import annotations

import copy
import shutil
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from flask_openapi3.openapi import OpenAPI

from adon.access.identity import create_token
from adon.access.policy import Policy
from adon.broker.events import JobTold, SiteReported
from adon.broker.flow import Flow
from adon.config import Configuration
from adon.config.access import Access as SignIn
from adon.config.policy import MeasurementGrant
from adon.store.access.access import FILE, Access
from adon.store.access.access_tables import ACCESS
from adon.store.schema import make_database
from adon.store.store import Store
from adon.templates_catalog.model import Template
from adon.values import FrozenMap
from adon.yamlfile import check_model
from apps import journal
from apps.link import LinkClient
from apps.rest.audit_writer import AuditWriter
from apps.rest.event_stream import Stream
from apps.rest.explanations import WhyNots
from apps.rest.identity.ways import NAME as WAYS
from apps.rest.identity.ways import open_ways
from apps.rest.services import NAME, Measurements, Services, requester, share_rehearsals
from apps.rest.snapshots import Snapshots
from apps.rest.web_app import create_app, with_sign_in
from apps.rest.web_server import WebServer
from measurement.anomaly.alarm import Alarm
from measurement.archive import Archive
from measurement.custom.batch.model import JobState as BatchState
from measurement.model import Measurement, Metric, Observation, PathKey, to_json
from measurement.scheduling import Execution, gantt
from tests.broker.sites.values import SLURM, compute_site, news, report, silent, wait, with_adapter
from tests.support.fake_collector import (
    NOW,
    Collector,
    alarms,
    executions,
    put_alarm,
    put_execution,
    the_plan,
)
from tests.support.stage import MU_EDGE, Stage
from tests.support.web_controller import Controller, never_fresh

STATE, MEASUREMENTS = "state.db", "measurements.db"
ROLES = ("admin", "performance_engineer", "researcher", "operator", "auditor")

SOYKB = {
    "name": "soykb",
    "title": "SoyKB",
    "description": "Soybean knowledge base: bulk transfer of sequence data.",
    "qspec": {"throughput": {"min": "7 Mbps", "target": "50 Mbps"}, "rtt": {"max": "100 ms"}},
    "weights": {"throughput": 3, "rtt": 1},
}
COMPUTED = {**SOYKB, "name": "computed", "rspec": {"compute": {"worker_nodes": 4}}, "cost": {}}
"""A template whose flows need worker nodes."""
LOW = {
    "name": "low",
    "when": {"metric": "throughput", "below": "20 Mbps", "clear": "30 Mbps"},
    "hold": "10 s",
    "do": {"action": "reexamine"},
}
DECISION = "d-e13.1"
"""The decision that the first request of a new world leads to."""
WISH = {"source": "mu-dtn", "destination": "osu-dtn", "size": "25 GB", "template": "soykb"}
MEASURED = {"al2s": (58e6, 0.033), "internet": (6.5e6, 0.041)}
"""Throughput in bit/s and round-trip time in seconds of each path from mu to osu."""


def make_world_configuration() -> Configuration:
    """Return the example network with a compute site of SLURM, one of HTCondor and one without an adapter."""
    align = {**SLURM["jobs"]["align"], "arguments": 2}
    read = with_adapter(osu_hpc={**SLURM, "jobs": {**SLURM["jobs"], "align": align}})
    compute = {**read.compute, "cloud": compute_site({"kind": "htcondor"})}
    measurements = read.measurements.model_copy(update={"publish_psconfig": True})
    return read.model_copy(update={"compute": FrozenMap(compute), "measurements": measurements})


@dataclass(frozen=True)
class Seed:
    """The databases as each world has them at first: filling them takes longer than most tests."""

    folder: Path
    tokens: Mapping[str, str]
    """By user, one for each role."""
    revoked: str
    expired: str

    def copy_to(self, folder: Path) -> None:
        for file in self.folder.iterdir():
            shutil.copy(file, folder)


@cache
def seed_of(empty: Path) -> Seed:
    """Fill the databases once, beside the empty ones that :func:`empty_database` made."""
    folder = empty.with_name("seed")
    folder.mkdir()
    shutil.copy(empty, folder / STATE)
    shutil.copy(empty.with_name(FILE), folder / FILE)
    with Access.open(f"sqlite:///{folder / FILE}") as access:
        roles = {**{name: name for name in ROLES}, "rival": "researcher"}
        tokens = {name: token_of(access, name, role) for name, role in roles.items()}
        revoked = token_of(access, "gone", "admin")
        access.tokens.revoke(access.tokens.list("gone")[0].id, NOW)
        expired = token_of(access, "late", "admin", lifetime=1)
    with Store.open(f"sqlite:///{folder / STATE}") as store:
        store.save_template(check_model(SOYKB, Template), "admin", NOW)
    with Archive(folder / MEASUREMENTS) as archive:
        archive.append(measurements())
        for alarm in alarms():
            put_alarm(archive, alarm)
        for run in executions():
            put_execution(archive, run)
    return Seed(folder, tokens, revoked, expired)


def token_of(access: Access, name: str, *roles: str, **more: Any) -> str:
    """A token of a user who is made if need be."""
    access.users.ensure(name, roles, NOW)
    text, kept = create_token(name, NOW, **more)
    access.tokens.save(kept)
    return text


@cache
def _routed() -> OpenAPI:
    """The application without services, never served: making its routes takes longer than most tests."""
    configuration = SimpleNamespace(access=SignIn())
    nothing = cast(Services, SimpleNamespace(configuration=configuration, clock=time.time))
    return with_sign_in(create_app(nothing), nothing)


def application(parts: Services) -> OpenAPI:
    """As ``with_sign_in(create_app(parts), parts)``; the routes are shared, and nothing else."""
    app = copy.copy(_routed())
    app.before_request_funcs = copy.deepcopy(app.before_request_funcs)
    app.after_request_funcs = copy.deepcopy(app.after_request_funcs)
    ways = open_ways(parts.configuration.access, parts.clock)
    app.extensions = {**app.extensions, NAME: parts, WAYS: ways}
    return app


class World:
    """Everything a test of the web side needs, in one folder; one token per role."""

    def __init__(self, folder: Path, empty: Path) -> None:
        seed = seed_of(empty)
        seed.copy_to(folder)
        self.folder = folder
        self._controller_time = NOW
        self._ports = count(5001)
        self._faults: list[Exception] = []
        self.url = f"sqlite:///{folder / STATE}"
        self.socket = folder / "c.sock"
        self.tokens: dict[str, str] = dict(seed.tokens)
        self.access = Access.open(f"sqlite:///{folder / FILE}")
        self.revoked, self.expired = seed.revoked, seed.expired
        self.archive = folder / MEASUREMENTS
        self.configuration = make_world_configuration()
        self.controller: Controller | None = None
        self.start_controller()
        self.collector: Collector | None = Collector(folder / "m.sock", self.archive)
        self.link = LinkClient(self.socket, "web")
        self.collector_link = LinkClient(folder / "m.sock", "web", "the collector")
        self.store = Store.open(self.url, read_only=True)
        self.audit = AuditWriter(self.access.audit.append, self.clock)
        self.stream = Stream(lambda flow: requester(self.store, flow))
        self.link.on("announce", self.stream.adder("announce"))
        self.link.on("changed", self.stream.changed)
        self.collector_link.on("alarm", self.stream.adder("alarm"))
        self.collector_link.on("notice", self.stream.adder("notice"))
        self.collector_link.on("path", self.stream.adder("path"))
        parts = Services(
            store=self.store,
            access=self.access,
            audit=self.audit,
            measurements=Measurements(self.archive),
            controller=self.link,
            snapshots=Snapshots(lambda: self.link.call("snapshot", {}), never_fresh),
            rehearsals=share_rehearsals(self.link, never_fresh),
            collector=self.collector_link,
            stream=self.stream,
            gantt=lambda: gantt.page(the_plan().schedule, title="mu-osu"),
            journal=folder / journal.NAME,
            configuration=self.configuration,
            clock=self.clock,
            why_nots=WhyNots(self.url),
        )
        self.app = application(parts)
        self.client = self.app.test_client()

    def clock(self) -> float:
        """Return the time of the web side: 10 s more than the controller's."""
        if self.controller is not None:
            self._controller_time = self.controller.stage.now
        return self._controller_time + 10

    @property
    def stage(self) -> Stage:
        """The controller's stage: a test brings about what happens with its verbs."""
        assert self.controller is not None
        return self.controller.stage

    def start_controller(self, configuration: Configuration | None = None) -> None:
        """Start a controller, in place of another one, with switches connected and paths measured."""
        if configuration is not None:
            self.stop_controller()
            self.configuration = configuration
            self.app.extensions[NAME] = replace(self.app.extensions[NAME], configuration=configuration)
        self.controller = Controller(self.socket, self.url, self.configuration, NOW)
        self.stage.connect()
        for path, (rate, rtt) in MEASURED.items():
            self.stage.measure(path, rate / 1e6, rtt=rtt, age=42.0)

    def report_sites(self) -> None:
        """Let the compute site of SLURM answer, and that of HTCondor not."""
        never = "it says that it would never start such a job"
        for one in (
            report("osu-hpc", wait(120.0), wait(240.0, 4), wait(None, 8, why=never)),
            silent("cloud", "condor_status ended with status 1"),
        ):
            self.stage.feed(SiteReported(*self.stage.stamp(), one))

    def end_job(self, number: int) -> None:
        """Let a job run for 1000 s after 540 s in a queue that its site said to be empty."""
        done: dict[str, Any] = {"submitted": NOW, "started": NOW + 540}
        running = news(number, BatchState.RUNNING, 0.0, **done)
        ended = news(number, BatchState.SUCCEEDED, 0.0, **done, ended=NOW + 1540, exit_status=0)
        for one in (running, ended):
            self.stage.feed(JobTold(*self.stage.stamp(), one))

    def stop_controller(self) -> None:
        if self.controller is not None:
            self.controller.close()
            self._faults += self.controller.faults
            self.controller = None
            gone(self.link)

    def stop_collector(self) -> None:
        if self.collector is not None:
            self.collector.close()
            self.collector = None
            gone(self.collector_link)

    def token(self, name: str, *roles: str, **more: Any) -> str:
        """A token of a user who is made if need be."""
        return token_of(self.access, name, *roles, **more)

    def close(self) -> None:
        self.stream.close()
        self.stop_controller()
        self.stop_collector()
        self.link.close()
        self.collector_link.close()
        self.store.close()
        self.audit.close()
        self.access.close()
        assert not self._faults

    def grant(self, *grants: dict[str, Any]) -> None:
        """Say in the configuration who may measure."""
        read = tuple(MeasurementGrant.model_validate(grant) for grant in grants)
        self.app.extensions[NAME] = replace(self.app.extensions[NAME], policy=Policy(read))

    def append(self, *values: Measurement | Observation) -> None:
        with Archive(self.archive) as archive:
            archive.append(values)

    def put(self, *documents: Alarm | Execution) -> None:
        with Archive(self.archive) as archive:
            for one in documents:
                if isinstance(one, Alarm):
                    put_alarm(archive, one)
                else:
                    put_execution(archive, one)

    def overlap(self, task: str, other: str) -> None:
        """Two runs that met, as the collector says it."""
        at = NOW - 58
        first, second = (Execution(name, 1, at, at, at + 5, "measured") for name in (task, other))
        self.put(first, second)
        document = {"first": to_json(first), "second": to_json(second), "seconds": 5.0}
        with Archive(self.archive) as archive:
            archive.put_document("overlap", f"{first.id} {second.id}", NOW - 50, None, document)

    def ask(self, method: str, path: str, as_: str | None = "admin", **more: Any) -> Any:
        headers = dict(more.pop("headers", {}))
        if as_ is not None:
            headers["Authorization"] = f"Bearer {self.tokens.get(as_, as_)}"
        return self.client.open("/api/v1" + path, method=method, headers=headers, **more)

    def submit(self, as_: str = "researcher", **changes: Any) -> str:
        """Ask for a transfer to a port of its own."""
        answer = self.ask("POST", "/flows", as_, json={**WISH, "ports": [next(self._ports)], **changes})
        assert answer.status_code == 202, answer.text
        return str(answer.json["id"])

    def submit_triggered(self, **changes: Any) -> str:
        """Ask for a transfer, and let a trigger of its template fire twice."""
        self.ask("POST", "/templates", json={**SOYKB, "name": "eager", "triggers": [LOW]})
        name = self.submit(template="eager", **changes)
        for mbps in (10.0, 40.0, 9.0):
            self.stage.pass_time(12)
            self.stage.measure("al2s", mbps)
        return name

    def flow(self, flow_id: str) -> Flow:
        """Return a flow as the store has it."""
        return self.store.flow(int(flow_id[2:]))

    @contextmanager
    def served(self, **more: Any) -> Iterator[str]:
        """The same application behind the real server, on a port of its own; its address."""
        listener = socket.create_server(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        parts = self.app.extensions[NAME]
        server = WebServer(
            self.app,
            self.stream,
            standing=lambda ids: parts.access.tokens.list_actors(ids, parts.clock()),
            **more,
        )
        thread = threading.Thread(target=server.serve_on, args=(listener,), daemon=True)
        thread.start()
        try:
            yield address
        finally:
            server.stop()
            thread.join(60)


def signed_in(browser: Any, **more: Any) -> bool:
    """Whether a session is known at this browser: only then it is asked whether to sign out."""
    return bool(browser.get("/sign-out", **more).status_code == 200)


def gone(link: LinkClient) -> None:
    deadline = time.monotonic() + 60
    while link.connected:
        assert time.monotonic() < deadline, "the link outlives its far end"
        threading.Event().wait(0.002)


def empty_database(folder: Path) -> Path:
    file = folder / "empty.db"
    make_database(f"sqlite:///{file}")
    make_database(f"sqlite:///{folder / FILE}", ACCESS)
    return file


def measurements() -> list[Measurement]:
    return [
        Measurement(
            PathKey(path, "mu", "osu"),
            metric,
            value,
            NOW - 60 * age - 5,
            NOW - 60 * age,
            f"https://mu/pscheduler/tasks/{path}/runs/{metric}-{age}",
            "iperf3" if metric is Metric.THROUGHPUT else "ping",
        )
        for path, both in MEASURED.items()
        for metric, value in zip((Metric.THROUGHPUT, Metric.RTT), both, strict=True)
        for age in range(3)
    ]


def end_flow(world: World, who: str = "researcher", **changes: Any) -> str:
    """Let a transfer wait for 10 s, run on one path for 60 s and on another one for 30 s; return its id."""
    stage = world.stage
    for path in MEASURED:
        stage.measure(path, 5.0)
    name = world.submit(who, **{"size": "650 MB", "qspec": {"throughput": {"min": "6 Mbps"}}, **changes})
    stage.pass_time(10)
    stage.measure("al2s", 58.0)
    flow = world.flow(name)
    stage.report(flow, "started", 0)
    for _ in range(2):
        stage.pass_time(30)
        stage.carry(flow, 300_000_000)
    stage.measure("internet", 6.5)
    stage.port_down(MU_EDGE, "mu-edge-al2s")
    stage.pass_time(30)
    stage.report(flow, "finished", 900_000_000)
    stage.port_up(MU_EDGE, "mu-edge-al2s")
    return name
