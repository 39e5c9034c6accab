"""State, progress, reservation, guaranteed rate, other paths and triggers of a flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.decisions import GrantView
from adon.api.flows import FlowView, HistoryEntry, TriggerState
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.ui.blocks import Tone
from apps.dashboard.visit import Visit

TONES: Mapping[str, Tone] = {
    "active": "good",
    "finished": "good",
    "failed": "bad",
    "expired": "bad",
    "queued": "wait",
    "installing": "wait",
    "requested": "wait",
}
QUALITIES: Mapping[str, tuple[str, Tone]] = {
    "met": ("meets the QSpec", "good"),
    "degraded": ("partly violates the QSpec", "wait"),
    "violated": ("violates the QSpec", "bad"),
    "unknown": ("not measured yet", "plain"),
}


def state_badge(flow: FlowView | HistoryEntry) -> Component:
    """Return the state as a badge."""
    return ui.badge(flow.state, TONES.get(flow.state, "plain"))


def quality_badge(flow: FlowView) -> Component:
    """Return how the path meets the QSpec, as a badge."""
    return ui.badge(*QUALITIES.get(flow.quality, (flow.quality, "plain")))


def progress_bar(flow: FlowView) -> Component:
    """Return the share of the bytes that have arrived, as a bar."""
    total = flow.transfer_size_bytes or flow.size_bytes
    share = flow.bytes_moved / total if total else 0.0
    tone = TONES.get(flow.state, "plain") if flow.final else "plain"
    return ui.bar(share, f"{ui.size(flow.bytes_moved)} of {ui.size(total)}", tone)


def detail_facts(flow: FlowView, here: Visit) -> list[tuple[str, Any]]:
    """Return the facts that only some flows have."""
    found: list[tuple[str, Any]] = []
    if flow.slice:
        found.append(("Slice", flow.slice))
    if flow.booking:
        rate = f"{ui.rate(flow.booking.rate_bps)} of {flow.booking.path}, "
        times = [ui.when(flow.booking.begins, here), " to ", ui.when(flow.booking.ends, here)]
        found.append(("Reserved", html.Span([rate, *times])))
    if flow.path and not flow.final:
        others = _other_paths(flow, here)
        if others is not None:
            found.append(("Other paths", others or "none"))
    return found


def _other_paths(flow: FlowView, here: Visit) -> list[Component] | None:
    """Return the other paths between the same sites; None if they are unknown."""
    try:
        paths = here.client.paths()
    except AdonError:
        return None  # another part of the page reports that the controller does not answer
    own = next((one for one in paths if one.path == flow.path and flow.id in one.flows), None)
    if own is None:
        return None
    found = []
    for one in paths:
        if (one.source, one.destination) == (own.source, own.destination) and one.path != own.path:
            down = [] if one.usable else [" ", ui.badge("down", "bad"), html.Small(f" {one.reason}")]
            found.append(html.Div([ui.link(one.path, f"/paths/{one.path}"), *down]))
    return found


def detail_notes(flow: FlowView, here: Visit) -> list[Component]:
    """Return sentences about dry run, guaranteed rate, shared rules and triggers."""
    found: list[Component] = []
    if flow.advised:
        found.append(html.P(ui.badge("dry run: no rule was installed", "wait")))
    if flow.granted:
        found.append(_grant(flow.granted))
    if flow.aggregated:
        found.append(html.P("Its connections share one pair of rules because a switch table is full."))
    if flow.triggers:
        found.append(html.Ul([_trigger(one, here) for one in reversed(flow.triggers)]))
    return found


def _grant(granted: GrantView) -> Component:
    rates = f"Asked for {ui.rate(granted.asked)}, granted {ui.rate(granted.guaranteed)}"
    lent = f", and {ui.rate(granted.lent)} lent" if granted.lent else ""
    where = f"{lent} on the {ui.share(granted.share)} share of port {granted.port}"
    number = "" if granted.number is None else f" {granted.number}"
    enforced = f"Enforced by {granted.by}{number}: {granted.why}."
    return html.P([html.Strong(rates), f"{where}; maximum {ui.rate(granted.ceiling)}. {enforced}"])


def _trigger(one: TriggerState, here: Visit) -> Component:
    count = f", {one.count} times" if one.count > 1 else ""
    ongoing = ", ongoing" if one.on else ""
    text = one.text[:1].upper() + one.text[1:]
    return html.Li([html.Strong(text), " ", html.Small([ui.when(one.at, here), count, ongoing])])


def related_links(flow: FlowView, here: Visit) -> Component:
    """Return links to the rules, the advice and the map of a flow."""
    found = [
        ui.link("Rules", f"/rules?owner={flow.id}"),
        ui.link("Transfer advice", f"/advice?flow={flow.id}"),
    ]
    if here.may(Action.NETWORK_READ):
        found.append(ui.link("On the map", f"/network?flow={flow.id}"))
    return html.Nav(found, className="choices", **{"aria-label": "More about this flow"})
