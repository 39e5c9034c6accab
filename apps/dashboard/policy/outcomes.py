"""Outcomes: what flows were promised, and what they got."""

from __future__ import annotations

from dash import Dash, html
from dash.development.base_component import Component

from adon.access.policy import Action
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.policy import filters, predicted
from apps.dashboard.policy.health import health
from apps.dashboard.policy.outcome_table import outcome_table
from apps.dashboard.policy.spans import SINCE, since
from apps.dashboard.policy.words import error
from apps.dashboard.visit import Visit

PREFIX = "outcomes"
PATH = "/outcomes"
MOST = (("200", "200"), ("50", "50"), ("500", "500"), ("1000", "1000"))
LISTED = 100


def show(here: Visit) -> Component:
    """The heading and the filters."""
    names = [("", "any"), *((one.name, one.name) for one in here.client.templates())]
    fields = [
        filters.choice(PREFIX, "template", "Template", here, names),
        filters.choice(PREFIX, "since", "Ended", here, SINCE),
        filters.choice(PREFIX, "limit", "Limit", here, MOST, "200"),
    ]
    lead = "Predicted and achieved throughput of ended flows."
    return html.Div([ui.head("Outcomes", lead), filters.form(PREFIX, fields, PATH)])


def live(here: Visit) -> Component:
    """Figures, pictures, and each flow."""
    found = here.client.outcomes(
        template=here.query.get("template") or None,
        since=since(here.query.get("since"), here.now),
        limit=_limit(here.query.get("limit")),
    )
    if not found:
        if here.query:
            return ui.card(None, ui.empty("No flows match these filters.", ui.link("Show all", PATH)))
        return ui.card(None, ui.empty("No ended flows yet.", ui.link("New transfer", "/new", button=True)))
    fared = health(found)
    foretold = [one.foretold for one in found if one.foretold is not None]
    facts = ui.facts(
        ("Flows", str(fared.flows)),
        ("Bounds met", f"{fared.kept} of {fared.judged}" if fared.judged else None),
        ("Prediction error (median)", error(fared.error)),
        ("Correct forecasts", f"{sum(foretold)} of {len(foretold)}" if foretold else None),
    )
    table = outcome_table(found[:LISTED], here, "", template=True)
    more = (
        []
        if len(found) <= LISTED
        else [html.P(f"The latest {LISTED} of {len(found)} are listed.", className="muted")]
    )
    return html.Div(
        [ui.card(None, facts), ui.columns(*predicted.pictures(found)), ui.card("Flows", table, *more)]
    )


def _limit(text: str | None) -> int:
    return int(text) if text in dict(MOST) and text is not None else 200


def _callbacks(app: Dash) -> None:
    filters.install(app, PREFIX, ("template", "since", "limit"))


PAGE = Page(PATH, "Outcomes", Action.FLOW_READ, show, live, 15.0, group=Group.POLICY, callbacks=_callbacks)
