"""``/templates``: the latest version of each template, and the outcomes of its flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.templates import TemplateSummary
from apps.dashboard import ui
from apps.dashboard.filter_form import Filter, FilterForm
from apps.dashboard.page import Group, Page
from apps.dashboard.policy.formats import Document, bound_texts, error_text, may_own, weight_text
from apps.dashboard.policy.outcome_view import OutcomeStatistics, statistics_by_template
from apps.dashboard.ui.blocks import Tone
from apps.dashboard.ui.document_table import Columns, document_table
from apps.dashboard.visit import Visit

PATH = "/templates"
RECENT = 1000
"""Latest outcomes that the statistics are of."""
LISTED = 50
GOOD, FAIR = 0.9, 0.6
"""Share of flows with met bounds from which it is shown as good or fair."""
FILTERS = FilterForm(PATH, (Filter("q", "Search", "name, title or purpose"),))


def show(here: Visit) -> Component:
    """Heading and search."""
    new = (
        [ui.link("New template", "/templates/new", button=True)] if may_own(here, Action.TEMPLATE_ADD) else []
    )
    lead = "Requirements of applications, and how candidate paths are scored."
    return html.Div([ui.head("Application templates", lead, *new), FILTERS.draw(here)])


def live(here: Visit) -> Component:
    """The templates that match the search."""
    found = matching_templates(here.client.templates(), here.query.get("q", ""))
    shown = [here.client.template(one.name, str(one.version)) for one in found[:LISTED]]
    table = _template_table(here, shown, statistics_by_template(here.client.outcomes(limit=RECENT)))
    notes = [f"Statistics of the last {RECENT} ended flows."] if shown else []
    if len(found) > LISTED:
        notes.append(f"{LISTED} of {len(found)} are shown. Search for the others.")
    return ui.card(None, table, *(html.P(html.Small(note)) for note in notes))


def matching_templates(templates: Sequence[TemplateSummary], search: str) -> list[TemplateSummary]:
    """Return the templates whose name, title or description contains every word."""
    words = search.casefold().split()
    texts = [f"{one.name} {one.title} {one.description}".casefold() for one in templates]
    return [one for one, text in zip(templates, texts, strict=True) if all(word in text for word in words)]


def _template_table(
    here: Visit, templates: Sequence[Document], statistics: Mapping[str, OutcomeStatistics]
) -> Component:
    columns: Columns = {
        "Template": _name,
        "State": lambda one: _state(one, statistics.get(one["name"])),
        "Bounds": lambda one: html.Div([html.Div(text) for text in bound_texts(one["qspec"])] or "none"),
        "Weights": lambda one: weight_text(one["weights"]),
        "Priority": lambda one: str(one["priority"]),
        "Flows": lambda one: _flows(one, statistics.get(one["name"]), here),
        "Bounds met": lambda one: _kept_bar(statistics.get(one["name"])),
        "Prediction error": lambda one: _error(statistics.get(one["name"])),
    }
    nothing = FILTERS.empty(here, "templates", ui.link("Add a template", "/templates/new", button=True))
    caption = "Templates, the latest version of each"
    numeric = {"Priority", "Prediction error"}
    return document_table(here, columns, templates, nothing, caption, numeric=numeric, whole={"Bounds"})


def _name(one: Document) -> Component:
    link = html.Strong(ui.link(one["name"], f"{PATH}/{one['name']}"))
    version = html.Small(f"version {one['version']}", className="muted")
    return html.Div([html.Div([link, " ", version]), html.Div(one["title"])])


def _state(one: Document, found: OutcomeStatistics | None) -> Component:
    badges = [ui.badge("dry run", "wait") if one["mode"] == "dry-run" else ui.badge("active", "good")]
    if found is None:
        badges.append(ui.badge("unused"))
    if one["pausable"]:
        badges.append(ui.badge("pausable"))
    return html.Div(badges)


def _flows(one: Document, found: OutcomeStatistics | None, here: Visit) -> Any:
    if found is None:
        return "none"
    last = html.Small(ui.together(f"last {ui.ago(found.last_at, here)}"), className="muted")
    return html.Span([ui.link(str(found.flows), f"/decisions?template={one['name']}"), " ", last])


def _kept_bar(found: OutcomeStatistics | None) -> Any:
    if found is None or found.kept_text is None:
        return ui.words.NONE
    share = found.kept / found.admitted
    tone: Tone = "good"
    if share < GOOD:
        tone = "wait" if share >= FAIR else "bad"
    return ui.bar(share, found.kept_text, tone)


def _error(found: OutcomeStatistics | None) -> str:
    return error_text(None if found is None else found.error)


PAGE = Page(
    PATH, "Templates", Action.TEMPLATE_READ, show, live, 30.0, group=Group.POLICY, callbacks=FILTERS.register
)
