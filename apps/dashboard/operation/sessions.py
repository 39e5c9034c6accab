"""Where one is signed in: every browser with a session, and signing out there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import ALL, Dash, Input, Output, State, ctx, html, no_update
from dash.development.base_component import Component

from adon.api.access import SessionView
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit, visit

END, END_OTHERS, SAID = "session-end", "session-end-others", "session-said"
BROWSERS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
"""By what a User-Agent says; the first that fits, for most of them name others, too."""
SYSTEMS = (
    ("Windows", "Windows"),
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)


def panel(here: Visit, owner: str) -> Component:
    """The sessions of a user."""
    columns = [
        Column("Browser", lambda one: html.Span(_named(one), title=one.browser)),
        Column("From", lambda one: one.address or "–"),
        Column("Signed in by", lambda one: one.how),
        Column("Since", lambda one: ui.when(one.began, here)),
        Column("Last used", lambda one: ui.ago(one.last_seen, here)),
        Column("", _button),
    ]
    found = here.client.sessions(owner)
    nothing = ui.empty("No sessions.")
    return ui.card("Browsers", ui.table(columns, found, nothing, "Browsers"), *_others(found))


def browser_of(agent: str) -> str:
    """``Firefox on Linux``, of a User-Agent; what is not known stands as it is, cut."""
    browser = next((name for mark, name in BROWSERS if mark in agent), agent[:30])
    system = next((name for mark, name in SYSTEMS if mark in agent), "")
    return f"{browser} on {system}" if browser and system else browser or "unknown"


def _named(session: SessionView) -> list[Any]:
    name = browser_of(session.browser)
    return [name, html.Br(), ui.badge("this session", "good")] if session.asking else [name]


def _button(session: SessionView) -> Any:
    if session.asking:
        return ""  # that is what "Sign out" above is for
    return html.Button("Sign out", id={"type": END, "index": session.id}, className="danger small")


def _others(found: Sequence[SessionView]) -> list[Component]:
    others = sum(not one.asking for one in found)
    text = "Sign out all other sessions" if others < len(found) else "Sign out all sessions"
    button = html.Button(text, id={"type": END_OTHERS, "index": "all"}, type="button", className="danger")
    return [html.P(button)] if others > 1 else []


def callbacks(app: Dash) -> None:
    """Signing out elsewhere."""

    @app.callback(
        Output(SAID, "children"),
        Input({"type": END, "index": ALL}, "n_clicks"),
        Input({"type": END_OTHERS, "index": ALL}, "n_clicks"),
        State("token-owner", "data"),
        prevent_initial_call=True,
    )
    def end(one: list[int | None], others: list[int | None], owner: str | None) -> Any:
        clicked = ctx.triggered_id
        if not any([*one, *others]) or not isinstance(clicked, dict):
            return no_update
        client = visit().client
        try:
            if clicked["type"] == END:
                client.end_session(str(clicked["index"]))
                return ui.notice("The session is signed out.", "good")
            ended = client.end_sessions(owner).ended
        except AdonError as error:
            return ui.failure(error)
        return ui.notice(f"Sessions signed out: {ended}.", "good")
