"""Controls of a form, each with its label, a hint and its problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dash_bootstrap_components as dbc
from dash import ClientsideFunction, Dash, Output, dcc, html
from dash.development.base_component import Component

from adon.errors import AdonError, Conflict, InvalidInput


def field(label: str, control: Component, hint: str = "", problem: str = "") -> Component:
    """Return a control with its label, a hint, and a problem that screen readers announce.

    The control has an ``id`` that is text.
    """
    name = str(control.id)
    below: list[Component] = []
    if hint:
        below.append(html.Small(hint, className="hint", id=f"{name}-hint"))
    below.append(html.Span(problem, className="problem", id=f"{name}-problem", **{"aria-live": "polite"}))
    return html.Div([html.Label(label, htmlFor=name), control, *below], className="field")


def text_input(name: str, value: str = "", placeholder: str = "", **more: Any) -> Component:
    """Return a text field.

    A filter waits for a pause in typing by ``debounce=0.4``, a form with a preview by :func:`settled`.
    """
    return dcc.Input(id=name, value=value, placeholder=placeholder, type="text", **more)


def settled(app: Dash, store: str, inputs: Sequence[Any]) -> None:
    """Have a store follow some inputs (as a list) after a pause in typing.

    :param store: the id of a ``dcc.Store``; server callbacks take it as their input.
    """
    app.clientside_callback(ClientsideFunction("adon", "settle"), Output(store, "data"), *inputs)


def choice(name: str, options: Sequence[tuple[str, str]], chosen: str | None = None) -> Component:
    """Return the browser's own list of options, which screen readers and phones support.

    :param options: pairs of value and label; an empty value means that nothing is chosen.
    """
    shown = [{"value": value, "label": label} for value, label in options]
    # While it is open, the browser shows this hidden line, not the option of the same empty value.
    opened = next((label for value, label in options if value == ""), "choose …")
    return dbc.Select(id=name, options=shown, value=chosen or "", placeholder=opened)


def several(legend: str, name: str, options: Sequence[tuple[str, str]], chosen: Sequence[str]) -> Component:
    """Return check boxes for some of many; a long list scrolls.

    :param options: pairs of value and label.
    """
    shown = [{"value": value, "label": label} for value, label in options]
    boxes = html.Div(
        dbc.Checklist(id=name, options=shown, value=list(chosen)), className="several", tabIndex=0
    )
    problem = html.Span(className="problem", id=f"{name}-problem", **{"aria-live": "polite"})
    return html.Fieldset([html.Legend(legend), boxes, problem], className="field")


def problems_of(error: AdonError) -> Mapping[str, str]:
    """Return the causes of an error by field; a cause without a field has the empty name."""
    if isinstance(error, InvalidInput):
        return {one.field: one.cause for one in error.problems}
    if isinstance(error, Conflict):
        return {error.field: error.cause}
    return {"": str(error)}
