"""Where a flow's data is computed, and by which path it goes: every site by every path it may take, compared.

Joins what :mod:`adon.broker.choice` found about the network with the cost model (:mod:`adon.broker.cost`,
algorithm 4), what the sites have free (:mod:`adon.broker.resources`) and edge optimisation
(:mod:`adon.broker.optimisation.location`, algorithm 2).  A template without a cost model, or a network
without compute sites, has nothing to choose: the raw data travels.

*Which sites.*  All that are configured and that the RSpec allows.  A flow leads from its source to its
destination, so a site at a third campus cannot be taken by it; it is compared all the same, with the raw
data going there and the result from there, and the decision says what it would cost to ask for that.

*Which paths.*  Equation 3 chooses the path of the highest Q.  Paths whose Q is lower by no more than the
template's ``switch_margin`` are as good in its own terms (hysteresis would not move a flow between them),
so among those the cost decides, together with the site.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from adon.broker import scheduler
from adon.broker.choice import Choice, Need, knowledge
from adon.broker.cost.learning import Learnt
from adon.broker.cost.site import Legs, Work, site_cost
from adon.broker.cost.spread import of_rate
from adon.broker.cost.terms import NO_NETWORK, NetworkTerms, theoretical_throughput
from adon.broker.deciding import situation
from adon.broker.decision import SiteCost
from adon.broker.flow import Flow
from adon.broker.forecasting.interval import forecast
from adon.broker.optimisation.location import Standing, choose, start_text
from adon.broker.optimisation.placement import Placement, Planned
from adon.broker.outcomes import Forecast
from adon.broker.resources.amounts import Amounts
from adon.broker.resources.book import Book, Who
from adon.broker.resources.ledger import Ledger
from adon.broker.resources.offer import Offer, configured_offers, demand_of
from adon.broker.resources.paths import hold_of
from adon.broker.resources.reservation import Reservation
from adon.broker.uncertain import Uncertain
from adon.broker.world import World
from adon.config import Configuration
from adon.flowvisor.assessment import CandidateRecord, Verdict
from adon.flowvisor.path import CandidatePath, Known
from adon.templates_catalog.catalog import Catalog
from adon.templates_catalog.model import CostModel
from measurement.model import Metric

MOST_PATHS = 4
"""So many paths are compared per site, those of the highest Q."""


@dataclass(frozen=True, slots=True)
class Way:
    """A path that a flow may take, with what it is expected to carry and how far off that has been."""

    terms: NetworkTerms
    errors: Sequence[float] = ()


NO_WAY = Way(NO_NETWORK)


def restored(
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


def placement(
    world: World,
    flow: Flow,
    need: Need,
    choice: Choice,
    now: float,
    latest: float = math.inf,
    planned: Planned | None = None,
) -> Placement:
    """Compare every site by every path and take the best (algorithm 2).

    :param latest: no start later than this is waited for while something can be had at once.
    :param planned: what a plan for several flows has for this one; it is kept where it can be.
    """
    if planned is not None and now < planned.starts <= latest:
        reason = f"starts {start_text(planned.starts, now)}: {planned.why}"
        return Placement((), None, reason, True, True, planned.starts, flow.request.size)
    ways = ways_of(world, need, choice, now)
    model, offers = need.template.cost, _offers(world, flow, need)
    if model is None or not offers:
        return Placement(transfer_size=flow.request.size, forecast=_raw_forecast(flow, need, ways))
    costs = _costs(world, flow, need, model, offers, ways, now)
    latest = min(latest, scheduler.deadline(flow, world.flows.patience))
    standing = {offer.name: _standing(world, flow, need, offer, costs, now) for offer in offers}
    found = choose(
        [cost for cost, _ in costs],
        standing,
        now,
        lambda cost, seconds: world.functions.delayed(cost, seconds, world.offers[cost.site], model),
        latest,
    )
    taken, reason = found.taken, found.reason
    kept = _as_planned(costs, standing, planned)
    if kept is not None and planned is not None and kept is not taken:
        taken, reason = kept, f"{kept.site} by {kept.path}: {planned.why}; {reason}"
    way = next((way for cost, way in costs if cost is taken), NO_WAY)
    return Placement(
        costs=tuple(cost for cost, _ in costs),
        taken=taken,
        reason=reason,
        refused=taken is None,
        awaits=taken is None and found.at_once,
        starts=found.starts if taken is None else None,
        transfer_size=max(1, flow.request.size if taken is None else taken.transfer_size),
        demand=demand_of(need),
        forecast=None if taken is None else _forecast(world, flow, need, taken, way),
    )


def _as_planned(
    costs: Sequence[tuple[SiteCost, Way]], standing: Mapping[str, Standing], planned: Planned | None
) -> SiteCost | None:
    """The candidate that was planned, if it can be had."""
    if planned is None or planned.site is None or standing[planned.site].obstacle:
        return None
    wanted = (planned.site, planned.path)
    return next((c for c, _ in costs if (c.site, c.path) == wanted and math.isfinite(c.cost)), None)


def along(choice: Choice, placed: Placement) -> Choice:
    """The choice with the path that goes with the site."""
    if placed.path is None or placed.path == choice.selection.path:
        return choice
    why = f"{placed.path}: cheaper with its site, and its Q is within the switch margin of the highest"
    return choice.taking(placed.path, f"{why}; {choice.selection.reason}")


# -- which sites, which paths -----------------------------------------------------------------------------


def _offers(world: World, flow: Flow, need: Need) -> list[Offer]:
    """The sites that the RSpec allows; what is at the source's campus it always allows."""
    allowed, source = need.template.rspec.sites, world.flows.ends(flow)[0]
    return [
        offer
        for offer in world.offers.values()
        if not allowed or offer.campus in allowed or offer.campus == source
    ]


