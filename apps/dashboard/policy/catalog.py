"""The catalog: every template with what it asks for, who uses it, and how its flows fare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import Dash, html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.templates import TemplateSummary
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.policy import filters
from apps.dashboard.policy.health import Health, by_template
from apps.dashboard.policy.words import Document, allowed, bounds, error, weights
from apps.dashboard.ui.blocks import Column, Tone
from apps.dashboard.visit import Visit

PREFIX = "templates"
PATH = "/templates"
RECENT = 1000
"""The latest outcomes that tell how templates fare."""
MOST = 50
"""Templates whose parts are read for one page."""


def show(here: Visit) -> Component:
    """The heading, what one may begin, and the search."""
    may_add = allowed(here, Action.TEMPLATE_ADD)
    deeds = [ui.link("New template", "/templates/new", button=True)] if may_add else []
    lead = "Requirements of applications, and how candidate paths are scored."
    search = filters.text(PREFIX, "q", "Search", here, "name, title or purpose")
    return html.Div([ui.head("Application templates", lead, *deeds), filters.form(PREFIX, [search], PATH)])


def live(here: Visit) -> Component:
    """The templates that the search leaves."""
    wanted = here.query.get("q", "")
    found = matching(here.client.templates(), wanted)
    fared = by_template(here.client.outcomes(limit=RECENT))
    shown = [here.client.template(one.name, str(one.version)) for one in found[:MOST]]
    columns = [
        Column("Template", _name),
        Column("State", lambda one: _state(one, fared.get(one["name"]))),
        Column("Bounds", lambda one: _lines(bounds(one["qspec"])), whole=True),
        Column("Weights", lambda one: weights(one["weights"])),
        Column("Priority", lambda one: str(one["priority"]), numeric=True),
        Column("Flows", lambda one: _flows(one, fared.get(one["name"]), here)),
        Column("Bounds met", lambda one: _kept(fared.get(one["name"]))),
        Column("Prediction error", lambda one: _error(fared.get(one["name"])), numeric=True),
    ]
    nothing = (
        ui.empty(f"No template matches “{wanted}”.", ui.link("Show all", PATH))
        if wanted
        else ui.empty(
            "No templates yet.",
            ui.link("Add a template", "/templates/new", button=True),
        )
    )
    parts: list[Any] = [ui.table(columns, shown, nothing, "Templates, the latest version of each")]
    if len(found) > MOST:
        parts.append(html.P(f"{MOST} of {len(found)} are shown. Search for the others.", className="muted"))
    if shown:
        parts.append(html.Small(f"Statistics of the last {RECENT} ended flows.", className="muted"))
    return ui.card(None, *parts)


def matching(templates: Sequence[TemplateSummary], wanted: str) -> list[TemplateSummary]:
    """Those in which every word stands somewhere."""
    words = wanted.casefold().split()
    return [
        one
        for one in templates
        if all(word in f"{one.name} {one.title} {one.description}".casefold() for word in words)
    ]


def _lines(told: list[str]) -> Any:
    return html.Div([html.Div(one) for one in told]) if told else "none"


def _name(one: Document) -> Component:
    return html.Div(
        [
            html.Strong(ui.link(one["name"], f"{PATH}/{one['name']}")),
            html.Small(f"version {one['version']}", className="muted"),
            html.Span(one["title"]),
        ]
    )


def _state(one: Document, fared: Health | None) -> Component:
    dry_run = one["mode"] == "dry-run"
    badges = [ui.badge("dry run", "wait") if dry_run else ui.badge("active", "good")]
    if fared is None:
        badges.append(ui.badge("unused"))
    if one["pausable"]:
        badges.append(ui.badge("pausable"))
    return html.Div(badges)


def _flows(one: Document, fared: Health | None, here: Visit) -> Any:
    if fared is None:
        return "none"
    to = f"/decisions?template={one['name']}"
    last = html.Small(ui.together(f"last {ui.ago(fared.last, here)}"), className="muted")
    return html.Span([ui.link(str(fared.flows), to), last])


def _kept(fared: Health | None) -> Any:
    if fared is None or not fared.judged:
        return ui.words.NONE
    share = fared.kept / fared.judged
    tone: Tone = "good" if share >= 0.9 else "wait" if share >= 0.6 else "bad"
    return ui.bar(share, f"{fared.kept} of {fared.judged}", tone)


def _error(fared: Health | None) -> str:
    return error(None if fared is None else fared.error)


def _callbacks(app: Dash) -> None:
    filters.install(app, PREFIX, ("q",), ("q",))


PAGE = Page(
    PATH, "Templates", Action.TEMPLATE_READ, show, live, 30.0, group=Group.POLICY, callbacks=_callbacks
)
