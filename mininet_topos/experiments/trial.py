"""One trial, from its first flow to its last byte: a loop around the timeline.

Occurrences come from three sides: traffic that starts and ends, updates of the policy, and time.  The
timeline answers each with the steps to start or skip.
"""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from adon.errors import AdonError, Unavailable
from adon.timestamps import format_time
from mininet_topos.experiments.document import Event, LinkEvent, Phase
from mininet_topos.experiments.document import Load as LoadEvent
from mininet_topos.experiments.plan import PlannedFlow, paths_between
from mininet_topos.experiments.policies import AdonPolicy, FlowUpdate, PathPolicy, UpdateKind
from mininet_topos.experiments.results import (
    DecisionRow,
    EventRow,
    FlowRow,
    FlowState,
    MeasurementRow,
    Tables,
    ThroughputRow,
)
from mininet_topos.experiments.timeline import (
    Action,
    Happened,
    Impossible,
    Occurrence,
    Skip,
    advance,
    ended_by,
    start_timeline,
)
from mininet_topos.experiments.trial_setup import TrialSetup, as_change, circuit_of
from mininet_topos.experiments.verdicts import OVERLAP
from mininet_topos.testbed import LinkChange
from mininet_topos.topologies.campus_topo import CampusTopo
from mininet_topos.traffic.traffic_run import Delivery, Load, TrafficRun

POLL_INTERVAL, TEST_INTERVAL = 0.3, 1.0
PORTS = range(20_000, 30_000)
AFTER_END = frozenset({Phase.TESTED, Phase.RETESTED})
"""Moments of a flow that may come after its end."""


@dataclass(slots=True, kw_only=True)
class Carried:
    """Traffic of a flow or of a load, as far as it was noticed; times are seconds since the epoch.

    :param run: None before it starts.
    :param paths: each with the time since which it had it.
    """

    run: TrafficRun | None = None
    paths: list[tuple[float, str]] = field(default_factory=list)
    began: float | None = None
    ended: float | None = None
    delivery: Delivery | None = None


@dataclass(slots=True, kw_only=True)
class FlowRecord(Carried):
    """A flow of a trial.

    :param size: bytes to send; None for a flow that lasts a time.
    :param rejected: why it is never carried.
    :param is_cut: whether it was stopped because its trial was over.
    """

    flow: PlannedFlow
    port: int
    policy: PathPolicy
    size: int | None
    asked: float | None = None
    decided: float | None = None
    rejected: str = ""
    flow_id: str = ""
    is_cut: bool = False

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.rejected != "" or self.delivery is not None

    @property
    def state(self) -> FlowState:
        """Its state."""
        if self.delivery is not None and not self.is_cut:
            return FlowState.FAILED if self.delivery.problem else FlowState.FINISHED
        if self.rejected:
            return FlowState.REJECTED
        return FlowState.WAITING if self.began is None else FlowState.RUNNING


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """Rows of a trial; ``reason`` tells why it is partial."""

    tables: Tables
    reason: str = ""


