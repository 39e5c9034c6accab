"""The plan of tests against what became of it: figures and rows.  Pure."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import plotly.graph_objects as go

from adon.api.measurements import ExecutionView, OverlapView, ScheduleView, TaskView
from apps.dashboard import ui
from apps.dashboard.network.series_figure import local
from apps.figures.looks import BAD, GOOD, SERIES
from apps.rest.runs import Fate, fate_of, planned, read_task

ROW = 40
"""Pixels of a row of a Gantt chart."""
LANES = 0.84
"""Of a row, for its tests."""
KINDS: Mapping[str, str] = {"throughput": "throughput", "rtt": "round trip", "latency": "one-way delay"}
LEAST_SHARE = 0.004
"""Share of a chart's time that the shortest bar has, so that it is visible."""
FATES: Mapping[Fate, tuple[str, str, str]] = {
    Fate.MEASURED: ("measured", GOOD, ""),
    Fate.FAILED: ("failed", BAD, "x"),
    Fate.LEFT_OUT: ("skipped", "#7d8896", "/"),
}
"""Word, colour and hatching of what became of a run."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A run of the last hour: plan against truth.

    :param slot: seconds that the plan keeps for it; None if the plan of now does not have it.
    :param late: seconds from its planned start to its start; None if it never began.
    :param lasted: seconds; None where begin or end is not known.
    """

    run: ExecutionView
    fate: Fate
    slot: float | None
    late: float | None
    lasted: float | None
    overlapped: bool


def row_of(task: str) -> str:
    """The row of a chart that a task is in: its path and direction."""
    read = read_task(task)
    return task if read is None else f"{read.key.path}, {read.key.source} → {read.key.destination}"


def _label(row: str) -> str:
    """A row's name beside a chart: in two lines, for on a phone it takes the chart's place."""
    return row.replace(", ", "<br>", 1)


def task_words(task: str) -> str:
    """``round trip on al2s, mu → osu``."""
    read = read_task(task)
    if read is None:
        return task
    return f"{KINDS.get(read.kind, read.kind)} on {row_of(task)}{', on demand' if read.demanded else ''}"


def kind_of(task: str) -> str:
    """What a task tests."""
    read = read_task(task)
    return "other" if read is None else read.kind


def executed(
    runs: Sequence[ExecutionView], tasks: Sequence[TaskView], overlaps: Sequence[OverlapView]
) -> list[Ran]:
    """Runs held against the plan."""
    slots = {task.task: task.slot_seconds for task in tasks}
    met = {_id(one) for pair in overlaps for one in (pair.first, pair.second)}
    return [
        Ran(
            run,
            fate_of(run.outcome),
            slots.get(planned(run.task)),
            _between(run.planned_start, run.started),
            _between(run.started, run.ended),
            _id(run) in met,
        )
        for run in runs
    ]


def _id(run: ExecutionView) -> tuple[str, float]:
    return run.task, run.planned_start


def _between(begin: float | None, end: float | None) -> float | None:
    return None if begin is None or end is None else end - begin


def summary(ran: Sequence[Ran], overlaps: int) -> str:
    """The last hour in words, conflicts last."""
    counts = Counter(one.fate for one in ran)
    told = ", ".join(f"{counts[fate]} {words[0]}" for fate, words in FATES.items())
    slips = [one.late for one in ran if one.late is not None]
    began = (
        f" Start error: median {ui.span(round(statistics.median(slips), 2) + 0.0)}, "
        f"maximum {ui.span(round(max(slips), 2) + 0.0)}."
        if slips
        else ""
    )
    met = (
        f" {ui.count(overlaps, 'pair')} of conflicting runs overlapped."
        if overlaps
        else " No conflicting runs overlapped."
    )
    return f"{told}.{began}{met}"


def upcoming_chart(plan: ScheduleView, zone: ZoneInfo) -> go.Figure:
    """The next runs: a row per path and direction, a bar as long as the plan keeps for a run."""
    slots = {task.task: task.slot_seconds for task in plan.tasks}
    starts = plan.upcoming
    rows = sorted({row_of(one.task) for one in starts}, reverse=True)
    whole = _span([one.start for one in starts]) or plan.round_seconds
    traces = []
    kinds = sorted({kind_of(one.task) for one in starts})
    lane = LANES / max(len(kinds), 1)
    for number, kind in enumerate(kinds):
        its = [one for one in starts if kind_of(one.task) == kind]
        lengths = [max(slots.get(one.task, 1.0), LEAST_SHARE * whole) for one in its]
        traces.append(
            go.Bar(
                y=[row_of(one.task) for one in its],
                base=[local(one.start, zone) for one in its],
                x=[1000.0 * length for length in lengths],
                orientation="h",
                # Tests of one direction may run at the same time: they stand beside each other.
                width=lane,
                offset=LANES / 2 - (number + 1) * lane,
                name=KINDS.get(kind, kind),
                marker={
                    "color": SERIES[number % len(SERIES)],
                    "pattern": {"shape": ("", "/", "x", ".")[number % 4]},
                },
                customdata=[
                    f"{task_words(one.task)}: {ui.span(slots.get(one.task))} reserved" for one in its
                ],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
    return _gantt(traces, rows)


def executed_chart(ran: Sequence[Ran], zone: ZoneInfo) -> go.Figure:
    """The last hour: what was planned as a pale bar, what happened upon it."""
    shown = [one for one in ran if one.run.started is not None or one.slot is not None]
    rows = sorted({row_of(one.run.task) for one in shown}, reverse=True)
    whole = _span([one.run.planned_start for one in shown]) or 60.0
    least = LEAST_SHARE * whole
    kept = [one for one in shown if one.slot is not None]
    traces = [
        go.Bar(
            y=[row_of(one.run.task) for one in kept],
            base=[local(one.run.planned_start, zone) for one in kept],
            x=[1000.0 * max(one.slot or 0.0, least) for one in kept],
            orientation="h",
            width=0.8,
            name="planned",
            marker={"color": "rgba(125,136,150,.28)"},
            hoverinfo="skip",
        )
    ]
    for fate, (word, colour, hatching) in FATES.items():
        its = [one for one in shown if one.fate is fate]
        if its:
            traces.append(
                go.Bar(
                    y=[row_of(one.run.task) for one in its],
                    base=[local(one.run.started or one.run.planned_start, zone) for one in its],
                    x=[1000.0 * max(one.lasted or 0.0, least) for one in its],
                    orientation="h",
                    width=0.4,
                    name=word,
                    marker={"color": colour, "pattern": {"shape": hatching}},
                    customdata=[f"{task_words(one.run.task)}: {one.run.outcome}" for one in its],
                    hovertemplate="%{customdata}<extra></extra>",
                )
            )
    return _gantt(traces, rows)


def _gantt(traces: Sequence[go.Bar], rows: Sequence[str]) -> go.Figure:
    figure = ui.figure(traces)
    figure.update_layout(
        barmode="overlay", hovermode="closest", showlegend=True, height=110 + ROW * len(rows)
    )
    figure.update_layout(margin={"t": 44}, legend={"y": 1.0, "yanchor": "bottom"})
    figure.update_xaxes(type="date", nticks=4, tickangle=0)
    figure.update_yaxes(categoryorder="array", categoryarray=list(rows), automargin=True)
    figure.update_yaxes(tickmode="array", tickvals=list(rows), ticktext=[_label(row) for row in rows])
    return figure


def _span(times: Sequence[float]) -> float:
    return max(times) - min(times) if times else 0.0
