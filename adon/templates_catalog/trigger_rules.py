"""What a template watches for while its flows run, and what is done about it: values and their checks.

[ADON] 3.1: templates "define triggers for dynamic resource adaption"; 3.3: more overlay capacity is asked
for on a burst.  A trigger is a condition on one number (the flow's own rate, a metric of its path, a metric
of the host at one of its ends, a workflow's among them), how long it must hold, when it is over (hysteresis),
and one deed of a closed list.  What happens at run time is in :mod:`adon.broker.triggers`.

Levels are written with their unit, as everywhere.  A metric of a host is in its own unit
(docs/measurement-custom.md): ``2 GB``, ``30 s`` and ``80 %`` are understood, a bare number is taken as it is.
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
"""The flow's own rate, by the counters of its rules, in bits/s."""

MOST = 16
"""Triggers of one template."""

SHORTEST_HOLD_S = 10.0
LONGEST_PERIOD_S = 600.0

_CUSTOM = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")
_LEVELS = ("above", "below", "clear")

End = Literal["source", "destination"]
"""One of a flow's sites; its host is that of the site's measurement point."""

PointMetric = Annotated[str, StringConstraints(min_length=1, max_length=100)]
"""A metric as a measurement point names it in its configuration (``host``, ``queue.length``)."""

Level = Annotated[float, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}]})]


class Condition(Value):
    """``metric`` is ``above``, or ``below``, a level; over once it is beyond ``clear`` (hysteresis).

    :param of: whose host, for a metric of a host; none for a metric of the path or the flow itself.
    :param part: which disk, interface, workflow or batch system of that host; empty for any.
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
        """Whether it is about a host, not the path or the flow itself."""
        return self.of is not None

    @property
    def level(self) -> float:
        """What has to be passed."""
        found = self.below if self.above is None else self.above
        return 0.0 if found is None else found

    def met_by(self, value: float) -> bool:
        """Whether a value is beyond the level."""
        return value > self.level if self.above is not None else value < self.level

    def over_by(self, value: float) -> bool:
        """Whether a value ends what was met: it is on the good side of ``clear``."""
        clear = self.level if self.clear is None else self.clear
        return value <= clear if self.above is not None else value >= clear


def unit_of(metric: str) -> str | None:
    """The unit of a level; None for a metric of a host, which is in its own."""
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
    """Look again at the flow's paths now; patience is waived, its dwell on a path is not."""

    action: Literal["reexamine"]


class ChangePriority(Value):
    """From now on the flow's priority is what was asked and so much more (or less), within 0 to 999."""

    action: Literal["priority"]
    by: Annotated[int, Field(ge=-999, le=999)]


class ChangeCapacity(Value):
    """Announce that the path should have so much more, or less, capacity."""

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
        """What the capacity is multiplied by."""
        return 1 + self.more if self.more is not None else 1 - (self.less or 0.0)


class RequestTest(Value):
    """Have one metric of the flow's path measured now, where the schedule has room for it."""

    action: Literal["measure"]
    metric: Metric


class StartMonitoring(Value):
    """Watch more at one of the flow's ends until it ends."""

    action: Literal["monitor"]
    of: End
    metrics: Annotated[tuple[PointMetric, ...], Field(min_length=1, max_length=16)]
    period: Annotated[Duration, Field(ge=1, le=LONGEST_PERIOD_S)] = 5.0


class Notify(Value):
    """Tell people: in the log and on the event stream."""

    action: Literal["notify"]
    text: Annotated[str, Field(min_length=1, max_length=200)]
    level: Literal["info", "warning", "error"] = "warning"


Deed = Annotated[
    Reexamine | ChangePriority | ChangeCapacity | RequestTest | StartMonitoring | Notify,
    Field(discriminator="action"),
]
"""Everything that a trigger may do."""


class Trigger(Value):
    """When something holds for so long, do this; not again before it was over, nor within ``hold``.

    :param for_: seconds for which the condition must hold, from one value to another.
    :param hold: seconds after it fired in which it does not fire.
    """

    model_config = ConfigDict(populate_by_name=True)

    name: Name
    when: Condition
    for_: Duration = Field(default=0.0, alias="for")
    do: Deed
    hold: Annotated[Duration, Field(ge=SHORTEST_HOLD_S)] = 600.0

    @model_serializer(mode="wrap")
    def _by_alias(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # ``for`` everywhere: what is answered can be sent again as it is.
        return {"for" if name == "for_" else name: value for name, value in write(self).items()}


class Monitor(Value):
    """What is watched at one of a flow's ends from its deployment until its end ([ADON] 3.1)."""

    of: End
    metrics: Annotated[tuple[PointMetric, ...], Field(min_length=1, max_length=16)] = ("host",)
    period: Annotated[Duration, Field(ge=1, le=LONGEST_PERIOD_S)] = 5.0


def check_triggers(triggers: tuple[Trigger, ...]) -> tuple[Trigger, ...]:
    """Refuse too many triggers, and two of one name.

    :raises ValueError: naming the row.
    """
    wrong = [] if len(triggers) <= MOST else [f"{MOST}: a template has at most {MOST} triggers"]
    seen: set[str] = set()
    for row, trigger in enumerate(triggers):
        if trigger.name in seen:
            wrong.append(f"{row}.name: there is another trigger {trigger.name!r}")
        seen.add(trigger.name)
    if wrong:
        raise InvalidFields(wrong)
    return triggers
