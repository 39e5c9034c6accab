"""Charts: a figure on a page, with words for who cannot see it."""

from __future__ import annotations

import plotly.graph_objects as go
from dash import dcc, html
from dash.development.base_component import Component


def chart(name: str, drawn: go.Figure, says: str, height: int = 300) -> Component:
    """A figure on a page.

    :param name: its id.
    :param says: what it shows, in a sentence, for who cannot see it; its data belong in a table nearby.
    """
    graph = dcc.Graph(
        id=name,
        figure=drawn,
        responsive=True,
        style={"height": f"{height}px"},
        config={"displaylogo": False, "displayModeBar": False, "doubleClick": "reset", "scrollZoom": False},
    )
    return html.Figure([html.Div(graph, **{"aria-hidden": "true"}), html.Figcaption(says)], className="chart")
