"""Triggers of a template: conditions on running flows, actions, and their checks.

[ADON] 3.1: templates "define triggers for dynamic resource adaption"; 3.3: a burst requests more overlay
capacity.  A trigger has a condition on one number (the flow's own rate, a metric of its path, or a metric of
the host at one of its ends), a duration, a clear level (hysteresis), and one action of a closed list.
:mod:`adon.broker.triggers` evaluates triggers.

Levels have a unit: ``2 GB``, ``30 s`` and ``80 %`` are parsed.  A bare number has the unit of the metric
(docs/custom-metrics-and-tcp-advice.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    WithJsonSchema,
    field_serializer,
    model_serializer,
    model_validator,
)

from adon.errors import InvalidFields, read_each
from adon.templates_catalog.lookup import PARSERS, UNITS
from adon.units import Duration, Ratio, parse_duration, parse_rate, parse_ratio, parse_size
from adon.values import Name, Value
from measurement.model import Metric

RATE = "flow.rate"
"""Rate of the flow by the counters of its rules, in bits/s."""

MOST = 16
"""Maximum number of triggers of one template."""

SHORTEST_HOLD_S = 10.0
LONGEST_PERIOD_S = 600.0

_CUSTOM = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")
_LEVELS = ("above", "below", "clear")

End = Literal["source", "destination"]
"""One of a flow's sites; its host is the site's measurement point."""

PointMetric = Annotated[str, StringConstraints(min_length=1, max_length=100)]
"""A metric as a measurement point names it in its configuration (``host``, ``queue.length``)."""

Level = Annotated[float, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}]})]


class Condition(Value):
    """Condition: ``metric`` is ``above`` or ``below`` a level; ``clear`` ends it (hysteresis).

    :param of: the end of the host, for a metric of a host; None for a metric of the path or the flow.
    :param part: disk, interface, workflow or batch system of that host; empty for any.
    """

    metric: Annotated[str, Field(max_length=100)]
    of: End | None = None
    part: Annotated[str, Field(max_length=200)] = ""
    above: Level | None = None
    below: Level | None = None
    clear: Level | None = None

    @model_validator(mode="before")
    @classmethod
    def _read(cls, written: object) -> object:
        if not isinstance(written, Mapping) or not isinstance(written.get("metric"), str):
            return written
        metric = written["metric"]
        levels = ((name, written[name]) for name in _LEVELS if written.get(name) is not None)
        return {**written, **read_each(levels, lambda _, level: _level(metric, level))}

    @field_serializer("above", "below", "clear")
    def _write(self, value: float | None) -> str | float | None:
        unit = unit_of(self.metric)
        return value if value is None or unit is None else f"{value!r} {unit}"

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        if wrong := [*_wrong_metric(self), *_wrong_levels(self)]:
            raise InvalidFields(wrong)
        return self

    @property
    def host(self) -> bool:
        """Whether the metric is of a host, not of the path or the flow."""
        return self.of is not None

    @property
    def level(self) -> float:
        """Return the level of the condition."""
        found = self.below if self.above is None else self.above
        return 0.0 if found is None else found

    def met_by(self, value: float) -> bool:
        """Return whether a value is beyond the level."""
        return value > self.level if self.above is not None else value < self.level

    def over_by(self, value: float) -> bool:
        """Return whether a value ends the condition: it is at ``clear``, or better."""
        clear = self.level if self.clear is None else self.clear
        return value <= clear if self.above is not None else value >= clear


def unit_of(metric: str) -> str | None:
    """Return the unit of a level; None for a metric of a host, which has its own unit."""
    if metric == RATE:
        return "bps"
    return UNITS[Metric(metric)] if metric in set(Metric) else None


def _level(metric: str, written: object) -> float:
    if metric == RATE:
        return parse_rate(written)
    if metric in set(Metric):
        return PARSERS[Metric(metric)](written)
    if isinstance(written, int | float) and not isinstance(written, bool):
        return float(written)
    for parse in (parse_size, parse_duration, parse_ratio, parse_rate):
        try:
            return float(parse(written))
        except ValueError:
            continue
    raise ValueError(
        f"{str(written)[:40]!r} is neither a number nor a quantity such as '2 GB', '30 s' or '80 %'"
    )


def _wrong_metric(condition: Condition) -> Iterator[str]:
    metric, of_host = condition.metric, condition.of is not None
    if metric == RATE or metric in set(Metric):
        if of_host:
            yield f"of: {metric} is not of a host; leave it out"
        elif condition.part:
            yield "part: only a host has parts; leave it out"
    elif _CUSTOM.fullmatch(metric) is None:
        known = ", ".join([RATE, *Metric])
        yield f"metric: {metric[:40]!r} is not known; expected {known}, or a dotted name of a host's metric"
    elif not of_host:
        yield f"of: is missing; {metric} is of a host: expected source or destination"


def _wrong_levels(condition: Condition) -> Iterator[str]:
    above, below, clear = condition.above, condition.below, condition.clear
    if (above is None) == (below is None):
        yield "above: expected either above or below, for example above: 20 ms"
    elif clear is not None and above is not None and clear > above:
        yield "clear: is above the level that it ends; it must be at or below it"
    elif clear is not None and below is not None and clear < below:
        yield "clear: is below the level that it ends; it must be at or above it"


class Reexamine(Value):
    """Re-evaluation of the flow's paths now, without patience, but with the minimum dwell time."""

    action: Literal["reexamine"]


