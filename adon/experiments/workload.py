"""Who sends what when: flows one by one, and groups that are drawn by a seed.

Rates, sizes and windows are those of the paper: the plan divides them (``scale``, ``sizes``).  Times are
never divided.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, field_validator, model_validator

from adon.experiments.parts import Moment, Name, NodeName, NotEmpty, Part
from adon.templates_catalog.model import Name as TemplateName
from adon.templates_catalog.model import QSpec
from adon.units import Duration, Rate, Size

MAX_FLOWS = 10_000
"""Flows of one trial, at most."""


def _above_zero(value: int) -> int:
    if value <= 0:
        raise ValueError("must be above zero")
    return value


TransferSize = Annotated[Size, AfterValidator(_above_zero)]
"""Bytes of a transfer: of none there is nothing to send."""

Streams = Annotated[int, Field(ge=1, le=128)]
Priority = Annotated[int, Field(ge=0, le=999)]


class Sending(Part):
    """What a single flow and a group have in common.

    :param template: by name; of the file's ``templates``.
    :param streams: parallel connections; the template's if it is not said.
    :param window: socket buffer of each connection, in bytes: what may be under way on it at once; what the
        system chooses if it is not said.
    :param rate: what its application sends at most, in bits/s; UDP is sent at exactly this rate.
    :param path: the transit path that it is pinned to, whatever a policy says.
    :param store: where the receiver puts what arrives: ``memory`` (it is counted, checked and forgotten) or
        ``disk``.
    :param absent: it is not there at all; for a case to switch a flow off.
    """

    template: TemplateName
    streams: Streams | None = None
    window: Size | None = None
    rate: Rate | None = None
    protocol: Literal["tcp", "udp"] | None = None
    priority: Priority | None = None
    qspec: QSpec | None = None
    path: NodeName | None = None
    store: Literal["memory", "disk"] = "memory"
    absent: bool = False

    @field_validator("rate", "window")
    @classmethod
    def _some(cls, value: float | None) -> float | None:
        if value is not None and value <= 0:
            raise ValueError("must be above zero")
        return value

    @model_validator(mode="after")
    def _paced(self) -> Self:
        if self.protocol == "udp":
            for field, cause in self.not_for_udp():
                raise ValueError(f"{field}: {cause}")
        return self

    def not_for_udp(self) -> Iterator[tuple[str, str]]:
        """What of it cannot be with UDP, which its template may say as well: fields, and why."""
        if self.rate is None:
            yield "rate", "is needed for UDP, which does not find one by itself"
        if self.window is not None:
            yield "window", "UDP has none"
        if self.store == "disk":
            yield "store", "what comes by UDP is counted only"


class FlowEntry(Sending):
    """One flow.

    :param flow: its name.
    :param at: seconds after the trial's beginning; 0 if neither this nor ``after`` is said.
    :param origin: the site or host that sends (``from``).
    :param destination: the one that receives (``to``).
    :param size: bytes of data.
    :param lasts: instead of a size: it sends for so many seconds.
    :param until: instead of a size: it sends until then.
    :param deadline: seconds after it was asked for.
    """

    flow: Name
    at: Duration | None = None
    after: Moment | None = None
    origin: NodeName = Field(alias="from")
    destination: NodeName = Field(alias="to")
    size: TransferSize | None = None
    lasts: Duration | None = None
    until: Moment | None = None
    deadline: Duration | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return self.flow

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The ends that it may have: these."""
        return ((self.origin, self.destination),)

    @model_validator(mode="after")
    def _timed(self) -> Self:
        if self.at is not None and self.after is not None:
            raise ValueError("after: there is a time already: at")
        if [self.size, self.lasts, self.until].count(None) != 2:
            raise ValueError("size: say either how many bytes (size), or how long (lasts, or until)")
        if self.lasts == 0:
            raise ValueError("lasts: must be above zero")
        if self.origin == self.destination:
            raise ValueError(f"to: is where it comes from: {self.origin}")
        return self


class PoissonArrivals(Part):
    """Independent requests, so many per hour on average."""

    per_hour: float = Field(gt=0, le=1e6)


class BurstArrivals(Part):
    """``size`` requests within ``within``, again and again."""

    every: Duration
    size: int = Field(ge=1, le=MAX_FLOWS)
    within: Duration = 10.0

    @field_validator("every")
    @classmethod
    def _some(cls, value: float) -> float:
        if value <= 0:
            raise ValueError("must be above zero")
        return value


