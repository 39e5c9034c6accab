"""Application template and its parts: the needs of an application, as immutable values.

A template is registered once per application type by a performance engineer ([ADON] 3.1, 4.1):
QSpec (the quality its flows need), RSpec (the resources), scoring (metric weights and lookup tables,
[ADON] 3.3 equations 1-3 and table 2), cost model ([ADON] 4.3) and notes.  A saved version never
changes (:mod:`adon.templates_catalog.catalog`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StringConstraints,
    field_serializer,
    field_validator,
    model_validator,
)

from adon.errors import InvalidFields, Problem, problems_of, read_each
from adon.marking import Marking
from adon.templates_catalog.lookup import LookupTable, generate_table, read_table, write_table
from adon.templates_catalog.rspec_document import MAX_CHARACTERS, check_link
from adon.templates_catalog.trigger_rules import Monitor, Trigger, check_triggers
from adon.units import UNITS, Duration, Rate, Ratio, Size, format_rate
from adon.values import Frozen, FrozenMap, Mode, Name, Value
from measurement.errors import InvalidValue
from measurement.model import Metric


def parse_metric(name: object) -> Metric:
    """Return the metric of this name.

    :raises ValueError: for an unknown metric; lists the known ones.
    """
    if not isinstance(name, str) or name not in list(Metric):
        raise ValueError(
            f"there is no metric {str(name)[:40]!r}; for example throughput; known are {', '.join(Metric)}"
        )
    return Metric(name)


MetricName = Annotated[Metric, BeforeValidator(parse_metric)]
"""A metric by name; the error for an unknown metric lists the known ones."""


class _AtLeast(Value):
    unit: ClassVar = "ratio"
    min: float
    target: float | None = None

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.target is not None and self.target < self.min:
            raise ValueError(f"target: is below min; for example {UNITS[self.unit][1](self.min)}")
        return self


class _AtMost(Value):
    unit: ClassVar = "ratio"
    max: float
    target: float | None = None

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.target is not None and self.target > self.max:
            raise ValueError(f"target: is above max; for example {UNITS[self.unit][1](self.max)}")
        return self


class ThroughputBound(_AtLeast):
    """``throughput >= min``, measured with ``streams`` parallel TCP streams; better up to ``target``."""

    unit: ClassVar = "bps"
    min: Annotated[Rate, Field(gt=0)]
    target: Rate | None = None
    streams: int = Field(default=1, ge=1, le=128)


class HealthBound(_AtLeast):
    """``health >= min`` (H-ALL of [HEALTH], 0 to 100 %); better up to ``target``."""

    min: Annotated[Ratio, Field(gt=0)]
    target: Ratio | None = None


class DelayBound(_AtMost):
    """``delay <= max`` (one-way delay, RTT or jitter); better down to ``target``."""

    unit: ClassVar = "s"
    max: Annotated[Duration, Field(gt=0)]
    target: Duration | None = None


class LossBound(_AtMost):
    """``loss <= max`` (ratio of packets); better down to ``target``."""

    max: Ratio
    target: Ratio | None = None


class QSpec(Value):
    """Required quality of a flow: per metric a hard bound and optionally a target (spec section 1)."""

    throughput: ThroughputBound | None = None
    rtt: DelayBound | None = None
    one_way_delay: DelayBound | None = None
    jitter: DelayBound | None = None
    loss: LossBound | None = None
    health: HealthBound | None = None

    def bound(self, metric: Metric) -> float | None:
        """Return the hard bound of a metric in its unit; None without one."""
        part = getattr(self, metric.value)
        if part is None:
            return None
        return float(part.min if metric.higher_is_better else part.max)

    def target(self, metric: Metric) -> float | None:
        """Return the target of a metric; None without one."""
        part = getattr(self, metric.value)
        return None if part is None or part.target is None else float(part.target)

    def met_by(self, metric: Metric, value: float) -> bool:
        """Return whether a value meets the hard bound of a metric; True without a bound."""
        bound = self.bound(metric)
        if bound is None:
            return True
        return value >= bound if metric.higher_is_better else value <= bound

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Metrics with a bound, in the order of :class:`Metric`."""
        return tuple(metric for metric in Metric if self.bound(metric) is not None)

    @property
    def streams(self) -> int:
        """Number of parallel TCP streams of the throughput bound."""
        return 1 if self.throughput is None else self.throughput.streams

    def override(self, other: QSpec | None) -> QSpec:
        """Return this QSpec with the bounds of ``other`` in place of its own for the same metrics."""
        if other is None:
            return self
        return self.model_copy(update={m.value: getattr(other, m.value) for m in other.metrics})


