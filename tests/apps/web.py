"""A small ADON for the tests of its web side: real databases, real links, stand-ins at their far ends."""

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
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from flask_openapi3.openapi import OpenAPI

from adon.access.identity import create_token
from adon.broker import maintaining
from adon.broker.broker import Broker
from adon.broker.decision import Decision, Outcome, SiteCost
from adon.broker.effects import Answer, RuleState, SaveReservation
from adon.broker.events import (
    Event,
    PreviewAsked,
    ReservationAsked,
    ReservationReleased,
    WaitingAsked,
    WhatIfAsked,
)
from adon.broker.flow import Flow, FlowRequest, FlowState
from adon.broker.maintenance import WindowRequest, Windows
from adon.broker.resources.amounts import Amounts
from adon.broker.resources.book import Book, Hold, Who
from adon.broker.resources.offer import configured_offers
from adon.broker.resources.reading import site_json
from adon.broker.resources.reservation import ReservationRequest
from adon.broker.scenario import Failure, Scenario
from adon.broker.sites import working
from adon.broker.sites.jobs import JobRequest, Jobs, JobState
from adon.broker.sites.standing import Standings
from adon.config import Access as SignIn
from adon.config import ConfiguredJob, MeasurementGrant
from adon.errors import AdonError, Conflict, InvalidInput
from adon.flowvisor.action import Output
from adon.flowvisor.assessment import CandidateRecord, MetricRecord, Verdict
from adon.flowvisor.cookie import Kind, cookie
from adon.flowvisor.match import Match
from adon.flowvisor.pipeline import FLOW_PRIORITY
from adon.flowvisor.rule import Rule
from adon.flowvisor.topology import Topology
from adon.store import codec
from adon.store.access import upgrade as access
from adon.store.access.access import Access
from adon.store.access.database import FILE
from adon.store.store import Store
from adon.store.upgrade import upgrade
from adon.templates_catalog.catalog import Catalog
from adon.templates_catalog.model import Template
from adon.yamlfile import check_model
from apps import journal
from apps.campus_edge.tally import Tally
from apps.link import LinkClient, LinkServer, Peer
from apps.rest.app import create_app, with_sign_in
from apps.rest.audit_writer import AuditWriter
from apps.rest.identity.ways import NAME as WAYS
from apps.rest.identity.ways import open_ways
from apps.rest.services import NAME, Measurements, Services, requester
from apps.rest.serving import WebServer
from apps.rest.snapshots import Snapshots
from apps.rest.stream import Stream
from apps.rest.why_nots import WhyNots
from measurement.anomaly.alarm import Alarm
from measurement.anomaly.alarm import to_json as alarm_to_json
from measurement.archive import Archive
from measurement.model import Measurement, Metric, Observation, PathKey
from measurement.scheduling import Execution, gantt
from measurement.scheduling.execution import to_json as execution_to_json
from tests.apps.measured import (
    FELL,
    NOW,
    Collector,
    alarms,
    executions,
    put_alarm,
    put_execution,
    the_plan,
)
from tests.broker.queueing.scenes import full
from tests.broker.sites.values import compute_site, job, report, silent, wait
from tests.broker.test_whatif import three_on_al2s
from tests.support.network_factories import make_configuration
from tests.support.stage import make_stage

STATE, MEASUREMENTS = "state.db", "measurements.db"
HOSTS = {"mu-dtn": "mu", "osu-dtn": "osu"}
ROLES = ("admin", "performance_engineer", "researcher", "operator", "auditor")

SOYKB = {
    "name": "soykb",
    "title": "SoyKB",
    "description": "Soybean knowledge base: bulk transfer of sequence data.",
    "qspec": {"throughput": {"min": "7 Mbps", "target": "50 Mbps"}, "rtt": {"max": "100 ms"}},
    "weights": {"throughput": 3, "rtt": 1},
}
WISH = {"source": "mu-dtn", "destination": "osu-dtn", "size": "25 GB", "template": "soykb"}