def ways_of(world: World, need: Need, choice: Choice, now: float) -> list[Way]:
    """The paths that are as good as the one selected, that one first; none without one."""
    name = choice.selection.path
    best = choice.record(name)
    if best is None:
        return []
    records = [best, *(r for r in choice.selection.records if r.path != name and _as_good(r, best, need))]
    records.sort(key=lambda record: -math.inf if record is best or record.q is None else -record.q)
    found = ((record, choice.paths.get(record.path)) for record in records[:MOST_PATHS])
    return [way_of(world, need, record, path, now) for record, path in found if path is not None]


def _as_good(record: CandidateRecord, best: CandidateRecord, need: Need) -> bool:
    qualified = record.verdict is Verdict.QUALIFIED and best.verdict is Verdict.QUALIFIED
    if not qualified or record.q is None or best.q is None:
        return False
    return best.q - record.q <= need.template.selection.switch_margin


def way_of(world: World, need: Need, record: CandidateRecord, path: CandidatePath, now: float) -> Way:
    """One path as a way: Γ_t and Γ_a for all of a flow's streams."""
    found = next((metric for metric in record.metrics if metric.metric == Metric.THROUGHPUT), None)
    value = None if found is None else found.value
    errors = () if found is None else world.estimates.errors(path.key, found.basis)
    return Way(_terms(world, need, path, value, errors, now), errors)


def _terms(
    world: World, need: Need, path: CandidatePath, value: float | None, errors: Sequence[float], now: float
) -> NetworkTerms:
    max_age = need.template.selection.max_age
    rtt, loss = (world.performance.knowledge(path.key, m, now, max_age) for m in (Metric.RTT, Metric.LOSS))
    theoretical = theoretical_throughput(
        path.capacity,
        need.streams,
        None,
        rtt.value if isinstance(rtt, Known) else None,
        loss.value if isinstance(loss, Known) else None,
    )
    since = now - world.configuration.measurements.window
    relative = of_rate(errors, world.performance.seen(path.key, Metric.THROUGHPUT, since))
    # What was estimated is for the QSpec's streams; a flow that runs more gets more, as estimates.py has it.
    available = None if value is None else min(path.capacity, value * need.streams / need.qspec.streams)
    return NetworkTerms(path.key.path, theoretical, available, relative.share, relative.origin)


# -- what each costs --------------------------------------------------------------------------------------


def priced(
    world: World, flow: Flow, need: Need, ways: Sequence[Way], now: float
) -> list[tuple[SiteCost, Way]] | None:
    """Every site that the flow can take by every way; None where there is nothing to compute.

    Sites at a third campus are left out.
    """
    model, offers = need.template.cost, _offers(world, flow, need)
    if model is None or not offers:
        return None
    ends = world.flows.ends(flow)
    return _costs(world, flow, need, model, [one for one in offers if one.campus in ends], ways, now)


def _costs(
    world: World,
    flow: Flow,
    need: Need,
    model: CostModel,
    offers: Iterable[Offer],
    ways: Sequence[Way],
    now: float,
) -> list[tuple[SiteCost, Way]]:
    """Every site by every path, each with the way that the flow itself would go."""
    name, ends = need.template.name, world.flows.ends(flow)
    ratio = world.experience.ratio(name, model.result_ratio)
    work = Work.of(flow.request.size, demand_of(need), model, ratio)
    found = []
    for offer in offers:
        if offer.campus in ends:
            legs = [(Legs(way.terms), way) for way in ways or (NO_WAY,)]
        else:
            legs = [(_elsewhere(world, need, ends, offer.campus, now), NO_WAY)]
        now_is, rate, late = _as_it_stands(world, offer, name)
        for leg, way in legs:
            cost = site_cost(
                now_is,
                local=offer.campus == ends[0],
                work=work,
                legs=leg,
                functions=world.functions,
                node_rate=rate,
                lateness=late,
            )
            found.append((cost, way))
    return found


