"""What a flow sees of compute sites and of past promises, gathered from the broker's state.

What is made of it is in :mod:`adon.broker.site_comparison`.  Nothing is changed here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from adon.broker import legs, use_grants
from adon.broker.choice import Choice, Need
from adon.broker.competing_flows import competing_flows
from adon.broker.cost.learnt import Learnt
from adon.broker.cost.site import Legs
from adon.broker.cost.token_bucket import basis_of
from adon.broker.flow import Flow
from adon.broker.resources.amounts import Amounts
from adon.broker.resources.book import Book, Who
from adon.broker.resources.ledger import Ledger
from adon.broker.resources.offer import Offer, configured_offers, demand_of, requirement_of
from adon.broker.resources.paths import hold_of
from adon.broker.resources.reservation import Reservation
from adon.broker.site_comparison import (
    NO_WAY,
    Observed,
    Regarded,
    SiteSeen,
    asked_of,
    costs_of,
    forecast_of,
    ways_of,
    within_margin,
)
from adon.broker.world import World
from adon.config import Configuration
from adon.templates_catalog.catalog import Catalog
from adon.uncertain import Uncertain
from adon.values import FrozenMap
from measurement.model import Metric


def restore_ledger(
    configuration: Configuration,
    flows: Iterable[Flow],
    catalog: Catalog,
    reservations: Iterable[Reservation] = (),
    now: float = -math.inf,
) -> Ledger:
    """The ledger as an earlier run left it.

    A site that is configured no more is dropped; of one that has shrunk, what is left is handed out in
    the order of ``flows``.

    :param reservations: all that were ever made.
    :param now: those that are over by then are left out.
    :raises NotFound: if the catalog lacks the template of a flow.
    """
    limits = {name: offer.limits for name, offer in configured_offers(configuration).items()}
    ledger = Ledger.of(limits, reservations, now)
    held: dict[str, dict[int, Amounts]] = {name: {} for name in limits}
    known: dict[int, Flow] = {}
    for flow in flows:
        site = flow.compute_site
        if flow.state.holds_rules and site in held:
            need = Need.of(catalog.resolve(flow.template), flow.request)
            held[site][flow.number], known[flow.number] = demand_of(need), flow
    return ledger.inheriting(
        {
            site: {number: hold_of(known[number], a) for number, a in asked.items()}
            for site, asked in held.items()
        }
    )


def gather_sites(
    world: World,
    flow: Flow,
    need: Need,
    choice: Choice,
    now: float,
    *,
    elsewhere: bool = True,
) -> Regarded:
    """What a comparison for a flow looks at now.

    :param elsewhere: whether sites are compared that the flow cannot take, at a third campus; only for one
        that has a path.
    """
    seen = Regarded(paths=_observe_candidates(world, flow, need, choice, now))
    if need.template.cost is None:
        return seen
    elsewhere = elsewhere and choice.selection.path is not None
    offers = [_if_allowed(world, o, flow, need) for o in _offers(world, flow, need, elsewhere=elsewhere)]
    sites = [_as_it_stands(world, offer, flow, need, now) for offer in offers]
    return replace(seen, sites=tuple(_with_room(world, flow, need, choice, seen, one, now) for one in sites))


def _observe_candidates(
    world: World, flow: Flow, need: Need, choice: Choice, now: float
) -> FrozenMap[str, Observed]:
    """What was learnt of each candidate, and who is on those that the flow may take."""
    since, found = now - world.configuration.measurements.window, dict[str, Observed]()
    # Without compute sites to compare, the path that was selected is the one that it takes.
    compared = need.template.cost is not None
    may_take = {one.path for one in within_margin(flow, need, choice)[: None if compared else 1]}
    for record in choice.selection.records:
        path = choice.paths.get(record.path)
        rate = next((one for one in record.metrics if one.metric == Metric.THROUGHPUT), None)
        if path is None:
            continue
        basis = "" if rate is None else basis_of(world.performance, path.key, rate.basis)
        errors = tuple(world.estimates.errors(path.key, basis))
        observed = Observed(errors, world.performance.summarise_results(path.key, Metric.THROUGHPUT, since))
        if record.path in may_take:
            competing = competing_flows(world, flow, path.key, now)
            lasted = tuple(world.estimates.duration_errors(path.key, waited=flow.submitted_at < now))
            observed = replace(observed, competing=competing, lasted=lasted)
        found[record.path] = observed
    return FrozenMap(found)


# -- sites ------------------------------------------------------------------------------------------------


def _offers(world: World, flow: Flow, need: Need, *, elsewhere: bool) -> list[Offer]:
    """The sites that the RSpec allows; what is at the source's campus it always allows."""
    allowed, ends = need.template.rspec.sites, world.flows.ends(flow)
    return [
        offer
        for offer in world.offers.values()
        if (not allowed or offer.campus in allowed or offer.campus == ends[0])
        and (elsewhere or offer.campus in ends)
    ]


