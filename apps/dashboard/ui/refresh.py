"""Parts of a page that are requested again every few seconds, while the page is visible."""

from __future__ import annotations

import hashlib
from typing import Any

from dash import MATCH, ClientsideFunction, Dash, Input, Output, dcc, no_update
from dash.development.base_component import Component
from plotly.io.json import to_json_plotly


def ticker(name: str, seconds: float) -> list[Component]:
    """Return a timer; a callback with the input :func:`look` is called at each of its looks.

    A hidden page (another tab, a locked screen) has no looks. When it is shown again, it has one at once
    (``assets/refresh.js``).
    """
    interval = dcc.Interval(id=_id("tick", name), interval=seconds * 1000)
    return [interval, dcc.Store(id=_id("look", name))]


def look(name: str) -> Input:
    """Return the input of a callback that is called at each look."""
    return Input(_id("look", name), "data")


def digest_of(content: Any) -> str:
    """Return a digest that changes exactly when the components do."""
    return hashlib.sha256(to_json_plotly(content).encode()).hexdigest()[:32]


def changed(content: Any, before: str | None) -> tuple[object, object]:
    """Return components and their digest for a callback, or ``no_update`` for both if nothing has changed.

    Components that are sent again are drawn again, and the callbacks of their parts are called.
    """
    digest = digest_of(content)
    return (no_update, no_update) if digest == before else (content, digest)


def install(app: Dash) -> None:
    """Turn the ticks of every timer into looks."""
    app.clientside_callback(
        ClientsideFunction("adon_refresh", "look"),
        Output({"type": "look", "of": MATCH}, "data"),
        Input({"type": "tick", "of": MATCH}, "n_intervals"),
        prevent_initial_call=True,
    )


def _id(kind: str, name: str) -> dict[str, str]:
    return {"type": kind, "of": name}
