"""Against flapping: what fails or moves again and again is left alone for longer each time (R17).

Three bounds.  The first two grow alike: a hold-off begins at a base, doubles with every repetition, is
capped, and is forgotten after calm, a time without a repetition that is longer than the hold-off.

- A flow that was moved dwells ``min_dwell`` on its path, twice that after the next move, and so on.  A
  template whose ``min_dwell`` is zero asks not to be held.  A path that cannot be used is left at once.
- A path that failed is shunned for ``policy.failed_path_holdoff``, and longer each time until packets arrive.
- A flow whose rules were refused :data:`ATTEMPTS` times on a path does not try that path again; it says so in
  each decision, and with no path left it has failed.  So does one whose meter a switch refused (R13): the
  path is as good as before for everybody else.

The growth is that of Ethernet's truncated binary exponential back-off; RFC 2439 damps routes in BGP.
Times are arguments, seconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from adon.reasons import Reason

CAP_S = 3600.0
"""No hold-off is longer, unless its base is."""

CALM_S = 600.0
"""So long after a hold-off is over without a repetition all is forgotten."""

ATTEMPTS = 5
"""Refusals of one flow's rules on one path after which it is given up."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """How often something happened in a row, and when last."""

    count: int
    at: float

    def hold_off(self, base: float) -> float:
        """Seconds to wait after it: the base, doubled per repetition, at most :data:`CAP_S`."""
        return max(base, min(CAP_S, base * 2.0 ** min(self.count - 1, 32)))

    def again(self, now: float, base: float) -> Repeated:
        """It happens once more; after calm it is as the first time."""
        calm = now - self.at > self.hold_off(base) + CALM_S
        return Repeated(1 if calm else self.count + 1, now)


def count_repetition(before: Repeated | None, now: float, base: float) -> Repeated:
    """What is to be remembered of something that happens now."""
    return Repeated(1, now) if before is None else before.again(now, base)


class Damping:
    """What is remembered of moves, failures and refusals."""

    def __init__(self) -> None:
        self._moves: dict[int, Repeated] = {}
        self._failures: dict[str, Repeated] = {}
        self._refusals: dict[int, dict[str, int]] = {}
        self._for_good: dict[int, dict[str, Reason]] = {}

    # -- a flow that moves --------------------------------------------------------------------------------

    def record_move(self, flow: int, now: float, min_dwell: float) -> None:
        """A flow is moved."""
        self._moves[flow] = count_repetition(self._moves.get(flow), now, min_dwell)

    def dwell(self, flow: int, min_dwell: float) -> float:
        """Seconds for which a flow stays on the path it came to last."""
        last = self._moves.get(flow)
        return min_dwell if last is None else last.hold_off(min_dwell)

    # -- a path that fails --------------------------------------------------------------------------------

    def record_path_failure(self, path: str, now: float, base: float, *, shunned: bool) -> float:
        """A path failed: for how many seconds it is to be shunned.

        :param shunned: whether it is shunned already: what else fails there meanwhile is the same failure.
        """
        before = self._failures.get(path)
        if before is None or not shunned:
            before = self._failures[path] = count_repetition(before, now, base)
        return before.hold_off(base)

    def record_path_success(self, path: str) -> None:
        """Packets arrive over a path."""
        self._failures.pop(path, None)

    # -- a flow whose rules are refused -------------------------------------------------------------------

    def record_refusal(self, flow: int, path: str) -> None:
        """A switch refused a flow's rules for a path."""
        tried = self._refusals.setdefault(flow, {})
        tried[path] = tried.get(path, 0) + 1

    def give_up(self, flow: int, path: str, why: str) -> None:
        """A flow is not to try a path again, whatever else changes."""
        self._for_good.setdefault(flow, {})[path] = Reason("given-up", f"given up for this flow: {why}")

    def record_acceptance(self, flow: int, path: str) -> None:
        """The switches took them: earlier refusals count no more."""
        tried = self._refusals.get(flow, {})
        tried.pop(path, None)
        if not tried:
            self._refusals.pop(flow, None)

    def given_up(self, flow: int) -> Mapping[str, Reason]:
        """The paths that a flow does not try any more, and why."""
        tried = self._refusals.get(flow, {})
        why = Reason("given-up", f"given up for this flow: its rules were refused {ATTEMPTS} times")
        often = {path: why for path, count in tried.items() if count >= ATTEMPTS}
        return {**often, **self._for_good.get(flow, {})}

    # -- upkeep -------------------------------------------------------------------------------------------

    def forget(self, flow: int) -> None:
        """A flow has ended."""
        self._moves.pop(flow, None)
        self._refusals.pop(flow, None)
        self._for_good.pop(flow, None)
