"""Every site by every path that a flow may take, compared: from what a decision sees of them to a placement.

Joins what :mod:`adon.broker.choice` found about the network with the cost model (:mod:`adon.broker.cost`,
algorithm 4) and edge optimisation (:mod:`adon.broker.optimisation.location`, algorithm 2).  A template
without a cost model, or a network without compute sites, has nothing to choose: the raw data travels.

*Which sites.*  All that are configured and that the RSpec allows.  A flow leads from its source to its
destination, so a site at a third campus cannot be taken by it; once the flow has a path, it is compared all
the same, with the raw data going there and the result from there, and the decision says what it would cost to
ask for that.

*Which paths.*  Equation 3 chooses the path of the highest Q.  Paths whose Q is lower by no more than the
template's ``switch_margin`` are as good in its own terms (hysteresis would not move a flow between them),
so among those the cost decides, together with the site.  Who has reserved a path in advance has that one.

Values and functions only: :mod:`adon.broker.compute` gathers them from the broker's state, and
:mod:`adon.broker.recompute` has them again from what was kept of a decision.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adon.broker.choice import Choice, Need, Situation
from adon.broker.cost.functions import CostFunctions
from adon.broker.cost.learnt import Learnt
from adon.broker.cost.site import Legs, Work, site_cost
from adon.broker.cost.spread import of_rate
from adon.broker.cost.terms import NO_NETWORK, NetworkTerms, theoretical_throughput
from adon.broker.cost.token_bucket import bucket_for
from adon.broker.decision import SiteCost
from adon.broker.flow import Flow
from adon.broker.forecasting.interval import forecast, forecast_duration
from adon.broker.forecasting.shared_path import (
    PAYLOAD,
    CompetingFlow,
    Whole,
    lasts,
    lasts_behind,
    mean_streams,
    whole,
)
from adon.broker.optimisation.location import choose
from adon.broker.optimisation.placement import Placement, Planned
from adon.broker.outcomes import Forecast
from adon.broker.resources.amounts import Amounts, Limits
from adon.broker.resources.offer import Offer, demand_of
from adon.flowvisor.selection.assessment import CandidateRecord, Verdict
from adon.flowvisor.selection.performance import PerformanceView, streams_of
from adon.flowvisor.topology.path import Basis, CandidatePath, KnownValue
from adon.reasons import Reason
from adon.running_statistics import NONE, RunningStatistics
from adon.templates_catalog.model import CostModel
from adon.values import FrozenMap
from measurement.model import Metric

MOST_PATHS = 4
"""So many paths are compared per site, those of the highest Q."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What was learnt of one directed path, and who is there.

    :param errors: relative errors of past promises on the basis that the present one rests on.
    :param tests: what was measured there in the archive's window.
    :param competing: the flows on the path; None where they were not looked up.
    :param lasted: how much longer transfers took there than was worked out, as a share.
    """

    errors: tuple[float, ...] = ()
    tests: RunningStatistics = NONE
    competing: tuple[CompetingFlow, ...] | None = None
    lasted: tuple[float, ...] = ()


UNSEEN = Observed()


@dataclass(frozen=True, slots=True)
class SiteSeen:
    """One compute site, as it is for one flow.

    :param offer: with T_q by its own reports, where it is asked.
    :param rate: Γ_c of one of its nodes.
    :param free: what the flow can have of it for as long as it would stay; None if nothing is known of it.
    :param reserved: whose reservations keep it from more, in words.
    :param legs: the ways of the data by it, if it is at a third campus.
    """

    offer: Offer
    rate: Learnt
    free: Limits | None = None
    reserved: str = ""
    legs: Legs | None = None


@dataclass(frozen=True, slots=True)
class Regarded:
    """All that a comparison looks at beside the choice.

    :param sites: those that the RSpec allows, in the order of the configuration.
    :param paths: by name, how far off rates of each candidate have been.
    """

    sites: tuple[SiteSeen, ...] = ()
    paths: Mapping[str, Observed] = field(default_factory=FrozenMap)


NOTHING_REGARDED = Regarded()


@dataclass(frozen=True, slots=True)
class Way:
    """A path that a flow may take, with what it is expected to carry and how far off that has been.

    :param carries: what it carries altogether, where its last test tells.
    """

    terms: NetworkTerms
    errors: Sequence[float] = ()
    observed: Observed = UNSEEN
    carries: Whole | None = None


NO_WAY = Way(NO_NETWORK)


def placement(
    flow: Flow,
    need: Need,
    choice: Choice,
    seen: Regarded,
    planned: Planned | None = None,
    functions: CostFunctions | None = None,
) -> Placement:
    """Compare every site by every path and take the best (algorithm 2).

    :param planned: what a plan for several flows has for this one; it is kept where it can be.
    :param functions: the cost functions that templates may name; those that there always are, if None.
    """
    ways, model = ways_of(flow, need, choice, seen), need.template.cost
    if model is None or not seen.sites:
        return Placement(transfer_size=flow.request.size, forecast=_raw_forecast(flow, need, ways))
    functions = CostFunctions() if functions is None else functions
    costs = costs_of(flow, need, choice, model, seen.sites, ways, functions)
    ends = ends_of(flow, choice)
    reserve = _situation(choice).policy.reserve_nodes
    lacking = {one.offer.name: _lacking(need, one, ends, reserve) for one in seen.sites}
    found = choose([cost for cost, _ in costs], lacking)
    taken, reason = found.taken, found.reason
    kept = _as_planned(costs, lacking, planned)
    if kept is not None and planned is not None and kept is not taken:
        taken, reason = kept, f"{kept.site} by {kept.path}: {planned.why}; {reason}"
    way = next((way for cost, way in costs if cost is taken), NO_WAY)
    return Placement(
        costs=tuple(cost for cost, _ in costs),
        taken=taken,
        reason=reason,
        refused=taken is None,
        transfer_size=max(1, flow.request.size if taken is None else taken.transfer_size),
        demand=demand_of(need),
        forecast=None if taken is None else forecast_of(flow, need, taken, way),
    )


def _as_planned(
    costs: Sequence[tuple[SiteCost, Way]], lacking: Mapping[str, str], planned: Planned | None
) -> SiteCost | None:
    """The candidate that was planned, if it can be had."""
    if planned is None or planned.site is None or lacking[planned.site]:
        return None
    wanted = (planned.site, planned.path)
    return next((c for c, _ in costs if (c.site, c.path) == wanted and math.isfinite(c.cost)), None)


def along(choice: Choice, placed: Placement) -> Choice:
    """The choice with the path that goes with the site."""
    if placed.path is None or placed.path == choice.selection.path:
        return choice
    why = f"{placed.path}: cheaper with its site, and its Q is within the switch margin of the highest"
    return choice.taking(placed.path, Reason("cheaper-site", f"{why}; {choice.selection.reason}"))


# -- which paths ------------------------------------------------------------------------------------------


def ends_of(flow: Flow, choice: Choice) -> tuple[str, str]:
    """The campuses that a flow goes from and to."""
    topology = _situation(choice).topology
    return topology.site_of(flow.request.source), topology.site_of(flow.request.destination)


def _situation(choice: Choice) -> Situation:
    if choice.asked is None:
        raise ValueError("the choice does not say what it was made from")
    return choice.asked


def ways_of(flow: Flow, need: Need, choice: Choice, seen: Regarded) -> list[Way]:
    """The paths that a flow may take."""
    found = ((record, choice.paths.get(record.path)) for record in within_margin(flow, need, choice))
    return [way_of(flow, need, choice, record, path, seen) for record, path in found if path is not None]


def within_margin(flow: Flow, need: Need, choice: Choice) -> list[CandidateRecord]:
    """The paths that are as good as the one selected, that one first; none without one."""
    name = choice.selection.path
    best = choice.record(name)
    if best is None:
        return []
    others = [r for r in choice.selection.records if r.path != name and _as_good(r, best, need)]
    if flow.booking is not None and flow.booking.path == name:
        others = []
    others.sort(key=lambda record: -math.inf if record.q is None else -record.q)
    return [best, *others][:MOST_PATHS]


def _as_good(record: CandidateRecord, best: CandidateRecord, need: Need) -> bool:
    qualified = record.verdict is Verdict.QUALIFIED and best.verdict is Verdict.QUALIFIED
    if not qualified or record.q is None or best.q is None:
        return False
    return best.q - record.q <= need.template.selection.switch_margin


def way_of(
    flow: Flow, need: Need, choice: Choice, record: CandidateRecord, path: CandidatePath, seen: Regarded
) -> Way:
    """One path as a way: Γ_t and Γ_a for all of a flow's streams."""
    found = next((metric for metric in record.metrics if metric.metric == Metric.THROUGHPUT), None)
    observed, asked = seen.paths.get(path.key.path, UNSEEN), _situation(choice)
    value = None if found is None else found.value
    terms = terms_of(need, path, value, observed, asked.performance, asked.now)
    if found is not None and terms.available is not None:
        bucket = bucket_for(
            flow, asked.performance, path.key, found.basis, terms.available, path.capacity, asked.now
        )
        terms = replace(terms, basis=found.basis if bucket is None else Basis.BUCKET, bucket=bucket)
    carries = whole_of(path, observed.competing, asked.performance, asked.now, need)
    return Way(terms, observed.errors, observed, carries)


