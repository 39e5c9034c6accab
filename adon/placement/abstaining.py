"""When placing by measurement does not pay ([CHOREO] 7.1): 30 % of the paper's applications got slower by it.

Measuring takes time, which a short application never earns back.  And where all tasks send about as much to
all others, or all paths are about equally fast, there is no good place to choose: what is predicted to be
gained is less than what predictions are wrong by.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from adon.placement.model import Application, Placement
from adon.units import format_duration, format_ratio

MEASURING_S = 180.0
"""Seconds to measure ten machines: "approximately three minutes" ([CHOREO] 6.2)."""
MARGIN = 0.09
"""What is saved must be a larger part than this: packet trains are wrong by 9 % on average ([CHOREO] 4.1)."""
EVEN = 0.25
"""Transfers whose coefficient of variation is below this are uniform."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Whether to measure and place.

    :param saved: seconds that are predicted to be saved, measuring not counted.
    :param share: of the time that it takes otherwise.
    :param why: in words.
    """

    pays: bool
    saved: float
    share: float
    why: str


def unevenness(application: Application) -> float:
    """The coefficient of variation of the bytes of all ordered pairs of tasks; 0 if nothing is sent."""
    names = [task.name for task in application.tasks]
    counts = [application.sent.get(pair, 0) for pair in permutations(names, 2)]
    mean = statistics.fmean(counts) if counts else 0.0
    return statistics.pstdev(counts) / mean if mean > 0 else 0.0


def advice(
    application: Application,
    chosen: Placement,
    otherwise: Sequence[Placement],
    measuring: float = MEASURING_S,
    margin: float = MARGIN,
) -> Advice:
    """Whether a placement pays, by the last snapshot there is.

    :param otherwise: how the application would be placed without measuring; their median counts.
    :param measuring: seconds that a new snapshot takes.
    :raises ValueError: if there is nothing to compare with.
    """
    if not otherwise:
        raise ValueError("otherwise: there is no placement to compare with")
    usual = statistics.median(one.seconds for one in otherwise)
    saved = usual - chosen.seconds
    share = saved / usual if usual > 0 else 0.0
    pays, why = _judged(application, usual, saved, share, {"measuring": measuring, "margin": margin})
    return Advice(pays, saved, share, why)


def _judged(
    application: Application, usual: float, saved: float, share: float, bounds: Mapping[str, float]
) -> tuple[bool, str]:
    if usual == 0:
        return False, "nothing leaves a machine however it is placed"
    if share <= bounds["margin"]:
        even = unevenness(application) < EVEN
        cause = "its tasks send each other about the same" if even else "the places differ too little"
        told = format_ratio(max(0.0, share))
        return (
            False,
            f"{cause}: {told} would be saved, and predictions are wrong by {format_ratio(bounds['margin'])}",
        )
    if saved <= bounds["measuring"]:
        took = format_duration(bounds["measuring"])
        return False, f"too short: {format_duration(saved)} would be saved, and measuring takes {took}"
    return True, f"{format_duration(saved)} ({format_ratio(share)}) would be saved"
