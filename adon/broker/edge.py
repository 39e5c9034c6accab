"""Edge optimisation: where to compute, and who may be moved away for it ([ADON] 3.2, algorithm 2).

``R = total − Σ allocated`` per compute site.  Where R ≥ R_T (the application's worker nodes plus the
policy's reserve) the sites' costs are compared and the cheapest one is taken; the nodes are subtracted
and the application is entered in A.  Where no site has R_T free the application goes to the resource
scheduler.  The printed listing returns before it subtracts; here the subtraction comes first
(:func:`place`).  It also tests one sum R for all sites; the nodes must be free at the site that is
taken, so the test is made per site.

Values and functions only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from adon.broker.decision import SiteCost
from adon.errors import Conflict, NotFound
from adon.frozenmap import FrozenMap


@dataclass(frozen=True, slots=True)
class Allocation:
    """Worker nodes of one site that one flow holds."""

    site: str
    nodes: int


@dataclass(frozen=True, slots=True)
class Ledger:
    """Who holds which worker nodes: the totals, and the set A of allocations by flow number."""

    totals: Mapping[str, int]
    allocations: Mapping[int, Allocation] = field(default_factory=FrozenMap)

    def __post_init__(self) -> None:
        for site, total in self.totals.items():
            if total < 0:
                raise ValueError(f"{site}: a site cannot have {total} worker nodes")
        object.__setattr__(self, "totals", FrozenMap(self.totals))
        object.__setattr__(self, "allocations", FrozenMap(self.allocations))

    def residual(self, site: str) -> int:
        """R: the worker nodes of a site that nobody holds; 0 where a site has shrunk below its promises.

        :raises NotFound: for a site that is not in the ledger.
        """
        if site not in self.totals:
            raise NotFound("compute site", site)
        held = sum(a.nodes for a in self.allocations.values() if a.site == site)
        return max(0, self.totals[site] - held)

    def allocate(self, flow: int, site: str, nodes: int) -> Ledger:
        """The ledger after a flow took ``nodes`` of a site.

        :raises NotFound: for a site that is not in the ledger.
        :raises Conflict: if the flow holds nodes already, or so many are not free.
        :raises ValueError: for less than one node.
        """
        if nodes < 1:
            raise ValueError(f"nodes: {nodes} cannot be allocated")
        if flow in self.allocations:
            raise Conflict("flow", f"f-{flow} holds worker nodes of {self.allocations[flow].site} already")
        free = self.residual(site)
        if nodes > free:
            raise Conflict("nodes", f"{site} has {free} worker nodes free, not {nodes}")
        return replace(self, allocations={**self.allocations, flow: Allocation(site, nodes)})

    def release(self, flow: int) -> Ledger:
        """The ledger after a flow gave back what it held; itself where it held nothing."""
        if flow not in self.allocations:
            return self
        return replace(self, allocations={n: a for n, a in self.allocations.items() if n != flow})


@dataclass(frozen=True, slots=True)
class SiteChoice:
    """Where to compute, or (``site`` None) why nowhere; ``costs`` are all that were compared."""

    site: str | None
    costs: tuple[SiteCost, ...]
    reason: str


def choose_site(costs: Sequence[SiteCost], ledger: Ledger, requirement: int, reserve: int) -> SiteChoice:
    """The cheapest site that has R_T = ``requirement`` + ``reserve`` worker nodes free.

    Equal costs go to the remote site, as the printed ``if C_L < C_R`` has it, then by name: the order of
    ``costs`` never matters.
    """
    if not costs:
        return SiteChoice(None, (), "no compute site is configured for this flow")
    obstacles = {cost.site: _obstacle(cost, ledger, requirement, reserve) for cost in costs}
    feasible = [cost for cost in costs if not obstacles[cost.site]]
    if not feasible:
        missing = "; ".join(f"{site}: {why}" for site, why in sorted(obstacles.items()))
        return SiteChoice(None, tuple(costs), f"no compute site can take it: {missing}")
    best = min(feasible, key=lambda cost: (cost.cost, cost.local, cost.site))
    return SiteChoice(best.site, tuple(costs), _compared(best, costs, obstacles))


def place(
    flow: int, costs: Sequence[SiteCost], ledger: Ledger, requirement: int, reserve: int
) -> tuple[SiteChoice, Ledger]:
    """Algorithm 2 as a whole: the choice, and the ledger with the nodes subtracted and the flow in A.

    :raises Conflict: if the flow holds worker nodes already.
    """
    choice = choose_site(costs, ledger, requirement, reserve)
    if choice.site is None:
        return choice, ledger
    return choice, ledger.allocate(flow, choice.site, requirement)


def preemption_candidate(new_priority: int, running: Sequence[tuple[int, int]]) -> int | None:
    """The flow that a new one of ``new_priority`` may push off the full layer-2 path (P_min rule).

    :param running: number and priority of each flow on layer 2; a larger priority is more urgent.
    :returns: the flow of lowest priority, the youngest of several; None unless it is strictly below.
    """
    lower = [(priority, -number) for number, priority in running if priority < new_priority]
    return -min(lower)[1] if lower else None


def _obstacle(cost: SiteCost, ledger: Ledger, requirement: int, reserve: int) -> str:
    if cost.site not in ledger.totals:
        return "nothing is known about its worker nodes"
    free = ledger.residual(cost.site)
    if free < requirement + reserve:
        kept = f" and {reserve} kept in reserve" if reserve else ""
        return f"{free} worker nodes free, {requirement} needed{kept}"
    if not math.isfinite(cost.cost):
        return cost.why or "its cost is infinite"
    return ""


def _compared(best: SiteCost, costs: Sequence[SiteCost], obstacles: Mapping[str, str]) -> str:
    others = sorted((c for c in costs if c is not best), key=lambda c: (c.cost, c.site))
    words = [f"{c.site} {obstacles[c.site] or f'costs {c.cost:.4g}'}" for c in others]
    where = "local" if best.local else "remote"
    text = f"{best.site} ({where}) costs {best.cost:.4g}"
    return f"{text}; {', '.join(words)}" if words else text
