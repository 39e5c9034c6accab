"""Results of measurement tests on a simulated network: when tests run, and their error.

A throughput test is a transfer like any other while it runs: it takes its share and measures what it gets
([ADON] 5.2: 5.5 -> 4.8 Gbps).  Latency and loss tests take no capacity.  Errors are drawn from a seed and the
name of the test, so that the same test has the same error under every policy.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from measurement.model import Metric, PathKey

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class PeriodicTests:
    """The tests of every path in every direction in use; times in seconds.

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
class PlannedTest:
    """A test of one metric of a directed path."""

    at: float
    key: PathKey
    metric: Metric

    @property
    def name(self) -> str:
        """A name that no other test has."""
        key = self.key
        return f"{key.path}/{key.source}/{key.destination}/{self.metric}/{self.at!r}"


def plan_tests(tests: PeriodicTests, keys: Sequence[PathKey], end: float) -> Iterator[PlannedTest]:
    """Yield the periodic tests of directed paths; tests of one metric are spread over the period."""
    periods = {
        Metric.THROUGHPUT: tests.throughput_period,
        Metric.RTT: tests.rtt_period,
        Metric.LOSS: tests.loss_period,
    }
    for metric, period in periods.items():
        for place, key in enumerate(keys):
            first = period * place / len(keys)
            for turn in range(math.ceil((end - first) / period)):
                yield PlannedTest(first + turn * period, key, metric)


def uniform(seed: int, name: str) -> float:
    """Return a number between 0 and 1, both excluded, that depends on seed and name only."""
    digest = hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest()
    return ((int.from_bytes(digest) >> 11) + 0.5) / (1 << 53)


def add_noise(value: float, noise: float, seed: int, name: str) -> float:
    """Return a value with a relative, normally distributed error; at least 0."""
    return max(0.0, value * (1 + noise * _NORMAL.inv_cdf(uniform(seed, name))))


def draw_loss(packets: int, loss: float, seed: int, name: str) -> float:
    """Return the ratio that a test of this many packets measures: Poisson, as single losses are rare."""
    mean, chance, count = packets * loss, uniform(seed, name), 0
    probability = reached = math.exp(-mean)
    while reached < chance and count < packets:
        count += 1
        probability *= mean / count
        reached += probability
    return count / packets
