"""What computing at one site costs: algorithm 4 and table 3 of [ADON] 4.3, spec section 3.

::

    T_t = T_c + T_n (+ C_D)         total time to the results
    T_c = T_q + S_c / (N · Γ_c)     waiting in the site's queue, then computing
    T_n = S_t / min(Γ_t, Γ_a)       carrying the data: what TCP could do, what the path has left

Figure 5 decides what travels.  **Local**: the raw data is computed at the flow's source campus, the
*result* goes to the final destination (A.2).  **Remote**: the *raw* data goes to the destination's
campus and is computed there; the result's way home (B.3) is the term C_D, counted only where the
template needs a local copy.  Sizes are bytes, rates bits/s, times seconds: each quotient has its 8.

What is not known costs ∞, never 0, and :attr:`SiteCost.why` says what it was.  Pure functions; the cost
functions a template may name are entries of a :class:`CostFunctions`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from adon.broker.decision import SiteCost
from adon.broker.sites.standing import Found
from adon.config import ComputeSite
from adon.templates_catalog.model import ComputeRequirement, CostModel

MSS = 1460
"""TCP's maximum segment size in bytes on a 1500-byte path without options."""


@dataclass(frozen=True, slots=True)
class NetworkTerms:
    """The network's side of T_n for one leg.

    :param path: the transit path the leg would take, None if there is none.
    :param theoretical: Γ_t in bits/s (:func:`theoretical_throughput`).
    :param available: Γ_a in bits/s as measured, None if unknown.
    """

    path: str | None
    theoretical: float
    available: float | None


def theoretical_throughput(
    link_rate: float,
    streams: int,
    window_bytes: float | None,
    rtt: float | None,
    loss: float | None,
    mss: int = MSS,
) -> float:
    """Γ_t: what TCP can reach at best, in bits/s ([ADON] 4.3; Mathis et al., CCR 1997).

    The least of the link's rate, ``streams`` windows per round trip, and ``streams`` times Mathis'
    ``8·MSS/(RTT·√loss)·√(3/2)``.  Streams add windows and loss recovery, never link rate.  A term whose
    inputs are unknown (None), or that is unbounded (no delay, no loss), drops out.

    :raises ValueError: for a negative or undefined quantity, or less than one stream.
    """
    quantities = {"link_rate": link_rate, "window_bytes": window_bytes, "rtt": rtt, "loss": loss}
    for name, value in quantities.items():
        if value is not None and not value >= 0:
            raise ValueError(f"{name}: must be zero or more, not {value!r}")
    if streams < 1:
        raise ValueError(f"streams: must be at least 1, not {streams!r}")
    terms = [float(link_rate)]
    if rtt is not None and rtt > 0:
        if window_bytes is not None:
            terms.append(streams * window_bytes * 8 / rtt)
        # The product of two tiny numbers can be 0: then the term is unbounded like one without loss.
        damping = 0.0 if loss is None else rtt * math.sqrt(loss)
        if damping > 0:
            terms.append(streams * 8 * mss / damping * math.sqrt(3 / 2))
    return min(terms)


CostFunction = Callable[[SiteCost, ComputeSite, CostModel], float]
"""From the terms worked out so far (``cost`` still ∞), the site and the template's cost model to a cost."""


def total_time(terms: SiteCost, _site: ComputeSite, _model: CostModel) -> float:
    """The default cost: T_t in seconds."""
    return terms.total


def money(terms: SiteCost, site: ComputeSite, _model: CostModel) -> float:
    """What the nodes cost while they compute; waiting and transfers are not charged."""
    hours = (terms.compute - terms.queue) / 3600
    return terms.nodes * hours * site.price_per_node_hour


def weighted(terms: SiteCost, site: ComputeSite, model: CostModel) -> float:
    """The weighted sum of :func:`total_time` and :func:`money`."""
    return model.time_weight * terms.total + model.money_weight * money(terms, site, model)


