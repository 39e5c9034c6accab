"""A profile: bytes between tasks, which hold on any network; rates would not ([CHOREO] 2.1).

A profile is a document: ``measurement.model.to_json`` writes it and ``from_json`` reads it.  Its values of
pairs are matrices there (:mod:`measurement.matrix`); docs/choreo.md explains the fields.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic_core import CoreSchema

from measurement.matrix import Rows
from measurement.model import STRICT, headed_schema, sparse_schema

Amount = Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, strict=True)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Counts = Annotated[Mapping[tuple[str, str], int], Rows(tuple[tuple[Count | None, ...], ...], "tasks")]
Shares = Annotated[Mapping[tuple[str, str], float], Rows(tuple[tuple[Amount | None, ...], ...], "tasks")]


@dataclass(frozen=True, slots=True)
class Profile:
    """What was seen of one application.

    :param began, ended: of the observation, seconds since 1970.
    :param tasks: in the order of a matrix's rows.
    :param sent: bytes of payload (of TCP and UDP, without headers, so an acknowledgement alone is 0) from one
        task to another; what is absent is 0.
    :param errors: how far ``sent`` may be off, as a share of it, with 95 % confidence, where it was estimated
        from samples; what is absent was counted.
    :raises ValueError: for a transfer of somebody who is no task, to itself, or below 0, or a time before the
        beginning; it names the two.
    """

    __pydantic_config__ = STRICT

    kind: Literal["profile"] = field(default="profile", kw_only=True)
    version: Literal[1] = field(default=1, kw_only=True)
    began: Amount
    ended: Amount
    tasks: Annotated[tuple[Name, ...], Field(max_length=2000)]
    sent: Counts
    errors: Shares = field(default_factory=dict)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        return headed_schema(sparse_schema(source, handler, "kind", "version"), "kind", "version")

    def __post_init__(self) -> None:
        known = {*self.tasks}
        if len(known) < len(self.tasks):
            raise ValueError("tasks: a name is there twice")
        for pair, count in self.sent.items():
            if not {*pair} <= known or len({*pair}) < 2 or count < 0:
                raise ValueError(f"sent: {' > '.join(pair)}: {count} is no transfer between two of the tasks")
        for pair, share in self.errors.items():
            if pair not in self.sent or not (math.isfinite(share) and share >= 0):
                raise ValueError(f"errors: {' > '.join(pair)}: {share} is no share of what was sent")
        if not (math.isfinite(self.began) and math.isfinite(self.ended) and self.began <= self.ended):
            raise ValueError(f"ended: {self.ended} is not a time after {self.began}")
