"""Best practices: transfer settings that transfers have confirmed, kept with the template.

[ADON] 5.3: the knowledge of a path's achievable peak "can be updated within the corresponding ADON custom
template".  A practice is of one path between two hosts and says what was set, which transfers confirmed it,
what was predicted and what was achieved.  A saved template version never changes: accepting a practice makes
a new version.
"""

from __future__ import annotations

import math
from typing import Annotated, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from adon.frozenmap import Frozen, FrozenMap
from adon.units import Rate, Size

_Text = Annotated[str, StringConstraints(min_length=1, max_length=200)]
_Flow = Annotated[str, StringConstraints(pattern=r"^f-[1-9][0-9]{0,14}$")]

MOST_FLOWS = 400
"""Outcomes that one practice names; those before and those after."""


class Gain(BaseModel):
    """A factor of throughput, after over before, with the interval that it lies in."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    low: float = Field(ge=0)
    expected: float = Field(ge=0)
    high: float = Field(ge=0)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low <= self.expected <= self.high:
            raise ValueError("expected: must lie between low and high")
        return self


class BestPractice(BaseModel):
    """What was set for transfers over one path between two hosts, and how it is known to help.

    :ivar settings: kernel settings by name; where the ends differ, the receiver's.
    :ivar before, after: the flows whose outcomes were compared.
    :ivar p_value: of the one-sided rank test.
    :ivar effect: the probability that a transfer after beats one before.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    path: _Text
    source: _Text
    destination: _Text
    streams: int = Field(ge=1, le=128)
    buffer: Size
    mtu: int | None = Field(default=None, ge=576, le=65_535)
    congestion_control: Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]{1,32}$")] | None = None
    settings: Frozen[_Text, _Text] = Field(default_factory=FrozenMap)
    applied_at: AwareDatetime
    accepted_at: AwareDatetime
    accepted_by: _Text
    before_throughput: Rate
    after_throughput: Rate
    predicted: Gain | None = None
    achieved: Gain
    p_value: float = Field(ge=0, le=1)
    effect: float = Field(ge=0, le=1)
    before: tuple[_Flow, ...] = Field(min_length=1, max_length=MOST_FLOWS)
    after: tuple[_Flow, ...] = Field(min_length=1, max_length=MOST_FLOWS)

    @property
    def place(self) -> tuple[str, str, str]:
        """What it is of: a template has one practice for each."""
        return self.path, self.source, self.destination


def gain(low: float, expected: float, high: float) -> Gain | None:
    """A gain; None where one of its ends is not a finite number."""
    values = (low, expected, high)
    return Gain(low=low, expected=expected, high=high) if all(map(math.isfinite, values)) else None


def doubled(practices: tuple[BestPractice, ...]) -> list[str]:
    """Practices that are of the same path and hosts as an earlier one, as ``field: cause``."""
    seen: dict[tuple[str, str, str], int] = {}
    wrong = []
    for row, practice in enumerate(practices):
        if practice.place in seen:
            first = seen[practice.place]
            wrong.append(f"best_practices.{row}.path: best_practices.{first} is of the same path and hosts")
        seen.setdefault(practice.place, row)
    return wrong
