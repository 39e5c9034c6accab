"""Random task sets, and a checker that knows only what a schedule must be: it shares no code with EDF-CE."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from hypothesis import strategies as st

from measurement.scheduling import Agreement, Schedule, Task

POINTS = ("a", "b", "c", "d", "e")
LINKS = ("p", "q", "r")
PERIODS = (6.0, 8.0, 12.0, 16.0, 24.0, 48.0)


def task(
    name: str,
    period: float = 60.0,
    duration: float = 10.0,
    *,
    deadline: float | None = None,
    points: str = "ab",
    links: str = "",
    loads: bool = True,
    exclusive: bool = False,
    load: dict[str, float] | None = None,
) -> Task:
    """A task with names of one letter."""
    return Task(
        name,
        points[:1],
        points[-1:],
        "iperf3" if loads else "ping",
        period,
        duration,
        deadline,
        frozenset(points),
        frozenset(links),
        loads,
        exclusive,
        load or {},
    )


@st.composite
def tasks(draw: st.DrawFn, most: int = 8) -> list[Task]:
    """Up to ``most`` tasks on a few points and links; some sets fit, some do not."""
    found = []
    for number in range(draw(st.integers(1, most))):
        period = draw(st.sampled_from(PERIODS))
        duration = draw(st.integers(1, int(period * 1000 // 3))) / 1000
        deadline = draw(st.none() | st.integers(int(duration * 1000) + 1, int(period * 1000)))
        loads = draw(st.booleans())
        rate = draw(st.integers(1, 100)) * 0.1
        found.append(
            task(
                f"t{number}",
                period,
                duration,
                deadline=None if deadline is None else deadline / 1000,
                points="".join(draw(st.sets(st.sampled_from(POINTS), min_size=1, max_size=2))),
                links="".join(draw(st.sets(st.sampled_from(LINKS), max_size=2))),
                loads=loads,
                exclusive=draw(st.booleans()) and draw(st.booleans()),
                load={"p": rate, "domain": rate} if loads else {},
            )
        )
    return found


agreements = st.builds(
    lambda p, domain: Agreement({"p": p, "domain": domain}), st.floats(5.0, 40.0), st.floats(10.0, 60.0)
)


def wrong(schedule: Schedule) -> Iterator[str]:
    """Everything that is wrong with a schedule, by the definitions alone."""
    known = schedule.tasks
    for name, each in known.items():
        runs = sorted(job for job in schedule.jobs if job.task == name)
        if [job.number for job in runs] != list(range(round(schedule.hyperperiod / 1000 / each.period))):
            yield f"{name}: runs are missing, or there are too many"
        for job in runs:
            if job.release != round(job.number * each.period * 1000):
                yield f"{job}: released at another time"
            due = each.period if each.deadline is None else each.deadline
            if not job.release <= job.start < job.finish <= job.deadline <= schedule.hyperperiod:
                yield f"{job}: outside its window"
            if job.deadline > job.release + round(due * 1000) or job.finish - job.start < round(
                each.duration * 1000
            ):
                yield f"{job}: another deadline, or shorter than its task"
    for one, other in combinations(schedule.jobs, 2):
        a, b = known[one.task], known[other.task]
        disturbs = a.loads or b.loads or a.exclusive or b.exclusive
        meet = bool(a.points & b.points) or bool(a.links & b.links)
        if disturbs and meet and one.start < other.finish and other.start < one.finish:
            yield f"{one} and {other} overlap"
    for where, allowed in schedule.agreement.allowed.items():
        for instant in {job.start for job in schedule.jobs}:
            now = [
                known[job.task].load.get(where, 0.0)
                for job in schedule.jobs
                if job.start <= instant < job.finish
            ]
            if sum(now) > allowed + 1e-6:
                yield f"{where}: {sum(now)} of {allowed} at {instant}"
