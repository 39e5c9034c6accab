"""Where ids lead: the addresses of pages, and links to them.  Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from dash import html
from dash.development.base_component import Component

from apps.dashboard import ui

Doc = Mapping[str, Any]
"""A JSON object as the API answers it."""
SHOWN = 4
"""Flows that are named one by one before they are only counted."""


def path_address(name: str) -> str:
    """A path's page."""
    return f"/paths/{quote(name, safe='')}"


def map_address(**shown: str) -> str:
    """The map with something marked: ``path=``, ``flow=``."""
    return f"/network?{urlencode(shown)}"


def series_address(series: Doc, **more: str) -> str:
    """The time series of one metric, or more of them, of a direction."""
    asked = {name: series[name] for name in ("path", "source", "destination", "metric") if series.get(name)}
    return f"/series?{urlencode({**asked, **more})}"


def switch_address(dpid: str) -> str:
    """The rules of a switch."""
    return f"/rules?{urlencode({'dpid': dpid})}"


def path_link(name: str) -> Component:
    """A path's name, as a link to its page."""
    return ui.link(name, path_address(name))


def switch_link(switch: Doc) -> Component:
    """A switch's name, as a link to its rules."""
    return ui.link(switch["name"], switch_address(switch["dpid"]))


def flow_links(flows: Sequence[str]) -> Any:
    """The flows by name; of many the first and how many there are, which leads to the list."""
    if not flows:
        return html.Span("none", className="muted")
    parts: list[Any] = []
    for flow in flows[:SHOWN]:
        parts += [ui.link(flow, f"/flows/{flow}"), " "]
    if len(flows) > SHOWN:
        parts.append(ui.link(f"and {len(flows) - SHOWN} more", "/flows?state=active"))
    return html.Span(parts)


def tabs(ways: Sequence[tuple[str, str]], chosen: str, of: str) -> Component:
    """Ways to the same page with something else chosen: pairs of words and address.

    :param chosen: the address that is shown.
    :param of: what is chosen, for who cannot see it.
    """
    found = [
        html.Span(words, className="pill", **{"aria-current": "page"})
        if to == chosen
        else html.Span(ui.link(words, to), className="pill")
        for words, to in ways
    ]
    return html.Nav(found, className="pills", **{"aria-label": of})


def direction(one: Doc) -> str:
    """``mu → osu``; of a host only its name."""
    return f"{one['source']} → {one['destination']}" if one.get("destination") else str(one["source"])


def plural(number: int, one: str, many: str = "") -> str:
    """``1 flow``, ``3 flows``."""
    return f"{number} {one if number == 1 else many or one + 's'}"
