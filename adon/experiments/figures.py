"""Which numbers are read out of a run, which of them are drawn, and what the paper has there."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, model_validator

from adon.experiments.parts import Moment, Name, NodeName, Part, Scalar
from adon.templates_catalog.model import MetricName
from adon.units import parse_duration, parse_ratio, parse_size
from adon.units import parse_rate as _parse_rate
from adon.values import Frozen, FrozenMap
from measurement.model import Metric


class Unit(StrEnum):
    """What a figure is counted in."""

    SECONDS = "s"
    BITS_PER_SECOND = "bps"
    BYTES = "B"
    RATIO = "ratio"
    COUNT = "count"


class Measure(StrEnum):
    """What can be read out of a run, of each trial; :data:`MEANINGS` says what each is."""

    COMPLETION_TIME = "completion_time"
    TRANSFER_TIME = "transfer_time"
    WAITING_TIME = "waiting_time"
    DECISION_TIME = "decision_time"
    THROUGHPUT = "throughput"
    RECEIVED = "received"
    BYTES_ON_PATH = "bytes_on_path"
    PACKETS_LOST = "packets_lost"
    LOSS = "loss"
    DELAY = "delay"
    JITTER = "jitter"
    MEASURED = "measured"
    INTERRUPTION = "interruption"
    MOVES = "moves"
    MAKESPAN = "makespan"
    DEADLINES_MISSED = "deadlines_missed"
    FLOORS_MISSED = "floors_missed"

    @property
    def unit(self) -> Unit:
        """What it is counted in; what is ``measured`` depends on its metric."""
        return _UNITS[self]


MEANINGS = {
    Measure.COMPLETION_TIME: "from the request to the last byte",
    Measure.TRANSFER_TIME: "from the first byte sent to the last byte received",
    Measure.WAITING_TIME: "from the request to the first byte sent",
    Measure.DECISION_TIME: "from the request, or from another moment, to the next decision that "
    "changes what becomes of the flow",
    Measure.THROUGHPUT: "bits received by the flows per second, over their transfers or a window",
    Measure.RECEIVED: "bytes received by the flows, in all or in a window",
    Measure.BYTES_ON_PATH: "bytes received that were carried by one path",
    Measure.PACKETS_LOST: "packets that the flows' receivers missed (UDP), or that were sent again (TCP)",
    Measure.LOSS: "packets lost, by packets sent",
    Measure.DELAY: "mean round trip of the flows' packets",
    Measure.JITTER: "mean difference of consecutive delays of the flows' packets (RFC 3393)",
    Measure.MEASURED: "mean of what the measurement points found of one metric on one path",
    Measure.INTERRUPTION: "longest time within the transfer, in whole seconds, in which nothing arrived",
    Measure.MOVES: "how often the flows were given another path",
    Measure.MAKESPAN: "from the first request to the last byte of all flows",
    Measure.DEADLINES_MISSED: "flows that ended after their deadline, or did not end, or were refused",
    Measure.FLOORS_MISSED: "flows that were carried slower than their QSpec asks for, or began and did not "
    "end; one that never sent was promised nothing",
}
"""What each measure is, in words; where several flows are meant it is the mean over them, unless it is a
count, a number of bytes or a throughput: then it is their sum."""

_UNITS = {
    **dict.fromkeys(Measure, Unit.SECONDS),
    Measure.THROUGHPUT: Unit.BITS_PER_SECOND,
    Measure.RECEIVED: Unit.BYTES,
    Measure.BYTES_ON_PATH: Unit.BYTES,
    Measure.LOSS: Unit.RATIO,
    Measure.PACKETS_LOST: Unit.COUNT,
    Measure.MOVES: Unit.COUNT,
    Measure.DEADLINES_MISSED: Unit.COUNT,
    Measure.FLOORS_MISSED: Unit.COUNT,
}

SCALED_TIMES = {Measure.COMPLETION_TIME, Measure.TRANSFER_TIME, Measure.MAKESPAN}
"""Times that grow with sizes and shrink with rates, if the transfers have a size
(:mod:`adon.experiments.full_scale`)."""


def parse_quantity(text: object, unit: Unit) -> float:
    """What a person wrote, in a figure's own unit; a plain number for counts.

    :raises ValueError: if it is of another kind, or has no unit where one is needed.
    """
    if unit is Unit.COUNT:
        if isinstance(text, bool) or not isinstance(text, int | float):
            raise ValueError(f"expected a plain number, not {text!r}")
        return float(text)
    return float(_PARSERS[unit](text))


_PARSERS = {
    Unit.SECONDS: parse_duration,
    Unit.BITS_PER_SECOND: _parse_rate,
    Unit.BYTES: parse_size,
    Unit.RATIO: parse_ratio,
}

_METRIC_UNITS = {Metric.THROUGHPUT: Unit.BITS_PER_SECOND, Metric.LOSS: Unit.RATIO, Metric.HEALTH: Unit.RATIO}


def _text(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"expected a quantity such as '5.5 Gbps' or '92 s', not {value!r}")
    return value


Quantity = Annotated[str | int | float, BeforeValidator(_text)]
"""A quantity whose unit depends on the figure; checked against it where the figure is known."""


class Figure(Part):
    """A number that is read out of each trial.

    :param flow: of this flow only; of all flows if it is not said.
    :param path: for ``bytes_on_path`` and ``measured``: which.
    :param metric: for ``measured``: which.
    :param since: for ``decision_time``: what it is counted from.
    :param during: only between these two moments.
    :param where: of trials with these values of what is swept only; ``case`` and ``policy`` count as swept.
    :param paper: what the paper has there, at its full scale.
    :param about: how it is called in tables; its name if nothing is said.
    """

    of: Measure
    flow: Name | None = None
    path: NodeName | None = None
    metric: MetricName | None = None
    since: Moment | None = None
    during: tuple[Moment, Moment] | None = None
    where: Frozen[str, Scalar] = FrozenMap()
    paper: Quantity | None = None
    about: str = ""

    @property
    def unit(self) -> Unit:
        """What it is counted in."""
        if self.of is Measure.MEASURED and self.metric is not None:
            return _METRIC_UNITS.get(self.metric, Unit.SECONDS)
        return self.of.unit

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.of is Measure.MEASURED) != (self.metric is not None):
            raise ValueError("metric: is said exactly with of: measured")
        if self.path is None and self.of in (Measure.MEASURED, Measure.BYTES_ON_PATH):
            raise ValueError(f"path: is needed for {self.of.value}")
        if self.path is not None and self.of not in (Measure.MEASURED, Measure.BYTES_ON_PATH):
            raise ValueError(f"path: means nothing with {self.of.value}")
        if self.since is not None and self.of is not Measure.DECISION_TIME:
            raise ValueError(f"since: means nothing with {self.of.value}")
        if self.during is not None and self.of not in _IN_A_WINDOW:
            raise ValueError(f"during: means nothing with {self.of.value}")
        if self.paper is not None:
            _check_quantity("paper", self.paper, self.unit)
        return self


_IN_A_WINDOW = {
    Measure.THROUGHPUT,
    Measure.RECEIVED,
    Measure.BYTES_ON_PATH,
    Measure.MEASURED,
    Measure.INTERRUPTION,
}


def _check_quantity(field: str, value: object, unit: Unit) -> None:
    try:
        parse_quantity(value, unit)
    except ValueError as error:
        raise ValueError(f"{field}: {error}") from None


class PaperPoint(Part):
    """A point of the paper's own plot, at its full scale.

    :param by: which of the plot's curves it is on.
    """

    x: Scalar
    y: Quantity
    by: Scalar = None


class Plot(Part):
    """A chart of the report.

    :param plot: its title.
    :param kind: ``line`` and ``bar`` have an interval at each point, ``timeline`` the throughput of every
        second by path, with what happened and was decided.
    :param y: a figure; not for a timeline.
    :param x: a key of ``sweep``, ``case`` or ``policy``.
    :param by: the same: one curve for each value.
    :param where: for a timeline: which trials.
    :param paper: points of the paper's plot.
    """

    plot: str
    kind: Literal["line", "bar", "timeline"] = "line"
    y: Name | None = None
    x: str | None = None
    by: str | None = None
    where: Frozen[str, Scalar] = FrozenMap()
    paper: tuple[PaperPoint, ...] = ()

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.y is None) != (self.kind == "timeline"):
            raise ValueError("y: a timeline has none, every other plot needs one: the name of a figure")
        if self.kind != "timeline" and self.x is None:
            raise ValueError("x: is needed: a key of sweep, case or policy")
        return self
