"""``/flows/<id>``: state, path selection, history and outcome of one flow."""

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
from apps.dashboard.policy.decision_view import decision_summary
from apps.dashboard.policy.queue_page import waiting_card
from apps.dashboard.transfers import flow_outcome, flow_view
from apps.dashboard.transfers.flow_view import progress_bar, quality_badge, state_badge
from apps.dashboard.ui.blocks import Column
from apps.dashboard.ui.document_table import object_link
from apps.dashboard.visit import Visit, visit

CANCEL, CONFIRM, FLOW, RESULT = "flow-cancel", "flow-sure", "flow-which", "flow-done"
STEPS = 50
"""Shown steps of the history."""
Part = Callable[[FlowView, Visit], Component | None]


def show(here: Visit) -> Component:
    """Heading, and the request that the flow can be repeated by."""
    flow = here.client.flow(here.parts["id"])
    deeds: list[Component] = []
    if here.may(Action.FLOW_SUBMIT, here.actor.name):
        deeds.append(dcc.Link("Repeat", href=f"/new?again={flow.id}", className="button quiet"))
    lead = f"{ui.size(flow.size_bytes)} from {flow.source} to {flow.destination}, for {flow.requester}"
    return html.Div(
        [
            ui.head(f"{flow.id}: {flow.label}" if flow.label else flow.id, lead, *deeds),
            dcc.Store(id=FLOW, data=flow.id),
            dcc.ConfirmDialog(id=CONFIRM, message=f"Cancel {flow.id}? Data that was moved is kept."),
            html.Div(id=RESULT),
        ]
    )


def live(here: Visit) -> Component:
    """State and every part that applies in this state."""
    flow = here.client.flow(here.parts["id"])
    parts = [_part(one, flow, here) for one in (_outcome, _path_selection, _history, _rules)]
    shown = ui.columns(*(one for one in parts if one is not None))
    return html.Div([_state(flow, here), _part(_queue, flow, here), shown])


def _part(part: Part, flow: FlowView, here: Visit) -> Component | None:
    """Return a part of the page; None if it does not apply or its data are missing."""
    try:
        return part(flow, here)
    except (Conflict, NotFound, Unavailable):
        return None


def _state(flow: FlowView, here: Visit) -> Component:
    facts: list[tuple[str, Any]] = [
        ("State", state_badge(flow)),
        ("Moved", progress_bar(flow)),
        ("Path", object_link("path", flow.path)),
        *([("QSpec", quality_badge(flow))] if flow.path and not flow.final else []),
        *([("Compute site", object_link("compute_site", flow.compute_site))] if flow.compute_site else []),
        ("Application", object_link("template", flow.template)),
        ("Requested", ui.when(flow.submitted_at, here)),
        *flow_outcome.flow_times(flow, here),
        *flow_view.detail_facts(flow, here),
    ]
    return ui.card(
        None,
        ui.facts(*facts),
        html.P(flow.reason, className="reason"),
        *flow_view.detail_notes(flow, here),
        flow_view.related_links(flow, here),
        _cancel_button(flow, here),
    )


def _cancel_button(flow: FlowView, here: Visit) -> Component | None:
    if flow.final or not here.may(Action.FLOW_CANCEL, flow.requester):
        return None
    return html.Div(html.Button("Cancel", id=CANCEL, className="danger"), className="deeds")


def _queue(flow: FlowView, here: Visit) -> Component | None:
    if flow.state != "queued":
        return None
    return waiting_card(here.client.waiting(flow.id), here)


def _outcome(flow: FlowView, here: Visit) -> Component | None:
    if not flow.final:
        return None
    return ui.card("Outcome", *flow_outcome.outcome_parts(here.client.outcome(flow.id), here))


def _path_selection(flow: FlowView, here: Visit) -> Component:
    newest = here.client.all_decisions(flow=flow.id, limit=1).items
    if not newest:
        return ui.card("Path selection", ui.empty("No decision yet."))
    decision = here.client.decision(newest[0].id)
    more = html.P(["Decision ", object_link("decision", decision.id)])
    return ui.card("Path selection", *decision_summary(decision, here), more)


def _history(flow: FlowView, here: Visit) -> Component:
    entries = here.client.history(flow.id, last=STEPS)
    steps, previous = [], ""
    for one in entries:
        where = f" on {one.path}" if one.path else ""
        reason = [] if one.reason in ("", previous) else [html.Small(one.reason)]
        steps.append(html.Li([html.Div([ui.when(one.at, here), " ", state_badge(one), where]), *reason]))
        previous = one.reason
    content: list[Component] = [html.Ol(steps[::-1], className="story")]
    if len(entries) == STEPS:
        command = html.Code(f"adon flow show {flow.id}")
        content.append(html.P(["Earlier steps: ", command], className="muted"))
    return ui.card("History", *content)


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


def register_callbacks(app: Dash) -> None:
    """Cancel the flow after a confirmation."""

    @app.callback(Output(CONFIRM, "displayed"), Input(CANCEL, "n_clicks"), prevent_initial_call=True)
    def confirm(clicks: int | None) -> bool:
        return bool(clicks)

    @app.callback(
        Output(RESULT, "children", allow_duplicate=True),
        Input(CONFIRM, "submit_n_clicks"),
        State(FLOW, "data"),
        prevent_initial_call=True,
    )
    def cancel(clicks: int | None, flow: str) -> Any:
        if not clicks or ctx.triggered_id != CONFIRM:
            return no_update
        try:
            visit().client.cancel(flow)
        except AdonError as error:
            return ui.failure(error)
        return ui.notice(f"{flow} is cancelled.", "good")


PAGE = Page("/flows/<id>", "Flow", Action.FLOW_READ, show, live, refresh_s=3.0, callbacks=register_callbacks)