def preview_of(payload: dict[str, Any]) -> Mapping[str, Any] | AdonError:
    """What the real core says, of two paths that are measured."""
    stage = make_stage()
    request = check_model(payload["request"], FlowRequest)
    stage.feed(PreviewAsked(*stage.stamp(), "c", request, payload["requester"]))
    answer = stage.answers["c"]
    assert isinstance(answer, Mapping | AdonError)
    return answer


class Controller:
    """Answers the web side's commands from the store, as the real one would."""

    def __init__(self, path: Path, url: str) -> None:
        self.store = Store.open(url)
        self.catalog = Catalog.of(saved.template for saved in self.store.templates())
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self.answers: dict[tuple[str, str], Flow] = {}
        self.windows = Windows(self.store.windows())
        self.jobs = Jobs()
        self.broker = Broker(make_configuration(), self.catalog)
        self.reserved: dict[tuple[str, str], Any] = {}
        self.snapshot: dict[str, Any] = snapshot()
        self.tally = Tally()
        self.refused = 0
        self.server = LinkServer(path, self.handle)

    def handle(self, peer: Peer, kind: str, payload: dict[str, Any]) -> None:
        self.seen.append((kind, payload))
        command = str(payload.get("command"))
        match kind:
            case "flow.submit":
                peer.answer(command, codec.encode_flow(self.submit(payload)))
            case "flow.preview":
                peer.answer(command, preview_of(payload))
            case "flow.cancel":
                peer.answer(command, codec.encode_flow(self.end(payload["flow"], FlowState.CANCELLED)))
            case "flow.report":
                to = {"finished": FlowState.FINISHED, "failed": FlowState.FAILED}.get(payload["status"])
                flow = self.store.flow(payload["flow"]) if to is None else self.end(payload["flow"], to)
                flow = replace(flow, bytes_reported=payload["bytes"])
                self.store.save_flow(flow, "report", NOW)
                peer.answer(command, codec.encode_flow(flow))
            case "template.add":
                self.catalog, saved = self.catalog.add(check_model(payload["template"], Template))
                self.store.save_template(saved, payload["author"], NOW)
                peer.answer(command, codec.encode_template(saved))
            case "maintenance.add":
                wanted = check_model(payload["request"], WindowRequest)
                window = self.windows.add(wanted, payload["requester"], NOW, Topology(make_configuration()))
                self.store.save_window(window)
                peer.answer(command, dict(maintaining.as_json(window, NOW)))
            case "maintenance.cancel":
                window = self.windows.cancel(payload["number"], NOW)
                self.store.save_window(window)
                peer.answer(command, dict(maintaining.as_json(window, NOW)))
            case "job.submit":
                wished = check_model(payload["request"], JobRequest)
                if wished.site not in ("mu-hpc", "osu-hpc"):
                    raise InvalidInput.of("site", f"there is no compute site {wished.site!r}")
                made = self.jobs.new(wished, ConfiguredJob(run=("/opt/a",)), payload["requester"], "e1", NOW)
                self.store.save_job(made)
                peer.answer(command, dict(working.as_json(made)))
            case "job.cancel":
                ending = self.jobs.put(replace(self.jobs.get(payload["number"]), cancelling=True))
                self.store.save_job(ending)
                peer.answer(command, dict(working.as_json(ending)))
            case "reservation.add" | "reservation.release":
                peer.answer(command, self.reserve(kind, payload))
            case "what-if":
                asked = payload.get("failure")
                scenario = None if asked is None else Scenario(Failure(asked), payload["name"])
                peer.answer(command, dict(three_on_al2s().command(WhatIfAsked, scenario)))
            case "flow.waiting":
                stage, _, waiting = full()
                answer = stage.command(WaitingAsked, waiting.number)
                peer.answer(command, {**answer, "id": f"f-{payload['flow']}"})
            case "snapshot":
                peer.answer(command, self.snapshot)
            case "tally":
                peer.answer(command, self.tally.read() | {"unannounced_refused": self.refused})
            case "rules.diff":
                switch = {"name": "mu-edge", "dpid": "0000000000000a01", "connected": True}
                found = {"missing": ["priority=30500 actions=drop"], "wrong": [], "extra": [], "blocked": []}
                away = {"name": "osu-edge", "dpid": "0000000000000a02", "connected": False}
                nothing: dict[str, list[str]] = {kind: [] for kind in found}
                peer.answer(command, {"at": NOW, "items": [{**switch, **found}, {**away, **nothing}]})
            case "rules.sync":
                peer.answer(command, {"switches": ["mu-edge"]})

    def reserve(self, kind: str, payload: dict[str, Any]) -> Any:
        """As the real one: its broker is asked, and what it wants saved is saved."""
        key = (payload["requester"], payload.get("idempotency_key", ""))
        if key[1] and key in self.reserved:
            return self.reserved[key]
        event: Event
        if kind == "reservation.add":
            asked = check_model(payload["request"], ReservationRequest)
            event = ReservationAsked("e-r", NOW, "c", asked, payload["requester"])
        else:
            event = ReservationReleased("e-r", NOW, "c", payload["number"], payload["requester"])
        for effect in self.broker.handle(event):
            if isinstance(effect, SaveReservation):
                self.store.save_reservation(effect.reservation)
            elif isinstance(effect, Answer):
                answer = effect.value if isinstance(effect.value, AdonError) else dict(effect.value)
        self.reserved[key] = answer
        return answer

    def submit(self, payload: dict[str, Any]) -> Flow:
        key = (payload["requester"], payload.get("idempotency_key", ""))
        if key[1] and key in self.answers:
            return self.answers[key]
        request = check_model(payload["request"], FlowRequest)
        for field in ("source", "destination"):
            if getattr(request, field) not in HOSTS:
                raise InvalidInput.of(field, f"there is no host {getattr(request, field)!r}")
        template = self.catalog.resolve(request.template or "soykb")
        flow = Flow(
            number=self.store.last_flow_number() + 1,
            request=request,
            requester=payload["requester"],
            template=template.reference,
            submitted_at=NOW,
            state_since=NOW,
            transfer_size=request.size,
        )
        self.store.save_flow(flow, "submit", NOW)
        self.answers[key] = flow
        return flow

    def end(self, number: int, to: FlowState) -> Flow:
        flow = self.store.flow(number)
        if flow.state.final:
            raise Conflict("state", f"flow {flow.id} is already {flow.state}")
        if flow.state is FlowState.REQUESTED and to is not FlowState.CANCELLED:
            flow = flow.step(FlowState.INSTALLING, NOW, "")
        flow = flow.step(to, NOW, f"now {to}", ended_at=NOW)
        self.store.save_flow(flow, "end", NOW)
        return flow

    def close(self) -> None:
        self.server.close()
        self.store.close()


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
    access.users.named(name, roles, NOW)
    text, kept = create_token(name, NOW, **more)
    access.tokens.save(kept)
    return text


