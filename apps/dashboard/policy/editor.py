"""The template editor: the text, what is wrong with it as one types, its picture, a backtest, saving."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from dash import ALL, ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.base import ProblemItem
from adon.api.templates import TemplateCheck
from adon.errors import AdonError, NotFound
from adon.templates_catalog.template_text import write_template
from apps.dashboard import ui
from apps.dashboard.page import Page
from apps.dashboard.policy import backtesting, checked
from apps.dashboard.policy.words import Document, allowed
from apps.dashboard.router import URL
from apps.dashboard.visit import Visit, visit

TEXT, SETTLED, GUTTER, PROBLEMS = "editor-text", "editor-settled", "editor-gutter", "editor-problems"
PICTURE, SAVE, SAID = "editor-picture", "editor-save", "editor-said"

START: Document = {
    "name": "my-application",
    "title": "Short title",
    "description": "What the application transfers.",
    "match": {"applications": ["my-application"]},
    "qspec": {"throughput": {"min": "700 Mbps"}, "loss": {"max": "0.1 %"}},
    "rspec": {"bandwidth_ceiling": "10 Gbps"},
    "weights": {"throughput": 0.8, "loss": 0.2},
    "tables": {"throughput": {"points": [["700 Mbps", 1], ["10 Gbps", 10]]}},
    "priority": 500,
}
"""What a new template begins as."""


def show_new(here: Visit) -> Component:
    """An editor that begins with the parts that every template has."""
    lead = "A template needs a name, bounds and weights."
    like = here.query.get("like")
    text = write_template(
        START if like is None else {**here.client.template(like), "name": f"{like}-2"},
        version=False,
    )
    return _page(here, ui.head("New template", lead), text, None)


def show_edit(here: Visit) -> Component:
    """An editor on the latest version of a template."""
    name = here.parts["name"]
    template = here.client.template(name)
    lead = f"Version {template['version']} is kept. Save creates the next version."
    head = ui.head(f"New version of {name}", lead, ui.link("Back to the template", f"/templates/{name}"))
    return _page(here, head, write_template(template, version=False), name)


def _page(here: Visit, head: Component, text: str, name: str | None) -> Component:
    return html.Div([head, *_notes(here), panel(here, text, name)])


def _notes(here: Visit) -> list[Component]:
    if allowed(here, Action.TEMPLATE_ADD):
        return []
    return [ui.notice("You can check a template. Only a performance engineer can save it.", "wait")]


def panel(here: Visit, text: str, name: str | None) -> Component:
    """Text of the template with its problems and lookup tables, and the backtest below.

    :param name: the template that it will be a version of; None for a new one, which has no past.
    """
    area = dcc.Textarea(
        id=TEXT, value=text, rows=checked.rows_of(text), wrap="off", spellCheck=False, className="source"
    )
    lines = html.Pre(checked.gutter(text, []), id=GUTTER, **{"aria-hidden": "true"})
    save = html.Button("Save", id=SAVE, disabled=True, type="button")
    left = ui.card(
        None,
        html.Label("Template, as YAML", htmlFor=TEXT),
        html.Div([lines, area], className="writing"),
        html.Div([save, html.Div(id=SAID, **{"aria-live": "polite"})], className="deeds"),
    )
    right = [
        html.Div(id=PROBLEMS, **{"aria-live": "polite"}),
        ui.card("Lookup tables", html.Div(id=PICTURE)),
    ]
    below = []
    if name is not None and allowed(here, Action.TEMPLATE_BACKTEST):
        below.append(backtesting.card(here, name))
    return html.Div([dcc.Store(id=SETTLED), html.Div([left, html.Div(right)], className="editor"), *below])


def look(here: Visit, text: str) -> tuple[Any, ...]:
    """What the check of a text shows: problems, line numbers, rows, picture, the button.

    :raises AdonError: if the API does not answer.
    """
    found = here.client.check_template(text)
    template = found.template
    problems = checked.problems(found.problems)
    lines = checked.gutter(text, checked.wrong_lines(found.problems))
    older = None if template is None else _older(here, template["name"])
    label = "Save" if template is None else f"Save as {template['name']}, version {found.next_version}"
    return (
        problems,
        lines,
        checked.rows_of(text),
        checked.picture(found, older),
        template is None or not allowed(here, Action.TEMPLATE_ADD),
        label,
    )


def _older(here: Visit, name: str) -> TemplateCheck | None:
    """The check of the latest version that this would follow; None if it is the first."""
    try:
        saved = here.client.template(name)
    except NotFound:
        return None
    return here.client.check_template(json.dumps(saved), "json")


def save(here: Visit, text: str) -> str:
    """Save the text as it stands; where to go then.

    :raises AdonError: what the API says against it.
    """
    found = here.client.check_template(text)
    if found.template is None:
        raise _InvalidText(found.problems)
    document = {name: part for name, part in found.template.items() if name != "version"}
    saved = here.client.add_template(document)
    name, version = saved["name"], saved["version"]
    return f"/templates/{quote(name)}?saved={version}"


class _InvalidText(AdonError):
    """The text is wrong; its problems stand beside it already."""

    def __init__(self, found: Sequence[ProblemItem]) -> None:
        super().__init__("; ".join(f"{one.field}: {one.cause}" for one in found))


def _callbacks(app: Dash) -> None:
    ui.settled(app, SETTLED, [Input(TEXT, "value")])
    app.clientside_callback(
        ClientsideFunction("adon_policy", "goto"),
        Output(TEXT, "title"),
        Input({"type": "editor-line", "line": ALL, "field": ALL}, "n_clicks"),
        prevent_initial_call=True,
    )

    @app.callback(
        Output(PROBLEMS, "children"),
        Output(GUTTER, "children"),
        Output(TEXT, "rows"),
        Output(PICTURE, "children"),
        Output(SAVE, "disabled"),
        Output(SAVE, "children"),
        Input(SETTLED, "data"),
        prevent_initial_call=True,
    )
    def check(typed: list[str | None] | None) -> Any:
        text = typed[0] if typed else None
        if text is None:
            return (no_update,) * 6
        try:
            return look(visit(), text)
        except AdonError as error:
            return (ui.failure(error), *(no_update,) * 3, True, no_update)

    @app.callback(
        Output(SAID, "children"),
        Output(URL, "href", allow_duplicate=True),
        Input(SAVE, "n_clicks"),
        State(TEXT, "value"),
        prevent_initial_call=True,
        running=[(Output(SAVE, "disabled"), True, False)],
    )
    def keep(clicks: int | None, text: str | None) -> Any:
        if not clicks:
            return no_update, no_update
        try:
            return "", save(visit(), text or "")
        except AdonError as error:
            return checked.problems(checked.refused(error)), no_update

    backtesting.install(app, TEXT)


NEW = Page("/templates/new", "New template", Action.TEMPLATE_CHECK, show_new, callbacks=_callbacks)
EDIT = Page("/templates/<name>/edit", "Edit a template", Action.TEMPLATE_CHECK, show_edit)
