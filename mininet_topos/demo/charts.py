"""The demo's pictures, from a record: figure 18 as measured, the plan and its execution, the alarm.

Times on the axes are seconds since the run began.  Every number shown is in the record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from mininet_topos.demo.plan import ON_DEMAND
from mininet_topos.demo.record import Plan, Record, Transfer
from mininet_topos.demo.scenario import L2, L3, SOYKB_1, SOYKB_2, STEERING_RTT

COLOURS = {L2: "#1b6ca8", L3: "#c8553d"}
FLOW_COLOURS = ("#2a9d8f", "#7b4b94", "#e9a23b", "#4f6d7a")
PATH_NAMES = {L2: "layer 2 (al2s)", L3: "layer 3 (internet)"}
NEVER = float("inf")
TOOL_COLOURS = {"throughput": "#d55e00", "latency": "#0072b2", "rtt": "#009e73"}
SHORTEST = 0.3
"""Seconds as which a shorter run is drawn: points tell whole seconds."""
FONT = {"family": "Helvetica, Arial, sans-serif", "size": 13}


def figure(record: Record) -> go.Figure:
    """Figure 18: what tests measured on each path above, what receivers counted of each flow below."""
    chart = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06, row_heights=[0.58, 0.42])
    for path in (L2, L3):
        points = [(at, value / 1e6) for at, value in _tested(record, path, "throughput")]
        chart.add_trace(
            go.Scatter(
                x=[at for at, _ in points],
                y=[value for _, value in points],
                name=PATH_NAMES[path],
                mode="lines+markers",
                # The dotted line leads the eye; between two tests nothing was measured.
                line={"color": COLOURS[path], "width": 1, "dash": "dot"},
                marker={"size": 9},
                hovertemplate="%{x:.0f} s: %{y:.2f} Mbit/s",
            ),
            row=1,
            col=1,
        )
    for request in (SOYKB_1, SOYKB_2):
        bound = (request.rate or 0) / record.scale / 1e6
        label = f"QSpec {bound:g} Mbit/s"
        chart.add_hline(y=bound, line={"dash": "dot", "color": "#888", "width": 1}, row=1, col=1)
        chart.add_annotation(
            x=0, xref="x domain", y=bound, yref="y", text=label, showarrow=False, xanchor="left",
            yanchor="bottom" if request is SOYKB_1 else "top", font={"size": 11, "color": "#666"},
        )  # fmt: skip
    for transfer, colour in zip(sorted(record.transfers, key=lambda t: t.began), FLOW_COLOURS, strict=False):
        chart.add_trace(_received(transfer, colour), row=2, col=1)
    _mark_moments(chart, record)
    _mark_decisions(chart, record)
    chart.update_yaxes(rangemode="tozero", gridcolor="#e6e6e6")
    chart.update_yaxes(title_text="tested on each path, Mbit/s", row=1, col=1)
    chart.update_yaxes(title_text="counted by receivers, Mbit/s", row=2, col=1)
    chart.update_xaxes(gridcolor="#f0f0f0", zeroline=False)
    chart.update_xaxes(title_text="seconds since the start", row=2, col=1)
    chart.update_layout(
        template="plotly_white",
        height=760,
        width=1200,
        margin={"l": 70, "r": 30, "t": 60, "b": 60},
        legend={"orientation": "h", "y": -0.09, "x": 0},
        font=FONT,
        hovermode="x unified",
    )
    return chart


def _tested(record: Record, path: str, metric: str) -> list[tuple[float, float]]:
    """What tests of a path, MU to OSU, found since the run began: when, and how much."""
    found = [
        (since(record, m["observed_at"]), m["value"])
        for m in record.measurements
        if (m["path"], m["source"], m["metric"]) == (path, "mu", metric)
    ]
    return sorted(point for point in found if point[0] >= 0)


def _received(transfer: Transfer, colour: str) -> go.Scatter:
    return go.Scatter(
        x=[transfer.began + second + 0.5 for second in range(len(transfer.series))],
        y=[count * 8 / 1e6 for count in transfer.series],
        name=f"{transfer.flow} on {transfer.path}",
        mode="lines",
        line={"color": colour, "width": 1.5},
        fill="tozeroy",
        opacity=0.8,
        hovertemplate="%{y:.1f} Mbit/s",
    )


def _mark_moments(chart: go.Figure, record: Record) -> None:
    """A line through both parts for every moment; labels of moments close together go one above another."""
    last, level = -NEVER, 0
    width = max((m.at for m in record.moments), default=1.0)
    for moment in sorted(record.moments, key=lambda m: m.at):
        level = level + 1 if moment.at - last < width / 28 else 0
        last = moment.at
        for row in (1, 2):
            line = {"color": "#555", "width": 1, "dash": "dash"}
            chart.add_vline(x=moment.at, line=line, opacity=0.5, row=row, col=1)
        chart.add_annotation(
            x=moment.at, xref="x", y=1, yref="y domain", yshift=4 + 15 * (level % 3),
            text=f"<b>{moment.step}</b>", showarrow=False, yanchor="bottom", font={"size": 12},
        )  # fmt: skip


def _mark_decisions(chart: go.Figure, record: Record) -> None:
    """What was decided, written along the line of its moment."""
    for decision in record.turns():
        name = record.names.get(decision["flow"], decision["flow"])
        where = "queued" if decision["path"] is None else PATH_NAMES.get(decision["path"], decision["path"])
        chart.add_annotation(
            x=since(record, decision["at"]), xref="x", y=0.97, yref="y domain", xshift=9, textangle=-90,
            text=f"{name}: {where}", showarrow=False, yanchor="top", font={"size": 11, "color": "#333"},
        )  # fmt: skip


def since(record: Record, text: str) -> float:
    """A time of the API, in seconds since the run began."""
    return _at(text) - record.began_at


def plan_figure(plan: Plan, began_at: float) -> go.Figure:
    """Who was to measure when (pale: the slot that the plan keeps free) and who did (dark)."""
    tasks = {task["task"]: task for task in plan.schedule["tasks"]}
    rows = sorted(tasks, key=lambda name: (tasks[name]["tool"] != "throughput", tasks[name]["tool"], name))
    chart = go.Figure()
    for tool in dict.fromkeys(tasks[name]["tool"] for name in rows):
        runs = [run for run in plan.executions if tasks[_planned(run)]["tool"] == tool]
        colour = TOOL_COLOURS.get(tool, "#555555")
        slots = [
            (_planned(run), _at(run["planned_start"]) - began_at, tasks[_planned(run)]["slot_seconds"])
            for run in runs
        ]
        done = [
            (_planned(run), _at(run["started"]) - began_at, _lasted(run)) for run in runs if run["started"]
        ]
        left = [run for run in runs if not run["started"]]
        chart.add_trace(_bars(f"{tool}: planned", slots, _pale(colour), 0.85))
        chart.add_trace(_bars(f"{tool}: executed", done, colour, 0.5))
        if left:
            chart.add_trace(_left_out(tool, left, began_at, colour))
    chart.update_yaxes(categoryorder="array", categoryarray=rows[::-1], gridcolor="#f0f0f0")
    chart.update_xaxes(title_text="seconds since the start", gridcolor="#e6e6e6", zeroline=False)
    chart.update_layout(
        template="plotly_white",
        barmode="overlay",
        height=170 + 34 * len(rows),
        width=1200,
        margin={"l": 70, "r": 30, "t": 40, "b": 60},
        legend={"orientation": "h", "y": -60 / (70 + 34 * len(rows)), "yanchor": "top", "x": 0},
        font=FONT,
    )
    return chart


def _planned(run: Mapping[str, Any]) -> str:
    """The planned test that a run is of; one on demand is shown on the row of its like."""
    return str(run["task"]).split(ON_DEMAND)[0]


def _lasted(run: Mapping[str, Any]) -> float:
    if run["ended"] is None:
        return SHORTEST
    return max(SHORTEST, _at(run["ended"]) - _at(run["started"]))


def _pale(colour: str) -> str:
    """A colour of six hexadecimal digits, a quarter of it on white."""
    parts = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{255 - (255 - part) // 4:02x}" for part in parts)


def _bars(name: str, spans: Iterable[tuple[str, float, float]], colour: str, width: float) -> go.Bar:
    found = list(spans)
    return go.Bar(
        y=[row for row, _, _ in found],
        base=[start for _, start, _ in found],
        x=[length for _, _, length in found],
        orientation="h",
        name=name,
        width=width,
        marker={"color": colour, "line": {"width": 0}},
        hovertemplate="%{y}: %{x:.0f} s from %{base:.0f} s on",
    )


def _left_out(tool: str, runs: list[Mapping[str, Any]], began_at: float, colour: str) -> go.Scatter:
    return go.Scatter(
        x=[_at(run["planned_start"]) - began_at + 0.5 for run in runs],
        y=[_planned(run) for run in runs],
        text=[run["outcome"] for run in runs],
        mode="markers",
        marker={"symbol": "x", "color": colour, "size": 9},
        name=f"{tool}: left out",
        hovertemplate="%{y}: %{text}",
    )


def alarm_figure(scene: Record) -> go.Figure:
    """Above: the round trip of each path as tested, and the bound.  Below: what the receiver counted."""
    chart = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.07, row_heights=[0.68, 0.32])
    for path in (L2, L3):
        points = _tested(scene, path, "rtt")
        chart.add_trace(
            go.Scatter(
                x=[at for at, _ in points],
                y=[value * 1e3 for _, value in points],
                name=PATH_NAMES[path],
                mode="lines+markers",
                line={"color": COLOURS[path], "width": 1, "dash": "dot"},
                marker={"size": 8},
                hovertemplate="%{x:.0f} s: %{y:.2f} ms",
            ),
            row=1,
            col=1,
        )
    bound = STEERING_RTT * 1e3
    chart.add_hline(y=bound, line={"dash": "dot", "color": "#888", "width": 1}, row=1, col=1)
    chart.add_annotation(
        x=0, xref="x domain", y=bound, yref="y", text=f"QSpec {bound:g} ms", showarrow=False,
        xanchor="left", yanchor="bottom", font={"size": 11, "color": "#666"},
    )  # fmt: skip
    for transfer, colour in zip(scene.transfers, FLOW_COLOURS, strict=False):
        chart.add_trace(_received(transfer, colour), row=2, col=1)
    _mark_moments(chart, scene)
    _mark_decisions(chart, scene)
    _mark_alarms(chart, scene)
    chart.update_yaxes(rangemode="tozero", gridcolor="#e6e6e6")
    chart.update_yaxes(title_text="round trip, ms", row=1, col=1)
    chart.update_yaxes(title_text="receiver, Mbit/s", row=2, col=1)
    chart.update_xaxes(gridcolor="#f0f0f0", zeroline=False)
    chart.update_xaxes(title_text="seconds since the start", row=2, col=1)
    chart.update_layout(
        template="plotly_white",
        height=560,
        width=1200,
        margin={"l": 70, "r": 30, "t": 60, "b": 60},
        legend={"orientation": "h", "y": -0.12, "x": 0},
        font=FONT,
        hovermode="x unified",
    )
    return chart


def _mark_alarms(chart: go.Figure, scene: Record) -> None:
    """The alarms for the worse: where each was raised."""
    for alarm in scene.alarms:
        if not alarm["bad"]:
            continue
        at = since(scene, alarm["raised_at"])
        chart.add_vline(x=at, line={"color": "#b3261e", "width": 2}, row=1, col=1)
        chart.add_annotation(
            x=at, xref="x", y=0.03, yref="y domain", xshift=-9, textangle=-90, yanchor="bottom",
            text=f"alarm: {alarm['series']['metric']} of {alarm['series']['path']}", showarrow=False,
            font={"size": 11, "color": "#b3261e"},
        )  # fmt: skip


def _at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
