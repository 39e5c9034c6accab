"""The health of each pair in a round, from 0 (dead) to 1 ([HEALTH] 6, equations 1 and 3).

Every measurement is normalised among its peers, and turned so that 1 is the healthiest: equation 1 as printed
gives 0 to the shortest round trip, while H-ALL = 0 is to mean dead::

    h = 1 - (x - min) / (max - min)     for times, and for the variance of the throughput
    h = (x - min) / (max - min)         for its volume
    h = 1                               where all peers are equal

A part is the weighted mean of those of its measurements that there are, and the score that of its parts, so
a round without throughput can still be compared with itself; what is lacking is named.  The peers of a pair
are all pairs of its source, to choose among whom to reach from there, or all pairs of the round, for a map of
the whole and for instances that reach each other.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from measurement.health.model import Found, Pair, Round
from measurement.health.score_weights import Weights
from measurement.model import sparse_schema

if TYPE_CHECKING:
    from pydantic_core import CoreSchema

_Value = Callable[[Found], float | None]


class Scope(StrEnum):
    """Who the peers of a pair are."""

    SOURCE = "source"
    SYSTEM = "system"


class Part(StrEnum):
    """A health metric."""

    THROUGHPUT = "throughput"
    ICMP = "icmp"
    UDP = "udp"
    TCP = "tcp"


@dataclass(frozen=True, slots=True)
class Score:
    """The health of one pair.

    :param total: H-ALL; 0 after a timeout; None where nothing is known.
    :param parts: each health metric; those of which nothing is known are left out.
    :param missing: the measurements that lacked, by name.
    """

    total: float | None
    parts: Mapping[Part, float] = field(default_factory=dict)
    timed_out: bool = False
    missing: tuple[str, ...] = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        return sparse_schema(source, handler)


@dataclass(frozen=True, slots=True)
class _Measure:
    """One measurement of a part.

    :param weight: in its part.
    :param of: the value that a pair's peers are compared by; None if there is none.
    """

    part: Part
    name: str
    weight: float
    of: _Value
    more_is_better: bool = False


def scores(of: Round, weights: Weights | None = None, scope: Scope = Scope.SYSTEM) -> Mapping[Pair, Score]:
    """The health of every pair of a round."""
    weighed = weights or Weights()
    measures = _measures(weighed)
    alive = {pair: found for pair, found in of.items() if not found.timed_out}
    known = {measure.name: _normalise(alive, measure, scope) for measure in measures}
    return {
        pair: _score(pair, measures, known, weighed) if pair in alive else Score(0.0, timed_out=True)
        for pair in of
    }


def around(place: str, of: Round, weights: Weights | None = None) -> Mapping[Pair, Score]:
    """The health of the pairs with one place, to choose among those whom it reaches, or who reach it.

    The peers are all pairs out of the place (equation 1), and apart from them all pairs into it: with the
    pairs of its *source* as peers, as equation 1 has it, a pair into the place would be compared with where
    else that source leads, and not with the others' ways to the place.
    """
    out = {pair: found for pair, found in of.items() if pair.source == place}
    into = {pair: found for pair, found in of.items() if pair.destination == place}
    return {**scores(out, weights), **scores(into, weights)}


def _measures(weights: Weights) -> list[_Measure]:
    udp_rest = 1 - weights.sandwich
    return [
        _Measure(
            Part.THROUGHPUT, "volume", weights.volume, lambda f: _mean(f.throughput), more_is_better=True
        ),
        _Measure(Part.THROUGHPUT, "steadiness", 1 - weights.volume, lambda f: _variance(f.throughput)),
        *(
            _Measure(Part.ICMP, f"icmp {size} B", weight, _at(lambda found: found.icmp, size))
            for size, weight in weights.icmp_sizes.items()
        ),
        *(
            _Measure(Part.UDP, f"udp {size} B", udp_rest * weight, _at(lambda found: found.udp, size))
            for size, weight in weights.udp_sizes.items()
        ),
        _Measure(Part.UDP, "sandwich", weights.sandwich, lambda f: _mean(f.sandwich)),
        _Measure(Part.TCP, "connect", weights.connect, lambda f: _mean(f.connect)),
        _Measure(Part.TCP, "tcp", 1 - weights.connect, lambda f: _mean(f.tcp)),
    ]


def _at(times: Callable[[Found], Mapping[int, tuple[float, ...]]], size: int) -> _Value:
    return lambda found: _mean(times(found).get(size, ()))


def _normalise(of: Round, measure: _Measure, scope: Scope) -> Mapping[Pair, float]:
    peers: dict[Hashable, dict[Pair, float]] = defaultdict(dict)
    for pair, found in of.items():
        value = measure.of(found)
        if value is not None:
            peers[pair.source if scope is Scope.SOURCE else None][pair] = value
    spans = {who: (min(its.values()), max(its.values())) for who, its in peers.items()}
    return {
        pair: between(value, *spans[who], more_is_better=measure.more_is_better)
        for who, its in peers.items()
        for pair, value in its.items()
    }


def between(value: float, low: float, high: float, *, more_is_better: bool) -> float:
    """Where a value stands between its peers' least and greatest: 1 for the best, and if all are equal."""
    if high == low:
        return 1.0
    place = min(1.0, max(0.0, (value - low) / (high - low)))
    return place if more_is_better else 1.0 - place


def _score(
    pair: Pair, measures: list[_Measure], known: Mapping[str, Mapping[Pair, float]], weights: Weights
) -> Score:
    parts: dict[Part, float] = {}
    for part in Part:
        its = [one for one in measures if one.part is part and pair in known[one.name]]
        health = _weighted_mean((one.weight, known[one.name][pair]) for one in its)
        if health is not None:
            parts[part] = health
    of_parts = {
        Part.THROUGHPUT: weights.throughput,
        Part.ICMP: weights.icmp,
        Part.UDP: weights.udp,
        Part.TCP: weights.tcp,
    }
    total = _weighted_mean((of_parts[part], health) for part, health in parts.items())
    missing = tuple(one.name for one in measures if one.weight > 0 and pair not in known[one.name])
    return Score(total, parts, missing=missing)


def _weighted_mean(terms: Iterable[tuple[float, float]]) -> float | None:
    """The weighted mean; None where nothing has weight."""
    known = [(weight, health) for weight, health in terms if weight > 0]
    whole = math.fsum(weight for weight, _ in known)
    return math.fsum(weight * health for weight, health in known) / whole if known else None


def _mean(values: tuple[float, ...]) -> float | None:
    return statistics.fmean(values) if values else None


def _variance(values: tuple[float, ...]) -> float | None:
    # One value, as a train has it, says nothing about steadiness.
    return statistics.pvariance(values) if len(values) > 1 else None
