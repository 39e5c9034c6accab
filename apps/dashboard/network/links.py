"""Where ids lead: the addresses of pages, and links to them.  Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlencode

from dash import html
from dash.development.base_component import Component

from adon.api.measurements import SeriesView
from adon.api.network import SwitchDetail
from apps.dashboard import ui
from apps.dashboard.network.series_data import Direction, metric_words

SHOWN = 4
"""Flows or paths in a cell; more are counted."""


def path_address(name: str) -> str:
    """A path's page."""
    return f"/paths/{quote(name, safe='')}"


def map_address(**shown: str) -> str:
    """The map with something marked: ``path=``, ``flow=``."""
    return f"/network?{urlencode(shown)}"


def series_address(ends: Direction, metric: str) -> str:
    """The time series of a metric of a direction."""
    asked = {"path": ends.path, "source": ends.source, "destination": ends.destination, "metric": metric}
    return f"/series?{urlencode({name: value for name, value in asked.items() if value})}"


def series_link(series: SeriesView) -> Component:
    """A series' metric, as a link to its values."""
    return ui.link(metric_words(series.metric), series_address(Direction.of(series), series.metric))


def switch_address(dpid: str) -> str:
    """The rules of a switch."""
    return f"/rules?{urlencode({'dpid': dpid})}"


def path_link(name: str) -> Component:
    """A path's name, as a link to its page."""
    return ui.link(name, path_address(name))


def switch_link(switch: SwitchDetail) -> Component:
    """A switch's name, as a link to its rules."""
    return ui.link(switch.name, switch_address(switch.dpid))


def flow_links(flows: Sequence[str]) -> Component:
    """Return links to flows; of many the first, and a link to the list."""
    more = ui.link(f"and {len(flows) - SHOWN} more", "/flows?state=active")
    return _first([ui.link(flow, f"/flows/{flow}") for flow in flows], more)


def path_links(paths: Sequence[str]) -> Component:
    """Return links to paths; of many the first."""
    return _first([path_link(path) for path in paths], f"and {len(paths) - SHOWN} more")


def _first(links: Sequence[Component], more: Any) -> Component:
    if not links:
        return html.Span("none", className="muted")
    shown = [part for one in links[:SHOWN] for part in (one, " ")]
    return html.Span([*shown, more] if len(links) > SHOWN else shown)


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