def terms_for(flow: Flow, need: Need, choice: Choice, path: str) -> NetworkTerms | None:
    """Γ_t and Γ_a of one of the candidates for a flow, without what was learnt of it; None if it is none."""
    record, candidate = choice.record(path), choice.paths.get(path)
    if record is None or candidate is None or choice.asked is None:
        return None
    return way_of(flow, need, choice, record, candidate, NOTHING_REGARDED).terms


def whole_of(
    path: CandidatePath,
    competing: Sequence[CompetingFlow] | None,
    performance: PerformanceView,
    now: float,
    need: Need,
) -> Whole | None:
    """What a path carries altogether; None where no test tells, or it is not any more what it was."""
    key = path.key
    tested, max_age = performance.latest(key, Metric.THROUGHPUT), need.template.selection.max_age
    known = isinstance(performance.knowledge(key, Metric.THROUGHPUT, now, max_age), KnownValue)
    if (
        tested is None
        or competing is None
        or not known
        or performance.find_change(key, Metric.THROUGHPUT) is not None
    ):
        return None
    best, counted = performance.best([key], Metric.THROUGHPUT, 0.0), performance.find_test_load(key)
    there = performance.beside(key)
    return whole(
        tested.value,
        streams_of(tested),
        mean_streams(competing, tested.started_at, tested.observed_at) if there is None else there,
        tested.value if best is None else best,
        0.0 if counted is None else counted.bits,
        path.capacity * PAYLOAD,
    )


