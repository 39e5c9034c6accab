"""Document of an experiment: workload, events, sweep, figures, checks and plots.

Rates, sizes and windows have the paper's values, at full scale.  ``scale`` divides rates and windows,
``sizes`` divides sizes, nothing divides times (:mod:`mininet_topos.experiments.plan`).
:mod:`mininet_topos.experiments.references` resolves names.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from adon.errors import InvalidFields
from adon.templates_catalog.model import MetricName, QSpec, Template
from adon.units import UNITS, Duration, Rate, Ratio, Size
from adon.values import Frozen, FrozenMap, Value
from measurement.model import Metric
from mininet_topos.link_shape import MAX_DELAY

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
"""Name of an experiment, flow, event, figure or case."""
NodeName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
"""Name of a campus, host, path or circuit of the network."""
Scalar = bool | int | float | str | None
Quantity = str | int | float
"""A quantity such as ``5.5 Gbps``; its figure has the unit."""
PositiveDuration = Annotated[Duration, Field(gt=0)]
PositiveRate = Annotated[Rate, Field(gt=0)]
PositiveSize = Annotated[Size, Field(gt=0)]
Streams = Annotated[int, Field(ge=1, le=128)]


class Reference(str):
    """Name of something that the document or its network has.

    :ivar kind: what it names, in words.
    :ivar name: the name to look up: of a setting such as ``soykb.size``, its first part.
    """

    kind: str
    name: str

    @classmethod
    def to(cls, kind: str, text: str, end: str = "") -> Self:
        """Return the name of something of a kind.

        :param end: the character after the name; empty if the whole text is the name.
        """
        reference = cls(text)
        reference.kind = kind
        reference.name = text.partition(end)[0] if end else text
        return reference


PolicyName = Annotated[str, AfterValidator(partial(Reference.to, "policy"))]
TemplateName = Annotated[str, AfterValidator(partial(Reference.to, "template"))]
EndName = Annotated[NodeName, AfterValidator(partial(Reference.to, "campus or host"))]
PathName = Annotated[NodeName, AfterValidator(partial(Reference.to, "path"))]
CircuitName = Annotated[NodeName, AfterValidator(partial(Reference.to, "circuit"))]
LinkName = Annotated[NodeName, AfterValidator(partial(Reference.to, "circuit or path"))]
SiteName = Annotated[NodeName, AfterValidator(partial(Reference.to, "compute site"))]
FlowName = Annotated[Name, AfterValidator(partial(Reference.to, "flow"))]
StepName = Annotated[Name, AfterValidator(partial(Reference.to, "flow or event"))]
FigureName = Annotated[Name, AfterValidator(partial(Reference.to, "figure"))]
KeyName = Annotated[str, AfterValidator(partial(Reference.to, "swept value"))]
SettingName = Annotated[str, AfterValidator(partial(Reference.to, "flow, event or section", end="."))]

CASE, POLICY = "case", "policy"
"""Names of a ``where`` in addition to the keys of the sweep."""


class Part(Value):
    """Base of the parts of a document.

    :cvar EXACTLY_ONE: groups of fields of which one must be given.
    :cvar AT_MOST_ONE: groups of fields that exclude each other.
    """

    EXACTLY_ONE: ClassVar[tuple[tuple[str, ...], ...]] = ()
    AT_MOST_ONE: ClassVar[tuple[tuple[str, ...], ...]] = ()

    @model_validator(mode="after")
    def _check_alternatives(self) -> Self:
        for names in (*self.EXACTLY_ONE, *self.AT_MOST_ONE):
            given = sum(getattr(self, name) is not None for name in names)
            if given > 1 or (given == 0 and names in self.EXACTLY_ONE):
                keys = [type(self).model_fields[name].alias or name for name in names]
                raise ValueError(f"{keys[0]}: {given} are given; expected one of {', '.join(keys)}")
        return self


class Phase(StrEnum):
    """State that a flow or an event reaches; a moment names one."""

    ASKED = "asked"
    """A flow is requested; an event begins."""
    ADMITTED = "admitted"
    """A flow has its first path."""
    BEGINS = "begins"
    """A flow sends its first byte; an event is carried out."""
    TESTED = "tested"
    """Each path between a flow's ends (of a load: each path) has a throughput test that began after it."""
    RETESTED = "retested"
    """The same, for tests that began after the end of the flow or load."""
    MOVED = "moved"
    """A flow has its second path."""
    ENDS = "ends"
    """A flow's last byte has arrived, or it was rejected; an event is undone."""


TEST_PHASES = (Phase.TESTED, Phase.RETESTED)


