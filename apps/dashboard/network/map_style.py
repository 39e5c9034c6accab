"""Colours and strokes of the map, and its legend.

The map is drawn on a canvas, out of the style sheet's reach: its colours hold on light and dark ground alike.
No colour stands alone: each state has a stroke of its own, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import html
from dash.development.base_component import Component

from apps.dashboard.network import health
from apps.dashboard.network.health import Health, Load
from apps.dashboard.network.map_graph import Colour, class_of

GOOD, WAIT, BAD, GREY, INK = "#1f8a5b", "#c07800", "#c2303f", "#7d8896", "#2b3a4d"
ACCENT = "#2f6fd0"

STROKES: Mapping[Health | Load, tuple[str, str, tuple[int, ...]]] = {
    Health.GOOD: (GOOD, "solid", ()),
    Health.DEGRADED: (WAIT, "dashed", (12, 4)),
    Health.BAD: (BAD, "dashed", (6, 4)),
    Health.DOWN: (BAD, "dashed", (2, 6)),
    Health.NO_DATA: (GREY, "dashed", (4, 3)),
    Load.LIGHT: (GOOD, "solid", ()),
    Load.BUSY: (WAIT, "dashed", (12, 4)),
    Load.FULL: (BAD, "dashed", (6, 4)),
    Load.UNKNOWN: (GREY, "dashed", (4, 3)),
}
"""Colour, kind, and lengths of dashes and gaps in pixels."""

STYLE: list[dict[str, Any]] = [
    {
        "selector": "node",
        "style": {
            "label": "data(label)",
            "shape": "round-rectangle",
            "width": 124,
            "height": 46,
            "background-color": INK,
            "color": "#ffffff",
            "font-size": 15,
            "text-wrap": "wrap",
            "text-valign": "center",
            "text-halign": "center",
            "border-width": 2,
            "border-color": "#8fa0b5",
        },
    },
    {"selector": "node.inner", "style": {"background-color": "#52657d"}},
    {"selector": "node.site", "style": {"width": 132, "height": 58, "font-size": 16}},
    {
        "selector": "node.away",
        "style": {"border-style": "dashed", "border-color": "#ff7a85", "border-width": 3},
    },
    {
        "selector": "edge",
        "style": {
            "label": "data(label)",
            "width": "data(width)",
            "curve-style": "bezier",
            "control-point-step-size": 60,
            "font-size": 13,
            "color": "#18212c",
            "text-margin-y": "data(shift)",
            "text-background-color": "#ffffff",
            "text-background-opacity": 0.94,
            "text-background-padding": 3,
            "text-background-shape": "round-rectangle",
            "text-border-width": 1,
            "text-border-opacity": 1,
            "text-border-color": "#b9c2cd",
        },
    },
    *(
        {
            "selector": f"edge.{class_of(state)}",
            "style": {
                "line-color": colour,
                "line-style": kind,
                **({"line-dash-pattern": list(dashes)} if dashes else {}),
            },
        }
        for state, (colour, kind, dashes) in STROKES.items()
    ),
    {"selector": ".faded", "style": {"opacity": 0.28}},
    {
        "selector": "node.marked",
        "style": {"border-color": "#5f9bff", "border-width": 5, "border-style": "solid"},
    },
    {
        "selector": "edge.marked",
        "style": {"underlay-color": ACCENT, "underlay-opacity": 0.45, "underlay-padding": 7, "z-index": 9},
    },
    {
        "selector": ":selected",
        "style": {"overlay-color": ACCENT, "overlay-opacity": 0.25, "overlay-padding": 6},
    },
]


def legend(colour: Colour) -> Component:
    """What the strokes mean."""
    states: list[Health | Load] = [*Health] if colour is Colour.HEALTH else [*Load]
    return html.Ul([_entry(state) for state in states], className="legend")


def _entry(state: Health | Load) -> Component:
    colour, kind, dashes = STROKES[state]
    if kind == "solid":
        ground = colour
    else:
        on, off = dashes
        ground = f"repeating-linear-gradient(90deg, {colour} 0 {on}px, transparent {on}px {on + off}px)"
    return html.Li(
        [
            html.Span(className="stroke", style={"background": ground}, **{"aria-hidden": "true"}),
            html.Span([html.Strong(state.value), f" – {health.MEANS[state]}"]),
        ]
    )
