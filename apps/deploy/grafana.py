"""A Grafana dashboard over ADON's metrics (Prometheus) and its archive of measurements (PostgreSQL).

Built here from rows of panels, because the JSON that Grafana wants says every place and colour of each.  The
archive's panels read roll-ups by SQL; with an archive in SQLite they stay empty, and ADON's own pages show
the same series.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

SCHEMA = 39
"""Grafana 10.4's version of the dashboard's form; later ones read it."""
COLUMNS = 24
HEIGHTS = {"stat": 4, "timeseries": 8}
PROMETHEUS = {"type": "prometheus", "uid": "${prometheus}"}
ARCHIVE = {"type": "grafana-postgresql-datasource", "uid": "${archive}"}

Kind = Literal["stat", "timeseries"]


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture.

    :param queries: PromQL, or one SQL query if ``sql``; with the legend of each.
    :param unit: as Grafana names units.
    :param bad: from which value on it is shown as bad; if ``below``, below it.
    """

    title: str
    queries: Mapping[str, str]
    unit: str = "short"
    kind: Kind = "timeseries"
    width: int = 8
    bad: float | None = None
    below: bool = False
    sql: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """Panels under one heading."""

    title: str
    panels: Sequence[Panel] = field(default_factory=tuple)


def _stat(title: str, query: str, *, bad: float, below: bool = False, unit: str = "short") -> Panel:
    return Panel(title, {title: query}, unit, "stat", 4, bad, below)


_SERIES = """SELECT to_timestamp(rollup.start) AS "time",
  series.path || ' ' || series.source || '→' || series.destination AS metric,
  rollup.mean AS value
FROM rollup JOIN series ON series.id = rollup.series_id
WHERE series.metric = 'METRIC' AND series.path IN (${path:sqlstring}) AND rollup.width = 60
  AND rollup.start BETWEEN $__unixEpochFrom() AND $__unixEpochTo()
ORDER BY rollup.start"""


def _series(metric: str) -> str:
    """The mean per minute of a metric on the chosen paths; Grafana fills in the macros and the variable."""
    return _SERIES.replace("METRIC", metric)


PATHS = "SELECT DISTINCT path FROM series WHERE path <> '' ORDER BY path"
"""The values of the variable ``path``."""
ONE_WAY = "{{path}} {{source}}→{{destination}}"

ROWS: tuple[Row, ...] = (
    Row(
        "At a glance",
        (
            _stat("Controllers that answer", "sum(adon_controller_up)", bad=1, below=True),
            _stat("Collectors that answer", "sum(adon_collector_up)", bad=1, below=True),
            _stat("Switches away", "count(adon_of_connected == 0) or vector(0)", bad=1),
            _stat("Active flows", 'sum(adon_flows{state="active"})', bad=1e9),
            _stat("Flows that wait", 'sum(adon_flows{state="queued"})', bad=50),
            _stat("Critical alarms", 'sum(adon_alarms{severity="critical"})', bad=1),
        ),
    ),
    Row(
        "Flows and rules",
        (
            Panel("Flows, by state", {"{{state}}": "sum by (state) (adon_flows)"}),
            Panel("Flows asked for", {"per hour": "rate(adon_flows_submitted_total[10m]) * 3600"}),
            Panel("Rules, by state", {"{{state}}": "sum by (state) (adon_rules)"}),
            Panel(
                "A batch to its barrier reply",
                {
                    "half": "histogram_quantile(0.5, rate(adon_of_barrier_seconds_bucket[5m]))",
                    "99 %": "histogram_quantile(0.99, rate(adon_of_barrier_seconds_bucket[5m]))",
                },
                "s",
            ),
            Panel("Flow-mods sent", {"per second": "rate(adon_of_flowmods_sent_total[5m])"}, "ops"),
            Panel(
                "A failure to its last move",
                {
                    "mean": "rate(adon_failover_seconds_sum[15m]) / rate(adon_failover_seconds_count[15m])",
                    "still open": "adon_failovers_open",
                },
                "s",
                bad=1,
            ),
        ),
    ),
    Row(
        "Switches",
        (
            Panel("Connected", {"{{dpid}}": "adon_of_connected"}, bad=1, below=True),
            Panel(
                "Tables, how full",
                {"{{dpid}} table {{table}}": "adon_table_active / (adon_table_max > 0)"},
                "percentunit",
                bad=0.9,
            ),
            Panel(
                "Errors that switches sent",
                {"{{type}} {{code}}": "increase(adon_of_errors_total[5m])"},
                bad=1,
            ),
            Panel(
                "What comparisons found",
                {
                    name: f"increase(adon_reconcile_{name}_total[5m])"
                    for name in ("missing", "extra", "wrong", "blocked")
                },
            ),
            Panel("Links, by state", {"{{state}}": "sum by (state) (adon_links) > 0"}),
            Panel(
                "An echo to its reply",
                {"99 %": "histogram_quantile(0.99, rate(adon_of_echo_seconds_bucket[5m]))"},
                "s",
            ),
        ),
    ),
    Row(
        "Paths",
        (
            Panel("Throughput", {"": _series("throughput")}, "bps", sql=True),
            Panel("Round trip", {"": _series("rtt")}, "s", sql=True),
            Panel("Loss", {"": _series("loss")}, "percentunit", sql=True),
            Panel(
                "Age of the newest value",
                {f"{ONE_WAY} {{{{metric}}}}": "adon_measurement_age_seconds"},
                "s",
                bad=3600,
            ),
            Panel(
                "Planned runs of the last hour", {"{{outcome}}": "sum by (outcome) (adon_measurement_runs)"}
            ),
            Panel(
                "Alarms in force",
                {
                    "{{severity}}": "sum by (severity) (adon_alarms)",
                    "overlaps": "sum(adon_measurement_overlaps)",
                },
                text="Overlaps: planned runs that met although they were to be kept apart.",
            ),
        ),
    ),
    Row(
        "Compute sites",
        (
            Panel(
                "In use",
                {"{{site}} {{resource}}": "1 - adon_site_free / (adon_site_capacity > 0)"},
                "percentunit",
            ),
            Panel(
                "Queue wait, as counted", {"{{site}} {{nodes}} nodes": "adon_site_queue_wait_seconds"}, "s"
            ),
            Panel("Counted over said", {"{{site}}": "adon_site_stretch_ratio"}, bad=3),
            Panel("Jobs of ours", {"{{state}}": "sum by (state) (adon_jobs)"}),
            Panel("Sites that answer", {"{{site}}": "adon_site_up"}, bad=1, below=True),
        ),
    ),
)