class Moment(Part):
    """Time relative to a flow or an event: ``[soykb, begins]`` or ``[soykb, begins, 5 s]``.

    :param of: name of the flow or event.
    :param wait: seconds after it.
    """

    of: StepName
    what: Phase
    wait: Duration = 0.0

    @property
    def key(self) -> tuple[str, Phase]:
        """The moment without the wait."""
        return self.of, self.what

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        if not 2 <= len(value) <= 3:
            words = ", ".join(Phase)
            raise ValueError(f"expected [NAME, begins] or [NAME, begins, 5 s] with one of {words}")
        return dict(zip(("of", "what", "wait"), value, strict=False))


class FlowEntry(Part):
    """Flow of the workload.

    :param at: seconds after the start of the trial; 0 without ``at`` and ``after``.
    :param source: campus or host of the sender (``from``).
    :param destination: campus or host of the receiver (``to``).
    :param size: bytes to transfer.
    :param lasts: seconds to send.
    :param until: moment at which the sender stops.
    :param streams: parallel connections; the template's by default.
    :param window: socket buffer of each connection in bytes; the system's choice by default.
    :param rate: upper bound of the application in bits/s; UDP is sent at exactly this rate.
    :param path: transit path to which the flow is pinned under every policy.
    """

    EXACTLY_ONE = (("size", "lasts", "until"),)
    AT_MOST_ONE = (("at", "after"),)

    name: Name = Field(alias="flow")
    template: TemplateName
    source: EndName = Field(alias="from")
    destination: EndName = Field(alias="to")
    at: Duration | None = None
    after: Moment | None = None
    size: PositiveSize | None = None
    lasts: PositiveDuration | None = None
    until: Moment | None = None
    streams: Streams | None = None
    window: PositiveSize | None = None
    rate: PositiveRate | None = None
    protocol: Literal["tcp", "udp"] | None = None
    qspec: QSpec | None = None
    path: PathName | None = None
    priority: Annotated[int, Field(ge=0, le=999)] | None = None


class Effect(Part):
    """Effect of an event: it lasts some seconds, or until a moment, else to the end of the trial."""

    AT_MOST_ONE = (("lasts", "until"),)

    lasts: PositiveDuration | None = Field(default=None, alias="for")
    until: Moment | None = None


class LoadEvent(Effect):
    """Traffic without a request: ``streams`` TCP connections, or UDP at ``rate`` bits/s."""

    EXACTLY_ONE = (("streams", "rate"),)

    path: PathName
    streams: Streams | None = None
    rate: PositiveRate | None = None


class LinkSetting(Part):
    """Attributes of a circuit; those that are not given stay as the network has them."""

    rate: PositiveRate | None = None
    delay: Annotated[Duration, Field(le=MAX_DELAY)] | None = None
    loss: Ratio | None = None


class LinkEvent(LinkSetting, Effect):
    """Change of a circuit: of ``name``, or of the narrowest of ``path``; ``state`` takes it down or up."""

    EXACTLY_ONE = (("name", "path"),)

    name: CircuitName | None = None
    path: PathName | None = None
    state: Literal["up", "down"] | None = None


Controller = Literal["stop", "start", "kill"]
"""Order to ADON's processes."""


class Move(Part):
    """Order of an operator: ``flow`` takes the path ``to``."""

    flow: FlowName
    to: PathName


class Event(Part):
    """Change of network or controller, ``at`` seconds or ``after`` a moment."""

    EXACTLY_ONE = (("at", "after"), ("load", "link", "controller", "move"))

    name: Name = Field(alias="event")
    at: Duration | None = None
    after: Moment | None = None
    load: LoadEvent | None = None
    link: LinkEvent | None = None
    controller: Controller | None = None
    move: Move | None = None

    @property
    def lasts(self) -> float | None:
        """Seconds until it is undone; None if no time is given."""
        return getattr(self.load or self.link, "lasts", None)

    @property
    def until(self) -> Moment | None:
        """The moment at which it is undone; None if no moment is given."""
        return getattr(self.load or self.link, "until", None)


class Unit(StrEnum):
    """Unit of a figure."""

    SECONDS = "s"
    BITS_PER_SECOND = "bps"
    BYTES = "B"
    RATIO = "ratio"
    COUNT = "count"


