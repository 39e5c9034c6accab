"""From a named description and a source of chance to a workload.

A description says which network, and per :class:`Source` who asks: when (:class:`Poisson`, :class:`Bursts`,
:class:`Diurnal`, :class:`Listed`), how much (:class:`Chosen`, :class:`LogNormal`, :class:`Pareto`), with
which template, and how tight the deadlines are.  The same description and chance give the same workload.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from adon.simulation.measuring import Plan
from adon.simulation.network import Network
from adon.simulation.workload import Transfer, Workload, alone, idle
from adon.templates_catalog.model import Template


@dataclass(frozen=True, slots=True)
class Poisson:
    """Independent requests, so many per hour on average."""

    per_hour: float

    def draw(self, chance: random.Random, begins: float, ends: float) -> Iterator[float]:
        """The times of requests."""
        now = begins
        while (now := now + chance.expovariate(self.per_hour / 3600)) < ends:
            yield now


@dataclass(frozen=True, slots=True)
class Bursts:
    """``size`` requests within ``within`` seconds, again and again."""

    every: float
    size: int
    within: float = 10.0

    def draw(self, chance: random.Random, begins: float, ends: float) -> Iterator[float]:
        """As :meth:`Poisson.draw`."""
        start = begins
        while start < ends:
            yield from sorted(start + chance.uniform(0, self.within) for _ in range(self.size))
            start += self.every


@dataclass(frozen=True, slots=True)
class Diurnal:
    """Requests whose rate rises and falls like a sine: 1 - ``swing`` to 1 + ``swing`` of the mean."""

    per_hour: float
    swing: float
    period: float

    def draw(self, chance: random.Random, begins: float, ends: float) -> Iterator[float]:
        """As :meth:`Poisson.draw`, by thinning (Lewis and Shedler 1979)."""
        for at in Poisson(self.per_hour * (1 + self.swing)).draw(chance, begins, ends):
            now = 1 + self.swing * math.sin(2 * math.pi * (at - begins) / self.period)
            if chance.random() * (1 + self.swing) < now:
                yield at


@dataclass(frozen=True, slots=True)
class Listed:
    """Requests at these times after the beginning."""

    times: tuple[float, ...]

    def draw(self, chance: random.Random, begins: float, ends: float) -> Iterator[float]:  # noqa: ARG002
        """As :meth:`Poisson.draw`."""
        return (begins + at for at in self.times if begins + at < ends)


Times = Poisson | Bursts | Diurnal | Listed


@dataclass(frozen=True, slots=True)
class Chosen:
    """One of these sizes (bytes), each as likely as its weight says."""

    sizes: tuple[float, ...]
    weights: tuple[float, ...] | None = None

    def draw(self, chance: random.Random) -> float:
        """One size."""
        return chance.choices(self.sizes, self.weights)[0]


@dataclass(frozen=True, slots=True)
class LogNormal:
    """Sizes whose logarithm is normal, ``most`` at most."""

    median: float
    sigma: float
    most: float

    def draw(self, chance: random.Random) -> float:
        """One size."""
        return min(self.most, self.median * math.exp(chance.gauss(0, self.sigma)))


@dataclass(frozen=True, slots=True)
class Pareto:
    """Heavy-tailed sizes between ``least`` and ``most`` (bounded Pareto)."""

    shape: float
    least: float
    most: float

    def draw(self, chance: random.Random) -> float:
        """One size, by inversion."""
        share = 1 - (self.least / self.most) ** self.shape
        return float(self.least / (1 - chance.random() * share) ** (1 / self.shape))


Sizes = Chosen | LogNormal | Pareto


@dataclass(frozen=True, slots=True)
class Source:
    """Requests of one kind.

    :param template: by name; priority and streams are the template's unless said here.
    :param ends: the pairs of sites that they go between, each as likely.
    :param slack: the deadline is the request plus this many times the seconds that the transfer would take
        with an idle network to itself, a number drawn between these two; None: no deadline.
    :param ceiling: bits/s that the application sends at most.
    """

    template: str
    times: Times
    sizes: Sizes
    ends: tuple[tuple[str, str], ...]
    streams: int | None = None
    priority: int | None = None
    slack: tuple[float, float] | None = None
    ceiling: float = math.inf


@dataclass(frozen=True, slots=True)
class Description:
    """A workload as a person describes it.

    :param story: in one sentence.
    :param begins: when the first request may come: the tests have run once by then.
    :param lasts: seconds in which requests come.
    :param end: when the simulation stops, at the latest.
    """

    name: str
    story: str
    network: Network
    sources: tuple[Source, ...]
    plan: Plan = field(default_factory=Plan)
    begins: float = 300.0
    lasts: float = 3600.0
    end: float = 20_000.0

    def draw(self, templates: Mapping[str, Template], chance: random.Random) -> Workload:
        """A workload of this kind.

        :param templates: those that the sources name, and perhaps more.
        """
        asked = [request for source in self.sources for request in _requests(source, templates, self, chance)]
        asked.sort(key=lambda one: (one.at, one.template, one.size))
        used = {source.template: templates[source.template] for source in self.sources}
        numbered = tuple(replace(one, number=number) for number, one in enumerate(asked, 1))
        return Workload(self.name, self.story, self.network, used, numbered, self.plan, self.end)


def _requests(
    source: Source, templates: Mapping[str, Template], description: Description, chance: random.Random
) -> Iterator[Transfer]:
    template, quiet = templates[source.template], idle(description.network)
    begins = description.begins
    for at in source.times.draw(chance, begins, begins + description.lasts):
        origin, destination = chance.choice(source.ends)
        asked = Transfer(
            number=0,
            at=at,
            source=origin,
            destination=destination,
            size=max(1, round(source.sizes.draw(chance))),
            template=source.template,
            streams=template.streams if source.streams is None else source.streams,
            priority=template.priority if source.priority is None else source.priority,
            ceiling=source.ceiling,
        )
        if source.slack is not None:
            least = alone(quiet, asked, at)
            asked = replace(asked, deadline=at + chance.uniform(*source.slack) * least)
        yield asked
