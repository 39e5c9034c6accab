"""The why not of a decision: the nearest changes that would have had something else taken."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from adon.api.decisions import AlternativeView, FlipView, QuantityView, WhyNotView
from adon.errors import AdonError, NotFound
from apps.dashboard import ui
from apps.dashboard.policy.words import metric
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import visit

ASK, WHICH, SAID = "why-not-ask", "why-not-which", "why-not-said"
LABEL = "What would have flipped it?"
KINDS = {
    "metric": "value",
    "weight": "weight",
    "bound": "bound",
    "priority": "priority",
    "size": "size",
    "wait": "wait for nodes",
    "switch_margin": "gain of Q needed to move",
    "patience": "misses in a row before a move",
    "dwell": "time it had stayed",
    "closed": "closed path",
}
_UNITS = {"bps": "throughput", "s": "rtt", "ratio": "loss"}
"""A metric that has the unit, for its words."""


def card(decision: str) -> Component:
    """The part of the page; it is worked out when somebody asks, for that takes a processor some seconds."""
    return ui.card(
        "Why not something else?",
        html.P(
            "The decision is made again, over and over, each time with one thing changed.",
            className="muted",
        ),
        html.Button(LABEL, id=ASK, type="button"),
        dcc.Store(id=WHICH, data=decision),
        html.Div(id=SAID, className="said", **{"aria-live": "polite"}),
    )


def answered(found: WhyNotView) -> Component:
    """What was found."""
    alternatives = [_alternative(one) for one in found.alternatives]
    nothing = ui.empty("There was nothing else that it could have taken.")
    return html.Div([_again(found), *(alternatives or [nothing]), _looked(found)])


def quantity(value: Any, unit: str) -> str:
    """A quantity with its unit."""
    if value is None:
        return "not known"
    if unit in _UNITS:
        return ui.value(value, _UNITS[unit])
    return ui.size(value) if unit == "B" else f"{value:.4g}" + (f" {unit}" if unit else "")


def _again(found: WhyNotView) -> Component:
    if found.as_recorded:
        return ui.notice("Made again from what it saw, it is the same decision.", "good")
    versions = (
        "by the same code: the record was changed, or that is a mistake of ours"
        if found.code == found.this_code
        else f"by another version of the code (made by {found.code}, this is {found.this_code})"
    )
    return ui.notice(f"Made again from what it saw, it is not the same, {versions}.", "wait")


def _alternative(one: AlternativeView) -> Component:
    name = f"{one.site} by {one.path}" if one.site else one.path
    columns = [
        Column("What", _what),
        Column("Was", lambda flip: quantity(flip.value, flip.unit), numeric=True),
        Column(
            "Would have been enough",
            lambda flip: html.Strong(quantity(flip.told, flip.unit)),
            numeric=True,
        ),
        Column("In words", lambda flip: flip.text),
    ]
    head = html.H3([ui.link(name, f"/paths/{one.path}"), _q(one)])
    why = [html.Small(one.why, className="muted")] if one.why else []
    if not one.flips:
        return html.Div([head, *why, html.P(one.text)])
    if len(one.flips) == 1:
        return html.Div([head, *why, html.P(html.Strong(one.text))])
    table = ui.table(columns, one.flips, "", f"Changes by which {name} would have been taken")
    return html.Div([head, *why, html.P(html.Strong(one.text)), table])


def _q(one: AlternativeView) -> Any:
    return "" if one.q is None else html.Small(f" Q {one.q:.2f}", className="muted")


def _what(flip: FlipView | QuantityView) -> str:
    kind = KINDS.get(flip.kind, flip.kind)
    if flip.kind == "closed":
        return f"closed: {flip.name}"
    name = metric(flip.name).lower() if flip.name else ""
    where = f" on {flip.path}" if flip.path else ""
    return f"{name} {kind}{where}".strip() if flip.kind != "metric" else f"{name}{where}"


def _looked(found: WhyNotView) -> Component:
    count = len(found.searched)
    left = [_what(one) for one in found.left_out]
    more = [html.P(f"Not looked at, for it would have taken too long: {', '.join(left)}.")] if left else []
    return html.Small(
        [
            f"{count} quantities were changed, each alone, and {found.decisions_made} decisions made. ",
            "Two changes together may need less.",
            *more,
        ],
        className="muted",
    )


def install(app: Dash) -> None:
    """Working it out."""

    @app.callback(
        Output(SAID, "children"),
        Input(ASK, "n_clicks"),
        State(WHICH, "data"),
        prevent_initial_call=True,
        running=[
            (Output(ASK, "disabled"), True, False),
            (Output(ASK, "children"), "Working it out …", LABEL),
        ],
    )
    def ask(clicks: int | None, decision: str) -> Any:
        if not clicks:
            return no_update
        try:
            return answered(visit().client.why_not(decision))
        except NotFound:
            return ui.notice("What it saw was not kept, so it cannot be made again.", "wait")
        except AdonError as error:
            return ui.failure(error)
