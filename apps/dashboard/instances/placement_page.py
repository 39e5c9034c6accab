"""``/placements``: placements of tasks on machines, completion times, and rates between machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.placement.model import DecidingLink, LinkKind, Method, Placement, placement_from_json
from adon.studies.model import StudyKind
from apps.dashboard import ui
from apps.dashboard.filter_form import Filter, FilterForm
from apps.dashboard.instances.studies import OpenStudy, open_study, study_options, study_table
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.document_table import Columns, document_table
from apps.dashboard.visit import Visit
from apps.figures.looks import SERIES
from measurement.health.model import Pair
from measurement.model import from_json
from measurement.snapshot.model import Snapshot

PATH = "/placements"
FILTERS = FilterForm(PATH, (Filter("study", "Placement"),))
READ = 50
"""Placements that are read to compare methods."""
LABELLED = 12
"""Machines up to which each cell of the rates has its number."""
LINKS = {
    LinkKind.PATH: "the path between two machines",
    LinkKind.HOSE: "everything out of one machine",
    LinkKind.SHARED: "a link that paths share",
}


def show(here: Visit) -> Component:
    """Heading and choice of a placement."""
    lead = "Placement of tasks on machines with the shortest completion time."
    head = ui.head("Placements", lead, ui.link("Health of instances", "/instances"))
    known = study_options(here, StudyKind.PLACEMENT)
    return html.Div([head, FILTERS.draw(here, {"study": known}) if len(known) > 1 else None])


def live(here: Visit) -> Component:
    """The placement."""
    found = open_study(here, StudyKind.PLACEMENT, placement_from_json)
    if found is None:
        says = "No placements yet. Submit one with `adon study submit placement FILE`."
        return ui.card(None, ui.empty(says))
    placed = found.value
    snapshot = _snapshot(placed, here)
    return html.Div(
        [
            _summary(found, here),
            ui.columns(
                ui.card("Tasks by machine", _machines(placed, here)),
                ui.card("By method", *_methods(found, here)),
            ),
            _rates(placed, snapshot),
            ui.card("All placements", study_table(here, PATH, found, "Placements")),
        ]
    )


def _summary(found: OpenStudy[Placement], here: Visit) -> Component:
    placed = found.value
    proven = ui.badge("proven optimal", "good") if placed.proven else ui.badge("not proven", "wait")
    gap = placed.completion_time_s / placed.lower_bound_s - 1 if placed.lower_bound_s > 0 else None
    return ui.card(
        f"{placed.application}, {placed.method.value}",
        html.P(proven),
        ui.facts(
            ("Completion time", ui.span(placed.completion_time_s)),
            ("Lower bound", ui.span(placed.lower_bound_s) if placed.lower_bound_s else None),
            ("Gap", None if gap is None else ui.share(gap)),
            ("Limited by", _limit(placed.limit)),
            ("Network measured", ui.when(found.study.at, here)),
            ("Submitted by", found.study.submitted_by),
            ("Study", found.study.id),
        ),
    )


def _limit(limit: DecidingLink | None) -> str:
    if limit is None:
        return "no transfers between machines"
    pairs = ", ".join(f"{one} > {other}" for one, other in limit.pairs[:4])
    more = f" and {len(limit.pairs) - 4} more" if len(limit.pairs) > 4 else ""
    carried = f"{ui.size(limit.carried_bytes)} at {ui.rate(limit.rate_bps)}"
    waiting = f", after {ui.size(limit.waiting_bytes)} of other transfers" if limit.waiting_bytes else ""
    return f"{LINKS[limit.kind]} ({pairs}{more}): {carried}{waiting}"


def _machines(placement: Placement, here: Visit) -> Component:
    tasks: dict[str, list[str]] = {}
    for task, machine in placement.machines.items():
        tasks.setdefault(machine, []).append(task)
    columns: Columns = {
        "Machine": lambda one: one[0],
        "Tasks": lambda one: ", ".join(one[1]),
        "Number": lambda one: ui.count(len(one[1]), "task"),
    }
    rows = sorted(tasks.items())
    return document_table(here, columns, rows, "No task is placed.", "Tasks by machine", numeric={"Number"})


def _methods(found: OpenStudy[Placement], here: Visit) -> list[Component]:
    """Return the times of the latest placement by each method, of the same application and snapshot."""
    mine = found.value
    best: dict[Method, Placement] = {mine.method: mine}
    same = [one for one in found.listed if one.at == found.study.at and one.id != found.study.id]
    for one in same[:READ]:
        other = placement_from_json(here.client.study(one.id).document)
        if other.application == mine.application:
            best.setdefault(other.method, other)
    if len(best) == 1:
        return [html.P("Only one method was run.", className="muted")]
    says = ", ".join(f"{method.value} {ui.span(one.completion_time_s)}" for method, one in best.items())
    height = 110 + 40 * len(best)
    caption = f"Completion time: {says}. Dotted line: lower bound."
    return [ui.chart("placement-methods", method_figure(best), caption, height)]


def _snapshot(placed: Placement, here: Visit) -> Snapshot | None:
    """Return the snapshot of the placement, if it is stored."""
    for one in here.client.studies(StudyKind.SNAPSHOT.value, READ):
        if abs(one.at - placed.snapshot_at) < 1e-3:
            return from_json(Snapshot, here.client.study(one.id).document)
    return None


def _rates(placed: Placement, snapshot: Snapshot | None) -> Component:
    if snapshot is None:
        says = "The snapshot is not stored. Submit it: `adon study submit snapshot FILE`."
        return ui.card("Rates between instances", ui.empty(says))
    used = sorted({*placed.machines.values()})
    drawn = ui.chart(
        "placement-rates",
        rate_figure(snapshot, used),
        "Rate of one connection from the row to the column. ●: instance with tasks.",
        height=min(900, 220 + 26 * len(snapshot.instances)),
    )
    shared = [f"{ui.rate(one.rate)} for {len(one.pairs)} paths together" for one in snapshot.bottlenecks]
    hoses = [f"{name} {ui.rate(rate)}" for name, rate in sorted(snapshot.hoses.items())]
    more = ui.facts(
        ("Shared bottlenecks", "; ".join(shared) or None),
        ("Egress limits", ", ".join(hoses) or None),
        ("Racks", "; ".join(", ".join(sorted(rack)) for rack in snapshot.racks) or None),
    )
    return ui.card("Rates between instances", drawn, more)


def method_figure(found: Mapping[Method, Placement]) -> go.Figure:
    """Return the completion time by method, the shortest first, with a line at the best lower bound."""
    ranked = sorted(found.items(), key=lambda item: item[1].completion_time_s)
    names = [method.value for method, _ in ranked]
    times = [one.completion_time_s for _, one in ranked]
    bars = go.Bar(
        x=times,
        y=names,
        orientation="h",
        marker={"color": SERIES[0]},
        text=[ui.span(one) for one in times],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: %{x:.3g} s<extra></extra>",
    )
    figure = ui.figure([bars], x="completion time in s")
    figure.update_yaxes(autorange="reversed", type="category")
    figure.update_layout(hovermode="closest", margin={"l": 130, "r": 60})
    bound = max((one.lower_bound_s for _, one in ranked), default=0.0)
    if bound > 0:
        figure.add_vline(x=bound, line={"color": SERIES[1], "dash": "dot", "width": 2})
    return figure


def rate_figure(snapshot: Snapshot, used: Sequence[str] = ()) -> go.Figure:
    """Return the rate of one connection from the row to the column, ordered by rack.

    :param used: machines with tasks, which are marked.
    """
    racks = {name: place for place, rack in enumerate(snapshot.racks) for name in rack}
    names = sorted(snapshot.instances, key=lambda name: (racks.get(name, len(racks)), name))
    shown = [f"● {name}" if name in used else name for name in names]
    values = [[snapshot.rates.get(Pair(one, other)) for other in names] for one in names]
    few = len(names) <= LABELLED
    cells = go.Heatmap(
        z=[[None if value is None else value / 1e6 for value in row] for row in values],
        x=shown,
        y=shown,
        zmin=0,
        zmax=max((rate / 1e6 for rate in snapshot.rates.values()), default=1.0),
        colorscale="Cividis",
        xgap=1,
        ygap=1,
        text=[["" if value is None else f"{value / 1e6:.4g}" for value in row] for row in values]
        if few
        else None,
        texttemplate="%{text}" if few else None,
        hovertemplate="%{y} > %{x}: %{z:.4g} Mbps<extra></extra>",
        hoverongaps=False,
        colorbar={"title": {"text": "Mbps", "side": "right"}, "thickness": 12},
    )
    figure = ui.quiet_axes(go.Figure([cells]), x="to", y="from")
    figure.update_layout(hovermode="closest", margin={"l": 80})
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    figure.update_xaxes(type="category", tickangle=-60, showgrid=False)
    return figure


PAGE = Page(
    PATH, "Placements", Action.STUDY_READ, show, live, 30.0, group=Group.INSTANCES, callbacks=FILTERS.register
)
