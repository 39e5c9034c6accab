"""One decision: what was chosen, among what, why, and what would have flipped it."""

from __future__ import annotations

from typing import Any

from dash import Dash, State, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.decisions import DecisionView, ForecastView
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.page import Page
from apps.dashboard.policy import computing, flipping, scoring
from apps.dashboard.policy.words import outcome, template_link, weights
from apps.dashboard.visit import Visit, visit

TABLES = "decision-tables"


def show(here: Visit) -> Component:
    """The decision; it never changes."""
    decision = here.client.decision(here.parts["id"])
    picture = scoring.q_picture(decision)
    content = [
        _head(decision),
        _facts(here, decision),
        ui.card(
            "Scores of candidates",
            picture,
            scoring.scoring_table(decision),
            ui.folded(TABLES, "Lookup tables with the measured values") if decision.tables else None,
        ),
    ]
    if decision.compute:
        content.append(
            ui.card("Compute sites", computing.sites_picture(decision), computing.sites_table(decision))
        )
    content.append(flipping.card(decision.id))
    return html.Div(content)


def _head(decision: DecisionView) -> Component:
    where = f" on {decision.path}" if decision.path else ""
    title = html.Span([f"Decision about {decision.flow} ", outcome(decision.outcome)])
    deeds = [ui.link("Show flow", f"/flows/{decision.flow}", button=True)]
    head = ui.head(title, f"{decision.id}{where}", *deeds)
    return html.Div([head, _reason(decision)])


def _reason(decision: DecisionView) -> Component:
    """The reason as a list: what holds of each candidate is a part of its own."""
    first, *others = decision.reason.split("; ")
    listed = [html.Ul([html.Li(one) for one in others], className="plain-list")] if others else []
    return html.Div([html.Strong(first), *listed], className="notice")


def _facts(here: Visit, decision: DecisionView) -> Component:
    path, before = decision.path, decision.previous_path
    alarm = decision.alarm
    forecast, granted = decision.forecast, decision.granted
    known = (
        ("Time", ui.when(decision.at, here)),
        ("Flow", ui.link(decision.flow, f"/flows/{decision.flow}")),
        ("Template", template_link(decision.template)),
        ("Path", path and ui.link(path, f"/paths/{path}")),
        ("Previous path", before and ui.link(before, f"/paths/{before}")),
        (
            "Compute site",
            decision.compute_site and ui.link(decision.compute_site, f"/sites/{decision.compute_site}"),
        ),
        ("Weights", weights(decision.weights)),
        ("Cause", _cause(decision, alarm)),
        ("Slice", decision.slice),
        ("Predicted duration", _forecast(forecast)),
        ("Granted", granted and f"{ui.rate(granted.guaranteed)} of {ui.rate(granted.asked)}"),
    )
    return ui.card(None, ui.facts(*(one for one in known if one[1])))


def _cause(decision: DecisionView, alarm: str | None) -> Any:
    if alarm:
        return ui.link("an alarm", f"/alarms/{alarm}")
    return decision.trigger or html.Code(decision.cause)


def _forecast(found: ForecastView | None) -> str | None:
    if found is None:
        return None
    low, high = ui.span(found.low_seconds), ui.span(found.high_seconds)
    sure = ui.share(found.coverage)
    return f"{ui.span(found.expected_seconds)}; {sure} between {low} and {high}"


def _callbacks(app: Dash) -> None:
    flipping.install(app)

    @app.callback(
        ui.inside(TABLES), ui.opening(TABLES), State(flipping.WHICH, "data"), prevent_initial_call=True
    )
    def draw_tables(clicks: int | None, decision: str) -> Any:
        if not clicks:
            return no_update
        try:
            return html.Div(scoring.table_pictures(visit().client.decision(decision)), className="tables")
        except AdonError as error:
            return ui.failure(error)


PAGE = Page("/decisions/<id>", "Decision", Action.DECISION_READ, show, callbacks=_callbacks)
