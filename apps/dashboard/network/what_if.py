"""Rehearsal of one failure, or of all single failures, on the page of maintenance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from dash import Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.development.base_component import Component

from adon.api.maintenance import AffectedView, LoadView, RehearsalView
from adon.errors import AdonError, InvalidInput, Unavailable
from apps.dashboard import ui
from apps.dashboard.network.links import flow_links, map_address, path_link
from apps.dashboard.visit import Visit, visit

FAILURE, NAME, ASK, EVERY, ANSWER, ASKED = (
    "if-failure",
    "if-name",
    "if-ask",
    "if-every",
    "if-answer",
    "if-asked",
)
FAILURES = {
    "path-down": "a path fails",
    "link-down": "a link fails",
    "switch-down": "a switch fails",
    "port-down": "a port fails",
    "maintenance": "maintenance starts",
}
VERDICTS: dict[str, ui.Tone] = {"fine": "good", "broken": "bad", "unknown": "wait"}
QUALITIES: Mapping[str, tuple[str, ui.Tone]] = {
    "met": ("kept", "good"),
    "degraded": ("degraded", "wait"),
    "unknown": ("unknown", "plain"),
    "none": ("broken", "bad"),
}
SHOWN = 100
RANKED = 60


def section(here: Visit) -> Component:
    """Return the form of a rehearsal and the place of its answer.

    A callback answers at once if the address names a failure.
    """
    query = here.query
    asked = {name: query[name] for name in ("failure", "name", "all") if name in query}
    buttons = [
        html.Button("Simulate", id=ASK),
        html.Button("All single failures", id=EVERY, className="quiet"),
    ]
    fields = [
        ui.field("Failure", ui.choice(FAILURE, list(FAILURES.items()), _failure(query))),
        ui.field(
            "Name",
            ui.text_input(NAME, query.get("name", ""), "al2s", list=f"{NAME}-known"),
            "a link, path or switch; SWITCH:PORT; m-3",
        ),
        html.Datalist([html.Option(value=name) for name in _names(here)], id=f"{NAME}-known"),
        html.Div(buttons, className="deeds field"),
    ]
    answer = html.Div(id=ANSWER, **{"aria-live": "polite"})
    return html.Div(
        [
            ui.card("Rehearsal", html.Div(fields, className="controls")),
            dcc.Store(id=ASKED, data=asked),
            dcc.Loading(answer, type="dot", show_initially=False),
        ]
    )


def address(failure: str, name: str) -> str:
    """Return the address that rehearses a failure."""
    return f"/maintenance?{urlencode({'failure': failure, 'name': name})}"


def _failure(query: Mapping[str, str]) -> str:
    asked = query.get("failure", "")
    return asked if asked in FAILURES else "path-down"


def _names(here: Visit) -> list[str]:
    try:
        network = here.client.topology()
        windows = here.client.maintenance(all_=False)
    except Unavailable:
        return []  # the answer will say why there is none
    names = [
        *(one.name for one in network.circuits),
        *(one.name for one in network.links if one.name),
        *(one.name for one in network.switches),
        *(one.id for one in windows),
    ]
    return [*dict.fromkeys(names)]


def _answer(here: Visit, failure: str | None, name: str | None) -> Component:
    try:
        if failure is None:
            return ranking(here.client.what_if(None, None))
        if not name:
            raise InvalidInput.of("name", "missing; expected a link, path or switch, SWITCH:PORT, or m-3")
        found = here.client.what_if(failure, name)
    except AdonError as error:
        return ui.failure(error)
    return html.Div([rehearsal(one) for one in found])


def rehearsal(report: RehearsalView) -> Component:
    """What one failure would do."""
    flows = report.flows
    moving = sum(flow.to is not None for flow in flows)
    what = FAILURES.get(report.failure, report.failure)
    told = f" – {what} ({report.name}): {ui.count(len(flows), 'flow') if flows else 'no flow'} affected"
    if flows:
        told += f"; {moving} rerouted, QSpec of {report.broken} violated"
    down: list[Any] = []
    for number, path in enumerate(report.paths):
        down += [". Down: " if not number else ", ", ui.link(path, map_address(path=path))]
    verdict = ui.notice([html.Strong(report.verdict), told, *down], VERDICTS.get(report.verdict, "wait"))
    if not flows:
        return verdict
    return html.Div(
        [
            verdict,
            ui.card("Flows", _flows(flows)),
            ui.card("Throughput bounds on the paths", _loads(report.loads)),
        ]
    )


def _flows(flows: Sequence[AffectedView]) -> Component:
    def quality(one: AffectedView) -> Component:
        word, tone = QUALITIES.get(one.quality, (one.quality, "plain"))
        return ui.badge(word, tone)

    columns = [
        ui.Column(
            "Flow",
            lambda one: html.Span([ui.link(one.flow, f"/flows/{one.flow}"), html.Small(one.requester)]),
        ),
        ui.Column("Priority", lambda one: str(one.priority), numeric=True),
        ui.Column("Bound", lambda one: ui.rate(one.bound_bps) if one.bound_bps else "none", numeric=True),
        ui.Column("From", lambda one: path_link(one.path)),
        ui.Column("To", lambda one: path_link(one.to) if one.to else one.outcome),
        ui.Column("QSpec", quality),
        ui.Column("Predicted", lambda one: ui.rate(one.estimate_bps), numeric=True),
        ui.Column("Reason", lambda one: one.why),
    ]
    return ui.table(columns, flows, "None.", "Affected flows", most=SHOWN)


def _loads(loads: Sequence[LoadView]) -> Component:
    def level(bps: float, one: LoadView, most: float) -> Component | str:
        tone: ui.Tone = "bad" if bps > most else "plain"
        return ui.bar(bps / one.capacity_bps, ui.rate(bps), tone) if one.capacity_bps else ui.rate(bps)

    def carried(one: LoadView) -> str:
        return "down" if one.down else ui.rate(one.carries_bps)

    def path(one: LoadView) -> Component:
        return html.Span([path_link(one.path), html.Small(f"{one.source} → {one.destination}")])

    columns = [
        ui.Column("Path", path),
        ui.Column("Before", lambda one: level(one.before_bps, one, one.capacity_bps)),
        ui.Column("After", lambda one: level(one.after_bps, one, one.carries_bps)),
        ui.Column("Capacity", lambda one: ui.rate(one.capacity_bps), numeric=True),
        ui.Column("Capacity after", carried, numeric=True),
    ]
    return ui.table(columns, loads, "None.", "Throughput bounds and capacity before and after")


def ranking(reports: Sequence[RehearsalView]) -> Component:
    """All single failures, worst first."""
    if not reports:
        return ui.empty("No paths, links or switches.")

    def violated(one: RehearsalView) -> Any:
        return flow_links([flow.flow for flow in one.flows if flow.quality == "none"])

    def failure(one: RehearsalView) -> Component:
        return ui.link(f"{one.failure} {one.name}", address(one.failure, one.name))

    def count(one: RehearsalView, is_counted: Callable[[AffectedView], bool]) -> str:
        return str(sum(is_counted(flow) for flow in one.flows))

    columns = [
        ui.Column(
            "Failure", lambda one: ui.link(f"{one.failure} {one.name}", address(one.failure, one.name))
        ),
        ui.Column("Verdict", lambda one: ui.badge(one.verdict, VERDICTS.get(one.verdict, "wait"))),
        ui.Column("Affected flows", lambda one: str(len(one.flows)), numeric=True),
        ui.Column("Rerouted", lambda one: count(one, lambda flow: flow.to is not None), numeric=True),
        ui.Column("Unknown", lambda one: count(one, lambda flow: flow.quality == "unknown"), numeric=True),
        ui.Column("Violated", violated),
    ]
    table = ui.table(columns, reports, "", "Failures, worst first", most=RANKED)
    return ui.card("All single failures, worst first", table)


def callbacks(app: Dash) -> None:
    """One failure, or every one; what the address asks at once."""

    @app.callback(
        Output(ASKED, "data"),
        Input(ASK, "n_clicks"),
        Input(EVERY, "n_clicks"),
        State(FAILURE, "value"),
        State(NAME, "value"),
        prevent_initial_call=True,
    )
    def choose(asks: int | None, everys: int | None, failure: str, name: str | None) -> Any:
        if not asks and not everys:
            return no_update
        times = (asks or 0) + (everys or 0)  # asked again is answered again: the flows of now may be others
        if ctx.triggered_id == EVERY:
            return {"all": "1", "times": times}
        return {"failure": failure, "name": (name or "").strip(), "times": times}

    @app.callback(
        Output(ANSWER, "children"),
        Input(ASKED, "data"),
        running=[(Output(ASK, "disabled"), True, False), (Output(EVERY, "disabled"), True, False)],
    )
    def answer(asked: Mapping[str, Any] | None) -> Any:
        if not asked:
            return ui.empty("Choose a failure.")
        if "all" in asked:
            return _answer(visit(), None, None)
        return _answer(visit(), str(asked.get("failure", "")), str(asked.get("name", "")))
