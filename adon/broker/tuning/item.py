"""What advice is made of: items for people, gaps in what is known, settings for machines."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class Confidence(StrEnum):
    """How sure an item is: computed from what was measured, a rule of thumb that fits, or an assumption."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of advice.

    :param name: what it is about: ``buffers``, ``streams``, ``mtu``, ``queues``, ``control``, ``pacing``.
    :param value: what to have, as people read it.
    :param formula: how it was computed, with the numbers in it; "" for a rule without one.
    """

    name: str
    value: str
    reason: str
    formula: str
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that is not known, what cannot be said without it, and how to find out."""

    what: str
    without: str
    measure: str


class Compare(StrEnum):
    """When a present value is as good as the advised one."""

    AT_LEAST = "at least"
    EQUAL = "equal"


@dataclass(frozen=True, slots=True)
class Setting:
    """One value that a host should have.

    :param kind: ``sysctl`` for a kernel setting, ``interface`` for ``mtu``, ``queue`` and ``qdisc``.
    :param value: as it is written; of three numbers the third, the maximum, is compared.
    """

    kind: Literal["sysctl", "interface"]
    key: str
    value: str
    compare: Compare
    reason: str


@dataclass(frozen=True, slots=True)
class Piece:
    """What one module has to say: at most one item, what it could not know, and settings per host."""

    item: Item | None = None
    gaps: tuple[Gap, ...] = ()
    sender: tuple[Setting, ...] = ()
    receiver: tuple[Setting, ...] = ()
