"""The network on the page: its picture, switches, links, circuits, controllers, maintenance windows."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from flask import Response, g, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from adon.access.policy import Action, Object, may
from adon.broker.maintenance import Scope
from adon.errors import AdonError, InvalidInput, Problem, Unavailable
from adon.yamlfile import check_model
from apps.rest.api.controllers import controllers
from apps.rest.api.network import network_view
from apps.rest.api.operations import announce, cancelled, windows
from apps.rest.guard import action
from apps.rest.network_models import NetworkView
from apps.rest.operations_models import WindowBody
from apps.rest.page import frame
from apps.rest.page.topology import picture
from apps.rest.services import services

REFRESH_S = 10

page = frame.blueprint("net")


@page.get("/network")
@action(Action.NETWORK_READ)
def show_network() -> AnyResponse:
    """What the network is made of, and the state of each part."""
    return _shown({}, (), 200)


def _shown(typed: Mapping[str, str], problems: tuple[Problem, ...], status: int) -> Response:
    """The page; without the controller what the database still tells, as 503."""
    network: NetworkView | None = None
    try:
        network = network_view()
    except Unavailable:
        status = HTTPStatus.SERVICE_UNAVAILABLE
    shown, filling = _chosen(network), bool(problems) or "announce" in request.args
    text = render_template(
        "network.html",
        network=network,
        picture=None if network is None else picture(network, shown),
        shown=shown,
        controllers=controllers(),
        windows=windows(),
        announcing=may(g.actor, Action.MAINTENANCE_ADD, Object("maintenance")).allowed,
        cancelling=may(g.actor, Action.MAINTENANCE_CANCEL, Object("maintenance")).allowed,
        scopes=list(Scope),
        names=[] if network is None else _names(network),
        typed=typed,
        problems=problems,
        now=services().clock(),
        filling=filling,
        refresh=None if filling else REFRESH_S,  # to load again would empty the form
    )
    return Response(text, status)


def _chosen(network: NetworkView | None) -> str | None:
    """The path that is to be marked: by its name, or the one that a flow is on."""
    name, flow = request.args.get("path"), request.args.get("flow")
    if network is None or flow is None:
        return name
    return next((one.name for one in network.circuits if flow in one.flows), name)


def _names(network: NetworkView) -> list[str]:
    """What a window can be about."""
    names = {link.name for link in network.links if link.name is not None}
    for part in (network.circuits, network.switches, network.sites):
        names.update(one.name for one in part)
    return sorted(names)


@page.post("/maintenance")
@action(Action.MAINTENANCE_ADD)
def add_maintenance() -> AnyResponse:
    """Announce a window; shows the network, or the form with what is wrong."""
    typed = request.form.to_dict()
    try:
        announce(check_model(_asked(typed), WindowBody))
    except InvalidInput as error:
        return _shown(typed, error.problems, error.status)
    except AdonError as error:
        return _shown(typed, (Problem("", str(error)),), error.status)
    return redirect(url_for("net.show_network", _anchor="maintenance"), 303)


def _asked(typed: Mapping[str, str]) -> dict[str, str]:
    """The window that a filled-in form describes; its times are UTC, as a browser writes them."""
    asked = {name: typed.get(name, "").strip() for name in ("scope", "name", "lead", "note")}
    asked |= {name: f"{typed.get(name, '').strip()}Z" for name in ("begins", "ends")}
    return {name: value for name, value in asked.items() if value}


@page.post("/maintenance/<id_>/cancel")
@action(Action.MAINTENANCE_CANCEL)
def cancel_maintenance(id_: str) -> AnyResponse:
    """Cancel a window."""
    cancelled(id_)
    return redirect(url_for("net.show_network", _anchor="maintenance"), 303)
