"""On-demand tests: admitted into the slack of the plan so that no admitted run becomes late, or refused.

Two kinds of slack are used (Calyam et al. 2005 serve on-demand tests in both):

1. *Gaps*: the request starts where nothing conflicts with it and the agreement has room; nothing moves.
2. *Laxity*: if no gap is early enough, the periodic runs that start from now on are placed anew by EDF-CE
   together with the request; it is admitted only if each is over by its own deadline.  On-demand tests
   admitted before stay where they are.

The rounds after the last one touched are as before, since every job ends within its round.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter

from measurement.scheduling.agreement import spend_of
from measurement.scheduling.edf import Miss, Pending, Walk
from measurement.scheduling.graph import ConflictGraph
from measurement.scheduling.horizon import Horizon, Placed, Start
from measurement.scheduling.task import Footprint, Request
from measurement.scheduling.ticks import Ticks, at_most
from measurement.scheduling.values import Job

_NO_SLACK = "no slack: a run of the plan would be late, or it would"
_TRIES = 8
_EFFORT = 200_000
"""Runs placed anew in search of an earlier possible time: large plans get fewer tries."""
_FIRST = 0  # as a "period": an on-demand job goes before periodic ones of the same deadline


@dataclass(frozen=True, slots=True)
class Admitted:
    """The request is in the plan.

    :param start: when it runs.
    :param horizon: the plan with it.
    :param moved: how many periodic runs start at another time than before.
    """

    start: Start
    horizon: Horizon
    moved: int


@dataclass(frozen=True, slots=True)
class Refused:
    """It does not fit in time.

    :param earliest: the wall time at which it could start, if it might be over later; None: none is known.
    :param deadline: the one with which it would be admitted now, and start then.
    :param reason: one line.
    """

    earliest: float | None
    deadline: float | None
    reason: str


def admit(plan: Horizon, request: Request, not_before: float) -> Admitted | Refused:
    """Decide on an on-demand test.

    :param plan: what is planned so far.
    :param not_before: wall time from which on it may start, and runs not yet begun may be moved: now,
        plus the notice that measurement points need.
    :raises ValueError: if its id is a task's, or an admitted request's.
    """
    if request.id in plan.schedule.tasks or request.id in {each.request.id for each in plan.on_demand}:
        raise ValueError(f"request {request.id}: the plan has a test of this id")
    first = max(0, plan.tick(not_before))
    for where, rate in plan.schedule.agreement.count_limited(request.load).items():
        limit = plan.schedule.agreement.limits[where]
        if rate > limit:
            return Refused(
                None, None, f"it offers {rate} bit/s to {where}, where the agreement allows {limit}"
            )
    lasts = request.execution_time
    over = None if request.deadline is None else at_most(request.deadline - plan.epoch)
    gap = _gap(plan, request, first)
    if gap is not None and (over is None or gap + lasts <= over):
        return _admission(replace(plan, on_demand=(*plan.on_demand, Placed(request, gap))), 0)
    latest = _search_end(plan, first) + lasts if gap is None else gap + lasts - 1
    wanted = latest if over is None else min(over, latest)
    for bound in _bounds(plan, wanted, latest, lasts):
        moved = _move_request(plan, request, first, bound)
        if moved is not None:
            within = over is None or moved.horizon.on_demand[-1].finish <= over
            return moved if within else Refused(moved.start.at, plan.wall(bound), _NO_SLACK)
    if gap is None:
        return Refused(None, None, _NO_SLACK)
    return Refused(plan.wall(gap), plan.wall(gap + lasts), _NO_SLACK)


def _bounds(plan: Horizon, wanted: Ticks, latest: Ticks, lasts: Ticks) -> Iterator[Ticks]:
    """The instants to be over by that are tried: the one wanted, then later ones, ever further apart."""
    yield wanted
    tries = max(1, min(_TRIES, _EFFORT // max(1, len(plan.schedule.jobs))))
    later = (wanted + lasts * 4**number for number in range(tries))
    yield from (bound for bound in later if bound <= latest)


def _admission(plan: Horizon, moved: int) -> Admitted:
    placed = plan.on_demand[-1]
    return Admitted(Start(placed.request.id, 0, plan.wall(placed.start)), plan, moved)


# Gaps


def _search_end(plan: Horizon, first: Ticks) -> Ticks:
    """What found no gap before this instant never will: by then the plan repeats, without exceptions."""
    length = plan.schedule.hyperperiod
    exceptions = [each.finish for each in plan.on_demand] + [(number + 1) * length for number in plan.revised]
    return max([first, *exceptions]) + 2 * length


def _gap(plan: Horizon, request: Request, first: Ticks) -> Ticks | None:
    """The earliest start from ``first`` on at which nothing has to move."""
    last = _search_end(plan, first)
    span = request.execution_time
    # Mostly a gap is near: what is planned for a day is not looked through for it.
    while True:
        span = min(2 * span, last - first + request.execution_time)
        start = _gap_within(plan, request, first, first + span)
        if start + request.execution_time <= first + span:
            return start
        if first + span >= last + request.execution_time:
            return None


def _gap_within(plan: Horizon, request: Request, first: Ticks, end: Ticks) -> Ticks:
    """The earliest start, as far as what runs before ``end`` tells."""
    start = first
    for begin, finish in sorted(_forbidden(plan, request, first, end)):
        if begin >= start + request.execution_time:
            break
        start = max(start, finish)
    return start


def _forbidden(plan: Horizon, request: Request, first: Ticks, end: Ticks) -> Iterator[tuple[Ticks, Ticks]]:
    """The intervals that the request may not overlap, in no order."""
    tests = _tests(plan, request)
    neighbours = ConflictGraph.of(tests.values()).neighbours[request.id]
    agreement = plan.schedule.agreement
    loads = {name: agreement.count_limited(test.load) for name, test in tests.items()}
    running = [*plan.jobs(first, end), *map(_as_job, plan.on_demand)]
    yield from ((job.start, job.finish) for job in running if job.task in neighbours)
    for where, rate in loads[request.id].items():
        offered = ((j.start, j.finish, loads[j.task][where]) for j in running if where in loads[j.task])
        limit = agreement.limits[where]
        steps = spend_of(offered, limit, end).steps
        ends = [instant for instant, _ in steps[1:]] + [end]
        yield from (
            (begin, finish)
            for (begin, level), finish in zip(steps, ends, strict=True)
            if level + rate > limit
        )


def _tests(plan: Horizon, request: Request) -> dict[str, Footprint]:
    tests: dict[str, Footprint] = dict(plan.schedule.tasks)
    tests |= {each.request.id: each.request for each in plan.on_demand}
    return tests | {request.id: request}


def _as_job(placed: Placed) -> Job:
    """As a job without any slack: it can only be where it is."""
    return Job(placed.request.id, 0, placed.start, placed.start, placed.finish, placed.finish)


# Laxity


def _move_request(plan: Horizon, request: Request, first: Ticks, over: Ticks) -> Admitted | None:
    """The plan with the request over by an instant, its periodic runs placed anew; None if one is late."""
    if over < first + request.execution_time:
        return None
    tests = _tests(plan, request)
    walk = Walk(tests.values(), plan.schedule.agreement, ConflictGraph.of(tests.values()))
    numbers = range(plan.round_of(first), plan.round_of(over - 1) + 1)
    length = plan.schedule.hyperperiod
    window = [*plan.jobs(first, (numbers[-1] + 1) * length), *map(_as_job, plan.on_demand)]
    pending = [Pending(first, over, _FIRST, walk.index[request.id], 0, first)]
    for job in sorted(window, key=attrgetter("start")):
        index = walk.index[job.task]
        if job.start < first:
            walk.begin(index, job.start)
        else:
            task = plan.schedule.tasks.get(job.task)
            interval = _FIRST if task is None else task.interval
            time = max(first, job.release)
            pending.append(Pending(time, job.deadline, interval, index, job.number, job.release))
    placed = walk.place(pending)
    if isinstance(placed, Miss):
        return None
    return _revise_plan(plan, request, numbers, placed)


def _revise_plan(plan: Horizon, request: Request, numbers: Iterable[int], placed: Iterable[Job]) -> Admitted:
    def in_edf_order(job: Job) -> tuple[Ticks, Ticks, Ticks, str]:
        return job.start, job.deadline, plan.schedule.tasks[job.task].interval, job.task

    by_run = {(job.task, job.number): job for job in placed}
    own = by_run[request.id, 0]
    rounds: dict[int, tuple[Job, ...]] = {}
    moved = 0
    for number in numbers:
        begin = number * plan.schedule.hyperperiod
        before = plan.round(number)
        after = tuple(_shift_job(plan, job, begin, number, by_run) for job in before)
        moved += sum(new.start != old.start for new, old in zip(after, before, strict=True))
        rounds[number] = tuple(sorted(after, key=in_edf_order))
    revised = {**plan.revised, **rounds}
    on_demand = (*plan.on_demand, Placed(request, own.start))
    return _admission(replace(plan, revised=revised, on_demand=on_demand), moved)


def _shift_job(
    plan: Horizon, job: Job, begin: Ticks, number: int, by_run: Mapping[tuple[str, int], Job]
) -> Job:
    per_round = plan.schedule.hyperperiod // plan.schedule.tasks[job.task].interval
    new = by_run.get((job.task, number * per_round + job.number))
    if new is None:
        return job  # it began before anything could be moved
    return job._replace(start=new.start - begin, finish=new.finish - begin)
