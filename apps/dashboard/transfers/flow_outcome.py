"""Times of a flow, and what it achieved compared with its prediction."""

from __future__ import annotations

from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.api.flows import FlowView, OutcomeView
from apps.dashboard import ui
from apps.dashboard.ui.blocks import Tone
from apps.dashboard.ui.document_table import Columns, document_table
from apps.dashboard.ui.words import METRIC_NAMES
from apps.dashboard.visit import Visit

STAYS: Columns = {"Path": "path", "Since": "since", "Duration": "seconds"}
GOOD, FAIR = 0.9, 0.5
"""Share of the predicted rate from which an achieved rate is shown as good or fair."""


def flow_times(flow: FlowView, here: Visit) -> list[tuple[str, Any]]:
    """Return start, rate, end and deadline as far as they are known."""
    found: list[tuple[str, Any]] = []
    if flow.started_at is not None:
        found.append(("Started", ui.when(flow.started_at, here)))
        found.append(("Rate" if flow.final else "Rate so far", ui.rate(_mean_rate(flow, here))))
    if flow.ended_at is not None:
        found.append(("Ended", ui.when(flow.ended_at, here)))
    elif flow.forecast is not None and flow.forecast_at is not None:
        found.append(("Expected to end", _expected_end(flow, here)))
    if flow.deadline is not None:
        found.append(("Deadline", ui.when(flow.deadline, here)))
    return found


def outcome_parts(outcome: OutcomeView, here: Visit) -> list[Component]:
    """Return predicted and achieved rate, duration, and the paths of an ended flow."""
    if outcome.admitted_at is None:
        kept = html.P("The flow was never admitted.")
    elif outcome.kept:
        kept = html.P(ui.badge("met the QSpec", "good"))
    else:
        kept = html.P(ui.badge("violated the QSpec", "bad"))
    facts = ui.facts(
        ("Queued", ui.span(outcome.waited_seconds)),
        ("Duration", ui.span(outcome.duration_seconds)),
        ("Predicted duration", _predicted_duration(outcome)),
        ("Reroutes", str(outcome.moves)),
        ("QSpec met for", ui.span(outcome.quality_seconds.get("met"))),
        ("Measured by", outcome.measured_by),
    )
    parts = [kept, _rate_bars(outcome), facts]
    if outcome.conditions:
        values = (
            f"{METRIC_NAMES.get(m.metric, m.metric)} {ui.value(m.value, m.metric)}"
            for m in outcome.conditions
        )
        parts.append(html.P(f"Path at admission: {', '.join(values)}."))
    if len(outcome.stays) > 1:
        parts.append(
            document_table(here, STAYS, outcome.stays, "", "Paths of the flow", numeric={"Duration"})
        )
    return parts


def _rate_bars(outcome: OutcomeView) -> Component:
    promised, achieved = outcome.promised_bps or 0.0, outcome.throughput_bps or 0.0
    largest = max(promised, achieved) or 1.0
    bars = (
        ("Predicted", ui.bar(promised / largest, ui.rate(outcome.promised_bps))),
        ("Achieved", ui.bar(achieved / largest, ui.rate(outcome.throughput_bps), _rate_tone(outcome))),
    )
    return html.Div(
        [html.Div([html.Span(name), bar], className="pair") for name, bar in bars], className="pairs"
    )


def _rate_tone(outcome: OutcomeView) -> Tone:
    if not outcome.promised_bps or outcome.throughput_bps is None:
        return "plain"
    share = outcome.throughput_bps / outcome.promised_bps
    if share >= GOOD:
        return "good"
    return "wait" if share >= FAIR else "bad"


def _predicted_duration(outcome: OutcomeView) -> Component | None:
    forecast = outcome.forecast
    if forecast is None:
        return None
    held = "held" if outcome.foretold else "missed"
    interval = f"{ui.span(forecast.low_seconds)} to {ui.span(forecast.high_seconds)}"
    return html.Span([ui.span(forecast.expected_seconds), html.Small(f" ({interval}: {held})")])


def _mean_rate(flow: FlowView, here: Visit) -> float | None:
    """Return the mean rate since the start, over all bytes that have arrived."""
    if flow.started_at is None:
        return None
    duration = (here.now if flow.ended_at is None else flow.ended_at) - flow.started_at
    return 8 * flow.bytes_moved / duration if duration > 0 else None


def _expected_end(flow: FlowView, here: Visit) -> Component:
    forecast = flow.forecast
    if flow.forecast_at is None or forecast is None:
        return html.Span(ui.words.NONE)
    left = flow.forecast_at + float(forecast.expected_seconds) - here.now
    interval = f"{ui.span(forecast.low_seconds)} to {ui.span(forecast.high_seconds)}"
    note = f"({ui.share(forecast.coverage)} interval of the duration: {interval})"
    return html.Span([f"in {ui.span(left)} " if left > 0 else "now ", html.Small(note)])
