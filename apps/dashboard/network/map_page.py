"""``/network``: the map, and what is chosen on it; tables below tell the same without a pointer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import dash_cytoscape as cyto
from dash import ClientsideFunction, Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.network import NetworkView
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.network import lists, maintenance, map_facts, map_style, rates
from apps.dashboard.network.drawing import Colour, Scene, View, elements, first_view
from apps.dashboard.page import Group, Page
from apps.dashboard.router import URL, query_of
from apps.dashboard.visit import Visit, visit

MAP, TICKER, SHOWN, VIEW, COLOUR = "net-map", "map", "net-shown", "net-view", "net-colour"
FACTS, LEGEND, SAYS, READINGS, TAG, CHOSEN = (
    "net-facts",
    "net-legend",
    "net-says",
    "net-readings",
    "net-tag",
    "net-chosen",
)
DRAWN = "net-drawn"
"""What was drawn, on its way to the canvas: a narrow one shows it turned (assets/network.js)."""
FIT, CLOSER, FARTHER = "net-fit", "net-closer", "net-farther"
REFRESH_S = 4.0
MOST_FLOWS = 300
"""Flows whose rates are followed: the newest that run.  Each look at them costs the web process a page."""
OPTIONS = 200
"""Flows in the choice of what to mark; others are reached from their page."""
VIEWS = {
    View.SWITCHES: "every switch",
    View.GROUPED: "switches, by site",
    View.SITES: "sites and paths",
}
STEP = 1.35
NOTHING = "none"


def show(here: Visit) -> Component:
    """The map with its controls; it is filled by :func:`draw` as soon as it is there."""
    network = here.client.topology()
    if not network.switches:
        nothing = ui.empty("No switches. Add one in section switches of the configuration.")
        return html.Div([ui.head("Network"), nothing])
    lead = f"{network.network}, as of " if network.network else "As of "
    return html.Div(
        [
            ui.head(
                "Network",
                html.Span([lead, ui.when(network.at, here), "."]),
                ui.link("Mesh", "/mesh"),
                ui.link("What if", "/what-if"),
            ),
            html.Div([_drawn(network, here), html.Div(id=FACTS, className="card")], className="net"),
            *ui.ticker(TICKER, REFRESH_S),
            dcc.Store(id=READINGS, data={}),
            dcc.Store(id=TAG, data=""),
            dcc.Store(id=DRAWN),
            dcc.Store(id=CHOSEN, data=_asked(here.query)),
            maintenance.form(network, here),
        ]
    )


def _asked(query: Mapping[str, str]) -> str:
    """What an address wants marked: ``?path=al2s``, ``?flow=f-17``."""
    for kind in ("flow", "path"):
        if query.get(kind):
            return f"{kind}:{query[kind]}"
    return ""


def _drawn(network: NetworkView, here: Visit) -> Component:
    views = [(view.value, words) for view, words in VIEWS.items()]
    colours = [(Colour.HEALTH.value, "health"), (Colour.LOAD.value, "use by flows")]
    controls = html.Div(
        [
            ui.field(
                "Highlight", ui.choice(SHOWN, _options(network, here.query), _asked(here.query) or NOTHING)
            ),
            ui.field("Show", ui.choice(VIEW, views, first_view(network).value)),
            ui.field("Colour", ui.choice(COLOUR, colours, Colour.HEALTH.value)),
            html.Div(
                [
                    html.Button("+", id=CLOSER, className="quiet", **{"aria-label": "Zoom in"}),
                    html.Button("−", id=FARTHER, className="quiet", **{"aria-label": "Zoom out"}),
                    html.Button("Fit", id=FIT, className="quiet"),
                ],
                className="zooms",
            ),
        ],
        className="controls",
    )
    canvas = cyto.Cytoscape(
        id=MAP,
        elements=[],
        stylesheet=map_style.STYLE,
        layout=_fit(0),
        style={"width": "100%", "height": "100%"},
        minZoom=0.15,
        maxZoom=3,
        autoungrabify=True,
        boxSelectionEnabled=False,
        responsive=True,
        clearOnUnhover=True,
    )
    return html.Section(
        [
            controls,
            html.Figure(
                [
                    html.Div(canvas, className="map", **{"aria-hidden": "true"}),
                    html.Figcaption(id=SAYS),
                ],
                className="chart",
            ),
            html.Div(id=LEGEND),
        ],
        className="card",
    )


def _fit(number: int) -> dict[str, Any]:
    """The layout; another number makes cytoscape apply it again, which fits everything in."""
    return {"name": "preset", "fit": True, "padding": 30, "animate": False, "number": number}


def _options(network: NetworkView, query: Mapping[str, str]) -> list[tuple[str, str]]:
    paths = [(f"path:{one.name}", f"path {one.name}") for one in network.circuits]
    found = dict.fromkeys(flow for one in network.circuits for flow in one.flows)
    flows = [(f"flow:{flow}", f"flow {flow}") for flow in list(found)[:OPTIONS]]
    asked = _asked(query)
    known = {value for value, _ in (*paths, *flows)}
    extra = [(asked, asked.replace(":", " ", 1))] if asked and asked not in known else []
    return [(NOTHING, "nothing"), *extra, *paths, *flows]


def live(here: Visit) -> Component:
    """Paths, links, switches, controllers, maintenance, each in short."""
    return lists.all_of(here)


def scene_of(here: Visit, before: Mapping[str, rates.Reading]) -> Scene:
    """What the map is drawn from, now.

    :param before: how fast flows went at the last look.
    :raises Unavailable: if the controller does not answer.
    """
    network, paths = here.client.topology(), here.client.network()
    running = any(one.flows for one in network.circuits)
    flows = here.client.flows(state="active", limit=MOST_FLOWS) if running else []
    return Scene(network, paths.items, rates.step(before, flows, here.now))


def callbacks(app: Dash) -> None:
    """The map drawn and drawn again, what is chosen told, closer and farther."""

    @app.callback(
        Output(DRAWN, "data"),
        Output(LEGEND, "children"),
        Output(SAYS, "children"),
        Output(FACTS, "children"),
        Output(READINGS, "data"),
        Output(TAG, "data"),
        ui.look(TICKER),
        Input(SHOWN, "value"),
        Input(VIEW, "value"),
        Input(COLOUR, "value"),
        Input(CHOSEN, "data"),
        Input(FIT, "n_clicks"),
        State(MAP, "layout"),
        State(READINGS, "data"),
        State(TAG, "data"),
        State(URL, "search"),
    )
    def draw(
        _look: int | None,
        shown: str,
        view: str,
        colour: str,
        chosen: str,
        _fits: int | None,
        layout: Mapping[str, Any],
        before: Mapping[str, rates.Reading] | None,
        tag: str | None,
        search: str | None,
    ) -> tuple[object, ...]:
        here = visit(query=query_of(search))
        try:
            scene = scene_of(here, before or {})
        except AdonError as error:
            return no_update, no_update, no_update, ui.failure(error), no_update, ""
        found = elements(scene, View(view), Colour(colour), shown)
        made = hashlib.sha256(json.dumps([found, colour]).encode()).hexdigest()
        fresh = made != tag  # a large network that is drawn again for nothing keeps the browser busy
        told = (
            (map_style.legend(Colour(colour)), map_facts.summary(scene)) if fresh else (no_update, no_update)
        )
        # The reader keeps their place, unless there was none, or everything stands elsewhere now.
        moved = not tag or any(one in (FIT, VIEW) for one in ctx.triggered_prop_ids.values())
        drawn = {
            "elements": found if fresh else None,
            "place": _fit(layout["number"] + 1) if moved else None,
        }
        facts = map_facts.of(scene, chosen, here)
        return drawn if fresh or moved else no_update, *told, facts, dict(scene.readings), made

    app.clientside_callback(
        ClientsideFunction("adon_network", "place"),
        Output(MAP, "elements"),
        Output(MAP, "layout"),
        Input(DRAWN, "data"),
    )

    @app.callback(
        Output(CHOSEN, "data"),
        Input(MAP, "tapNodeData"),
        Input(MAP, "tapEdgeData"),
        Input(SHOWN, "value"),
        prevent_initial_call=True,
    )
    def choose(node: Mapping[str, Any] | None, edge: Mapping[str, Any] | None, shown: str) -> object:
        match ctx.triggered[0]["prop_id"].rpartition(".")[2] if ctx.triggered else "":
            case "tapNodeData" if node:
                return node["id"]
            case "tapEdgeData" if edge:
                return edge["id"]
            case "value":
                return "" if shown == NOTHING else shown
        return no_update

    @app.callback(
        Output(MAP, "zoom"),
        Input(CLOSER, "n_clicks"),
        Input(FARTHER, "n_clicks"),
        State(MAP, "zoom"),
        prevent_initial_call=True,
    )
    def zoom(_closer: int | None, _farther: int | None, now: float | None) -> float:
        factor = STEP if ctx.triggered_id == CLOSER else 1 / STEP
        return min(max((now or 1.0) * factor, 0.15), 3.0)

    maintenance.callbacks(app)


PAGE = Page(
    "/network", "Map", Action.NETWORK_READ, show, live, refresh_s=10, group=Group.NETWORK, callbacks=callbacks
)
