"""At the same time, or one after the other: policy ``queue.together``.

Two transfers of a and b bytes that share a path of rate R each finish late: with equal shares the shorter at
2·min(a, b)/R, the longer at (a + b)/R.  One after the other, the shorter first, they finish at min(a, b)/R
and (a + b)/R: the longer loses nothing.  Shortest remaining processing time first is the best there is for
the mean (Schrage, *Operations Research* 16(3), 1968), if one transfer alone can use the whole path, and if
running transfers may be stopped.  We do not stop any: what is left to decide is whether a flow that could
start now should wait for the next one to finish there.

``in_turn`` holds a flow back if by the expected finish of all of them, everything left at its fair share per
stream and nobody above its ceiling, the mean of the finishing times is better by :data:`GAIN` when the flow
starts after the next to finish; the question is asked again then.  It is not held back

- if it would be late for its deadline by that;
- behind a flow of another group that has had more than its share (:mod:`adon.broker.queueing.shares`);
- once it has waited ``overtaken_for``: so shorter ones that keep coming hold back nobody for ever.

``share`` (the default) never holds back: a QSpec's bound already says what a flow must have, expectations are
wrong at times, and an idle path is certain.  In turn is for transfers of similar worth that each fill the
path, where the mean of the finishing times is what counts.

Rates in bits/s, times in seconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from adon.broker.choice import Need
from adon.broker.flow import Flow
from adon.broker.queueing import calendar
from adon.broker.queueing.keeping import group_of
from adon.broker.scheduler import arrived
from adon.broker.world import World
from adon.units import format_duration
from measurement.model import PathKey

GAIN = 0.01
"""How much better the mean must be: expectations are no better than that."""
MOST = 16
"""With more flows on a path than this nobody is held back: what one gains by waiting is little then."""


@dataclass(frozen=True, slots=True)
class Job:
    """A transfer on a path.

    :param bits: left to move.
    :param streams: by which it has its share.
    :param ceiling: bits/s that it uses at most.
    """

    number: int
    bits: float
    streams: int
    ceiling: float = math.inf


def rates(capacity: float, jobs: Sequence[Job]) -> dict[int, float]:
    """What each gets: max-min fair per stream, nobody above its ceiling (progressive filling)."""
    found: dict[int, float] = {}
    left, waiting = capacity, sorted(jobs, key=lambda job: (job.ceiling / job.streams, job.number))
    streams = sum(job.streams for job in waiting)
    for job in waiting:
        found[job.number] = rate = min(job.ceiling, left * job.streams / streams)
        left -= rate
        streams -= job.streams
    return found


def finishes(capacity: float, jobs: Sequence[Job]) -> dict[int, float]:
    """After how many seconds each is done, if all run from now on; infinite at no rate."""
    found: dict[int, float] = {}
    running, now = list(jobs), 0.0
    while running:
        shares = rates(capacity, running)
        spans = {job.number: _span(job.bits, shares[job.number]) for job in running}
        step = min(spans.values())
        if math.isinf(step):
            return found | dict.fromkeys((job.number for job in running), math.inf)
        now += step
        done = {job.number for job in running if spans[job.number] <= step}
        found |= dict.fromkeys(done, now)
        running = [
            replace(job, bits=max(0.0, job.bits - shares[job.number] * step))
            for job in running
            if job.number not in done
        ]
    return found


def _span(bits: float, rate: float) -> float:
    if bits <= 0:
        return 0.0
    return bits / rate if rate > 0 else math.inf


def after_next(capacity: float, running: Sequence[Job], newcomer: Job) -> dict[int, float]:
    """After how many seconds each is done, if the newcomer starts when the first of the others is."""
    alone = finishes(capacity, running)
    step = min(alone.values())
    if math.isinf(step):
        return alone | {newcomer.number: math.inf}
    shares = rates(capacity, running)
    left = [
        replace(job, bits=max(0.0, job.bits - shares[job.number] * step))
        for job in running
        if alone[job.number] > step
    ]
    done = {number: end for number, end in alone.items() if end <= step}
    then = finishes(capacity, [*left, newcomer])
    return done | {number: step + end for number, end in then.items()}


def better_apart(capacity: float, running: Sequence[Job], newcomer: Job) -> float:
    """By how many seconds the mean finish is earlier if the newcomer waits for the next one; 0 if not."""
    if not running:
        return 0.0
    now = finishes(capacity, [*running, newcomer])
    then = after_next(capacity, running, newcomer)
    if any(math.isinf(end) for end in (*now.values(), *then.values())):
        return 0.0
    sooner = math.fsum(now.values()) - math.fsum(then.values())
    return sooner / len(now) if sooner > GAIN * math.fsum(now.values()) else 0.0


# -- of the flows that there are ------------------------------------------------------------------------


def held_back(world: World, flow: Flow, need: Need, path: str, now: float) -> str:
    """Why a flow that qualifies for a path waits for another one to finish there; empty if it does not."""
    policy = world.configuration.policy.queue
    if policy.together != "in_turn" or now - arrived(flow) >= policy.overtaken_for:
        return ""
    key = PathKey(path, *world.flows.ends(flow))
    load = world.flows.loads(world.flows.ends(flow)).get(path)
    numbers = () if load is None else tuple(load.numbers)
    others = [other for number in numbers if (other := world.flows.get(number)) is not None]
    if not others or len(others) > MOST or _has_had_less(world, flow, others):
        return ""
    capacity = float(calendar.carries(world, key, now))
    running, newcomer = [job_of(world, other) for other in others], job_of(world, flow, need)
    gain = better_apart(capacity, running, newcomer)
    if gain <= 0:
        return ""
    end = now + after_next(capacity, running, newcomer)[newcomer.number]
    if flow.deadline is not None and end > flow.deadline:
        return ""
    soonest = finishes(capacity, running)
    first = min(soonest, key=lambda number: (soonest[number], number))
    mean = format_duration(gain)
    return f"{path}: it waits for f-{first} to finish: one after the other is {mean} sooner on average"


def job_of(world: World, flow: Flow, need: Need | None = None) -> Job:
    """A flow as a job: what is left of it, its streams and its ceiling."""
    need = world.flows.need(flow) if need is None else need
    ceiling = need.template.rspec.bandwidth_ceiling
    return Job(flow.number, flow.left * 8.0, need.streams, math.inf if ceiling is None else ceiling)


def _has_had_less(world: World, flow: Flow, others: Sequence[Flow]) -> bool:
    """Whether some of the others belong to a group that has been served more than this one's."""
    policy, shares = world.configuration.policy, world.line.shares
    own = group_of(flow, policy)
    groups = {group_of(other, policy) for other in others} - {own}
    return any(shares.tag(group) > shares.tag(own) for group in groups)
