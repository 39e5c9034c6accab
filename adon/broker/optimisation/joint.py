"""Several queued requests at once: where, and by which path, each is served.

Queued requests are tried in the order of the queue.  Where the first ones take what the later ones need, the
best option of each is not the best for all of them together: one may go to its second-best site, so that
another need not wait.  So those that could be served now and cannot all have their best at once are planned
together (:mod:`~adon.broker.optimisation.search`): no request stays out for a later one, and then the
weighted sum of times is the least, with a weight of 1 + priority + steps of age.  A plan says which option a
flow gets, not when: whom it leaves out is tried in its turn, and a flow that can start now starts now.

The *first* of the queue that can be served is given its own best before anything is planned.

A path takes no more throughput bounds than it carries (:func:`adon.broker.evacuation.carries`) less what
stays on it and is reserved, a site no more than it has free for as long as the longest of the requests stays.
Cost functions other than time are made times: an option that costs a tenth more counts as taking a tenth
longer.  A path of lower Q than the template's margin allows counts :data:`PER_POINT` longer per point of Q.

Gathers; nothing is changed here.  The plan itself is in :mod:`adon.broker.optimisation.plan`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field

from adon.broker import compute, scheduler, use_grants
from adon.broker.choice import Choice, Need
from adon.broker.decision import SiteCost
from adon.broker.decision_records import choose_path
from adon.broker.evacuation import carries
from adon.broker.flow import Flow
from adon.broker.optimisation.plan import NO_REQUESTS, Together
from adon.broker.optimisation.search import Option, Problem, Request
from adon.broker.queueing import claims
from adon.broker.resources.amounts import KINDS, Amounts, Limits, whole_rate
from adon.broker.resources.book import Book, Who
from adon.broker.resources.offer import demand_of
from adon.broker.resources.paths import book_of
from adon.broker.site_comparison import MOST_PATHS, Regarded, Way, price_sites, way_of, ways_of
from adon.broker.world import World
from adon.flowvisor.selection.assessment import Verdict
from measurement.model import PathKey

MOST = 16
"""So many requests are planned together, the first of the queue."""

SCANNED = 128
"""So many of the queue are looked at for them; kinds of flows that nothing can be done for count once."""

PER_POINT = 0.1

_MS = 1000.0
_NO_OWNER = Who("")


@dataclass(slots=True)
class _Gathered:
    """Requests with their options, and the resources that these name.

    :param oldest: seconds up to which a test of a path counts for one of them.
    :param longest: seconds that the longest option takes.
    """

    requests: list[Request] = field(default_factory=list)
    numbers: dict[tuple[str, str, str], int] = field(default_factory=dict)
    oldest: float = 0.0
    longest: float = 0.0

    def resource(self, *name: str) -> int:
        return self.numbers.setdefault((name[0], name[1], name[2]), len(self.numbers))


def together(
    world: World, waiting: Sequence[Flow], now: float, hopeless: Callable[[int], bool] = lambda _: False
) -> Together:
    """The first waiting requests that could be served, to be planned together.

    :param waiting: the queue, first to be served first.
    :param hopeless: whether a flow, by its number, is known to have no path now: it need not be looked at.
    """
    if len(waiting) < 2:
        return NO_REQUESTS
    gathered = _gather(world, [flow for flow in waiting[:SCANNED] if not hopeless(flow.number)], now)
    if len(gathered.requests) < 2:
        return NO_REQUESTS
    return Together(Problem(tuple(gathered.requests), _room(world, gathered, now)))


# -- which requests ---------------------------------------------------------------------------------------


def _gather(world: World, waiting: Sequence[Flow], now: float) -> _Gathered:
    gathered, hopeless = _Gathered(), set[object]()
    owners = {one.owner for one in world.ledger.reservations}
    for flow in waiting:
        kept = claims.kept_from_flow(world, flow, now)
        alike = (id(world.flows.kind(flow)), flow.slice, use_grants.rights(world, flow), kept.by)
        # Not planned: owners of reservations, flows with a booking, flows before their start time.
        if alike in hopeless or flow.requester in owners or flow.booking is not None or _asleep(flow, now):
            continue
        need, choice = choose_path(world, flow, now, kept.paths)
        options = _options(world, flow, need, choice, gathered, now, kept.sites)
        if not options:
            hopeless.add(alike)
            continue
        gathered.oldest = max(gathered.oldest, need.template.selection.max_age)
        gathered.requests.append(Request(flow.number, _weight(world, flow, now), options))
        if len(gathered.requests) == MOST:
            break
    return gathered


def _asleep(flow: Flow, now: float) -> bool:
    return flow.not_before is not None and flow.not_before > now


def _weight(world: World, flow: Flow, now: float) -> int:
    waited = now - scheduler.waiting_since(flow)
    return 1 + world.flows.priority(flow) + int(waited // world.configuration.policy.aging)


def _options(
    world: World,
    flow: Flow,
    need: Need,
    choice: Choice,
    gathered: _Gathered,
    now: float,
    kept: Container[str],
) -> tuple[Option, ...]:
    """Every site by every path; none where it cannot be told how long it would take.

    :param kept: the sites that are kept for somebody before it.
    """
    seen = compute.gather_sites(world, flow, need, choice, now, elsewhere=False)
    good = ways_of(flow, need, choice, seen)
    if not good:
        return ()
    ways = [(way, 1.0) for way in good] + _lesser(flow, need, choice, good, seen)
    found = price_sites(flow, need, choice, [way for way, _ in ways], seen, world.functions)
    penalty = {id(way): factor for way, factor in ways}
    if found is None:
        return tuple(
            _raw(world, flow, way, penalty[id(way)], gathered) for way, _ in ways if _is_known(flow, way)
        )
    usable = [
        (cost, way)
        for cost, way in found
        if math.isfinite(cost.cost) and id(way) in penalty and cost.site not in kept
    ]
    if not usable:
        return ()
    cheapest = min((cost for cost, _ in usable), key=lambda cost: cost.cost)
    demand = demand_of(need)
    return tuple(
        _site_option(world, flow, cost, cheapest, penalty[id(way)], demand, gathered) for cost, way in usable
    )


def _lesser(
    flow: Flow, need: Need, choice: Choice, good: Iterable[Way], seen: Regarded
) -> list[tuple[Way, float]]:
    """Qualified paths of a Q below the margin, and by how much longer they count."""
    taken = {way.terms.path for way in good}
    best = choice.record(choice.selection.path)
    found = []
    for record in choice.selection.records:
        path = choice.paths.get(record.path)
        if record.path in taken or path is None or record.verdict is not Verdict.QUALIFIED:
            continue
        if best is not None and best.q is not None and record.q is not None:
            way = way_of(flow, need, choice, record, path, seen)
            found.append((way, 1.0 + PER_POINT * (best.q - record.q)))
    return found[:MOST_PATHS]


def _is_known(flow: Flow, way: Way) -> bool:
    return math.isfinite(_seconds(flow, way))


def _seconds(flow: Flow, way: Way) -> float:
    left = max(1, flow.request.size - flow.bytes_delivered)
    rate = way.terms.rate_for(left)
    return math.inf if rate is None or rate <= 0 else left * 8 / rate


def _raw(world: World, flow: Flow, way: Way, penalty: float, gathered: _Gathered) -> Option:
    """The raw data by one path; paths are compared by Q alone, so the best one's time is everybody's."""
    seconds = _seconds(flow, way)
    needs = _bandwidth(world, flow, str(way.terms.path), gathered)
    gathered.longest = max(gathered.longest, seconds)
    return Option(_whole(seconds * penalty), needs, None, way.terms.path)


def _site_option(
    world: World,
    flow: Flow,
    cost: SiteCost,
    cheapest: SiteCost,
    penalty: float,
    demand: Amounts,
    gathered: _Gathered,
) -> Option:
    worth = cheapest.total * cost.cost / cheapest.cost if cheapest.cost > 0 else cost.total
    needs = list(_bandwidth(world, flow, str(cost.path), gathered))
    for kind, amount in zip(KINDS, demand.vector, strict=True):
        if amount:
            needs.append((gathered.resource(cost.site, kind, ""), amount))
    gathered.longest = max(gathered.longest, cost.total)
    return Option(_whole(worth * penalty), tuple(needs), cost.site, cost.path)


def _bandwidth(world: World, flow: Flow, path: str, gathered: _Gathered) -> tuple[tuple[int, int], ...]:
    bound = world.flows.bound(flow)
    key = PathKey(path, *world.flows.ends(flow))
    return ((gathered.resource(*key), whole_rate(bound)),) if bound > 0 else ()


def _whole(seconds: float) -> int:
    return max(1, math.ceil(seconds * _MS))


# -- what is free -----------------------------------------------------------------------------------------


def _room(world: World, gathered: _Gathered, now: float) -> tuple[int, ...]:
    """What is free of each resource, in the order of the resources' numbers."""
    return tuple(_free(world, name, gathered, now) for name in gathered.numbers)


def _free(world: World, name: tuple[str, str, str], gathered: _Gathered, now: float) -> int:
    if name[2]:
        key = PathKey(*name)
        book, kind = book_of(world, key), "bandwidth"
        most = Limits(bandwidth=math.floor(carries(world, key, now, gathered.oldest)))
    else:  # a kind of resource of a compute site
        book, kind = world.ledger.sites[name[0]], name[1]
        most = book.limits.less(Amounts(nodes=world.configuration.policy.reserve_nodes))
    whole = Book.of(most, book.holds, book.reserved)
    known = dict(whole.free(now, now, now + gathered.longest, _NO_OWNER).known_limits())
    return known.get(kind, _UNLIMITED)


_UNLIMITED = 1 << 62
"""More than anybody asks for."""
