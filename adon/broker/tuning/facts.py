"""What is known about a path and its two end hosts; None and absent keys are what is not known.

Units: bits/s, seconds, bytes, ratios.  Values that no path can have are refused with the field's name; values
that are possible and useless (an RTT of 0, a path that loses everything) pass, and the advice says why it can
do nothing with them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from adon.broker.uncertain import Uncertain
from adon.errors import InvalidFields
from adon.values import FrozenMap

MTU_RANGE = (576, 65_535)
"""The smallest packet every IPv4 host takes (RFC 791), and the largest there is."""


@dataclass(frozen=True, slots=True)
class Reached:
    """What a throughput test got, in bits/s, with so many streams."""

    rate: Uncertain
    streams: int = 1


@dataclass(frozen=True, slots=True)
class PathFacts:
    """One direction of a path between two hosts.

    :param rate: what it carries, bits/s.
    :param reached: what the latest tests got.
    :param shallow: whether a queue on it holds less than a bandwidth-delay product.
    :raises ValueError: for a value that no path has; one line per field.
    """

    name: str = ""
    rate: float | None = None
    rtt: Uncertain | None = None
    loss: Uncertain | None = None
    mtu: int | None = None
    reached: Reached | None = None
    shallow: bool | None = None

    def __post_init__(self) -> None:
        if wrong := list(self._wrong()):
            raise InvalidFields(wrong)

    def _wrong(self) -> Iterator[str]:
        if self.rate is not None and not 0 < self.rate < math.inf:
            yield f"rate: must be a finite number above zero, not {self.rate!r}"
        if self.rtt is not None and not 0 <= self.rtt.mean < math.inf:
            yield f"rtt: must be finite and zero or more, not {self.rtt.mean!r}"
        if self.loss is not None and not 0 <= self.loss.mean <= 1:
            yield f"loss: must be a ratio of 0 to 1, not {self.loss.mean!r}"
        if self.mtu is not None and not MTU_RANGE[0] <= self.mtu <= MTU_RANGE[1]:
            yield f"mtu: must be {MTU_RANGE[0]} to {MTU_RANGE[1]} bytes, not {self.mtu!r}"
        if self.reached is not None and not 0 <= self.reached.rate.mean < math.inf:
            yield f"reached: must be finite and zero or more, not {self.reached.rate.mean!r}"
        if self.reached is not None and self.reached.streams < 1:
            yield f"reached: was measured with at least one stream, not {self.reached.streams!r}"


@dataclass(frozen=True, slots=True)
class Interface:
    """The network interface that a host's transfers use.

    :param largest_mtu: what the driver allows.
    :param queue: txqueuelen, in packets.
    :param discipline: the kind of its root queueing discipline (``fq``, ``pfifo_fast``); "" if unknown.
    :param pace: bits/s at which ``fq`` paces each connection; None if it is not known to.
    :param rate: of the link, bits/s.
    """

    name: str
    mtu: int | None = None
    largest_mtu: int | None = None
    queue: int | None = None
    discipline: str = ""
    pace: float | None = None
    rate: float | None = None
    up: bool | None = None


class Triple(NamedTuple):
    """``tcp_rmem`` or ``tcp_wmem``: bytes that a connection's buffer has at least, at first, at most."""

    least: int
    first: int
    most: int

    def __str__(self) -> str:
        return f"{self.least} {self.first} {self.most}"


@dataclass(frozen=True, slots=True)
class Connection:
    """One TCP connection as ``ss -tin`` shows it.

    :param rtt: smoothed, seconds; ``least_rtt`` is the smallest seen.
    :param window: congestion window, in segments of ``mss`` bytes.
    :param held_back: the share of its busy time that it waited for the peer's receive window, and that it
        waited for room in its own send buffer.
    """

    peer: str
    control: str = ""
    rtt: float | None = None
    least_rtt: float | None = None
    mss: int | None = None
    window: int | None = None
    held_back: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class HostFacts:
    """One end host as it is now.

    :param sysctl: kernel settings by their dotted name, as text.
    :param memory: bytes.
    :param source: who says so.
    """

    name: str
    sysctl: Mapping[str, str] = field(default_factory=FrozenMap)
    interface: Interface | None = None
    memory: int | None = None
    connections: tuple[Connection, ...] = ()
    observed_at: float | None = None
    source: str = ""

    def number(self, key: str) -> int | None:
        """A setting that is one whole number; None where it is not known, or is none."""
        text = self.sysctl.get(key, "")
        return int(text) if re.fullmatch(r"-?[0-9]{1,19}", text) else None

    def triple(self, key: str) -> Triple | None:
        """A setting that is three whole numbers; None where it is not known, or is none."""
        parts = self.sysctl.get(key, "").split()
        if len(parts) != 3 or not all(re.fullmatch(r"[0-9]{1,19}", part) for part in parts):
            return None
        return Triple(*map(int, parts))

    def word(self, key: str) -> str | None:
        """A setting that is a word; None where it is not known."""
        text = self.sysctl.get(key, "")
        return text if text else None

    @property
    def kernel(self) -> tuple[int, int] | None:
        """Version and patch level, (6, 1) of ``6.1.0-18-amd64``."""
        found = re.match(r"([0-9]{1,4})\.([0-9]{1,4})", self.sysctl.get("kernel.osrelease", ""))
        return None if found is None else (int(found[1]), int(found[2]))

    @property
    def controls(self) -> frozenset[str] | None:
        """The congestion controls that are loaded."""
        text = self.word("net.ipv4.tcp_available_congestion_control")
        return None if text is None else frozenset(text.split())

    @property
    def rate(self) -> float | None:
        """Of the interface's link, bits/s."""
        return None if self.interface is None else self.interface.rate

    @property
    def mtu(self) -> int | None:
        """Of the interface."""
        return None if self.interface is None else self.interface.mtu
