"""``/templates/new`` and ``/templates/<name>/edit``: a template as YAML, checked while it is written."""

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
from adon.errors import AdonError, InvalidInput, NotFound, Problem
from adon.templates_catalog.template_text import write_template
from apps.dashboard import ui
from apps.dashboard.page import Page
from apps.dashboard.policy import template_backtest
from apps.dashboard.policy.formats import Document, may_own
from apps.dashboard.policy.lookup_curves import template_charts
from apps.dashboard.router import URL
from apps.dashboard.visit import Visit, visit

TEXT, SETTLED, GUTTER, PROBLEMS = "editor-text", "editor-settled", "editor-gutter", "editor-problems"
CHARTS, SAVE, RESULT = "editor-picture", "editor-save", "editor-said"
LEAST_ROWS = 16
LISTED = 40
"""Problems that are listed."""
EXAMPLE: Document = {
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


def show_new(here: Visit) -> Component:
    """Editor of a new template; ``?like=soykb`` copies one."""
    like = here.query.get("like")
    template = EXAMPLE if like is None else {**here.client.template(like), "name": f"{like}-2"}
    head = ui.head("New template", "A template needs a name, bounds and weights.")
    return _page(here, head, template, None)


def show_edit(here: Visit) -> Component:
    """Editor of the latest version of a template."""
    name = here.parts["name"]
    template = here.client.template(name)
    lead = f"Version {template['version']} is kept. Save creates the next version."
    head = ui.head(f"New version of {name}", lead, ui.link("Back to the template", f"/templates/{name}"))
    return _page(here, head, template, name)


def _page(here: Visit, head: Component, template: Document, name: str | None) -> Component:
    """Text with problems and charts; a template that is saved has a backtest, too."""
    text = write_template(template, version=False)
    area = dcc.Textarea(
        id=TEXT, value=text, rows=row_count(text), wrap="off", spellCheck=False, className="source"
    )
    numbers = html.Pre(line_numbers(text, []), id=GUTTER, **{"aria-hidden": "true"})
    save = html.Button("Save", id=SAVE, disabled=True, type="button")
    left = ui.card(
        None,
        html.Label("Template, as YAML", htmlFor=TEXT),
        html.Div([numbers, area], className="writing"),
        html.Div([save, html.Div(id=RESULT, **{"aria-live": "polite"})], className="deeds"),
    )
    problems = html.Div(id=PROBLEMS, **{"aria-live": "polite"})
    right = html.Div([problems, ui.card("Lookup tables", html.Div(id=CHARTS))])
    content: list[Component] = [head]
    if not may_own(here, Action.TEMPLATE_ADD):
        text = "You can check a template. Only a performance engineer can save it."
        content.append(ui.notice(text, "wait"))
    content += [dcc.Store(id=SETTLED), html.Div([left, right], className="editor")]
    if name is not None and may_own(here, Action.TEMPLATE_BACKTEST):
        content.append(template_backtest.card(here, name))
    return html.Div(content)


def row_count(text: str) -> int:
    """Return the rows of the text area: one per line, and some to continue."""
    return max(LEAST_ROWS, text.count("\n") + 3)


def line_numbers(text: str, wrong: Sequence[int]) -> list[Component]:
    """Return the numbers of the lines; those with a problem are marked."""
    return [
        html.Span(f"! {line}", className="at wrong")
        if line in wrong
        else html.Span(f"{line}", className="at")
        for line in range(1, row_count(text) + 1)
    ]


def problem_list(found: Sequence[ProblemItem]) -> Component:
    """Return the problems with line, field and cause."""
    if not found:
        return ui.notice("No problems.", "good")
    items = [html.Li([*_place(one), one.cause]) for one in found[:LISTED]]
    more = html.P(f"… and {len(found) - LISTED} more") if len(found) > LISTED else None
    title = html.H2(ui.count(len(found), "problem"))
    return html.Div([title, html.Ul(items, className="lines"), more], className="notice bad")


def _place(one: ProblemItem) -> list[Any]:
    found: list[Any] = []
    if one.line:
        name = {"type": "editor-line", "line": one.line, "field": one.field}
        found += [html.Button(f"line {one.line}", id=name, className="quiet small", type="button"), " "]
    if one.field:
        found += [html.Code(one.field), ": "]
    return found


def check_text(here: Visit, text: str) -> tuple[Any, ...]:
    """Return problems, line numbers, rows, charts, and state and label of the button.

    :raises AdonError: if the API does not answer.
    """
    found = here.client.check_template(text)
    template = found.template
    label = "Save" if template is None else f"Save as {template['name']}, version {found.next_version}"
    return (
        problem_list(found.problems),
        line_numbers(text, [one.line for one in found.problems if one.line]),
        row_count(text),
        _charts(here, found),
        template is None or not may_own(here, Action.TEMPLATE_ADD),
        label,
    )


def _charts(here: Visit, checked: TemplateCheck) -> Component:
    """Return the lookup tables of the text, over those of the saved version."""
    template = checked.template
    if template is None:
        return ui.empty("Correct the text to show the lookup tables.")
    try:
        saved = here.client.template(template["name"])
        earlier = here.client.check_template(json.dumps(saved), "json").curves
    except NotFound:
        earlier = []
    return template_charts(
        "editor", checked.curves, template["qspec"], earlier, ("saved version", "this text")
    )


def save_text(here: Visit, text: str) -> str:
    """Save the text as the next version; return the address of its page.

    :raises InvalidInput: for a text with problems.
    """
    found = here.client.check_template(text)
    if found.template is None:
        raise InvalidInput([Problem(one.field, one.cause) for one in found.problems])
    saved = here.client.add_template(
        {name: part for name, part in found.template.items() if name != "version"}
    )
    return f"/templates/{quote(saved['name'])}?saved={saved['version']}"


def register_callbacks(app: Dash) -> None:
    """Check the text after each change, go to the line of a problem, and save."""
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
        Output(CHARTS, "children"),
        Output(SAVE, "disabled"),
        Output(SAVE, "children"),
        Input(SETTLED, "data"),
        prevent_initial_call=True,
    )
    def check(typed: list[str | None] | None) -> Any:
        if not typed or typed[0] is None:
            return (no_update,) * 6
        try:
            return check_text(visit(), typed[0])
        except AdonError as error:
            return (ui.failure(error), *(no_update,) * 3, True, no_update)

    @app.callback(
        Output(RESULT, "children"),
        Output(URL, "href", allow_duplicate=True),
        Input(SAVE, "n_clicks"),
        State(TEXT, "value"),
        prevent_initial_call=True,
        running=[(Output(SAVE, "disabled"), True, False)],
    )
    def save(clicks: int | None, text: str | None) -> Any:
        if not clicks:
            return no_update, no_update
        try:
            return "", save_text(visit(), text or "")
        except AdonError as error:
            return ui.failure(error), no_update

    template_backtest.register_callbacks(app, TEXT)


NEW_PAGE = Page(
    "/templates/new", "New template", Action.TEMPLATE_CHECK, show_new, callbacks=register_callbacks
)
EDIT_PAGE = Page("/templates/<name>/edit", "Edit a template", Action.TEMPLATE_CHECK, show_edit)
