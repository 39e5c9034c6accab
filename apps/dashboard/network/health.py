"""How a path or a link is, in one word, a colour and a stroke.  Pure.

A path is as bad as the worse of its two directions.  Without a recent measurement it is *no data*, which
is no verdict on the network.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from dash.development.base_component import Component

from adon.api.network import LinkView, PathView
from apps.dashboard import ui
from apps.dashboard.network.series_data import Direction

BUSY, FULL = 0.5, 0.8
"""Shares of the capacity from which on a path is called busy, or full: queues begin to grow long before 1."""
QUIET_S = 3600.0
"""What was measured longer ago says nothing about now."""


class Health(StrEnum):
    """From the best to the worst; *no data* is beside the scale."""

    GOOD = "good"
    NO_DATA = "no data"
    DEGRADED = "degraded"
    BAD = "bad"
    DOWN = "down"


class Load(StrEnum):
    """How much of a path our flows use."""

    LIGHT = "light"
    BUSY = "busy"
    FULL = "full"
    UNKNOWN = "unknown"


TONES: dict[str, ui.Tone] = {
    Health.GOOD: "good",
    Health.DEGRADED: "wait",
    Health.BAD: "bad",
    Health.DOWN: "bad",
    Load.LIGHT: "good",
    Load.BUSY: "wait",
    Load.FULL: "bad",
}
MEANS = {
    Health.GOOD: "measured, no alarm",
    Health.DEGRADED: "active warning, or a link settles",
    Health.BAD: "active critical alarm, or a link is not as wired",
    Health.DOWN: "not available",
    Health.NO_DATA: f"no measurement for {QUIET_S / 3600:g} h",
    Load.LIGHT: f"below {BUSY:.0%} of the capacity",
    Load.BUSY: f"{BUSY:.0%} to {FULL:.0%}",
    Load.FULL: f"above {FULL:.0%}",
    Load.UNKNOWN: "rate or capacity unknown",
}
_ORDER = {health: place for place, health in enumerate(Health)}
_LINKS = {
    "live": Health.GOOD,
    "settling": Health.DEGRADED,
    "penalised": Health.DEGRADED,
    "unheard": Health.DEGRADED,
    "down": Health.DOWN,
    "unknown": Health.NO_DATA,
    "foreign": Health.NO_DATA,
}
"""What discovery and ports say of a link; every other state is one in which it is not as wired."""


def badge(state: Health | Load) -> Component:
    """Return the badge of a state."""
    return ui.badge(state.value, TONES.get(state, "plain"))


def worst(found: Iterable[Health]) -> Health:
    """The worst of some; *no data* without any."""
    return max(found, key=_ORDER.__getitem__, default=Health.NO_DATA)


def of_path(ways: Sequence[PathView]) -> tuple[Health, str]:
    """How a path is, and why, by its directions (``items`` of ``/paths``)."""
    if not ways:
        return Health.NO_DATA, "no route in the controller"
    found = [(*_of_direction(way), way) for way in ways]
    health, why, way = max(found, key=lambda one: _ORDER[one[0]])
    if health is Health.NO_DATA and any(one[0] is Health.GOOD for one in found):
        # Tests often go one way only; the other way is then told by them.
        health, why, way = next(one for one in found if one[0] is Health.GOOD)
    return health, f"{Direction.of(way).ends}: {why}" if why else ""


def _of_direction(way: PathView) -> tuple[Health, str]:
    if not way.usable:
        return Health.DOWN, way.reason or "not available"
    bad = [alarm for alarm in way.alarms if alarm.bad]
    for severity, health in (("critical", Health.BAD), ("warning", Health.DEGRADED)):
        alarms = [alarm for alarm in bad if alarm.severity == severity]
        if alarms:
            return health, alarms[0].text
    ages = [reading.age_seconds for reading in way.metrics.values()]
    if not ages or min(ages) > QUIET_S:
        return Health.NO_DATA, "no recent measurement"
    return Health.GOOD, ""


def of_link(link: LinkView) -> tuple[Health, str]:
    """How a link between two switches is, and why."""
    return _LINKS.get(link.state, Health.BAD), link.reason


def of_load(rate: float | None, capacity: float | None) -> Load:
    """How much of its capacity is used.

    :param rate: bits/s of our flows, in the fuller direction.
    """
    if rate is None or not capacity:
        return Load.UNKNOWN
    share = rate / capacity
    return Load.FULL if share > FULL else Load.BUSY if share >= BUSY else Load.LIGHT
