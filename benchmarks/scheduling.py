"""Conflict-free scheduling: how fast, how it grows, whether it is ever wrong, and what it gains.

1. *A day*: 200 tasks on 40 measurement points over 24 h, beside a yardstick: the same number of heap
   operations and nothing else.
2. *Growth*: islands of ten tasks that conflict with one another, the number of islands and the length of
   the round varied; time per job and log2(jobs), at a conflict degree that stays.
3. *Zero overlap*: random sets drawn by Hypothesis, each schedule checked by definition
   (tests.measurement.scheduling.sets.wrong, which shares no code with the scheduler).
4. *Schedulable utilisation* against the number of servers: random sets of load-generating tasks between
   random servers; all durations are scaled until a set just fits (bisection), under EDF-CE, WNP-EDF and, for
   sets of at most 12, the exact solver.
5. *Admission* of on-demand tests into the day of 1.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from heapq import heapify, heappop
from importlib.metadata import version
from math import log2
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from benchmarks.summary import Summary, quantile, table
from measurement.scheduling import (
    Admitted,
    Agreement,
    ConflictGraph,
    Horizon,
    NoSchedule,
    Request,
    Schedule,
    Task,
    admit,
    schedule,
    schedule_as_one_processor,
)
from measurement.scheduling.exact import exact
from measurement.scheduling.values import Proof
from tests.measurement.scheduling.sets import agreements, tasks, wrong

ROUNDS = 5
RANDOM_SETS = 10_000
SERVERS = (2, 3, 4, 6, 8, 10, 12)
SETS_PER_POINT = 12
BOUND_S = 5.0
_MINUTES = (10, 15, 20, 30, 60)  # periods of the random sets; they repeat after an hour


def run(folder: Path, seed: int) -> dict[str, Any]:  # noqa: ARG001 - all benchmarks are called alike
    """The whole benchmark; times in seconds."""
    return {
        "versions": {name: version(name) for name in ("ortools", "hypothesis")},
        "day": _day(seed),
        "growth": _growth(seed),
        "overlap": _overlap(seed),
        "utilisation": _utilisation(seed),
        "admission": _admission(seed),
    }


def passed(results: Mapping[str, Any]) -> bool:
    """Whether the bounds hold: a day in less than 5 s, and nothing wrong in any random set."""
    return results["day"]["schedule"]["largest"] < BOUND_S and results["overlap"]["wrong"] == 0


# 1. A day


def day_tasks(seed: int) -> list[Task]:
    """200 tasks between 40 points: half load (every 5 minutes to a day), half do not (every 1 to 10)."""
    chance = random.Random(seed)
    points = [f"mp{number:02}" for number in range(40)]
    return [_day_task(number, chance, points) for number in range(200)]


def _day_task(number: int, chance: random.Random, points: Sequence[str]) -> Task:
    source, destination = chance.sample(points, 2)
    loads = number % 2 == 0
    minutes = chance.choice((5, 10, 15, 30, 60, 120, 720, 1440) if loads else (1, 2, 5, 10))
    return Task(
        id=f"t{number:03}",
        source=source,
        destination=destination,
        tool="iperf3" if loads else "owping",
        period=60.0 * minutes,
        duration=round(chance.uniform(8, 12) if loads else chance.uniform(3, 8), 3),
        deadline=None,
        points=frozenset({source, destination}),
        links=frozenset({f"access-{source}", f"access-{destination}"}),
        loads=loads,
        load={"backbone": 1e9} if loads else {},
    )


DAY_AGREEMENT = Agreement({"backbone": 10e9})


def _day(seed: int) -> dict[str, Any]:
    known = day_tasks(seed)
    found = _planned(schedule(known, DAY_AGREEMENT))
    times, yardstick = [], []
    for _ in range(ROUNDS):
        times.append(_timed(lambda: schedule(known, DAY_AGREEMENT))[0])
        yardstick.append(_timed(lambda: _heap_only(found))[0])
    return {
        "jobs": len(found.jobs),
        "tasks": len(known),
        "degree": ConflictGraph.of(known).degree,
        "utilisation": found.utilisation,
        "spend": found.spend()["backbone"].peak / found.spend()["backbone"].allowed,
        "schedule": asdict(Summary.of([times])),
        "yardstick": asdict(Summary.of([yardstick])),
    }


def _heap_only(found: Schedule) -> None:
    """The yardstick: each job through a heap once, and nothing decided."""
    heap = [(job.release, job.deadline, job.task, job.number) for job in found.jobs]
    heapify(heap)
    while heap:
        heappop(heap)


def _planned(found: Schedule | NoSchedule) -> Schedule:
    assert isinstance(found, Schedule), found.text
    return found


def _timed(work: Callable[[], object]) -> tuple[float, object]:
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


# 2. Growth


def _island(number: int, chance: random.Random) -> list[Task]:
    points = frozenset({f"i{number}"})
    return [
        Task(
            f"i{number:03}t{each}",
            f"i{number}",
            f"i{number}",
            "iperf3",
            60.0 * chance.choice((5, 10, 15, 20, 30)),
            10.0,
            None,
            points,
            frozenset(),
            True,
        )
        for each in range(10)
    ]


def _growth(seed: int) -> list[dict[str, Any]]:
    """By more islands in a round of two hours, then by longer rounds of 16 islands."""
    chance = random.Random(seed)
    islands = [_island(number, chance) for number in range(128)]
    sizes = [("islands", count, 2) for count in (4, 8, 16, 32, 64, 128)]
    sizes += [("round", 16, hours) for hours in (2, 6, 12, 24)]
    rows = []
    for by, count, hours in sizes:
        # A task with a long period and no conflicts makes the round longer and changes nothing else.
        known = [_alone(hours), *(task for island in islands[:count] for task in island)]
        rows.append({"by": by, "tasks": len(known), "hours": hours, **_one_size(known)})
    return rows


def _alone(hours: int) -> Task:
    return Task("alone", "x", "x", "ping", 3600.0 * hours, 1.0, None, frozenset("x"), frozenset(), False)


def _one_size(known: list[Task]) -> dict[str, float]:
    times = [_timed(lambda: schedule(known, explain=False)) for _ in range(ROUNDS)]
    jobs = len(_planned(times[0][1]).jobs)  # type: ignore[arg-type]
    seconds = statistics.median(took for took, _ in times)
    return {
        "jobs": jobs,
        "degree": ConflictGraph.of(known).degree,
        "seconds": seconds,
        "spread": max(took for took, _ in times) - min(took for took, _ in times),
        "ns_per_job_log_job": 1e9 * seconds / (jobs * log2(jobs)),
    }


# 3. Zero overlap


def _overlap(seed_number: int) -> dict[str, int]:
    """Every set that Hypothesis draws; its examples are counted, not only those that pass."""
    count = {"sets": 0, "scheduled": 0, "jobs": 0, "wrong": 0}

    @seed(seed_number)
    @settings(
        max_examples=RANDOM_SETS,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.tuples(tasks(), agreements))
    def each(drawn: tuple[list[Task], Agreement]) -> None:
        found = schedule(*drawn, explain=False)
        count["sets"] += 1
        if isinstance(found, Schedule):
            count["scheduled"] += 1
            count["jobs"] += len(found.jobs)
            count["wrong"] += any(True for _ in wrong(found))

    each()
    return count


# 4. Schedulable utilisation


def server_tasks(chance: random.Random, servers: int, count: int) -> list[Task]:
    """Load-generating tasks between random servers; together they have utilisation 1."""
    shares = [chance.expovariate(1.0) for _ in range(count)]
    found = []
    for number, share in enumerate(shares):
        ends = chance.sample([f"s{server}" for server in range(servers)], 2)
        period = 60.0 * chance.choice(_MINUTES)
        duration = period * share / sum(shares)
        found.append(
            Task(f"t{number:02}", *ends, "iperf3", period, duration, None, frozenset(ends), frozenset(), True)
        )
    return found


def scaled(known: Sequence[Task], factor: float) -> list[Task] | None:
    """All durations times a factor; None if one exceeds its period."""
    if any(each.duration * factor > each.period for each in known):
        return None
    return [replace(each, duration=each.duration * factor) for each in known]


def breakdown(known: Sequence[Task], fits: Callable[[list[Task]], bool]) -> float:
    """The largest utilisation at which the set fits, to a hundredth; the sets have utilisation 1 unscaled."""
    low, high = 0.0, float(len(known))
    while high - low > 0.01:
        middle = (low + high) / 2
        candidate = scaled(known, middle)
        if candidate is not None and fits(candidate):
            low = middle
        else:
            high = middle
    return low


def _edf_ce(known: list[Task]) -> bool:
    return isinstance(schedule(known, explain=False), Schedule)


def _wnp_edf(known: list[Task]) -> bool:
    return isinstance(schedule_as_one_processor(known), Schedule)


class _Exact:
    """Whether any schedule exists; what it cannot decide counts as EDF-CE decides it."""

    def __init__(self) -> None:
        self.undecided = 0

    def __call__(self, known: list[Task]) -> bool:
        answer, by_edf = exact(known, effort=0.5), _edf_ce(known)
        assert not (by_edf and isinstance(answer, Proof)), "the exact solver denies what EDF-CE found"
        self.undecided += answer is None
        return by_edf if answer is None else isinstance(answer, Schedule)


def _utilisation(seed: int) -> dict[str, Any]:
    chance, by_exact = random.Random(seed), _Exact()
    both: dict[str, Callable[[list[Task]], bool]] = {"EDF-CE": _edf_ce, "WNP-EDF": _wnp_edf}
    points, below = [], 0
    for count, algorithms in ((12, {**both, "exact": by_exact}), (60, both)):
        for servers in SERVERS:
            sets = [server_tasks(chance, servers, count) for _ in range(SETS_PER_POINT)]
            values = {name: [breakdown(each, fits) for each in sets] for name, fits in algorithms.items()}
            below += sum(a < b for a, b in zip(values["EDF-CE"], values["WNP-EDF"], strict=True))
            quartiles = {name: _quartiles(found) for name, found in values.items()}
            points.append({"tasks": count, "servers": servers, **quartiles})
    return {
        "points": points,
        "sets": SETS_PER_POINT,
        "exact_undecided": by_exact.undecided,
        "edf_ce_below_wnp_edf": below,
    }


def _quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    ordered = sorted(values)
    return quantile(ordered, 0.25), quantile(ordered, 0.5), quantile(ordered, 0.75)


# 5. Admission


def _admission(seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    horizon = Horizon(_planned(schedule(day_tasks(seed), DAY_AGREEMENT)), 0.0)
    points = sorted({point for task in horizon.schedule.tasks.values() for point in task.points})
    times: list[float] = []
    admitted = moved = 0
    for number in range(50):
        now = chance.uniform(0, 80_000)
        ends = frozenset(chance.sample(points, 2))
        wish = Request(
            f"r{number}", "", "", "iperf3", 20.0, now + 60.0, ends, frozenset(), True, load={"backbone": 1e9}
        )
        took, answer = _timed(lambda wish=wish, now=now: admit(horizon, wish, now))  # type: ignore[misc]
        times.append(took)
        if isinstance(answer, Admitted):
            admitted += 1
            moved += answer.moved > 0
    return {"requests": 50, "admitted": admitted, "by_moving": moved, "seconds": asdict(Summary.of([times]))}


def report(results: Mapping[str, Any]) -> str:
    """The figures for people."""
    day, overlap, admission = results["day"], results["overlap"], results["admission"]
    took, heap = day["schedule"], day["yardstick"]
    told_day = (
        f"{day['tasks']} tasks over 24 h: {day['jobs']} jobs, conflict degree {day['degree']}, utilisation "
        f"{day['utilisation']:.2f}, {day['spend']:.0%} of the agreement spent at the peak: median "
        f"{took['median']:.2f} s, largest {took['largest']:.2f} s of {took['count']} "
        f"(bound {BOUND_S:g} s); the jobs through a heap and nothing else: {heap['median']:.2f} s"
    )
    told_overlap = (
        f"{overlap['sets']} random sets, {overlap['scheduled']} scheduled, with {overlap['jobs']} jobs: "
        f"{overlap['wrong']} with an overlap, an excess or a late job"
    )
    answered = admission["seconds"]
    told_admission = (
        f"{admission['requests']} on-demand tests of 20 s to be over within 60 s, in the plan of 200 tasks: "
        f"{admission['admitted']} admitted, {admission['by_moving']} of them by moving runs; "
        f"median {answered['median'] * 1e3:.0f} ms, largest {answered['largest'] * 1e3:.0f} ms"
    )
    tables = _growth_table(results["growth"]), _utilisation_table(results["utilisation"])
    return "\n\n".join([told_day, tables[0], told_overlap, tables[1], told_admission])


def _growth_table(rows: Sequence[Mapping[str, Any]]) -> str:
    told = [["grown by", "tasks", "round", "degree", "jobs", "median ms", "spread ms", "ns / (n log2 n)"]]
    for row in rows:
        figures = [
            f"{1e3 * row['seconds']:.1f}",
            f"{1e3 * row['spread']:.1f}",
            f"{row['ns_per_job_log_job']:.0f}",
        ]
        sizes = [str(row["tasks"]), f"{row['hours']:g} h", str(row["degree"]), str(row["jobs"])]
        told.append([row["by"], *sizes, *figures])
    return table(told)


def _utilisation_table(results: Mapping[str, Any]) -> str:
    told = [["tasks", "servers", "WNP-EDF", "EDF-CE", "exact", "EDF-CE / WNP-EDF"]]
    for point in results["points"]:
        cells = [_cell(point.get(name)) for name in ("WNP-EDF", "EDF-CE", "exact")]
        gain = point["EDF-CE"][1] / point["WNP-EDF"][1]
        told.append([str(point["tasks"]), str(point["servers"]), *cells, f"{gain:.2f}"])
    note = (
        f"Schedulable utilisation, median (quartiles) of {results['sets']} sets each; exact undecided in "
        f"{results['exact_undecided']} cases; WNP-EDF better than EDF-CE in {results['edf_ce_below_wnp_edf']}"
    )
    return f"{table(told)}\n\n{note}"


def _cell(quartiles: Sequence[float] | None) -> str:
    return "-" if quartiles is None else f"{quartiles[1]:.2f} ({quartiles[0]:.2f}-{quartiles[2]:.2f})"


_LINES = (("exact", "#009e73", "dot"), ("EDF-CE", "#0072b2", "solid"), ("WNP-EDF", "#d55e00", "dash"))


def growth_chart(results: Mapping[str, Any], file: Path) -> None:
    """Time against the number of jobs, beside n log n through the first point, as a picture."""
    from plotly.graph_objects import Figure  # heavy, and needed for the pictures only

    figure = Figure()
    for by, colour in (("islands", "#0072b2"), ("round", "#009e73")):
        rows = [row for row in results["growth"] if row["by"] == by]
        jobs = [row["jobs"] for row in rows]
        unit = rows[0]["seconds"] / (jobs[0] * log2(jobs[0]))
        figure.add_scatter(
            x=jobs,
            y=[row["seconds"] for row in rows],
            mode="markers",
            name=f"more {by}" if by == "islands" else "longer rounds",
            marker={"color": colour, "size": 9},
        )
        figure.add_scatter(
            x=jobs, y=[unit * n * log2(n) for n in jobs], mode="lines", name="n log n", line={"color": colour}
        )
    figure.update_xaxes(title="jobs n", type="log")
    figure.update_yaxes(title="seconds", type="log")
    figure.update_layout(template="simple_white", width=700, height=420, margin={"t": 30, "b": 50})
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.write_image(file)


def utilisation_chart(results: Mapping[str, Any], file: Path) -> None:
    """Schedulable utilisation against the number of servers, as a picture (PNG or SVG by the file's name)."""
    from plotly.subplots import make_subplots  # heavy, and needed for the pictures only

    points = results["utilisation"]["points"]
    counts = sorted({point["tasks"] for point in points})
    titles = [f"{count} tasks" for count in counts]
    figure = make_subplots(cols=len(counts), shared_yaxes=True, subplot_titles=titles)
    for column, count in enumerate(counts, 1):
        for name, colour, dash in _LINES:
            known = [point for point in points if point["tasks"] == count and name in point]
            figure.add_scatter(
                x=[point["servers"] for point in known],
                y=[point[name][1] for point in known],
                error_y={
                    "array": [point[name][2] - point[name][1] for point in known],
                    "arrayminus": [point[name][1] - point[name][0] for point in known],
                },
                name=name,
                line={"color": colour, "dash": dash},
                showlegend=column == 1,
                col=column,
                row=1,
            )
    figure.update_xaxes(title="measurement servers", rangemode="tozero")
    figure.update_yaxes(title="schedulable utilisation Σe/p", rangemode="tozero", col=1)
    figure.update_layout(template="simple_white", width=900, height=420, margin={"t": 40, "b": 50})
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.write_image(file)
