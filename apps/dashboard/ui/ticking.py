"""What a page asks again every few seconds, while somebody can see it."""

from __future__ import annotations

from typing import Any

from dash import MATCH, ClientsideFunction, Dash, Input, Output, dcc
from dash.development.base_component import Component


def ticker(name: str, seconds: float, *, disabled: bool = False) -> list[Component]:
    """What looks every so many seconds; a callback's input is :func:`look`.

    While the page is hidden (another tab, a locked screen) nothing is looked at; when it is shown again,
    that is done at once (``assets/fresh.js``).
    """
    interval = dcc.Interval(id=tick(name), interval=seconds * 1000, disabled=disabled)
    return [interval, dcc.Store(id=_of("look", name))]


def look(name: str) -> Input:
    """The input of a callback that is called at each look."""
    return Input(_of("look", name), "data")


def tick(name: str) -> Any:
    """The id of the ``dcc.Interval`` behind a ticker."""
    return _of("tick", name)


def install(app: Dash) -> None:
    """Have every ticker tick."""
    app.clientside_callback(
        ClientsideFunction("adon_fresh", "look"),
        Output({"type": "look", "of": MATCH}, "data"),
        Input({"type": "tick", "of": MATCH}, "n_intervals"),
        prevent_initial_call=True,
    )


def _of(kind: str, name: str) -> dict[str, str]:
    return {"type": kind, "of": name}