class Measure(StrEnum):
    """Quantity of a trial.  Of several flows: the mean; of throughput, bytes and counts the sum.

    :ivar about: its meaning.
    :ivar fields: fields of a figure that only some measures take.
    """

    unit: Unit
    about: str
    fields: tuple[str, ...]

    def __new__(cls, name: str, unit: Unit, about: str, *fields: str) -> Self:
        """Return the member with this name in documents."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.unit, member.about, member.fields = unit, about, fields
        return member

    COMPLETION_TIME = "completion_time", Unit.SECONDS, "from request to last byte"
    TRANSFER_TIME = "transfer_time", Unit.SECONDS, "from first byte sent to last byte received"
    WAITING_TIME = "waiting_time", Unit.SECONDS, "from request to first byte sent"
    DECISION_TIME = "decision_time", Unit.SECONDS, "from request, or `since`, to the next decision", "since"
    THROUGHPUT = "throughput", Unit.BITS_PER_SECOND, "received bits/s of transfers, or of `during`", "during"
    RECEIVED = "received", Unit.BYTES, "received bytes, in all, in `during`, or on `path`", "path", "during"
    PACKETS_LOST = "packets_lost", Unit.COUNT, "packets missing (UDP) or sent again (TCP)"
    LOSS = "loss", Unit.RATIO, "lost packets by sent packets"
    JITTER = "jitter", Unit.SECONDS, "mean difference of consecutive delays (RFC 3393)"
    MEASURED = "measured", Unit.SECONDS, "mean of one metric's tests on one path", "metric", "path", "during"
    INTERRUPTION = "interruption", Unit.SECONDS, "longest time without data, in whole seconds", "during"
    MOVES = "moves", Unit.COUNT, "changes of path"
    FLOORS_MISSED = "floors_missed", Unit.COUNT, "flows below the throughput that their QSpec demands"


METRIC_UNITS = {Metric.THROUGHPUT: Unit.BITS_PER_SECOND, Metric.LOSS: Unit.RATIO, Metric.HEALTH: Unit.RATIO}
"""Units of metrics; of all others seconds."""


LONG = 10_000.0
"""Seconds from which a time is written in hours; a paper has seconds for shorter times."""


def parse_quantity(text: object, unit: Unit) -> float:
    """Return a quantity such as ``5.5 Gbps`` in a figure's unit; a count is a plain number.

    :raises ValueError: for another unit, or none where one is needed.
    """
    if unit is not Unit.COUNT:
        return float(UNITS[unit][0](text))
    if isinstance(text, bool) or not isinstance(text, int | float):
        raise ValueError(f"expected a plain number such as 3, not {text!r}")
    return float(text)


def format_quantity(value: float, unit: Unit) -> str:
    """Return ``5.5 Gbps`` for 5.5e9 bits/s; times are seconds below :data:`LONG`."""
    if unit is Unit.COUNT:
        return f"{value:.4g}"
    if unit is Unit.SECONDS and 1 <= abs(value) < LONG:
        return f"{value:.4g} s"
    return UNITS[unit][1](value)


class Figure(Part):
    """Number that is read out of each trial.

    :param flow: the only flow that counts; all flows by default.
    :param metric: metric of ``measured``.
    :param since: start of ``decision_time``.
    :param during: moments between which the trial counts.
    :param where: values of sweep, ``case`` and ``policy``; other trials do not count.
    :param paper: the paper's value, at full scale.
    :param about: its name in tables.
    """

    of: Measure
    flow: FlowName | None = None
    path: PathName | None = None
    metric: MetricName | None = None
    since: Moment | None = None
    during: tuple[Moment, Moment] | None = None
    where: Frozen[KeyName, Scalar] = FrozenMap()
    paper: Quantity | None = None
    about: str = ""

    @property
    def unit(self) -> Unit:
        """Unit of its values."""
        return self.of.unit if self.metric is None else METRIC_UNITS.get(self.metric, Unit.SECONDS)

    @model_validator(mode="after")
    def _check_fields(self) -> Self:
        for field in ("metric", "path", "since", "during"):
            if getattr(self, field) is not None and field not in self.of.fields:
                raise ValueError(f"{field}: has no meaning with {self.of}")
            if self.of is Measure.MEASURED and field in ("metric", "path") and getattr(self, field) is None:
                raise ValueError(f"{field}: is missing; {self.of} needs it")
        return self


class Plot(Part):
    """Chart of the report: median and interval of figure ``y`` over ``x``, or a timeline of trials.

    Its crosses are the paper's values of the figures that differ from ``y`` in ``where`` only.
    """

    EXACTLY_ONE = (("kind", "y"), ("kind", "x"))

    plot: str
    kind: Literal["timeline"] | None = None
    y: FigureName | None = None
    x: KeyName | None = None
    by: KeyName | None = None


class ExpectedDecision(Part):
    """One decision that changes the state of a flow; ``path``, ``site`` and ``reason`` are checked if given.

    :param reason: text that the reason of the decision contains, such as the series of an alarm.
    """

    flow: FlowName
    outcome: Literal["admit", "queue", "reject", "move", "expire"]
    path: PathName | None = None
    site: SiteName | None = None
    reason: str = ""


CHECKS = ("ratio", "value", "decisions", "schedule")


class Check(Part):
    """Requirement on a run: one of :data:`CHECKS`; ``check`` states it in words.

    :param ratio: figures whose ratio is ``between`` two numbers; null is no bound.
    :param value: figure ``between`` two bounds: rates and sizes at full scale, times as measured.
    :param decisions: first decisions of ADON about each listed flow, in every trial of the policy ``ours``.
    :param schedule: no two tests that conflict in the plan overlapped.
    :param paper: the paper's value.
    :param discrepancy: reason why it is not expected to hold although the paper states it.
    """

    EXACTLY_ONE = (CHECKS,)

    check: str = Field(min_length=1)
    ratio: tuple[FigureName, FigureName] | None = None
    value: FigureName | None = None
    between: tuple[Quantity | None, Quantity | None] | None = None
    decisions: Annotated[tuple[ExpectedDecision, ...], Field(min_length=1)] | None = None
    schedule: Literal["conflict-free"] | None = None
    paper: Quantity | None = None
    discrepancy: str = ""

    @property
    def kind(self) -> str:
        """The one of :data:`CHECKS` that is given."""
        return next(kind for kind in CHECKS if getattr(self, kind) is not None)

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of the figures whose values it compares."""
        return self.ratio or (() if self.value is None else (self.value,))

    @model_validator(mode="after")
    def _check_bounds(self) -> Self:
        if (self.between is None) == bool(self.figures):
            raise ValueError("between: expected two bounds of a ratio or value, and none of other checks")
        return self


