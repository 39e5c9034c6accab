"""What a trigger does when it fires, and how that is told.

Every effect names the trigger, what was seen, and the event.  A knob that must rest stays as it is, and that
is told too.  A look at the flow's paths records a decision that names the trigger, moved or not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from adon.broker.effects import (
    Announce,
    Effect,
    RequestMeasurement,
    SaveFlow,
)
from adon.broker.events import Event
from adon.broker.flow import Flow
from adon.broker.flow_placement import Placing
from adon.broker.triggers.evaluation import turn_knob
from adon.broker.triggers.record import Fired
from adon.broker.world import World
from adon.templates_catalog.trigger_rules import (
    ChangeCapacity,
    ChangePriority,
    Condition,
    Notify,
    Reexamine,
    RequestTest,
    StartMonitoring,
    Trigger,
    unit_of,
)
from adon.units import format_duration, format_rate, format_ratio
from measurement.model import Metric, PathKey

_WRITTEN = {"bps": format_rate, "s": format_duration, "ratio": format_ratio}


def fire(
    world: World, placing: Placing, flow: Flow, trigger: Trigger, value: float, event: Event
) -> list[Effect]:
    """Do what a trigger says, and note that it fired."""
    seen = seen_as(trigger, value)
    flow, told, effects = _done(world, flow, trigger, event)
    last = flow.triggered.last(trigger.name)
    text = f"trigger {trigger.name}: {seen}: {told}"
    fired = Fired(trigger.name, event.at, value, 1 if last is None else last.count + 1, text=text)
    flow = world.flows.put(replace(flow, triggered=flow.triggered.noting(fired)))
    level = level_of(trigger)
    announced: list[Effect] = [
        SaveFlow(event.id, flow),
        Announce(event.id, level, "trigger-fired", f"flow {flow.id}: {text}", flow.id),
    ]
    if isinstance(trigger.do, Reexamine):
        effects += placing.reexamine(flow, event, trigger=f"trigger {trigger.name} ({seen})")
    elif isinstance(trigger.do, ChangePriority):
        effects += placing.reexamine(flow, event)  # its rules carry its priority
    return [*announced, *effects]


def level_of(trigger: Trigger) -> Literal["info", "warning", "error"]:
    """Return the level of a trigger's announcement."""
    match trigger.do:
        case Notify(level=level):
            return level
        case ChangeCapacity():
            return "warning"
        case _:
            return "info"


def seen_as(trigger: Trigger, value: float) -> str:
    """``flow.rate 95 Mbps above 90 Mbps for 30 s``: what made a trigger fire."""
    when = trigger.when
    side = "above" if when.above is not None else "below"
    lasting = f" for {format_duration(trigger.for_)}" if trigger.for_ else ""
    where = f" at the {when.of}" if when.of else ""
    return f"{when.metric}{where} {_figure(when, value)} {side} {_figure(when, when.level)}{lasting}"


def _figure(when: Condition, value: float) -> str:
    return _WRITTEN.get(str(unit_of(when.metric)), "{:.4g}".format)(value)


def _done(world: World, flow: Flow, trigger: Trigger, event: Event) -> tuple[Flow, str, list[Effect]]:
    """The flow after the deed, the deed in words, and its effects."""
    match trigger.do:
        case Reexamine():
            return flow, "its paths are evaluated again", []
        case ChangePriority(by=by):
            return _priority(world, flow, trigger, by, event)
        case ChangeCapacity():
            return flow, _capacity(world, flow, trigger.do.factor), []
        case RequestTest(metric=metric):
            return _measurement(world, flow, trigger, metric, event)
        case StartMonitoring(of=end, metrics=metrics):
            return flow, f"{', '.join(metrics)} at its {end} are monitored until it ends", []
        case Notify(text=text):
            return flow, text, []


def _rests(flow: Flow, name: str) -> str:
    knob = flow.triggered.knob(name)
    rest = "" if knob is None else format_duration(knob.rest)
    return f"refused: its {name} was changed in the other direction less than {rest} ago"


def _priority(
    world: World, flow: Flow, trigger: Trigger, by: int, event: Event
) -> tuple[Flow, str, list[Effect]]:
    way = 1 if by > flow.triggered.priority else -1
    if by == flow.triggered.priority:
        return flow, f"its priority is already {world.flows.priority(flow)}", []
    knob = turn_knob(flow.triggered.knob("priority"), "priority", way, event.at, trigger.hold)
    if knob is None:
        return flow, _rests(flow, "priority"), []
    before = world.flows.priority(flow)
    flow = replace(flow, triggered=replace(flow.triggered.turning(knob), priority=by))
    return flow, f"its priority goes from {before} to {world.flows.priority(flow)}", []


def _capacity(world: World, flow: Flow, factor: float) -> str:
    path = str(flow.path)
    capacity = world.network.topology.capacity_of(path)
    if capacity is None:
        return f"path {path} should have {factor:.0%} of its capacity, which is not configured"
    return f"path {path} should have {format_rate(capacity * factor)}; it has {format_rate(capacity)}"


def _measurement(
    world: World, flow: Flow, trigger: Trigger, metric: Metric, event: Event
) -> tuple[Flow, str, list[Effect]]:
    path = str(flow.path)
    if metric is Metric.THROUGHPUT and path in world.quiet:
        return flow, f"no {metric} test now: {path} carries no load-generating test", []
    key = PathKey(path, *world.flows.ends(flow))
    request = RequestMeasurement(event.id, key, metric, f"flow {flow.id}, trigger {trigger.name}")
    return flow, f"a {metric} test of {path} is requested", [request]
