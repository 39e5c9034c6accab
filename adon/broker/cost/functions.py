"""The cost functions that a template may name: from the terms of algorithm 4 to one number, lower is better.

A function is somebody's price list or preference, so nothing is taken for granted: one that raises, or gives
a negative number, NaN or ∞, makes the site cost ∞ with the error as the reason.  The spread of a cost is that
of its terms carried through the function to first order, numerically (GUM, ISO/IEC Guide 98-3, 5.1.3 note 2):
each term is raised by its own deviation while the others stay.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from adon.broker.decision import SiteCost
from adon.broker.resources.offer import Offer
from adon.templates_catalog.model import CostModel
from adon.values import FrozenMap

CostFunction = Callable[[SiteCost, Offer, CostModel], float]
"""From the terms so far (``cost`` still ∞), the site's offer and the template's cost model to a cost."""

TERMS = ("queue", "busy", "network", "duplication")
"""What T_t is the sum of; their deviations are independent.  ``busy`` is S_c / (N · Γ_c)."""


def total_time(terms: SiteCost, _offer: Offer, _model: CostModel) -> float:
    """The default cost: T_t in seconds."""
    return terms.total


def money(terms: SiteCost, offer: Offer, _model: CostModel) -> float:
    """What the nodes cost while they compute; waiting and transfers are not charged."""
    hours = (terms.compute - terms.queue) / 3600
    return terms.nodes * hours * offer.price_per_node_hour


def weighted_sum(terms: SiteCost, offer: Offer, model: CostModel) -> float:
    """The weighted sum of :func:`total_time` and :func:`money`."""
    return model.time_weight * terms.total + model.money_weight * money(terms, offer, model)


class CostFunctions:
    """The cost functions that templates may name; each instance has its own entries."""

    def __init__(self) -> None:
        self._functions: dict[str, CostFunction] = {
            "total_time": total_time,
            "money": money,
            "weighted": weighted_sum,
        }

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that can be used."""
        return tuple(self._functions)

    def register(self, name: str, function: CostFunction) -> None:
        """Add a cost function.

        :raises ValueError: if the name is taken.
        """
        if name in self._functions:
            raise ValueError(f"there is a cost function {name!r} already")
        self._functions[name] = function

    def apply(self, terms: SiteCost, offer: Offer, model: CostModel) -> SiteCost:
        """The terms with their cost and its spread; ∞ and the reason where there is no sensible one.

        A site that cannot be used (T_t = ∞) costs ∞ whatever the function says: money must not choose a
        place that never delivers.
        """
        if math.isinf(terms.total):
            return terms
        cost, why = self._cost(terms, offer, model)
        if why:
            return replace(terms, why=why)
        deviation = self._deviation(terms, cost, offer, model)
        spread = {**terms.deviations, "cost": deviation} if deviation else terms.deviations
        return replace(terms, cost=cost, deviations=FrozenMap(spread))

    def _cost(self, terms: SiteCost, offer: Offer, model: CostModel) -> tuple[float, str]:
        function = self._functions.get(model.function)
        if function is None:
            return math.inf, f"there is no cost function {model.function!r}"
        try:
            cost = float(function(terms, offer, model))
        except Exception as error:  # noqa: BLE001 - somebody else's function; the record carries its error
            return math.inf, f"cost function {model.function!r} failed: {error!r}"
        if not 0 <= cost < math.inf:
            return math.inf, f"cost function {model.function!r} gave {cost!r}"
        return cost, ""

    def _deviation(self, terms: SiteCost, cost: float, offer: Offer, model: CostModel) -> float:
        """The spread of the cost; terms at which the function fails do not count."""
        if model.function == "total_time":
            return terms.deviations.get("total", 0.0)
        found = 0.0
        for name in TERMS:
            deviation = terms.deviations.get(name, 0.0)
            if deviation > 0:
                raised, why = self._cost(_raise_term(terms, name, deviation), offer, model)
                found = found if why else math.hypot(found, raised - cost)
        return found if math.isfinite(found) else 0.0


def _raise_term(terms: SiteCost, name: str, by: float) -> SiteCost:
    """The terms with one of them larger, and with it the sums that it is in."""
    total = terms.total + by
    match name:
        case "queue":
            return replace(terms, queue=terms.queue + by, compute=terms.compute + by, total=total)
        case "busy":
            return replace(terms, compute=terms.compute + by, total=total)
        case "network":
            return replace(terms, network=terms.network + by, total=total)
        case _:
            return replace(terms, duplication=terms.duplication + by, total=total)