class CostFunctions:
    """The cost functions that templates may name; each instance has its own entries."""

    def __init__(self) -> None:
        self._functions: dict[str, CostFunction] = {
            "total_time": total_time,
            "money": money,
            "weighted": weighted,
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

    def apply(self, terms: SiteCost, site: ComputeSite, model: CostModel) -> SiteCost:
        """The terms with their cost; ∞ and the reason where there is no sensible one.

        A site that cannot be used (T_t = ∞) costs ∞ whatever the function says: money must not choose a
        place that never delivers.
        """
        if math.isinf(terms.total):
            return terms
        function = self._functions.get(model.function)
        if function is None:
            return replace(terms, why=f"there is no cost function {model.function!r}")
        try:
            cost = float(function(terms, site, model))
        except Exception as error:  # noqa: BLE001 - somebody else's function; the record carries its error
            return replace(terms, why=f"cost function {model.function!r} failed: {error!r}")
        if not 0 <= cost < math.inf:
            return replace(terms, why=f"cost function {model.function!r} gave {cost!r}")
        return replace(terms, cost=cost)


def unknown_site(name: str, why: str) -> SiteCost:
    """The cost of a site nothing is known about: ∞ in every term."""
    inf = math.inf
    return SiteCost(
        name,
        False,
        inf,
        inf,
        inf,
        inf,
        inf,
        0.0,
        0,
        0,
        0,
        node_rate=0.0,
        theoretical=0.0,
        available=0.0,
        path=None,
        why=why,
    )


def site_cost(
    name: str,
    site: ComputeSite | None,
    *,
    local: bool,
    size: int,
    model: CostModel,
    requirement: ComputeRequirement,
    network: NetworkTerms,
    functions: CostFunctions,
    home: NetworkTerms | None = None,
    node_rate: float | None = None,
    reported: Found | None = None,
) -> SiteCost:
    """Algorithm 4 for one compute site.

    :param site: the site as configured; None if the configuration does not know it.
    :param local: whether the site is at the flow's source campus; else it is at the destination's.
    :param size: the raw data in bytes: S_c, and S_t of a remote computation.
    :param requirement: gives N, the worker nodes assigned.
    :param network: the leg from the source to the final destination.
    :param home: the leg back, for C_D; taken to be like ``network`` where it is not given.
    :param node_rate: Γ_c as learnt from finished jobs; the configured prior where it is None.
    :param reported: T_q as the site said it itself; the configured one where it is None.
    """
    if site is None:
        return unknown_site(name, f"there is no compute site {name!r} in the configuration")
    rate = site.throughput_per_node if node_rate is None else node_rate
    nodes = requirement.worker_nodes
    result = round(Fraction(model.result_ratio) * size)
    transfer = result if local else size
    queue, queue_why = _queue(site, nodes, reported)
    busy = seconds_for(size, nodes * rate)
    net, net_why = _leg(transfer, network)
    back = network if home is None else home
    copy, copy_why = _leg(result, back) if model.local_copy and not local else (0.0, "")
    reasons = (
        queue_why,
        "" if math.isfinite(busy) else f"{nodes} worker nodes at {rate:g} bps never finish {size} B",
        net_why,
        copy_why and f"the result's way home: {copy_why}",
    )
    terms = SiteCost(
        site=name,
        local=local,
        cost=math.inf,
        total=queue + busy + net + copy,
        queue=queue,
        compute=queue + busy,
        network=net,
        duplication=copy,
        compute_size=size,
        transfer_size=transfer,
        nodes=nodes,
        node_rate=rate,
        theoretical=network.theoretical,
        available=0.0 if network.available is None else network.available,
        path=network.path,
        why="; ".join(reason for reason in reasons if reason),
    )
    return functions.apply(terms, site, model)


def seconds_for(size: int, rate: float) -> float:
    """How long ``size`` bytes take at ``rate`` bits/s; ∞ at no rate, and where the quotient overflows."""
    if size == 0:
        return 0.0
    if not rate > 0:
        return math.inf
    try:
        return size * 8 / rate
    except OverflowError:
        return math.inf


def _queue(site: ComputeSite, nodes: int, reported: Found | None) -> tuple[float, str]:
    if site.queue_wait is None:
        return math.inf, "no resource there is ours to use (T_q is infinite)"
    if site.worker_nodes < nodes:
        return math.inf, f"it has {site.worker_nodes} worker nodes, {nodes} are needed (T_q is infinite)"
    if reported is not None:
        return reported.wait.mean, reported.why and f"{reported.why} (T_q is infinite)"
    return site.queue_wait, ""


def _leg(size: int, terms: NetworkTerms) -> tuple[float, str]:
    if size == 0:
        return 0.0, ""
    if terms.available is None:
        return math.inf, f"available throughput of {terms.path or 'any path'} is unknown (T_n is infinite)"
    time = seconds_for(size, min(terms.theoretical, terms.available))
    why = "" if math.isfinite(time) else f"{terms.path or 'no path'} carries nothing (T_n is infinite)"
    return time, why
