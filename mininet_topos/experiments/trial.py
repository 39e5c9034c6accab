"""One trial, from its first flow to its last byte: a loop around the timeline.

Occurrences come from three sides: traffic that starts and ends, updates of the policy, and time.  The
timeline answers each with the steps to start or skip.  All times are seconds after the start of the trial.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Literal, NamedTuple

from adon.errors import AdonError, Unavailable
from adon.timestamps import format_time
from mininet_topos.experiments import results, timeline
from mininet_topos.experiments.document import TEST_PHASES, Event, LinkEvent, LoadEvent, Move, Phase
from mininet_topos.experiments.plan import PlannedFlow, circuit_of, measured_ends, paths_between
from mininet_topos.experiments.policies import FlowUpdate, PathPolicy
from mininet_topos.experiments.results import FlowState
from mininet_topos.experiments.trial_setup import PrintLine, TrialSetup
from mininet_topos.experiments.verdicts import OVERLAP
from mininet_topos.testbed import LinkChange
from mininet_topos.traffic.endpoint import Delivery, Load
from mininet_topos.traffic.traffic_run import TrafficRun

POLL_INTERVAL, TEST_INTERVAL = 0.3, 1.0
PORTS = range(20_000, 30_000)
OVER = (FlowState.FINISHED, FlowState.FAILED, FlowState.REJECTED)
PLANNED = ("template", "source", "destination", "size", "streams", "window", "priority", "floor")
COUNTED = ("received", "packets_sent", "packets_lost", "jitter", "problem")
"""Columns of a flow's row that its plan has, and those that its delivery has."""
MEASURED = attrgetter("path", "source", "destination", "metric", "value")
"""Columns of a measurement's row after its time."""


@dataclass(slots=True)
class Traffic:
    """A flow of a trial, or the load of an event, about which no policy decides.

    :param row: what is known of it; the row of a load is in no table.
    :param tested: paths whose tests make it tested.
    :param run: None before it starts.
    :param paths: each with the time since which it had it.
    :param is_endless: whether a load has no end of its own; the trial does not wait for it.
    """

    row: results.FlowRow
    tested: Collection[str]
    run: TrafficRun | None = None
    paths: list[tuple[float, str]] = field(default_factory=list)
    is_endless: bool = False

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.row.state in OVER

    def update(self, **changes: object) -> None:
        """Give columns of the row other values."""
        self.row = self.row._replace(**changes)  # type: ignore[arg-type]


class TrialOutcome(NamedTuple):
    """Rows of a trial; ``reason`` tells why it is partial."""

    tables: results.Tables
    reason: str = ""