class ChangePriority(Value):
    """Addition to the flow's requested priority, within 0 to 999."""

    action: Literal["priority"]
    by: Annotated[int, Field(ge=-999, le=999)]


class ChangeCapacity(Value):
    """Notification that the path should have more, or less, capacity by a ratio."""

    action: Literal["capacity"]
    more: Annotated[Ratio, Field(gt=0)] | None = None
    less: Annotated[Ratio, Field(gt=0, lt=1)] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.more is None) == (self.less is None):
            raise ValueError("more: expected either more or less, for example '20 %'")
        return self

    @property
    def factor(self) -> float:
        """Factor of the capacity."""
        return 1 + self.more if self.more is not None else 1 - (self.less or 0.0)


class RequestTest(Value):
    """Test of one metric of the flow's path now, if the schedule allows it."""

    action: Literal["measure"]
    metric: Metric


class StartMonitoring(Value):
    """Monitoring of more metrics at one of the flow's ends until the flow ends."""

    action: Literal["monitor"]
    of: End
    metrics: Annotated[tuple[PointMetric, ...], Field(min_length=1, max_length=16)]
    period: Annotated[Duration, Field(ge=1, le=LONGEST_PERIOD_S)] = 5.0


class Notify(Value):
    """Text for the log and the event stream."""

    action: Literal["notify"]
    text: Annotated[str, Field(min_length=1, max_length=200)]
    level: Literal["info", "warning", "error"] = "warning"


Deed = Annotated[
    Reexamine | ChangePriority | ChangeCapacity | RequestTest | StartMonitoring | Notify,
    Field(discriminator="action"),
]
"""Action of a trigger."""


class Trigger(Value):
    """Action that fires when a condition holds for a time; fires again after it cleared and ``hold`` passed.

    :param for_: seconds for which the condition must hold, from one value to another.
    :param hold: minimum seconds from one firing to the next.
    """

    model_config = ConfigDict(populate_by_name=True)

    name: Name
    when: Condition
    for_: Duration = Field(default=0.0, alias="for")
    do: Deed
    hold: Annotated[Duration, Field(ge=SHORTEST_HOLD_S)] = 600.0

    @model_serializer(mode="wrap")
    def _by_alias(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # ``for`` everywhere: a client can send an answer back unchanged.
        return {"for" if name == "for_" else name: value for name, value in write(self).items()}


class Monitor(Value):
    """Metrics monitored at one of a flow's ends from its deployment until its end ([ADON] 3.1)."""

    of: End
    metrics: Annotated[tuple[PointMetric, ...], Field(min_length=1, max_length=16)] = ("host",)
    period: Annotated[Duration, Field(ge=1, le=LONGEST_PERIOD_S)] = 5.0


def check_triggers(triggers: tuple[Trigger, ...]) -> tuple[Trigger, ...]:
    """Check the number of triggers, and that their names are unique.

    :raises ValueError: naming the row.
    """
    wrong = [] if len(triggers) <= MOST else [f"{MOST}: a template has at most {MOST} triggers"]
    seen: set[str] = set()
    for row, trigger in enumerate(triggers):
        if trigger.name in seen:
            wrong.append(f"{row}.name: repeats the name of another trigger {trigger.name!r}")
        seen.add(trigger.name)
    if wrong:
        raise InvalidFields(wrong)
    return triggers
