"""Figures of predicted and achieved throughput.  Pure: outcomes of the API to figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go
from dash.development.base_component import Component

from adon.api.flows import OutcomeView
from apps.dashboard import ui
from apps.dashboard.policy import curves
from apps.dashboard.policy.words import error
from apps.figures.looks import SERIES


class Promise(NamedTuple):
    """An outcome of which both rates are known, in bits/s."""

    outcome: OutcomeView
    promised: float
    achieved: float
    error: float


def told(outcomes: Sequence[OutcomeView]) -> list[Promise]:
    """Those of which both rates are known."""
    return [
        Promise(one, one.promised_bps, one.throughput_bps, one.error)
        for one in outcomes
        if one.promised_bps and one.throughput_bps and one.error is not None
    ]


def scatter(found: Sequence[Promise]) -> go.Figure:
    """Achieved over promised; on the diagonal the promise held."""
    most = max(max(one.promised, one.achieved) for one in found)
    factor, unit = curves.scale("throughput", [most])
    end = most / factor * 1.05
    traces = [
        go.Scatter(
            x=[0, end],
            y=[0, end],
            mode="lines",
            name="predicted = achieved",
            line={"color": "#8090a0", "dash": "dash", "width": 1.5},
        )
    ]
    for row, (path, some) in enumerate(sorted(_by_path(found).items())):
        traces.append(
            go.Scatter(
                x=[one.promised / factor for one in some],
                y=[one.achieved / factor for one in some],
                text=[
                    f"{one.outcome.flow} ({one.outcome.template}), error {error(one.error)}" for one in some
                ],
                name=path,
                mode="markers",
                marker={"size": 9, "color": SERIES[row % len(SERIES)], "opacity": 0.75},
                hovertemplate="%{text}",
            )
        )
    drawn = ui.figure(traces, x=f"Predicted ({unit})", y=f"Achieved ({unit})")
    drawn.update_layout(hovermode="closest")
    drawn.update_xaxes(range=[0, end])
    drawn.update_yaxes(range=[0, end])
    return drawn


def boxes(found: Sequence[Promise]) -> go.Figure:
    """The error of promises by template."""
    groups: dict[str, list[float]] = {}
    for one in found:
        groups.setdefault(one.outcome.template, []).append(100 * one.error)
    traces = [
        go.Box(
            y=values,
            name=name,
            boxpoints="all",
            jitter=0.4,
            marker={"size": 4, "color": SERIES[row % len(SERIES)]},
        )
        for row, (name, values) in enumerate(sorted(groups.items()))
    ]
    drawn = ui.figure(traces, y="Prediction error (%)")
    drawn.update_layout(showlegend=False, hovermode="closest")
    return drawn


def pictures(outcomes: Sequence[OutcomeView]) -> list[Component]:
    """Both, with their sentences; none where no outcome tells both rates."""
    found = told(outcomes)
    if not found:
        return []
    above = sum(one.achieved >= one.promised for one in found)
    words = f"{above} of {len(found)} flows achieved at least the prediction."
    templates = len({one.outcome.template for one in found})
    versions = "template version" if templates == 1 else "template versions"
    spread = f"Prediction error of {templates} {versions}. Positive: the prediction was too high."
    return [
        ui.card("Predicted and achieved throughput", ui.chart("outcomes-rates", scatter(found), words, 380)),
        ui.card("Error by template", ui.chart("outcomes-errors", boxes(found), spread, 380)),
    ]


def _by_path(promises: Sequence[Promise]) -> dict[str, list[Promise]]:
    found: dict[str, list[Promise]] = {}
    for one in promises:
        stays = list(dict.fromkeys(stay.path for stay in one.outcome.stays))
        found.setdefault(" → ".join(stays) or "no path", []).append(one)
    return found
