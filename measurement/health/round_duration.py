"""How long a round of probes should take, by its plan and by how it is run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from measurement.health.couples import at_once as asked_at_once
from measurement.health.couples import couples
from measurement.health.model import Pair
from measurement.health.round_runner import Running
from measurement.health.round_schedule import Plan, Rounds, rounds


@dataclass(frozen=True, slots=True)
class Costs:
    """How long probes take, in seconds, with what their order takes.

    :param light: all light probes of a pair.
    :param train, transfer: one.
    """

    light: float = 0.2
    train: float = 0.5
    transfer: float = 10.5


USUAL = Costs()


def expected_seconds(plan: Plan, how: Running, costs: Costs = USUAL) -> float:
    """Return the expected seconds of a plan without slow instances: its rounds one after another.

    Where only so many orders are under way at a time, it takes at least as long as that many at a time do.
    """
    trained = [pair for its in plan.trains for pair in its]
    with_trains = {*trained} & {*plan.light} if how.together or how.both_ways else set[Pair]()
    alone = [pair for pair in plan.light if pair not in with_trains]
    coupled = couples(with_trains) if how.both_ways else frozenset[Pair]()
    apart = replace(how.limits, duplex=False)
    trains = rounds(tuple(asked_at_once(trained, coupled)), apart) if coupled else plan.trains

    def train(pair: Pair) -> float:
        light = costs.light if pair in with_trains else 0.0
        return light + (2 * costs.train if pair in coupled else costs.train)

    return math.fsum(
        (
            costs.light * _goes(alone, how.light_at_once, how.lights_at_once),
            max(
                math.fsum(max(map(train, its)) for its in trains),
                math.fsum(train(pair) for its in trains for pair in its) / (how.trains_at_once or math.inf),
            ),
            costs.transfer * _of_rounds(plan.transfers, how.transfers_at_once),
        )
    )


def _goes(pairs: Sequence[Pair], of_each: int, of_all: int | None) -> int:
    """So many times light probes follow each other at the busiest instance, or in all."""
    busiest = max(Counter(pair.source for pair in pairs).values(), default=0)
    return max(-(-busiest // of_each), _at_least(pairs, of_all))


def _of_rounds(its: Rounds, at_once: int | None) -> int:
    return max(len(its), _at_least([pair for each in its for pair in each], at_once))


def _at_least(pairs: Collection[Pair], at_once: int | None) -> int:
    return 0 if at_once is None else -(-len(pairs) // at_once)
