"""What paths share, from trials of several at once ([CHOREO] 3.3.2, 4.3).

A trial's connections had some rates alone, and others together.  Where together they have clearly less, the
link out of their group is narrow, and carries what they had together::

    Σ together < (1 - DROP) · Σ expected

What is expected of a path is its rate alone; of the paths out of a smaller group whose limit is found
already, that limit.  So a group is judged after those in it, and is not blamed for their limits; and a limit
of one instance that is only that of a larger group around it is not called the instance's.

A *hose* is a limit of one source.  The paper's test for the hose model is that the sum of all connections out
of a source stays what one of them has alone.  Values and functions only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from measurement.health.model import Pair
from measurement.snapshot.concurrent import Trial, leaves
from measurement.snapshot.model import Bottleneck

DROP = 0.15
"""Less than expected by more than this share is "significantly": above the 9 % that trains are off."""
SAME = 0.15
"""What differs by no more than this share of the greater is the same."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a trial.

    :param together: bits/s of each of its paths; one that failed is not there.
    """

    trial: Trial
    together: Mapping[Pair, float]


@dataclass(frozen=True, slots=True)
class Limit:
    """A narrow link out of a group.

    :param rate: bits/s that all who leave the group have together.
    """

    group: frozenset[str]
    rate: float


@dataclass(frozen=True, slots=True)
class Shared:
    """What paths share.

    :param hoses: limits of single sources, in bits/s.
    :param constant: the sources whose connections together have what one has alone: there the hose model
        holds.
    :param limits: of larger groups.
    """

    hoses: Mapping[str, float]
    constant: frozenset[str]
    limits: tuple[Limit, ...]

    def bottlenecks(self, pairs: Iterable[Pair]) -> tuple[Bottleneck, ...]:
        """The limits as sets of paths, of these; the matrix S.  One that less than two go over is none."""
        known = [*pairs]
        found = (
            (frozenset(pair for pair in known if leaves(limit.group, pair)), limit.rate)
            for limit in self.limits
        )
        return tuple(Bottleneck(its, rate) for its, rate in found if len(its) > 1)


def infer(alone: Mapping[Pair, float], tried: Iterable[Tried], drop: float = DROP) -> Shared:
    """What the trials say, in any order.

    :param alone: bits/s of each path when nobody else sends.
    :param drop: what counts as significantly less, as a share.
    :raises ValueError: for a path of a trial without a rate alone, or a share that is not between 0 and 1.
    """
    if not 0 < drop < 1:
        raise ValueError(f"drop: {drop} is not between 0 and 1")
    limits: dict[frozenset[str], float] = {}
    whole = sorted(
        (each for each in tried if len(each.together) > 1),
        key=lambda each: (len(each.trial.group), sorted(each.trial.group)),
    )
    for each in whole:
        for path in each.together:
            if path not in alone:
                raise ValueError(f"alone: {' > '.join(path)}: is not there, but was tried with others")
        sum_together = math.fsum(each.together.values())
        if sum_together < (1 - drop) * _expected(alone, each, limits):
            limits[each.trial.group] = sum_together
    own = {
        each.trial.group: limits[each.trial.group]
        for each in whole
        if each.trial.group in limits and not _of_larger(each, alone, limits)
    }
    hoses = {name: rate for group, rate in own.items() if len(group) == 1 for name in group}
    ways = {each.trial.group: [*each.together] for each in whole}
    constant = {
        name for name, rate in hoses.items() if _same(rate, max(alone[p] for p in ways[frozenset({name})]))
    }
    larger = tuple(Limit(group, rate) for group, rate in own.items() if len(group) > 1)
    return Shared(hoses, frozenset(constant), larger)


def _expected(alone: Mapping[Pair, float], tried: Tried, limits: Mapping[frozenset[str], float]) -> float:
    """What a trial's paths would have together, if the link out of their group were wide."""
    left = {*tried.together}
    total = 0.0
    for group in sorted(limits, key=lambda group: (-len(group), sorted(group))):
        over = {path for path in left if group < tried.trial.group and leaves(group, path)}
        total += min(limits[group], math.fsum(alone[path] for path in over)) if over else 0.0
        left -= over
    return total + math.fsum(alone[path] for path in left)


def _of_larger(tried: Tried, alone: Mapping[Pair, float], limits: Mapping[frozenset[str], float]) -> bool:
    """Whether larger groups' limits alone explain what the paths out of a group had together.

    The groups around a group are within each other, so from the largest in, each lets through what the next
    one does and what does not leave that one, but no more than its limit.
    """
    larger = [group for group in limits if tried.trial.group < group]
    left, through = {*tried.together}, 0.0
    for group in sorted(larger, key=len, reverse=True):
        over = {path for path in left if leaves(group, path)}
        through = min(limits[group], through + math.fsum(alone[path] for path in over))
        left -= over
    explained = through + math.fsum(alone[path] for path in left)
    return math.fsum(tried.together.values()) >= (1 - SAME) * explained


def _same(one: float, other: float) -> bool:
    return abs(one - other) <= SAME * max(one, other)
