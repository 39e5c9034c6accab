"""Buttons and forms: one request to the API, its answer in words, and the page refreshed at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dash import ALL, Dash, Input, Output, State, ctx, dcc, html
from dash.development.base_component import Component
from dash.exceptions import PreventUpdate

from adon.errors import AdonError
from apps.dashboard.ui.blocks import failure, notice
from apps.dashboard.ui.fields import problems_of
from apps.dashboard.visit import Visit, visit

LOOKS = Output({"type": "look", "of": ALL}, "data", allow_duplicate=True)
"""Every timer of the page (:mod:`.refresh`)."""

Act = Callable[[Visit, str], Any]
"""Does what a button says, for the index of the button; returns a text or a component."""
Submit = Callable[[Visit, dict[str, Any]], Any]
"""Sends what a form has, by field; returns a text or a component."""


def button(
    kind: str, index: str, text: str, *, danger: bool = True, label: str = "", confirm: str = ""
) -> Component:
    """Return one of several buttons for :func:`install_buttons`.

    :param index: the object that it is for.
    :param label: its name for screen readers, if the text does not name the object.
    :param confirm: a question to answer first.
    """
    name = {"type": kind, "index": index}
    named = {"aria-label": label} if label else {}
    shown = "danger small" if danger else "quiet small"
    if not confirm:
        return html.Button(text, id=name, className=shown, **named)
    return dcc.ConfirmDialogProvider(html.Button(text, className=shown, **named), id=name, message=confirm)


def install_buttons(app: Dash, kind: str, answer: str, act: Act, *, confirmed: bool = False) -> None:
    """Call a function when one of the buttons of this kind is pressed.

    :param answer: the id of the component that shows what it returns.
    """
    trigger = Input({"type": kind, "index": ALL}, "submit_n_clicks" if confirmed else "n_clicks")

    @app.callback(Output(answer, "children", allow_duplicate=True), LOOKS, trigger, prevent_initial_call=True)
    def press(clicks: Sequence[int | None]) -> tuple[Any, Any]:
        if not any(clicks) or not isinstance(ctx.triggered_id, dict):
            raise PreventUpdate
        return _answer(act, str(ctx.triggered_id["index"])), _looks()


def install_button(app: Dash, name: str, answer: str, act: Callable[[Visit], Any]) -> None:
    """Call a function when the button of this id is pressed; it is disabled meanwhile."""

    @app.callback(
        Output(answer, "children", allow_duplicate=True),
        LOOKS,
        Input(name, "n_clicks"),
        running=[(Output(name, "disabled"), True, False)],
        prevent_initial_call=True,
    )
    def press(clicks: int | None) -> tuple[Any, Any]:
        if not clicks:
            raise PreventUpdate
        return _answer(lambda here, _index: act(here), ""), _looks()


@dataclass(frozen=True, slots=True)
class Form:
    """A form of fields with the names that the API has for them.

    :param name: prefix of the ids of its components.
    :param fields: names of the fields. Their controls have the ids of :meth:`id_of`.
    """

    name: str
    fields: tuple[str, ...]

    def id_of(self, field: str) -> str:
        """Return the id of the control of a field."""
        return f"{self.name}-{field.replace('.', '-')}"

    def submit(self, text: str) -> Component:
        """Return the button and the place of the answer."""
        send = html.Button(text, id=f"{self.name}-submit", type="button")
        return html.Div([send, html.Div(id=f"{self.name}-answer", role="status")], className="submit")

    def install(self, app: Dash, send: Submit) -> None:
        """Send the form when its button is pressed; a problem stands at its field."""

        @app.callback(
            output={
                "answer": Output(f"{self.name}-answer", "children"),
                "problems": [Output(f"{self.id_of(field)}-problem", "children") for field in self.fields],
                "looks": LOOKS,
            },
            inputs={
                "clicks": Input(f"{self.name}-submit", "n_clicks"),
                "values": [State(self.id_of(field), "value") for field in self.fields],
            },
            running=[(Output(f"{self.name}-submit", "disabled"), True, False)],
            prevent_initial_call=True,
        )
        def press(clicks: int | None, values: Sequence[Any]) -> dict[str, Any]:
            if not clicks:
                raise PreventUpdate
            problems = [""] * len(self.fields)
            try:
                answer = _done(send(visit(), dict(zip(self.fields, values, strict=True))))
            except AdonError as error:
                answer, problems = self._problems(error)
            return {"answer": answer, "problems": problems, "looks": _looks()}

    def _problems(self, error: AdonError) -> tuple[Component, list[str]]:
        found = problems_of(error)
        beside = [found.get(field, "") for field in self.fields]
        others = [f"{name}: {cause}" for name, cause in found.items() if name and name not in self.fields]
        if not any(beside):
            return failure(error), beside
        return notice("; ".join(others) or "Correct the marked fields.", "bad"), beside


def _answer(act: Act, index: str) -> Component:
    try:
        return _done(act(visit(), index))
    except AdonError as error:
        return failure(error)


def _done(answer: Any) -> Component:
    return answer if isinstance(answer, Component) else notice(answer, "good")


def _looks() -> list[float]:
    """Return a new value for each timer of the page; the outputs of the callback name them."""
    timers = next(output for output in ctx.outputs_list if isinstance(output, list))
    return [time.monotonic()] * len(timers)