class TrialRun:
    """Carries out a trial.

    :param print_line: is given what happens, one line each.
    """

    def __init__(self, setup: TrialSetup, print_line: Callable[[str], object]) -> None:
        topo = setup.testbed.topo
        assert isinstance(topo, CampusTopo)  # noqa: S101 - experiments have no clouds
        self._topo, self._setup, self._trial, self._print = topo, setup, setup.trial, print_line
        names = [flow.name for flow in self._trial.flows] + [event.name for event in self._trial.events]
        chance = random.Random(self._trial.seed)  # noqa: S311 - a reproducible choice, no secret
        self._ports = dict(zip(names, chance.sample(PORTS, len(names)), strict=True))
        self._flows = {
            flow.name: FlowRecord(
                flow=flow,
                port=self._ports[flow.name],
                policy=setup.policy if flow.path is None else setup.pinned,
                size=flow.size,
            )
            for flow in self._trial.flows
        }
        self._events = {event.name: event for event in self._trial.events}
        self._loads: dict[str, Carried] = {}
        self._restore: dict[str, tuple[str, LinkChange]] = {}
        self._open: set[str] = set()
        self._rows: list[EventRow] = []
        self._occurrences: deque[Occurrence] = deque()
        self._wake = threading.Event()
        self._began_at = self._tested_at = 0.0

    def run(self) -> TrialOutcome:
        """Carry it out; an error of ADON's or the testbed's makes it partial.

        :raises KeyboardInterrupt: when all traffic was stopped.
        """
        self._began_at = time.time()
        reason = ""
        try:
            reason = self._loop()
            if isinstance(self._setup.policy, AdonPolicy):
                self._setup.policy.read_decisions()
        except AdonError as error:
            reason = str(error)
            self._note("trial", "trial", "ends", "aborted", reason)
        finally:
            self._stop_traffic()
        return TrialOutcome(self._tables(), reason)

    @property
    def _traffic(self) -> dict[str, Carried]:
        return {**self._flows, **self._loads}

    # The loop

    def _loop(self) -> str:
        """Run until everything is over; return why it is partial, else an empty text."""
        state = start_timeline(self._trial)
        self._occurrences.append(None)
        while True:
            while self._occurrences:
                state, actions = advance(state, self._occurrences.popleft(), self._now)
                for action in actions:
                    self._act(action)
                if actions:
                    self._poll_policies()
            if not state.waiting and not self._open and all(one.is_over for one in self._flows.values()):
                return ""
            now, limit = self._now, self._trial.limit
            if now > limit:
                return f"not over within {limit:g} s: {self._unfinished()}"
            due = now + POLL_INTERVAL if state.next_due is None else state.next_due
            self._wake.wait(max(0.001, min(POLL_INTERVAL, limit - now + 0.01, due - now)))
            self._wake.clear()
            self._setup.check_health()
            self._follow_traffic()
            self._read_tests(state.awaited)
            self._poll_policies()
            self._occurrences.append(None)

    @property
    def _now(self) -> float:
        return time.time() - self._began_at

    def _happened(self, of: str, what: Phase, at: float | None = None) -> None:
        """Tell the timeline of a moment, now or ``at`` seconds since the epoch."""
        self._occurrences.append(Happened(of, what, (time.time() if at is None else at) - self._began_at))

    def _note(self, event: str, kind: str, phase: str, about: str, problem: str = "") -> None:
        self._rows.append(EventRow(self._trial.number, self._now, event, kind, phase, about, problem))
        self._print(f"{event} {phase}: {about}" + (f": {problem}" if problem else ""))

    def _unfinished(self) -> str:
        words = {FlowState.WAITING: "waits", FlowState.RUNNING: "sends"}
        found = [f"{name} {words[one.state]}" for name, one in self._flows.items() if one.state in words]
        return ", ".join(found) or "a moment that a step waits for does not come"

    # Actions

    def _act(self, action: Action) -> None:
        ended = ended_by(action.step)
        if ended is not None:  # also if its moment cannot come: what waits for it would never end
            self._end(ended)
        elif isinstance(action, Skip):
            self._skip(action.step, action.reason)
        elif action.step in self._flows:
            self._request(self._flows[action.step])
        else:
            self._start_event(self._events[action.step])

    def _skip(self, step: str, reason: str) -> None:
        if step in self._flows:
            record = self._flows[step]
            record.rejected = record.rejected or f"never requested: {reason}"
            self._print(f"{step} is left out: {reason}")
        else:
            self._note(step, self._events[step].kind, "begins", "left out", reason)

    def _request(self, record: FlowRecord) -> None:
        if record.is_over:  # its end came before it
            return
        flow = record.flow
        record.asked = time.time()
        self._print(f"{flow.name} requests a path from {flow.source} to {flow.destination}")
        self._happened(flow.name, Phase.ASKED)
        record.policy.request(flow, record.port)

    def _start_event(self, event: Event) -> None:
        self._happened(event.name, Phase.ASKED)
        about, problem = event.kind, ""
        began = time.time()  # what follows from it may come before the call returns: a port is down at once
        if event.lasts is not None or event.until is not None:
            self._open.add(event.name)
        if event.load is not None:
            about = f"load on {event.load.path}"
            run = TrafficRun(self._setup.testbed.popen, self._load_of_event(event), self._wake.set)
            self._loads[event.name] = Carried(run=run, paths=[(0.0, event.load.path)])
        elif event.link is not None:
            about = self._change_link(event.name, event.link)
        elif event.controller is not None:
            about = f"ADON: {event.controller.value}"
            self._setup.control(event.controller)
        elif event.move is not None:
            about = f"{event.move.flow} is ordered to {event.move.to}"
            record = self._flows[event.move.flow]
            problem = f"{event.move.flow} is over" if record.is_over else ""
            problem = problem or record.policy.order_move(event.move.flow, event.move.to)
        self._note(event.name, event.kind, "begins", about, problem)
        self._rows[-1] = self._rows[-1]._replace(at=began - self._began_at)
        if event.load is None:
            self._happened(event.name, Phase.BEGINS, began)

    def _change_link(self, event: str, link: LinkEvent) -> str:
        """Change a circuit; keep what undoes it: attributes of the trial, else of the topology."""
        name = circuit_of(self._topo, link.name or link.path or "")
        settings = {circuit_of(self._topo, key): one for key, one in self._trial.links.items()}
        given, shape = settings.get(name), self._topo.circuits[name].shape

        def before(attribute: str) -> float | None:
            if getattr(link, attribute) is None:
                return None
            value = getattr(given, attribute, None)
            return getattr(shape, attribute, None) if value is None else value

        up = None if link.state is None else link.state == "up"
        undo = LinkChange(None if up is None else not up, before("rate"), before("delay"), before("loss"))
        self._restore[event] = (name, undo)
        change = as_change(link, up=up)
        self._setup.testbed.change_link(name, change)
        values = {"up": change.up, "rate": change.rate, "delay": change.delay, "loss": change.loss}
        return f"{name}: " + ", ".join(f"{key} {one}" for key, one in values.items() if one is not None)

    def _end(self, name: str) -> None:
        carried = self._traffic.get(name)
        if carried is not None and carried.run is not None:
            carried.run.stop()
        elif isinstance(carried, FlowRecord):
            if not carried.is_over:
                if carried.asked is not None:
                    carried.policy.finished(name, None)
                self._reject(carried, "its end came before it had a path")
        elif name in self._open:
            if name in self._restore:
                circuit, undo = self._restore[name]
                self._setup.testbed.change_link(circuit, undo)
                self._note(name, "link", "ends", f"{circuit} is as before")
            self._close_event(name)

    def _close_event(self, name: str, at: float | None = None) -> None:
        self._open.discard(name)
        self._happened(name, Phase.ENDS, at)

    # Traffic

    def _load_of_flow(self, record: FlowRecord) -> Load:
        flow = record.flow
        dtns = {name: dtn for campus in self._topo.campuses.values() for name, dtn in campus.dtns.items()}
        source, destination = ((host, dtns[host].address) for host in (flow.source, flow.destination))
        return Load(
            source,
            destination,
            port=record.port,
            protocol=flow.protocol,
            size=record.size,
            streams=flow.streams,
            rate=flow.rate,
            window=flow.window,
        )

    def _load_of_event(self, event: Event) -> Load:
        """Return traffic between the addresses that are measured on the path, which lead over it alone."""
        load = event.load
        assert isinstance(load, LoadEvent)  # noqa: S101 - the caller has looked
        path = self._topo.paths[load.path]
        source, destination = (
            (self._topo.campuses[campus].measuring, path.addresses[campus]) for campus in path.campuses
        )
        return Load(
            source,
            destination,
            port=self._ports[event.name],
            protocol="tcp" if load.rate is None else "udp",
            streams=load.streams or 1,
            rate=load.rate,
        )

    def _follow_traffic(self) -> None:
        """Notice traffic that has started or ended."""
        for name, one in self._traffic.items():
            if one.run is None or one.delivery is not None:
                continue
            if one.began is None and one.run.began_at is not None:
                one.began = one.run.began_at
                self._happened(name, Phase.BEGINS, one.began)
                self._print(f"{name} sends")
                if isinstance(one, FlowRecord):
                    one.policy.started(name)
            if one.run.delivery is not None:
                self._finish(name, one, one.run.delivery)

    def _finish(self, name: str, one: Carried, delivery: Delivery) -> None:
        """Note the end of traffic.

        :raises Unavailable: if a load ended by itself: flows would find another network than planned.
        """
        one.delivery, one.ended = delivery, max(delivery.ended_at, one.began or 0.0)
        if isinstance(one, FlowRecord):
            self._happened(name, Phase.ENDS, one.ended)
            problem = f": {delivery.problem}" if delivery.problem else ""
            self._print(f"{name} ends after {one.ended - (one.began or one.ended):.1f} s{problem}")
            one.policy.finished(name, delivery)
            self._close_flow(one, "it is over")
            return
        self._note(name, "load", "ends", f"{delivery.received} bytes", delivery.problem)
        self._close_event(name, one.ended)
        if one.run is not None and one.run.stopped_at is None:
            raise Unavailable(f"{name} ended by itself: {delivery.problem}")

    def _stop_traffic(self) -> None:
        """Stop what still runs, and wait for what it delivered."""
        cut = [one for one in self._traffic.values() if one.run is not None and one.delivery is None]
        runs = [one.run for one in cut if one.run is not None]
        for run in runs:
            run.stop()
        for one, run in zip(cut, runs, strict=True):
            run.join()
            one.delivery, one.began = run.delivery, run.began_at
            if isinstance(one, FlowRecord):
                one.is_cut = True

    # Policies and tests

    def _poll_policies(self) -> None:
        for policy in dict.fromkeys((self._setup.policy, self._setup.pinned)):
            for update in policy.poll():
                self._apply(update)

    def _apply(self, update: FlowUpdate) -> None:
        record = self._flows[update.flow]
        record.flow_id = record.flow_id or update.flow_id
        if record.decided is None:
            decided = update.decided_at or time.time()
            record.decided = max(decided, record.asked or decided)
        if record.is_over:
            return
        because = f": {update.reason}" if update.reason else ""
        if update.kind is UpdateKind.QUEUED:
            self._print(f"{update.flow} is queued{because}")
            return
        if update.kind is UpdateKind.REJECTED:
            if record.run is None:
                self._reject(record, update.reason)
            return
        assert update.path is not None  # noqa: S101 - an active flow has a path
        record.paths.append((update.at, update.path))
        name, is_first = update.flow, len(record.paths) == 1
        self._print(f"{name} is {'admitted' if is_first else 'moved'} to {update.path}{because}")
        self._happened(name, Phase.ADMITTED if is_first else Phase.MOVED, update.at)
        if is_first:
            if record.size is not None and update.size is not None:
                record.size = update.size
            popen = self._setup.testbed.popen
            record.run = TrafficRun(popen, self._load_of_flow(record), self._wake.set)

    def _reject(self, record: FlowRecord, reason: str) -> None:
        record.rejected = reason
        self._print(f"{record.flow.name} is rejected: {reason}")
        self._happened(record.flow.name, Phase.ENDS)
        self._close_flow(record, f"it was rejected: {reason}")

    def _close_flow(self, record: FlowRecord, reason: str) -> None:
        whats = frozenset(Phase) - (AFTER_END if record.began is not None else frozenset())
        self._occurrences.append(Impossible(record.flow.name, whats, reason))

    def _read_tests(self, awaited: frozenset[tuple[str, Phase]]) -> None:
        if self._setup.is_down or time.time() - self._tested_at < TEST_INTERVAL:
            return
        self._setup.tests.read()
        self._tested_at = time.time()
        for of, what in awaited:
            if what in AFTER_END:
                carried = self._traffic.get(of, Carried())
                since = carried.began if what is Phase.TESTED else carried.ended
                at = None if since is None else self._setup.tests.tested_at(since, self._paths_to_test(of))
                if at is not None:
                    self._happened(of, what, at)

    def _paths_to_test(self, of: str) -> list[str]:
        if of in self._flows:
            flow = self._flows[of].flow
            return list(paths_between(self._topo, flow.source, flow.destination))
        return list(self._topo.paths)

    # Rows

    def _tables(self) -> Tables:
        self._note_overlaps()
        policies = dict.fromkeys((self._setup.policy, self._setup.pinned))
        decisions = [row for policy in policies for row in policy.decisions()]
        return Tables(
            flows=[self._flow_row(record) for record in self._flows.values()],
            throughput=list(self._throughput_rows()),
            measurements=list(self._measurement_rows()),
            decisions=[self._shifted(row) for row in decisions],
            events=self._rows,
        )

    def _note_overlaps(self) -> None:
        client = self._setup.tests.client
        if client is None or self._setup.is_down:
            return
        try:
            overlaps = client.overlaps(since=format_time(self._began_at))
        except AdonError:  # ADON ended; the trial is partial
            return
        for one in overlaps:
            first, second = (
                f"{run.task} at {format_time(run.started or run.planned_start)}"
                for run in (one.first, one.second)
            )
            self._note(OVERLAP, "tests", "begins", f"{first} and {second}")

    def _shifted(self, row: DecisionRow) -> DecisionRow:
        return row._replace(trial=self._trial.number, at=row.at - self._began_at)

    def _since(self, at: float | None) -> float | None:
        return None if at is None else at - self._began_at

    def _flow_row(self, record: FlowRecord) -> FlowRow:
        flow, delivery = record.flow, record.delivery or Delivery(0.0)
        return FlowRow(
            trial=self._trial.number,
            flow=flow.name,
            flow_id=record.flow_id,
            template=flow.template,
            source=flow.source,
            destination=flow.destination,
            state=record.state.value,
            path=record.paths[-1][1] if record.paths else None,
            paths=" > ".join(path for _, path in record.paths),
            asked=self._since(record.asked),
            decided=self._since(record.decided),
            began=self._since(record.began),
            ended=None if record.is_cut else self._since(record.ended),
            size=record.size,
            received=delivery.received,
            streams=flow.streams,
            window=flow.window,
            priority=flow.priority,
            floor=flow.floor,
            packets_sent=delivery.packets_sent,
            packets_lost=delivery.packets_lost,
            jitter=delivery.jitter,
            problem=delivery.problem or record.rejected,
        )

    def _throughput_rows(self) -> Iterator[ThroughputRow]:
        for name, one in self._traffic.items():
            began = None if one.delivery is None else one.delivery.began_at
            if one.delivery is None or began is None:
                continue
            for at, received in enumerate(one.delivery.per_second):
                path = next((path for since, path in reversed(one.paths) if since <= began + at), None)
                yield ThroughputRow(self._trial.number, began + at - self._began_at, name, path, received)

    def _measurement_rows(self) -> Iterator[MeasurementRow]:
        for one in sorted(self._setup.tests.found, key=lambda one: one.observed_at):
            at = one.observed_at - self._began_at
            if at >= 0:
                ends = (one.path, one.source, one.destination)
                yield MeasurementRow(self._trial.number, at, *ends, one.metric, one.value)
