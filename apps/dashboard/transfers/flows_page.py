"""``/flows``: the flows that the user may see, newest first."""

from __future__ import annotations

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.broker.flow import FlowState
from apps.dashboard import ui
from apps.dashboard.filter_form import Filter, FilterForm
from apps.dashboard.page import Group, Page
from apps.dashboard.transfers.flow_view import progress_bar, state_badge
from apps.dashboard.ui.document_table import Columns, document_table
from apps.dashboard.visit import Visit

PER_PAGE = 50
FILTERS = FilterForm("/flows", (Filter("state", "State"), Filter("requester", "Requester", "any")))
COLUMNS: Columns = {
    "Flow": lambda one: ui.link(one.id, f"/flows/{one.id}"),
    "State": state_badge,
    "Name": lambda one: one.label or one.template,
    "Route": lambda one: f"{one.source} → {one.destination}",
    "Moved": progress_bar,
    "Path": "path",
    "Requester": "requester",
    "Requested": "submitted_at",
}


def show(here: Visit) -> Component:
    """Heading and filters."""
    states = [("", "any"), *((one.value, one.value) for one in FlowState)]
    new = ui.link("New transfer", "/new", button=True)
    return html.Div([ui.head("Flows", "Newest first.", new), FILTERS.draw(here, {"state": states})])


def live(here: Visit) -> Component:
    """One page of the list."""
    chosen = {one: here.query[one] for one in ("state", "requester", "before") if here.query.get(one)}
    page = here.client.flow_page(**chosen, limit=PER_PAGE)
    nothing = FILTERS.empty(here, "flows", ui.link("New transfer", "/new", button=True))
    table = document_table(here, COLUMNS, page.items, nothing, "Flows")
    return ui.card(None, table, FILTERS.page_links(here, page.next))


PAGE = Page(
    "/flows", "Flows", Action.FLOW_READ, show, live, group=Group.TRANSFERS, callbacks=FILTERS.register
)
