"""From an address to a page, and a page kept fresh: the two callbacks that every visit goes through."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component
from plotly.utils import PlotlyJSONEncoder

from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.page import Page, Show, find
from apps.dashboard.visit import Visit, visit

log = logging.getLogger("apps.dashboard")

URL, MAIN, LIVE, TAG, TICK, TITLE, NAV = "url", "main", "live", "live-tag", "tick", "title", "nav"
NO_REFRESH_MS = 3_600_000


def skeleton() -> list[Component]:
    """What the router needs to be on the page."""
    return [
        dcc.Location(id=URL, refresh="callback-nav"),
        dcc.Store(id=TITLE),
        dcc.Store(id=TAG),
        dcc.Interval(id=TICK, interval=NO_REFRESH_MS, disabled=True),
    ]


def install(app: Dash, pages: Sequence[Page]) -> None:
    """Add the two callbacks, and those of every page."""

    @app.callback(
        Output(MAIN, "children"),
        Output(TITLE, "data"),
        Output(TICK, "interval"),
        Output(TICK, "disabled"),
        Output(TAG, "data"),
        Input(URL, "pathname"),
        Input(URL, "search"),
    )
    def go(pathname: str | None, search: str | None) -> tuple[object, str, float, bool, str]:
        found = find(pages, pathname or "/")
        if found is None:
            return ui.not_found(pathname or "/"), "Not found", NO_REFRESH_MS, True, ""
        page, parts = found
        here = visit(parts, query_of(search))
        live, tag = _fresh(page.live, here)
        content = [_shown(page.show, here), html.Div(live, id=LIVE)]
        return content, page.title, page.refresh_s * 1000, page.live is None, tag

    @app.callback(
        Output(LIVE, "children"),
        Output(TAG, "data", allow_duplicate=True),
        Input(TICK, "n_intervals"),
        State(URL, "pathname"),
        State(URL, "search"),
        State(TAG, "data"),
        prevent_initial_call=True,
    )
    def refresh(
        _ticks: int | None, pathname: str | None, search: str | None, before: str | None
    ) -> tuple[object, object]:
        found = find(pages, pathname or "/")
        if found is None or found[0].live is None:
            return no_update, no_update
        live, tag = _fresh(found[0].live, visit(found[1], query_of(search)))
        return (no_update, no_update) if tag == before else (live, tag)

    app.clientside_callback(
        ClientsideFunction("adon", "entitle"),
        Output(NAV, "title"),
        Input(TITLE, "data"),
        State(URL, "pathname"),
    )
    for page in pages:
        page.callbacks(app)


def query_of(search: str | None) -> Mapping[str, str]:
    """The first value of each name of an address's query (``?a=b``)."""
    return {name: values[0] for name, values in parse_qs((search or "").removeprefix("?")).items()}


def _shown(show: Show, here: Visit) -> Any:
    try:
        return show(here)
    except AdonError as error:
        return ui.failure(error)
    except Exception:
        # One page that fails must not look like one that loads for ever.
        log.exception("event=dashboard.failed page=%s", show.__module__)
        return ui.notice("This page could not be drawn. The web process's log says why.", "bad")


def _fresh(live: Show | None, here: Visit) -> tuple[Any, str]:
    """What moves, and a tag that changes exactly when it does."""
    if live is None:
        return [], ""
    content = _shown(live, here)
    text = PlotlyJSONEncoder(sort_keys=True).encode(content)
    return content, hashlib.sha256(text.encode()).hexdigest()[:32]
