"""What is to be watched at the ends of the flows that run ([ADON] 3.1: monitoring follows deployment).

Worked out anew from the flows and their templates whenever a flow comes or goes, and told as a whole: so a
collector that was away, or a controller that starts again, needs no history.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from adon.broker.effects import Effect, MonitoringChanged, Watching
from adon.broker.events import Event
from adon.broker.register import Group
from adon.broker.world import World
from adon.templates_catalog.model import Template
from adon.templates_catalog.trigger_rules import Monitor, StartMonitoring


@dataclass(frozen=True, slots=True)
class Monitoring:
    """Everything that is to be watched.

    :param watches: by site and the metric's name at its measurement point.
    :param series: pairs of site and series whose values triggers wait for.
    """

    watches: tuple[Watching, ...] = ()
    series: frozenset[tuple[str, str]] = frozenset()


NOTHING = Monitoring()


def needed_monitoring(world: World) -> Monitoring:
    """What the flows that run want watched; of several periods the shortest.

    Whether a site has a measurement point that could watch, the collector knows.
    """
    periods: dict[tuple[str, str], float] = {}
    series: set[tuple[str, str]] = set()
    for direction in world.flows.directions():
        ends = dict(zip(("source", "destination"), direction, strict=True))
        for group in world.flows.groups(direction):
            template = group.kind.need.template
            for monitor in _monitors(world, group, template):
                for metric in monitor.metrics:
                    place = (ends[monitor.of], metric)
                    periods[place] = min(monitor.period, periods.get(place, monitor.period))
            series |= {(ends[t.when.of], t.when.metric) for t in template.triggers if t.when.of is not None}
    watches = (Watching(site, metric, periods[site, metric]) for site, metric in sorted(periods))
    return Monitoring(tuple(watches), frozenset(series))


def _monitors(world: World, group: Group, template: Template) -> Iterator[Monitor | StartMonitoring]:
    """What a template wants watched from the beginning, and what triggers of some of its flows began."""
    yield from template.monitoring
    for trigger in template.triggers:
        if isinstance(trigger.do, StartMonitoring) and any(
            flow is not None and flow.triggered.last(trigger.name) is not None
            for flow in map(world.flows.get, group.numbers)
        ):
            yield trigger.do


class Watchkeeper:
    """Tells when what is wanted has changed; asks flows only when one came or went, or a trigger fired."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._moved = -1
        self.now = NOTHING

    def publish_change(self, event: Event, *, fired: bool) -> list[Effect]:
        """What to tell the collector after an event.

        :param fired: whether a trigger has fired by it.
        """
        if not fired and self._moved == self._world.flows.moved:
            return []
        self._moved = self._world.flows.moved
        found = needed_monitoring(self._world)
        if found == self.now:
            return []
        self.now = found
        return [MonitoringChanged(event.id, found.watches, found.series)]