def _if_allowed(world: World, offer: Offer, flow: Flow, need: Need) -> Offer:
    """The offer, or none with the reason where the configuration does not let the requester use the site."""
    why = "" if flow.compute_site == offer.name else use_grants.closed_compute(world, flow, need, offer.name)
    return replace(offer, queue_wait=None, why=why) if why else offer


def _as_it_stands(world: World, offer: Offer, flow: Flow, need: Need, now: float) -> SiteSeen:
    """What a site offers now, and Γ_c of one of its nodes.

    The one place where what sites say themselves, and what their jobs have taught, comes into a decision.
    What is configured as not ours stays so, whatever the site says.
    """
    asked, ends = requirement_of(need.template), world.flows.ends(flow)
    nodes = asked.worker_nodes
    told = world.standings.wait(offer.name, nodes, now, max(asked.cores, nodes))
    if told is not None and offer.queue_wait is not None:
        wait = told.wait if math.isfinite(told.wait.mean) else None
        offer = replace(offer, queue_wait=wait, why=told.why, origin="by its own reports")
    by_it = None if offer.campus in ends else _elsewhere(world, need, ends, offer.campus, now)
    return SiteSeen(offer, _rate(world, offer, need.template.name), legs=by_it)


def _rate(world: World, offer: Offer, template: str) -> Learnt:
    learnt = world.standings.node_rate(offer.name, template)
    if learnt is None:
        return Learnt(Uncertain(offer.node_rate), "as configured")
    jobs = world.standings.rates.seen[offer.name, template].count
    return Learnt(learnt, "learnt from 1 finished job" if jobs == 1 else f"learnt from {jobs} finished jobs")


def _elsewhere(world: World, need: Need, ends: tuple[str, str], campus: str, now: float) -> Legs:
    """The ways of the data by a third campus: raw there, the result from there."""
    there = legs.best(world, need, (ends[0], campus), now)
    return Legs(there, onward=legs.best(world, need, (campus, ends[1]), now))


# -- who has room -----------------------------------------------------------------------------------------


def _with_room(
    world: World, flow: Flow, need: Need, choice: Choice, seen: Regarded, site: SiteSeen, now: float
) -> SiteSeen:
    """The site with what the flow can have of it."""
    book = world.ledger.sites.get(site.offer.name)
    if book is None or site.legs is not None:
        return site
    asked, who = asked_of(need, world.configuration.policy.reserve_nodes), Who(flow.requester, flow.number)
    # Without reservations there is never less than now, however long it lasts.
    lasts = _lasts(world, flow, need, choice, seen, site) if book.reserved else math.inf
    free = book.free(now, now, now + lasts, who)
    if free.holds(asked):
        return replace(site, free=free)
    return replace(site, free=free, reserved=_describe_reservations(book, who, now))


def _describe_reservations(book: Book, who: Who, now: float) -> str:
    others = [one.id for one in book.reserved if one.ends > now and one.owner != who.owner]
    return f"reserved by {', '.join(others)}" if others else ""


def _lasts(world: World, flow: Flow, need: Need, choice: Choice, seen: Regarded, site: SiteSeen) -> float:
    """For how many seconds a flow would hold what it takes of a site, at the latest."""
    model = need.template.cost
    if model is None:
        return math.inf
    ways = ways_of(flow, need, choice, seen) or [NO_WAY]
    costs = costs_of(flow, need, choice, model, [site], ways, world.functions)
    told = [forecast_of(flow, need, cost, way) for cost, way in costs]
    return max((math.inf if one is None else one.high for one in told), default=math.inf)
