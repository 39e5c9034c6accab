"""The queue: who waits, in which order, and why."""

from __future__ import annotations

from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.flows import FlowView
from adon.api.queue import WaitingView
from adon.errors import Conflict, NotFound, Unavailable
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.policy.words import allowed, template_link
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit

PATH = "/queue"
LISTED = 100


def show(here: Visit) -> Component:
    """The heading."""
    lead = "Queued flows in order of admission. ADON tries to admit them after each change."
    deeds = [ui.link("Policy", "/policy")] if allowed(here, Action.NETWORK_READ) else []
    return ui.head("Queue", lead, *deeds)


def live(here: Visit) -> Component:
    """The order, and one flow in detail."""
    try:
        found = here.client.queue()
    except Unavailable as error:
        return ui.failure(error)
    items = found.items
    chosen = here.query.get("flow") or (items[0].id if items else None)
    parts: list[Any] = [_order(items, found.waiting, here, chosen)]
    if chosen is not None:
        parts.append(_waiting(here, chosen))
    return html.Div(parts)


def displaced(flow: FlowView) -> bool:
    """Whether it ran before, and gave way."""
    return flow.started_at is not None or flow.moves > 0 or flow.bytes_moved > 0


def _order(items: list[FlowView], waiting: int, here: Visit, chosen: str | None) -> Component:
    rows = items[:LISTED]
    places = {one.id: str(place) for place, one in enumerate(rows, start=1)}
    columns = [
        Column("Place", lambda one: places[one.id], numeric=True),
        Column("Flow", lambda one: ui.link(one.id, f"/flows/{one.id}")),
        Column("Requester", lambda one: one.requester),
        Column("Template", lambda one: template_link(one.template)),
        Column("Size", lambda one: ui.size(one.size_bytes), numeric=True),
        Column("State", lambda one: _state(one, here)),
        Column("Queued", lambda one: ui.when(one.state_since, here)),
        Column("Reserved from", lambda one: _reserved_from(one, here)),
        Column("Missing", lambda one: html.Small(_for(one))),
        Column("", lambda one: ui.link("Details", f"{PATH}?flow={one.id}")),
    ]
    nothing = ui.empty("No queued flows.")
    others = waiting - len(rows)
    more = [html.P(f"{others} more flows are queued.", className="muted")] if others > 0 else []
    table = ui.table(columns, rows, nothing, "Queued flows", lambda one: one.id == chosen)
    return ui.card(
        f"{ui.count(waiting, 'flow')} {'waits' if waiting == 1 else 'wait'}" if waiting else None,
        table,
        *more,
    )


def _reserved_from(one: FlowView, here: Visit) -> Component | str:
    return ui.when(one.booking.begins, here) if one.booking else ui.words.NONE


def _for(one: FlowView) -> str:
    """What was wrong when it was last looked at says nothing of one whose time is reserved."""
    if not one.booking:
        return str(one.reason)
    return f"its start time; {ui.rate(one.booking.rate_bps)} of {one.booking.path} are reserved"


def _state(one: FlowView, here: Visit) -> Component:
    badges = []
    if displaced(one):
        badges.append(ui.badge("preempted", "wait"))
    if one.booking:
        badges.append(ui.badge("reserved", "good"))
    if one.request.get("pausable"):
        badges.append(ui.badge("pausable"))
    if one.deadline:
        badges.append(html.Span([ui.badge("deadline", "wait"), " ", ui.when(one.deadline, here)]))
    return html.Div(badges or [ui.badge("waits", "plain")])


def _waiting(here: Visit, flow: str) -> Component:
    try:
        found = here.client.waiting(flow)
    except Conflict:
        return ui.card(
            flow,
            ui.notice(["The flow is no longer queued. ", ui.link("Show flow", f"/flows/{flow}")], "good"),
        )
    except (NotFound, Unavailable) as error:
        return ui.failure(error)
    return waiting_card(found, here)


def waiting_card(found: WaitingView, here: Visit) -> Component:
    """What one flow waits for, and its place in the queue."""
    phases = {
        "hurried": "earlier because of its deadline",
        "due": "its reservation has started",
        "asleep": "its start time is in the future",
    }
    return ui.card(
        html.Span(["Why ", ui.link(found.id, f"/flows/{found.id}"), " waits"]),
        html.Ul([html.Li(one) for one in found.waits_for], className="plain-list"),
        ui.facts(
            ("Ahead of it", f"{found.before or 'none'}; {found.waiting} queued"),
            ("Expires", ui.when(found.expires_at, here)),
            ("Claims resources from", ui.when(found.not_overtaken_from, here)),
            (
                "Claim",
                "yes: no later flow is admitted to this resource" if found.claims else "no",
            ),
        ),
        *([html.P(phases[found.phase], className="muted")] if found.phase in phases else []),
    )


PAGE = Page(PATH, "Queue", Action.FLOW_READ, show, live, 5.0, group=Group.POLICY)
