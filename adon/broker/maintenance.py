"""Maintenance windows: outages that are known beforehand (spec section 4).

A window closes the paths of one path, link, switch or site from one time until another::

    announced ──► draining ──► active ──► over          cancelled: from each of the first three
               (lead time)

- Nothing is admitted to a path that would still run when the path's window begins.  When a flow ends is
  forecast from what it has left to move and the throughput that its QSpec bounds; of a flow without such a
  bound nothing is known, so it may still be there.
- From the lead time before the beginning until the end, running flows that would still be there leave.

:meth:`Windows.closed_paths` says so, with a reason per path that excludes it as a candidate.  Times are
seconds since the epoch; no clock is read.  Values and functions only, but for :class:`Windows`, which
remembers what stage each window was last seen in; :mod:`adon.broker.maintenance_events` acts on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, model_validator

from adon.broker.flow import Flow
from adon.errors import Conflict, InvalidInput, NotFound
from adon.reasons import Reason
from adon.units import Duration
from adon.values import Name, Value

if TYPE_CHECKING:  # clients import the stages; they need no configuration
    from adon.flowvisor.topology.topology import Topology

LONGEST_S = 366 * 86_400.0
"""A window of more than a year is a slip of the pen: change the configuration."""


class Scope(StrEnum):
    """What a window is about."""

    PATH = "path"
    LINK = "link"
    SWITCH = "switch"
    SITE = "site"


class Stage(StrEnum):
    """Where a window is in its life."""

    ANNOUNCED = "announced"
    DRAINING = "draining"
    ACTIVE = "active"
    OVER = "over"
    CANCELLED = "cancelled"


class WindowRequest(Value):
    """What a performance engineer asks for; times in seconds since the epoch.

    :param lead: how long before the beginning running flows leave.
    """

    scope: Scope
    name: Name
    begins: Annotated[float, Field(ge=0)]
    ends: Annotated[float, Field(ge=0)]
    lead: Duration = 600.0
    note: str = Field(default="", max_length=200)

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.ends <= self.begins:
            raise ValueError(
                "ends: is not after begins; expected a later time, for example 2099-11-21T04:00:00Z"
            )
        if self.ends - self.begins > LONGEST_S or self.lead > LONGEST_S:
            raise ValueError(
                "ends: a window with its lead time lasts at most one year; expected an earlier time"
            )
        return self


@dataclass(frozen=True, slots=True)
class Window:
    """One window; replaced as a whole when it is cancelled."""

    number: int
    scope: Scope
    name: str
    begins: float
    ends: float
    lead: float = 600.0
    note: str = ""
    requester: str = ""
    cancelled_at: float | None = None

    @property
    def id(self) -> str:
        """``m-3``: how the window is named at the borders."""
        return f"m-{self.number}"

    def stage(self, now: float) -> Stage:
        """Where it is in its life at this time."""
        if self.cancelled_at is not None:
            return Stage.CANCELLED
        if now >= self.ends:
            return Stage.OVER
        if now >= self.begins:
            return Stage.ACTIVE
        return Stage.DRAINING if now >= self.begins - self.lead else Stage.ANNOUNCED

    @property
    def words(self) -> str:
        """``maintenance m-3 of link fibre-7 (splicing), 2026-11-21 02:00 to 04:00 UTC``."""
        note = f" ({self.note})" if self.note else ""
        begins, ends = (datetime.fromtimestamp(at, UTC) for at in (self.begins, self.ends))
        until = f"{ends:%H:%M}" if begins.date() == ends.date() else f"{ends:%Y-%m-%d %H:%M}"
        times = f"{begins:%Y-%m-%d %H:%M} to {until} UTC"
        return f"maintenance {self.id} of {self.scope} {self.name}{note}, {times}"


def paths_of(topology: Topology, scope: Scope, name: str) -> tuple[str, ...]:
    """The paths that an outage of this closes: configured ones, then circuits of overlays.

    :raises NotFound: if nothing of this name is known.
    """
    courses, configuration = topology.path_elements, topology.configuration
    match scope:
        case Scope.PATH:
            hit = [one for one in courses if one.path == name]
            known = bool(hit)
        case Scope.LINK:
            hit = [one for one in courses if name in one.links]
            known = bool(hit) or name in configuration.links
        case Scope.SITE:
            hit, known = [one for one in courses if name in one.sites], name in configuration.sites
        case Scope.SWITCH:
            hit, known = [one for one in courses if name in one.switches], name in configuration.switches
    if not known:
        raise NotFound(scope.value, name)
    return tuple(one.path for one in hit)


def forecast_end(flow: Flow, bound: float, now: float) -> float:
    """Return the end of a flow that gets its bound from now on; infinite if unknown.

    :param bound: bits/s, 0 without one.
    """
    size = flow.transfer_size if flow.transfer_size > 0 else flow.request.size
    left = max(0, size - flow.bytes_delivered)
    return now + left * 8 / bound if bound > 0 else float("inf")


class Windows:
    """The windows that are not over, and in what state each was last seen.

    :param windows: all that were ever asked for; those that are over count for the numbers only.
    """

    def __init__(self, windows: Iterable[Window] = ()) -> None:
        known = tuple(windows)
        self._held = {window.number: window for window in known if window.cancelled_at is None}
        self._last = max((window.number for window in known), default=0)
        self._seen: dict[int, Stage] = {}

    def __iter__(self) -> Iterator[Window]:
        return iter(tuple(self._held.values()))

    def get(self, number: int) -> Window:
        """One window that is not over.

        :raises Conflict: if it has ended or was cancelled.
        :raises NotFound: if it never was.
        """
        window = self._held.get(number)
        if window is None:
            if 1 <= number <= self._last:
                raise Conflict("state", f"maintenance m-{number} has ended or was cancelled")
            raise NotFound("maintenance", f"m-{number}")
        return window

    def add(self, request: WindowRequest, requester: str, now: float, topology: Topology) -> Window:
        """Take a new window.

        :raises InvalidInput: if it would be over already, or names nothing.
        """
        if request.ends <= now:
            raise InvalidInput.of("ends", "is in the past")
        try:
            paths_of(topology, request.scope, request.name)
        except NotFound as error:
            raise InvalidInput.of("name", f"there is no {request.scope} {request.name!r}") from error
        self._last += 1
        asked = (request.scope, request.name, request.begins, request.ends, request.lead, request.note)
        window = self._held[self._last] = Window(self._last, *asked, requester)
        return window

    def cancel(self, number: int, now: float) -> Window:
        """End a window before its time.

        :raises Conflict, NotFound: as :meth:`get`.
        """
        window = replace(self.get(number), cancelled_at=now)
        del self._held[number]
        self._seen.pop(number, None)
        return window

    def pop_changed(self, now: float) -> list[tuple[Window, Stage]]:
        """The windows that are in another state than when last asked; one that is over is forgotten."""
        found = []
        for window in self:
            stage = window.stage(now)
            if self._seen.get(window.number, Stage.ANNOUNCED) is not stage:
                found.append((window, stage))
            self._seen[window.number] = stage
            if stage is Stage.OVER:
                del self._held[window.number], self._seen[window.number]
        return found

    def next_change(self, now: float) -> float | None:
        """When :meth:`pop_changed` next returns a window."""
        times = [at for w in self for at in (w.begins - w.lead, w.begins, w.ends) if at > now]
        late = [now for w in self if self._seen.get(w.number, Stage.ANNOUNCED) is not w.stage(now)]
        return min([*times, *late], default=None)

    def quiet(self, topology: Topology, now: float) -> frozenset[str]:
        """The paths that are draining or out of service: no test is started there."""
        closing = [w for w in self if w.stage(now) in (Stage.DRAINING, Stage.ACTIVE)]
        return frozenset(path for w in closing for path in _paths(topology, w))

    def closed_paths(self, topology: Topology, flow: Flow, bound: float, now: float) -> Mapping[str, Reason]:
        """The paths that a flow may not have now, each with the reason.

        Its own path it may keep as long as the window is only announced.
        """
        if not self._held:
            return {}
        end = forecast_end(flow, bound, now)
        found: dict[str, Reason] = {}
        for window in self:
            stage = window.stage(now)
            if stage is Stage.OVER or end < window.begins:
                continue
            for path in _paths(topology, window):
                if path != flow.path or stage is not Stage.ANNOUNCED:
                    found.setdefault(path, Reason("maintenance", window.words))
        return found


def _paths(topology: Topology, window: Window) -> tuple[str, ...]:
    """As :func:`paths_of`; nothing where the name is not known any more."""
    try:
        return paths_of(topology, window.scope, window.name)
    except NotFound:
        return ()
