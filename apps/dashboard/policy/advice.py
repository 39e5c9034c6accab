"""Transfer advice: for a flow, and for supposed numbers and pasted settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.errors import AdonError, Conflict, InvalidInput
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.policy import advised, filters
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit, visit

PREFIX = "advice"
PATH = "/advice"
ASK, SAID = "advice-ask", "advice-said"
RECENT = 8
NUMBERS = (
    ("rate", "Path capacity", "10 Gbps"),
    ("rtt", "Round trip", "35 ms"),
    ("loss", "Loss", "0.01 %"),
    ("reached", "Measured throughput", "2.4 Gbps"),
    ("streams", "Open streams", "1"),
)
TEXTS = (("sender", "Sender"), ("receiver", "Receiver"))
COMMANDS = "sysctl -a; ip -d link; tc qdisc; ethtool DEVICE; ss -tin; cat /proc/meminfo"
FIELDS = (*(name for name, _, _ in NUMBERS), *(name for name, _ in TEXTS))
_PROBLEMS = {
    "path.rate": "rate",
    "path.rtt": "rtt",
    "path.loss": "loss",
    "path.reached": "reached",
    "streams": "streams",
}


def show(here: Visit) -> Component:
    """Which flow, supposed numbers, and what is said about them."""
    flow = here.query.get("flow")
    lead = "Recommended settings of both hosts, their present values, and the predicted throughput."
    head = ui.head("Transfer advice", lead)
    fields = [
        filters.text(PREFIX, "flow", "Flow", here, "f-17"),
        filters.text(PREFIX, "path", "Path", here, "path of the flow"),
    ]
    parts: list[Any] = [head, filters.form(PREFIX, fields, PATH)]
    parts.append(_of_flow(here, flow) if flow else _choose(here))
    parts.append(_question(flow))
    parts.append(html.Div(id=SAID, **{"aria-live": "polite"}))
    return html.Div(parts)


def _choose(here: Visit) -> Component:
    columns = [
        Column("Flow", lambda one: ui.link(one.id, filters.address(PATH, {"flow": one.id}))),
        Column("Route", lambda one: f"{one.source} → {one.destination}"),
        Column("Template", lambda one: one.template),
        Column("Path", lambda one: one.path or ui.words.NONE),
        Column("Requested", lambda one: ui.when(one.submitted_at, here)),
    ]
    nothing = ui.empty(
        "No flows yet. Paste settings below, or start a transfer.", ui.link("New transfer", "/new")
    )
    return ui.card("Flow", ui.table(columns, here.client.flows(limit=RECENT), nothing, "The newest flows"))


def _of_flow(here: Visit, flow: str) -> Component:
    try:
        found = here.client.advice(flow, here.query.get("path") or None)
    except (Conflict, InvalidInput) as error:
        return ui.failure(error)
    except AdonError as error:
        return ui.failure(error)
    head = html.H2(["For ", ui.link(flow, f"/flows/{flow}"), f" on {found.path.path}"])
    return html.Div([head, advised.advice(found, here)])


def _question(flow: str | None) -> Component:
    numbers = [
        ui.field(label, filters.line(f"{PREFIX}-{name}", "", example)) for name, label, example in NUMBERS
    ]
    texts = [
        ui.field(
            f"{label}: output of its commands",
            dcc.Textarea(id=f"{PREFIX}-{name}", className="source", spellCheck=False, rows=7),
            f"of {COMMANDS}, in any order",
        )
        for name, label in TEXTS
    ]
    what = f"Empty fields use the values of {flow}." if flow else "Empty fields are unknown."
    return ui.card(
        "Other values",
        html.P(what, className="muted"),
        html.Div(numbers, className="grid"),
        html.Div(texts, className="columns textarea-short"),
        html.Button("Compute advice", id=ASK, type="button"),
    )


def question(said: Mapping[str, str], flow: str | None) -> dict[str, Any]:
    """The question as the API takes it; what is empty is left out.

    :raises InvalidInput: for a number of streams that is none.
    """
    path = {name: said[name] for name in ("rate", "rtt", "loss", "reached") if said.get(name)}
    asked: dict[str, Any] = {"path": path}
    for name, _ in TEXTS:
        if said.get(name):
            asked[name] = {"text": said[name]}
    streams = said.get("streams", "")
    if streams:
        if not streams.isdecimal() or len(streams) > 4:
            raise InvalidInput.of("streams", "is not a whole number")
        asked["streams"] = int(streams)
    return asked if flow is None else {**asked, "flow": flow}


def _callbacks(app: Dash) -> None:
    filters.install(app, PREFIX, ("flow", "path"), ("flow", "path"))

    @app.callback(
        Output(SAID, "children"),
        *(Output(f"{PREFIX}-{name}-problem", "children") for name in FIELDS),
        Input(ASK, "n_clicks"),
        State(f"{PREFIX}-flow", "value"),
        *(State(f"{PREFIX}-{name}", "value") for name in FIELDS),
        prevent_initial_call=True,
        running=[(Output(ASK, "disabled"), True, False)],
    )
    def ask(clicks: int | None, flow: str | None, *said: str | None) -> Any:
        if not clicks:
            return (no_update,) * (1 + len(FIELDS))
        here = visit()
        given = {name: (text or "").strip() for name, text in zip(FIELDS, said, strict=True)}
        try:
            body: Any = question(given, flow or None)
            found = html.Div(
                [html.H2("Advice for these values"), advised.advice(here.client.advise(body), here)]
            )
            return (found, *[""] * len(FIELDS))
        except AdonError as error:
            return (ui.failure(error), *problems(error))


def problems(error: AdonError) -> list[str]:
    """What is wrong, per field of the form."""
    found: dict[str, str] = {}
    for field, cause in ui.problems_of(error).items():
        first = field.partition(".")[0]
        name = _PROBLEMS.get(field, first if first in FIELDS else "")
        found[name] = cause
    return [found.get(name, "") for name in FIELDS]


PAGE = Page(PATH, "Transfer advice", Action.FLOW_READ, show, group=Group.POLICY, callbacks=_callbacks)