TestName = Annotated[str, StringConstraints(pattern=r"^(throughput|rtt|latency)$")]
TemplateSource = str | Template
"""Name of a built-in template, a file (``*.yaml``, relative to the experiment), or a template."""


class Experiment(Part):
    """Document of an experiment.

    :param source: figure or section that it reproduces, such as ``[ADON] figure 21``.
    :param follows: publication whose bounds its checks have.
    :param network: a built-in topology, or a Python file (``./my_topo.py``).
    :param scale: divisor of rates and windows; the topology's own by default.
    :param sizes: divisor of sizes; ``scale`` by default.
    :param links: attributes of circuits from the start on, by circuit or path.
    :param measuring: period of each test in seconds, None for never; others follow the testbed's plan.
    :param configuration: further sections of ADON's configuration.
    :param limit: seconds that a trial may take.
    :param sweep: values per key; a key is ``NAME.field`` of a flow or event, ``links.NAME.field`` or
        ``measuring.field``.
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
    templates: Annotated[tuple[TemplateSource, ...], Field(min_length=1)]
    policies: Annotated[tuple[PolicyName, ...], Field(min_length=1)] = ("ours",)
    repetitions: int = Field(default=3, ge=1, le=1000)
    seed: int = Field(default=1, ge=0, lt=2**63)
    limit: PositiveDuration = 600.0
    links: Frozen[LinkName, LinkSetting] = FrozenMap()
    measuring: Frozen[TestName, PositiveDuration | None] = FrozenMap()
    configuration: Frozen[str, Any] = FrozenMap()
    workload: Annotated[tuple[FlowEntry, ...], Field(min_length=1)]
    events: tuple[Event, ...] = ()
    sweep: Frozen[SettingName, Annotated[tuple[Scalar, ...], Field(min_length=1)]] = FrozenMap()
    cases: Frozen[Name, Frozen[SettingName, Scalar]] = FrozenMap()
    figures: Frozen[Name, Figure] = FrozenMap()
    checks: tuple[Check, ...] = ()
    plots: tuple[Plot, ...] = ()

    @property
    def steps(self) -> tuple[FlowEntry | Event, ...]:
        """Its flows and events."""
        return *self.workload, *self.events

    @property
    def catalog(self) -> dict[str, Template]:
        """Its templates by name, once they are read (:mod:`mininet_topos.experiments.loading`)."""
        return {one.name: one for one in self.templates if isinstance(one, Template)}

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        named = [(f"policies.{row}", policy) for row, policy in enumerate(self.policies)]
        named += [(f"workload.{row}", flow.name) for row, flow in enumerate(self.workload)]
        named += [(f"events.{row}", event.name) for row, event in enumerate(self.events)]
        uses = Counter(name for _, name in named)
        if problems := [f"{place}: {name!r} is used twice" for place, name in named if uses[name] > 1]:
            raise InvalidFields(problems)
        return self
