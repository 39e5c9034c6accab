"""What became of one request in a replay: its state, path and quality over time."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from adon.broker.flow import FlowState, Quality
from adon.broker.outcomes import FlowOutcome, Stay


@dataclass(frozen=True, slots=True)
class Moment:
    """From then on a flow was in this state, on this path, of this quality."""

    at: float
    state: str
    path: str | None
    quality: str

    def same(self, other: Moment) -> bool:
        """Whether nothing but the time differs."""
        return (self.state, self.path, self.quality) == (other.state, other.path, other.quality)


@dataclass(frozen=True, slots=True)
class Run:
    """What became of one request.

    :param flow: the number that it had then.
    :param refused: why it was not taken, if it was not.
    :param outcome: what it left behind; None if it was refused, or not over at the end of the replay.
    """

    flow: int
    template: str
    submitted_at: float
    refused: str = ""
    moments: tuple[Moment, ...] = ()
    outcome: FlowOutcome | None = None

    @property
    def state(self) -> str:
        """How it ended, or how it stood at the end."""
        return "refused" if self.refused else self.moments[-1].state

    @property
    def stays(self) -> tuple[Stay, ...]:
        """Its paths in order, with their times; the last of a flow that is not over has no end."""
        found: list[Stay] = []
        for moment, after in itertools.pairwise((*self.moments, None)):
            if moment is None or moment.path is None:
                continue
            until = math.inf if after is None else after.at
            if found and found[-1].path == moment.path and found[-1].until == moment.at:
                found[-1] = Stay(moment.path, found[-1].since, until)
            else:
                found.append(Stay(moment.path, moment.at, until))
        return tuple(found)

    @property
    def moves(self) -> int:
        """How often it changed from one path to another without waiting between."""
        return sum(one.until == other.since for one, other in itertools.pairwise(self.stays))

    def violations(self, until: float) -> tuple[tuple[float, float], ...]:
        """When its QSpec was violated."""
        spans = [
            (moment.at, until if after is None else after.at)
            for moment, after in itertools.pairwise((*self.moments, None))
            if moment is not None and moment.path is not None and moment.quality == Quality.VIOLATED
        ]
        joined: list[tuple[float, float]] = []
        for since, end in spans:
            if joined and joined[-1][1] == since:
                joined[-1] = (joined[-1][0], end)
            else:
                joined.append((since, end))
        return tuple(joined)

    @property
    def took(self) -> float | None:
        """Seconds from the request to the end of the transfer; None if it did not finish."""
        if self.outcome is None or self.outcome.state != FlowState.FINISHED:
            return None
        return self.outcome.ended_at - self.submitted_at
