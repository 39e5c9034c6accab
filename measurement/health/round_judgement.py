"""What a round means after those before it: scores, markers that fire, and what is to be probed again.

[HEALTH] 5.2: a marker that fires has the health worked out anew.  What costs time is throughput; so a round
may begin with light probes alone, and only pairs whose markers fire then, or whose throughput was never found
or is too old, have their throughput found anew (:func:`due`); that of all others is carried over
(:func:`carried_over`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from measurement.health.markers import Tolerances, adapt_tolerances, find_fired
from measurement.health.model import Found, Pair
from measurement.health.orders import join_results
from measurement.health.pair_scores import scores
from measurement.health.record import PairResult, RoundRecord
from measurement.health.score_weights import Weights

REMEMBERED = 12
"""Rounds before that one is compared with: [HEALTH] takes one, and asks for "more historic data"."""

AllTolerances = Mapping[Pair, Tolerances]


@dataclass(frozen=True, slots=True)
class Judged:
    """A round with scores and markers, and how tolerant to be of the next."""

    record: RoundRecord
    tolerances: AllTolerances


def judge_round(
    record: RoundRecord,
    before: Sequence[RoundRecord],
    tolerances: AllTolerances | None = None,
    weights: Weights | None = None,
) -> Judged:
    """Give a round its scores, and find the markers that fire in it.

    A throughput that was carried over counts in the scores, and in what was usual for the rounds after; but
    no marker fires for it again, which fired in its own round or did not.

    :param before: the rounds before, the newest last.
    """
    known = dict(tolerances or {})
    fires = {}
    for pair in record.found:
        past = [one.found[pair] for one in before[-REMEMBERED:] if pair in one.found]
        these = find_fired(_own(record, pair), past, known.get(pair, {}))
        if these:
            fires[pair] = these
        if past:
            known[pair] = adapt_tolerances(these, known.get(pair, {}))
    health = scores(record.found, weights)
    pairs = (replace(one, score=health.get(one.pair), fired=fires.get(one.pair, ())) for one in record.pairs)
    return Judged(replace(record, pairs=tuple(pairs)), known)


def _own(record: RoundRecord, pair: Pair) -> Found:
    """What the round itself found of a pair."""
    found = record.found[pair]
    return replace(found, throughput=()) if pair in record.carried else found


def due(light: RoundRecord, before: Sequence[RoundRecord], max_age: float) -> tuple[Pair, ...]:
    """The pairs whose throughput is to be found anew, after their light probes.

    :param light: a judged round of light probes.
    :param max_age: seconds after which a throughput is too old.
    """
    return tuple(
        pair
        for pair, found in light.found.items()
        if not found.timed_out and (pair in light.fired or not _is_known(pair, before, light.began - max_age))
    )


def _is_known(pair: Pair, before: Sequence[RoundRecord], since: float) -> bool:
    last = _last(pair, before)
    return last is not None and last.began >= since


def _last(pair: Pair, before: Sequence[RoundRecord]) -> RoundRecord | None:
    """The newest round in which the pair's throughput was found, not carried over."""
    for one in reversed(before):
        found = one.found.get(pair)
        if found is not None and found.throughput and pair not in one.carried:
            return one
    return None


def carried_over(record: RoundRecord, before: Sequence[RoundRecord]) -> RoundRecord:
    """The round with the latest known throughput of each pair that has none of its own, and is alive."""
    return replace(record, pairs=tuple(_with_throughput(one, before) for one in record.pairs))


def _with_throughput(one: PairResult, before: Sequence[RoundRecord]) -> PairResult:
    """Return a pair's result with its latest known throughput, if it has none and the pair is alive."""
    needs_none = not one.reached or one.throughput or one.found.timed_out
    last = None if needs_none else _last(one.pair, before)
    if last is None:
        return one
    known = last.by_pair[one.pair]
    return replace(one, throughput=known.throughput, throughput_by=known.throughput_by, carried=True)


def together(light: RoundRecord, loading: RoundRecord) -> RoundRecord:
    """Two runs of one round: light probes, then what the markers asked for."""
    found = dict(light.found)
    for pair, its in loading.found.items():
        found[pair] = join_results(found[pair], its) if pair in found else its
    return RoundRecord.of(
        light.began,
        max(light.ended, loading.ended),
        light.instances,
        (*light.planned, *loading.planned),
        found,
        light.profile,
        by_transfer=light.by_transfer | loading.by_transfer,
        translated=light.translated | loading.translated,
        from_other_side=light.from_other_side | loading.from_other_side,
        verified={**light.verified, **loading.verified},
        failures=(*light.failures, *loading.failures),
        interrupted=light.interrupted or loading.interrupted,
        scores=light.scores,
        fired=light.fired,
    )
