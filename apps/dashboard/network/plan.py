"""The plan of tests against what became of it: figures and rows.  Pure."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import plotly.graph_objects as go

from adon.api.measurements import ExecutionView, OverlapView, ScheduleView, TaskView
from apps.dashboard import ui
from apps.dashboard.network.series_figure import local
from apps.figures.looks import BAD, GOOD, SERIES
from apps.rest.runs import Fate, fate_of, planned, read_task

ROW = 40
"""Pixels of a row of a Gantt chart."""
HATCHINGS = ("", "/", "x", ".")
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


class Bar(NamedTuple):
    """Bar of a Gantt chart; its text is shown on hovering."""

    task: str
    start: float
    seconds: float
    text: str


def row_of(task: str) -> str:
    """The row of a chart that a task is in: its path and direction."""
    read = read_task(task)
    return task if read is None else f"{read.key.path}, {read.key.source} → {read.key.destination}"


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


def summarise(ran: Sequence[Ran], overlaps: int) -> str:
    """Return the last hour in words."""
    counts = Counter(one.fate for one in ran)
    parts = [", ".join(f"{counts[fate]} {words[0]}" for fate, words in FATES.items())]
    late = [one.late for one in ran if one.late is not None]
    if late:
        median, most = (ui.span(round(value, 2) + 0.0) for value in (statistics.median(late), max(late)))
        parts.append(f"Start error: median {median}, maximum {most}")
    pairs = ui.count(overlaps, "pair") + " of conflicting runs" if overlaps else "No conflicting runs"
    return ". ".join([*parts, f"{pairs} overlapped."])


def upcoming_chart(plan: ScheduleView, zone: ZoneInfo) -> go.Figure:
    """Return the next runs: a row per path and direction, a bar as long as the plan reserves for a run."""
    slots = {task.task: task.slot_seconds for task in plan.tasks}
    least = LEAST_SHARE * (_span([one.start for one in plan.upcoming]) or plan.round_seconds)
    kinds = sorted({kind_of(one.task) for one in plan.upcoming})
    lane = LANES / max(len(kinds), 1)
    traces = []
    for number, kind in enumerate(kinds):
        bars = [
            Bar(
                one.task,
                one.start,
                slots.get(one.task, 1.0),
                f"{task_words(one.task)}: {ui.span(slots.get(one.task))} reserved",
            )
            for one in plan.upcoming
            if kind_of(one.task) == kind
        ]
        marker = {
            "color": SERIES[number % len(SERIES)],
            "pattern": {"shape": HATCHINGS[number % len(HATCHINGS)]},
        }
        trace = _trace(bars, KINDS.get(kind, kind), marker, lane, least, zone)
        # Tests of one direction can run at the same time: they stand beside each other.
        traces.append(trace.update(offset=LANES / 2 - (number + 1) * lane))
    return _gantt(traces, [one.task for one in plan.upcoming])


def executed_chart(ran: Sequence[Ran], zone: ZoneInfo) -> go.Figure:
    """Return the last hour: the plan as pale bars, the runs as bars on them."""
    shown = [one for one in ran if one.run.started is not None or one.slot is not None]
    least = LEAST_SHARE * (_span([one.run.planned_start for one in shown]) or 60.0)
    planned_bars = [
        Bar(one.run.task, one.run.planned_start, one.slot, task_words(one.run.task))
        for one in shown
        if one.slot is not None
    ]
    traces = [_trace(planned_bars, "planned", {"color": "rgba(125,136,150,.28)"}, 0.8, least, zone)]
    for fate, (word, colour, hatching) in FATES.items():
        bars = [
            Bar(
                one.run.task,
                one.run.started or one.run.planned_start,
                one.lasted or 0.0,
                f"{task_words(one.run.task)}: {one.run.outcome}",
            )
            for one in shown
            if one.fate is fate
        ]
        if bars:
            marker = {"color": colour, "pattern": {"shape": hatching}}
            traces.append(_trace(bars, word, marker, 0.4, least, zone))
    return _gantt(traces, [one.run.task for one in shown])


def _trace(
    bars: Sequence[Bar], name: str, marker: Mapping[str, Any], width: float, least: float, zone: ZoneInfo
) -> go.Bar:
    return go.Bar(
        y=[row_of(one.task) for one in bars],
        base=[local(one.start, zone) for one in bars],
        x=[1000.0 * max(one.seconds, least) for one in bars],
        orientation="h",
        width=width,
        name=name,
        marker=marker,
        customdata=[one.text for one in bars],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _gantt(traces: Sequence[go.Bar], tasks: Iterable[str]) -> go.Figure:
    rows = sorted({row_of(task) for task in tasks}, reverse=True)
    figure = ui.figure(traces)
    figure.update_layout(
        barmode="overlay", hovermode="closest", showlegend=True, height=110 + ROW * len(rows)
    )
    figure.update_layout(margin={"t": 44}, legend={"y": 1.0, "yanchor": "bottom"})
    figure.update_xaxes(type="date", nticks=4, tickangle=0)
    # A name has two lines, because on a phone one line takes the place of the chart.
    labels = [row.replace(", ", "<br>", 1) for row in rows]
    figure.update_yaxes(categoryorder="array", categoryarray=rows, automargin=True)
    figure.update_yaxes(tickmode="array", tickvals=rows, ticktext=labels)
    return figure


def _span(times: Sequence[float]) -> float:
    return max(times) - min(times) if times else 0.0
