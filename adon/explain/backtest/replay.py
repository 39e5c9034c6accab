"""One run of the past through a broker: what becomes of each request with these templates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from adon.broker.effects import Effect, SaveFlow
from adon.broker.events import (
    AlarmCleared,
    AlarmRaised,
    Event,
    FlowCancelled,
    FlowSubmitted,
    MeasurementArrived,
    TransferReported,
)
from adon.broker.flow import Flow, FlowState
from adon.broker.outcomes import FlowOutcome
from adon.config import Configuration
from adon.config.network import LinkDiscovery
from adon.errors import AdonError
from adon.explain.backtest.carriage import Carriage, Transfer
from adon.explain.backtest.past import Beside, Past
from adon.explain.backtest.run import Moment, Run
from adon.explain.backtest.switches import CountingSwitch, Passing
from adon.explain.event_player import EventPlayer, SavedState
from adon.flowvisor.topology.overlay import OverlayPaths
from adon.flowvisor.topology.topology import Topology
from adon.templates_catalog.catalog import Catalog
from adon.values import FrozenMap
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

    def finish(self, outcomes: Mapping[int, FlowOutcome]) -> Run:
        return Run(
            self.then.number,
            self.template,
            self.then.submitted_at,
            self.refused,
            tuple(self.moments),
            None if self.number is None else outcomes.get(self.number),
        )


class Replay(EventPlayer):
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
        super().__init__(
            _as_replayed(configuration),
            catalog,
            now=-math.inf,
            switches=lambda dpid: CountingSwitch(dpid, self._passing),
            saved=None if circuits is None else SavedState(circuits=circuits),
        )
        beside = Beside(past.flows, past.until, self._ends, lambda flow: _streams(flow, catalog))
        self._carriage = Carriage(beside, lambda path: self._topology.capacity_of(path))
        self._stories = {flow.number: _Story(flow, self._template(flow)) for flow in past.requests}
        self._by_number: dict[int, _Story] = {}
        self._asking: _Story | None = None

    def run(self) -> tuple[Run, ...]:
        """Play it; what became of each request, in the order in which they came."""
        self._plan()
        self.advance(math.nextafter(self._past.until, -math.inf))
        self._carriage.advance(self._past.until)
        return tuple(story.finish(self.saved.outcomes) for story in self._stories.values())

    # -- what happens when ------------------------------------------------------------------------------

    def _plan(self) -> None:
        past = self._past
        for measured in past.measurements:
            if measured.metric is Metric.THROUGHPUT:
                self.schedule(measured.started_at, partial(self._carriage.test_begins, measured), 0)
            self.schedule(measured.observed_at, partial(self._handle_measurement, measured), 1)
        for alarm in past.alarms:
            raised = replace(alarm, cleared_at=None)
            self.schedule(alarm.raised_at, partial(self._alarm, AlarmRaised, raised), 2)
            if alarm.cleared_at is not None:
                self.schedule(alarm.cleared_at, partial(self._alarm, AlarmCleared, alarm), 2)
        for story in self._stories.values():
            self.schedule(story.then.submitted_at, partial(self._submit, story), 3)
            if story.then.state is FlowState.CANCELLED and story.then.ended_at is not None:
                self.schedule(story.then.ended_at, partial(self._cancel, story), 4)
        self.now = min(past.since, self.next_time())
        self._carriage.advance(self.now)
        self.connect()

    def next_time(self) -> float:
        """Return when the next thing is due: of the past, of a transfer or of the broker."""
        end = self._carriage.next_end()
        return min(super().next_time(), math.inf if end is None else end[0])

    def act(self) -> None:
        """Do one thing that is due: what happened then, else a transfer that is done, else the tick."""
        self._carriage.advance(self.now)
        end = self._carriage.next_end()
        scheduled = bool(self._due) and self._due[0][0] <= self.now
        if not scheduled and end is not None and end[0] <= self.now:
            self._finish(end[1])
        else:
            super().act()

    def _handle_measurement(self, measured: Measurement) -> None:
        if measured.metric is Metric.THROUGHPUT:
            measured = self._carriage.test_ended(measured)
        self.feed(MeasurementArrived(*self.stamp(), measured))

    def _alarm(self, kind: type[AlarmRaised] | type[AlarmCleared], alarm: Alarm) -> None:
        self.feed(kind(*self.stamp(), alarm))

    def _submit(self, story: _Story) -> None:
        asked = story.then.request.model_copy(update={"template": story.template, "slice": None})
        command = str(story.then.number)
        self._asking = story
        self.feed(FlowSubmitted(*self.stamp(), command, asked, story.then.requester))
        self._asking = None
        answer = self.answers.pop(command)
        if isinstance(answer, AdonError):
            story.refused = str(answer)

    def _cancel(self, story: _Story) -> None:
        flow = None if story.number is None else self.saved.flows[story.number]
        if flow is not None and not flow.state.final:
            self.feed(FlowCancelled(*self.stamp(), "", flow.number, flow.requester))

    def _finish(self, number: int) -> None:
        octets = round(self._carriage.transfers[number].size)
        self.feed(TransferReported(*self.stamp(), "", number, "finished", octets))
        self._carriage.transfers.pop(number, None)

    # -- what follows -----------------------------------------------------------------------------------

    def carry_out(self, effect: Effect) -> Iterable[Event]:
        """Carry out one effect; the bytes of a flow follow its state."""
        following = super().carry_out(effect)
        return self._follow(effect.flow) if isinstance(effect, SaveFlow) else following

    def _follow(self, flow: Flow) -> Iterable[Event]:
        story = self._story(flow.number)
        path = flow.path if flow.state.holds_rules else None
        moment = Moment(self.now, flow.state.value, path, flow.quality.value)
        if story.moments and story.moments[-1].at == self.now:
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
            streams = self.broker.flows.need(flow).streams
            one = self._carriage.transfers[flow.number] = Transfer(float(flow.transfer_size), streams)
        ends = self._ends(flow)
        key = None if ends is None else PathKey(flow.path, *ends)
        if key != one.key:
            one.key, one.since = key, self.now
        if story.begun:
            return ()
        story.begun = True
        return (TransferReported(*self.stamp(), "", flow.number, "started", 0),)

    # -- what the stand-ins ask -------------------------------------------------------------------------

    @property
    def _topology(self) -> Topology:
        return self.broker.world.network.topology

    def _passing(self, owner: str) -> Passing | None:
        one = self._carriage.transfers.get(int(owner[2:])) if owner.startswith("f-") else None
        if one is None:
            return None
        source = self.saved.flows[int(owner[2:])].request.source
        return Passing(int(one.moved), self._topology.attachment(source).address)

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
