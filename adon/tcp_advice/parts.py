"""Parts of advice: items for people, unknown values, and settings of hosts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Literal

from adon.tcp_advice.facts import MTU_RANGE, HostFacts, PathFacts

JUMBO_MTU = 9000
ETHERNET_MTU = 1500
HEADER_SIZE = 40
"""Bytes of IPv4 and TCP headers without options, as :data:`adon.broker.cost.terms.MSS` counts them."""

BROKEN_LOSS = 0.1
"""Mathis' formula is for rare losses.  A path that loses a tenth of its packets has a fault."""


class Confidence(StrEnum):
    """Confidence in an item: computed from measurements, a rule of thumb, or an assumption."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Item:
    """One item of advice.

    :param name: ``buffers``, ``streams``, ``mtu``, ``queues``, ``control`` or ``pacing``.
    :param value: the recommended value, as people read it.
    :param formula: the computation with its numbers; "" for a rule without one.
    """

    name: str
    value: str
    reason: str
    formula: str
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class Gap:
    """An unknown value, what cannot be advised without it, and how to measure it."""

    what: str
    without: str
    measure: str


class Compare(StrEnum):
    """When a present value is as good as the recommended one."""

    AT_LEAST = "at least"
    EQUAL = "equal"


@dataclass(frozen=True, slots=True)
class Setting:
    """One recommended value of a host.

    :param kind: ``sysctl`` for a kernel setting, ``interface`` for ``mtu``, ``queue`` and ``qdisc``.
    :param value: as it is written; of three numbers the third, the maximum, is compared.
    """

    kind: Literal["sysctl", "interface"]
    key: str
    value: str
    compare: Compare
    reason: str


@dataclass(frozen=True, slots=True)
class Part:
    """Advice about one subject: at most one item, unknown values, and settings of both hosts."""

    item: Item | None = None
    gaps: tuple[Gap, ...] = ()
    sender: tuple[Setting, ...] = ()
    receiver: tuple[Setting, ...] = ()


@dataclass(frozen=True)
class Transfer:
    """A path between two hosts, and the values that follow from these facts directly."""

    path: PathFacts
    sender: HostFacts
    receiver: HostFacts

    @cached_property
    def target(self) -> float | None:
        """Rate to reach, bits/s: the least of path and interfaces; None if none is known."""
        rates = (self.path.rate, self.sender.rate, self.receiver.rate)
        return min((rate for rate in rates if rate is not None), default=None)

    @cached_property
    def mtu(self) -> int | None:
        """MTU that both hosts should have; None if the MTU of the path is unknown."""
        if self.path.mtu is None:
            return None
        interfaces = [host.interface for host in (self.sender, self.receiver)]
        limits = [one.largest_mtu for one in interfaces if one is not None]
        return min(_valid_mtus(self.path.mtu, JUMBO_MTU, *limits))

    @cached_property
    def present_mss(self) -> int:
        """Largest TCP segment with the present MTUs, bytes."""
        known = _valid_mtus(self.path.mtu, self.sender.mtu, self.receiver.mtu)
        return min(known, default=ETHERNET_MTU) - HEADER_SIZE

    @cached_property
    def mss(self) -> int:
        """Largest TCP segment with the recommended MTU, bytes."""
        return self.present_mss if self.mtu is None else self.mtu - HEADER_SIZE

    @property
    def is_broken(self) -> bool:
        """Whether the path loses so many packets that it must be repaired first."""
        return self.path.loss is not None and self.path.loss.mean >= BROKEN_LOSS


def _valid_mtus(*mtus: int | None) -> list[int]:
    return [mtu for mtu in mtus if mtu is not None and mtu >= MTU_RANGE[0]]
