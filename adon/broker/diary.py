"""What a flow has met on its way so far: its admission, its paths, its quality over time.

A diary is a part of its flow (:class:`adon.broker.flow.Flow`), is saved with it, and so outlives the
controller.  When the flow ends it becomes the outcome (:mod:`adon.broker.flow_end`).

A path counts from the decision that gave it to the one that took it away.  What was undone counts as if it
had not been: a path whose rules a switch refused, an admission that no switch confirmed.  Quality counts
while the flow has a path; while it waits it has none.  Values only; times are arguments, seconds since the
epoch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from adon.broker.outcomes import Forecast, Stay
from adon.values import FrozenMap

MOST_STAYS = 100
"""A flow that moved more often keeps its latest stays: a diary is saved with every step of its flow."""


@dataclass(frozen=True, slots=True)
class Diary:
    """See the module's text.

    :param admitted_at: when it first got a path, and ``decision`` by which decision.
    :param conditions: per metric, the value that decision saw on the path.
    :param stays: the paths that it left, in order; the one it is on is the flow's own ``path``.
    :param quality: seconds in each quality before ``since``.
    :param since: since when it has had its present quality; None while it has no path.
    :param promised: bits/s that the last decision to give it a path expected of all its streams.
    :param forecast: when its transfer was expected to be over, as told at its admission.
    """

    admitted_at: float | None = None
    decision: str | None = None
    conditions: Mapping[str, float] = field(default_factory=FrozenMap)
    stays: tuple[Stay, ...] = ()
    quality: Mapping[str, float] = field(default_factory=FrozenMap)
    since: float | None = None
    promised: float | None = None
    forecast: Forecast | None = None

    def record_arrival(self, at: float, decision: str) -> Diary:
        """It gets a path; the first time, that is its admission."""
        begun = replace(self, since=at, promised=None)
        return begun if self.admitted_at is not None else replace(begun, admitted_at=at, decision=decision)

    def expects(self, promised: float | None, conditions: Mapping[str, float], decision: str) -> Diary:
        """What the decision that gave it the path saw there; conditions are those of its admission."""
        kept = conditions if self.decision == decision else self.conditions
        return replace(self, promised=promised, conditions=FrozenMap(kept))

    def record_quality(self, quality: str, at: float) -> Diary:
        """It had this quality until now."""
        if self.since is None:
            return replace(self, since=at)
        name = str(quality)
        spent = self.quality.get(name, 0.0) + at - self.since
        return replace(self, quality=FrozenMap({**self.quality, name: spent}), since=at)

    def record_departure(self, path: str, since: float | None, quality: str, at: float) -> Diary:
        """It leaves a path.

        :param since: when it came there; None where that is not known.
        """
        stay = Stay(path, at if since is None else min(since, at), at)
        ended = self.record_quality(quality, at)
        return replace(ended, stays=(*self.stays, stay)[-MOST_STAYS:], since=None)

    def undone(self) -> Diary:
        """The path that it got last never carried it."""
        return replace(self, since=None, promised=None) if self.stays else Diary()


NOTHING_YET = Diary()
