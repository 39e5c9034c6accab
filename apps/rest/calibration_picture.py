"""The calibration curve as a picture: what intervals claim to hold against what they held.  Pure.

A point on the diagonal is a forecast that holds as often as it says; below it intervals are too narrow.
"""

from __future__ import annotations

from collections.abc import Mapping

from adon.broker.forecasting.calibration import Calibration

SIDE, LEFT, TOP = 320.0, 56.0, 24.0
WIDTH, HEIGHT = LEFT + SIDE + 24, TOP + SIDE + 84
_COLOURS = {"all": "#1f4e79", "at once": "#2e8b57", "after a wait": "#b8860b"}
_INK = "#555"


def picture(found: Mapping[str, Calibration]) -> str:
    """An SVG document; with nothing to draw, the axes and a word about it."""
    parts = [*_axes(), *(part for name, one in found.items() for part in _curve(name, one))]
    if not found:
        parts.append(_text(LEFT + SIDE / 2, TOP + SIDE / 2, "no finished flow had a forecast yet", "middle"))
    for row, (name, one) in enumerate(found.items()):
        parts += _legend(row, name, one)
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" width="{WIDTH:g}" '
        f'height="{HEIGHT:g}" role="img" font-family="sans-serif" font-size="12">\n'
        f"<title>Calibration of completion forecasts</title>\n"
        f'<rect width="{WIDTH:g}" height="{HEIGHT:g}" fill="#fff"/>\n{body}\n</svg>\n'
    )


def _axes() -> list[str]:
    parts = [f'<rect x="{LEFT:g}" y="{TOP:g}" width="{SIDE:g}" height="{SIDE:g}" fill="none" stroke="#999"/>']
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(_text(_x(tick), TOP + SIDE + 16, f"{100 * tick:g} %", "middle"))
        parts.append(_text(LEFT - 6, _y(tick) + 4, f"{100 * tick:g} %", "end"))
        parts.append(_line(_x(tick), TOP, _x(tick), TOP + SIDE, "#eee"))
        parts.append(_line(LEFT, _y(tick), LEFT + SIDE, _y(tick), "#eee"))
    parts.append(_line(_x(0), _y(0), _x(1), _y(1), "#999", ' stroke-dasharray="4 3"'))
    parts.append(_text(LEFT, TOP - 8, "truths within (%) by claimed coverage (%)", "start"))
    return parts


def _curve(name: str, one: Calibration) -> list[str]:
    colour = _COLOURS.get(name, _INK)
    points = " ".join(f"{_x(level):.1f},{_y(share):.1f}" for level, share in one.curve)
    dots = [
        f'<circle cx="{_x(level):.1f}" cy="{_y(share):.1f}" r="3" fill="{colour}"/>'
        for level, share in one.curve
    ]
    at = _x(one.nominal) + 4 * list(_COLOURS).index(name) if name in _COLOURS else _x(one.nominal)
    bar = _line(at, _y(one.least), at, _y(one.most), colour, ' stroke-width="2"')
    return [f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>', *dots, bar]


def _legend(row: int, name: str, one: Calibration) -> list[str]:
    y = TOP + SIDE + 38 + 16 * row
    words = (
        f"{name}: {one.count} flows, {100 * one.covered:.0f} % within {100 * one.nominal:.0f} % intervals, "
        f"median error {100 * one.error:.0f} %"
    )
    dot = f'<circle cx="{LEFT:g}" cy="{y - 4:g}" r="4" fill="{_COLOURS.get(name, _INK)}"/>'
    return [dot, _text(LEFT + 10, y, words, "start", 11)]


def _x(share: float) -> float:
    return LEFT + SIDE * share


def _y(share: float) -> float:
    return TOP + SIDE * (1 - share)


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, more: str = "") -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}"{more}/>'


def _text(x: float, y: float, words: str, anchor: str, size: int = 12) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{_INK}" font-size="{size}">{words}</text>'
