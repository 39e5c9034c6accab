"""``/trace``: where a packet would go now, switch by switch; nothing is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from dash import Dash, Input, Output, State, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.errors import AdonError, InvalidInput, Problem, Unavailable
from apps.dashboard import ui
from apps.dashboard.network.where import Doc, map_address, owner_link, switch_address
from apps.dashboard.page import Group, Page
from apps.dashboard.visit import Visit, visit

FROM, TO, PROTOCOL, PORT, SOURCE_PORT, VERSION = (
    "trace-from",
    "trace-to",
    "trace-protocol",
    "trace-port",
    "trace-source-port",
    "trace-version",
)
ASK, ANSWER = "trace-ask", "trace-answer"
FIELDS: Mapping[str, str] = {
    "from": FROM,
    "to": TO,
    "protocol": PROTOCOL,
    "port": PORT,
    "source_port": SOURCE_PORT,
    "version": VERSION,
}
"""The API's names of what the form asks for."""
HEADERS = {"eth_src": "sender's MAC", "eth_dst": "receiver's MAC", "vlan": "VLAN", "dscp": "DSCP"}
PORTS = {-1: "the controller", -2: "the switch's own forwarding (NORMAL)"}


def show(here: Visit) -> Component:
    """The form, filled in and answered by what the address says (``?from=mu-dtn&to=osu-dtn&port=50010``)."""
    query = here.query
    hosts = _hosts(here, query)
    fields = html.Div(
        [
            ui.field("From", ui.choice(FROM, hosts, query.get("from"))),
            ui.field("To", ui.choice(TO, hosts, query.get("to"))),
            ui.field(
                "Protocol",
                ui.choice(
                    PROTOCOL,
                    [(one, one.upper()) for one in ("tcp", "udp", "sctp", "icmp")],
                    query.get("protocol", "tcp"),
                ),
            ),
            ui.field("Destination port", ui.text_input(PORT, query.get("port", ""), inputMode="numeric")),
            ui.field(
                "Source port",
                ui.text_input(SOURCE_PORT, query.get("source_port", ""), "any", inputMode="numeric"),
            ),
            ui.field("IP version", ui.choice(VERSION, [("4", "4"), ("6", "6")], query.get("version", "4"))),
        ],
        className="grid",
    )
    answer = (
        _told(here, {name: query[name] for name in FIELDS if name in query})
        if "from" in query
        else _nothing()
    )
    return html.Div(
        [
            ui.head(
                "Where would this packet go?",
                "Told from what the switches hold now, table by table. Nothing is sent.",
            ),
            ui.card(None, fields, html.Button("Trace", id=ASK)),
            html.Div(answer, id=ANSWER, **{"aria-live": "polite"}),
        ]
    )


def _hosts(here: Visit, query: Mapping[str, str]) -> list[tuple[str, str]]:
    try:
        sites = here.client.topology()["sites"]
    except Unavailable:
        sites = []  # the answer will say why there is none
    known = {host: f"{host} ({site['name']})" for site in sites for host in site["hosts"]}
    asked = {query[name]: query[name] for name in ("from", "to") if name in query}
    return list({**asked, **known}.items())


def _nothing() -> Component:
    return ui.empty(
        "Choose two hosts. The answer tells, switch by switch, which rule takes the packet, for whom it is "
        "there, and where the packet ends."
    )


def question(typed: Mapping[str, str | None]) -> dict[str, Any]:
    """The packet that a filled-in form describes, as the API takes it.

    :raises InvalidInput: for what is missing, or a port that is no number.
    """
    known = {name: text.strip() for name, text in typed.items() if text and text.strip()}
    problems = [Problem(name, "choose a host") for name in ("from", "to") if name not in known]
    problems += [
        Problem(name, f"{known[name][:20]!r} is no port number")
        for name in ("port", "source_port")
        if name in known and not (known[name].isascii() and known[name].isdecimal())
    ]
    if problems:
        raise InvalidInput(tuple(problems))
    return dict(known)


