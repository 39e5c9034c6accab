"""Where a decision considered computing: the terms of T_t of each site ([ADON] 4.3, algorithm 4).  Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from dash import html
from dash.development.base_component import Component

from adon.api.decisions import DecisionView, SiteCostView
from adon.units import format_significant
from apps.dashboard import ui
from apps.dashboard.ui.blocks import Column
from apps.figures.looks import SERIES

TERMS = (
    ("queue", "T_q, queue wait"),
    ("compute", "T_c, compute with T_q"),
    ("network", "T_n, transfer"),
    ("duplication", "C_D, copy of the result"),
)
PARTS = (
    ("queue", "T_q, queue wait"),
    ("busy", "T_c without T_q, compute"),
    ("network", "T_n, transfer"),
    ("duplication", "C_D, copy of the result"),
)
"""What T_t is the sum of; T_c holds T_q."""
ORIGINS = {"queue": "T_q", "node_rate": "Γ_c", "result": "result’s size", "available": "Γ_a"}


def seconds(site: SiteCostView, term: str) -> float:
    """A term of a site's cost; infinite where it is impossible."""
    if term == "busy":
        return float(site.compute_seconds) - float(site.queue_seconds)
    return float(getattr(site, f"{term}_seconds"))


def time(found: Any) -> str:
    """A term as it is read."""
    return "impossible" if math.isinf(float(found)) else ui.span(found)


def sites_table(decision: DecisionView) -> Component:
    """Every site with its terms and their spreads."""
    columns = [
        Column("Site", lambda one: _name(one, decision)),
        Column("T_t, total", lambda one: _term(one, "total"), numeric=True),
        *(Column(words, _cell(name), numeric=True) for name, words in TERMS),
        Column("Cost", _cost, numeric=True),
        Column("Γ_t, Γ_a", _path_rates),
        Column("Reason", _why),
    ]
    return ui.table(
        columns, decision.compute, "", "Compute sites by terms", lambda one: is_chosen(one, decision)
    )


def is_chosen(site: SiteCostView, decision: DecisionView) -> bool:
    """Whether it is this row: a site has one for each path to it."""
    return site.site == decision.compute_site and site.path in (decision.path, None)


def _cell(term: str) -> Any:
    return lambda one: _term(one, term)


def _term(site: SiteCostView, term: str) -> Any:
    spread = site.deviations.get(term)
    small = {
        "compute": f"{ui.count(site.nodes, 'node')} at {ui.rate(site.node_rate_bps)}",
        "network": f"{ui.size(site.transfer_size_bytes)} on {site.path}" if site.path else "",
    }.get(term, "")
    parts: list[Any] = [time(getattr(site, f"{term}_seconds"))]
    if spread:
        parts.append(f" ± {ui.span(spread)}")
    if small:
        parts += [html.Br(), html.Small(small, className="muted")]
    return html.Span(parts)


def _name(site: SiteCostView, decision: DecisionView) -> Component:
    chosen = [ui.badge("chosen", "good")] if is_chosen(site, decision) else []
    where = "here" if site.local else "remote"
    return html.Div(
        [
            html.Strong(ui.link(site.site, f"/sites/{site.site}")),
            html.Br(),
            html.Small(where + (f", at {site.campus}" if site.campus else ""), className="muted"),
            " ",
            *chosen,
        ]
    )


def _path_rates(site: SiteCostView) -> str:
    """Return theoretical and available throughput of the path; a site without a path has none."""
    if site.path is None:
        return ui.words.NONE
    return f"{ui.rate(site.theoretical_bps)}, {ui.rate(site.available_bps)}"


def _cost(site: SiteCostView) -> str:
    if site.cost == "inf":
        return "impossible"
    spread = site.deviations.get("cost")
    return format_significant(site.cost) + (f" ± {format_significant(spread, 2)}" if spread else "")


def _why(site: SiteCostView) -> Any:
    told = [f"{ORIGINS.get(term, term)}: {words}" for term, words in site.origins.items()]
    parts = [site.why, *([html.Br()] if site.why and told else []), "; ".join(told)]
    return html.Small(parts, className="reason")


def sites_figure(sites: Sequence[SiteCostView]) -> go.Figure:
    """What each site's total is the sum of."""
    labels = [f"{one.site} by {one.path} " if one.path else f"{one.site} " for one in sites]
    bars = [
        go.Bar(
            y=labels,
            x=[seconds(one, term) for one in sites],
            name=words,
            orientation="h",
            marker={"color": SERIES[row]},
            hovertemplate="%{x:.4g} s",
        )
        for row, (term, words) in enumerate(PARTS)
        if any(seconds(one, term) for one in sites)
    ]
    found = ui.figure(bars, x="Seconds")
    found.update_layout(barmode="stack", hovermode="y unified", bargap=0.35, margin={"l": 10, "t": 34})
    found.update_layout(legend={"y": 1.02, "yanchor": "bottom", "traceorder": "normal"})
    found.update_yaxes(autorange="reversed", automargin=True)
    return found


def sites_picture(decision: DecisionView) -> Component | None:
    """The figure with its sentence; None where no site was possible."""
    possible = [one for one in decision.compute if math.isfinite(seconds(one, "total"))]
    if not possible:
        return None
    told = "; ".join(f"{one.site}: {time(one.total_seconds)}" for one in possible)
    return ui.chart(
        "decision-sites",
        sites_figure(possible),
        f"Time until the result is available: {told}.",
        110 + 46 * len(possible),
    )
