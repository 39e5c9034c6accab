"""``/network``: the map and the facts of a chosen element; tables below have the same content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dash_cytoscape as cyto
from dash import ClientsideFunction, Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.network import NetworkView
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.network import map_style, network_tables, scene
from apps.dashboard.network.map_graph import Colour, View, elements, first_view
from apps.dashboard.network.scene import Scene
from apps.dashboard.page import Group, Page
from apps.dashboard.router import URL, query_of
from apps.dashboard.ui.refresh import digest_of
from apps.dashboard.visit import Visit, visit

MAP, SHOWN, VIEW, COLOUR = "net-map", "net-shown", "net-view", "net-colour"
FACTS, LEGEND, SUMMARY = "net-facts", "net-legend", "net-says"
READINGS, DIGEST, CHOSEN = "net-readings", "net-tag", "net-chosen"
DRAWN = "net-drawn"
"""The elements on their way to the canvas; a narrow canvas shows them turned (assets/network.js)."""
FIT, CLOSER, FARTHER = "net-fit", "net-closer", "net-farther"
REFRESH_S = 4.0
MOST_FLOWS = 300
"""The newest running flows, whose rates are shown."""
OPTIONS = 200
"""Flows in the choice of what to highlight."""
VIEWS = {View.SWITCHES: "every switch", View.SITES: "sites and paths"}
COLOURS = {Colour.HEALTH: "health", Colour.LOAD: "use by flows"}
STEP, LEAST_ZOOM, MOST_ZOOM = 1.35, 0.15, 3.0
NOTHING = "none"


def show(here: Visit) -> Component:
    """Return the map with its controls; :func:`callbacks` fills it."""
    network = here.client.topology()
    if not network.switches:
        nothing = ui.empty("No switches. Add one in section switches of the configuration.")
        return html.Div([ui.head("Network"), nothing])
    lead = f"{network.network}, as of " if network.network else "As of "
    links = ui.link("Mesh", "/mesh"), ui.link("Maintenance and what if", "/maintenance")
    canvas = cyto.Cytoscape(
        id=MAP,
        elements=[],
        stylesheet=map_style.STYLE,
        layout=_fit(0),
        style={"width": "100%", "height": "100%"},
        minZoom=LEAST_ZOOM,
        maxZoom=MOST_ZOOM,
        autoungrabify=True,
        boxSelectionEnabled=False,
        responsive=True,
        clearOnUnhover=True,
    )
    drawing = html.Div(canvas, className="map", **{"aria-hidden": "true"})
    figure = html.Figure([drawing, html.Figcaption(id=SUMMARY)], className="chart")
    return html.Div(
        [
            ui.head("Network", html.Span([lead, ui.when(network.at, here), "."]), *links),
            html.Div(
                [
                    ui.card(None, _controls(network, here.query), figure, html.Div(id=LEGEND)),
                    html.Div(id=FACTS, className="card"),
                ],
                className="net",
            ),
            *ui.ticker("map", REFRESH_S),
            dcc.Store(id=READINGS, data={}),
            dcc.Store(id=DIGEST, data=""),
            dcc.Store(id=DRAWN),
            dcc.Store(id=CHOSEN, data=_asked(here.query)),
        ]
    )


def _asked(query: Mapping[str, str]) -> str:
    """Return what an address wants highlighted: ``?path=al2s``, ``?flow=f-17``."""
    return next((f"{kind}:{query[kind]}" for kind in ("flow", "path") if query.get(kind)), "")


def _controls(network: NetworkView, query: Mapping[str, str]) -> Component:
    zoom = [
        html.Button("+", id=CLOSER, className="quiet", **{"aria-label": "Zoom in"}),
        html.Button("−", id=FARTHER, className="quiet", **{"aria-label": "Zoom out"}),
        html.Button("Fit", id=FIT, className="quiet"),
    ]
    shown = _asked(query) or NOTHING
    fields = [
        ui.field("Highlight", ui.choice(SHOWN, _options(network, shown), shown)),
        ui.field("Show", ui.choice(VIEW, list(VIEWS.items()), first_view(network))),
        ui.field("Colour", ui.choice(COLOUR, list(COLOURS.items()), Colour.HEALTH)),
    ]
    return html.Div([*fields, html.Div(zoom, className="zooms")], className="controls")


def _options(network: NetworkView, asked: str) -> list[tuple[str, str]]:
    flows = dict.fromkeys(flow for one in network.circuits for flow in one.flows)
    values = [f"path:{one.name}" for one in network.circuits]
    values += [f"flow:{flow}" for flow in list(flows)[:OPTIONS]]
    if asked != NOTHING and asked not in values:
        values.insert(0, asked)
    return [(NOTHING, "nothing"), *((value, value.replace(":", " ", 1)) for value in values)]


def _fit(number: int) -> dict[str, Any]:
    """Return the layout; cytoscape applies it again when the number changes, and fits the map in."""
    return {"name": "preset", "fit": True, "padding": 30, "animate": False, "number": number}


def live(here: Visit) -> Component:
    """Return the tables of paths, links and switches."""
    network = here.client.topology()
    now = Scene(network, here.client.network().items, {})
    links, switches = network_tables.link_table(network, here), network_tables.switch_table(network)
    return html.Div([network_tables.path_table(now, here), links, switches])


def _scene(here: Visit, before: Mapping[str, scene.Reading]) -> Scene:
    network, paths = here.client.topology(), here.client.network()
    running = any(one.flows for one in network.circuits)
    flows = here.client.flows(state="active", limit=MOST_FLOWS) if running else []
    return Scene(network, paths.items, scene.update_rates(before, flows, here.now))


def callbacks(app: Dash) -> None:
    """Add the drawing of the map, the choice of an element and the zoom."""
    _install_drawing(app)

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
        return min(max((now or 1.0) * factor, LEAST_ZOOM), MOST_ZOOM)


def _install_drawing(app: Dash) -> None:
    @app.callback(
        Output(DRAWN, "data"),
        Output(LEGEND, "children"),
        Output(SUMMARY, "children"),
        Output(FACTS, "children"),
        Output(READINGS, "data"),
        Output(DIGEST, "data"),
        ui.look("map"),
        Input(SHOWN, "value"),
        Input(VIEW, "value"),
        Input(COLOUR, "value"),
        Input(CHOSEN, "data"),
        Input(FIT, "n_clicks"),
        State(MAP, "layout"),
        State(READINGS, "data"),
        State(DIGEST, "data"),
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
        readings: Mapping[str, scene.Reading] | None,
        before: str | None,
        search: str | None,
    ) -> tuple[object, ...]:
        here = visit(query=query_of(search))
        try:
            now = _scene(here, readings or {})
        except AdonError as error:
            return no_update, no_update, no_update, ui.failure(error), no_update, ""
        found = elements(now, View(view), Colour(colour), shown)
        digest = digest_of([found, colour])
        fresh = digest != before  # a large map that is drawn again keeps the browser busy
        # The part that the reader sees stays, except at first and when every element has another place.
        moved = not before or any(one in (FIT, VIEW) for one in ctx.triggered_prop_ids.values())
        drawn = {"elements": found if fresh else None, "place": _fit(layout["number"] + 1) if moved else None}
        return (
            drawn if fresh or moved else no_update,
            map_style.legend(Colour(colour)) if fresh else no_update,
            network_tables.summarise(now) if fresh else no_update,
            network_tables.describe(now, chosen, here),
            dict(now.readings),
            digest,
        )

    app.clientside_callback(
        ClientsideFunction("adon_network", "place"),
        Output(MAP, "elements"),
        Output(MAP, "layout"),
        Input(DRAWN, "data"),
    )


PAGE = Page(
    "/network", "Map", Action.NETWORK_READ, show, live, refresh_s=10, group=Group.NETWORK, callbacks=callbacks
)
