"""From a record to a page: figure 18 as measured, decisions with their reasons, rules, and how it was run.

Functions from a record to text; :func:`write` puts them into a folder.  Times on the axes are seconds since
the run began.  Every number shown is in the record, which is written beside the page.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import jinja2
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from adon.units import format_duration, format_rate, format_ratio, format_size
from mininet_topos.demo.record import Record, Transfer
from mininet_topos.demo.scenario import L2, L3, SOYKB_1, SOYKB_2

COLOURS = {L2: "#1b6ca8", L3: "#c8553d"}
FLOW_COLOURS = ("#2a9d8f", "#7b4b94", "#e9a23b", "#4f6d7a")
PATH_NAMES = {L2: "layer 2 (al2s)", L3: "layer 3 (internet)"}
NEVER = float("inf")


def figure(record: Record) -> go.Figure:
    """Figure 18: what tests measured on each path above, what receivers counted of each flow below."""
    chart = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06, row_heights=[0.58, 0.42])
    for path in (L2, L3):
        points = _throughput(record, path)
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
        font={"family": "Helvetica, Arial, sans-serif", "size": 13},
        hovermode="x unified",
    )
    return chart


def _throughput(record: Record, path: str) -> list[tuple[float, float]]:
    found = [
        (_since(record, m["observed_at"]), m["value"] / 1e6)
        for m in record.measurements
        if m["path"] == path and m["source"] == "mu" and m["metric"] == "throughput"
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
            x=_since(record, decision["at"]), xref="x", y=0.97, yref="y domain", xshift=9, textangle=-90,
            text=f"{name}: {where}", showarrow=False, yanchor="top", font={"size": 11, "color": "#333"},
        )  # fmt: skip


def _since(record: Record, text: str) -> float:
    return datetime.fromisoformat(text).timestamp() - record.began_at


def value_text(metric: dict[str, Any]) -> str:
    """A metric's value as people read it, or why there is none."""
    if metric["value"] is None:
        return str(metric["unknown"])
    kind = metric["metric"]
    if kind == "throughput":
        return format_rate(metric["value"])
    return format_ratio(metric["value"]) if kind == "loss" else format_duration(metric["value"])


def seconds_text(value: float | str) -> str:
    """A time of the cost model; ``∞`` where it is impossible."""
    return "∞" if value == "inf" else format_duration(float(value))


def rate_text(value: float | str) -> str:
    """A rate of the cost model; ``∞`` where nothing limits it."""
    return "∞" if value == "inf" else format_rate(float(value))


def page(record: Record, image: str) -> str:
    """The report as one HTML page that needs no other file but the record's own figure."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("mininet_topos.demo", "."), autoescape=True, trim_blocks=True
    )
    environment.filters |= {
        "rate": rate_text,
        "size": format_size,
        "seconds": seconds_text,
        "metric": value_text,
    }
    chart = figure(record).to_html(full_html=False, include_plotlyjs="inline", default_width="100%")
    return environment.get_template("report.html").render(
        record=record,
        chart=chart,
        image=image,
        began=datetime.fromtimestamp(record.began_at).astimezone().isoformat(timespec="seconds"),
        decisions=record.turns(),
        totals=totals(record),
    )


def totals(record: Record) -> list[tuple[str, dict[str, float], float]]:
    """Per way of choosing: each flow's transfer time, and their sum, in seconds."""
    ways = {"ADON": record.transfers, **record.baselines}
    return [
        (way, {t.flow: t.seconds for t in transfers}, sum(t.seconds for t in transfers))
        for way, transfers in ways.items()
    ]


def write(record: Record, folder: Path) -> Path:
    """Write ``index.html``, ``figure18.png`` and ``record.json``; the page's path.

    The PNG needs a Chromium; where there is none the page says so and the rest is written all the same.
    """
    folder.mkdir(parents=True, exist_ok=True)
    record.save(folder / "record.json")
    image = _image(record, folder / "figure18.png")
    whole = folder / "index.html"
    whole.write_text(page(record, image), encoding="utf-8")
    return whole


def _image(record: Record, path: Path) -> str:
    try:
        figure(record).write_image(path, scale=2)
    except (RuntimeError, OSError, ValueError) as error:
        return f"no PNG: {error}"
    return path.name
