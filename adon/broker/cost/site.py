"""The cost of one compute site by one path: algorithm 4, figure 5's data paths, the spread of each term.

Figure 5 decides what travels.  **Local**: the raw data is computed at the flow's source campus, the
*result* goes to the final destination (A.2).  **Remote**: the *raw* data goes to the destination's campus
and is computed there; the result's way home (B.3) is the term C_D, counted only where the template needs a
local copy.  At a **third campus** the raw data goes there, and the result from there to the final
destination.

Spreads are carried to first order as if the terms were independent (:mod:`adon.uncertain`).  What is
not known costs ∞, never 0, and :attr:`SiteCost.why` says what it was.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from adon.broker.cost.functions import CostFunctions
from adon.broker.cost.learnt import Learnt
from adon.broker.cost.terms import NetworkTerms, seconds_for
from adon.broker.cost.token_bucket import describe_bucket
from adon.broker.decision import SiteCost
from adon.broker.resources.amounts import Amounts
from adon.broker.resources.offer import Offer
from adon.templates_catalog.model import CostModel
from adon.uncertain import Uncertain
from adon.values import FrozenMap


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be computed, and where its data goes.

    :param size: the raw data in bytes: S_c, and S_t of a remote computation.
    :param demand: what it takes of a site; its worker nodes are N.
    :param ratio: result size over raw size; the template's where nothing was learnt.
    """

    size: int
    demand: Amounts
    model: CostModel
    ratio: Learnt

    @classmethod
    def of(cls, size: int, demand: Amounts, model: CostModel, ratio: Learnt | None = None) -> Work:
        """With the template's own result ratio, unless another was learnt."""
        told = Learnt(Uncertain(model.result_ratio), "the template's") if ratio is None else ratio
        return cls(size, demand, model, told)

    @property
    def result(self) -> int:
        """The result in bytes."""
        return round(Fraction(self.ratio.value.mean) * self.size)


@dataclass(frozen=True, slots=True)
class Legs:
    """The ways of the data.

    :param network: from the source to where it is computed, or to the final destination.
    :param home: back, for C_D; taken to be like ``network`` where it is not given.
    :param onward: from a third campus to the final destination; None if it is computed at either end.
    """

    network: NetworkTerms
    home: NetworkTerms | None = None
    onward: NetworkTerms | None = None


def site_cost(
    offer: Offer,
    *,
    local: bool,
    work: Work,
    legs: Legs,
    functions: CostFunctions,
    node_rate: Learnt | None = None,
) -> SiteCost:
    """Algorithm 4 for one compute site.

    :param local: whether the site is at the flow's source campus.
    :param node_rate: Γ_c as learnt from finished jobs; the offer's where it is None.
    """
    rate = Learnt(Uncertain(offer.node_rate), "as configured") if node_rate is None else node_rate
    network, model, nodes = legs.network, work.model, work.demand.nodes
    queue, queue_why = _queue(offer, work.demand)
    busy = spread(seconds_for(work.size, nodes * rate.value.mean), rate.value.cov)
    net, net_why = _transfer_time(work, legs, local=local)
    back = network if legs.home is None else legs.home
    copied = model.local_copy and not local
    size = work.result if local else work.size
    available = network.available_for(size)
    copy, copy_why = _leg(work.result, back, work.ratio.value.cov) if copied else (Uncertain(0.0), "")
    reasons = (
        queue_why,
        ""
        if math.isfinite(busy.mean)
        else f"{nodes} worker nodes at {rate.value.mean:g} bps never finish {work.size} B",
        net_why,
        copy_why and f"the result's way home: {copy_why}",
    )
    terms = SiteCost(
        site=offer.name,
        local=local,
        cost=math.inf,
        total=queue.mean + busy.mean + net.mean + copy.mean,
        queue=queue.mean,
        compute=queue.mean + busy.mean,
        network=net.mean,
        duplication=copy.mean,
        compute_size=work.size,
        transfer_size=size,
        nodes=nodes,
        node_rate=rate.value.mean,
        theoretical=network.theoretical,
        available=0.0 if available is None else available,
        path=network.path,
        why="; ".join(reason for reason in reasons if reason),
        campus=offer.campus,
        basis=network.basis,
        deviations=_deviations(work, rate, network, available, queue, busy, net, copy),
        origins=_origins(work, rate, network, queue, offer),
    )
    return functions.apply(terms, offer, model)


def spread(mean: float, relative: float) -> Uncertain:
    """A number with a spread that is this share of it; none where it is infinite."""
    deviation = mean * relative if math.isfinite(mean) else 0.0
    return Uncertain(mean, deviation if math.isfinite(deviation) else 0.0)


def _queue(offer: Offer, demand: Amounts) -> tuple[Uncertain, str]:
    never = Uncertain(math.inf)
    if offer.queue_wait is None:
        return never, f"{offer.why or 'it offers nothing'} (T_q is infinite)"
    short = offer.limits.lacks(demand)
    if short:
        has = "; ".join(f"it has {one.there}, {one.needed} are needed" for one in short)
        return never, f"{has} (T_q is infinite)"
    return offer.queue_wait, ""


def _transfer_time(work: Work, legs: Legs, *, local: bool) -> tuple[Uncertain, str]:
    """T_n: each leg counted once (spec section 3)."""
    ratio = work.ratio.value.cov
    if local:
        return _leg(work.result, legs.network, ratio)
    there, why = _leg(work.size, legs.network, 0.0)
    if legs.onward is None:
        return there, why
    on, on_why = _leg(work.result, legs.onward, ratio)
    return there + on, "; ".join(text for text in (why, on_why and f"the result's way on: {on_why}") if text)


def _leg(size: int, terms: NetworkTerms, relative_size: float) -> tuple[Uncertain, str]:
    if size == 0:
        return Uncertain(0.0), ""
    rate = terms.rate_for(size)
    if rate is None:
        return Uncertain(math.inf), (
            f"available throughput of {terms.path or 'any path'} is unknown (T_n is infinite)"
        )
    time = seconds_for(size, rate)
    why = "" if math.isfinite(time) else f"{terms.path or 'no path'} carries nothing (T_n is infinite)"
    return spread(time, math.hypot(relative_size, terms.relative)), why


def _deviations(
    work: Work,
    rate: Learnt,
    network: NetworkTerms,
    available: float | None,
    queue: Uncertain,
    busy: Uncertain,
    net: Uncertain,
    copy: Uncertain,
) -> FrozenMap[str, float]:
    """The standard deviation of each term that has one."""
    total = queue + busy + net + copy
    found = {
        "queue": queue.deviation,
        "busy": busy.deviation,
        "compute": (queue + busy).deviation,
        "network": net.deviation,
        "duplication": copy.deviation,
        "total": total.deviation,
        "node_rate": rate.value.deviation,
        "available": 0.0 if available is None else available * network.relative,
        "result": spread(float(min(work.result, 10**300)), work.ratio.value.cov).deviation,
    }
    return FrozenMap({name: value for name, value in found.items() if value > 0})


def _origins(
    work: Work, rate: Learnt, network: NetworkTerms, queue: Uncertain, offer: Offer
) -> FrozenMap[str, str]:
    """Who says what each term and its spread are."""
    found = {
        "queue": offer.origin if math.isfinite(queue.mean) else "",
        "node_rate": rate.origin,
        "result": work.ratio.origin,
        "available": "; ".join(filter(None, (describe_bucket(network.bucket), network.origin))),
    }
    return FrozenMap({name: words for name, words in found.items() if words})
