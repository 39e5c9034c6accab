"""One run of the past through a broker: what becomes of each request with these templates."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial

from adon.broker.backtest.carriage import Carriage, Transfer
from adon.broker.backtest.past import Beside, Past
from adon.broker.backtest.run import Moment, Run
from adon.broker.backtest.switches import Passing, Switches, ports_of
from adon.broker.broker import Broker
from adon.broker.effects import (
    Answer,
    Effect,
    ReadCounters,
    ReadRules,
    SaveFlow,
    SaveOutcome,
    SendBatch,
    WakeAt,
)
from adon.broker.events import (
    AlarmCleared,
    AlarmRaised,
    BatchConfirmed,
    CountersReported,
    Event,
    FlowCancelled,
    FlowSubmitted,
    MeasurementArrived,
    RulesReported,
    SwitchUp,
    Tick,
    TransferReported,
)
from adon.broker.flow import Flow, FlowState
from adon.broker.outcomes import FlowOutcome
from adon.config import Configuration, LinkDiscovery
from adon.errors import AdonError
from adon.flowvisor.overlay import OverlayPaths
from adon.frozenmap import FrozenMap
from adon.templates_catalog.catalog import Catalog
from measurement.anomaly.alarm import Alarm
from measurement.model import Measurement, Metric, PathKey

COMPARED_EVERY_S = 3600.0
"""Nobody changes the rules of a replay: switches are compared with what should be no more often."""


@dataclass(slots=True)
class _Story:
    """What is known of one request while the replay runs."""

    then: Flow
    template: str
    refused: str = ""
    number: int | None = None
    begun: bool = False
    moments: list[Moment] = field(default_factory=list)
    outcome: FlowOutcome | None = None

    def told(self) -> Run:
        return Run(
            self.then.number,
            self.template,
            self.then.submitted_at,
            self.refused,
            tuple(self.moments),
            self.outcome,
        )


class Replay:
    """See the package's text.

    :param catalog: the templates; requests of that template's name are served by ``reference``.
    :param reference: the version that is tried (``soykb@4``).
    :param circuits: the overlays' paths, whose names the measurements have.
    """

    def __init__(
        self,
        configuration: Configuration,
        catalog: Catalog,
        past: Past,
        reference: str,
        circuits: OverlayPaths | None = None,
    ) -> None:
        self._past, self._reference = past, reference
        self._configuration = _as_replayed(configuration)
        self._broker = Broker(
            self._configuration, catalog, circuits=OverlayPaths() if circuits is None else circuits
        )
        self._topology = self._broker.world.network.topology
        beside = Beside(past.flows, past.until, self._ends, lambda flow: _streams(flow, catalog))
        self._carriage = Carriage(beside, self._capacity)
        self._switches = Switches(self._passing)
        self._stories = {flow.number: _Story(flow, self._template(flow)) for flow in past.requests}
        self._by_number: dict[int, _Story] = {}
        self._asking: _Story | None = None
        self._flows: dict[int, Flow] = {}
        self._now, self._wake, self._ids = -math.inf, math.inf, itertools.count(1)
        self._agenda: list[tuple[float, int, int, Callable[[], None]]] = []

    def run(self) -> tuple[Run, ...]:
        """Play it; what became of each request, in the order in which they came."""
        self._plan()
        while (at := self._next()) < self._past.until:
            self._now = max(self._now, at)
            self._carriage.advance(self._now)
            self._turn()
        self._carriage.advance(self._past.until)
        return tuple(story.told() for story in self._stories.values())

    # -- what happens when ------------------------------------------------------------------------------

    def _plan(self) -> None:
        past = self._past
        for measured in past.measurements:
            if measured.metric is Metric.THROUGHPUT:
                self._at(measured.started_at, 0, partial(self._carriage.test_begins, measured))
            self._at(measured.observed_at, 1, partial(self._measured, measured))
        for alarm in past.alarms:
            self._at(alarm.raised_at, 2, partial(self._alarm, AlarmRaised, replace(alarm, cleared_at=None)))
            if alarm.cleared_at is not None:
                self._at(alarm.cleared_at, 2, partial(self._alarm, AlarmCleared, alarm))
        for story in self._stories.values():
            self._at(story.then.submitted_at, 3, partial(self._submit, story))
            if story.then.state is FlowState.CANCELLED and story.then.ended_at is not None:
                self._at(story.then.ended_at, 4, partial(self._cancel, story))
        heapq.heapify(self._agenda)
        first = min(self._agenda[0][0] if self._agenda else past.since, past.since)
        self._now = first
        self._carriage.advance(first)
        for dpid, ports in ports_of(self._configuration).items():
            self._happen(SwitchUp(*self._stamp(), dpid, ports))

    def _at(self, at: float, rank: int, do: Callable[[], None]) -> None:
        self._agenda.append((at, rank, len(self._agenda), do))

    def _next(self) -> float:
        end = self._carriage.next_end()
        due = self._agenda[0][0] if self._agenda else math.inf
        return min(due, math.inf if end is None else end[0], self._wake)

    def _turn(self) -> None:
        """One thing that is due: what happened then, else a transfer that is done, else the clock."""
        if self._agenda and self._agenda[0][0] <= self._now:
            heapq.heappop(self._agenda)[3]()
            return
        end = self._carriage.next_end()
        if end is not None and end[0] <= self._now:
            self._finish(end[1])
        elif self._wake <= self._now:
            self._wake = math.inf
            self._happen(Tick(*self._stamp()))

    def _measured(self, measured: Measurement) -> None:
        if measured.metric is Metric.THROUGHPUT:
            measured = self._carriage.test_ended(measured)
        self._happen(MeasurementArrived(*self._stamp(), measured))

    def _alarm(self, kind: type[AlarmRaised] | type[AlarmCleared], alarm: Alarm) -> None:
        self._happen(kind(*self._stamp(), alarm))

    def _submit(self, story: _Story) -> None:
        asked = story.then.request.model_copy(update={"template": story.template, "slice": None})
        stamp = self._stamp()
        self._asking = story
        self._happen(FlowSubmitted(*stamp, str(story.then.number), asked, story.then.requester))
        self._asking = None

    def _cancel(self, story: _Story) -> None:
        flow = None if story.number is None else self._flows[story.number]
        if flow is not None and not flow.state.final:
            self._happen(FlowCancelled(*self._stamp(), "", flow.number, flow.requester))

    def _finish(self, number: int) -> None:
        octets = round(self._carriage.transfers[number].size)
        self._happen(TransferReported(*self._stamp(), "", number, "finished", octets))
        self._carriage.transfers.pop(number, None)

    # -- what follows -----------------------------------------------------------------------------------

    def _stamp(self) -> tuple[str, float]:
        return f"b{next(self._ids)}", self._now

    def _happen(self, event: Event) -> None:
        waiting = [event]
        while waiting:
            for effect in self._broker.handle(waiting.pop(0)):
                waiting += self._carry_out(effect)

    def _carry_out(self, effect: Effect) -> Iterable[Event]:
        match effect:
            case SendBatch(dpid=dpid, batch=batch):
                self._switches.apply(effect)
                return (BatchConfirmed(*self._stamp(), dpid, batch),)
            case ReadRules(dpid=dpid):
                rules, equipment = self._switches.rules(dpid), self._switches.equipment(dpid)
                return (RulesReported(*self._stamp(), dpid, rules, frozenset(), equipment),)
            case ReadCounters(dpid=dpid):
                return [
                    CountersReported(*self._stamp(), dpid, part) for part in self._switches.of_flows(dpid)
                ]
            case Answer(command=command, value=value) if command:
                self._answered(self._stories[int(command)], value)
            case SaveFlow(flow=flow):
                return self._saved(flow)
            case SaveOutcome(outcome=outcome):
                self._story(outcome.flow).outcome = outcome
            case WakeAt(at=at):
                self._wake = min(self._wake, at)
            case _:
                pass  # what else it wants is of a world that is not there: databases, people, collectors
        return ()

    def _answered(self, story: _Story, value: object) -> None:
        if isinstance(value, AdonError):
            story.refused = str(value)

    def _saved(self, flow: Flow) -> Iterable[Event]:
        story = self._story(flow.number)
        self._flows[flow.number] = flow
        path = flow.path if flow.state.holds_rules else None
        moment = Moment(self._now, flow.state.value, path, flow.quality.value)
        if story.moments and story.moments[-1].at == self._now:
            story.moments.pop()  # what lasted no time was not
        if not story.moments or not story.moments[-1].same(moment):
            story.moments.append(moment)
        return self._transfer(flow, story)

    def _story(self, number: int) -> _Story:
        """Whose flow this is: a number that is new is that of the request which is being made."""
        if number not in self._by_number and self._asking is not None:
            self._asking.number = number
            self._by_number[number] = self._asking
        return self._by_number[number]

    def _transfer(self, flow: Flow, story: _Story) -> Iterable[Event]:
        """Let its bytes go where the flow goes; it says when it begins."""
        if flow.state.final:
            self._carriage.transfers.pop(flow.number, None)
            return ()
        one = self._carriage.transfers.get(flow.number)
        if flow.state is not FlowState.ACTIVE or flow.path is None:
            if one is not None:
                one.key = None
            return ()
        if one is None:
            streams = self._broker.flows.need(flow).streams
            one = self._carriage.transfers[flow.number] = Transfer(float(flow.transfer_size), streams)
        ends = self._ends(flow)
        key = None if ends is None else PathKey(flow.path, *ends)
        if key != one.key:
            one.key, one.since = key, self._now
        if story.begun:
            return ()
        story.begun = True
        return (TransferReported(*self._stamp(), "", flow.number, "started", 0),)

    # -- what the stand-ins ask -------------------------------------------------------------------------

    def _passing(self, owner: str) -> Passing | None:
        one = self._carriage.transfers.get(int(owner[2:])) if owner.startswith("f-") else None
        if one is None:
            return None
        source = self._flows[int(owner[2:])].request.source
        topology = self._broker.world.network.topology
        return Passing(int(one.moved), topology.attachment(source).address)

    def _capacity(self, path: str) -> float | None:
        return self._broker.world.network.topology.capacity_of(path)

    def _ends(self, flow: Flow) -> tuple[str, str] | None:
        try:
            return self._topology.site_of(flow.request.source), self._topology.site_of(
                flow.request.destination
            )
        except AdonError:
            return None  # a host of then that is not configured any more

    def _template(self, flow: Flow) -> str:
        same = flow.template.partition("@")[0] == self._reference.partition("@")[0]
        return self._reference if same else flow.template


def _as_replayed(configuration: Configuration) -> Configuration:
    """The configuration without what a replay does not have; see the package's text."""
    often = max(COMPARED_EVERY_S, configuration.policy.consistency_period)
    policy = configuration.policy.model_copy(
        update={"consistency_period": often, "reactive": (), "fireflies": None, "use_access": ()}
    )
    return configuration.model_copy(
        update={"policy": policy, "slices": FrozenMap(), "discovery": LinkDiscovery()}
    )


def _streams(flow: Flow, catalog: Catalog) -> int:
    if flow.request.streams is not None:
        return flow.request.streams
    try:
        return catalog.resolve(flow.template).streams
    except AdonError:
        return 1
