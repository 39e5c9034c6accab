"""When a waiting flow may start: gathers for :mod:`adon.broker.queueing.starts` what is known now.

An estimate is possible where room is what is lacking: on paths (the flows that run there, and those that are
before in line and wait for the same paths, in their order), of a compute site (worker nodes that come back
when running flows are done), or because others have reserved it.  When a path comes back that is down, or a
bound is met again that is missed today, nobody can say.

The interval: everything is taken to last less and more than expected, by the spread of the errors of earlier
estimates on these paths (:mod:`adon.broker.estimates`), or by :data:`DOUBT` while there are too few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from adon.broker import compute
from adon.broker.flow import Flow
from adon.broker.queueing import calendar
from adon.broker.queueing.claims import wanted
from adon.broker.queueing.line import Resource
from adon.broker.queueing.starts import Runner, Wisher, starts
from adon.broker.queueing.trial import Trial
from adon.broker.world import World
from measurement.model import PathKey

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
    before = _before(world, flow, paths)
    asked = _wisher(world, flow, tuple(paths))
    doubt = doubt_about(world, keys)
    spans = []
    for factor in (1 - doubt, 1.0, 1 + doubt):
        lanes = {
            key.path: (float(calendar.carries(world, key, now)), _runners(world, key, factor)) for key in keys
        }
        wishers = [_scaled(wisher, factor) for wisher in (*before, asked)]
        found = starts(lanes, wishers, flow.number).get(flow.number)
        if found is None:
            return None
        spans.append(now + found)
    running = sum(len(_numbers(world, key)) for key in keys)
    why = f"running on {', '.join(paths)}: {running}; waiting for the same, and before it: {len(before)}"
    return Start(min(spans), spans[1], max(spans), why)


def _before(world: World, flow: Flow, paths: Sequence[str]) -> list[Wisher]:
    """Those before a flow in line that wait for some of the same paths, in their order."""
    found: list[Wisher] = []
    ends = world.flows.ends(flow)
    for number in world.line.front(AHEAD):
        if number == flow.number:
            break
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
    bits = wisher.bits * factor
    return Wisher(wisher.number, bits, wisher.streams, wisher.asks, wisher.bound, wisher.lanes)


def _runners(world: World, key: PathKey, factor: float) -> list[Runner]:
    found = []
    for number in _numbers(world, key):
        flow = world.flows.get(number)
        if flow is not None:
            found.append(Runner(flow.left * 8.0 * factor, world.flows.need(flow).streams))
    return found


def _numbers(world: World, key: PathKey) -> list[int]:
    load = world.flows.loads((key.source, key.destination)).get(key.path)
    return [] if load is None else list(load.numbers)


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
            why = f"{needed} worker nodes of {site} are free when flows that run are done"
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
