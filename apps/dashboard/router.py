"""From an address to a page, and the refreshed part of a page."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from dash import MATCH, ClientsideFunction, Dash, Input, Output, State, ctx, dcc, html
from dash.development.base_component import Component

from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.page import Page, Show, find
from apps.dashboard.ui import refresh
from apps.dashboard.visit import Visit, visit

log = logging.getLogger("apps.dashboard")

URL, MAIN, TITLE, NAV = "url", "main", "title", "nav"
LIVE = "live"


def skeleton() -> list[Component]:
    """Return what the router needs in the frame."""
    return [dcc.Location(id=URL, refresh="callback-nav"), dcc.Store(id=TITLE)]


def install(app: Dash, pages: Sequence[Page]) -> None:
    """Add the callbacks that show every page, refresh it, and the callbacks of each page."""

    @app.callback(
        Output(MAIN, "children"),
        Output(TITLE, "data"),
        Input(URL, "pathname"),
        Input(URL, "search"),
    )
    def show_page(pathname: str | None, search: str | None) -> tuple[object, str]:
        path = pathname or "/"
        found = find(pages, path)
        if found is None:
            return ui.not_found(path), "Not found"
        page, parts = found
        return _draw_page(page, visit(parts, query_of(search)), path + (search or "")), page.title

    @app.callback(
        Output({"type": "live", "of": MATCH}, "children"),
        Output({"type": "digest", "of": MATCH}, "data"),
        Input({"type": "look", "of": MATCH}, "data"),
        State({"type": "digest", "of": MATCH}, "data"),
        prevent_initial_call=True,
    )
    def refresh_page(_look: int | None, before: str | None) -> tuple[object, object]:
        address = urlsplit(ctx.outputs_list[0]["id"]["of"])
        found = find(pages, address.path)
        content = None
        if found is not None and found[0].live is not None:
            content, _ = _draw(found[0].live, visit(found[1], query_of(address.query)))
        return refresh.changed(content, before)

    refresh.install(app)
    app.clientside_callback(
        ClientsideFunction("adon", "entitle"),
        Output(NAV, "title"),
        Input(TITLE, "data"),
        State(URL, "pathname"),
    )
    for page in pages:
        page.callbacks(app)


def query_of(search: str | None) -> Mapping[str, str]:
    """Return the first value of each name of the query of an address (``?a=b``)."""
    return {name: values[0] for name, values in parse_qs((search or "").removeprefix("?")).items()}


def _draw_page(page: Page, here: Visit, address: str) -> list[Any]:
    shown, succeeded = _draw(page.show, here)
    if not succeeded:  # the other parts would fail with the same error
        return [ui.head(page.title), shown]
    parts = [shown]
    if page.live is not None:
        content, _ = _draw(page.live, here)
        parts += [
            html.Div(html.Div(content, id={"type": "live", "of": address}), id=LIVE),
            dcc.Store(id={"type": "digest", "of": address}, data=refresh.digest_of(content)),
            *refresh.ticker(address, page.refresh_s),
        ]
    if page.below is not None:
        parts.append(_draw(page.below, here)[0])
    return parts


def _draw(show: Show, here: Visit) -> tuple[Any, bool]:
    """Return what a part of a page shows, or a notice that says why it fails; and whether it succeeded."""
    try:
        return show(here), True
    except AdonError as error:
        return ui.failure(error), False
    except Exception:
        # A page that fails must differ from a page that still loads.
        log.exception("event=dashboard.failed page=%s", show.__module__)
        return ui.notice("This page could not be drawn. The web process's log says why.", "bad"), False
