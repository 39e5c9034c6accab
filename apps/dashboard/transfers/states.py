"""How a flow's state is told: its word and its tone."""

from __future__ import annotations

from collections.abc import Mapping

from dash.development.base_component import Component

from adon.api.flows import FlowView, HistoryEntry
from apps.dashboard import ui
from apps.dashboard.ui.blocks import Tone

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


def state(flow: FlowView | HistoryEntry) -> Component:
    """The state's badge."""
    return ui.badge(ui.state_words(flow.state), TONES.get(flow.state, "plain"))


def quality(flow: FlowView) -> Component:
    """How its path meets the QSpec."""
    text, tone = QUALITIES.get(flow.quality, (flow.quality, "plain"))
    return ui.badge(text, tone)


def moved(flow: FlowView) -> Component | str:
    """How far its bytes have come."""
    whole = flow.transfer_size_bytes or flow.size_bytes
    part = flow.bytes_moved / whole if whole else 0.0
    tone = TONES.get(flow.state, "plain") if flow.final else "plain"
    return ui.bar(part, f"{ui.size(flow.bytes_moved)} of {ui.size(whole)}", tone)
