"""What is done about maintenance windows: taken in, cancelled, begun, over (spec section 4).

What a window means for a flow is in :mod:`adon.broker.maintenance`; where flows go that must leave, is
planned together by :mod:`adon.broker.evacuation`.  Here the broker's world is changed accordingly.
"""

from __future__ import annotations

from collections.abc import Mapping

from adon.broker.effects import Announce, Answer, Effect, SaveMaintenance
from adon.broker.events import Event, MaintenanceAsked, MaintenanceCancelled
from adon.broker.flow_placement import Placing
from adon.broker.maintenance import Stage, Window, paths_of
from adon.broker.world import World

TOLD = {
    Stage.DRAINING: "drains: flows that would still run leave its paths",
    Stage.ACTIVE: "begins",
    Stage.OVER: "has ended",
}


def handle_window(world: World, placing: Placing, event: MaintenanceAsked) -> list[Effect]:
    """Take a new window; where it is near already, flows leave at once.

    :raises InvalidInput: as :meth:`~adon.broker.maintenance.Windows.add`.
    """
    window = world.windows.add(event.request, event.requester, event.at, world.network.topology)
    closes = ", ".join(paths_of(world.network.topology, window.scope, window.name)) or "no path"
    text = f"{window.words}: closes {closes}; requested by {event.requester}"
    return [
        SaveMaintenance(event.id, window),
        Announce(event.id, "info", "maintenance-announced", text),
        *handle_window_stages(world, placing, event),
        Answer(event.id, event.command, as_json(window, event.at)),
    ]


def handle_window_cancel(world: World, placing: Placing, event: MaintenanceCancelled) -> list[Effect]:
    """End a window before its time; its paths may be used again.

    :raises Conflict, NotFound: as :meth:`~adon.broker.maintenance.Windows.get`.
    """
    window = world.windows.cancel(event.number, event.at)
    text = f"{window.words}: cancelled by {event.requester}"
    return [
        SaveMaintenance(event.id, window),
        Announce(event.id, "info", "maintenance-cancelled", text),
        *placing.network_changed(event),
        Answer(event.id, event.command, as_json(window, event.at)),
    ]


def handle_window_stages(world: World, placing: Placing, event: Event) -> list[Effect]:
    """Say which windows have come to another stage, and look at everything that they concern."""
    found = world.windows.pop_changed(event.at)
    if not found:
        return []
    told = [
        Announce(event.id, "info", "maintenance-stage", f"{window.words}: {TOLD[stage]}")
        for window, stage in found
    ]
    return [*told, *placing.network_changed(event)]


def as_json(window: Window, now: float) -> Mapping[str, object]:
    """A window as plain JSON values; times in seconds since the epoch."""
    return {
        "id": window.id,
        "scope": window.scope.value,
        "name": window.name,
        "begins": window.begins,
        "ends": window.ends,
        "lead": window.lead,
        "note": window.note,
        "requester": window.requester,
        "stage": window.stage(now).value,
    }
