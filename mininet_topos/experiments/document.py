"""An experiment as its file states it: workload, events, sweep, figures, checks and plots.

Every rate, size and window has the value of the paper, at full scale: ``scale`` divides rates and windows,
``sizes`` divides sizes (:mod:`mininet_topos.experiments.plan`).  Times are never divided.  Names are resolved
by :mod:`mininet_topos.experiments.references`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    field_validator,
    model_validator,
)

from adon.errors import InvalidFields, Problem
from adon.templates_catalog.model import MetricName, QSpec, Template
from adon.units import Duration, Rate, Ratio, Size, parse_duration, parse_rate, parse_ratio, parse_size
from adon.values import Frozen, FrozenMap
from adon.values import Name as TemplateName
from measurement.model import Metric

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
"""Name of an experiment, flow, event, figure or case."""
NodeName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
"""Name of a campus, host, path or circuit of the network."""
Scalar = bool | int | float | str | None


def _refuse_zero(value: Any) -> Any:
    if value is not None and value <= 0:
        raise ValueError("must be above zero")
    return value


def _refuse_empty(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not values:
        raise ValueError("is empty")
    return values


AboveZero = AfterValidator(_refuse_zero)
NotEmpty = AfterValidator(_refuse_empty)
"""Not ``min_length``: pydantic counts a wrong item as missing and reports it twice."""


class Part(BaseModel):
    """Base of every part of a document: immutable, without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, str_max_length=4000)


class Phase(StrEnum):
    """What happens to a flow or an event; a moment names one."""

    ASKED = "asked"
    """A flow is requested; an event begins."""
    ADMITTED = "admitted"
    """A flow has its first path."""
    BEGINS = "begins"
    """A flow sends its first byte; an event was carried out."""
    TESTED = "tested"
    """Each path between a flow's ends (of a load: each path) has a throughput test that began after it."""
    RETESTED = "retested"
    """The same, for tests that began after its end."""
    MOVED = "moved"
    """A flow has its second path."""
    ENDS = "ends"
    """A flow's last byte has arrived, or it was rejected; an event is undone."""


class Moment(Part):
    """A time relative to a flow or an event: ``[soykb, begins]`` or ``[soykb, begins, 5 s]``.

    :param of: name of the flow or event.
    :param wait: seconds after it.
    """

    of: Name
    what: Phase
    wait: Duration = 0.0

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        if not 2 <= len(value) <= 3:
            words = ", ".join(Phase)
            raise ValueError(f"expected [NAME, begins] or [NAME, begins, 5 s] with one of {words}")
        return dict(zip(("of", "what", "wait"), value, strict=False))

    def __str__(self) -> str:
        return f"{self.of} {self.what.value}" + (f" + {self.wait:g} s" if self.wait else "")


class FlowEntry(Part):
    """One flow, or several copies of it.

    :param at: seconds after the start of the trial; 0 without ``at`` and ``after``.
    :param origin: site or host of the sender (``from``).
    :param destination: site or host of the receiver (``to``).
    :param size: bytes to transfer; or
    :param lasts: seconds to send; or
    :param until: the moment at which sending stops.
    :param streams: parallel connections; the template's by default.
    :param window: socket buffer of each connection in bytes; the system's choice by default.
    :param rate: upper bound of the application in bits/s; UDP is sent at exactly this rate.
    :param path: transit path to which the flow is pinned under every policy.
    :param copies: number of flows ``NAME-1``, ``NAME-2`` ..., each ``every`` seconds after the one before.
    """

    flow: Name
    template: TemplateName
    origin: NodeName = Field(alias="from")
    destination: NodeName = Field(alias="to")
    at: Duration | None = None
    after: Moment | None = None
    size: Annotated[Size, AboveZero] | None = None
    lasts: Annotated[Duration, AboveZero] | None = None
    until: Moment | None = None
    streams: Annotated[int, Field(ge=1, le=128)] | None = None
    window: Annotated[Size, AboveZero] | None = None
    rate: Annotated[Rate, AboveZero] | None = None
    protocol: Literal["tcp", "udp"] | None = None
    qspec: QSpec | None = None
    path: NodeName | None = None
    priority: Annotated[int, Field(ge=0, le=999)] | None = None
    copies: Annotated[int, Field(ge=1, le=100)] = 1
    every: Duration = 0.0

    @property
    def name(self) -> str:
        """Name of the flow."""
        return self.flow

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.at is not None and self.after is not None:
            raise ValueError("after: conflicts with at; expected one of them")
        if [self.size, self.lasts, self.until].count(None) != 2:
            raise ValueError("size: expected exactly one of size, lasts and until")
        if self.origin == self.destination:
            raise ValueError(f"to: is the same as from: {self.origin}")
        if self.protocol == "udp":
            for field, cause in self.udp_problems():
                raise ValueError(f"{field}: {cause}")
        return self

    def udp_problems(self) -> Iterator[tuple[str, str]]:
        """Yield field and cause of what UDP, which the template may state, does not permit."""
        if self.rate is None:
            yield "rate", "is missing; UDP needs a rate such as 10 Mbps"
        if self.window is not None:
            yield "window", "UDP has no window"

    def each_copy(self) -> Iterator[FlowEntry]:
        """Yield the flows that the entry stands for."""
        if self.copies == 1:
            yield self
            return
        for number in range(self.copies):
            wait, changes = number * self.every, {"flow": f"{self.flow}-{number + 1}", "copies": 1}
            if self.after is None:
                time: dict[str, Any] = {"at": (self.at or 0.0) + wait}
            else:
                time = {"after": self.after.model_copy(update={"wait": self.after.wait + wait})}
            yield self.model_copy(update={**changes, **time})