def terms_of(
    need: Need,
    path: CandidatePath,
    value: float | None,
    observed: Observed,
    performance: PerformanceView,
    now: float,
) -> NetworkTerms:
    """The network's side of the cost by one path.

    :param value: what it is expected to carry for the QSpec's streams, None if unknown.
    """
    max_age = need.template.selection.max_age
    rtt, loss = (performance.knowledge(path.key, m, now, max_age) for m in (Metric.RTT, Metric.LOSS))
    theoretical = theoretical_throughput(
        path.capacity,
        need.streams,
        None,
        rtt.value if isinstance(rtt, KnownValue) else None,
        loss.value if isinstance(loss, KnownValue) else None,
    )
    relative = of_rate(observed.errors, observed.tests)
    # What was estimated is for the QSpec's streams; a flow that runs more gets more, as estimates.py has it.
    available = None if value is None else min(path.capacity, value * need.streams / need.qspec.streams)
    return NetworkTerms(path.key.path, theoretical, available, relative.share, relative.origin)


# -- what each costs --------------------------------------------------------------------------------------


def price_sites(
    flow: Flow,
    need: Need,
    choice: Choice,
    ways: Sequence[Way],
    seen: Regarded,
    functions: CostFunctions,
) -> list[tuple[SiteCost, Way]] | None:
    """Every site that the flow can take by every way; None where there is nothing to compute.

    Sites at a third campus are left out.
    """
    model = need.template.cost
    if model is None or not seen.sites:
        return None
    ends = ends_of(flow, choice)
    near = [one for one in seen.sites if one.offer.campus in ends]
    return costs_of(flow, need, choice, model, near, ways, functions)


