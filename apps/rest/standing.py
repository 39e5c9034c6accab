"""How ADON itself is: every part with its state, since when, and how old its data are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from adon.api.status import PartStanding, PartState, StandingView
from adon.errors import AdonError, Unavailable
from adon.store.lease import CONTROLLER
from apps.rest.services import Services
from measurement.archive import Archive

ASKED_S = 3.0
"""Seconds that a part may take to answer; longer, and it is as good as away."""
STALE_S = 900.0
"""Seconds without any new value of the network, after which measuring is not as it should be."""
NEEDED = frozenset({"store", "controller"})
"""Without these no flow is decided on."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a part answered, or why it did not."""

    answer: Mapping[str, Any] | None
    error: str = ""


def standing(parts: Services) -> StandingView:
    """Every part, asked now."""
    now = parts.clock()
    found = [
        _web(parts),
        _store(parts),
        _controller(parts),
        *_switches(parts),
        _collector(parts),
        _archive(parts, now),
        *_supervisor(parts),
    ]
    return StandingView(at=now, state=overall(found), parts=found)


def overall(found: Iterable[PartStanding]) -> PartState:
    """The state of the whole: away without a part that flows need, degraded if any part is not well."""
    known = list(found)
    if any(part.state is PartState.AWAY for part in known if part.name in NEEDED):
        return PartState.AWAY
    well = all(part.state is PartState.OK for part in known)
    return PartState.OK if well else PartState.DEGRADED


def _web(parts: Services) -> PartStanding:
    figures = {"network": parts.configuration.network}
    return PartStanding(name="web", state=PartState.OK, since=parts.began, text="", figures=figures)


def _store(parts: Services) -> PartStanding:
    try:
        number = parts.store.last_flow_number()
    except AdonError as error:
        return PartStanding(name="store", state=PartState.AWAY, since=None, text=str(error))
    return PartStanding(
        name="store",
        state=PartState.OK,
        since=None,
        text="",
        figures={"flows_ever": number},
    )


def _controller(parts: Services) -> PartStanding:
    link, held = parts.controller, parts.store.lease(CONTROLLER)
    figures: dict[str, Any] = {}
    if held is not None:
        figures = {"name": held.holder, "generation": held.generation}
        figures["role"] = "active" if not parts.leased or held.seconds > 0 else "none"
        if parts.leased:
            figures["lease_seconds"] = max(0.0, held.seconds)
    if not link.connected:
        text = "the controller is not running: rules stay as they are, nothing is decided"
        return PartStanding(
            name="controller", state=PartState.AWAY, since=link.since, text=text, figures=figures
        )
    asked = _asked(parts.snapshots.get)
    if asked.answer is None:
        return PartStanding(
            name="controller", state=PartState.AWAY, since=None, text=asked.error, figures=figures
        )
    read = asked.answer
    figures |= {"queued_flows": read.get("queued", 0), "failures_open": read["failover"]["open"]}
    age = max(0.0, parts.clock() - float(read["at"]))
    return PartStanding(
        name="controller",
        state=PartState.OK,
        since=link.since,
        text="",
        data_at=read["at"],
        data_age_seconds=age,
        figures=figures,
    )


def _switches(parts: Services) -> list[PartStanding]:
    asked = _asked(parts.snapshots.get) if parts.controller.connected else Asked(None)
    if asked.answer is None:
        return []
    switches = asked.answer["switches"]
    away = [one["name"] for one in switches if not one["connected"]]
    text = f"not connected: {', '.join(away)}" if away else ""
    state = PartState.OK if not away else PartState.AWAY if len(away) == len(switches) else PartState.DEGRADED
    figures = {"connected": len(switches) - len(away), "configured": len(switches)}
    return [PartStanding(name="switches", state=state, since=None, text=text, figures=figures)]


def _collector(parts: Services) -> PartStanding:
    link = parts.collector
    if not link.connected:
        text = "the collector is not running: nothing is measured now"
        return PartStanding(name="collector", state=PartState.AWAY, since=link.since, text=text)
    asked = _asked(lambda: link.call("schedule", {}, timeout=ASKED_S))
    if asked.answer is None:
        return PartStanding(name="collector", state=PartState.AWAY, since=None, text=asked.error)
    measures = bool(asked.answer["measures"])
    return PartStanding(
        name="collector",
        state=PartState.OK,
        since=link.since,
        text="" if measures else "another collector measures; this one stands by",
        figures={"role": "measures" if measures else "standby", "tests": len(asked.answer["tasks"])},
    )


def _archive(parts: Services, now: float) -> PartStanding:
    try:
        (newest,) = parts.measurements.ask(lambda archive: [archive.newest()]) or (None,)
        series = parts.measurements.ask(Archive.series)
        size = parts.measurements.bytes_held()
    except Unavailable as error:
        return PartStanding(name="archive", state=PartState.AWAY, since=None, text=str(error))
    figures: dict[str, Any] = {"series": len(series)} | ({} if size is None else {"size_bytes": size})
    if newest is None:
        text = "nothing has been measured yet"
        return PartStanding(name="archive", state=PartState.DEGRADED, since=None, text=text, figures=figures)
    age = max(0.0, now - newest)
    late = age > STALE_S
    return PartStanding(
        name="archive",
        state=PartState.DEGRADED if late else PartState.OK,
        since=None,
        text="no value has come for a while" if late else "",
        data_at=newest,
        data_age_seconds=age,
        figures=figures,
    )


def _supervisor(parts: Services) -> list[PartStanding]:
    link = parts.supervisor
    if link is None:
        return []
    if not link.connected:
        text = "adon serve is not running: a process that ends is not started again"
        return [PartStanding(name="supervisor", state=PartState.DEGRADED, since=link.since, text=text)]
    asked = _asked(lambda: link.call("standing", {}, timeout=ASKED_S))
    if asked.answer is None:
        return [PartStanding(name="supervisor", state=PartState.DEGRADED, since=None, text=asked.error)]
    read = asked.answer
    figures = {"configuration": read["hash"], "reloads": read["reloads"]}
    return [
        PartStanding(
            name="supervisor",
            state=PartState.OK,
            since=link.since,
            text="",
            data_at=read["succeeded_at"],
            figures=figures,
        )
    ]


def _asked(question: Callable[[], Mapping[str, Any]]) -> Asked:
    try:
        return Asked(question())
    except AdonError as error:
        return Asked(None, str(error))
