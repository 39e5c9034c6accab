"""``/placements``: tasks on machines, what decides their time, and the rates they were placed over."""

from __future__ import annotations

from dash import Dash, html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.studies import StudyView
from adon.placement.model import DecidingLink, LinkKind, Method, Placement, placement_from_json
from adon.studies.model import StudyKind
from apps.dashboard import ui
from apps.dashboard.instances import placement_figures as figures
from apps.dashboard.instances.opened import Opened, opened, options
from apps.dashboard.page import Group, Page
from apps.dashboard.policy import filters
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit
from measurement.model import from_json
from measurement.snapshot.model import Snapshot

PATH = "/placements"
PREFIX = "placements"
READ = 50
"""Placements that are read to compare methods, at most."""
WHERE = {
    LinkKind.PATH: "the path between two machines",
    LinkKind.HOSE: "everything out of one machine",
    LinkKind.SHARED: "a link that paths share",
}


def show(here: Visit) -> Component:
    """The heading and which placement."""
    lead = "Placement of tasks on machines with the shortest completion time."
    head = ui.head("Placements", lead, ui.link("Health of instances", "/instances"))
    known = options(here, StudyKind.PLACEMENT, "latest")
    if len(known) == 1:
        return html.Div([head])
    chosen = filters.choice(PREFIX, "study", "Placement", here, known)
    return html.Div([head, filters.form(PREFIX, [chosen], PATH)])


def live(here: Visit) -> Component:
    """The placement."""
    found = opened(here, StudyKind.PLACEMENT, placement_from_json)
    if found is None:
        says = "No placements yet. Submit one with `adon study submit placement FILE`."
        return ui.card(None, ui.empty(says))
    placed = found.value
    snapshot = _snapshot(placed, here)
    return html.Div(
        [
            _summary(found, here),
            ui.columns(
                ui.card("Tasks by machine", _machines(placed)),
                ui.card("By method", *_methods(found, here)),
            ),
            _rates(placed, snapshot),
            ui.card("All placements", _listed(found, here)),
        ]
    )


def _summary(found: Opened[Placement], here: Visit) -> Component:
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
    return f"{WHERE[limit.kind]} ({pairs}{more}): {carried}{waiting}"


def _machines(placement: Placement) -> Component:
    tasks: dict[str, list[str]] = {}
    for task, machine in placement.machines.items():
        tasks.setdefault(machine, []).append(task)
    columns = [
        Column("Machine", lambda one: one[0], whole=True),
        Column("Tasks", lambda one: ", ".join(one[1])),
        Column("", lambda one: ui.count(len(one[1]), "task"), numeric=True),
    ]
    return ui.table(columns, sorted(tasks.items()), "No task is placed.", "Tasks by machine")


def _methods(found: Opened[Placement], here: Visit) -> list[Component]:
    """Placements of the same application over the same network, the latest of each method."""
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
    return [ui.chart("placement-methods", figures.by_method(best), caption, height)]


def _snapshot(placed: Placement, here: Visit) -> Snapshot | None:
    """The snapshot that it was placed over, if that is kept."""
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
        figures.rates(snapshot, used),
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


def _listed(found: Opened[Placement], here: Visit) -> Component:
    def way(one: StudyView) -> Component:
        return ui.link(one.title, filters.address(PATH, {}, study=one.id))

    columns = [
        Column("Application", way),
        Column("Result", lambda one: one.summary),
        Column("Network measured", lambda one: ui.when(one.at, here)),
        Column("By", lambda one: one.submitted_by),
    ]
    mine = found.study.id
    return ui.table(columns, found.listed, "", "Placements", marked=lambda one: one.id == mine)


def callbacks(app: Dash) -> None:
    """The choice into the address."""
    filters.install(app, PREFIX, ("study",))


PAGE = Page(
    PATH, "Placements", Action.STUDY_READ, show, live, 30.0, group=Group.INSTANCES, callbacks=callbacks
)