def _as_it_stands(world: World, offer: Offer, template: str) -> tuple[Offer, Learnt, Learnt | None]:
    """What a site offers now, Γ_c of one of its nodes, and the factor by which jobs waited longer than said.

    The one place where what sites say themselves, and what their jobs have taught, comes into a decision.
    """
    rate = world.experience.rate(offer.name, template, offer.node_rate)
    return offer, rate, world.experience.lateness(offer.name)


def _elsewhere(world: World, need: Need, ends: tuple[str, str], campus: str, now: float) -> Legs:
    """The ways of the data by a third campus: raw there, the result from there."""
    return Legs(
        _best_leg(world, need, (ends[0], campus), now), onward=_best_leg(world, need, (campus, ends[1]), now)
    )


def _best_leg(world: World, need: Need, ends: tuple[str, str], now: float) -> NetworkTerms:
    """What the best path between two sites carries, by what is known of it."""
    seen = situation(world, ends, now)
    found = [NO_NETWORK]
    for candidate in world.network.topology.between(*ends):
        if candidate.usable and candidate.path is not None:
            known = knowledge(Metric.THROUGHPUT, candidate.path, None, need, seen)
            if isinstance(known, Known):
                errors = world.estimates.errors(candidate.key, known.basis)
                found.append(_terms(world, need, candidate.path, known.value, errors, now))
    return max(found, key=lambda terms: -1.0 if terms.rate is None else terms.rate)


# -- who has room -----------------------------------------------------------------------------------------


def _standing(
    world: World,
    flow: Flow,
    need: Need,
    offer: Offer,
    costs: Sequence[tuple[SiteCost, Way]],
    now: float,
) -> Standing:
    """Whether a site has room for a flow, with the policy's reserve (R_T); if not, from when on."""
    if offer.campus not in world.flows.ends(flow):
        return Standing(f"is at neither end of the transfer; to compute there, ask for one to {offer.campus}")
    book = world.ledger.sites.get(offer.name)
    if book is None:
        return Standing("nothing is known about its resources")
    reserve = world.configuration.policy.reserve_nodes
    demand, who = demand_of(need), Who(flow.requester, flow.number)
    asked = demand + Amounts(nodes=reserve)
    # Without reservations there is never less than now, however long it lasts.
    here = [pair for pair in costs if pair[0].site == offer.name] if book.reserved else []
    lasts = max((_lasts(world, flow, need, *pair) for pair in here), default=math.inf)
    short = book.lacking(asked, now, now, now + lasts, who)
    if not short:
        return Standing()
    kept = f" and {reserve} kept in reserve" if reserve else ""
    words = [
        f"{one.there} free, {demand.nodes} needed{kept}" if one.kind == "nodes" else one.words
        for one in short
    ]
    reserved = _reserved(book, who, now)
    text = "; ".join(words) + (f" ({reserved})" if reserved else "")
    opens = book.earliest(asked, now, now, lasts, who) if book.limits.holds(asked) else None
    return Standing(text, opens)


def _reserved(book: Book, who: Who, now: float) -> str:
    others = [one.id for one in book.reserved if one.ends > now and one.owner != who.owner]
    return f"reserved by {', '.join(others)}" if others else ""


def _lasts(world: World, flow: Flow, need: Need, cost: SiteCost, way: Way) -> float:
    """For how many seconds a flow would hold what it takes of a site, at the latest."""
    told = _forecast(world, flow, need, cost, way)
    return math.inf if told is None else told.high


# -- when it is over --------------------------------------------------------------------------------------


def _forecast(world: World, flow: Flow, need: Need, cost: SiteCost, way: Way) -> Forecast | None:
    offer = world.offers[cost.site]
    before: Mapping[str, Uncertain] = {}
    if cost.local and offer.follows:
        deviations = cost.deviations
        before = {
            "queue": Uncertain(cost.queue, deviations.get("queue", 0.0)),
            "compute": Uncertain(cost.compute - cost.queue, deviations.get("busy", 0.0)),
        }
    return _told(flow, need, cost.transfer_size, way, before)


def _raw_forecast(flow: Flow, need: Need, ways: Sequence[Way]) -> Forecast | None:
    return _told(flow, need, flow.request.size, ways[0], {}) if ways else None


def _told(flow: Flow, need: Need, size: int, way: Way, before: Mapping[str, Uncertain]) -> Forecast | None:
    """A stream over UDP sends at its own pace: of that nothing can be told."""
    if need.template.protocol != "tcp":
        return None
    return forecast(max(0, size - flow.bytes_delivered), way.terms, way.errors, before)
