"""When a waiting flow may start: gathers for :mod:`adon.broker.queueing.starts` what is known now.

An estimate is possible where room is what is lacking: on paths (the flows that run there, and those that are
before in line and wait for the same paths, in their order), of a compute site (worker nodes that come back
when running flows are done), or because others have reserved it.  When a path comes back that is down, or a
bound is met again that is missed today, nobody can say.

The interval: everything is taken to last less and more than expected, by the spread of the errors of earlier
estimates on these paths (:mod:`adon.broker.estimates`), or by :data:`DOUBT` while there are too few.  Where
there should be room by who is there, but the last test says that there is not, the next test will tell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from adon.broker import compute
from adon.broker.company import company_of, tests_of
from adon.broker.comparing import whole_of
from adon.broker.flow import Flow
from adon.broker.forecasting.sharing import left_now
from adon.broker.queueing import calendar
from adon.broker.queueing.claims import wanted
from adon.broker.queueing.keeping import waiter_of
from adon.broker.queueing.line import Resource
from adon.broker.queueing.starts import Lane, Runner, Wisher, starts
from adon.broker.queueing.trial import Trial
from adon.broker.world import World
from adon.units import format_count
from measurement.model import Metric, PathKey

AHEAD = 200
"""So many before it in line are looked at."""
DOUBT = 0.3
"""How far off durations are taken to be while nothing is known about that, as a share."""
MOST_DOUBT = 0.9
ENOUGH = 5
"""So many errors of earlier estimates say how far off they are."""


@dataclass(frozen=True, slots=True)
class Start:
    """When a flow may start, in seconds since the epoch: at the earliest, as expected, at the latest.

    :param why: what it is worked out from.
    """

    earliest: float
    expected: float
    latest: float
    why: str


def start_of(world: World, trial: Trial, now: float) -> Start | None:
    """When a refused flow may start; None if nobody can say."""
    better = trial.sites.starts
    if trial.alone and better is not None:
        return Start(better, better, better, "it could begin, and something better is expected then")
    wants, paths = wanted(world, trial, now, None)
    booked = _after_bookings(world, trial.flow, now)
    if isinstance(wants, str):
        found = _nodes_back(world, trial, wants, now)
    elif paths:
        found = _room_on(world, trial, paths, now)
    else:
        found = None
    known = [one for one in (booked, found) if one is not None]
    return min(known, key=lambda one: one.expected, default=None)


# -- room on paths --------------------------------------------------------------------------------------


def _room_on(world: World, trial: Trial, paths: Sequence[str], now: float) -> Start | None:
    flow, ends = trial.flow, world.flows.ends(trial.flow)
    keys = [PathKey(path, *ends) for path in paths]
    before = _before(world, flow, paths, now)
    asked = _wisher(world, flow, tuple(paths))
    doubt = doubt_about(world, keys)
    known = {key.path: _lane(world, trial, key, now) for key in keys}
    spans = []
    for factor in (1 - doubt, 1.0, 1 + doubt):
        lanes = {path: _lasting(lane, factor) for path, lane in known.items()}
        wishers = [_scaled(wisher, factor) for wisher in (*before, asked)]
        found = starts(lanes, wishers, flow.number).get(flow.number)
        if found is None:
            return None
        spans.append(now + found)
    running = sum(len(lane.running) for lane in known.values())
    why = f"running on {', '.join(paths)}: {running}; waiting for the same, and before it: {len(before)}"
    if spans[1] <= now:
        return _next_result(world, keys, now) or Start(min(spans), spans[1], max(spans), why)
    return Start(min(spans), spans[1], max(spans), why)


def _next_result(world: World, keys: Sequence[PathKey], now: float) -> Start | None:
    """The next throughput test, for one who should find room and does not by what was measured last."""
    found = []
    for key in keys:
        tested, periods = world.performance.latest(key, Metric.THROUGHPUT), tests_of(world, key)
        if tested is not None and periods:
            found.append(tested.observed_at + min(period for period, _ in periods))
    due = [at for at in found if at > now]
    if not due:
        return None
    longest = max(period for key in keys for period, _ in tests_of(world, key))
    return Start(
        now, min(due), max(due) + longest, "there should be room: the next throughput test will tell"
    )


def _before(world: World, flow: Flow, paths: Sequence[str], now: float) -> list[Wisher]:
    """Those before a flow in line that wait for some of the same paths, in their order.

    A flow that is not in line would come into it now.
    """
    found: list[Wisher] = []
    ends, line = world.flows.ends(flow), world.line
    if flow.number in line:
        before = list(takewhile(lambda number: number != flow.number, line.front(AHEAD)))
    else:
        before = line.before_newcomer(waiter_of(world, flow), now, AHEAD)
    for number in before:
        those, other = world.line.alike(number), world.flows.get(number)
        lanes = () if those is None else tuple(path for path in those.paths if path in paths)
        if other is not None and lanes and world.flows.ends(other) == ends:
            found.append(_wisher(world, other, lanes))
    return found


def _wisher(world: World, flow: Flow, lanes: tuple[str, ...]) -> Wisher:
    need = world.flows.need(flow)
    bound = world.flows.bound(flow)
    return Wisher(flow.number, flow.left * 8.0, need.streams, need.qspec.streams, bound, lanes)


def _scaled(wisher: Wisher, factor: float) -> Wisher:
    return replace(wisher, bits=wisher.bits * factor)


def _lasting(lane: Lane, factor: float) -> Lane:
    """A path on which everything lasts so many times as long."""
    return replace(lane, running=tuple(replace(one, bits=one.bits * factor) for one in lane.running))


def _lane(world: World, trial: Trial, key: PathKey, now: float) -> Lane:
    """A path with what is left of those who run there by now, and what others take of it."""
    company, path = (
        company_of(world, trial.flow, trial.need, key, now),
        world.network.topology.candidate(key).path,
    )
    carries = None if path is None else whole_of(path, company, world.performance, now, trial.need)
    if carries is None:
        running = tuple(Runner(one.bits, one.streams) for one in company.beside)
        return Lane(float(calendar.carries(world, key, now)), running)
    left = left_now(carries, company)
    running = tuple(Runner(bits, one.streams) for bits, one in zip(left, company.beside, strict=True))
    streams = sum(one.streams for one in running) + carries.others + carries.tester
    return Lane(carries.bits * (1 - company.busy * carries.tester / streams), running, carries.others)


def doubt_about(world: World, keys: Sequence[PathKey]) -> float:
    """How far off expectations on some paths are, as a share."""
    spreads = [
        found.spread
        for (key, _), found in world.estimates.summaries().items()
        if key in keys and found.count >= ENOUGH
    ]
    return min(MOST_DOUBT, max(spreads, default=DOUBT))


# -- nodes, and what is reserved ------------------------------------------------------------------------


def _nodes_back(world: World, trial: Trial, site: Resource, now: float) -> Start | None:
    asked = trial.need.template.rspec.compute
    needed = (1 if asked is None else asked.worker_nodes) + world.configuration.policy.reserve_nodes
    free = compute.free_nodes(world, str(site), trial.flow, now)
    ends = []
    for number, held in world.ledger.book(str(site)).holds.items():
        flow = world.flows.get(number)
        if flow is not None:
            ends.append((expected_end(world, flow, now), held.amounts.nodes))
    for end, nodes in sorted(ends):
        free += nodes
        if free >= needed and math.isfinite(end):
            span = end - now
            why = f"{format_count(needed, 'worker node')} of {site} will be free when flows that run are done"
            return Start(now + span * (1 - DOUBT), end, now + span * (1 + DOUBT), why)
    return None


def expected_end(world: World, flow: Flow, now: float) -> float:
    """When a running flow is expected to have moved all; infinite if nobody can say."""
    latest = world.flows.counters(flow).latest()
    seen = 0.0 if latest is None else latest[0]
    if seen <= 0 and flow.path is not None:
        key = PathKey(flow.path, *world.flows.ends(flow))
        load = world.flows.loads(world.flows.ends(flow)).get(flow.path)
        streams = world.flows.need(flow).streams
        together = streams if load is None else max(streams, load.streams)
        seen = calendar.carries(world, key, now) * streams / together
    rate = max(seen, world.flows.bound(flow))
    return now + flow.left * 8 / rate if rate > 0 else math.inf


def _after_bookings(world: World, flow: Flow, now: float) -> Start | None:
    """When what others have reserved leaves room for a flow that is kept off by that alone."""
    bound = world.flows.bound(flow)
    closed = calendar.closed(world, flow, now)
    if not closed or bound <= 0:
        return None
    lasts, found = flow.left * 8 / bound, list[float]()
    for path in closed:
        key = PathKey(path, *world.flows.ends(flow))
        limit = calendar.carries(world, key, now)
        begins = calendar.taken(world, key, now).earliest(math.ceil(bound), limit, lasts, now, math.inf)
        if begins is not None:
            found.append(begins)
    if not found:
        return None
    why = f"others have reserved {', '.join(closed)}"
    return Start(min(found), min(found), min(found), why)