class Temporary(Part):
    """What ends after ``for`` seconds, at the moment ``until``, or with the trial."""

    lasts: Annotated[Duration, AboveZero] | None = Field(default=None, alias="for")
    until: Moment | None = None

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if self.lasts is not None and self.until is not None:
            raise ValueError("until: conflicts with for; expected one of them")
        return self


class Load(Temporary):
    """Traffic without a request: ``streams`` TCP connections, or UDP at ``rate`` bits/s, from ``from``."""

    path: NodeName
    streams: Annotated[int, Field(ge=1, le=128)] | None = None
    rate: Annotated[Rate, AboveZero] | None = None
    origin: NodeName | None = Field(default=None, alias="from")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.streams is None) == (self.rate is None):
            raise ValueError("streams: expected exactly one of streams (TCP) and rate (UDP)")
        return self


class LinkSetting(Part):
    """Attributes of a circuit; those that are not given stay as the network has them."""

    rate: Annotated[Rate, AboveZero] | None = None
    delay: Duration | None = None
    loss: Ratio | None = None


class LinkEvent(Temporary, LinkSetting):
    """A circuit goes down or up, or gets other attributes: ``name``, or the narrowest of ``path``."""

    name: NodeName | None = None
    path: NodeName | None = None
    state: Literal["up", "down"] | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.name is None) == (self.path is None):
            raise ValueError("name: expected exactly one of name and path")
        if self.state is None and self.rate is None and self.delay is None and self.loss is None:
            raise ValueError("state: nothing changes; expected state, rate, delay or loss")
        return self


class Controller(StrEnum):
    """What happens to ADON's processes."""

    STOP = "stop"
    START = "start"
    KILL = "kill"


class Move(Part):
    """An operator's order: ``flow`` takes the path ``to``."""

    flow: Name
    to: NodeName


KINDS = ("load", "link", "controller", "move")


