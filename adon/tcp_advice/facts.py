"""Facts about a path and its two end hosts; None and absent keys are unknown.

Units: bits/s, seconds, bytes, ratios.  Values that no path can have are refused with the field's name.
Values that are possible and useless (an RTT of 0, a path that loses every packet) are accepted, and the
advice says why it cannot use them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from adon.errors import InvalidFields
from adon.uncertain import Uncertain
from adon.values import FrozenMap

MTU_RANGE = (576, 65_535)
"""The smallest packet that every IPv4 host accepts (RFC 791), and the largest possible."""


@dataclass(frozen=True, slots=True)
class TestedRate:
    """Result of throughput tests in bits/s, with their number of streams."""

    rate: Uncertain
    streams: int = 1


@dataclass(frozen=True, slots=True)
class PathFacts:
    """One direction of a path between two hosts.

    :param rate: capacity, bits/s.
    :param reached: result of the latest throughput tests.
    :param shallow: whether a queue on the path holds less than a bandwidth-delay product.
    :raises ValueError: for a value that no path has; one line per field.
    """

    name: str = ""
    rate: float | None = None
    rtt: Uncertain | None = None
    loss: Uncertain | None = None
    mtu: int | None = None
    reached: TestedRate | None = None
    shallow: bool | None = None

    def __post_init__(self) -> None:
        if problems := list(self._problems()):
            raise InvalidFields(problems)

    def _problems(self) -> Iterator[str]:
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
            yield f"reached: must have at least one stream, not {self.reached.streams!r}"


@dataclass(frozen=True, slots=True)
class Interface:
    """The network interface that a host's transfers use.

    :param largest_mtu: limit of the driver.
    :param queue: txqueuelen, in packets.
    :param discipline: kind of its root queueing discipline (``fq``, ``pfifo_fast``); "" if unknown.
    :param pace: bits/s at which ``fq`` paces each connection; None if unknown.
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


class BufferSizes(NamedTuple):
    """``tcp_rmem`` or ``tcp_wmem``: minimum, initial and maximum size of a connection's buffer, bytes."""

    minimum: int
    initial: int
    maximum: int

    def __str__(self) -> str:
        return f"{self.minimum} {self.initial} {self.maximum}"


@dataclass(frozen=True, slots=True)
class Connection:
    """One TCP connection in the output of ``ss -tin``.

    :param rtt: smoothed, seconds; ``min_rtt`` is the smallest seen.
    :param window: congestion window, in segments of ``mss`` bytes.
    :param receive_limited: share of its busy time in which it waited for the peer's receive window.
    :param send_limited: share of its busy time in which its own send buffer was full.
    """

    peer: str
    control: str = ""
    rtt: float | None = None
    min_rtt: float | None = None
    mss: int | None = None
    window: int | None = None
    receive_limited: float = 0.0
    send_limited: float = 0.0


@dataclass(frozen=True, slots=True)
class HostFacts:
    """Present settings of one end host.

    :param sysctl: kernel settings by their dotted name, as text.
    :param memory: bytes.
    :param source: origin of these facts.
    """

    name: str
    sysctl: Mapping[str, str] = field(default_factory=FrozenMap)
    interface: Interface | None = None
    memory: int | None = None
    connections: tuple[Connection, ...] = ()
    observed_at: float | None = None
    source: str = ""

    def integer(self, key: str) -> int | None:
        """A setting that is one integer; None if it is unknown or not an integer."""
        text = self.sysctl.get(key, "")
        return int(text) if re.fullmatch(r"-?[0-9]{1,19}", text) else None

    def buffer_sizes(self, key: str) -> BufferSizes | None:
        """A setting that is three integers; None if it is unknown or has another form."""
        parts = self.sysctl.get(key, "").split()
        if len(parts) != 3 or not all(re.fullmatch(r"[0-9]{1,19}", part) for part in parts):
            return None
        return BufferSizes(*map(int, parts))

    def text(self, key: str) -> str | None:
        """A setting as text; None if it is unknown or empty."""
        return self.sysctl.get(key) or None

    @property
    def kernel(self) -> tuple[int, int] | None:
        """Version and patch level, (6, 1) of ``6.1.0-18-amd64``."""
        found = re.match(r"([0-9]{1,4})\.([0-9]{1,4})", self.sysctl.get("kernel.osrelease", ""))
        return None if found is None else (int(found[1]), int(found[2]))

    @property
    def congestion_controls(self) -> frozenset[str] | None:
        """Loaded congestion controls; None if unknown."""
        text = self.text("net.ipv4.tcp_available_congestion_control")
        return None if text is None else frozenset(text.split())

    @property
    def rate(self) -> float | None:
        """Rate of the interface's link, bits/s."""
        return None if self.interface is None else self.interface.rate

    @property
    def mtu(self) -> int | None:
        """MTU of the interface."""
        return None if self.interface is None else self.interface.mtu
