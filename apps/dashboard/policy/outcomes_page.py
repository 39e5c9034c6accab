"""``/outcomes``: predicted and achieved values of ended flows, and the calibration of forecasts."""

from __future__ import annotations

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.flows import OutcomeView
from apps.dashboard import ui
from apps.dashboard.filter_form import Filter, FilterForm
from apps.dashboard.page import Group, Page
from apps.dashboard.policy.formats import PERIODS, error_text, may_own, period_start
from apps.dashboard.policy.outcome_view import (
    calibration_cards,
    outcome_statistics,
    outcome_table,
    rate_charts,
)
from apps.dashboard.visit import Visit

PATH = "/outcomes"
LIMITS = tuple((str(one), str(one)) for one in (200, 50, 500, 1000))
LISTED = 100
FILTERS = FilterForm(
    PATH,
    (Filter("template", "Template"), Filter("since", "Ended"), Filter("limit", "Limit", default="200")),
)


def show(here: Visit) -> Component:
    """Heading and filters."""
    templates = [("", "any"), *((one.name, one.name) for one in here.client.templates())]
    lead = "Predicted and achieved throughput and duration of ended flows."
    options = {"template": templates, "since": PERIODS, "limit": LIMITS}
    return html.Div([ui.head("Outcomes", lead), FILTERS.draw(here, options)])


def live(here: Visit) -> Component:
    """Statistics, charts, the flows, and the calibration for those who may read it."""
    limit = here.query.get("limit", "")
    template = here.query.get("template") or None
    count = int(limit) if limit in dict(LIMITS) else 200
    since = period_start(here.query.get("since"), here.now)
    found = here.client.outcomes(template=template, since=since, limit=count)
    if not found:
        new = ui.link("New transfer", "/new", button=True)
        return ui.card(None, FILTERS.empty(here, "ended flows", new))
    parts = [_facts(found), ui.columns(*rate_charts(found)), _flows(here, found)]
    if may_own(here, Action.FORECAST_READ):
        parts += calibration_cards(here, here.client.forecast_calibration(template, count))
    return html.Div(parts)


def _facts(found: Sequence[OutcomeView]) -> Component:
    summary = outcome_statistics(found)
    forecasts = [one.foretold for one in found if one.foretold is not None]
    return ui.card(
        None,
        ui.facts(
            ("Flows", str(summary.flows)),
            ("Bounds met", summary.kept_text),
            ("Prediction error (median)", error_text(summary.error)),
            ("Correct forecasts", f"{sum(forecasts)} of {len(forecasts)}" if forecasts else None),
        ),
    )


def _flows(here: Visit, found: Sequence[OutcomeView]) -> Component:
    table = outcome_table(here, found[:LISTED], "", template=True)
    note = f"The latest {LISTED} of {len(found)} are listed." if len(found) > LISTED else None
    return ui.card("Flows", table, note and html.P(note, className="muted"))


PAGE = Page(
    PATH, "Outcomes", Action.FLOW_READ, show, live, 15.0, group=Group.POLICY, callbacks=FILTERS.register
)