class Event(Part):
    """What happens to network or controller: exactly one of :data:`KINDS`, ``at`` seconds or ``after``."""

    event: Name
    at: Duration | None = None
    after: Moment | None = None
    load: Load | None = None
    link: LinkEvent | None = None
    controller: Controller | None = None
    move: Move | None = None

    @property
    def name(self) -> str:
        """Name of the event."""
        return self.event

    @property
    def kind(self) -> str:
        """Which of :data:`KINDS` it is."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def lasts(self) -> float | None:
        """Seconds until it is undone; None if no time is given."""
        part = self.load or self.link
        return None if part is None else part.lasts

    @property
    def until(self) -> Moment | None:
        """The moment at which it is undone; None if no moment is given."""
        part = self.load or self.link
        return None if part is None else part.until

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.at is None) == (self.after is None):
            raise ValueError("at: expected exactly one of at and after")
        given = sum(getattr(self, kind) is not None for kind in KINDS)
        if given != 1:
            raise ValueError(f"event: expected exactly one of {', '.join(KINDS)}; {given} are given")
        return self


class Unit(StrEnum):
    """Unit of a figure."""

    SECONDS = "s"
    BITS_PER_SECOND = "bps"
    BYTES = "B"
    RATIO = "ratio"
    COUNT = "count"


class Measure(StrEnum):
    """What can be read out of a trial; :data:`MEASURES` gives unit and meaning."""

    COMPLETION_TIME = "completion_time"
    TRANSFER_TIME = "transfer_time"
    WAITING_TIME = "waiting_time"
    DECISION_TIME = "decision_time"
    THROUGHPUT = "throughput"
    RECEIVED = "received"
    BYTES_ON_PATH = "bytes_on_path"
    PACKETS_LOST = "packets_lost"
    LOSS = "loss"
    JITTER = "jitter"
    MEASURED = "measured"
    INTERRUPTION = "interruption"
    MOVES = "moves"
    FLOORS_MISSED = "floors_missed"


MEASURES: dict[Measure, tuple[Unit, str]] = {
    Measure.COMPLETION_TIME: (Unit.SECONDS, "from request to last byte"),
    Measure.TRANSFER_TIME: (Unit.SECONDS, "from first byte sent to last byte received"),
    Measure.WAITING_TIME: (Unit.SECONDS, "from request to first byte sent"),
    Measure.DECISION_TIME: (Unit.SECONDS, "from request, or `since`, to the next decision"),
    Measure.THROUGHPUT: (Unit.BITS_PER_SECOND, "received bits per second of transfers, or of `during`"),
    Measure.RECEIVED: (Unit.BYTES, "received bytes, in all or in `during`"),
    Measure.BYTES_ON_PATH: (Unit.BYTES, "received bytes that one path carried"),
    Measure.PACKETS_LOST: (Unit.COUNT, "packets missing (UDP) or sent again (TCP)"),
    Measure.LOSS: (Unit.RATIO, "lost packets by sent packets"),
    Measure.JITTER: (Unit.SECONDS, "mean difference of consecutive delays (RFC 3393)"),
    Measure.MEASURED: (Unit.SECONDS, "mean of one metric's tests on one path"),
    Measure.INTERRUPTION: (Unit.SECONDS, "longest time in a transfer without data, in whole seconds"),
    Measure.MOVES: (Unit.COUNT, "changes of path"),
    Measure.FLOORS_MISSED: (Unit.COUNT, "flows below the throughput that their QSpec demands"),
}
"""Over several flows the mean; for throughput, bytes and counts the sum."""
IN_A_WINDOW = (
    Measure.THROUGHPUT,
    Measure.RECEIVED,
    Measure.BYTES_ON_PATH,
    Measure.MEASURED,
    Measure.INTERRUPTION,
)
ON_A_PATH = (Measure.MEASURED, Measure.BYTES_ON_PATH)
_METRIC_UNITS = {Metric.THROUGHPUT: Unit.BITS_PER_SECOND, Metric.LOSS: Unit.RATIO, Metric.HEALTH: Unit.RATIO}
_PARSERS: dict[Unit, Callable[[Any], float]] = {
    Unit.SECONDS: parse_duration,
    Unit.BITS_PER_SECOND: parse_rate,
    Unit.BYTES: parse_size,
    Unit.RATIO: parse_ratio,
}


def parse_quantity(text: object, unit: Unit) -> float:
    """Return a quantity such as ``5.5 Gbps`` in a figure's unit; a count is a plain number.

    :raises ValueError: for another unit, or none where one is needed.
    """
    if unit is not Unit.COUNT:
        return float(_PARSERS[unit](text))
    if isinstance(text, bool) or not isinstance(text, int | float):
        raise ValueError(f"expected a plain number such as 3, not {text!r}")
    return float(text)


def _refuse_bool(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"expected a quantity such as 5.5 Gbps or 92 s, not {value!r}")
    return value


Quantity = Annotated[str | int | float, BeforeValidator(_refuse_bool)]
"""A quantity whose unit is that of its figure."""


class Figure(Part):
    """A number that is read out of each trial.

    :param flow: only of this flow; of all flows by default.
    :param metric: of ``measured``.
    :param since: of ``decision_time``: where it starts.
    :param during: only between two moments.
    :param where: only of trials with these values of sweep, ``case`` and ``policy``.
    :param paper: the paper's value, at full scale.
    :param about: its name in tables.
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
        """Unit of its values."""
        if self.metric is not None:
            return _METRIC_UNITS.get(self.metric, Unit.SECONDS)
        return MEASURES[self.of][0]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        given = {
            "metric": (self.metric is not None, self.of is Measure.MEASURED, self.of is Measure.MEASURED),
            "path": (self.path is not None, self.of in ON_A_PATH, self.of in ON_A_PATH),
            "since": (self.since is not None, False, self.of is Measure.DECISION_TIME),
            "during": (self.during is not None, False, self.of in IN_A_WINDOW),
        }
        for field, (has, needed, permitted) in given.items():
            if needed and not has:
                raise ValueError(f"{field}: is missing; {self.of.value} needs it")
            if has and not permitted:
                raise ValueError(f"{field}: has no meaning with {self.of.value}")
        if self.paper is not None:
            try:
                parse_quantity(self.paper, self.unit)
            except ValueError as error:
                raise ValueError(f"paper: {error}") from None
        return self


