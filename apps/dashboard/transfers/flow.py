"""One flow: how far it is, on which path and why, what was promised and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dash import Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.flows import FlowView
from adon.errors import AdonError, Conflict, NotFound, Unavailable
from apps.dashboard import ui
from apps.dashboard.operation.rules import rule_state, switch_column
from apps.dashboard.page import Page
from apps.dashboard.transfers import account, behind, foretelling
from apps.dashboard.transfers.states import moved, quality, state
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit, visit

CANCEL, SURE, WHICH = "flow-cancel", "flow-sure", "flow-which"
STEPS = 50
"""Of a flow's history: one that moves often would make its page longer and longer."""


def show(here: Visit) -> Component:
    """The heading and what may be done; what changes is below."""
    flow = here.client.flow(here.parts["id"])
    deeds: list[Component] = []
    if here.may(Action.FLOW_SUBMIT, here.actor.name):
        deeds.append(dcc.Link("Repeat", href=f"/new?again={flow.id}", className="button quiet"))
    ends = f"from {flow.source} to {flow.destination}"
    lead = f"{ui.size(flow.size_bytes)} {ends}, for {flow.requester}"
    name = f"{flow.id}: {flow.label}" if flow.label else flow.id
    return html.Div(
        [
            ui.head(name, lead, *deeds),
            dcc.Store(id=WHICH, data=flow.id),
            dcc.ConfirmDialog(id=SURE, message=f"Cancel {flow.id}? Data that was moved is kept."),
            html.Div(id="flow-done"),
        ]
    )


def live(here: Visit) -> Component:
    """How it stands."""
    flow = here.client.flow(here.parts["id"])
    return html.Div(
        [
            _standing(flow, here),
            *_if(_waiting, flow, here),
            ui.columns(
                *_if(_result, flow, here),
                _decided(flow, here),
                _history(flow, here),
                *_if(_rules, flow, here),
            ),
        ]
    )


def _if(part: Callable[[FlowView, Visit], Component | None], flow: Any, here: Visit) -> list[Component]:
    """A part of the page, unless it has nothing to say now."""
    try:
        found = part(flow, here)
    except (Conflict, NotFound, Unavailable):
        # The flow is not queued, or the data are missing; the page reports missing parts elsewhere.
        return []
    return [] if found is None else [found]


def _standing(flow: FlowView, here: Visit) -> Component:
    path = "–" if flow.path is None else ui.link(flow.path, f"/paths/{flow.path}")
    template = flow.template.partition("@")[0]
    pairs: list[tuple[str, Any]] = [
        ("State", state(flow)),
        ("Moved", moved(flow)),
        ("Path", path),
        ("QSpec", quality(flow) if flow.path and not flow.final else "–"),
        ("Compute site", flow.compute_site or "–"),
        ("Application", ui.link(flow.template, f"/templates/{template}")),
        ("Requested", ui.when(flow.submitted_at, here)),
        *account.times(flow, here),
        *behind.facts(flow, here),
    ]
    more = (html.P(flow.reason, className="reason"), *behind.said(flow, here), behind.ways(flow, here))
    return ui.card(None, ui.facts(*pairs), *more, _cancel(flow, here))


def _cancel(flow: FlowView, here: Visit) -> Component | None:
    """Beside the state, since it is gone when the flow has ended."""
    if flow.final or not here.may(Action.FLOW_CANCEL, flow.requester):
        return None
    return html.Div(html.Button("Cancel", id=CANCEL, className="danger"), className="deeds")


def _waiting(flow: FlowView, here: Visit) -> Component | None:
    if flow.state != "queued":
        return None
    told = here.client.waiting(flow.id)
    return ui.card(
        "Queue",
        ui.facts(
            ("Ahead of it", f"{told.before} of {told.waiting} queued flows"),
            ("Expires", ui.when(told.expires_at, here)),
        ),
        html.Ul([html.Li(one) for one in told.waits_for]),
    )


def _result(flow: FlowView, here: Visit) -> Component | None:
    if not flow.final:
        return None
    outcome = here.client.outcome(flow.id)
    return ui.card("Outcome", *account.result(outcome, here))


def _decided(flow: FlowView, here: Visit) -> Component:
    newest = here.client.all_decisions(flow=flow.id, limit=1).items
    if not newest:
        return ui.card("Path selection", ui.empty("No decision yet."))
    last = here.client.decision(newest[0].id)
    more = ui.link(f"Decision {last.id} in full", f"/decisions/{last.id}")
    return ui.card("Path selection", *foretelling.why(last), html.P(more))


def _history(flow: FlowView, here: Visit) -> Component:
    steps, said = [], ""
    found = here.client.history(flow.id, last=STEPS)
    for one in found:
        where = f" on {one.path}" if one.path else ""
        told = [] if one.reason in ("", said) else [html.Small(one.reason)]
        steps.append(html.Li([html.Div([ui.when(one.at, here), " ", state(one), where]), *told]))
        said = one.reason
    steps.reverse()
    earlier = html.P(["Earlier steps: ", html.Code(f"adon flow show {flow.id}")], className="muted")
    return ui.card("History", html.Ol(steps, className="story"), *([earlier] if len(found) == STEPS else []))


def _rules(flow: FlowView, here: Visit) -> Component | None:
    rules = [one for one in here.client.rules(flow=flow.id) if one.state != "removed"]
    if not rules:
        return None
    columns = [
        switch_column(here),
        Column("State", rule_state),
        Column("Rule", lambda one: html.Code(one.text)),
    ]
    return ui.card("Rules in the switches", ui.table(columns, rules, "", "Rules of this flow"), wide=True)


def callbacks(app: Dash) -> None:
    """Cancelling asks once."""

    @app.callback(Output(SURE, "displayed"), Input(CANCEL, "n_clicks"), prevent_initial_call=True)
    def ask(clicks: int | None) -> bool:
        return bool(clicks)

    @app.callback(
        Output("flow-done", "children", allow_duplicate=True),
        Input(SURE, "submit_n_clicks"),
        State(WHICH, "data"),
        prevent_initial_call=True,
    )
    def cancel(clicks: int | None, flow: str) -> Any:
        if not clicks or ctx.triggered_id != SURE:
            return no_update
        try:
            visit().client.cancel(flow)
        except AdonError as error:
            return ui.failure(error)
        return ui.notice(f"{flow} is cancelled.", "good")


PAGE = Page("/flows/<id>", "Flow", Action.FLOW_READ, show, live, refresh_s=3.0, callbacks=callbacks)
