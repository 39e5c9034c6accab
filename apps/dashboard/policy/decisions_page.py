"""``/decisions``: the decisions that the user may see, newest first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.decisions import DecisionSummary
from adon.errors import Unavailable
from apps.dashboard import ui
from apps.dashboard.filter_form import Filter, FilterForm
from apps.dashboard.page import Group, Page
from apps.dashboard.policy.formats import OUTCOMES, PERIODS, outcome_badge, period_start
from apps.dashboard.ui.document_table import Columns, document_table, object_link
from apps.dashboard.visit import Visit

PATH = "/decisions"
PER_PAGE = 25
LONGEST = 160
"""Characters of a reason in the list."""
FILTERS = FilterForm(
    PATH,
    (
        Filter("template", "Template"),
        Filter("outcome", "Outcome"),
        Filter("path", "Path"),
        Filter("site", "Compute site", "any"),
        Filter("since", "Time"),
        Filter("flow", "Flow", "f-17"),
    ),
)


def show(here: Visit) -> Component:
    """Heading and filters."""
    options = {
        "template": [("", "any"), *((one.name, one.name) for one in here.client.templates())],
        "outcome": [("", "any"), *((name, text) for name, (text, _) in OUTCOMES.items())],
        "path": [("", "any"), *((name, name) for name in _path_names(here))],
        "since": PERIODS,
    }
    return html.Div([ui.head("Decisions", "Newest first."), FILTERS.draw(here, options)])


def _path_names(here: Visit) -> list[str]:
    try:
        return sorted({one.path for one in here.client.paths()})
    except Unavailable:
        return []  # the controller is away; decisions are still stored


def live(here: Visit) -> Component:
    """The decisions that match the filters."""
    found = here.client.all_decisions(**decision_query(here.query, here.now))
    columns: Columns = {
        "Time": "at",
        "Decision": lambda one: object_link("decision", one.id),
        "Outcome": lambda one: outcome_badge(one.outcome),
        "Flow": "flow",
        "Template": "template",
        "Path": _path,
        "Site": "compute_site",
        "Candidates": "candidates",
        "Reason": _reason,
    }
    nothing = FILTERS.empty(here, "decisions", ui.link("New transfer", "/new", button=True))
    table = document_table(here, columns, found.items, nothing, "Decisions, newest first", whole={"Decision"})
    return ui.card(None, table, FILTERS.page_links(here, found.next))


def decision_query(query: Mapping[str, str], now: float) -> dict[str, Any]:
    """Return the query of the API for the query of the address."""
    names = ("flow", "template", "outcome", "path", "site", "before", "until")
    wanted: dict[str, Any] = {name: query[name] for name in names if query.get(name)}
    since = period_start(query.get("since"), now)
    return wanted | ({} if since is None else {"since": since}) | {"limit": PER_PAGE}


def _path(one: DecisionSummary) -> Any:
    link = object_link("path", one.path)
    if one.path is None or one.previous_path in (None, one.path):
        return link
    return html.Span([f"{one.previous_path} → ", link])


def _reason(one: DecisionSummary) -> Component:
    marks: list[Any] = []
    if one.alarm:
        marks += [ui.link(ui.badge("alarm", "bad"), f"/alarms/{one.alarm}"), " "]
    if one.trigger:
        marks += [ui.badge(one.trigger, "wait"), " "]
    text = one.reason
    short = text if len(text) <= LONGEST else text[: LONGEST - 1].rsplit(" ", 1)[0] + " …"
    return html.Span([*marks, html.Small(short, title=text)])


PAGE = Page(
    PATH, "Decisions", Action.DECISION_READ, show, live, 10.0, group=Group.POLICY, callbacks=FILTERS.register
)
