"""Requests of a group, drawn by :mod:`adon.simulation.drawing`: the simulator's words, and its chance."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

from adon.experiments.workload import Arrivals, DrawEntry, Sizes
from adon.simulation import drawing


@dataclass(frozen=True, slots=True)
class Request:
    """One of a group.

    :param at: seconds after the trial's beginning.
    :param size: bytes, at full scale.
    :param slack: how many times its time alone it may take; None for as long as it likes.
    """

    at: float
    size: float
    ends: tuple[str, str]
    slack: float | None


def drawn(entry: DrawEntry, chance: random.Random) -> Iterator[Request]:
    """The group's requests in order of their times."""
    times = times_of(entry.arrivals).draw(chance, entry.at, entry.at + entry.lasts)
    sizes = sizes_of(entry.sizes)
    # Never more than asked for: a process without end is drawn as far as it is needed.
    for at in sorted(itertools.islice(times, entry.number)):
        ends = chance.choice(entry.between)
        size = sizes.draw(chance)
        slack = None if entry.slack is None else chance.uniform(*entry.slack)
        yield Request(at, size, ends, slack)


def times_of(arrivals: Arrivals) -> drawing.Times:
    """As the simulator has them."""
    if arrivals.poisson is not None:
        return drawing.Poisson(arrivals.poisson.per_hour)
    if arrivals.bursts is not None:
        return drawing.Bursts(arrivals.bursts.every, arrivals.bursts.size, arrivals.bursts.within)
    if arrivals.diurnal is not None:
        its = arrivals.diurnal
        return drawing.Diurnal(its.per_hour, its.swing, its.period)
    return drawing.Listed(arrivals.listed or ())


def sizes_of(sizes: Sizes) -> drawing.Sizes:
    """As the simulator has them."""
    if sizes.chosen is not None:
        return drawing.Chosen(tuple(map(float, sizes.chosen.sizes)), sizes.chosen.weights)
    if sizes.lognormal is not None:
        return drawing.LogNormal(sizes.lognormal.median, sizes.lognormal.sigma, sizes.lognormal.most)
    its = sizes.pareto
    assert its is not None  # noqa: S101 - exactly one is there
    return drawing.Pareto(its.shape, its.least, its.most)