@cache
def _routed() -> OpenAPI:
    """The application without services, never served: making its routes takes longer than most tests."""
    nothing = cast(Services, SimpleNamespace(sign_in=SignIn(), clock=time.time))
    return with_sign_in(create_app(nothing), nothing)


def application(parts: Services) -> OpenAPI:
    """As ``with_sign_in(create_app(parts), parts)``; the routes are shared, and nothing else."""
    app = copy.copy(_routed())
    app.before_request_funcs = copy.deepcopy(app.before_request_funcs)
    app.after_request_funcs = copy.deepcopy(app.after_request_funcs)
    ways = open_ways(parts.sign_in, parts.clock)
    app.extensions = {**app.extensions, NAME: parts, WAYS: ways}
    return app


class World:
    """Everything a test of the web side needs, in one folder; one token per role."""

    def __init__(self, folder: Path, empty: Path) -> None:
        seed = seed_of(empty)
        seed.copy_to(folder)
        self.folder = folder
        self.url = f"sqlite:///{folder / STATE}"
        self.socket = folder / "c.sock"
        self.tokens: dict[str, str] = dict(seed.tokens)
        self.access = Access.open(f"sqlite:///{folder / FILE}")
        self.revoked, self.expired = seed.revoked, seed.expired
        self.archive = folder / MEASUREMENTS
        self.controller: Controller | None = Controller(self.socket, self.url)
        self.collector: Collector | None = Collector(folder / "m.sock", self.archive)
        self.link = LinkClient(self.socket, "web")
        self.collector_link = LinkClient(folder / "m.sock", "web", "the collector")
        self.store = Store.open(self.url, read_only=True)
        self.audit = AuditWriter(self.access.audit.append, lambda: NOW + 10)
        self.stream = Stream(lambda flow: requester(self.store, flow))
        self.collector_link.on("alarm", self.stream.adder("alarm"))
        self.collector_link.on("notice", self.stream.adder("notice"))
        self.collector_link.on("path", self.stream.adder("path"))
        parts = Services(
            self.store,
            self.access,
            self.audit,
            Measurements(self.archive),
            self.link,
            Snapshots(lambda: self.link.call("snapshot", {}), time.monotonic),
            self.collector_link,
            self.stream,
            lambda: gantt.page(the_plan().schedule, title="mu-osu"),
            folder / journal.NAME,
            make_configuration(),
            HOSTS,
            clock=lambda: NOW + 10,
            why_nots=WhyNots(self.url),
        )
        self.app = application(parts)
        self.client = self.app.test_client()

    def stop_controller(self) -> None:
        if self.controller is not None:
            self.controller.close()
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

    def grant(self, *grants: dict[str, Any]) -> None:
        """Say in the configuration who may measure."""
        read = tuple(MeasurementGrant.model_validate(grant) for grant in grants)
        self.app.extensions[NAME] = replace(self.app.extensions[NAME], grants=read)

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
        document = {"first": execution_to_json(first), "second": execution_to_json(second), "seconds": 5.0}
        with Archive(self.archive) as archive:
            archive.put_document("overlap", f"{first.id} {second.id}", NOW - 50, None, document)

    def ask(self, method: str, path: str, as_: str | None = "admin", **more: Any) -> Any:
        headers = dict(more.pop("headers", {}))
        if as_ is not None:
            headers["Authorization"] = f"Bearer {self.tokens.get(as_, as_)}"
        return self.client.open("/api/v1" + path, method=method, headers=headers, **more)

    def submit(self, as_: str = "researcher", **changes: Any) -> str:
        answer = self.ask("POST", "/flows", as_, json={**WISH, **changes})
        assert answer.status_code == 202, answer.text
        return str(answer.json["id"])

    def fill(self, flow_id: str) -> Flow:
        """Give a flow a decision, a rule and a path, as if it had been admitted."""
        assert self.controller is not None
        store = self.controller.store
        flow = store.flow(int(flow_id[2:]))
        decision = decision_for(flow)
        flow = flow.step(
            FlowState.INSTALLING, NOW, decision.reason, path="al2s", path_since=NOW, decision=decision.id
        )
        store.save_decision(decision)
        store.save_flow(flow, "e-1", NOW)
        store.save_rules([rule_for(flow)], RuleState.INSTALLED, "", NOW)
        return flow

    @contextmanager
    def served(self, **more: Any) -> Iterator[str]:
        """The same application behind the real server, on a port of its own; its address."""
        listener = socket.create_server(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        parts = self.app.extensions[NAME]
        server = WebServer(
            self.app,
            self.stream,
            rates=parts.rates,
            standing=lambda ids: parts.access.tokens.standing(ids, parts.clock()),
            **more,
        )
        thread = threading.Thread(target=server.serve_on, args=(listener,), daemon=True)
        thread.start()
        try:
            yield address
        finally:
            server.stop()
            thread.join(10)


def signed_in(browser: Any, **more: Any) -> bool:
    """Whether a session is known at this browser: only then it is asked whether to sign out."""
    return bool(browser.get("/sign-out", **more).status_code == 200)


def gone(link: LinkClient) -> None:
    deadline = time.monotonic() + 10
    while link.connected:
        assert time.monotonic() < deadline, "the link outlives its far end"
        threading.Event().wait(0.002)


def empty_database(folder: Path) -> Path:
    file = folder / "empty.db"
    upgrade(f"sqlite:///{file}")
    access.upgrade(f"sqlite:///{folder / FILE}")
    return file


def measurements() -> list[Measurement]:
    values = {"al2s": (58e6, 0.033), "internet": (6.5e6, 0.041)}
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
        for path, both in values.items()
        for metric, value in zip((Metric.THROUGHPUT, Metric.RTT), both, strict=True)
        for age in range(3)
    ]


