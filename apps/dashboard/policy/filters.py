"""Filters that stand in the address, so that what is shown can be sent to somebody; and pages of lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from apps.dashboard import ui
from apps.dashboard.router import URL
from apps.dashboard.visit import Visit


def address(path: str, query: Mapping[str, Any], **changes: Any) -> str:
    """An address with this query; what is empty is left out."""
    chosen = {name: value for name, value in {**query, **changes}.items() if value not in (None, "")}
    return f"{path}?{urlencode(chosen)}" if chosen else path


def form(prefix: str, fields: Sequence[Component], path: str) -> Component:
    """Fields, with a button that shows what they leave, and one way back to all."""
    show = html.Button("Show", id=f"{prefix}-show", type="button")
    return html.Div(
        [*fields, html.Div([show, " ", ui.link("All", path)], className="deeds field")], className="filters"
    )


def text(prefix: str, name: str, label: str, here: Visit, placeholder: str = "") -> Component:
    """A line of text that narrows the list."""
    return ui.field(label, line(f"{prefix}-{name}", here.query.get(name, ""), placeholder))


def line(name: str, value: str = "", placeholder: str = "", **more: Any) -> Component:
    """A line of text that is read when a button is pressed: as it is then, not as it was before it rested."""
    return dcc.Input(id=name, value=value, placeholder=placeholder, type="text", **more)


def choice(
    prefix: str, name: str, label: str, here: Visit, options: Sequence[tuple[str, str]], default: str = ""
) -> Component:
    """One of some that narrows the list; the empty value is everything."""
    return ui.field(label, ui.choice(f"{prefix}-{name}", options, here.query.get(name, default)))


def install(app: Dash, prefix: str, names: Sequence[str], lines: Sequence[str] = ()) -> None:
    """The button, and Enter in one of the ``lines`` of text, put the fields into the address."""

    @app.callback(
        Output(URL, "search", allow_duplicate=True),
        Input(f"{prefix}-show", "n_clicks"),
        *(Input(f"{prefix}-{name}", "n_submit") for name in lines),
        *(State(f"{prefix}-{name}", "value") for name in names),
        prevent_initial_call=True,
    )
    def show(*said: Any) -> Any:
        asked, values = said[: 1 + len(lines)], said[1 + len(lines) :]
        if not any(asked):
            return no_update
        return address("", dict(zip(names, (_plain(value) for value in values), strict=True)))


def _plain(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def pages(path: str, here: Visit, following: str | None) -> Component | None:
    """The ways to the next page, and to the first."""
    ways = [ui.link("First page", address(path, here.query, before=""))] if here.query.get("before") else []
    if following is not None:
        ways.append(ui.link("Older", address(path, here.query, before=following)))
    return html.Nav(ways, className="pages", **{"aria-label": "Pages of the list"}) if ways else None
