"""One request: which site, by which path, from when on ([ADON] 3.2, algorithm 2; spec section 3).

Of all pairs of a site with room for the request and a path that may carry it, the cheapest is taken.  Two
rules keep the choice from resting on noise:

- *Near-ties go to the steadier one.*  Costs that differ by less than :data:`NEAR` times their joint deviation
  √(σ₁² + σ₂²) cannot be told apart; of those that cannot be told apart from the cheapest, the one with the
  smallest coefficient of variation is taken, and the reason says so.
- *A later start must be surely better.*  A site without room now may be cheaper in spite of the wait until it
  has room.  It is waited for only if its cost with the wait lies more than a joint deviation below the best
  cost at once, and its time comes while the request is patient.

Equal costs go to the remote site, as the printed ``if C_L < C_R`` has it, then by name: the order of the
candidates never matters.  Values and functions only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from adon.broker.decision import SiteCost
from adon.broker.resources.reservation import moment_text
from adon.units import format_duration

NEAR = 0.5
"""Joint deviations within which two costs are a near-tie."""

SURELY = 1.0
"""Joint deviations by which a later start must be cheaper."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a site has room for the request.

    :param obstacle: why it cannot be used now, in words; empty if it can.
    :param opens: when it will have room, as far as is known.
    """

    obstacle: str = ""
    opens: float | None = None


READY = Standing()


@dataclass(frozen=True, slots=True)
class Location:
    """What is taken now, or (``taken`` None) from when on something can be expected, and why.

    :param at_once: whether something could be had at once, and is not taken.
    """

    taken: SiteCost | None
    reason: str
    starts: float | None = None
    at_once: bool = False


Delayed = Callable[[SiteCost, float], float]
"""What a candidate would cost if it began so many seconds later."""


def choose(
    costs: Sequence[SiteCost],
    standing: Mapping[str, Standing],
    now: float,
    delayed: Delayed,
    latest: float = math.inf,
) -> Location:
    """The best candidate; see the module's text.

    :param standing: per site; one that is not named has room.
    :param latest: no start later than this is waited for while something can be had at once.
    """
    if not costs:
        return Location(None, "no compute site is configured for this flow")
    named = _Names(costs)
    obstacles = {id(cost): _obstacle(cost, standing) for cost in costs}
    ready = [cost for cost in costs if not obstacles[id(cost)]]
    waiting = _waiting(costs, standing, now, delayed)
    if not ready:
        missing = "; ".join(sorted({f"{named(one)}: {obstacles[id(one)]}" for one in costs}))
        reason = f"no compute site can take it: {missing}"
        if not waiting:
            return Location(None, reason)
        _, cost, opens = waiting[0]
        expected = f"; {named(cost)} is expected to have room {start_text(opens, now)}"
        return Location(None, reason + expected, opens)
    best, tie = _steadiest(ready, named)
    for price, cost, opens in waiting:
        sure = SURELY * math.hypot(_deviation(cost), _deviation(best))
        if opens <= latest and price + sure < best.cost:
            text = (
                f"starts {start_text(opens, now)} at {named(cost)}: that costs {price:.4g} with the wait, "
                f"against {price_text(best)} at {named(best)} at once"
            )
            return Location(None, text, opens, at_once=True)
    return Location(best, _compared(best, costs, obstacles, named) + tie)


def _obstacle(cost: SiteCost, standing: Mapping[str, Standing]) -> str:
    obstacle = standing.get(cost.site, READY).obstacle
    if obstacle or math.isfinite(cost.cost):
        return obstacle
    return cost.why or "its cost is infinite"


def _waiting(
    costs: Sequence[SiteCost], standing: Mapping[str, Standing], now: float, delayed: Delayed
) -> list[tuple[float, SiteCost, float]]:
    """What can be had later: its cost with the wait, and from when on; the cheapest first."""
    found = []
    for cost in costs:
        opens = standing.get(cost.site, READY).opens
        if opens is not None and opens > now and math.isfinite(cost.cost):
            price = delayed(cost, opens - now)
            if math.isfinite(price):
                found.append((price, cost, opens))
    return sorted(found, key=lambda one: (one[0], one[2], one[1].local, one[1].site, str(one[1].path)))


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
    return f"{cost.cost:.4g} ± {deviation:.2g}" if deviation else f"{cost.cost:.4g}"


def start_text(at: float, now: float) -> str:
    """``about 2026-11-21 02:00:05 UTC (in 40 s)``."""
    return f"about {moment_text(at)} (in {format_duration(at - now)})"


class _Names:
    """What candidates are called: by their site, and by their path where there are several of one site."""

    def __init__(self, costs: Sequence[SiteCost]) -> None:
        sites = [cost.site for cost in costs]
        self._several = len(set(sites)) < len(sites)

    def __call__(self, cost: SiteCost) -> str:
        return f"{cost.site} by {cost.path}" if self._several and cost.path else cost.site


def _compared(best: SiteCost, costs: Sequence[SiteCost], obstacles: Mapping[int, str], named: _Names) -> str:
    others = sorted((cost for cost in costs if cost is not best), key=_order)
    words = [f"{named(cost)} {obstacles[id(cost)] or f'costs {price_text(cost)}'}" for cost in others]
    where = "local" if best.local else "remote"
    text = f"{named(best)} ({where}) costs {price_text(best)}"
    return f"{text}; {', '.join(words)}" if words else text