def costs_of(
    flow: Flow,
    need: Need,
    choice: Choice,
    model: CostModel,
    sites: Iterable[SiteSeen],
    ways: Sequence[Way],
    functions: CostFunctions,
) -> list[tuple[SiteCost, Way]]:
    """Sites by paths, each with the way that the flow itself would go."""
    work, source = Work.of(flow.request.size, demand_of(need), model), ends_of(flow, choice)[0]
    found = []
    for site in sites:
        if site.legs is None:
            legs = [(Legs(way.terms), way) for way in ways or (NO_WAY,)]
        else:
            legs = [(site.legs, NO_WAY)]
        for leg, way in legs:
            cost = site_cost(
                site.offer,
                local=site.offer.campus == source,
                work=work,
                legs=leg,
                functions=functions,
                node_rate=site.rate,
            )
            found.append((cost, way))
    return found


# -- who has room -----------------------------------------------------------------------------------------


def asked_of(need: Need, reserve: int) -> Amounts:
    """What has to be free of a site for a flow to take it: what it needs, and the policy's reserve (R_T)."""
    return demand_of(need) + Amounts(nodes=reserve)


def _lacking(need: Need, site: SiteSeen, ends: tuple[str, str], reserve: int) -> str:
    """Why a site has no room for a flow; empty if it has."""
    if site.offer.campus not in ends:
        campus = site.offer.campus
        return f"is at neither end of the transfer; to compute there, ask for one to {campus}"
    if site.free is None:
        return "its resources are unknown"
    short = site.free.lacks(asked_of(need, reserve))
    if not short:
        return ""
    kept = f" and {reserve} kept in reserve" if reserve else ""
    nodes = demand_of(need).nodes
    words = [f"{one.there} free, {nodes} needed{kept}" if one.kind == "nodes" else one.words for one in short]
    return "; ".join(words) + (f" ({site.reserved})" if site.reserved else "")


# -- when it is over --------------------------------------------------------------------------------------


def forecast_of(flow: Flow, need: Need, cost: SiteCost, way: Way) -> Forecast | None:
    """When the transfer that goes with a site is over, if it begins now."""
    return _forecast(flow, need, cost.transfer_size, way)


def _raw_forecast(flow: Flow, need: Need, ways: Sequence[Way]) -> Forecast | None:
    return _forecast(flow, need, flow.request.size, ways[0]) if ways else None


def _forecast(flow: Flow, need: Need, size: int, way: Way) -> Forecast | None:
    """A stream over UDP sends at its own pace: of that nothing can be told."""
    if need.template.protocol != "tcp":
        return None
    left, competing = max(0, size - flow.bytes_delivered), way.observed.competing
    if way.carries is None or competing is None:
        return forecast(left, way.terms, way.errors)
    ceiling = need.template.rspec.bandwidth_ceiling
    most = math.inf if ceiling is None else ceiling
    if way.terms.bucket is not None and way.terms.available:
        seconds = lasts_behind(
            way.terms.bucket, way.terms.available, left * 8.0, need.streams, way.carries, competing, most
        )
    else:
        seconds = lasts(left * 8.0, need.streams, way.carries, competing, most)
    return forecast_duration(seconds, way.observed.lasted, way.terms.relative)
