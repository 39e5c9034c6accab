"""All flows that one may see: filtered, page by page."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from dash import Dash, Input, Output, State, html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.flows import FlowList
from adon.broker.flow import FlowState
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.transfers.states import moved, state
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit

PER_PAGE = 50
ANY = "any"
STATE, REQUESTER = "flows-state", "flows-requester"
FILTERS = ("state", "requester")


def show(here: Visit) -> Component:
    """The heading and the filters; a filter is part of the address, so it can be kept and sent on."""
    states = [(ANY, "every state"), *((one.value, ui.state_words(one.value)) for one in FlowState)]
    chosen = {name: here.query.get(name, "") for name in FILTERS}
    filters = html.Div(
        [
            ui.field("State", ui.choice(STATE, states, chosen["state"] or ANY)),
            ui.field("Requester", ui.text_input(REQUESTER, chosen["requester"], "any", debounce=0.4)),
        ],
        className="grid",
    )
    new = ui.link("New transfer", "/new", button=True)
    return html.Div([ui.head("Flows", "Newest first.", new), ui.card(None, filters)])


def live(here: Visit) -> Component:
    """One page of the list."""
    chosen = {name: here.query[name] for name in FILTERS if here.query.get(name)}
    page = here.client.flow_page(**chosen, limit=PER_PAGE, before=here.query.get("before"))
    columns = [
        Column("Flow", lambda one: ui.link(one.id, f"/flows/{one.id}")),
        Column("State", state),
        Column("Name", lambda one: one.label or one.template),
        Column("Route", lambda one: f"{one.source} → {one.destination}"),
        Column("Moved", moved),
        Column("Path", lambda one: one.path or "–"),
        Column(
            "Requested",
            lambda one: html.Span([ui.when(one.submitted_at, here), f" by {one.requester}"]),
        ),
    ]
    nothing = (
        ui.empty("No flows match these filters.", ui.link("Show all", "/flows"))
        if chosen or "before" in here.query
        else ui.empty("No flows yet.", ui.link("New transfer", "/new", button=True))
    )
    return ui.card(None, ui.table(columns, page.items, nothing, "Flows"), *_ways(chosen, here, page))


def _ways(chosen: Mapping[str, str], here: Visit, page: FlowList) -> list[Component]:
    ways = []
    if "before" in here.query:
        ways.append(ui.link("Newest", "/flows" + _query(chosen)))
    if page.next is not None:
        ways.append(ui.link("Older", "/flows" + _query({**chosen, "before": page.next})))
    return [html.Nav(ways, className="ways", **{"aria-label": "More flows"})] if ways else []


def _query(parts: Mapping[str, str]) -> str:
    return f"?{urlencode(parts)}" if parts else ""


def callbacks(app: Dash) -> None:
    """A filter changes the address, and the address what is shown."""

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input(STATE, "value"),
        Input(REQUESTER, "value"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    def narrow(chosen: str | None, requester: str | None, _before: str | None) -> str:
        given = {"state": "" if chosen == ANY else chosen or "", "requester": (requester or "").strip()}
        return _query({name: value for name, value in given.items() if value})


PAGE = Page("/flows", "Flows", Action.FLOW_READ, show, live, group=Group.TRANSFERS, callbacks=callbacks)