def _told(here: Visit, typed: Mapping[str, str | None]) -> Component:
    try:
        asked = question(typed)
        return answered(here.client.traced(asked), asked)
    except AdonError as error:
        return ui.failure(error)


def answered(found: Doc, asked: Mapping[str, Any]) -> Component:
    """Where it ends, then each switch with the rule that takes it."""
    packet = found["packet"]
    said: list[Any] = [
        f"{packet['ip_src']} → {packet['ip_dst']}, {str(asked.get('protocol', 'tcp')).upper()} ",
        f"port {packet['tp_src']} → {packet['tp_dst']}",
    ]
    for number, name in enumerate(found["paths"]):
        said += [", over " if not number else ", ", ui.link(name, map_address(path=name))]
    if found["copies"]:
        said.append(
            f"; {found['copies']} {'copy goes' if found['copies'] == 1 else 'copies go'} to the controller"
        )
    ends = [
        ui.notice(
            [html.Strong(end["switch"]), f": {end['text']}"], "good" if end["fate"] == "delivered" else "bad"
        )
        for end in found["ends"]
    ]
    legs = zip(found["legs"], changes(found["legs"]), strict=True)
    return html.Div(
        [*ends, html.P(said), html.Ol([_leg(leg, changed) for leg, changed in legs], className="story")]
    )


def changes(legs: Sequence[Doc]) -> list[str]:
    """Per switch what the packet was changed in since the switch before."""
    found = [""][: len(legs)]
    for before, after in pairwise(legs):
        old, new = before["packet"], after["packet"]
        found.append(
            ", ".join(
                f"{words} {'none' if new[name] is None else new[name]}"
                for name, words in HEADERS.items()
                if old[name] != new[name]
            )
        )
    return found


def _leg(leg: Doc, changed: str) -> Component:
    by = f" in by port {leg['in_port']}"
    by += f", from {leg['path']}" if leg["path"] else ""
    by += f", VLAN {leg['packet']['vlan']}" if leg["packet"]["vlan"] is not None else ""
    parts: list[Any] = [html.H2([ui.link(leg["switch"], switch_address(leg["dpid"])), html.Small(by)])]
    if changed:
        parts.append(html.P(f"Changed on the way: {changed}", className="muted"))
    parts += [_step(step) for step in leg["steps"]]
    if leg["outputs"]:
        out = ", ".join(PORTS.get(port, f"port {port}") for port in leg["outputs"])
        parts.append(html.P(f"Out by {out}", className="muted"))
    return html.Li(parts, className="card")


def _step(step: Doc) -> Component:
    owner = [owner_link(step["owner"]), " – "] if step["owner"] else []
    rule = [html.Pre(html.Code(step["rule"]))] if step["rule"] else []
    return html.Div(
        [html.P([ui.badge(f"table {step['table']}"), " ", *owner, step["why"]]), *rule], className="step"
    )


def callbacks(app: Dash) -> None:
    """The question asked."""

    @app.callback(
        Output(ANSWER, "children"),
        *(Output(f"{one}-problem", "children") for one in FIELDS.values()),
        Input(ASK, "n_clicks"),
        *(State(one, "value") for one in FIELDS.values()),
        prevent_initial_call=True,
        running=[(Output(ASK, "disabled"), True, False)],
    )
    def ask(clicks: int | None, *typed: str | None) -> tuple[Any, ...]:
        if not clicks:
            return (no_update,) * (1 + len(FIELDS))
        named = dict(zip(FIELDS, typed, strict=True))
        here = visit()
        try:
            asked = question(named)
            answer = answered(here.client.traced(asked), asked)
        except AdonError as error:
            found = ui.problems_of(error) if isinstance(error, InvalidInput) else {}
            return ui.failure(error), *(found.get(name, "") for name in FIELDS)
        return answer, *([""] * len(FIELDS))


PAGE = Page("/trace", "Trace a packet", Action.NETWORK_READ, show, group=Group.NETWORK, callbacks=callbacks)
