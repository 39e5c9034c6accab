"""Forms whose values become a request to the API, and buttons in the rows of tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from dash import ALL, Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.development.base_component import Component

from adon.errors import AdonError, InvalidInput, Problem
from apps.dashboard.router import URL
from apps.dashboard.ui.blocks import failure
from apps.dashboard.ui.fields import choice, field, problems_of, text_input
from apps.dashboard.visit import Visit, visit

Kind = Literal["text", "choice", "integer", "integers", "time", "output"]
"""How a field is read: *time* is local, *output* is the output of programs in several lines."""


@dataclass(frozen=True, slots=True)
class FormField:
    """Field of a form.

    :param name: name of the field of the request.
    :param example: shown in the empty field.
    """

    name: str
    label: str
    example: str = ""
    hint: str = ""
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class EntryForm:
    """Form of a request; empty fields are left out of it.

    :param prefix: beginning of the ids of its fields.
    """

    prefix: str
    fields: tuple[FormField, ...]

    def draw(
        self,
        values: Mapping[str, str] | None = None,
        options: Mapping[str, Sequence[tuple[str, str]]] | None = None,
        *,
        names: Sequence[str] | None = None,
    ) -> list[Component]:
        """Return the fields with their labels.

        :param options: of each choice, by its name.
        :param names: of the fields to draw; all if None.
        """
        shown = [one for one in self.fields if names is None or one.name in names]
        known = values or {}
        return [
            field(one.label, self._control(one, known.get(one.name), options or {}), one.hint)
            for one in shown
        ]

    def states(self) -> list[State]:
        """Return the values of all fields, for a callback."""
        return [State(self.id(one.name), "value") for one in self.fields]

    def problem_outputs(self, *, duplicate: bool = False) -> list[Output]:
        """Return the places below the fields for their problems."""
        return [
            Output(f"{self.id(one.name)}-problem", "children", allow_duplicate=duplicate)
            for one in self.fields
        ]

    def read(self, values: Sequence[Any], zone: ZoneInfo) -> dict[str, Any]:
        """Return the request of the values of :meth:`states`.

        :param zone: of times without an offset.
        :raises InvalidInput: for a number that is none.
        """
        problems: list[Problem] = []
        request = {}
        for one, value in zip(self.fields, values, strict=True):
            text = str(value or "").strip()
            if text:
                request[one.name] = _read(one, text, zone, problems)
        if problems:
            raise InvalidInput(problems)
        return request

    def place_problems(self, error: AdonError | None) -> tuple[Component | None, list[str]]:
        """Return a box for problems without a field in this form, and the problem of each field."""
        if error is None:
            return None, [""] * len(self.fields)
        names = [one.name for one in self.fields]
        placed: dict[str, str] = {}
        found = problems_of(error)
        for name, cause in found.items():
            parts = name.split(".")
            own = next((one for one in (name, parts[0], parts[-1]) if one in names), None)
            if own is not None:
                placed[own] = cause
        box = failure(error) if len(placed) < len(found) or not found else None
        return box, [placed.get(name, "") for name in names]

    def on_submit(
        self,
        app: Dash,
        button: str,
        output: str,
        submit: Callable[..., Any],
        *more: State,
    ) -> None:
        """Call ``submit`` with the request when a button is pressed, and show its result or the problems.

        :param output: id of the element for the result.
        :param submit: takes the visit, the request and the further values; returns the result, or the address
            of the page to open.
        :param more: further values.
        """

        @app.callback(
            Output(output, "children", allow_duplicate=True),
            Output(URL, "href", allow_duplicate=True),
            *self.problem_outputs(),
            Input(button, "n_clicks"),
            *self.states(),
            *more,
            running=[(Output(button, "disabled"), True, False)],
            prevent_initial_call=True,
        )
        def answer(clicks: int | None, *values: Any) -> Any:
            count = len(self.fields)
            if not clicks:
                return (no_update,) * (2 + count)
            here = visit()
            try:
                shown = submit(here, self.read(values[:count], here.zone), *values[count:])
            except AdonError as error:
                box, problems = self.place_problems(error)
                return box, no_update, *problems
            fields = self.place_problems(None)[1]
            return ("", shown, *fields) if isinstance(shown, str) else (shown, no_update, *fields)

    def id(self, name: str) -> str:
        """Return the id of a field's control."""
        return f"{self.prefix}-{name.replace('_', '-')}"

    def _control(
        self, one: FormField, value: str | None, options: Mapping[str, Sequence[tuple[str, str]]]
    ) -> Component:
        if one.kind == "choice":
            return choice(self.id(one.name), options[one.name], value)
        if one.kind == "output":
            return dcc.Textarea(id=self.id(one.name), className="source", spellCheck=False, rows=7)
        return text_input(self.id(one.name), value or "", one.example)


def row_button(action: str, row: str, label: str, *, disabled: bool = False) -> Component:
    """Return a button in a row of a table.

    :param action: name of what the button does, such as ``job-cancel``.
    :param row: id of the row's object.
    """
    return html.Button(label, id={"type": action, "index": row}, className="danger small", disabled=disabled)


def on_row_button(app: Dash, action: str, output: str, act: Callable[[Visit, str], Any]) -> None:
    """Call ``act`` with the id of a row when its button is pressed, and show the result or the error."""

    @app.callback(
        Output(output, "children", allow_duplicate=True),
        Input({"type": action, "index": ALL}, "n_clicks"),
        prevent_initial_call=True,
    )
    def answer(clicks: list[int | None]) -> Any:
        if not any(clicks) or not isinstance(ctx.triggered_id, dict):
            return no_update
        try:
            return act(visit(), str(ctx.triggered_id["index"]))
        except AdonError as error:
            return failure(error)


def read_moment(text: str, zone: ZoneInfo) -> str:
    """Return a local time with its offset; other texts, such as ``8 h``, are for the API to read."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)).isoformat()


def _read(one: FormField, text: str, zone: ZoneInfo, problems: list[Problem]) -> Any:
    match one.kind:
        case "time":
            return read_moment(text, zone)
        case "integer":
            return _integer(one, text, problems)
        case "integers":
            return [_integer(one, part, problems) for part in text.replace(",", " ").split()]
        case _:
            return text


def _integer(one: FormField, text: str, problems: list[Problem]) -> int:
    if text.isdecimal() and text.isascii() and len(text) <= 9:
        return int(text)
    example = one.example.split()[0] if one.example else "4"
    problems.append(Problem(one.name, f"{text[:40]!r} is not a whole number; expected for example {example}"))
    return 0
