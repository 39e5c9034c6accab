"""What perfSONAR's tests would tell of the simulated network: when they run, what they miss the truth by.

A throughput test is a transfer like any other for as long as it runs: it takes its share and gets what is
left ([ADON] 5.2: 5.5 -> 4.8 Gbps).  Light tests take nothing.  Errors are drawn from a seed and the test's
own name, so that the same test errs alike under every policy.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from measurement.model import Metric

_NORMAL = NormalDist()
_WHOLE = 1 << 53


@dataclass(frozen=True, slots=True)
class Plan:
    """Which tests run on every path in every direction used, as :mod:`adon.config`'s tests do.

    :param streams: of a throughput test.
    :param packets: of a loss test.
    :param noise: relative standard deviation of a throughput or RTT result.
    """

    throughput_period: float = 240.0
    throughput_duration: float = 10.0
    streams: int = 1
    rtt_period: float = 60.0
    loss_period: float = 60.0
    packets: int = 600
    noise: float = 0.03


@dataclass(frozen=True, slots=True)
class Test:
    """One test: of what, where, when."""

    at: float
    path: str
    source: str
    destination: str
    metric: Metric

    __test__ = False  # pytest would otherwise take the class for a test

    @property
    def name(self) -> str:
        """What tells it from every other."""
        return f"{self.path}/{self.source}/{self.destination}/{self.metric}/{self.at!r}"


def planned(plan: Plan, ways: Sequence[tuple[str, str, str]], end: float) -> Iterator[Test]:
    """The periodic tests of these directed paths: those of one kind one after the other, not together.

    :param ways: path, source and destination.
    """
    kinds = (
        (Metric.THROUGHPUT, plan.throughput_period),
        (Metric.RTT, plan.rtt_period),
        (Metric.LOSS, plan.loss_period),
    )
    for metric, period in kinds:
        for place, way in enumerate(ways):
            first = period * place / len(ways)
            for turn in range(math.ceil((end - first) / period)):
                yield Test(first + turn * period, *way, metric)


def uniform(seed: int, name: str) -> float:
    """A number between 0 and 1 (neither included) that depends on seed and name only."""
    digest = hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest()
    return ((int.from_bytes(digest) >> 11) + 0.5) / _WHOLE


def disturbed(value: float, noise: float, seed: int, name: str) -> float:
    """A value with a relative, normally distributed error; never negative."""
    return max(0.0, value * (1 + noise * _NORMAL.inv_cdf(uniform(seed, name))))


def lost(packets: int, loss: float, seed: int, name: str) -> float:
    """The ratio that a test of so many packets finds lost: Poisson, as single losses are rare."""
    mean, chance, count = packets * loss, uniform(seed, name), 0
    probability = reached = math.exp(-mean)
    while reached < chance and count < packets:
        count += 1
        probability *= mean / count
        reached += probability
    return count / packets
