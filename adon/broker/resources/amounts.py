"""Amounts of resources, and the limits that a place has of them; places.

Everything is a whole number, so that what is given back is exactly what was taken: worker nodes, cores and
GPUs are counted, memory and storage are bytes, bandwidth is bits/s.  An amount is of the request as a whole,
not of each worker node.  A limit of None is not limited or not known: it lacks nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import add, sub
from typing import Self

from adon.units import format_rate, format_size
from measurement.model import PathKey

KINDS = ("nodes", "cores", "memory", "gpus", "storage", "bandwidth")
"""The fields of :class:`Amounts` and :class:`Limits`, in order."""

_WORDS: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "nodes": ("worker nodes", "{:.0f}".format),
    "cores": ("cores", "{:.0f}".format),
    "memory": ("of memory", format_size),
    "gpus": ("GPUs", "{:.0f}".format),
    "storage": ("of storage", format_size),
    "bandwidth": ("of bandwidth", format_rate),
}


@dataclass(frozen=True, slots=True)
class Amounts:
    """So much of each resource.

    :raises ValueError: for less than nothing.
    """

    nodes: int = 0
    cores: int = 0
    memory: int = 0
    gpus: int = 0
    storage: int = 0
    bandwidth: int = 0

    def __post_init__(self) -> None:
        for kind, amount in zip(KINDS, self.vector, strict=True):
            if amount < 0:
                raise ValueError(f"{kind}: there is no {amount}")

    @property
    def vector(self) -> tuple[int, ...]:
        """The amounts in the order of :data:`KINDS`."""
        return (self.nodes, self.cores, self.memory, self.gpus, self.storage, self.bandwidth)

    def __add__(self, other: Amounts) -> Amounts:
        """Both together."""
        return Amounts(*map(add, self.vector, other.vector))

    def __sub__(self, other: Amounts) -> Amounts:
        """What is left of this without the other.

        :raises ValueError: if that is more than there is.
        """
        return Amounts(*map(sub, self.vector, other.vector))

    def __bool__(self) -> bool:
        """Whether it is anything at all."""
        return any(self.vector)

    def at_least(self, other: Amounts) -> Amounts:
        """Of each resource the larger amount."""
        return Amounts(*map(max, self.vector, other.vector))

    @property
    def words(self) -> str:
        """``4 worker nodes, 16 GB of memory``; ``nothing``."""
        held = zip(KINDS, self.vector, strict=True)
        return ", ".join(amount_text(kind, amount) for kind, amount in held if amount) or "nothing"


NOTHING = Amounts()


@dataclass(frozen=True, slots=True)
class Shortage:
    """What a place lacks of one resource."""

    kind: str
    free: int
    asked: int

    @property
    def there(self) -> str:
        """``3 worker nodes``."""
        return amount_text(self.kind, self.free)

    @property
    def needed(self) -> str:
        """``4``, ``16 GB``."""
        return _WORDS[self.kind][1](self.asked)

    @property
    def words(self) -> str:
        """``3 worker nodes free, 4 needed``."""
        return f"{self.there} free, {self.needed} needed"


@dataclass(frozen=True, slots=True)
class Limits:
    """What there is of each resource; None: as much as anybody wants."""

    nodes: int | None = None
    cores: int | None = None
    memory: int | None = None
    gpus: int | None = None
    storage: int | None = None
    bandwidth: int | None = None

    def __post_init__(self) -> None:
        for kind, limit in zip(KINDS, self.vector, strict=True):
            if limit is not None and limit < 0:
                raise ValueError(f"{kind}: there cannot be {limit}")

    @property
    def vector(self) -> tuple[int | None, ...]:
        """The limits in the order of :data:`KINDS`."""
        return (self.nodes, self.cores, self.memory, self.gpus, self.storage, self.bandwidth)

    def less(self, used: Amounts) -> Limits:
        """What is free of it; nothing where more is used than there is."""
        pairs = zip(self.vector, used.vector, strict=True)
        return Limits(*(None if limit is None else max(0, limit - amount) for limit, amount in pairs))

    def least(self, other: Limits) -> Limits:
        """Of each resource the tighter limit."""
        return Limits(*map(_tighter, self.vector, other.vector))

    def lacks(self, asked: Amounts) -> tuple[Shortage, ...]:
        """What of these amounts is not there."""
        return tuple(
            Shortage(kind, limit, amount)
            for kind, limit, amount in zip(KINDS, self.vector, asked.vector, strict=True)
            if limit is not None and amount > limit
        )

    def clip(self, asked: Amounts) -> Amounts:
        """As much of these amounts as there is."""
        pairs = zip(self.vector, asked.vector, strict=True)
        return Amounts(*(amount if limit is None else min(limit, amount) for limit, amount in pairs))

    def holds(self, asked: Amounts) -> bool:
        """Whether these amounts are there."""
        pairs = zip(self.vector, asked.vector, strict=True)
        return all(limit is None or amount <= limit for limit, amount in pairs)

    def known_limits(self) -> Iterator[tuple[str, int]]:
        """The limits that there are, by kind."""
        for kind, limit in zip(KINDS, self.vector, strict=True):
            if limit is not None:
                yield kind, limit


def _tighter(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return one if other is None else other
    return min(one, other)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where resources are: a compute site by its name, or one direction of a path."""

    compute: str = ""
    path: str = ""
    source: str = ""
    destination: str = ""

    @classmethod
    def at(cls, site: str) -> Self:
        """A compute site."""
        return cls(compute=site)

    @classmethod
    def along(cls, key: PathKey) -> Self:
        """One direction of a path."""
        return cls("", *key)

    @property
    def key(self) -> PathKey | None:
        """The direction of a path, if it is one."""
        return None if self.compute else PathKey(self.path, self.source, self.destination)

    @property
    def words(self) -> str:
        """``osu-hpc``, or ``al2s from mu to osu``."""
        return self.compute or f"{self.path} from {self.source} to {self.destination}"


def amount_text(kind: str, amount: float) -> str:
    """``4 worker nodes``, ``1 core``, ``16 GB of memory``, ``5 Gbps of bandwidth``."""
    noun, text = _WORDS[kind]
    return f"{text(amount)} {noun.removesuffix('s') if amount == 1 else noun}"


def whole_rate(rate: float) -> int:
    """bits/s that are asked for, as a whole number.

    :raises ValueError: for a rate that is not finite.
    """
    if not math.isfinite(rate):
        raise ValueError(f"bandwidth: {rate!r} is not a rate")
    return math.ceil(rate)
