"""What is to be scheduled: periodic tasks and on-demand requests, and when two of them conflict.

Theory: Calyam, Lee, Arava, Krymskiy, "Enhanced EDF Scheduling Algorithms for Orchestrating Network-wide
Active Measurements", RTSS 2005; [ADON] 2.2.2.  A task τ_i is (source, destination, tool, period p_i,
execution time e_i, relative deadline d_i ≤ p_i).  Knows nothing of topologies: whoever makes a task says
which measurement points and links it uses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from measurement.scheduling.ticks import Ticks, at_least, at_most, exactly

NO_LOAD: Mapping[str, float] = MappingProxyType({})


class Footprint(Protocol):
    """What a test occupies while it runs."""

    @property
    def id(self) -> str:
        """Its name, unique in a plan."""

    @property
    def points(self) -> frozenset[str]:
        """The measurement points that take part."""

    @property
    def links(self) -> frozenset[str]:
        """The links that its packets cross."""

    @property
    def loads(self) -> bool:
        """True if it generates load (throughput, packet trains)."""

    @property
    def exclusive(self) -> bool:
        """True if its tool bears no other test beside it, not even a light one."""

    @property
    def load(self) -> Mapping[str, float]:
        """Per link or domain the load it offers there, bits/s."""

    @property
    def execution_time(self) -> Ticks:
        """e_i: how long it occupies all this."""


@dataclass(frozen=True, slots=True)
class Task:
    """One periodic test, τ_i.

    :param id: unique; the last tie-breaker among equal deadlines.
    :param tool: what measures, for people (``iperf3``).
    :param period: p_i: seconds between releases, a whole number of milliseconds.
    :param duration: e_i: seconds that the points keep free for one run, rounded up to milliseconds.
    :param deadline: d_i: seconds after its release at which a run must be over; None: the period.
    :param points: measurement points it needs.
    :param links: links it crosses.
    :param loads: it generates load.
    :param exclusive: its tool bears no other test beside it.
    :param load: per link or domain the offered load in bits/s, held against the :class:`Agreement`.
    :raises ValueError: naming task and field, if the values cannot be a task.
    """

    id: str
    source: str
    destination: str
    tool: str
    period: float
    duration: float
    deadline: float | None
    points: frozenset[str]
    links: frozenset[str]
    loads: bool
    exclusive: bool = False
    load: Mapping[str, float] = field(default_factory=lambda: NO_LOAD)

    def __post_init__(self) -> None:
        _check_footprint(self)
        try:
            exactly(self.period)
        except ValueError as error:
            raise ValueError(f"task {self.id}: period: {error}") from None
        if self.deadline is not None and not (math.isfinite(self.deadline) and self.deadline <= self.period):
            raise ValueError(f"task {self.id}: deadline: {self.deadline:g} s exceeds the period")
        if self.execution_time > self.relative_deadline:
            limit = "period" if self.deadline is None else "deadline"
            raise ValueError(f"task {self.id}: duration: {self.duration:g} s is longer than the {limit}")

    @property
    def interval(self) -> Ticks:
        """p_i on the grid."""
        return exactly(self.period)

    @property
    def execution_time(self) -> Ticks:
        """e_i on the grid."""
        return max(1, at_least(self.duration))

    @property
    def relative_deadline(self) -> Ticks:
        """d_i on the grid."""
        return self.interval if self.deadline is None else at_most(self.deadline)


@dataclass(frozen=True, slots=True)
class Request:
    """One on-demand test; fields as in :class:`Task`.

    :param deadline: the wall time at which it must be over; None: whenever it fits.
    :raises ValueError: as for a task.
    """

    id: str
    source: str
    destination: str
    tool: str
    duration: float
    deadline: float | None
    points: frozenset[str]
    links: frozenset[str]
    loads: bool
    exclusive: bool = False
    load: Mapping[str, float] = field(default_factory=lambda: NO_LOAD)

    def __post_init__(self) -> None:
        _check_footprint(self)
        if self.deadline is not None and not math.isfinite(self.deadline):
            raise ValueError(f"task {self.id}: deadline: {self.deadline!r} is not a time")

    @property
    def execution_time(self) -> Ticks:
        """How long it takes, on the grid."""
        return max(1, at_least(self.duration))


def _check_footprint(test: Task | Request) -> None:
    if not (math.isfinite(test.duration) and test.duration > 0):
        raise ValueError(f"task {test.id}: duration: {test.duration!r} is not a positive time")
    for where, load in test.load.items():
        if not (math.isfinite(load) and load >= 0):
            raise ValueError(f"task {test.id}: load.{where}: {load!r} is not a rate")


def conflicts(a: Footprint, b: Footprint) -> bool:
    """True if the two would disturb each other, were they to run at the same time (spec section 5).

    They share a measurement point or a link, and at least one of them generates load or demands to
    be alone.  Two light tests (ping, one-way delay) do not conflict.
    """
    if not (a.loads or b.loads or a.exclusive or b.exclusive):
        return False
    return not (a.points.isdisjoint(b.points) and a.links.isdisjoint(b.links))
