"""No schedule can be better than this: lower bounds for :mod:`adon.broker.optimisation.schedule`.

- *Alone*: every request at its best, as if the others were not there.
- *Mean busy times*, per resource: take the resource as one machine of speed 1 on which a request with need f
  and length d is work a = f·d / (all there ever is).  Whatever the schedule, Σ w·M ≥ its value for the order
  of Smith's rule (w/a falling), where M is the middle of a request's work; and for a request that works
  evenly from its start on M = start + d/2 (Goemans 1997; Goemans, Queyranne, Schulz, Skutella, Wang,
  SIAM J. Discrete Math. 15, 2002).  So Σ w·(start + value) ≥ Σ w·M* + Σ w·min(value − d/2).  With several
  options the least work and the least rest are taken, which bounds every choice of them.

The larger of all of these is told.  Whole numbers, rounded down.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from adon.broker.optimisation.schedule import Option, Problem, Request, Timeline


def lower_bound(problem: Problem) -> int:
    """No schedule of these requests comes to less."""
    served = [(one, _possible(problem, one)) for one in problem.requests]
    served = [(one, options) for one, options in served if options]
    if not served:
        return 0
    return max(_alone(problem, served), *(_busy(problem, served, n) for n in range(len(problem.room))), 0)


def _possible(problem: Problem, request: Request) -> list[Option]:
    return [option for option in request.options if problem.possible(option)]


def _alone(problem: Problem, served: Sequence[tuple[Request, list[Option]]]) -> int:
    timeline = Timeline.of(problem)
    total = 0
    for request, options in served:
        starts = ((timeline.earliest(option), option) for option in options)
        total += request.weight * min(start + option.value for start, option in starts if start is not None)
    return total


def _busy(problem: Problem, served: Sequence[tuple[Request, list[Option]]], resource: int) -> int:
    """The bound by mean busy times on one resource; sums are kept doubled, to stay whole."""
    most = max(free for _, free in problem.room[resource])
    if most <= 0:
        return 0
    works: list[tuple[int, int]] = []
    rest = 0
    for request, options in served:
        work = min(dict(option.needs).get(resource, 0) * option.length for option in options)
        if work > 0 and request.weight > 0:
            works.append((work, request.weight))
            rest += request.weight * min(2 * option.value - option.length for option in options)
        else:
            rest += request.weight * min(2 * option.value for option in options)
    works.sort(key=lambda one: Fraction(one[0], one[1]))
    done = doubled = 0
    for work, weight in works:
        doubled += weight * (2 * done + work)
        done += work
    return (doubled // most + rest) // 2
