"""All decisions, with filters that stand in the address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import Dash, html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.decisions import DecisionSummary
from adon.errors import Unavailable
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.policy import filters
from apps.dashboard.policy.spans import SINCE, since
from apps.dashboard.policy.words import OUTCOMES, outcome, template_link
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit

PREFIX = "decisions"
PATH = "/decisions"
SHOWN = 25
NAMES = ("flow", "template", "outcome", "path", "site", "since")
LONGEST = 160
"""Characters of a reason in the list; all of it is on the decision's page."""


def show(here: Visit) -> Component:
    """The heading and the filters."""
    outcomes = [("", "any"), *((name, text) for name, (text, _) in OUTCOMES.items())]
    templates = [("", "any"), *((one.name, one.name) for one in here.client.templates())]
    chosen = here.query.get("template", "")
    if chosen and chosen not in dict(templates):
        templates.append((chosen, chosen))  # soykb@2: one version, from a link
    fields = [
        filters.choice(PREFIX, "template", "Template", here, templates),
        filters.choice(PREFIX, "outcome", "Outcome", here, outcomes),
        filters.choice(PREFIX, "path", "Path", here, _paths(here)),
        filters.text(PREFIX, "site", "Compute site", here, "any"),
        filters.choice(PREFIX, "since", "Time", here, SINCE),
        filters.text(PREFIX, "flow", "Flow", here, "f-17"),
    ]
    lead = "Newest first."
    return html.Div([ui.head("Decisions", lead), filters.form(PREFIX, fields, PATH)])


def _paths(here: Visit) -> list[tuple[str, str]]:
    try:
        names = sorted({one.path for one in here.client.paths()})
    except Unavailable:
        names = []  # the filter is by what is in the address, then
    chosen = here.query.get("path", "")
    if chosen and chosen not in names:
        names.append(chosen)
    return [("", "any"), *((name, name) for name in names)]


def live(here: Visit) -> Component:
    """The decisions that the filters leave."""
    found = here.client.all_decisions(**asked(here.query, here.now))
    columns = [
        Column("Decision", _link, whole=True),
        Column("Outcome", lambda one: outcome(one.outcome)),
        Column("Flow", lambda one: ui.link(one.flow, f"/flows/{one.flow}"), whole=True),
        Column("Template", lambda one: template_link(one.template)),
        Column("Path", _path),
        Column("Site", _site, whole=True),
        Column("Candidates", lambda one: str(one.candidates), numeric=True),
        Column("Reason", _why),
    ]
    filtered = any(here.query.get(name) for name in (*NAMES, "before"))
    nothing = (
        ui.empty("No decisions match these filters.", ui.link("Show all", PATH))
        if filtered
        else ui.empty("No decisions yet.", ui.link("New transfer", "/new", button=True))
    )
    more = filters.pages(PATH, here, found.next)
    table = ui.table([_when(here), *columns], found.items, nothing, "Decisions, newest first")
    return ui.card(None, table, more)


def asked(query: Mapping[str, str], now: float) -> dict[str, Any]:
    """What the API is asked for this address."""
    wanted: dict[str, Any] = {
        name: query[name]
        for name in ("flow", "template", "outcome", "path", "site", "before", "until")
        if query.get(name)
    }
    began = since(query.get("since"), now)
    return {**wanted, "limit": SHOWN, **({} if began is None else {"since": began})}


def _when(here: Visit) -> Column:
    return Column("Time", lambda one: ui.when(one.at, here))


def _link(one: DecisionSummary) -> Component:
    return ui.link(one.id, f"/decisions/{one.id}")


def _path(one: DecisionSummary) -> Any:
    if one.path is None:
        return ui.words.NONE
    now = ui.link(one.path, f"/paths/{one.path}")
    before = one.previous_path
    return now if before in (None, one.path) else html.Span([f"{before} → ", now])


def _site(one: DecisionSummary) -> Any:
    name = one.compute_site
    return ui.words.NONE if name is None else ui.link(name, f"/sites/{name}")


def _why(one: DecisionSummary) -> Any:
    causes: list[Any] = []
    if one.alarm:
        causes += [ui.link(ui.badge("alarm", "bad"), f"/alarms/{one.alarm}"), " "]
    if one.trigger:
        causes += [ui.badge(one.trigger, "wait"), " "]
    text = one.reason
    short = text if len(text) <= LONGEST else text[: LONGEST - 1].rsplit(" ", 1)[0] + " …"
    return html.Span([*causes, html.Small(short, title=text)])


def _callbacks(app: Dash) -> None:
    filters.install(app, PREFIX, NAMES, ("site", "flow"))


PAGE = Page(
    PATH, "Decisions", Action.DECISION_READ, show, live, 10.0, group=Group.POLICY, callbacks=_callbacks
)
