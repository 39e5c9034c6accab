"""Filters of a list. They are part of the address, so a filtered list can be sent as a link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from dash import Dash, Input, Output, State, html, no_update
from dash.development.base_component import Component

from apps.dashboard.visit import Visit


@dataclass(frozen=True, slots=True)
class Filters:
    """Controls that narrow a list.

    :param prefix: of the ids of the controls: ``flows`` of ``flows-state``.
    :param names: of the parameters of the address.
    """

    prefix: str
    names: tuple[str, ...]

    def values(self, here: Visit) -> Mapping[str, str]:
        """Return the filters of the address; an empty one is left out."""
        return {name: here.query[name] for name in self.names if here.query.get(name)}

    def form(self, *fields: Component) -> Component:
        """Return the fields beside each other."""
        return html.Div(list(fields), className="controls")

    def install(self, app: Dash) -> None:
        """Have the address follow the controls."""

        @app.callback(
            Output("url", "search", allow_duplicate=True),
            inputs={
                "values": [Input(f"{self.prefix}-{name}", "value") for name in self.names],
                "before": State("url", "search"),
            },
            prevent_initial_call=True,
        )
        def narrow(values: list[str | None], before: str | None) -> Any:
            given = {name: (value or "").strip() for name, value in zip(self.names, values, strict=True)}
            chosen = urlencode({name: value for name, value in given.items() if value})
            search = f"?{chosen}" if chosen else ""
            return no_update if search == (before or "") else search
