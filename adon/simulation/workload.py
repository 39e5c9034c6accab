"""Workloads: the transfers over a simulated network, and how they are drawn from a description and a seed.

Times are seconds from the start, sizes bytes, rates bits/s of goodput.  A description names a network and,
per :class:`TransferSource`, when requests arrive (:func:`poisson`, :func:`bursts`, :func:`diurnal`,
:func:`listed`), their sizes (:func:`choice`, :func:`log_normal`, :func:`pareto`), template and deadlines.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adon.simulation.simulated_network import SimulatedNetwork, SimulatedPath
from adon.simulation.synthetic_tests import PeriodicTests
from adon.templates_catalog.model import QSpec, Template

ArrivalTimes = Callable[[random.Random, float, float], Iterator[float]]
"""Draws the times of requests between two times."""
Sizes = Callable[[random.Random], float]
"""Draws a size in bytes."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """One request.

    :param at: time of the request; its completion time starts here.
    :param source, destination: sites.
    :param ceiling: bits/s that its application sends at most, with all streams.
    """

    number: int
    at: float
    source: str
    destination: str
    size: int
    template: str
    streams: int
    priority: int
    deadline: float | None = None
    ceiling: float = math.inf

    @property
    def bits(self) -> float:
        """Its size in bits."""
        return self.size * 8.0


@dataclass(frozen=True, slots=True)
class Workload:
    """See the module's text.

    :param templates: by name.
    :param transfers: in the order of their times.
    :param end: time at which the simulation stops at the latest.
    """

    name: str
    network: SimulatedNetwork
    templates: Mapping[str, Template]
    transfers: tuple[Transfer, ...]
    tests: PeriodicTests
    end: float

    @property
    def directions(self) -> tuple[tuple[str, str], ...]:
        """The pairs of sites of the transfers."""
        return tuple(dict.fromkeys((one.source, one.destination) for one in self.transfers))


def meets_qspec(qspec: QSpec, rate: float, rtt: float, loss: float) -> bool:
    """Return whether true values keep the bounds of a QSpec.

    :param rate: bits/s of all streams together, as the decision core judges a running flow.
    """
    if qspec.throughput is not None and rate < qspec.throughput.min * (1 - 1e-9):
        return False
    if qspec.rtt is not None and rtt > qspec.rtt.max:
        return False
    return qspec.loss is None or loss <= qspec.loss.max


def rate_alone(
    network: SimulatedNetwork, transfer: Transfer, path: SimulatedPath, now: float, *, others: bool = True
) -> float:
    """Return the bits/s of a transfer on a path that no other transfer of the workload uses.

    :param others: whether it shares the links with other people's streams.
    """
    if path.has_outage(now):
        return 0.0
    limit = min(transfer.ceiling, transfer.streams * network.stream_limit(path, transfer.source, now))
    for link in (network.links[name] for name in path.links):
        streams = transfer.streams + (link.other_streams.at(now) if others else 0.0)
        limit = min(limit, link.capacity.at(now) * transfer.streams / streams)
    return limit


def poisson(per_hour: float) -> ArrivalTimes:
    """Return independent requests with a mean number per hour."""

    def draw(rng: random.Random, begins: float, ends: float) -> Iterator[float]:
        now = begins
        while (now := now + rng.expovariate(per_hour / 3600)) < ends:
            yield now

    return draw


def bursts(every: float, size: int, within: float = 10.0) -> ArrivalTimes:
    """Return bursts of ``size`` requests within ``within`` seconds."""

    def draw(rng: random.Random, begins: float, ends: float) -> Iterator[float]:
        start = begins
        while start < ends:
            yield from sorted(start + rng.uniform(0, within) for _ in range(size))
            start += every

    return draw


def diurnal(per_hour: float, swing: float, period: float) -> ArrivalTimes:
    """Return requests with a sinusoidal rate: 1 - ``swing`` to 1 + ``swing`` of the mean.

    Drawn by thinning (Lewis and Shedler 1979).
    """

    def draw(rng: random.Random, begins: float, ends: float) -> Iterator[float]:
        for at in poisson(per_hour * (1 + swing))(rng, begins, ends):
            rate = 1 + swing * math.sin(2 * math.pi * (at - begins) / period)
            if rng.random() * (1 + swing) < rate:
                yield at

    return draw


def arrivals_at(*times: float) -> ArrivalTimes:
    """Return requests at these times after the begin."""
    return lambda _, begins, ends: (begins + at for at in times if begins + at < ends)


def choice(*sizes: float, weights: Sequence[float] | None = None) -> Sizes:
    """Return one of these sizes, with probabilities in proportion to their weights."""
    return lambda rng: rng.choices(sizes, weights)[0]


def log_normal(median: float, sigma: float, most: float) -> Sizes:
    """Return sizes with a normally distributed logarithm, at most ``most``."""
    return lambda rng: min(most, median * math.exp(rng.gauss(0, sigma)))


def pareto(shape: float, least: float, most: float) -> Sizes:
    """Return heavy-tailed sizes between ``least`` and ``most`` (bounded Pareto, by inversion)."""
    share = 1 - (least / most) ** shape
    return lambda rng: float(least / (1 - rng.random() * share) ** (1 / shape))


@dataclass(frozen=True, slots=True)
class TransferSource:
    """Requests of one kind.

    :param template: by name; priority and streams are those of the template unless given.
    :param ends: pairs of sites, equally likely.
    :param slack: the deadline is the request plus the seconds that the transfer takes alone on the idle
        network, times a number drawn from this range; None: no deadline.
    :param ceiling: bits/s that the application sends at most.
    """

    template: str
    times: ArrivalTimes
    sizes: Sizes
    ends: tuple[tuple[str, str], ...]
    streams: int | None = None
    priority: int | None = None
    slack: tuple[float, float] | None = None
    ceiling: float = math.inf


@dataclass(frozen=True, slots=True)
class WorkloadDescription:
    """A workload before it is drawn.

    :param begins: time of the first request at the earliest: every test has run once by then.
    :param lasts: seconds in which requests arrive.
    :param end: time at which the simulation stops at the latest.
    """

    name: str
    network: SimulatedNetwork
    sources: tuple[TransferSource, ...]
    tests: PeriodicTests = field(default_factory=PeriodicTests)
    begins: float = 300.0
    lasts: float = 3600.0
    end: float = 20_000.0

    def draw(self, templates: Mapping[str, Template], rng: random.Random) -> Workload:
        """Return a workload; the same generator state gives the same one.

        :param templates: those of the sources, and perhaps more.
        """
        drawn = [one for source in self.sources for one in self._requests(source, templates, rng)]
        drawn.sort(key=lambda one: (one.at, one.template, one.size))
        numbered = tuple(replace(one, number=number) for number, one in enumerate(drawn, 1))
        used = {source.template: templates[source.template] for source in self.sources}
        return Workload(self.name, self.network, used, numbered, self.tests, self.end)

    def _requests(
        self, source: TransferSource, templates: Mapping[str, Template], rng: random.Random
    ) -> Iterator[Transfer]:
        template = templates[source.template]
        for at in source.times(rng, self.begins, self.begins + self.lasts):
            ends = rng.choice(source.ends)
            drawn = Transfer(
                0,
                at,
                *ends,
                size=max(1, round(source.sizes(rng))),
                template=source.template,
                streams=template.streams if source.streams is None else source.streams,
                priority=template.priority if source.priority is None else source.priority,
                ceiling=source.ceiling,
            )
            if source.slack is not None:
                paths = self.network.between(*ends)
                rate = max(rate_alone(self.network, drawn, path, 0.0, others=False) for path in paths)
                drawn = replace(drawn, deadline=at + rng.uniform(*source.slack) * drawn.bits / rate)
            yield drawn
