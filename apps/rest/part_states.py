"""State of ADON: each part with its state, since when, and the age of its data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from adon.api.status import PartState, PartStatus, StatusView
from adon.errors import AdonError
from adon.store.lease import CONTROLLER
from apps.rest.services import Services
from measurement.archive import Archive

ASKED_S = 3.0
"""Seconds that a part may take to answer."""
STALE_S = 900.0
"""Seconds without a new value, after which the archive is degraded."""
NEEDED = frozenset({"store", "controller"})
"""Parts without which no flow is decided."""

Read = Callable[[Services], PartStatus | None]


def standing(parts: Services) -> StatusView:
    """Return the state of every part, as it answers now."""
    found = [_read_part(name, read, parts) for name, read in READERS.items()]
    known = [part for part in found if part is not None]
    return StatusView(at=parts.clock(), state=overall(known), parts=known)


def overall(found: Iterable[PartStatus]) -> PartState:
    """Return the state of the whole: away without a part that flows need, degraded by any other part."""
    known = list(found)
    if any(part.state is PartState.AWAY for part in known if part.name in NEEDED):
        return PartState.AWAY
    well = all(part.state is PartState.OK for part in known)
    return PartState.OK if well else PartState.DEGRADED


def _read_part(name: str, read: Read, parts: Services) -> PartStatus | None:
    try:
        return read(parts)
    except AdonError as error:
        state = PartState.DEGRADED if name == "supervisor" else PartState.AWAY
        return _part(name, state, str(error))


def _part(
    name: str,
    state: PartState = PartState.OK,
    text: str = "",
    *,
    since: float | None = None,
    data_at: float | None = None,
    age: float | None = None,
    figures: Mapping[str, Any] | None = None,
) -> PartStatus:
    return PartStatus(
        name=name,
        state=state,
        since=since,
        text=text,
        data_at=data_at,
        data_age_seconds=age,
        figures=figures or {},
    )


def _read_web(parts: Services) -> PartStatus:
    return _part("web", since=parts.began, figures={"network": parts.configuration.network})


def _read_store(parts: Services) -> PartStatus:
    return _part("store", figures={"flows_ever": parts.store.last_flow_number()})


def _read_controller(parts: Services) -> PartStatus:
    link, figures = parts.controller, _lease(parts)
    if not link.connected:
        text = "the controller is not running: rules stay as they are, nothing is decided"
        return _part("controller", PartState.AWAY, text, since=link.since, figures=figures)
    try:
        read = parts.snapshots.get()
    except AdonError as error:
        return _part("controller", PartState.AWAY, str(error), figures=figures)
    figures |= {"queued_flows": read.get("queued", 0), "failures_open": read["failover"]["open"]}
    age = max(0.0, parts.clock() - float(read["at"]))
    return _part("controller", since=link.since, data_at=read["at"], age=age, figures=figures)


def _lease(parts: Services) -> dict[str, Any]:
    held = parts.store.lease(CONTROLLER)
    if held is None:
        return {}
    role = "active" if not parts.has_standby or held.seconds > 0 else "none"
    figures: dict[str, Any] = {"name": held.holder, "generation": held.generation, "role": role}
    return figures | ({"lease_seconds": max(0.0, held.seconds)} if parts.has_standby else {})


def _read_switches(parts: Services) -> PartStatus | None:
    if not parts.controller.connected:
        return None
    try:
        switches = parts.snapshots.get()["switches"]
    except AdonError:
        return None  # the controller's part has the reason
    away = [one["name"] for one in switches if not one["connected"]]
    text = f"not connected: {', '.join(away)}" if away else ""
    state = PartState.OK if not away else PartState.AWAY if len(away) == len(switches) else PartState.DEGRADED
    figures = {"connected": len(switches) - len(away), "configured": len(switches)}
    return _part("switches", state, text, figures=figures)


def _read_collector(parts: Services) -> PartStatus:
    link = parts.collector
    if not link.connected:
        text = "the collector is not running: nothing is measured now"
        return _part("collector", PartState.AWAY, text, since=link.since)
    answer = link.call("schedule", {}, timeout=ASKED_S)
    text = "" if answer["measures"] else "another collector measures; this one stands by"
    figures = {"role": "measures" if answer["measures"] else "standby", "tests": len(answer["tasks"])}
    return _part("collector", text=text, since=link.since, figures=figures)


def _read_archive(parts: Services) -> PartStatus:
    (newest,) = parts.measurements.ask(lambda archive: [archive.newest()]) or (None,)
    size = parts.measurements.bytes_held()
    figures: dict[str, Any] = {"series": len(parts.measurements.ask(Archive.series))}
    figures |= {} if size is None else {"size_bytes": size}
    if newest is None:
        return _part("archive", PartState.DEGRADED, "nothing has been measured yet", figures=figures)
    age = max(0.0, parts.clock() - newest)
    state, text = PartState.OK, ""
    if age > STALE_S:
        state, text = PartState.DEGRADED, "no value has come for a while"
    return _part("archive", state, text, data_at=newest, age=age, figures=figures)


def _read_supervisor(parts: Services) -> PartStatus | None:
    link = parts.supervisor
    if link is None:
        return None
    if not link.connected:
        text = "adon serve is not running: a process that ends is not started again"
        return _part("supervisor", PartState.DEGRADED, text, since=link.since)
    read = link.call("standing", {}, timeout=ASKED_S)
    figures = {"configuration": read["hash"], "reloads": read["reloads"]}
    return _part("supervisor", since=link.since, data_at=read["succeeded_at"], figures=figures)


READERS: Mapping[str, Read] = {
    "web": _read_web,
    "store": _read_store,
    "controller": _read_controller,
    "switches": _read_switches,
    "collector": _read_collector,
    "archive": _read_archive,
    "supervisor": _read_supervisor,
}
"""How each part is read."""
