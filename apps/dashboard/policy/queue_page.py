"""``/queue``: queued flows in the order of admission, and what they wait for."""

from __future__ import annotations

from collections.abc import Sequence

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.flows import FlowView
from adon.api.queue import WaitingView
from adon.errors import Conflict, NotFound, Unavailable
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.policy.formats import may_own
from apps.dashboard.ui.document_table import Columns, document_table
from apps.dashboard.visit import Visit

PATH = "/queue"
LISTED = 100
PHASES = {
    "hurried": "Earlier because of its deadline.",
    "due": "Its reservation has started.",
    "asleep": "Its start time is in the future.",
}


def show(here: Visit) -> Component:
    """The heading."""
    lead = "Queued flows in order of admission. ADON tries to admit them after each change."
    deeds = [ui.link("Policy", "/policy")] if may_own(here, Action.NETWORK_READ) else []
    return ui.head("Queue", lead, *deeds)


def live(here: Visit) -> Component:
    """The queue, and one flow in detail."""
    try:
        found = here.client.queue()
    except Unavailable as error:
        return ui.failure(error)
    chosen = here.query.get("flow") or (found.items[0].id if found.items else None)
    table = _queue_table(found.items, found.waiting, here, chosen)
    return html.Div([table, None if chosen is None else _waiting(here, chosen)])


def _queue_table(flows: Sequence[FlowView], waiting: int, here: Visit, chosen: str | None) -> Component:
    rows = flows[:LISTED]
    places = {one.id: place for place, one in enumerate(rows, start=1)}
    columns: Columns = {
        "Place": lambda one: str(places[one.id]),
        "Flow": lambda one: ui.link(one.id, f"/flows/{one.id}"),
        "Requester": "requester",
        "Template": "template",
        "Size": "size_bytes",
        "State": lambda one: _state(one, here),
        "Queued": "state_since",
        "Reserved from": lambda one: ui.when(one.booking and one.booking.begins, here),
        "Missing": lambda one: html.Small(_missing(one)),
        "": lambda one: ui.link("Details", f"{PATH}?flow={one.id}"),
    }
    table = document_table(
        here,
        columns,
        rows,
        "No queued flows.",
        "Queued flows",
        numeric={"Place"},
        marked=lambda one: one.id == chosen,
    )
    title = f"{ui.count(waiting, 'flow')} {'waits' if waiting == 1 else 'wait'}" if waiting else None
    others = waiting - len(rows)
    note = html.P(f"{others} more flows are queued.", className="muted") if others > 0 else None
    return ui.card(title, table, note)


def _missing(one: FlowView) -> str:
    if one.booking:
        # The reason of the last attempt does not matter once a start time is reserved.
        return f"its start time; {ui.rate(one.booking.rate_bps)} of {one.booking.path} are reserved"
    return one.reason


def _state(one: FlowView, here: Visit) -> Component:
    was_active = one.started_at is not None or one.moves > 0 or one.bytes_moved > 0
    badges = [
        ui.badge("preempted", "wait") if was_active else None,
        ui.badge("reserved", "good") if one.booking else None,
        ui.badge("pausable") if one.request.get("pausable") else None,
        html.Span([ui.badge("deadline", "wait"), " ", ui.when(one.deadline, here)]) if one.deadline else None,
    ]
    return html.Div([badge for badge in badges if badge is not None] or [ui.badge("waits")])


def _waiting(here: Visit, flow: str) -> Component:
    try:
        found = here.client.waiting(flow)
    except Conflict:
        link = ui.link("Show flow", f"/flows/{flow}")
        return ui.card(flow, ui.notice(["The flow is no longer queued. ", link], "good"))
    except (NotFound, Unavailable) as error:
        return ui.failure(error)
    return waiting_card(found, here)


def waiting_card(found: WaitingView, here: Visit) -> Component:
    """Return what a queued flow waits for, and its place in the queue."""
    claim = "yes: no later flow is admitted to this resource" if found.claims else "no"
    return ui.card(
        html.Span(["Queue: why ", ui.link(found.id, f"/flows/{found.id}"), " waits"]),
        html.Ul([html.Li(one) for one in found.waits_for], className="plain-list"),
        ui.facts(
            ("Ahead of it", f"{found.before or 'none'}; {found.waiting} queued"),
            ("Expires", ui.when(found.expires_at, here)),
            ("Claims resources from", ui.when(found.not_overtaken_from, here)),
            ("Claim", claim),
        ),
        html.P(PHASES[found.phase], className="muted") if found.phase in PHASES else None,
    )


PAGE = Page(PATH, "Queue", Action.FLOW_READ, show, live, 5.0, group=Group.POLICY)
