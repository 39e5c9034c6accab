"""One request: which site, by which path ([ADON] 3.2, algorithm 2; spec section 3).

Of all pairs of a site with room for the request and a path that may carry it, the cheapest is taken.
*Near-ties go to the steadier one*, so that the choice does not rest on noise: costs that differ by less than
:data:`NEAR` times their joint deviation √(σ₁² + σ₂²) cannot be told apart; of those that cannot be told apart
from the cheapest, the one with the smallest coefficient of variation is taken, and the reason says so.

Equal costs go to the remote site, as the printed ``if C_L < C_R`` has it, then by name: the order of the
candidates never matters.  Values and functions only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adon.broker.decision import SiteCost
from adon.units import format_significant

NEAR = 0.5
"""Joint deviations within which two costs are a near-tie."""


@dataclass(frozen=True, slots=True)
class Location:
    """What is taken, None if nothing can be, and why."""

    taken: SiteCost | None
    reason: str


def choose(costs: Sequence[SiteCost], lacking: Mapping[str, str]) -> Location:
    """The best candidate; see the module's text.

    :param lacking: per site without room for the request what it lacks, in words.
    """
    if not costs:
        return Location(None, "no compute site is configured for this flow")
    named = _Names(costs)
    obstacles = {id(cost): _obstacle(cost, lacking) for cost in costs}
    ready = [cost for cost in costs if not obstacles[id(cost)]]
    if not ready:
        missing = "; ".join(sorted({f"{named(one)}: {obstacles[id(one)]}" for one in costs}))
        return Location(None, f"no compute site can take it: {missing}")
    best, tie = _steadiest(ready, named)
    return Location(best, _compare_costs(best, costs, obstacles, named) + tie)


def _obstacle(cost: SiteCost, lacking: Mapping[str, str]) -> str:
    obstacle = lacking.get(cost.site, "")
    if obstacle or math.isfinite(cost.cost):
        return obstacle
    return cost.why or "its cost is infinite"


def _steadiest(ready: Sequence[SiteCost], named: _Names) -> tuple[SiteCost, str]:
    """The cheapest, or of those that cannot be told apart from it the steadiest; and what to say of that."""
    cheapest = min(ready, key=_order)
    near = [cost for cost in ready if cost.cost - cheapest.cost < NEAR * _joint(cost, cheapest)]
    if not near:
        return cheapest, ""
    taken = min([cheapest, *near], key=lambda cost: (relative(cost), _order(cost)))
    if taken is cheapest:
        return cheapest, ""
    joint = _joint(taken, cheapest)
    return taken, (
        f"; it and the cheapest, {named(cheapest)}, differ by {taken.cost - cheapest.cost:.2g}, less than "
        f"{NEAR:g} of their joint deviation of {joint:.2g}: the steadier one is taken "
        f"(COV {relative(taken):.2g} against {relative(cheapest):.2g})"
    )


def _order(cost: SiteCost) -> tuple[float, bool, str, str]:
    return cost.cost, cost.local, cost.site, str(cost.path)


def _deviation(cost: SiteCost) -> float:
    return cost.deviations.get("cost", 0.0)


def _joint(one: SiteCost, other: SiteCost) -> float:
    return 0.0 if one is other else math.hypot(_deviation(one), _deviation(other))


def relative(cost: SiteCost) -> float:
    """The coefficient of variation of a cost."""
    deviation = _deviation(cost)
    if deviation == 0:
        return 0.0
    return math.inf if cost.cost == 0 else deviation / cost.cost


def price_text(cost: SiteCost) -> str:
    """``57``, or ``57 ± 9.2`` where a spread has been observed."""
    deviation = _deviation(cost)
    cost_text = format_significant(cost.cost)
    return f"{cost_text} ± {format_significant(deviation, 2)}" if deviation else cost_text


class _Names:
    """What candidates are called: by their site, and by their path where there are several of one site."""

    def __init__(self, costs: Sequence[SiteCost]) -> None:
        sites = [cost.site for cost in costs]
        self._several = len(set(sites)) < len(sites)

    def __call__(self, cost: SiteCost) -> str:
        return f"{cost.site} by {cost.path}" if self._several and cost.path else cost.site


def _compare_costs(
    best: SiteCost, costs: Sequence[SiteCost], obstacles: Mapping[int, str], named: _Names
) -> str:
    others = sorted((cost for cost in costs if cost is not best), key=_order)
    words = [f"{named(cost)} {obstacles[id(cost)] or f'costs {price_text(cost)}'}" for cost in others]
    where = "local" if best.local else "remote"
    text = f"{named(best)} ({where}) costs {price_text(best)}"
    return f"{text}; {', '.join(words)}" if words else text
