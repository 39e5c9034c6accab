"""What a flow leaves behind when it has ended: what it was promised, what it got, and what it met on its way.

Values only.  Forecasts are scored by them, and people read them.  Issue: "an outcome: bytes,
time, throughput, path changes, QSpec kept or broken, estimate error".  Units: bytes, seconds, bits/s, times
since the epoch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from adon.values import FrozenMap


@dataclass(frozen=True, slots=True)
class Stay:
    """So long was a flow on one path: from ``since`` to ``until``."""

    path: str
    since: float
    until: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """When a transfer was expected to be over, told at admission: seconds from then on.

    :param low, high: the interval that should hold the true duration with probability ``coverage``.
    :param terms: the parts of the expectation by name (``wait``, ``queue``, ``compute``, ``network`` ...).
    """

    expected: float
    low: float
    high: float
    coverage: float
    terms: Mapping[str, float] = field(default_factory=FrozenMap)


@dataclass(frozen=True, slots=True)
class FlowOutcome:
    """The whole story of one flow in numbers.

    :param flow: its number.
    :param state: how it ended: ``finished``, ``failed``, ``cancelled`` or ``expired``.
    :param requested_bytes: what was asked; ``transferred_bytes`` what is known to have arrived.
    :param admitted_at: when it first got a path; None if it never did.
    :param throughput: bits/s that it achieved with all its streams, and ``measured_by`` who says so;
        None and "" where nothing tells.
    :param stays: its paths in order.
    :param quality: seconds in each quality (``met``, ``degraded``, ``violated``, ``unknown``).
    :param conditions: per metric, the value on the path at the (first) admission: what the promise was
        based on.
    :param promised: bits/s expected at the last move or admission, comparable with ``throughput``.
    :param error: (promised - achieved) / achieved; above zero: too much was promised.
    :param decision: the id of the decision that admitted it.
    """

    flow: int
    template: str
    source: str
    destination: str
    state: str
    submitted_at: float
    ended_at: float
    requested_bytes: int
    transferred_bytes: int
    admitted_at: float | None = None
    started_at: float | None = None
    throughput: float | None = None
    measured_by: str = ""
    streams: int = 1
    priority: int = 0
    moves: int = 0
    stays: tuple[Stay, ...] = ()
    quality: Mapping[str, float] = field(default_factory=FrozenMap)
    conditions: Mapping[str, float] = field(default_factory=FrozenMap)
    promised: float | None = None
    error: float | None = None
    decision: str | None = None
    compute_site: str | None = None
    forecast: Forecast | None = None
    slice: str | None = None

    @property
    def waited(self) -> float:
        """Seconds in the queue until it was first admitted, or until its end."""
        until = self.ended_at if self.admitted_at is None else self.admitted_at
        return max(0.0, until - self.submitted_at)

    @property
    def duration(self) -> float | None:
        """Seconds from the first byte, or else the admission, to the end; None if it was never admitted."""
        began = self.admitted_at if self.started_at is None else self.started_at
        return None if began is None else max(0.0, self.ended_at - began)

    @property
    def kept(self) -> bool:
        """Whether its QSpec was kept all the time that it was known."""
        return self.admitted_at is not None and not self.quality.get("violated", 0.0)

    @property
    def foretold(self) -> bool | None:
        """Whether the forecast's interval held the time it took; None without a forecast or a finish."""
        if self.forecast is None or self.admitted_at is None or self.state != "finished":
            return None
        return self.forecast.low <= self.ended_at - self.admitted_at <= self.forecast.high
