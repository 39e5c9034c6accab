"""Our JSON of components is Dash's own."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any

import plotly.graph_objects as go
import pytest
from dash import dcc, html, no_update
from plotly.io.json import to_json_plotly

from apps.dashboard.encoding import changed, encoded, plain
from apps.dashboard.page import find
from apps.dashboard.pages import PAGES
from apps.dashboard.ui.making import made
from tests.apps.web import World
from tests.dashboard.conftest import Visiting
from tests.dashboard.test_pages_in_a_browser import PATHS


def same(content: Any) -> None:
    theirs = json.loads(to_json_plotly(content))
    assert json.loads(encoded(content)) == theirs
    assert json.loads(to_json_plotly(plain(content))) == theirs


def test_of_every_page(world: World, visiting: Visiting) -> None:
    world.fill(world.submit())
    for path in PATHS:
        address, _, query = path.partition("?")
        found = find(PAGES, address)
        assert found is not None
        page, parts = found
        here = visiting(parts=parts, query=dict(one.split("=") for one in query.split("&") if one))
        same(page.show(here))
        if page.live is not None:
            same(page.live(here))


@pytest.mark.parametrize(
    "content",
    [
        [],
        None,
        "plain",
        html.Div(),
        html.Div([None, 1, 2.5, True, "x", ["y", html.B("z")]], **{"data-label": "l", "aria-hidden": "true"}),
        html.Button(id={"type": "seen", "id": "a-1"}, n_clicks=0),
        dcc.Graph(figure=go.Figure(go.Scatter(x=[datetime(2026, 1, 1, tzinfo=UTC)], y=[math.nan]))),
        dcc.Store(id="kept", data={"a": [math.inf, 1], "b": {"c": None}}),
    ],
)
def test_of_everything_that_may_be_in_one(content: Any) -> None:
    same(content)


def test_a_component_made_quickly_is_the_same() -> None:
    for _ in range(2):  # the second of a shape is the quick one
        quick = made(html.Td, ["x"], className="number", **{"data-label": "Size"})
        assert type(quick) is html.Td
        assert vars(quick) == vars(html.Td(["x"], className="number", **{"data-label": "Size"}))
    assert made(html.Td, "y", className="") is not made(html.Td, "y", className="")


def test_a_property_that_there_is_not_is_refused() -> None:
    for _ in range(2):
        with pytest.raises(TypeError, match="classNam"):
            made(html.Td, "x", classNam="number")


def test_what_is_there_already_is_not_sent_again() -> None:
    content, tag = changed(html.Div("x"), None)
    assert content == {"props": {"children": "x"}, "type": "Div", "namespace": "dash_html_components"}
    assert changed(html.Div("x"), str(tag)) == (no_update, no_update)
    assert changed(html.Div("y"), str(tag))[1] != tag
