"""One number of what a decision saw, and how to change it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from adon.broker.recompute.seen import Snapshot


class Kind(StrEnum):
    """What sort of quantity it is."""

    METRIC = "metric"
    WEIGHT = "weight"
    BOUND = "bound"
    PRIORITY = "priority"
    SIZE = "size"
    MARGIN = "switch_margin"
    PATIENCE = "patience"
    DWELL = "dwell"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number that can be changed.

    :param name: of the metric, where it is about one; of a closed path, why it was closed.
    :param path: the path that it is of, where it is one's.
    :param unit: the metric whose unit it has, or ``s``, ``B``, or nothing.
    :param value: what it was; None if it was not known.
    :param low, high: how far it is changed.
    :param put: the snapshot with another value of it.
    :param marks: values at which something may change.
    :param whole: whether it is a whole number.
    :param better: where nothing was known, the end of the range at which it is best.
    """

    kind: Kind
    name: str
    path: str | None
    unit: str
    value: float | None
    low: float
    high: float
    put: Callable[[Snapshot, float], Snapshot]
    marks: tuple[float, ...] = ()
    whole: bool = False
    better: float = 0.0


def geometric_steps(value: float, doublings: int = 6) -> tuple[float, ...]:
    """A value multiplied by powers of the square root of two, both ways."""
    return tuple(value * 2 ** (step / 2) for step in range(-2 * doublings, 2 * doublings + 1))
