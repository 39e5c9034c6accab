"""Placements as JSON.

::

    {"version": 1, "application": "sort", "method": "exact", "proven": true,
     "completion_time_s": 12.5, "lower_bound_s": 12.5, "snapshot_at": 1700000000.0,
     "machines": {"map-1": "vm-a", "reduce-1": "vm-b"},
     "limit": {"kind": "hose", "pairs": [["vm-a", "vm-b"]], "carried_bytes": 1e9, "waiting_bytes": 0,
               "rate_bps": 640000000.0, "seconds": 12.5}}

``limit`` is null where nothing leaves a machine.  Others who read it can rely on these keys; a later version
may add some.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adon.errors import InvalidInput, Problem
from adon.placement.methods import Method
from adon.placement.model import Kind, Limit, Placement
from measurement.health.model import Pair

VERSION = 1
MOST_TASKS = 10_000

Json = dict[str, Any]
_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Name = Annotated[str, Field(min_length=1, max_length=200)]


@dataclass(frozen=True, slots=True)
class Placed:
    """A placement with what it is of.

    :param application: its name.
    :param snapshot_at: when the network was measured, seconds since 1970.
    """

    application: str
    snapshot_at: float
    placement: Placement


class _Limit(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)

    kind: Kind
    pairs: list[tuple[_Name, _Name]] = Field(min_length=1)
    carried_bytes: _Amount
    waiting_bytes: _Amount
    rate_bps: Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _Document(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)

    version: Literal[1]
    application: _Name
    method: Method
    proven: bool
    completion_time_s: _Amount
    lower_bound_s: _Amount
    snapshot_at: _Amount
    machines: dict[_Name, _Name] = Field(min_length=1, max_length=MOST_TASKS)
    limit: _Limit | None


def placement_to_json(placed: Placed) -> Json:
    """A placement as an object."""
    placement, limit = placed.placement, placed.placement.limit
    return {
        "version": VERSION,
        "application": placed.application,
        "method": placement.method.value,
        "proven": placement.proven,
        "completion_time_s": placement.seconds,
        "lower_bound_s": placement.bound,
        "snapshot_at": placed.snapshot_at,
        "machines": dict(placement.machines),
        "limit": None if limit is None else _limit_to_json(limit),
    }


def _limit_to_json(limit: Limit) -> Json:
    return {
        "kind": limit.kind.value,
        "pairs": [list(pair) for pair in limit.pairs],
        "carried_bytes": limit.carried,
        "waiting_bytes": limit.waiting,
        "rate_bps": limit.rate,
        "seconds": limit.seconds,
    }


def placement_from_json(body: Mapping[str, Any]) -> Placed:
    """The inverse of :func:`placement_to_json`.

    :raises InvalidInput: for what is none, with every problem found.
    """
    try:
        found = _Document.model_validate_json(json.dumps(body), strict=True)
    except ValidationError as error:
        raise InvalidInput(
            Problem(".".join(map(str, one["loc"])), one["msg"]) for one in error.errors()
        ) from None
    placement = Placement(
        found.machines,
        found.completion_time_s,
        None if found.limit is None else _limit_from(found.limit),
        found.method,
        found.proven,
        found.lower_bound_s,
    )
    _check(placement)
    return Placed(found.application, found.snapshot_at, placement)


def _limit_from(found: _Limit) -> Limit:
    pairs = tuple(Pair(*pair) for pair in found.pairs)
    return Limit(found.kind, pairs, found.carried_bytes, found.waiting_bytes, found.rate_bps)


def _check(placement: Placement) -> None:
    """What one key says must not deny what another says."""
    if placement.bound > placement.seconds * (1 + 1e-9):
        raise InvalidInput.of("lower_bound_s", "is above completion_time_s")
    if placement.limit is None and placement.seconds > 0:
        raise InvalidInput.of("limit", "is missing where the completion time is above 0")