class DiurnalArrivals(Part):
    """A rate that rises and falls like a sine: 1 - ``swing`` to 1 + ``swing`` of the mean."""

    per_hour: float = Field(gt=0, le=1e6)
    swing: float = Field(ge=0, le=1)
    period: Duration

    @field_validator("period")
    @classmethod
    def _some(cls, value: float) -> float:
        if value <= 0:
            raise ValueError("must be above zero")
        return value


class Arrivals(Part):
    """When the requests of a group come: exactly one of these."""

    poisson: PoissonArrivals | None = None
    bursts: BurstArrivals | None = None
    diurnal: DiurnalArrivals | None = None
    listed: tuple[Duration, ...] | None = Field(default=None, max_length=MAX_FLOWS)

    @model_validator(mode="after")
    def _one(self) -> Self:
        _exactly_one(self)
        return self


class ChosenSizes(Part):
    """One of these sizes, each as likely as its weight says."""

    sizes: Annotated[tuple[TransferSize, ...], NotEmpty]
    weights: tuple[Annotated[float, Field(ge=0)], ...] | None = None

    @model_validator(mode="after")
    def _weighed(self) -> Self:
        if self.weights is not None and len(self.weights) != len(self.sizes):
            raise ValueError(f"weights: are {len(self.weights)} for {len(self.sizes)} sizes")
        if self.weights is not None and not sum(self.weights) > 0:
            raise ValueError("weights: are all zero")
        if self.weights is not None and math.isinf(sum(self.weights)):
            raise ValueError("weights: their sum is too large")
        return self


class LogNormalSizes(Part):
    """Sizes whose logarithm is normal, ``most`` at most."""

    median: TransferSize
    sigma: float = Field(ge=0, le=10)
    most: TransferSize


class ParetoSizes(Part):
    """Heavy-tailed sizes between ``least`` and ``most`` (bounded Pareto)."""

    shape: float = Field(gt=0, le=100)
    least: Size
    most: Size

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not 0 < self.least < self.most:
            raise ValueError("least: must be above zero and below most")
        return self


class Sizes(Part):
    """How large the transfers of a group are: exactly one of these."""

    chosen: ChosenSizes | None = None
    lognormal: LogNormalSizes | None = None
    pareto: ParetoSizes | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        _exactly_one(self)
        return self


def _exactly_one(part: Part) -> None:
    given = [name for name in type(part).model_fields if getattr(part, name) is not None]
    if len(given) != 1:
        known = ", ".join(type(part).model_fields)
        raise ValueError(f"write exactly one of {known}" + (f", not {' and '.join(given)}" if given else ""))


class DrawEntry(Sending):
    """A group of flows that the seed draws; they are called ``NAME-1``, ``NAME-2`` and so on.

    :param draw: its name.
    :param between: pairs of sites or hosts, each as likely.
    :param at: seconds after the trial's beginning from which requests come.
    :param lasts: seconds in which they come.
    :param number: so many at most.
    :param slack: the deadline is this many times the seconds that a transfer would take alone on the best
        path, a number drawn between these two; without it there is no deadline.
    """

    draw: Name
    between: Annotated[tuple[tuple[NodeName, NodeName], ...], NotEmpty]
    arrivals: Arrivals
    sizes: Sizes
    at: Duration = 0.0
    lasts: Duration
    number: int = Field(default=MAX_FLOWS, ge=1, le=MAX_FLOWS)
    slack: tuple[float, float] | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return self.draw

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The ends that one of its flows may have."""
        return self.between

    def draws(self, flow: str) -> bool:
        """Whether one of its flows may be called so."""
        group, _, number = flow.rpartition("-")
        counted = number.isdecimal() and not number.startswith("0")
        return group == self.name and counted and int(number) <= self.number

    @model_validator(mode="after")
    def _sound(self) -> Self:
        for row, (one, other) in enumerate(self.between):
            if one == other:
                raise ValueError(f"between.{row}: both ends are {one}")
        if self.slack is not None and not 1 <= self.slack[0] <= self.slack[1]:
            raise ValueError("slack: is two numbers of 1 or more, the lower one first")
        return self


# With a space: no key of the file is called so, and a tag in an error's place is no part of the data.
FLOW, GROUP = "a flow", "a group"


def _kind(entry: Any) -> str:
    is_draw = "draw" in entry if isinstance(entry, dict) else isinstance(entry, DrawEntry)
    return GROUP if is_draw else FLOW


Entry = Annotated[Annotated[FlowEntry, Tag(FLOW)] | Annotated[DrawEntry, Tag(GROUP)], Discriminator(_kind)]
"""A flow, or a group: which it is, its key ``flow`` or ``draw`` says."""
