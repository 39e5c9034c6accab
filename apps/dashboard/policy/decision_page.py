"""``/decisions/<id>``: one decision with its candidates, scores, costs and counterfactuals."""

from __future__ import annotations

from typing import Any

from dash import Dash, State, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.decisions import DecisionView, ForecastView
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.page import Page
from apps.dashboard.policy import counterfactuals, decision_view
from apps.dashboard.policy.formats import outcome_badge, weight_text
from apps.dashboard.ui.document_table import object_link
from apps.dashboard.visit import Visit, visit

TABLES = "decision-tables"


def show(here: Visit) -> Component:
    """The decision; it never changes."""
    decision = here.client.decision(here.parts["id"])
    tables = ui.folded(TABLES, "Lookup tables with the measured values") if decision.tables else None
    scores = [decision_view.q_chart(decision), decision_view.candidate_table(decision, here), tables]
    content = [_head(decision), _facts(here, decision), ui.card("Scores of candidates", *scores)]
    if decision.compute:
        costs = [decision_view.site_chart(decision), decision_view.site_table(decision, here)]
        content.append(ui.card("Compute sites", *costs))
    return html.Div([*content, counterfactuals.card(decision.id)])


def _head(decision: DecisionView) -> Component:
    title = html.Span([f"Decision about {decision.flow} ", outcome_badge(decision.outcome)])
    where = f" on {decision.path}" if decision.path else ""
    link = ui.link("Show flow", f"/flows/{decision.flow}", button=True)
    first, *others = decision.reason.split("; ")
    reasons = html.Ul([html.Li(one) for one in others], className="plain-list") if others else None
    notice = html.Div([html.Strong(first), reasons], className="notice")
    return html.Div([ui.head(title, f"{decision.id}{where}", link), notice])


def _facts(here: Visit, decision: DecisionView) -> Component:
    granted = decision.granted
    known = (
        ("Time", ui.when(decision.at, here)),
        ("Cause", _cause(decision)),
        ("Flow", object_link("flow", decision.flow)),
        ("Template", object_link("template", decision.template)),
        ("Path", decision.path and object_link("path", decision.path)),
        ("Previous path", decision.previous_path and object_link("path", decision.previous_path)),
        ("Compute site", decision.compute_site and object_link("compute_site", decision.compute_site)),
        ("Weights", weight_text(decision.weights)),
        ("Slice", decision.slice),
        ("Predicted duration", decision.forecast and _duration(decision.forecast)),
        ("Granted", granted and f"{ui.rate(granted.guaranteed)} of {ui.rate(granted.asked)}"),
    )
    return ui.card(None, ui.facts(*(one for one in known if one[1])))


def _cause(decision: DecisionView) -> Any:
    """Return the event that led to the decision in words, with a link to its alarm."""
    text = decision.cause_text or html.Code(decision.cause)
    if decision.trigger:
        return html.Span([decision.trigger, html.Br(), html.Small(text)])
    return ui.link(text, f"/alarms/{decision.alarm}") if decision.alarm else text


def _duration(forecast: ForecastView) -> str:
    interval = f"{ui.span(forecast.low_seconds)} and {ui.span(forecast.high_seconds)}"
    return f"{ui.span(forecast.expected_seconds)}; {ui.share(forecast.coverage)} between {interval}"


def register_callbacks(app: Dash) -> None:
    """Draw the lookup tables and compute the counterfactuals on request."""
    counterfactuals.register_callbacks(app)

    @app.callback(
        ui.inside(TABLES),
        ui.opening(TABLES),
        State(counterfactuals.DECISION, "data"),
        prevent_initial_call=True,
    )
    def draw_tables(clicks: int | None, decision: str) -> Any:
        if not clicks:
            return no_update
        try:
            charts = decision_view.lookup_charts(visit().client.decision(decision))
        except AdonError as error:
            return ui.failure(error)
        return html.Div(charts, className="tables")


PAGE = Page("/decisions/<id>", "Decision", Action.DECISION_READ, show, callbacks=register_callbacks)
