"""Which values an event brings about which flows, and which triggers fire at them.

A measurement is about the flows on that path in that direction; an observation of a host about the flows that
begin or end at its site; counters about the flows they count.  Only flows that run and whose template has a
trigger for that value cost anything: they are found by their groups (:class:`adon.broker.register.Group`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from adon.broker.effects import Effect, SaveFlow
from adon.broker.events import (
    CountersReported,
    Event,
    MeasurementArrived,
    ObservationArrived,
    RulesReported,
)
from adon.broker.flow import Flow, FlowState
from adon.broker.flow_placement import Placing
from adon.broker.register import Ends, Group
from adon.broker.triggers import trigger_actions
from adon.broker.triggers.evaluation import Seen, step
from adon.broker.world import World
from adon.flowvisor.rules.pipeline import owner_of
from adon.templates_catalog.trigger_rules import RATE, Trigger
from measurement.model import Observation


@dataclass(frozen=True, slots=True)
class Reading:
    """One value for one trigger of one flow."""

    flow: int
    trigger: Trigger
    value: float
    at: float


class Triggers:
    """See the module's text; keeps what was seen between two values, per flow and trigger.

    :param placing: looks again at a flow when a trigger says so.
    """

    def __init__(self, world: World, placing: Placing) -> None:
        self._world = world
        self._placing = placing
        self._seen: dict[int, dict[str, Seen]] = {}
        self._moved = -1

    def heed(self, event: Event) -> list[Effect]:
        """Act on what an event's values make triggers fire."""
        effects: list[Effect] = []
        for reading in self._readings(event):
            effects += self._take(reading, event)
        self._forget()
        return effects

    def _readings(self, event: Event) -> list[Reading]:
        match event:
            case MeasurementArrived():
                key, found = event.measurement.key, event.measurement
                groups = self._groups((key.source, key.destination), key.path)
                return list(_about(groups, str(found.metric), None, found.value, found.observed_at))
            case ObservationArrived():
                return list(self._of_host(event.observation))
            case CountersReported() | RulesReported():
                return list(self._rates(event))
            case _:
                return []

    def _groups(self, ends: Ends, path: str | None = None) -> list[Group]:
        return [
            group
            for group in self._world.flows.groups(ends)
            if group.kind.need.template.triggers and path in (None, group.path)
        ]

    def _of_host(self, seen: Observation) -> Iterator[Reading]:
        for ends in self._world.flows.directions():
            for end, site in zip(("source", "destination"), ends, strict=True):
                if site == seen.key.source and not seen.key.path:
                    for reading in _about(self._groups(ends), seen.metric, end, seen.value, seen.observed_at):
                        part = reading.trigger.when.part
                        if part in ("", seen.key.destination):
                            yield reading

    def _rates(self, event: CountersReported | RulesReported) -> Iterator[Reading]:
        flows = self._world.flows
        waiting = [
            reading
            for ends in flows.directions()
            for reading in _about(self._groups(ends), RATE, None, 0.0, event.at)
        ]
        counted = {owner_of(item.rule) for item in event.rules} if waiting else set()
        for reading in waiting:
            if f"f-{reading.flow}" in counted:
                flow = flows.get(reading.flow)
                latest = None if flow is None else flows.counters(flow).latest()
                if latest is not None and latest[1] == event.at:
                    yield replace(reading, value=latest[0])

    def _take(self, reading: Reading, event: Event) -> list[Effect]:
        flow = self._world.flows.get(reading.flow)
        if flow is None or flow.state is not FlowState.ACTIVE:
            return []
        trigger, seen = reading.trigger, self._seen.setdefault(flow.number, {})
        gap = max(trigger.for_, self._world.flows.need(flow).template.selection.max_age)
        last = flow.triggered.last(trigger.name)
        found = step(trigger, seen.get(trigger.name), last, reading.value, reading.at, event.at, gap)
        seen[trigger.name] = found.seen
        if found.fires:
            return trigger_actions.fire(self._world, self._placing, flow, trigger, reading.value, event)
        if found.over and last is not None:
            return self._over(replace(flow, triggered=flow.triggered.noting(replace(last, on=False))), event)
        return []

    def _over(self, flow: Flow, event: Event) -> list[Effect]:
        return [SaveFlow(event.id, self._world.flows.put(flow))]

    def _forget(self) -> None:
        """Drop what was seen for flows that have ended."""
        if self._seen and self._moved != self._world.flows.moved:
            self._moved = self._world.flows.moved
            gone = [number for number in self._seen if self._world.flows.get(number) is None]
            for number in gone:
                del self._seen[number]


def _about(groups: list[Group], metric: str, end: str | None, value: float, at: float) -> Iterator[Reading]:
    """A value for every flow of these groups that has a trigger for it."""
    for group in groups:
        for trigger in group.kind.need.template.triggers:
            if (trigger.when.metric, trigger.when.of) == (metric, end):
                yield from (Reading(number, trigger, value, at) for number in sorted(group.numbers))