def snapshot() -> dict[str, Any]:
    def known(value: float, age: float) -> dict[str, Any]:
        origin = {"source": "https://mu/r", "basis": "active test"}
        return {"value": value, "observed_at": NOW - age, "age": age, **origin}

    def switch(name: str, dpid: str, connected: bool, rules: int) -> dict[str, Any]:
        ports = {f"{name}-dtn": {"number": 1, "live": True}, f"{name}-al2s": {"number": 2, "live": connected}}
        table = {"active": rules, "maximum": 1000, "budget": None, "full": None}
        mode = {"pipeline": "single", "control": "exclusive", "drift": "heal", "advise": False}
        known = {"name": name, "dpid": dpid, "connected": connected, "rules": rules, "foreign_rules": 3}
        lacks = ["queues: queue 1 of port 2 is needed, and the operator has not made it"] if connected else []
        said = {"tables": {"0": {"active": rules + 1, "maximum": 2000}}, "lacks": lacks}
        return {**known, **mode, **said, "table": table, "ports": ports}

    def circuit(name: str, vlan: int | None) -> dict[str, Any]:
        known = {"source": "mu", "destination": "osu", "switches": ["mu-edge", "osu-edge"]}
        return {"name": name, "overlay": None, "vlan": vlan, "links": [], **known}

    def path(
        name: str, layer: str, capacity: float, rate: float, source: str, destination: str
    ) -> dict[str, Any]:
        measured = {"throughput": known(rate, 42), "rtt": known(0.033, 12)}
        return {
            "path": name,
            "source": source,
            "destination": destination,
            "layer": layer,
            "capacity": capacity,
            "mtu": 1500,
            "ports_known": True,
            "usable": True,
            "reason": "",
            "metrics": measured if source == "mu" else {},
            "flows": ["f-1"] if (name, source) == ("al2s", "mu") else [],
            "alarms": [fell] if (name, source) == ("al2s", "mu") else [],
        }

    same = ("id", "kind", "direction", "bad", "severity", "raised_at", "text")
    fell = {name: value for name, value in alarm_to_json(FELL).items() if name in same}
    fell |= {"metric": FELL.series.metric, "acted_on": True}
    ends = {"path": "al2s", "source": "mu", "destination": "osu"}
    return {
        "at": NOW,
        "network": "mu-osu",
        "paths": [
            path(*properties, *ends)
            for properties in (("al2s", "l2", 60.6e6, 58e6), ("internet", "l3", 6.8e6, 6.5e6))
            for ends in (("mu", "osu"), ("osu", "mu"))
        ],
        "switches": [
            switch("mu-edge", "0000000000000a01", True, 12),
            switch("osu-edge", "0000000000000a02", False, 0),
        ],
        "links": [],
        "sites": [
            {"name": "mu", "edge": "mu-edge", "hosts": ["mu-dtn"]},
            {"name": "osu", "edge": "osu-edge", "hosts": ["osu-dtn"]},
        ],
        "wires": [],
        "circuits": [circuit("al2s", 3000), circuit("internet", None)],
        "standby_paths": None,
        "queue": [],
        "queued": 0,
        "quiet": [],
        "estimates": [{**ends, "basis": "active test", "count": 4, "median": 0.125, "spread": 0.25}],
        "reconcile": {"missing": 2, "wrong": 0, "extra": 1, "blocked": 0},
        "slices": [
            {
                "name": "genomics",
                "rules": {"0000000000000a01": 4},
                "paths": [{"path": "al2s", "source": "mu", "destination": "osu", "reserved": 7e6}],
            }
        ],
        "resources": [
            site_json(offer, Book.of(offer.limits, {1: Hold(Amounts(nodes=4), Who("ann", 1))}), NOW)
            for offer in configured_offers(make_configuration()).values()
        ],
        "failover": {"buckets": [["0.5", 2], ["+Inf", 3]], "seconds": 1.75, "open": 0},
        "compute": compute(),
    }


