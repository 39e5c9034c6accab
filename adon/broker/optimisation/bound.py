"""No schedule can be better than this: lower bounds for :mod:`adon.broker.optimisation.schedule`.

- *Alone*: every request at its best, as if the others were not there.
- *Mean busy times*, per resource: take the resource as a machine whose speed is what is free of it at that
  time; a request with need f and length d is work a = f·d.  The mean busy time M of a request is the mean of
  the times at which its work is done; for one that works evenly from its start on M = start + d/2.  Work may
  be spread at will, so the least Σ w·M is found by doing it in the order of Smith's rule (w/a falling): it is
  a transportation problem in which the dearest work goes to the earliest times (Goemans 1997; Goemans,
  Queyranne, Schulz, Skutella, Wang, SIAM J. Discrete Math. 15, 2002).  Hence
  Σ w·(start + value) ≥ Σ w·M* + Σ w·min(value − d/2).  With several options the least work and the least rest
  are taken, which bounds every choice of them.
- *All resources together*: the same with one machine that has the speed of all, where each resource counts by
  its share of what there is of it.  It is the better one where requests can choose.

The largest of all of these is told.  Rational numbers, rounded down at the end.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import floor
from operator import itemgetter

from adon.broker.optimisation.schedule import Option, Problem, Request, Timeline

_UNIT = 1_000_000
"""What all there is of a resource counts, where several are taken together."""

_Served = Sequence[tuple[Request, list[Option]]]


def lower_bound(problem: Problem) -> int:
    """No schedule of these requests comes to less."""
    found = [(one, [each for each in one.options if problem.possible(each)]) for one in problem.requests]
    served = [(one, options) for one, options in found if options]
    if not served:
        return 0
    most = [max(free for _, free in steps) for steps in problem.room]
    one_each = ([int(at == number) for at in range(len(most))] for number in range(len(most)))
    together = [_UNIT // free if free > 0 else 0 for free in most]
    return max(_alone(problem, served), *(_busy(problem, served, each) for each in (*one_each, together)))


def _alone(problem: Problem, served: _Served) -> int:
    timeline = Timeline.of(problem)
    total = 0
    for request, options in served:
        starts = ((timeline.earliest(option), option) for option in options)
        total += request.weight * min(start + option.value for start, option in starts if start is not None)
    return total


def _busy(problem: Problem, served: _Served, shares: Sequence[int]) -> int:
    """The bound by mean busy times on resources in these proportions."""
    works: list[tuple[int, int]] = []
    rest = 0  # doubled, to stay whole
    for request, options in served:
        work = min(_work(option, shares) for option in options)
        if work > 0 and request.weight > 0:
            works.append((work, request.weight))
            rest += request.weight * min(2 * option.value - option.length for option in options)
        else:
            rest += request.weight * min(2 * option.value for option in options)
    works.sort(key=lambda one: Fraction(one[0], one[1]))
    machine = _Machine(_speeds(problem, shares))
    busy = sum((weight * machine.mean(work) for work, weight in works), Fraction(0))
    return floor(busy + Fraction(rest, 2))


def _work(option: Option, shares: Sequence[int]) -> int:
    return sum(shares[resource] * amount for resource, amount in option.needs) * option.length


def _speeds(problem: Problem, shares: Sequence[int]) -> Iterator[tuple[int, int]]:
    """From each time on, what is free of these resources together."""
    counted = [(share, steps) for share, steps in zip(shares, problem.room, strict=True) if share]
    for at in sorted({at for _, steps in counted for at, _ in steps}):
        yield at, sum(share * _free(steps, at) for share, steps in counted)


def _free(steps: Sequence[tuple[int, int]], at: int) -> int:
    return steps[bisect_right(steps, at, key=itemgetter(0)) - 1][1]


class _Machine:
    """Does work after work, at a speed that changes with time; the last speed is above zero."""

    def __init__(self, speeds: Iterator[tuple[int, int]]) -> None:
        self._speeds = list(speeds)
        self._step = 0
        self._now = Fraction(0)

    def mean(self, work: int) -> Fraction:
        """Do this much; the mean of the times at which it is done."""
        left, moment = Fraction(work), Fraction(0)
        while left > 0:
            speed = self._speeds[self._step][1]
            end = self._speeds[self._step + 1][0] if self._step + 1 < len(self._speeds) else None
            lasts = left / speed if speed > 0 else None
            if end is not None and (lasts is None or self._now + lasts > end):
                lasts = end - self._now
                self._step += 1
            if lasts is None:
                raise AssertionError("in the end something is free of whatever somebody can have")
            moment += speed * lasts * (self._now + lasts / 2)
            left -= speed * lasts
            self._now += lasts
        return moment / work
