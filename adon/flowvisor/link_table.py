"""The links that are known: judged again whenever something touches them, or time does.

Holds no rule of its own: what a link is says :func:`adon.flowvisor.link.judge`, how long one that flaps is
not used :mod:`adon.flowvisor.flapping`.  Here is which links to judge (those that share a port are judged
together, since a port that hears two others is no end of a wire), what changed, and what is to be told.

Times are arguments, seconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from adon.config.network import LinkDiscovery
from adon.flowvisor.link import (
    Link,
    LinkKey,
    LinkState,
    PortKey,
    Situation,
    SwitchPorts,
    judge,
    port_text,
    told_as,
    worth_telling,
)
from adon.flowvisor.wiring import Wiring
from adon.reasons import AnnouncementCode

REMEMBERED_S = 86_400.0
"""A link that went down is shown for so long."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame to send out of a port of a switch."""

    dpid: int
    port: int
    data: bytes


@dataclass(frozen=True, slots=True)
class LinkChange:
    """A link's step from one state to another; ``before`` None: it is new."""

    ends: LinkKey
    before: LinkState | None
    after: LinkState
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """Something that people should know, with its level and code."""

    level: str
    code: AnnouncementCode
    text: str


@dataclass(slots=True)
class Found:
    """What one event led to."""

    frames: list[Frame] = field(default_factory=list)
    changes: list[LinkChange] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)


class LinkTable:
    """See the module's text.

    :param switches: the switches that were ever connected; kept by the caller, read here.
    """

    def __init__(self, settings: LinkDiscovery, wiring: Wiring, switches: Mapping[int, SwitchPorts]) -> None:
        self._settings = settings
        self._wiring = wiring
        self._switches = switches
        self._links: dict[LinkKey, Link] = {}
        self._at: dict[PortKey, set[LinkKey]] = {}
        # Never later than the first link that is due; exact after each wake.
        self._due = float("inf")

    @property
    def due(self) -> float | None:
        """When :meth:`wake` is wanted next; None: nothing is due by the clock."""
        return None if self._due == float("inf") else self._due

    def all(self) -> tuple[Link, ...]:
        """Every link, sorted by its ends."""
        return tuple(self._links[key] for key in sorted(self._links))

    def live(self) -> frozenset[LinkKey]:
        """The links that may be used."""
        return frozenset(key for key, link in self._links.items() if link.state is LinkState.LIVE)

    def at(self, port: PortKey) -> frozenset[LinkKey]:
        """The links that end at a port."""
        return frozenset(self._at.get(port, ()))

    def of_switch(self, dpid: int) -> frozenset[LinkKey]:
        """The links that end at a switch."""
        return frozenset(key for key in self._links if dpid in (key[0][0], key[1][0]))

    def between(self, one: PortKey, other: PortKey, now: float) -> Link:
        """The link between two ports, made now if it is new."""
        key = (min(one, other), max(one, other))
        if key not in self._links:
            self._links[key] = Link(key, since=now)
            for end in key:
                self._at.setdefault(end, set()).add(key)
        return self._links[key]

    def settle(self, keys: Iterable[LinkKey], now: float, found: Found) -> None:
        """Judge these links again, and those that share a port with them."""
        touched = {key for ends in keys for end in ends for key in self._at.get(end, ())}
        for key in sorted(touched):
            self._judge(self._links[key], now, found)

    def unhear(self, keys: Iterable[LinkKey], now: float, found: Found) -> None:
        """What was heard over these links does not count any more."""
        chosen = tuple(keys)
        for key in chosen:
            self._links[key].forget_hearing()
        self.settle(chosen, now, found)

    def wake(self, now: float, found: Found) -> None:
        """Judge what is due."""
        if self._due <= now:
            self.settle([key for key, link in self._links.items() if link.due <= now], now, found)
            self._due = min((link.due for link in self._links.values()), default=float("inf"))

    def extend_hearing(self, by: float) -> None:
        """Believe what was heard for so much longer."""
        for link in self._links.values():
            link.heard = {end: replace(last, at=last.at + by) for end, last in link.heard.items()}

    # -- inside -------------------------------------------------------------------------------------

    def _judge(self, link: Link, now: float, found: Found) -> None:
        window = self._settings.window
        verdict = judge(link, self._situation(link, now), now, window)
        if link.whole and not verdict.whole and verdict.state is not LinkState.UNKNOWN:
            link.flaps = link.flaps.failed(now, self._settings)
        if verdict.state is not link.state:
            found.changes.append(LinkChange(link.ends, link.state, verdict.state, verdict.reason))
            link.since = now
        link.state, link.reason = verdict.state, verdict.reason
        link.whole, link.due = verdict.whole, min(verdict.due, _later(link.flaps.until, now))
        self._report(link, now, found)
        self._forget_if_over(link, now)
        self._due = min(self._due, link.due)

    def _report(self, link: Link, now: float, found: Found) -> None:
        worth = worth_telling(link, now, self._settings.window)
        if worth is not None:
            link.told = link.state
            one, other = (self._name(end) for end in link.ends)
            found.reports.append(Report(*worth, told_as(link, (one, other), now)))

    def _situation(self, link: Link, now: float) -> Situation:
        switches = [self._switches[dpid] for dpid, _ in link.ends]
        one, other = (s.ports.get(end[1]) for s, end in zip(switches, link.ends, strict=True))
        against = ""
        if one is not None and other is not None:
            against = self._wiring.contradiction((one.dpid, one.name), (other.dpid, other.name))
        return Situation(
            ports=(one, other),
            connected=all(switch.connected for switch in switches),
            back_since=max(switch.since for switch in switches),
            contradiction=against,
            shared=any(self._heard_at(end, now) > 1 for end in link.ends),
        )

    def _heard_at(self, end: PortKey, now: float) -> int:
        """How many other ports a port hears."""
        links = (self._links[key] for key in self._at[end])
        return sum(bool(link.fresh(now, self._settings.window) - {end}) for link in links)

    def _forget_if_over(self, link: Link, now: float) -> None:
        if link.state is not LinkState.DOWN or now < link.flaps.until:
            return
        if link.told is not None and now < link.since + REMEMBERED_S:
            link.due = min(link.due, link.since + REMEMBERED_S)
            return
        del self._links[link.ends]
        link.due = float("inf")
        for end in link.ends:
            self._at[end].discard(link.ends)
            if not self._at[end]:
                del self._at[end]

    def _name(self, end: PortKey) -> str:
        return port_text(end, self._switches[end[0]].ports.get(end[1]))


def _later(time: float, now: float) -> float:
    return time if time > now else float("inf")