def compute() -> list[dict[str, Any]]:
    """Sites as the controller reads them out: one answers and was late once, one is silent, one not asked."""
    sites = {
        "osu-hpc": compute_site(),
        "cloud": compute_site({"kind": "htcondor"}),
        "mu-hpc": compute_site(None),
    }
    late = job(predicted=0.0, queued_at=100.0, started_at=640.0)
    done = job(
        state=JobState.SUCCEEDED, template="soykb", size=10**9, nodes=2, started_at=0.0, ended_at=1000.0
    )
    known = Standings(sites, (late, done))
    waits = (wait(120.0), wait(None, 8, why="it says that it would never start such a job"))
    known.reported(report("osu-hpc", *waits), NOW - 5)
    known.reported(silent("cloud", "condor_status ended with status 1"), NOW - 300)
    return known.reading(NOW)


def decision_for(flow: Flow) -> Decision:
    def metric(name: str, value: float, bound: float, met: bool, score: float) -> MetricRecord:
        origin = ("https://mu/r", "active test", "")
        return MetricRecord(name, value, NOW - 42, 42.0, *origin, bound, met, score, 0.5)

    def site(name: str, local: bool, total: float, queue: float, path: str | None, why: str) -> SiteCost:
        times, sizes = (total, total, queue, 30.5, 60.0, 0.0), (10**9, 10**8, 4)
        return SiteCost(name, local, *times, *sizes, 8e6, 9e7, 5.8e7, path, why)

    unknown = MetricRecord("rtt", None, unknown="never measured", bound=0.1, weight=0.5)
    good = (metric("throughput", 58e6, 7e6, True, 10.0), metric("rtt", 0.033, 0.1, True, 7.4))
    bad = (metric("throughput", 6.5e6, 7e6, False, 0.9), unknown)
    missed = "throughput 6.5 Mbps is below 7 Mbps"
    infinite = float("inf")
    return Decision(
        id=f"d-{flow.number}",
        flow=flow.id,
        at=NOW,
        cause="e-1",
        outcome=Outcome.ADMIT,
        path="al2s",
        previous_path=None,
        code="best-score",
        reason="al2s has the highest Q (9.35) of the paths that meet every bound",
        template=flow.template,
        weights={"throughput": 0.75, "rtt": 0.25},
        candidates=(
            CandidateRecord("al2s", "l2", Verdict.QUALIFIED, "bounds-kept", "every bound is met", 9.35, good),
            CandidateRecord("internet", "l3", Verdict.UNQUALIFIED, "bound-missed", missed, None, bad),
        ),
        tables={"throughput": {"points": [[7e6, 1], [50e6, 10]]}},
        compute=(
            site("mu-hpc", True, infinite, infinite, None, "no worker nodes are free"),
            site("osu-hpc", False, 95.5, 5.0, "al2s", ""),
        ),
        compute_site="osu-hpc",
        alarm=FELL.id,
    )


def rule_for(flow: Flow) -> Rule:
    return Rule(
        0xA01,
        FLOW_PRIORITY + 500,
        Match(in_port=1, eth_type=0x0800, ip_proto=6, ip_src="10.1.0.10", ip_dst="10.2.0.10"),
        (Output(2),),
        cookie(Kind.FLOW_INGRESS, flow.number),
    )
