"""Who sends what when.

Rates, sizes and windows are those of the paper: the plan divides them (``scale``, ``sizes``).  Times are
never divided.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from adon.experiments.parts import Moment, Name, NodeName, Part
from adon.templates_catalog.model import QSpec
from adon.units import Duration, Rate, Size
from adon.values import Name as TemplateName


def _above_zero(value: int) -> int:
    if value <= 0:
        raise ValueError("must be above zero")
    return value


TransferSize = Annotated[Size, AfterValidator(_above_zero)]
"""Bytes of a transfer: of none there is nothing to send."""

Streams = Annotated[int, Field(ge=1, le=128)]
Priority = Annotated[int, Field(ge=0, le=999)]


class FlowEntry(Part):
    """One flow.

    :param flow: its name.
    :param at: seconds after the trial's beginning; 0 if neither this nor ``after`` is said.
    :param origin: the site or host that sends (``from``).
    :param destination: the one that receives (``to``).
    :param size: bytes of data.
    :param lasts: instead of a size: it sends for so many seconds.
    :param until: instead of a size: it sends until then.
    :param deadline: seconds after it was asked for.
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

    flow: Name
    at: Duration | None = None
    after: Moment | None = None
    origin: NodeName = Field(alias="from")
    destination: NodeName = Field(alias="to")
    size: TransferSize | None = None
    lasts: Duration | None = None
    until: Moment | None = None
    deadline: Duration | None = None
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

    @property
    def name(self) -> str:
        """Its name."""
        return self.flow

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
