"""What would be decided, as a researcher reads it: the verdict in a sentence, then why.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.api.decisions import CandidateView, DecisionView, ForecastView
from adon.api.flows import PreviewView
from adon.units import format_share
from apps.dashboard import ui
from apps.dashboard.policy.computing import is_chosen
from apps.dashboard.ui.blocks import Column, Tone

VERDICTS: Mapping[str, tuple[str, Tone]] = {
    "qualified": ("meets every bound", "good"),
    "unqualified": ("violates a bound", "bad"),
    "unknown": ("measurements missing", "wait"),
    "excluded": ("cannot be used", "bad"),
}


def verdict(told: PreviewView) -> Component:
    """What would happen, in a sentence or two."""
    rate = told.throughput
    fast = [] if rate is None else [f", at about {ui.rate(rate.expected_bps)}"]
    if told.outcome == "admit":
        where = f"Starts now on {told.path}"
        if told.compute_site:
            where += f", computed at {told.compute_site}"
        return ui.notice([html.Strong(where), *fast, *_until(told.forecast), *_aside(told)], "good")
    reasons = [html.Ul([html.Li(one) for one in told.waits_for])] if told.waits_for else []
    return ui.notice(
        [html.Strong("Would be queued"), *_until(told.forecast), *reasons, *_aside(told)], "wait"
    )


def why(decision: DecisionView) -> list[Component]:
    """What speaks for each path, and for each compute site."""
    found = [html.H3("Paths"), _candidates(decision)]
    if decision.compute:
        found += [html.H3("Compute sites"), _sites(decision)]
    return found


def _aside(told: PreviewView) -> list[Component]:
    said = []
    if told.moved:
        said.append(f"{told.moved} active flows would be rerouted.")
    if told.displaced:
        said.append(f"{told.displaced} active flows would be preempted and queued.")
    if told.booking is not None:
        said.append(f"{ui.rate(told.booking.rate_bps)} of {told.booking.path} would be reserved for it.")
    if told.advised:
        said.append("Dry run: no rule would be installed.")
    return [html.P(one) for one in said]


def _until(forecast: ForecastView | None) -> list[Any]:
    if forecast is None:
        return []
    between = f"{ui.span(forecast.low_seconds)} to {ui.span(forecast.high_seconds)}"
    surely = f"{format_share(forecast.coverage)} sure: {between}"
    return [html.P([f"Takes about {ui.span(forecast.expected_seconds)} ", html.Small(f"({surely})")])]


def _candidates(decision: DecisionView) -> Component:
    columns = [
        Column("Path", lambda one: html.Strong(one.path) if one.path == decision.path else one.path),
        Column("", lambda one: ui.badge(*VERDICTS.get(one.verdict, (one.verdict, "plain")))),
        Column("Q", lambda one: ui.number(one.q), numeric=True),
        Column("Reason", lambda one: _measured(one)),
    ]
    marked = lambda one: one.path == decision.path  # noqa: E731 - one line, one use
    return ui.table(columns, decision.candidates, "No path between these sites.", "Candidate paths", marked)


def _measured(candidate: CandidateView) -> Component:
    values = [
        f"{ui.words.METRIC_NAMES.get(one.metric, one.metric)} "
        + (ui.value(one.value, one.metric) if one.value is not None else one.unknown or "unknown")
        for one in candidate.metrics
    ]
    return html.Span([candidate.why, html.Br(), html.Small(", ".join(values))])


def _sites(decision: DecisionView) -> Component:
    columns = [
        Column("Site", lambda one: html.Strong(one.site) if is_chosen(one, decision) else one.site),
        Column("Path", lambda one: one.path or ""),
        Column("Total", lambda one: ui.span(one.total_seconds), numeric=True),
        Column("Queue", lambda one: ui.span(one.queue_seconds), numeric=True),
        Column("Compute", lambda one: ui.span(one.compute_seconds), numeric=True),
        Column("Network", lambda one: ui.span(one.network_seconds), numeric=True),
    ]
    return ui.table(
        columns,
        decision.compute,
        "No compute sites.",
        "Compute sites",
        lambda one: is_chosen(one, decision),
    )