class PaperPoint(Part):
    """A point of the paper's plot, at full scale; ``by`` names the curve."""

    x: Scalar
    y: Quantity
    by: Scalar = None


class Plot(Part):
    """A chart of the report: mean and interval of figure ``y`` over ``x``, or a timeline of trials."""

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
            raise ValueError("y: expected the name of a figure; a timeline has none")
        if self.kind != "timeline" and self.x is None:
            raise ValueError("x: is missing; expected a key of sweep, case or policy")
        return self


class Check(Part):
    """What must come out of a run; ``check`` states it in words.

    :param discrepancy: why it is not expected to hold although the paper says so.
    """

    check: str = Field(min_length=1)
    discrepancy: str = ""


def _bounded(between: tuple[Any, Any]) -> tuple[Any, Any]:
    low, high = between
    if low is None and high is None:
        raise ValueError("both bounds are null; expected at least one")
    if isinstance(low, int | float) and isinstance(high, int | float) and low > high:
        raise ValueError(f"{low:g} is above {high:g}")
    return between


class RatioCheck(Check):
    """The first figure divided by the second lies between two bounds; null is no bound."""

    ratio: tuple[Name, Name]
    between: Annotated[tuple[float | None, float | None], AfterValidator(_bounded)]
    paper: float | None = None


class ValueCheck(Check):
    """A figure lies between two bounds: rates and sizes at full scale, times as measured."""

    value: Name
    between: Annotated[tuple[Quantity | None, Quantity | None], AfterValidator(_bounded)]
    paper: Quantity | None = None


class OrderCheck(Check):
    """Figures rise, fall or are flat: several in order, or one over a key of the sweep.

    :param trend: ``is``: each value is above (below) the one before; ``flat``: within ``within`` of the mean.
    :param within: tolerated share of a value in the wrong direction.
    """

    order: tuple[Name, ...] | Name
    over: str | None = None
    trend: Literal["rising", "falling", "flat"] = Field(alias="is")
    within: Ratio = 0.0
    paper: str | None = None

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of the figures."""
        return (self.order,) if isinstance(self.order, str) else self.order

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if isinstance(self.order, str) and self.over is None:
            raise ValueError("over: is missing; expected a key of sweep for a single figure")
        if not isinstance(self.order, str) and (self.over is not None or len(self.order) < 2):
            raise ValueError("order: expected two or more figures, or one figure with over")
        if self.trend == "flat" and self.within == 0:
            raise ValueError("within: is missing; expected a ratio such as 5 %")
        return self


class ExpectedDecision(Part):
    """One decision that changes the state of a flow; ``path``, ``site`` and ``reason`` are checked if given.

    :param reason: text that the reason of the decision contains, such as the series of an alarm.
    """

    flow: Name
    outcome: Literal["admit", "queue", "reject", "move", "expire", "end"]
    path: NodeName | None = None
    site: NodeName | None = None
    reason: str = ""


class DecisionsCheck(Check):
    """The first decisions of each listed flow, in every repetition of a policy's trials ``where`` ..."""

    decisions: Annotated[tuple[ExpectedDecision, ...], NotEmpty]
    policy: str = "ours"
    where: Frozen[str, Scalar] = FrozenMap()


class ScheduleCheck(Check):
    """No two tests that conflict in the plan overlapped."""

    schedule: Literal["conflict-free"]


# With a blank: no key of a document has this name, so it is never part of a problem's place.
_CHECKS = {key: f"of {key}" for key in ("ratio", "value", "order", "decisions", "schedule")}


def _check_kind(check: Any) -> str | None:
    has = check.__contains__ if isinstance(check, dict) else lambda key: hasattr(check, key)
    return next((tag for key, tag in _CHECKS.items() if has(key)), None)


AnyCheck = Annotated[
    Annotated[RatioCheck, Tag("of ratio")]
    | Annotated[ValueCheck, Tag("of value")]
    | Annotated[OrderCheck, Tag("of order")]
    | Annotated[DecisionsCheck, Tag("of decisions")]
    | Annotated[ScheduleCheck, Tag("of schedule")],
    Discriminator(
        _check_kind,
        custom_error_type="check_kind",
        custom_error_message="expected one of the keys ratio, value, order, decisions and schedule",
    ),
]


class Need(StrEnum):
    """What the kernel must emulate in addition to rates."""

    DELAY = "delay"
    LOSS = "loss"


