"""Bytes between tasks, added up at the places that see them.

A packet may pass several places that look: switches on its way, or captures at both its ends.  Added together
it would be there twice, so a pair of tasks counts at the place that saw most of it.  (Where a pair's packets
are spread over paths that have no place in common, that is too little.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from measurement.profiling.model import Profile
from measurement.profiling.packets import Packet
from measurement.profiling.tasks import Tasks

Z = 1.96
"""Standard deviations that hold 95 % of a normal distribution."""
Pair = tuple[str, str]


@dataclass(slots=True)
class Sum:
    """What one place saw of one pair.

    :param sent: bytes; :param spread: the variance of that, in bytes squared: 0 if everything was seen.
    :param packets: that were looked at.
    """

    sent: float = 0.0
    spread: float = 0.0
    packets: int = 0

    def add(self, payload: int, one_in: float = 1.0) -> None:
        """One packet, seen by chance, one in so many.

        A packet of x bytes that is seen with probability 1/N, and then stands for N·x, adds the variance
        x²·(N - 1), of which N·(N - 1)·x² per packet *seen* is an estimate without bias.
        """
        self.sent += one_in * payload
        self.spread += one_in * (one_in - 1) * payload * payload
        self.packets += 1

    @property
    def error(self) -> float:
        """Half of the 95 % interval, as a share of the bytes.

        Of n packets of one size, sampled rarely, it is the 196·√(1/n) % of P. Phaal and S. Panchen, "Packet
        Sampling Basics"; where sizes differ it is more.
        """
        return Z * math.sqrt(self.spread) / self.sent if self.sent else 0.0

    def scaled(self, by: float) -> Sum:
        """What it would be, had so many times as much been seen."""
        return Sum(self.sent * by, self.spread * by * by, self.packets)

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.sent + other.sent, self.spread + other.spread, self.packets + other.packets)


@dataclass(slots=True)
class Tally:
    """What one place saw.

    :param outside: bytes whose sender or receiver is no task.
    """

    tasks: Tasks
    sums: dict[Pair, Sum] = field(default_factory=dict)
    outside: float = 0.0

    def add(self, packet: Packet, one_in: float = 1.0) -> None:
        """A packet, and how many like it that stands for."""
        one, other = self.tasks.task(packet.source), self.tasks.task(packet.destination)
        if one is None or other is None:
            self.outside += one_in * packet.payload
        elif one != other and packet.payload:
            self.sums.setdefault((one, other), Sum()).add(packet.payload, one_in)


def profile(tasks: Tasks, places: Iterable[Mapping[Pair, Sum]], began: float, ended: float) -> Profile:
    """Each pair as the place saw it that saw most of it."""
    most: dict[Pair, Sum] = {}
    for sums in places:
        for pair, each in sums.items():
            if pair not in most or each.sent > most[pair].sent:
                most[pair] = each
    errors = {pair: each.error for pair, each in most.items() if each.spread > 0}
    return Profile(began, ended, tasks.names, {pair: round(each.sent) for pair, each in most.items()}, errors)