class ComputeRequirement(Value):
    """Requirements for a compute site, summed over all worker nodes."""

    worker_nodes: int = Field(default=1, ge=1, le=100_000)
    cores: int = Field(default=1, ge=1, le=1_000_000)
    memory: Size = 0
    gpus: int = Field(default=0, ge=0, le=100_000)


class RSpec(Value):
    """Permitted and required resources of an application ([ADON] 3.1; GENI RSpec v3 in ``rspec_xml``)."""

    bandwidth_ceiling: Annotated[Rate, Field(gt=0)] | None = None
    sites: tuple[Name, ...] = ()
    compute: ComputeRequirement | None = None
    storage: Size = 0
    software: tuple[Annotated[str, StringConstraints(pattern=r"^[ -~]{1,200}$")], ...] = ()
    document: Annotated[str, StringConstraints(max_length=MAX_CHARACTERS)] = Field(
        default="",
        description="original GENI RSpec v3 document; the export has this template's values",
    )
    link: str = Field(default="", description="client_id of the link in this document")

    @model_validator(mode="after")
    def _link_of_document(self) -> Self:
        if self.document or self.link:
            check_link(self.document, self.link)
        return self


def check_ports(ports: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Check ports and ranges of ports.

    :raises ValueError: naming the row of every invalid value.
    """
    ranges = [port_range(port) for port in ports]
    wrong = [
        f"{row}: {ports[row]!r} is not a port or a range such as '20000-20199'"
        for row, (first, last) in enumerate(ranges)
        if not 1 <= first <= last <= 65535
    ]
    if wrong:
        raise InvalidFields(wrong)
    return ports


Ports = Annotated[tuple[int | str, ...], AfterValidator(check_ports)]
"""Ports (``1247``) and ranges of them (``20000-20199``)."""


class MatchRule(Value):
    """Match rule of a template: application types, ports and DSCP values of its requests."""

    applications: tuple[Name, ...] = ()
    ports: Ports = ()
    dscp: tuple[Annotated[int, Field(ge=0, le=63)], ...] = ()


def port_range(port: int | str) -> tuple[int, int]:
    """Return the first and last port of ``1247`` or ``"20000-20199"``; (0, 0) for other text."""
    if isinstance(port, int):
        return port, port
    first, dash, last = port.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()):
        return 0, 0
    return int(first), int(last if dash else first)


class SelectionPolicy(Value):
    """Conditions for rerouting a running flow, and the maximum age of a value (spec section 2)."""

    max_age: Annotated[Duration, Field(gt=0)] = 300.0
    switch_margin: float = Field(default=1.0, ge=0, description="difference of Q needed to move")
    patience: int = Field(default=3, ge=1, le=100, description="consecutive misses before a move")
    min_dwell: Duration = 30.0
    default_path: Name | None = None
    queue_patience: Duration = 86_400.0
    idle_timeout: Duration = 60.0

    @field_validator("idle_timeout")
    @classmethod
    def _whole_seconds(cls, value: float) -> float:
        if not 1 <= value <= 65535 or value != int(value):
            raise ValueError("OpenFlow counts idle time-outs in whole seconds, 1 to 65535; for example 60 s")
        return value


class CostModel(Value):
    """Cost model for local and remote computation ([ADON] 4.3, algorithm 4; spec section 3)."""

    function: Literal["total_time", "money", "weighted"] = "total_time"
    result_ratio: float = Field(default=0.1, ge=0, le=100, description="result size over raw size")
    local_copy: bool = Field(default=False, description="whether the result returns to the source (B.3)")
    time_weight: float = Field(default=1.0, ge=0, description="cost per second, for 'weighted'")
    money_weight: float = Field(default=1.0, ge=0, description="cost per currency unit, for 'weighted'")

    @model_validator(mode="after")
    def _some_weight(self) -> Self:
        if self.function == "weighted" and self.time_weight == self.money_weight == 0:
            raise ValueError("time_weight: is zero, as money_weight is; for example 1")
        return self


class Template(Value):
    """Version of an application template."""

    name: Name
    version: int = Field(default=1, ge=1)
    title: str = ""
    description: str = ""
    match: MatchRule = MatchRule()
    qspec: QSpec = QSpec()
    rspec: RSpec = RSpec()
    weights: Frozen[MetricName, float]
    tables: Frozen[MetricName, LookupTable] = Field(
        default=FrozenMap(), examples=[{"rtt": {"points": [["20 ms", 1], ["100 ms", 0]]}}]
    )
    priority: int = Field(default=500, ge=0, le=999)
    selection: SelectionPolicy = SelectionPolicy()
    cost: CostModel | None = None
    protocol: Literal["tcp", "udp"] = "tcp"
    streams: int = Field(default=1, ge=1, le=128, description="parallel streams of its transfers")
    pausable: bool = Field(
        default=False, description="whether its transfers can pause while their flow waits"
    )
    mode: Mode = Field(
        default="active",
        description="dry-run: decisions about its flows are recorded and shown, but no rules are sent",
    )
    notes: str = ""
    marking: Marking | None = None
    triggers: Annotated[tuple[Trigger, ...], AfterValidator(check_triggers)] = Field(
        default=(),
        examples=[
            [
                {
                    "name": "low",
                    "when": {"metric": "throughput", "below": "20 Mbps", "clear": "30 Mbps"},
                    "do": {"action": "reexamine"},
                }
            ]
        ],
    )
    monitoring: Annotated[tuple[Monitor, ...], Field(max_length=16)] = ()

    @field_validator("weights")
    @classmethod
    def _weights(cls, weights: Mapping[Metric, float]) -> Mapping[Metric, float]:
        check_weights(weights)
        return weights

    @field_validator("tables", mode="before")
    @classmethod
    def _read_tables(cls, tables: object) -> object:
        if not isinstance(tables, Mapping):
            return tables
        return read_each(tables.items(), lambda name, table: read_table(parse_metric(name), table))

    @field_serializer("tables")
    def _write_tables(self, tables: Mapping[Metric, LookupTable]) -> dict[str, Any]:
        return {metric.value: write_table(metric, table) for metric, table in tables.items()}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        wrong: list[str | Problem] = [*_check_ceiling(self.qspec.throughput, self.rspec.bandwidth_ceiling)]
        for metric, table in self.tables.items():
            try:
                table.check_direction(metric)
            except ValueError as error:
                wrong += problems_of(error, f"tables.{metric}")
        if wrong:
            raise InvalidFields(wrong)
        return self

    @property
    def reference(self) -> str:
        """Name and version, for example ``soykb@3``."""
        return f"{self.name}@{self.version}"


def _check_ceiling(bound: ThroughputBound | None, ceiling: float | None) -> list[str]:
    if bound is None or ceiling is None:
        return []
    values = {"min": bound.min, "target": bound.target}
    above = f"is above rspec.bandwidth_ceiling; for example {format_rate(ceiling)}"
    return [
        f"qspec.throughput.{name}: {format_rate(value)} {above}"
        for name, value in values.items()
        if value is not None and value > ceiling
    ]


MAX_WEIGHT = 1e6
"""Maximum weight: larger weights are typing errors, and their sums overflow."""


def check_weights(weights: Mapping[Metric, float]) -> None:
    """Check that weights can be normalised to sum 1 (spec section 2).

    :raises ValueError: if there are none, one is negative, not finite or too large, or all are zero.
    """
    if not weights:
        raise InvalidValue("no metric has a weight; for example {throughput: 1}", "missing")
    wrong = [
        Problem(metric, f"{weight!r} is not between 0 and {MAX_WEIGHT:g}; for example 1", code="out-of-range")
        for metric, weight in weights.items()
        if not 0 <= weight <= MAX_WEIGHT
    ]
    if wrong:
        raise InvalidFields(wrong)
    if not any(weights.values()):
        raise ValueError("all weights are zero; for example {throughput: 1}")


def normalise_weights(weights: Mapping[Metric, float]) -> dict[Metric, float]:
    """Return the weights divided by their sum, so that Q stays within the range of the scores.

    :raises ValueError: as :func:`check_weights`.
    """
    check_weights(weights)
    total = math.fsum(weights.values())
    return {metric: weights[metric] / total for metric in Metric if metric in weights}


def scoring_tables(
    template: Template,
    qspec: QSpec,
    best_seen: Mapping[Metric, float],
    weights: Mapping[Metric, float] | None = None,
) -> dict[Metric, LookupTable]:
    """Return a table for every weighted metric, in the order of :class:`Metric`.

    :param qspec: the QSpec of this flow: the template's, with the bounds of the request.
    :param best_seen: per metric the best value of the candidates in the archive's window, or the
        propagation limit, in the metric's unit; unknown metrics are absent.
    :param weights: the flow's own weights; the template's if None.
    """
    weighted = template.weights if weights is None else weights
    return {
        metric: template.tables[metric]
        if metric in template.tables
        else generate_table(metric, qspec.bound(metric), _best_value(template, qspec, best_seen, metric))
        for metric in Metric
        if metric in weighted
    }


def _best_value(
    template: Template, qspec: QSpec, best_seen: Mapping[Metric, float], metric: Metric
) -> float | None:
    """Return the value that scores 10 in a generated table: target, else ceiling, else best value seen."""
    target = qspec.target(metric)
    if target is not None:
        return target
    if metric is Metric.THROUGHPUT and template.rspec.bandwidth_ceiling is not None:
        return template.rspec.bandwidth_ceiling
    return best_seen.get(metric)