class Measuring(Part):
    """Period of each test in seconds; null for never, the testbed's plan where nothing is given."""

    throughput: Annotated[Duration, AboveZero] | None = None
    rtt: Annotated[Duration, AboveZero] | None = None
    latency: Annotated[Duration, AboveZero] | None = None

    @property
    def given(self) -> dict[str, float | None]:
        """The periods that the document states."""
        return {
            name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set
        }


def _freeze(value: Any) -> Any:
    if isinstance(value, dict):
        return FrozenMap({key: _freeze(one) for key, one in value.items()})
    return tuple(map(_freeze, value)) if isinstance(value, list | tuple) else value


def _check_policy(text: str) -> str:
    if text in ("ours", "best test") or (text.startswith("always ") and len(text.split()) == 2):
        return text
    raise ValueError(f"there is no policy {text[:60]!r}; expected ours, always PATH or best test")


TemplateSource = Annotated[
    Annotated[str, Tag("by name")] | Annotated[Template, Tag("in line")],
    Discriminator(lambda value: "by name" if isinstance(value, str) else "in line"),
]
"""Name of a built-in template, a file (``*.yaml``, relative to the experiment), or a template."""


class Experiment(Part):
    """A whole document.

    :param source: what it reproduces, such as ``[ADON] figure 21``.
    :param follows: whose bounds its checks have.
    :param network: a built-in topology, or a Python file (``./my_topo.py``).
    :param scale: divides rates and windows; the topology's own by default.
    :param sizes: divides sizes; ``scale`` by default.
    :param links: attributes of circuits from the start on, by circuit or path.
    :param configuration: further sections of ADON's configuration.
    :param limit: seconds that a trial may take.
    :param sweep: values per key; a key is ``NAME.field`` of a flow or event, ``field`` of the only flow,
        ``links.NAME.field`` or ``measuring.field``.
    :param cases: named sets of such settings, each combined with every point of the sweep.
    """

    experiment: Name
    title: str = Field(min_length=1)
    about: str = ""
    source: str = ""
    follows: Literal["thesis", "journal", "own"] = "own"
    network: str = Field(min_length=1)
    scale: float | None = Field(default=None, ge=0.001, le=1e6)
    sizes: float | None = Field(default=None, ge=0.001, le=1e9)
    needs: tuple[Need, ...] = ()
    templates: Annotated[tuple[TemplateSource, ...], NotEmpty]
    policies: Annotated[tuple[Annotated[str, AfterValidator(_check_policy)], ...], NotEmpty] = ("ours",)
    repetitions: int = Field(default=3, ge=1, le=1000)
    seed: int = Field(default=1, ge=0, lt=2**63)
    limit: Annotated[Duration, AboveZero] = 600.0
    links: Frozen[NodeName, LinkSetting] = FrozenMap()
    measuring: Measuring = Measuring()
    configuration: Annotated[dict[str, Any], AfterValidator(_freeze)] = FrozenMap()
    workload: Annotated[tuple[FlowEntry, ...], NotEmpty]
    events: tuple[Event, ...] = ()
    sweep: Frozen[str, tuple[Scalar, ...]] = FrozenMap()
    cases: Frozen[Name, Frozen[str, Scalar]] = FrozenMap()
    figures: Frozen[Name, Figure] = FrozenMap()
    checks: tuple[AnyCheck, ...] = ()
    plots: tuple[Plot, ...] = ()

    @property
    def flows(self) -> tuple[FlowEntry, ...]:
        """Its flows, every copy."""
        return tuple(flow for entry in self.workload for flow in entry.each_copy())

    @property
    def steps(self) -> tuple[FlowEntry | Event, ...]:
        """Its flows and events."""
        return *self.flows, *self.events

    @property
    def catalog(self) -> dict[str, Template]:
        """Its templates by name, once they are read (:mod:`mininet_topos.experiments.loading`)."""
        return {one.name: one for one in self.templates if isinstance(one, Template)}

    @field_validator("sweep")
    @classmethod
    def _have_values(cls, sweep: dict[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
        if empty := [key for key, values in sweep.items() if not values]:
            raise InvalidFields(Problem(key, "has no values", code="missing") for key in empty)
        return sweep

    @model_validator(mode="after")
    def _unique(self) -> Self:
        places = [(policy, "policies") for policy in self.policies]
        places += [
            (copy.name, f"workload.{row}")
            for row, one in enumerate(self.workload)
            for copy in one.each_copy()
        ]
        places += [(event.name, f"events.{row}") for row, event in enumerate(self.events)]
        names = [name for name, _ in places]
        if said := [
            f"{place}: {name!r} is there twice"
            for row, (name, place) in enumerate(places)
            if name in names[:row]
        ]:
            raise InvalidFields(said)
        return self