class TrialRun:
    """Carries out a trial.

    :param print_line: is given what happens, one line each.
    """

    def __init__(self, setup: TrialSetup, print_line: PrintLine) -> None:
        self._setup, self._trial, self._topo, self._print = setup, setup.trial, setup.topo, print_line
        self._flows = {flow.name: flow for flow in self._trial.flows}
        self._events = {event.name: event for event in self._trial.events}
        names = [*self._flows, *self._events]
        chance = random.Random(self._trial.seed)  # noqa: S311 - a reproducible choice, no secret
        self._ports = dict(zip(names, chance.sample(PORTS, len(names)), strict=True))
        self._traffic = {name: self._make_traffic(flow) for name, flow in self._flows.items()}
        self._undo: dict[str, tuple[str, LinkChange]] = {}
        self._rows: list[results.EventRow] = []
        self._timeline = timeline.start_timeline(self._trial)
        self._news: dict[timeline.Key, float | str] = {}
        self._wake = threading.Event()
        self._began_at = self._tested_at = 0.0

    def run(self) -> TrialOutcome:
        """Carry it out; an error of ADON's or the testbed's makes it partial.

        :raises KeyboardInterrupt: when all traffic was stopped.
        """
        self._began_at = time.time()
        try:
            reason = self._loop()
            self._setup.policy.read_decisions()
            self._note_overlaps()
        except AdonError as error:
            reason = str(error)
            self._note("trial", "ends", "aborted", reason)
        finally:
            self._stop_traffic()
        return TrialOutcome(self._tables(), reason)

    def _make_traffic(self, flow: PlannedFlow) -> Traffic:
        planned = {name: getattr(flow, name) for name in PLANNED}
        row = results.FlowRow(self._trial.number, flow.name, **planned)
        return Traffic(row, paths_between(self._topo, flow.source, flow.destination))

    # The loop

    def _loop(self) -> str:
        """Run until everything is over; return why it is partial, else an empty text."""
        while True:
            self._advance()
            while self._news:
                self._advance()
            unfinished = [one.row for one in self._traffic.values() if not (one.is_over or one.is_endless)]
            if not (unfinished or self._timeline.waiting):
                return ""
            now, limit = self._now, self._trial.limit
            if now > limit:
                causes = ", ".join(row.outcome for row in unfinished)
                return f"not over within {limit:g} s: {causes or 'a step waits for a moment'}"
            self._wake.wait(max(0.001, min(POLL_INTERVAL, limit - now + 0.01, self._timeline.next_due - now)))
            self._wake.clear()
            self._setup.check_health()
            self._follow_traffic()
            self._read_tests()
            self._poll_policies()

    def _advance(self) -> None:
        """Carry out the steps that the news start."""
        news, self._news = self._news, {}
        self._timeline, actions = timeline.advance(self._timeline, news, self._now)
        for action in actions:
            self._act(action)
        if actions:
            self._poll_policies()

    @property
    def _now(self) -> float:
        return time.time() - self._began_at

    def _report_moment(self, of: str, what: Phase, at: float | str | None = None) -> None:
        """Report a moment to the timeline: now, at a time, or why it cannot come."""
        self._news.setdefault((of, what), self._now if at is None else at)

    def _note(self, event: str, phase: str, about: str, problem: str = "", at: float | None = None) -> None:
        at = self._now if at is None else at
        self._rows.append(results.EventRow(self._trial.number, at, event, phase, about, problem))
        self._print(f"{event} {phase}: {about}" + (f": {problem}" if problem else ""))

    # Actions

    def _act(self, action: timeline.Action) -> None:
        ended = timeline.ended_by(action.step)
        if ended is not None:  # also if its moment cannot come: what waits for it would never end
            self._end(ended)
        elif action.step in self._events:
            self._start_event(self._events[action.step], action.reason)
        elif not self._traffic[action.step].is_over:  # its end may have come before it
            self._request(self._flows[action.step], action.reason)

    def _request(self, flow: PlannedFlow, obstacle: str) -> None:
        if obstacle:
            self._reject(flow.name, f"never requested: {obstacle}")
            return
        self._traffic[flow.name].update(asked=self._now)
        self._print(f"{flow.name} requests a path from {flow.source} to {flow.destination}")
        self._report_moment(flow.name, Phase.ASKED)
        self._policy_of(flow.name).request(flow, self._ports[flow.name])

    def _start_event(self, event: Event, obstacle: str) -> None:
        if obstacle:
            self._note(event.name, "begins", "left out", obstacle)
            return
        self._report_moment(event.name, Phase.ASKED)
        began = self._now  # what follows from it may come before the call returns: a port is down at once
        about, problem = self._carry_out(event)
        self._note(event.name, "begins", about, problem, began)
        if event.load is None:
            self._report_moment(event.name, Phase.BEGINS, problem or began)

    def _carry_out(self, event: Event) -> tuple[str, str]:
        """Carry out an event; return what was done, and why it failed."""
        if event.load is not None:
            return self._start_load(event.name, event.load), ""
        if event.link is not None:
            return self._change_link(event.name, event.link), ""
        if event.move is not None:
            return f"{event.move.flow} is ordered to {event.move.to}", self._order_move(event.move)
        assert event.controller is not None  # noqa: S101 - the last kind
        self._setup.control(event.controller)
        return f"ADON: {event.controller}", ""

    def _start_load(self, name: str, load: LoadEvent) -> str:
        """Start traffic between the addresses that are measured on the path, which lead over it alone."""
        source, destination = measured_ends(self._topo, load.path)
        protocol: Literal["tcp", "udp"] = "tcp" if load.rate is None else "udp"
        port, streams = self._ports[name], load.streams or 1
        run = self._start(Load(source, destination, port, protocol, streams=streams, rate=load.rate))
        row = results.FlowRow(self._trial.number, name)
        is_endless = load.lasts is None and load.until is None
        self._traffic[name] = Traffic(row, self._topo.paths, run, [(0.0, load.path)], is_endless)
        return f"load on {load.path}"

    def _change_link(self, name: str, link: LinkEvent) -> str:
        circuit = circuit_of(self._topo, link.name or link.path or "")
        is_up = None if link.state is None else link.state == "up"
        change = LinkChange(is_up, link.rate, link.delay, link.loss)
        self._undo[name] = circuit, self._setup.testbed.change_link(circuit, change)
        changed = link.model_dump(mode="json", include={"state", "rate", "delay", "loss"}, exclude_none=True)
        return f"{circuit}: " + ", ".join(f"{name} {value}" for name, value in changed.items())

    def _order_move(self, move: Move) -> str:
        """Order a flow to another path; return why that failed."""
        if self._traffic[move.flow].is_over:
            return f"{move.flow} is over"
        return self._policy_of(move.flow).order_move(move.flow, move.to)

    def _end(self, name: str) -> None:
        one = self._traffic.get(name)
        if one is not None and one.run is not None:
            one.run.stop()
        elif one is not None and not one.is_over:
            if one.row.asked is not None:
                self._policy_of(name).report_end(name, None)
            self._reject(name, "its end came before it had a path")
        elif name in self._undo:
            circuit, undo = self._undo[name]
            self._setup.testbed.change_link(circuit, undo)
            self._note(name, "ends", f"{circuit} is as before")
            self._close(name, "it is over")

    def _close(self, name: str, reason: str, at: float | None = None, *, has_begun: bool = True) -> None:
        """Report the end of a step; no other moment of it comes any more but tests."""
        self._report_moment(name, Phase.ENDS, at)
        for what in Phase:
            if not has_begun or what not in TEST_PHASES:
                self._report_moment(name, what, reason)

    # Traffic

    def _start(self, load: Load) -> TrafficRun:
        return TrafficRun(self._setup.testbed.popen, load, self._wake.set)

    def _start_flow(self, flow: PlannedFlow, size: int | None) -> TrafficRun:
        campuses = self._topo.campuses.values()
        addresses = {name: dtn.address for campus in campuses for name, dtn in campus.dtns.items()}
        source, destination = ((host, addresses[host]) for host in (flow.source, flow.destination))
        load = Load(source, destination, self._ports[flow.name], flow.protocol, size, flow.streams)
        return self._start(replace(load, rate=flow.rate, window=flow.window))

    def _follow_traffic(self) -> None:
        """Notice traffic that has started or ended."""
        for name, one in self._traffic.items():
            if one.run is None or one.is_over:
                continue
            if one.row.began is None and one.run.began_at is not None:
                one.update(began=one.run.began_at - self._began_at, state=FlowState.RUNNING)
                self._report_moment(name, Phase.BEGINS, one.row.began)
                self._print(f"{name} sends")
                if name in self._flows:
                    self._policy_of(name).report_start(name)
            if one.run.delivery is not None:
                self._finish(name, one, one.run, one.run.delivery)

    def _finish(self, name: str, one: Traffic, run: TrafficRun, delivery: Delivery) -> None:
        """Note the end of traffic.

        :raises Unavailable: if a load ended by itself: flows would find another network than planned.
        """
        ended = max(delivery.ended_at - self._began_at, one.row.began or 0.0)
        one.update(ended=ended, state=FlowState.FAILED if delivery.problem else FlowState.FINISHED)
        self._close(name, "it is over", ended, has_begun=one.row.began is not None)
        if name in self._flows:
            problem = f": {delivery.problem}" if delivery.problem else ""
            self._print(f"{name} ends after {ended - (one.row.began or ended):.1f} s{problem}")
            self._policy_of(name).report_end(name, delivery)
            return
        self._note(name, "ends", f"{delivery.received} bytes", delivery.problem)
        if run.stopped_at is None:
            raise Unavailable(f"{name} ended by itself: {delivery.problem}")

    def _stop_traffic(self) -> None:
        """Stop what still runs, which stays in its state, and note what receivers counted."""
        started = [(one, one.run) for one in self._traffic.values() if one.run is not None]
        for one, run in started:
            if not one.is_over:
                run.stop()
        for one, run in started:
            run.join()
            if not one.is_over and run.began_at is not None:
                one.update(began=run.began_at - self._began_at, state=FlowState.RUNNING)
            if run.delivery is not None:
                one.update(**{name: getattr(run.delivery, name) for name in COUNTED})

    # Policies and tests

    def _policy_of(self, flow: str) -> PathPolicy:
        return self._setup.policy if self._flows[flow].path is None else self._setup.pinned

    def _poll_policies(self) -> None:
        for policy in self._setup.policies:
            for update in policy.poll():
                self._apply(update, self._traffic[update.flow])

    def _apply(self, update: FlowUpdate, one: Traffic) -> None:
        name = update.flow
        if one.is_over:
            return
        because = f": {update.reason}" if update.reason else ""
        if update.is_rejected:
            if one.run is None:
                self._reject(name, update.reason)
        elif update.path is None:
            self._print(f"{name} is queued{because}")
        else:
            at, is_first = update.at - self._began_at, not one.paths
            one.paths.append((at, update.path))
            one.update(paths=" > ".join(path for _, path in one.paths))
            self._print(f"{name} is {'admitted' if is_first else 'moved'} to {update.path}{because}")
            self._report_moment(name, Phase.ADMITTED if is_first else Phase.MOVED, at)
            if is_first:
                if one.row.size is not None and update.size is not None:
                    one.update(size=update.size)
                one.run = self._start_flow(self._flows[name], one.row.size)

    def _reject(self, name: str, reason: str) -> None:
        self._traffic[name].update(state=FlowState.REJECTED, problem=reason)
        self._print(f"{name} is rejected: {reason}")
        self._close(name, f"it was rejected: {reason}", has_begun=False)

    def _read_tests(self) -> None:
        if self._setup.is_down or self._now - self._tested_at < TEST_INTERVAL:
            return
        self._setup.tests.read()
        self._tested_at = self._now
        for name, one in self._traffic.items():
            for what, since in ((Phase.TESTED, one.row.began), (Phase.RETESTED, one.row.ended)):
                at = (
                    None if since is None else self._setup.tests.tested_at(since + self._began_at, one.tested)
                )
                if at is not None:
                    self._report_moment(name, what, at - self._began_at)

    # Rows

    def _tables(self) -> results.Tables:
        number, began = self._trial.number, self._began_at
        decisions = [row for policy in self._setup.policies for row in policy.decisions]
        tests = sorted(self._setup.tests.found, key=lambda one: one.observed_at)
        return results.Tables(
            flows=[self._traffic[name].row for name in self._flows],
            throughput=[row for name, one in self._traffic.items() for row in self._throughput(name, one)],
            measurements=[
                results.MeasurementRow(number, one.observed_at - began, *MEASURED(one))
                for one in tests
                if one.observed_at >= began
            ],
            decisions=[row._replace(trial=number, at=row.at - began) for row in decisions],
            moments=[
                results.MomentRow(number, at, of, what)
                for (of, what), at in self._timeline.moments.items()
                if not isinstance(at, str)
            ],
            events=self._rows,
        )

    def _throughput(self, name: str, one: Traffic) -> Iterator[results.ThroughputRow]:
        delivery = None if one.run is None else one.run.delivery
        if delivery is None or delivery.began_at is None:
            return
        began = delivery.began_at - self._began_at
        for second, received in enumerate(delivery.per_second):
            at = began + second
            path = next((path for since, path in reversed(one.paths) if since <= at), None)
            yield results.ThroughputRow(self._trial.number, at, name, path, received)

    def _note_overlaps(self) -> None:
        if self._setup.tests.client is None or self._setup.is_down:
            return
        for overlap in self._setup.tests.client.overlaps(since=format_time(self._began_at)):
            runs = (overlap.first, overlap.second)
            texts = [f"{run.task} at {format_time(run.started or run.planned_start)}" for run in runs]
            self._note(OVERLAP, "begins", " and ".join(texts))
