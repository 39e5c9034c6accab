"""From a record to a page: the figures, decisions with their reasons, the plan, the alarm, rules.

Functions from a record to text; :func:`write` puts them into a folder.  Every number shown is in the record,
which is written beside the report.
"""

from __future__ import annotations

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from adon.units import format_duration, format_rate, format_ratio, format_size
from apps import html_pages
from mininet_topos.demo.charts import alarm_figure, figure, plan_figure, since
from mininet_topos.demo.record import Record
from mininet_topos.demo.scenario import STEERING, STEERING_PATIENCE, STEERING_RTT
from mininet_topos.networks.configuration import NOTICE


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
    filters: html_pages.Filters = {
        "rate": rate_text,
        "size": format_size,
        "seconds": seconds_text,
        "metric": value_text,
        "since": partial(since, record),
    }
    sequel = record.sequel
    values = {
        "record": record,
        "checks": record.every_check,
        "chart": _html(figure(record), plotly="inline"),
        "plan_chart": _plan(record),
        "alarm_chart": "" if sequel is None else _html(alarm_figure(sequel)),
        "sequel_plan_chart": "" if sequel is None else _plan(sequel),
        "sequel_flow": STEERING.name,
        "sequel_bound": format_duration(STEERING_RTT),
        "sequel_patience": STEERING_PATIENCE,
        "notice": format_duration(NOTICE),
        "image": image,
        "began": datetime.fromtimestamp(record.began_at).astimezone().isoformat(timespec="seconds"),
        "decisions": record.turns(),
    }
    return html_pages.rendered("mininet_topos.demo", "report.html", filters, values)


def _html(chart: go.Figure, plotly: str | bool = False) -> str:
    return str(chart.to_html(full_html=False, include_plotlyjs=plotly, default_width="100%"))


def _plan(record: Record) -> str:
    return "" if record.plan is None else _html(plan_figure(record.plan, record.began_at))


def write(record: Record, folder: Path) -> Path:
    """Write ``index.html``, ``figure18.png`` and ``record.json``; the report's path.

    The PNG needs a Chromium; where there is none the report says so and the rest is written all the same.
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
