"""What instances found about each other in a round of probes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

INTERVALS = 10
"""One-second intervals of a throughput test."""
SILENT_S = 5.0
"""What has not answered by then has not answered ([HEALTH] 5.2)."""
AGREED_BY = 2
"""So many kinds of probe without an answer make a timeout: "consensus from more than one indicator"."""


class Indicator(StrEnum):
    """A kind of probe."""

    ICMP = "icmp"
    UDP = "udp"
    SANDWICH = "sandwich"
    CONNECT = "connect"
    TCP = "tcp"
    THROUGHPUT = "throughput"


class Pair(NamedTuple):
    """Who looked, and at whom; the other way round is another pair."""

    source: str
    destination: str

    @property
    def back(self) -> Pair:
        """The other direction."""
        return Pair(self.destination, self.source)


@dataclass(frozen=True, slots=True)
class Found:
    """What one instance found about another; what was not probed, or did not answer, is empty.

    :param icmp: round-trip times in seconds, by bytes of payload.
    :param udp: likewise.
    :param sandwich: how much farther apart two small packets came in than they were sent, a large one
        between them, in seconds; below zero where they came closer together.
    :param connect: seconds to establish a TCP connection.
    :param tcp: round-trip times over the connection, in seconds.
    :param throughput: bits/s in each interval of a transfer; a train's estimate is one value alone.
    :param silent: what got no answer within :data:`SILENT_S`.
    """

    icmp: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    udp: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    sandwich: tuple[float, ...] = ()
    connect: tuple[float, ...] = ()
    tcp: tuple[float, ...] = ()
    throughput: tuple[float, ...] = ()
    silent: frozenset[Indicator] = frozenset()

    @property
    def timed_out(self) -> bool:
        """Whether the other is taken to be gone."""
        return len(self.silent) >= AGREED_BY


Round = Mapping[Pair, Found]
"""All that was found in one round."""


def instances(of: Round) -> tuple[str, ...]:
    """Who took part, in order."""
    return tuple(sorted({name for pair in of for name in pair}))