def dashboard() -> dict[str, Any]:
    """The dashboard, as Grafana imports it; the data sources are chosen there."""
    return {
        "title": "ADON",
        "uid": "adon",
        "tags": ["adon", "sdn"],
        "schemaVersion": SCHEMA,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [*_sources(), _paths()]},
        "panels": list(_place_panels()),
    }


def _sources() -> Iterator[dict[str, Any]]:
    for name, source in (("prometheus", PROMETHEUS), ("archive", ARCHIVE)):
        yield {"name": name, "label": name.capitalize(), "type": "datasource", "query": source["type"]}


def _paths() -> dict[str, Any]:
    return {
        "name": "path",
        "label": "Path",
        "type": "query",
        "datasource": ARCHIVE,
        "query": PATHS,
        "refresh": 2,
        "multi": True,
        "includeAll": True,
        "current": {"text": "All", "value": "$__all"},
    }


def _place_panels() -> Iterator[dict[str, Any]]:
    y, number = 0, 1
    for row in ROWS:
        yield {
            "id": number,
            "type": "row",
            "title": row.title,
            "collapsed": False,
            "panels": [],
            "gridPos": {"x": 0, "y": y, "w": COLUMNS, "h": 1},
        }
        y, number, x, height = y + 1, number + 1, 0, 0
        for panel in row.panels:
            if x + panel.width > COLUMNS:
                x, y = 0, y + height
            height = HEIGHTS[panel.kind]
            yield _draw_panel(panel, number) | {"gridPos": {"x": x, "y": y, "w": panel.width, "h": height}}
            x, number = x + panel.width, number + 1
        y += height


def _draw_panel(panel: Panel, number: int) -> dict[str, Any]:
    source = ARCHIVE if panel.sql else PROMETHEUS
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.text,
        "datasource": source,
        "fieldConfig": {"defaults": {"unit": panel.unit, **_color_options(panel)}, "overrides": []},
        "options": _options(panel),
        "targets": [
            {"refId": chr(ord("A") + place), "datasource": source, **_query_target(panel, query, legend)}
            for place, (legend, query) in enumerate(panel.queries.items())
        ],
    }


def _query_target(panel: Panel, query: str, legend: str) -> dict[str, Any]:
    if panel.sql:
        return {"rawSql": query, "format": "time_series", "rawQuery": True, "editorMode": "code"}
    return {"expr": query, "legendFormat": legend, "instant": panel.kind == "stat", "editorMode": "code"}


def _color_options(panel: Panel) -> dict[str, Any]:
    if panel.bad is None:
        return {}
    low, high = ("red", "green") if panel.below else ("green", "red")
    steps = [{"color": low, "value": None}, {"color": high, "value": panel.bad}]
    shown = {} if panel.kind == "stat" else {"custom": {"thresholdsStyle": {"mode": "dashed"}}}
    colour = {"color": {"mode": "thresholds"}} if panel.kind == "stat" else {}
    return {"thresholds": {"mode": "absolute", "steps": steps}, **shown, **colour}


def _options(panel: Panel) -> dict[str, Any]:
    if panel.kind == "stat":
        return {"colorMode": "background", "graphMode": "none", "reduceOptions": {"calcs": ["lastNotNull"]}}
    return {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}}
