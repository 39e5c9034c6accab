"""*Let ADON move it*: the part of the form that says with which tool, and from where to where exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import Dash, Input, Output, State, dcc, html
from dash.development.base_component import Component

from apps.dashboard import ui
from apps.dashboard.transfers.wish import OWN

TOOLS, MORE = "new-tools", "new-mover-more"
ENDS = (("from", "source"), ("to", "destination"))
MAIL = (
    ("all", "When done or in trouble"),
    ("trouble", "Only when in trouble"),
    ("none", "Not at all"),
)
COMPARE = (("size", "By size and time"), ("checksum", "By checksum (slower, surer)"))


def section(tools: Sequence[Mapping[str, Any]], texts: Mapping[str, str]) -> Component:
    """The part of the form; with no tool for them, what that means.

    :param tools: as the API lists them.
    :param texts: what is filled in already.
    """
    store = dcc.Store(id=TOOLS, data=list(tools))
    if not tools:
        # The controls are there all the same, for what reads the form; nothing can be chosen.
        controls = [_mover(tools, texts), *_places(tools, texts), *_how(texts)]
        unused = html.Div(controls, id=MORE, hidden=True)
        says = "No tool is configured here for you: start yours when the flow is active."
        return html.Div([store, html.P(says, className="hint"), unused], className="moving")
    chosen = _known(texts.get("mover"), tools) != OWN
    return html.Div(
        [
            store,
            ui.details(
                "Let ADON move it",
                html.P(
                    "ADON starts the tool when the flow is active, stops and resumes it with the flow, and "
                    "starts it again after a failure.",
                    className="hint",
                ),
                _mover(tools, texts),
                html.Div(
                    html.Div([*_places(tools, texts), *_how(texts)], className="grid"),
                    id=MORE,
                    hidden=not chosen,
                ),
                opened=chosen,
            ),
        ],
        className="moving",
    )


def _mover(tools: Sequence[Mapping[str, Any]], texts: Mapping[str, str]) -> Component:
    options = [(OWN, "My own tool, started by me"), *((one["id"], called(one)) for one in tools)]
    hint = "Passwords and tokens are ADON's own; you only name them."
    return ui.field("Moved by", ui.choice("new-mover", options, _known(texts.get("mover"), tools)), hint)


def _known(wanted: str | None, tools: Sequence[Mapping[str, Any]]) -> str:
    """The tool that an earlier request meant: that of its kind, where it named none."""
    for one in tools:
        if wanted in (one["id"], f"{one['tool']}/"):
            return str(one["id"])
    return OWN


def _places(tools: Sequence[Mapping[str, Any]], texts: Mapping[str, str]) -> list[Component]:
    found = []
    mover = _known(texts.get("mover"), tools)
    for end, host in ENDS:
        options = places(tools, mover, texts.get(host))
        label = "From: place" if end == "from" else "To: place"
        chosen = texts.get(f"{end}_place")
        found.append(ui.field(label, ui.choice(f"new-{end}-place", options, chosen)))
        hint = "Below the place. A folder ends with /; empty is all of it." if end == "from" else "As above."
        path = ui.text_input(f"new-{end}-path", texts.get(f"{end}_path", ""), "run-17/")
        found.append(ui.field(f"{'From' if end == 'from' else 'To'}: path", path, hint))
    return found


def _how(texts: Mapping[str, str]) -> list[Component]:
    hint = "Instead of both ends: rclone's number of the job, or the id of the Globus task."
    compare = ui.choice("new-compare", COMPARE, texts.get("compare", COMPARE[0][0]))
    return [
        ui.field("Or follow a job of yours", ui.text_input("new-attach", "", "4"), hint),
        ui.field("What is there already is compared", compare),
        ui.field("Write to me", ui.choice("new-mail", MAIL, texts.get("mail", MAIL[0][0]))),
    ]


def called(tool: Mapping[str, Any]) -> str:
    """A tool as people call it."""
    kinds = {"rclone": "rclone at {}", "globus": "Globus as {}", "irods": "iRODS as {}"}
    return kinds.get(tool["tool"], "{}").format(tool["name"])


def places(tools: Sequence[Mapping[str, Any]], mover: str | None, host: str | None) -> list[tuple[str, str]]:
    """What may be named at one end: a tool's places at the host; all of them, while no host is chosen."""
    tool = next((one for one in tools if one["id"] == mover), None)
    if tool is None:
        return []
    return [
        (one["name"], f"{one['name']} ({one['host']})")
        for one in tool["places"]
        if host in (None, "", one["host"])
    ]


def callbacks(app: Dash) -> None:
    """The places follow the tool and the hosts; one that is the only one is chosen."""

    @app.callback(Output(MORE, "hidden"), Input("new-mover", "value"), prevent_initial_call=True)
    def more(mover: str) -> bool:
        return mover in (None, "", OWN)

    for end, host in ENDS:
        _follow(app, f"new-{end}-place", f"new-{host}")


def _follow(app: Dash, place: str, host: str) -> None:
    @app.callback(
        Output(place, "options"),
        Output(place, "value"),
        [Input("new-mover", "value"), Input(host, "value"), State(TOOLS, "data"), State(place, "value")],
        prevent_initial_call=True,
    )
    def follow(
        mover: str, at: str, tools: list[dict[str, Any]], chosen: str
    ) -> tuple[list[dict[str, str]], str]:
        found = places(tools or [], mover, at)
        names = [name for name, _ in found]
        kept = chosen if chosen in names else (names[0] if len(names) == 1 else "")
        return [{"value": name, "label": label} for name, label in found], kept
