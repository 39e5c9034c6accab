"""Where a flow's data is computed: the cost of every site it may use, and the ledger that follows.

Joins what :mod:`adon.broker.choice` found about the network with the cost model
(:mod:`adon.broker.cost`, algorithm 4) and edge optimisation (:mod:`adon.broker.edge`, algorithm 2).  A
template without a cost model, or a network without compute sites, has nothing to choose: the raw data
travels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from adon.broker.choice import Choice, Need
from adon.broker.cost import CostFunctions, NetworkTerms, site_cost, theoretical_throughput
from adon.broker.decision import SiteCost
from adon.broker.edge import Ledger, place
from adon.broker.flow import Flow
from adon.broker.sites.standing import Found, Standings
from adon.config import Configuration
from adon.flowvisor.path import Known
from adon.flowvisor.performance import PerformanceView
from adon.flowvisor.topology import Topology
from adon.frozenmap import FrozenMap
from adon.templates_catalog.catalog import Catalog
from adon.templates_catalog.model import ComputeRequirement
from measurement.model import Metric


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a site beyond its configuration.

    :param wait: T_q by its reports; None if nobody asks it.
    :param node_rate: Γ_c as its jobs taught it, in bits/s; None where they taught nothing.
    """

    wait: Found | None = None
    node_rate: float | None = None


NOTHING_TOLD = Told()


@dataclass(frozen=True, slots=True)
class Sites:
    """The compute side of a decision.

    :param refused: whether the flow must wait because no site can take it.
    :param transfer_size: S_t: the bytes that will travel, as the site chosen has it.
    :param told: what was known of the sites that were compared.
    """

    costs: tuple[SiteCost, ...] = ()
    site: str | None = None
    reason: str = ""
    refused: bool = False
    transfer_size: int = 0
    ledger: Ledger = field(default_factory=lambda: Ledger({}))
    told: Mapping[str, Told] = field(default_factory=FrozenMap)


NO_SITES = Sites()


def empty_ledger(configuration: Configuration) -> Ledger:
    """All worker nodes of all configured sites, none of them held."""
    return Ledger({name: site.worker_nodes for name, site in configuration.compute.items()})


def restored(configuration: Configuration, flows: Iterable[Flow], catalog: Catalog) -> Ledger:
    """The ledger as the flows of an earlier run left it.

    A site that is configured no more is dropped; of one that has shrunk, what is left is handed out in
    the order of ``flows``.

    :raises NotFound: if the catalog lacks the template of a flow.
    """
    ledger = empty_ledger(configuration)
    for flow in flows:
        site = flow.compute_site
        if flow.state.holds_rules and site is not None and site in ledger.totals:
            asked = _requirement(Need.of(catalog.resolve(flow.template), flow.request)).worker_nodes
            nodes = min(asked, ledger.residual(site))
            ledger = ledger.allocate(flow.number, site, nodes) if nodes > 0 else ledger
    return ledger


def sites(
    flow: Flow,
    need: Need,
    choice: Choice,
    topology: Topology,
    performance: PerformanceView,
    ledger: Ledger,
    now: float,
    told: Callable[[str], Told] = lambda _: NOTHING_TOLD,
) -> Sites:
    """Compare the compute sites at both ends of a flow and take the cheapest that has room.

    :param told: what is known of a site beyond its configuration (:func:`as_told`).
    """
    configuration, model = topology.configuration, need.template.cost
    ends = {topology.site_of(flow.request.source): True, topology.site_of(flow.request.destination): False}
    allowed = need.template.rspec.sites
    names = [
        name
        for name, site in configuration.compute.items()
        if site.site in ends and (not allowed or site.site in allowed or ends[site.site])
    ]
    if model is None or not names:
        return Sites(transfer_size=flow.request.size, ledger=ledger)
    terms = network_terms(need, choice, performance, now)
    requirement = _requirement(need)
    heard = {name: told(name) for name in names}
    costs = [
        site_cost(
            name,
            configuration.compute[name],
            local=ends[configuration.compute[name].site],
            size=flow.request.size,
            model=model,
            requirement=requirement,
            network=terms,
            functions=CostFunctions(),
            reported=heard[name].wait,
            node_rate=heard[name].node_rate,
        )
        for name in names
    ]
    reserve = configuration.policy.reserve_nodes
    found, after = place(flow.number, costs, ledger, requirement.worker_nodes, reserve)
    size = next((cost.transfer_size for cost in costs if cost.site == found.site), flow.request.size)
    refused = found.site is None
    return Sites(found.costs, found.site, found.reason, refused, max(1, size), after, FrozenMap(heard))


def as_told(standings: Standings, need: Need, now: float) -> Callable[[str], Told]:
    """What sites reported, and what their jobs taught, for flows that need this."""
    requirement = _requirement(need)
    nodes = requirement.worker_nodes
    cores = max(requirement.cores, nodes)

    def told(site: str) -> Told:
        learnt = standings.node_rate(site, need.template.name)
        return Told(standings.wait(site, nodes, now, cores), None if learnt is None else learnt.mean)

    return told


def network_terms(need: Need, choice: Choice, performance: PerformanceView, now: float) -> NetworkTerms:
    """Γ_t and Γ_a of the chosen path; without one both are unknown."""
    name = choice.selection.path
    record, path = choice.record(name), choice.paths.get(name) if name is not None else None
    if record is None or path is None:
        return NetworkTerms(None, 0.0, None)
    available = next((m.value for m in record.metrics if m.metric == Metric.THROUGHPUT), None)
    max_age = need.template.selection.max_age
    rtt, loss = (performance.knowledge(path.key, m, now, max_age) for m in (Metric.RTT, Metric.LOSS))
    theoretical = theoretical_throughput(
        path.capacity,
        need.streams,
        None,
        rtt.value if isinstance(rtt, Known) else None,
        loss.value if isinstance(loss, Known) else None,
    )
    return NetworkTerms(name, theoretical, available)


def _requirement(need: Need) -> ComputeRequirement:
    asked = need.template.rspec.compute
    return ComputeRequirement() if asked is None else asked
