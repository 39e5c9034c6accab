"""The results of tests that a trial has seen, each once, and whether every path was tested since a moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adon.experiments import rows

Result = Mapping[str, Any]
"""As ``GET /measurements`` answers."""

Tests = Callable[[float], Sequence[Result]]
"""Results of the measurement points since a time (seconds since 1970), oldest first; () without points."""

EVERY_S = 1.0
"""Seconds between two looks."""
MARKS = ("path", "source", "destination", "metric", "observed_at")
"""What makes a result one that was not seen before."""


@dataclass(slots=True)
class SeenTests:
    """See the module's text; times are seconds since 1970.

    :param ask: for results; it may tell some again.
    :ivar found: every result, in the order in which they came.
    """

    ask: Tests
    found: list[Result] = field(default_factory=list)
    _looked_at: float = 0.0
    _known: set[tuple[str, ...]] = field(default_factory=set)

    def due(self, now: float) -> bool:
        """Whether it is time for another look."""
        return now - self._looked_at >= EVERY_S

    def look(self, began_at: float, now: float) -> list[Result]:
        """The results that have come since the last look.

        :param began_at: of the trial: what was observed before is not told.
        """
        self._looked_at = now
        new = [one for one in self.ask(began_at) if self._is_new(one)]
        self.found += new
        return new

    def _is_new(self, one: Result) -> bool:
        mark = tuple(str(one[key]) for key in MARKS)
        if mark in self._known:
            return False
        self._known.add(mark)
        return True

    def tested(self, since: float, paths: Iterable[str]) -> float | None:
        """When every one of these paths had had a throughput test that began after that; None if not yet."""
        return rows.tested(since, paths, [one for one in self.found if one["metric"] == "throughput"])
