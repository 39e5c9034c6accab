"""``/mesh``: latest values between all sites as a grid, as in perfSONAR's MaDDash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from dash import dcc, html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.measurements import MeshCell, MeshValue, MeshView
from apps.dashboard import ui
from apps.dashboard.network.links import path_link, series_address, tabs
from apps.dashboard.network.series_data import Direction
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.blocks import Tone
from apps.dashboard.ui.words import METRIC_NAMES
from apps.dashboard.visit import Visit

ALL = "all"
VERDICTS: Mapping[str, tuple[str, str, Tone, str]] = {
    "good": ("good", "●", "good", "meets every bound"),
    "unjudged": ("not judged", "○", "plain", "no bound"),
    "warning": ("degraded", "◐", "wait", "violates the warning threshold, or the bound of a template"),
    "critical": ("bad", "✕", "bad", "violates the critical threshold, or the bounds of all templates"),
    "stale": ("stale", "◌", "plain", "the expected value is missing"),
    "no_data": ("no data", "–", "plain", "never measured"),
}
"""Word, sign, tone and meaning of each verdict of the API."""


def show(here: Visit) -> Component:
    """Return the heading and the choice of a metric."""
    chosen = metric_of(here.query)
    names = {ALL: "All metrics", **METRIC_NAMES}
    ways = [(words, _address(name)) for name, words in names.items()]
    return html.Div(
        [
            ui.head(
                "Mesh",
                "Latest values from the site of the row to the site of the column, best path first.",
                ui.link("Map", "/network"),
            ),
            tabs(ways, _address(chosen), "Metric"),
        ]
    )


def _address(metric: str) -> str:
    return f"/mesh?{urlencode({'metric': metric})}"


def metric_of(query: Mapping[str, str]) -> str:
    """The metric that an address asks for; all of them for anything else."""
    asked = query.get("metric", "throughput")
    return asked if asked in METRIC_NAMES else ALL


def live(here: Visit) -> Component:
    """Return one mesh, or one per metric, and the legend."""
    chosen = metric_of(here.query)
    metrics = list(METRIC_NAMES) if chosen == ALL else [chosen]
    meshes = [here.client.mesh(metric) for metric in metrics]
    return html.Div([*(grid(mesh, here) for mesh in meshes), legend()])


def grid(mesh: MeshView, here: Visit) -> Component:
    """Return the grid of a metric with its counts and its bounds."""
    metric, sites = mesh.metric, mesh.sites
    cells = {(one.source, one.destination): one for one in mesh.items}
    title = METRIC_NAMES.get(metric, metric)
    if not cells:
        nothing = ui.empty("No paths between sites, or no permission.", ui.link("Show map", "/network"))
        return ui.card(title, nothing)
    head = [html.Td("from ↓ to →", className="muted"), *(html.Th(name, scope="col") for name in sites)]
    rows = [
        html.Tr(
            [
                html.Th(source, scope="row"),
                *(_cell(source, to, cells.get((source, to)), metric, here) for to in sites),
            ]
        )
        for source in sites
    ]
    table = html.Div(
        html.Table([html.Caption(f"{title} between sites"), html.Thead(html.Tr(head)), html.Tbody(rows)]),
        className="table mesh",
        tabIndex=0,
        role="region",
        **{"aria-label": f"{title} between sites"},
    )
    return ui.card(title, html.P(summary(cells.values()), className="muted"), table, _limits(mesh))


def summary(cells: Iterable[MeshCell]) -> str:
    """``2 good, 1 no data``: how many pairs are how."""
    counts = Counter(one.verdict.value for one in cells)
    told = [f"{counts[name]} {words[0]}" for name, words in VERDICTS.items() if counts[name]]
    return f"{', '.join(told)} of {counts.total()} pairs of sites with a path."


def _cell(source: str, to: str, cell: MeshCell | None, metric: str, here: Visit) -> Component:
    label = {"data-label": f"to {to}"}
    if cell is None:
        same = source == to
        return html.Td(html.Span("" if same else "no path", className="muted"), className="nowhere", **label)
    word, sign, tone, _ = VERDICTS[cell.verdict]
    first, *others = sorted(cell.paths, key=lambda one: one.verdict != cell.verdict)
    parts: list[Any] = [
        html.Span([html.Span(f"{sign} ", **{"aria-hidden": "true"}), word], className="verdict"),
        _value(first, cell, metric, here),
    ]
    if others:
        parts.append(html.Ul([html.Li(_other(one, cell, metric)) for one in others]))
    return html.Td(html.Div(parts), className=f"cell {tone} {cell.verdict}", **label)


def _value(one: MeshValue, cell: MeshCell, metric: str, here: Visit) -> Component:
    text = "never" if one.value is None else ui.value(one.value, metric)
    age = "" if one.observed_at is None else f", {ui.ago(one.observed_at, here)}"
    return html.Span(
        [
            dcc.Link(text, href=_series(one, cell, metric), className="value", title=one.why),
            html.Small([path_link(one.path), age]),
        ]
    )


def _other(one: MeshValue, cell: MeshCell, metric: str) -> Sequence[Any]:
    word, sign, _, _ = VERDICTS[one.verdict]
    return [
        html.Span(f"{sign} ", **{"aria-hidden": "true"}),
        path_link(one.path),
        f" {word} ",
        ui.link(ui.value(one.value, metric), _series(one, cell, metric)),
    ]


def _series(one: MeshValue, cell: MeshCell, metric: str) -> str:
    return series_address(Direction(one.path, cell.source, cell.destination), metric)


def _limits(mesh: MeshView) -> Component:
    limits, metric = mesh.limits, mesh.metric
    if limits.warning is not None:
        side = "below" if mesh.higher_is_better else "above"
        text = (
            f"Degraded {side} {ui.value(limits.warning, metric)}, bad {side} "
            f"{ui.value(limits.critical, metric)} (policy.thresholds)."
        )
    elif limits.templates:
        kept = sorted(limits.templates.items(), key=lambda one: one[1])
        named = ", ".join(f"{name} {ui.value(bound, metric)}" for name, bound in kept[:6])
        text = f"Compared with the bounds of templates: {named}{', …' if len(kept) > 6 else ''}."
    else:
        text = "No bound: neither policy.thresholds nor a template has one."
    return html.P(text, className="muted")


def legend() -> Component:
    """Return the meaning of the signs."""
    entries = [
        html.Li([html.Span(f"{sign} ", **{"aria-hidden": "true"}), html.Strong(word), f" – {means}"])
        for word, sign, _, means in VERDICTS.values()
    ]
    return html.Ul(entries, className="legend")


PAGE = Page("/mesh", "Mesh", Action.MEASUREMENT_READ, show, live, refresh_s=15, group=Group.NETWORK)
