"""The symbols of nodes."""

from __future__ import annotations

import xml.etree.ElementTree as ET  # builds; nothing is parsed

from mininet_topos.pictures.boxes import Point
from mininet_topos.pictures.sketch import Kind

FILLS = {
    Kind.EDGE: "#12395b",
    Kind.CAMPUS: "#6d8fb3",
    Kind.TRANSIT: "#5b6472",
    Kind.ROUTER: "#8c6a3f",
    Kind.DTN: "#1f8a5b",
}
HALF, SMALL_HALF = 12.0, 7.0
_WHITE = {"stroke": "#ffffff", "stroke-width": "1.6", "fill": "none", "stroke-linecap": "round"}

_ARROWS = "M-6 -2.6H5M2.4 -5.2L5.4 -2.6L2.4 0M6 3.4H-5M-2.4 0.8L-5.4 3.4L-2.4 6"
_CROSS = "M-5 -5L5 5M5 -5L-5 5"
_SHELVES = "M-5 -6H5M-5 -1H5M-5 4H0"


def half_height(kind: Kind, *, small: bool = False) -> float:
    """From a symbol's middle to its foot, in pixels."""
    half = SMALL_HALF if small else HALF
    return half * 1.15 if kind is Kind.DTN else half


def symbol(parent: ET.Element, kind: Kind, at: Point, *, small: bool = False) -> ET.Element:
    """A switch is a square with arrows, a router a disc with a cross, a DTN a rack."""
    by = (SMALL_HALF if small else HALF) / HALF
    group = ET.SubElement(
        parent,
        "g",
        {"transform": f"translate({at[0]:.1f} {at[1]:.1f})" + (f" scale({by:.3g})" if small else "")},
    )
    look = {"fill": FILLS[kind], "stroke": "#ffffff", "stroke-width": "1.5"}
    if kind is Kind.ROUTER:
        ET.SubElement(group, "circle", {"r": f"{HALF:g}", **look})
        ET.SubElement(group, "path", {"d": _CROSS, **_WHITE})
    elif kind is Kind.DTN:
        high = HALF * 1.15
        ET.SubElement(
            group,
            "rect",
            {"x": "-9", "y": f"{-high:g}", "width": "18", "height": f"{2 * high:g}", "rx": "2.5", **look},
        )
        ET.SubElement(group, "path", {"d": _SHELVES, **_WHITE})
    else:
        ET.SubElement(group, "rect", {**_SQUARE, **look})
        ET.SubElement(group, "path", {"d": _ARROWS, **_WHITE})
    return group


_SQUARE = {
    "x": f"{-HALF:g}",
    "y": f"{-HALF:g}",
    "width": f"{2 * HALF:g}",
    "height": f"{2 * HALF:g}",
    "rx": "4",
}
