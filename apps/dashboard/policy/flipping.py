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
LABEL = "Compute counterfactuals"
KINDS = {
    "metric": "value",
    "weight": "weight",
    "bound": "bound",
    "priority": "priority",
    "size": "size",
    "wait": "queue wait",
    "switch_margin": "switch margin",
    "patience": "patience",
    "dwell": "dwell time",
    "closed": "closed path",
}
_UNITS = {"bps": "throughput", "s": "rtt", "ratio": "loss"}
"""A metric that has the unit, for its words."""


def card(decision: str) -> Component:
    """The part of the page; it is worked out when somebody asks, for that takes a processor some seconds."""
    return ui.card(
        "Counterfactuals",
        html.P(
            "ADON repeats the decision with one changed input at a time.",
            className="muted",
        ),
        html.Button(LABEL, id=ASK, type="button"),
        dcc.Store(id=WHICH, data=decision),
        html.Div(id=SAID, className="said", **{"aria-live": "polite"}),
    )


def answered(found: WhyNotView) -> Component:
    """What was found."""
    alternatives = [_alternative(one) for one in found.alternatives]
    nothing = ui.empty("The decision had no alternatives.")
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
        return ui.notice("The replay reproduces the decision.", "good")
    versions = (
        "with the same code: the record was changed, or ADON has a defect"
        if found.code == found.this_code
        else f"because the code differs (recorded with {found.code}, now {found.this_code})"
    )
    return ui.notice(f"The replay does not reproduce the decision, {versions}.", "wait")


def _alternative(one: AlternativeView) -> Component:
    name = f"{one.site} by {one.path}" if one.site else one.path
    columns = [
        Column("Input", _what),
        Column("Value", lambda flip: quantity(flip.value, flip.unit), numeric=True),
        Column(
            "Sufficient value",
            lambda flip: html.Strong(quantity(flip.told, flip.unit)),
            numeric=True,
        ),
        Column("Explanation", lambda flip: flip.text),
    ]
    head = html.H3([ui.link(name, f"/paths/{one.path}"), _q(one)])
    why = [html.Small(one.why, className="muted")] if one.why else []
    if not one.flips:
        return html.Div([head, *why, html.P(one.text)])
    if len(one.flips) == 1:
        return html.Div([head, *why, html.P(html.Strong(one.text))])
    table = ui.table(columns, one.flips, "", f"Changes that select {name}")
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
    more = [html.P(f"Skipped for lack of time: {', '.join(left)}.")] if left else []
    return html.Small(
        [
            f"{found.decisions_made} decisions with {count} inputs, one changed at a time. ",
            "Smaller changes of two inputs can be sufficient.",
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
            (Output(ASK, "children"), "Computing …", LABEL),
        ],
    )
    def ask(clicks: int | None, decision: str) -> Any:
        if not clicks:
            return no_update
        try:
            return answered(visit().client.why_not(decision))
        except NotFound:
            return ui.notice("The inputs of this decision are not stored.", "wait")
        except AdonError as error:
            return ui.failure(error)
