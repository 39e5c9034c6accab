"""From an address to a page, and a page kept fresh: what every visit goes through.

A page is drawn by a callback of Dash.  What moves on it is fetched again by :data:`POLL` as it is
(``assets/fresh.js``): an ordinary GET with an entity tag, so nothing is sent when nothing has changed.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html
from dash.development.base_component import Component
from flask import Flask, Response, request

from adon.client import Transport
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.encoding import encoded, plain
from apps.dashboard.fresh import Drawings, Drawn, Seen
from apps.dashboard.page import Page, Show, find
from apps.dashboard.ui import ticking
from apps.dashboard.visit import Visit, api, visit

log = logging.getLogger("apps.dashboard")

URL, MAIN, LIVE, TAG, TITLE, NAV = "url", "main", "live", "live-tag", "title", "nav"
TICKER = "page"
POLL = "/_live"
"""Where what moves on a page is fetched from: ``?path=/flows&search=?state=active``."""
NO_REFRESH_S = 3600.0


def skeleton() -> list[Component]:
    """What the router needs to be on the page."""
    return [
        dcc.Location(id=URL, refresh="callback-nav"),
        dcc.Store(id=TITLE),
        dcc.Store(id=TAG),
        *ticking.ticker(TICKER, NO_REFRESH_S, disabled=True),
    ]


def install(app: Dash, server: Flask, pages: Sequence[Page], drawings: Drawings) -> None:
    """Add the way to every page, what keeps it fresh, and the callbacks of each.

    :param drawings: keeps what was drawn.
    """

    @app.callback(
        Output(MAIN, "children"),
        Output(TITLE, "data"),
        Output(ticking.tick(TICKER), "interval"),
        Output(ticking.tick(TICKER), "disabled"),
        Output(TAG, "data"),
        Input(URL, "pathname"),
        Input(URL, "search"),
    )
    def go(pathname: str | None, search: str | None) -> tuple[object, str, float, bool, str]:
        found = find(pages, pathname or "/")
        if found is None:
            return ui.not_found(pathname or "/"), "Not found", NO_REFRESH_S * 1000, True, ""
        page, parts = found
        live = page.live
        try:
            shown = _shown(page.show, visit(parts, query_of(search)))
        except AdonError as error:  # the refreshed part would fail with the same error
            shown, live = html.Div([ui.head(page.title), ui.failure(error)]), None
        drawn = _drawn(live, parts, pathname or "/", search or "", drawings, shared=False)
        moving = html.Div([] if drawn is None else json.loads(drawn.content), id=LIVE)
        tag = "" if drawn is None else drawn.tag
        return plain([shown, moving]), page.title, page.refresh_s * 1000, live is None, tag

    @server.get(POLL)
    def poll() -> Response:
        path, search = request.args.get("path", ""), request.args.get("search", "")
        found = find(pages, path)
        drawn = None if found is None else _drawn(found[0].live, found[1], path, search, drawings)
        if drawn is None:
            return Response("nothing moves there", 404, mimetype="text/plain")
        answer = Response(drawn.content, mimetype="application/json")
        answer.set_etag(drawn.tag)
        answer.make_conditional(request)
        return answer

    ticking.install(app)
    app.clientside_callback(
        ClientsideFunction("adon_fresh", "poll"),
        Output(LIVE, "children"),
        Output(TAG, "data", allow_duplicate=True),
        ticking.look(TICKER),
        State(URL, "pathname"),
        State(URL, "search"),
        State(TAG, "data"),
        prevent_initial_call=True,
    )
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
    """Return what a page shows, or a notice if it fails for a reason that is no error of ADON."""
    try:
        return show(here)
    except AdonError:
        raise
    except Exception:
        # A page that fails must differ from a page that still loads.
        log.exception("event=dashboard.failed page=%s", show.__module__)
        return ui.notice("This page could not be drawn. The web process's log says why.", "bad")


def _drawn(
    live: Show | None,
    parts: Mapping[str, str],
    path: str,
    search: str,
    drawings: Drawings,
    *,
    shared: bool = True,
) -> Drawn | None:
    """The part of a page that refreshes, for the user of the request; None for a static page."""
    if live is None:
        return None

    def draw(through: Transport) -> bytes:
        try:
            return encoded(_shown(live, visit(parts, query_of(search), through)))
        except AdonError as error:
            return encoded(ui.failure(error))

    here = visit(parts)
    return drawings.get(Seen(here.actor, here.zone.key, path, search), api(), draw, shared=shared)
