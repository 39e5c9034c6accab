"""Filters of a list.  They are part of the address, so that a filtered list can be sent as a link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from dash import Dash, Input, Output, State, html, no_update
from dash.development.base_component import Component

from apps.dashboard.router import URL
from apps.dashboard.ui.blocks import empty, link
from apps.dashboard.ui.fields import choice, field, text_input
from apps.dashboard.visit import Visit

Options = Sequence[tuple[str, str]]
"""Pairs of value and label; the empty value stands for all."""


def address(path: str, query: Mapping[str, Any], **changes: Any) -> str:
    """Return an address with a query; empty values are left out."""
    chosen = {name: value for name, value in {**query, **changes}.items() if value not in (None, "")}
    return f"{path}?{urlencode(chosen)}" if chosen else path


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter.

    :param name: its name in the address.
    :param placeholder: example in a text field; None for a choice.
    :param default: value of a choice that the address does not set.
    """

    name: str
    label: str
    placeholder: str | None = None
    default: str = ""


@dataclass(frozen=True, slots=True)
class FilterForm:
    """The filters of a page.

    :param path: address of the page without a query.
    """

    path: str
    filters: tuple[Filter, ...]

    def draw(self, here: Visit, options: Mapping[str, Options] | None = None) -> Component:
        """Return the filters with the values of the address.

        :param options: of each choice, by its name.
        """
        fields = [
            field(one.label, self._control(one, here.query.get(one.name, one.default), options or {}))
            for one in self.filters
        ]
        show = html.Button("Show", id=self._id("show"), type="button")
        deeds = html.Div([show, " ", link("All", self.path)], className="deeds field")
        return html.Div([*fields, deeds], className="filters")

    def empty(self, here: Visit, objects: str, *ways: Component) -> Component:
        """Return what is shown in place of an empty list: no match, or nothing yet and what to do.

        :param objects: what is listed, in the plural.
        """
        if any(here.query.get(name) for name in ("before", *(one.name for one in self.filters))):
            return empty(f"No {objects} match these filters.", link("Show all", self.path))
        return empty(f"No {objects} yet.", *ways)

    def page_links(self, here: Visit, following: str | None) -> Component | None:
        """Return the links to the first and to the next page of the list.

        :param following: cursor of the next page.
        """
        links = []
        if here.query.get("before"):
            links.append(link("First page", address(self.path, here.query, before="")))
        if following is not None:
            links.append(link("Older", address(self.path, here.query, before=following)))
        return html.Nav(links, className="pages", **{"aria-label": "Pages of the list"}) if links else None

    def states(self) -> list[State]:
        """Return the values of all filters, for a callback."""
        return [State(self._id(one.name), "value") for one in self.filters]

    def query(self, values: Sequence[str | None]) -> dict[str, str]:
        """Return the values of :meth:`states` by the names of the filters."""
        return {one.name: (value or "").strip() for one, value in zip(self.filters, values, strict=True)}

    def register(self, app: Dash) -> None:
        """Write the filters into the address on *Show* and on Enter in a text field."""
        lines = [one for one in self.filters if one.placeholder is not None]

        @app.callback(
            Output(URL, "search", allow_duplicate=True),
            Input(self._id("show"), "n_clicks"),
            *(Input(self._id(one.name), "n_submit") for one in lines),
            *self.states(),
            prevent_initial_call=True,
        )
        def show(*values: Any) -> Any:
            count = 1 + len(lines)
            return address("", self.query(values[count:])) if any(values[:count]) else no_update

    def _control(self, one: Filter, value: str, options: Mapping[str, Options]) -> Component:
        name = self._id(one.name)
        if one.placeholder is not None:
            return text_input(name, value, one.placeholder)
        known = options[one.name]
        if value and value not in dict(known):
            # A link can name what the list does not have, such as an old version or a removed path.
            known = [*known, (value, value)]
        return choice(name, known, value)

    def _id(self, name: str) -> str:
        return f"{self.path.strip('/')}-{name}"
