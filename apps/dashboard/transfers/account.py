"""Promised and achieved: when it ends, how fast it was, whether that was foretold.  Pure."""

from __future__ import annotations

from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.api.flows import FlowView, OutcomeView
from adon.units import format_share
from apps.dashboard import ui
from apps.dashboard.ui.blocks import Column, Tone
from apps.dashboard.ui.words import METRIC_NAMES
from apps.dashboard.visit import Visit


def times(flow: FlowView, here: Visit) -> list[tuple[str, Any]]:
    """When it began, ends or ended, and until when it should."""
    found: list[tuple[str, Any]] = []
    if flow.started_at is not None:
        found.append(("Started", ui.when(flow.started_at, here)))
        found.append(("Rate so far" if not flow.final else "Rate", ui.rate(_rate(flow, here))))
    if flow.ended_at is not None:
        found.append(("Ended", ui.when(flow.ended_at, here)))
    elif flow.forecast is not None and flow.forecast_at is not None:
        found.append(("Expected to end", _ends(flow, here)))
    if flow.deadline is not None:
        found.append(("Deadline", ui.when(flow.deadline, here)))
    return found


def result(outcome: OutcomeView, here: Visit) -> list[Component]:
    """What a flow that has ended was promised and got."""
    promised, got = outcome.promised_bps, outcome.throughput_bps
    most = max(promised or 0, got or 0) or 1
    tone = _tone(promised, got)
    pairs = (
        ("Predicted", ui.bar((promised or 0) / most, ui.rate(promised))),
        ("Achieved", ui.bar((got or 0) / most, ui.rate(got), tone)),
    )
    bars = html.Div(
        [html.Div([html.Span(name), bar], className="pair") for name, bar in pairs], className="pairs"
    )
    facts = ui.facts(
        ("Queued", ui.span(outcome.waited_seconds)),
        ("Duration", ui.span(outcome.duration_seconds)),
        ("Predicted duration", _foretold(outcome)),
        ("Reroutes", str(outcome.moves)),
        ("QSpec met for", ui.span(outcome.quality_seconds.get("met"))),
        ("Measured by", outcome.measured_by),
    )
    return [*_kept(outcome), bars, facts, *_met(outcome, here)]


def _kept(outcome: OutcomeView) -> list[Component]:
    if outcome.admitted_at is None:
        return [html.P("The flow was never admitted.")]
    words: tuple[str, Tone] = ("met the QSpec", "good") if outcome.kept else ("violated the QSpec", "bad")
    return [html.P(ui.badge(*words))]


def _met(outcome: OutcomeView, here: Visit) -> list[Component]:
    """What its path was like when it was admitted, and which paths it was on."""
    found: list[Component] = []
    if outcome.conditions:
        seen = (
            f"{METRIC_NAMES.get(one.metric, one.metric)} {ui.value(one.value, one.metric)}"
            for one in outcome.conditions
        )
        found.append(html.P(f"Path at admission: {', '.join(seen)}."))
    if len(outcome.stays) > 1:
        columns = [
            Column("Path", lambda one: one.path),
            Column("Since", lambda one: ui.when(one.since, here)),
            Column("Duration", lambda one: ui.span(one.seconds), numeric=True),
        ]
        found.append(ui.table(columns, outcome.stays, "", "Paths of the flow"))
    return found


def _foretold(outcome: OutcomeView) -> Any:
    forecast = outcome.forecast
    if forecast is None:
        return None
    held = "held" if outcome.foretold else "missed"
    between = f"{ui.span(forecast.low_seconds)} to {ui.span(forecast.high_seconds)}"
    return html.Span([ui.span(forecast.expected_seconds), html.Small(f" ({between}: {held})")])


def _tone(promised: float | None, got: float | None) -> Any:
    if not promised or got is None:
        return "plain"
    return "good" if got >= 0.9 * promised else "wait" if got >= 0.5 * promised else "bad"


def _rate(flow: FlowView, here: Visit) -> float | None:
    """Bits per second since it began, over all that is known to have arrived."""
    began, ended = flow.started_at, flow.ended_at
    if began is None:
        return None
    lasted = (here.now if ended is None else ended) - began
    return 8 * flow.bytes_moved / lasted if lasted > 0 else None


def _ends(flow: FlowView, here: Visit) -> Component:
    told, forecast = flow.forecast_at, flow.forecast
    if told is None or forecast is None:
        return html.Span("–")
    left = told + float(forecast.expected_seconds) - here.now
    between = f"{ui.span(forecast.low_seconds)} to {ui.span(forecast.high_seconds)} in all"
    sure = f"{format_share(forecast.coverage)} sure: {between}"
    return html.Span([f"in {ui.span(max(left, 0.0))} " if left > 0 else "now ", html.Small(f"({sure})")])
