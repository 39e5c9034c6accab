"""Documents of maintenance windows and rehearsed failures."""

from __future__ import annotations

from typing import Any

from adon.api.maintenance import AffectedView, LoadView, RehearsalView, WindowView
from adon.broker.maintenance import Window


def to_window_view(window: Window, now: float) -> WindowView:
    """The window as it is at this time."""
    same = ("id", "scope", "name", "begins", "ends", "note", "requester")
    values = {name: getattr(window, name) for name in same}
    return WindowView(**values, lead_seconds=window.lead, stage=window.stage(now))


def window_view_from_answer(body: dict[str, Any]) -> WindowView:
    """The window as the controller answered it."""
    return WindowView.model_validate({**body, "lead_seconds": body["lead"]})


def to_rehearsal_view(body: dict[str, Any]) -> RehearsalView:
    """The report as the controller answered it."""
    flows = [
        AffectedView(**flow, bound_bps=flow["bound"], estimate_bps=flow["estimate"]) for flow in body["flows"]
    ]
    rates = ("capacity", "carries", "before", "after")
    loads = [LoadView(**load, **{f"{name}_bps": load[name] for name in rates}) for load in body["loads"]]
    return RehearsalView.model_validate({**body, "flows": flows, "loads": loads})
