"""Why not: the smallest changes of the inputs with which a decision selects an alternative."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from adon.api.decisions import AlternativeView, FlipView, QuantityView, WhyNotView
from adon.errors import AdonError, NotFound
from apps.dashboard import ui
from apps.dashboard.policy.formats import metric_name
from apps.dashboard.ui.document_table import Columns, document_table
from apps.dashboard.visit import Visit, visit

COMPUTE, DECISION, RESULT = "why-not-ask", "why-not-which", "why-not-said"
LABEL = "Compute counterfactuals"
_UNITS = {"bps": "throughput", "s": "rtt", "ratio": "loss"}
"""A metric with this unit."""


def card(decision: str) -> Component:
    """Return the part of the page; the search takes seconds, so it starts on request."""
    return ui.card(
        "Counterfactuals",
        html.P("ADON repeats the decision with one changed input at a time.", className="muted"),
        html.Button(LABEL, id=COMPUTE, type="button"),
        dcc.Store(id=DECISION, data=decision),
        html.Div(id=RESULT, className="said", **{"aria-live": "polite"}),
    )


def why_not_view(found: WhyNotView, here: Visit) -> Component:
    """Return the replay's result and the changes that select each alternative."""
    alternatives = [_alternative(one, here) for one in found.alternatives]
    nothing = ui.empty("The decision had no alternatives.")
    return html.Div([_replay_notice(found), *(alternatives or [nothing]), _search_note(found)])


def quantity_text(value: Any, unit: str) -> str:
    """Return a quantity with its unit."""
    if value is None:
        return "unknown"
    if unit in _UNITS:
        return ui.value(value, _UNITS[unit])
    return ui.size(value) if unit == "B" else f"{value:.4g} {unit}".rstrip()


def _replay_notice(found: WhyNotView) -> Component:
    if found.as_recorded:
        return ui.notice("The replay reproduces the decision.", "good")
    if found.code == found.this_code:
        reason = "with the same code: the record was changed, or ADON has a defect"
    else:
        reason = f"because the code differs (recorded with {found.code}, now {found.this_code})"
    return ui.notice(f"The replay does not reproduce the decision, {reason}.", "wait")


def _alternative(one: AlternativeView, here: Visit) -> Component:
    name = f"{one.site} by {one.path}" if one.site else one.path
    q = "" if one.q is None else html.Small(f" Q {one.q:.2f}", className="muted")
    parts: list[Component] = [html.H3([ui.link(name, f"/paths/{one.path}"), q])]
    if one.why:
        parts.append(html.Small(one.why, className="muted"))
    parts.append(html.P(html.Strong(one.text) if one.flips else one.text))
    if len(one.flips) > 1:
        columns: Columns = {
            "Input": _input_name,
            "Value": lambda flip: quantity_text(flip.value, flip.unit),
            "Sufficient value": lambda flip: html.Strong(quantity_text(flip.told, flip.unit)),
            "Explanation": "text",
        }
        caption = f"Changes that select {name}"
        numeric = {"Value", "Sufficient value"}
        parts.append(document_table(here, columns, one.flips, "", caption, numeric=numeric))
    return html.Div(parts)


def _input_name(one: FlipView | QuantityView) -> str:
    if one.kind == "closed":
        return f"closed: {one.name}"
    name = metric_name(one.name).lower() if one.name else ""
    kind = "" if one.kind == "metric" else one.kind.replace("_", " ")
    where = f"on {one.path}" if one.path else ""
    return " ".join(part for part in (name, kind, where) if part)


def _search_note(found: WhyNotView) -> Component:
    skipped = ", ".join(_input_name(one) for one in found.left_out)
    return html.Small(
        [
            f"{found.decisions_made} decisions with {len(found.searched)} inputs, one changed at a time. ",
            "Smaller changes of two inputs can be sufficient.",
            html.P(f"Skipped for lack of time: {skipped}.") if skipped else "",
        ],
        className="muted",
    )


def register_callbacks(app: Dash) -> None:
    """Compute the counterfactuals."""

    @app.callback(
        Output(RESULT, "children"),
        Input(COMPUTE, "n_clicks"),
        State(DECISION, "data"),
        prevent_initial_call=True,
        running=[
            (Output(COMPUTE, "disabled"), True, False),
            (Output(COMPUTE, "children"), "Computing …", LABEL),
        ],
    )
    def compute(clicks: int | None, decision: str) -> Any:
        if not clicks:
            return no_update
        here = visit()
        try:
            return why_not_view(here.client.why_not(decision), here)
        except NotFound:
            return ui.notice("The inputs of this decision are not stored.", "wait")
        except AdonError as error:
            return ui.failure(error)
