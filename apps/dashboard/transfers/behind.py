"""What stands behind a flow: its share of a port, paths beside its own, triggers, and where more is told."""

from __future__ import annotations

from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.decisions import GrantView
from adon.api.flows import FlowView, TriggerState
from adon.errors import AdonError
from adon.units import format_share
from apps.dashboard import ui
from apps.dashboard.visit import Visit


def facts(flow: FlowView, here: Visit) -> list[tuple[str, Any]]:
    """What only some flows have: a slice, something reserved, paths beside the one it is on."""
    found: list[tuple[str, Any]] = []
    if flow.slice:
        found.append(("Slice", flow.slice))
    if flow.booking:
        held = flow.booking
        what = f"{ui.rate(held.rate_bps)} of {held.path}, "
        times = [ui.when(held.begins, here), " to ", ui.when(held.ends, here)]
        found.append(("Reserved", html.Span([what, *times])))
    if flow.path and not flow.final:
        others = _others(flow, here)
        if others is not None:
            found.append(("Other paths", others or "none"))
    return found


def _others(flow: FlowView, here: Visit) -> list[Any] | None:
    """The paths between the same sites, marked if down; None if they are unknown."""
    try:
        paths = here.client.paths()
    except AdonError:
        return None  # the page tells elsewhere that the controller is away
    own = next((one for one in paths if one.path == flow.path and flow.id in one.flows), None)
    if own is None:
        return None
    ends = (own.source, own.destination)
    beside = [one for one in paths if (one.source, one.destination) == ends and one.path != own.path]
    said: list[Any] = []
    for one in beside:
        down = [] if one.usable else [" ", ui.badge("down", "bad"), html.Small(f" {one.reason}")]
        said.append(html.Div([ui.link(one.path, f"/paths/{one.path}"), *down]))
    return said


def said(flow: FlowView, here: Visit) -> list[Component]:
    """Sentences: what it is granted and by what, what its triggers saw."""
    found: list[Component] = []
    if flow.advised:
        found.append(html.P(ui.badge("dry run: no rule was installed", "wait")))
    if flow.granted:
        found.append(_granted(flow.granted))
    if flow.aggregated:
        found.append(html.P("Its connections share one pair of rules because a switch table is full."))
    if flow.triggers:
        found.append(html.Ul([_fired(one, here) for one in reversed(flow.triggers)]))
    return found


def _granted(granted: GrantView) -> Component:
    lent = f", and {ui.rate(granted.lent)} lent" if granted.lent else ""
    number = "" if granted.number is None else f" {granted.number}"
    where = f"{lent} on the {format_share(granted.share)} share of port {granted.port}"
    held = f"Held to it by {granted.by}{number}: {granted.why}."
    asked = f"Asked for {ui.rate(granted.asked)}, granted {ui.rate(granted.guaranteed)}"
    return html.P([html.Strong(asked), f"{where}; it may use {ui.rate(granted.ceiling)}. {held}"])


def _fired(one: TriggerState, here: Visit) -> Component:
    often = f", {one.count} times" if one.count > 1 else ""
    still = ", ongoing" if one.on else ""
    text = one.text[:1].upper() + one.text[1:]
    return html.Li([html.Strong(text), " ", html.Small([ui.when(one.at, here), often, still])])


def ways(flow: FlowView, here: Visit) -> Component:
    """Where more is told: rules, the map, advice for the hosts."""
    found = [
        ui.link("Rules", f"/rules?owner={flow.id}"),
        ui.link("Transfer advice", f"/advice?flow={flow.id}"),
    ]
    if here.may(Action.NETWORK_READ):
        found.append(ui.link("On the map", f"/network?flow={flow.id}"))
    return html.Nav(found, className="choices", **{"aria-label": "More about this flow"})
