"""A figure as a part of a page that needs no other file."""

from __future__ import annotations

import plotly.graph_objects as go

CONFIGURATION = {"displaylogo": False, "responsive": True, "modeBarButtonsToRemove": ["lasso2d", "select2d"]}


def embedded(drawn: go.Figure, name: str, height: int, *, first: bool = False) -> str:
    """The figure as HTML, as wide as the page lets it be.

    :param name: its id on the page; one that is drawn by chance would make each page another.
    :param height: in pixels.
    :param first: whether it brings plotly's program along, for itself and those after it.
    """
    text = drawn.to_html(
        full_html=False,
        include_plotlyjs="inline" if first else False,
        div_id=name,
        default_width="100%",
        default_height=f"{height}px",
        config=CONFIGURATION,
    )
    return str(text)
