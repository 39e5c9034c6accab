"""Outcomes of ended flows: table, statistics, and charts of predicted and achieved values."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
from dash import html
from dash.development.base_component import Component

from adon.api.decisions import CalibrationView
from adon.api.flows import OutcomeView
from apps.dashboard import ui
from apps.dashboard.policy.formats import error_text
from apps.dashboard.policy.lookup_curves import axis_scale
from apps.dashboard.ui.document_table import Columns, document_table, object_link
from apps.dashboard.visit import Visit
from apps.figures.looks import SERIES

DIAGONAL = {"color": "#8090a0", "dash": "dash", "width": 1.5}


@dataclass(frozen=True, slots=True)
class OutcomeStatistics:
    """Statistics of outcomes.

    :param admitted: number of flows that were admitted.
    :param kept: number of them whose QSpec was met whenever the quality was known.
    :param error: median relative error of the predicted rate; None if unknown.
    :param last_at: end of the latest flow in seconds since the epoch.
    """

    flows: int
    admitted: int
    kept: int
    error: float | None
    last_at: float | None

    @property
    def kept_text(self) -> str | None:
        """Return ``3 of 4`` admitted flows; None without any."""
        return f"{self.kept} of {self.admitted}" if self.admitted else None


def outcome_statistics(outcomes: Sequence[OutcomeView]) -> OutcomeStatistics:
    """Return the statistics of outcomes, the latest first."""
    admitted = [one for one in outcomes if one.admitted_at is not None]
    errors = [one.error for one in outcomes if one.error is not None]
    return OutcomeStatistics(
        flows=len(outcomes),
        admitted=len(admitted),
        kept=sum(one.kept for one in admitted),
        error=statistics.median(errors) if errors else None,
        last_at=outcomes[0].ended_at if outcomes else None,
    )


def statistics_by_template(outcomes: Iterable[OutcomeView]) -> dict[str, OutcomeStatistics]:
    """Return the statistics of each template, over all its versions."""
    groups: dict[str, list[OutcomeView]] = {}
    for one in outcomes:
        groups.setdefault(one.template.partition("@")[0], []).append(one)
    return {name: outcome_statistics(group) for name, group in groups.items()}


def outcome_table(
    here: Visit, outcomes: Iterable[OutcomeView], nothing: Any, *, template: bool = False
) -> Component:
    """Return predicted and achieved values of flows.

    :param template: whether to show the template of each flow.
    """
    columns: Columns = {
        "Flow": "flow",
        **({"Template": "template"} if template else {}),
        "Ended": "ended_at",
        "Path": _paths,
        "Size": "transferred_bytes",
        "Queued": "waited_seconds",
        "Predicted": "promised_bps",
        "Achieved": "throughput_bps",
        "Error": lambda one: error_text(one.error),
        "Forecast": _forecast,
        "Bounds": _bounds,
        "Decision": _decision,
    }
    return document_table(here, columns, outcomes, nothing, "Ended flows", numeric={"Error"})


def _paths(one: OutcomeView) -> Any:
    names = dict.fromkeys(stay.path for stay in one.stays)
    links = [part for name in names for part in (" → ", object_link("path", name))][1:]
    return html.Span(links) if links else "none"


def _forecast(one: OutcomeView) -> Any:
    if one.foretold is None:
        return ui.words.NONE
    return ui.badge("held", "good") if one.foretold else ui.badge("missed", "wait")


def _bounds(one: OutcomeView) -> Component:
    if one.admitted_at is None:
        return ui.badge(one.state)
    return ui.badge("kept", "good") if one.kept else ui.badge("broken", "bad")


def _decision(one: OutcomeView) -> Any:
    if one.decision is None:
        return ui.words.NONE
    return html.Span(ui.link("show", f"/decisions/{one.decision}"), title=one.decision)


def rate_charts(outcomes: Sequence[OutcomeView]) -> list[Component]:
    """Return achieved over predicted rate, and the error by template; empty if no rates are known."""
    found = [one for one in outcomes if one.promised_bps and one.throughput_bps and one.error is not None]
    if not found:
        return []
    above = sum((one.error or 0.0) <= 0 for one in found)
    rates = f"{above} of {len(found)} flows achieved at least the prediction."
    templates = ui.count(len({one.template for one in found}), "template version")
    errors = f"Prediction error of {templates}. Positive: the prediction was too high."
    return [
        ui.card("Predicted and achieved throughput", ui.chart("outcomes-rates", _rates(found), rates, 380)),
        ui.card("Error by template", ui.chart("outcomes-errors", _errors(found), errors, 380)),
    ]


def _rates(outcomes: Sequence[OutcomeView]) -> go.Figure:
    largest = max(max(one.promised_bps or 0.0, one.throughput_bps or 0.0) for one in outcomes)
    factor, unit = axis_scale("throughput", [largest])
    end = largest / factor * 1.05
    traces = [_diagonal(end, "predicted = achieved")]
    paths: dict[str, list[OutcomeView]] = {}
    for one in outcomes:
        stays = dict.fromkeys(stay.path for stay in one.stays)
        paths.setdefault(" → ".join(stays) or "no path", []).append(one)
    for row, (path, group) in enumerate(sorted(paths.items())):
        trace = go.Scatter(
            x=[(one.promised_bps or 0.0) / factor for one in group],
            y=[(one.throughput_bps or 0.0) / factor for one in group],
            text=[f"{one.flow} ({one.template}), error {error_text(one.error)}" for one in group],
            name=path,
            mode="markers",
            marker={"size": 9, "color": SERIES[row % len(SERIES)], "opacity": 0.75},
            hovertemplate="%{text}",
        )
        traces.append(trace)
    figure = ui.figure(traces, x=f"Predicted ({unit})", y=f"Achieved ({unit})")
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(range=[0, end])
    figure.update_yaxes(range=[0, end])
    return figure


def _errors(outcomes: Sequence[OutcomeView]) -> go.Figure:
    templates: dict[str, list[float]] = {}
    for one in outcomes:
        templates.setdefault(one.template, []).append(100 * (one.error or 0.0))
    traces = [
        go.Box(
            y=values,
            name=name,
            boxpoints="all",
            jitter=0.4,
            marker={"size": 4, "color": SERIES[row % len(SERIES)]},
        )
        for row, (name, values) in enumerate(sorted(templates.items()))
    ]
    figure = ui.figure(traces, y="Prediction error (%)")
    figure.update_layout(showlegend=False, hovermode="closest")
    return figure


def calibration_cards(here: Visit, calibrations: Sequence[CalibrationView]) -> list[Component]:
    """Return how often the true duration was within the forecast's interval, as table and curve."""
    known = [one for one in calibrations if one.count]
    if not known:
        return [ui.card("Calibration of forecasts", ui.empty("No finished flows with a forecast yet."))]
    columns: Columns = {
        "Flows": "flows",
        "Count": "count",
        "Nominal": lambda one: ui.share(one.nominal),
        "Covered": _coverage_bar,
        "95 % interval": lambda one: f"{ui.share(one.least)} to {ui.share(one.most)}",
        "Bias (median)": lambda one: error_text(one.bias),
        "Error (median)": lambda one: ui.share(one.error),
        "Interval score": lambda one: ui.number(one.score),
    }
    numeric = {"Count", "Nominal", "Bias (median)", "Error (median)", "Interval score"}
    table = document_table(here, columns, known, "", "Coverage of forecasts", numeric=numeric)
    parts = [
        f"{one.flows}: {ui.share(one.covered)} of {one.count} within the {ui.share(one.nominal)} interval"
        for one in known
    ]
    caption = f"Observed coverage: {'; '.join(parts)}. Below the diagonal the intervals are too narrow."
    chart = ui.chart("forecasts-curve", _calibration_curves(known), caption, 420)
    return [ui.card("Coverage of forecasts", table), ui.card("Calibration of forecasts", chart)]


def _coverage_bar(one: CalibrationView) -> Component:
    # The nominal coverage is plausible as long as it is within the confidence interval of the observed one.
    plausible = one.least <= one.nominal <= one.most
    return ui.bar(one.covered, ui.share(one.covered), "good" if plausible else "wait")


def _calibration_curves(calibrations: Sequence[CalibrationView]) -> go.Figure:
    traces = [_diagonal(100, "nominal")]
    for row, one in enumerate(calibrations):
        trace = go.Scatter(
            x=[100 * point.nominal for point in one.curve],
            y=[100 * point.observed for point in one.curve],
            mode="lines+markers",
            name=f"{one.flows} ({one.count})",
            line={"color": SERIES[row % len(SERIES)]},
        )
        traces.append(trace)
    figure = ui.figure(traces, x="Nominal coverage (%)", y="Observed coverage (%)")
    figure.update_xaxes(range=[0, 101])
    figure.update_yaxes(range=[0, 103])
    return figure


def _diagonal(end: float, name: str) -> go.Scatter:
    return go.Scatter(x=[0, end], y=[0, end], mode="lines", name=name, line=DIAGONAL)
