"""How the tool that ADON has move a flow's data is doing: progress, pace, what went wrong and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action, Object, may
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.transfers.moving import called
from apps.dashboard.ui.blocks import Tone
from apps.dashboard.visit import Visit, visit

RETRY = "flow-retry"
STATES: Mapping[str, tuple[str, Tone]] = {
    "waiting": ("waits for its flow", "wait"),
    "starting": ("is being started", "wait"),
    "running": ("moves", "good"),
    "stopping": ("is being stopped", "wait"),
    "retrying": ("broke; is tried again", "bad"),
    "done": ("all is there", "good"),
    "failed": ("failed for good", "bad"),
    "cancelled": ("stopped", "plain"),
}
CAUSES: Mapping[str, tuple[str, ...]] = {
    "The tool cannot be reached. ADON keeps trying; if it lasts, tell who runs the data transfer node.": (
        "connection refused",
        "cannot be reached",
        "went away",
        "did not answer",
    ),
    "The tool, or the storage behind it, does not let ADON in: wrong credentials or permissions, or a path "
    "of somebody else's.": (
        "user or password",
        "credentials",
        "unauthorized",
        "access denied",
        "no access",
        "permission",
    ),
    "There is nothing at that path. Look at it letter by letter; a folder ends with /.": (
        "not found",
        "no such",
        "does not exist",
    ),
    "There is no room left where it goes.": ("no space", "quota", "disk full", "limit exceeded"),
    "What arrived is not what was sent. ADON moves it again.": ("checksum",),
    "It was cancelled at the tool itself, so ADON does not start it again.": ("somebody cancelled",),
    "A sign-in has run out, and has to be renewed where the data is.": ("token", "expired", "suspended"),
}
"""What words of tools mean for who asked, by parts of those words."""


def card(flow: Mapping[str, Any], here: Visit) -> Component | None:
    """The section of a flow's page; None if somebody else moves its data."""
    if not flow["request"].get("transfer"):
        return None
    moved = here.client.transfer(flow["id"])
    words, tone = STATES.get(moved["state"], (moved["state"], "plain"))
    tool = called({"tool": moved["tool"], "name": moved["at"] or moved["credentials"] or "…"})
    facts = [
        ("State", ui.badge(words, tone)),
        ("There", _arrived(flow, moved)),
        ("Moved by", tool + (", followed" if moved["attached"] else "")),
        ("From", moved["source"]),
        ("To", moved["destination"]),
        ("Files", _files(moved)),
        ("Tries", str(moved["tries"])),
    ]
    if moved["next_try"] is not None:
        facts.append(("Next try", ui.when(moved["next_try"], here)))
    return ui.card(
        "The transfer", *_trouble(moved), ui.facts(*facts), *_pace(moved), *_deeds(flow, moved, here)
    )


def meaning(error: str) -> str:
    """What a tool's words mean for who asked; empty where that is not known."""
    said = error.casefold()
    return next((means for means, parts in CAUSES.items() if any(part in said for part in parts)), "")


def _trouble(moved: Mapping[str, Any]) -> list[Component]:
    if not moved["error"]:
        return [ui.notice("It is clearly slower than was promised.", "wait")] if moved["slow"] else []
    means = meaning(moved["error"])
    said = html.Small(["The tool says: ", html.Code(moved["error"])])
    return [
        ui.notice([html.P(means), said] if means else said, "bad" if moved["state"] == "failed" else "wait")
    ]


def _arrived(flow: Mapping[str, Any], moved: Mapping[str, Any]) -> Component | str:
    whole = max(moved["whole_bytes"] or flow["size_bytes"] or 0, moved["bytes"])
    part = moved["bytes"] / whole if whole else 0.0
    text = f"{ui.size(moved['bytes'])} of {ui.size(whole)}"
    return ui.bar(
        1.0 if moved["state"] == "done" else part, text, "good" if moved["state"] == "done" else "plain"
    )


def _files(moved: Mapping[str, Any]) -> str | None:
    if moved["files"] is None:
        return None
    return (
        str(moved["files"]) if moved["whole_files"] is None else f"{moved['files']} of {moved['whole_files']}"
    )


def _pace(moved: Mapping[str, Any]) -> list[Component]:
    """Achieved beside promised, while it moves."""
    promised, achieved = moved["promised_bps"], moved["achieved_bps"]
    if moved["state"] != "running" or (promised is None and achieved is None):
        return []
    most = max(promised or 0, achieved or 0) or 1
    tone: Tone = "wait" if moved["slow"] else "good"
    pairs = (
        ("Promised", ui.bar((promised or 0) / most, ui.rate(promised))),
        ("Achieved", ui.bar((achieved or 0) / most, ui.rate(achieved), tone)),
    )
    rows = [html.Div([html.Span(name), bar], className="pair") for name, bar in pairs]
    return [html.Div(rows, className="pairs")]


def _deeds(flow: Mapping[str, Any], moved: Mapping[str, Any], here: Visit) -> list[Component]:
    again = moved["state"] == "retrying" or (moved["state"] in ("failed", "cancelled") and flow["final"])
    if moved["attached"] or flow["state"] == "finished" or not again:
        return []
    if not may(here.actor, Action.FLOW_CANCEL, Object("flow", flow["requester"])).allowed:
        return []
    words = "Try again now" if moved["state"] == "retrying" else "Move what is missing"
    return [html.Div(html.Button(words, id=RETRY, type="button"), className="deeds")]


def callbacks(app: Dash, which: str, done: str) -> None:
    """The button tries again.

    :param which: the store that knows the flow.
    :param done: where what came of it is told.
    """

    @app.callback(
        Output(done, "children", allow_duplicate=True),
        Input(RETRY, "n_clicks"),
        State(which, "data"),
        prevent_initial_call=True,
    )
    def retry(clicks: int | None, flow: str) -> Any:
        if not clicks or ctx.triggered_id != RETRY:
            return no_update
        try:
            after = visit().client.retry(flow)
        except AdonError as error:
            return ui.failure(error)
        if after["id"] == flow:
            return ui.notice("It is tried again now.", "good")
        link = dcc.Link(after["id"], href=f"/flows/{after['id']}")
        return ui.notice(["What is missing is moved as ", link, "."], "good")
