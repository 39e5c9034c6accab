"""When placement by measurement does not pay ([CHOREO] 7.1): 30 % of the paper's applications became slower.

A short application never regains the time of the measurement.  If all tasks send about as much to all others,
or if all paths are about equally fast, the predicted gain is below the error of predictions.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from adon.placement.model import Application, Placement
from adon.units import format_duration, format_ratio

MEASUREMENT_S = 180.0
"""Seconds to measure ten machines: "approximately three minutes" ([CHOREO] 6.2)."""
MARGIN = 0.09
"""The smallest relative gain: packet trains have an error of 9 % on average ([CHOREO] 4.1)."""
UNIFORM = 0.25
"""Transfers with a coefficient of variation below this are uniform."""


@dataclass(frozen=True, slots=True)
class PlacementAdvice:
    """Whether to measure and place.

    :param saved: predicted seconds that are saved, without the measurement.
    :param share: of the time without placement.
    :param reason: in words.
    """

    pays: bool
    saved: float
    share: float
    reason: str


def advise_placement(
    application: Application, chosen: Placement, baselines: Sequence[Placement]
) -> PlacementAdvice:
    """Return whether a placement pays, by the latest snapshot.

    :param baselines: placements without measurement, at least one; their median counts.
    """
    usual = statistics.median(one.completion_time_s for one in baselines)
    saved = usual - chosen.completion_time_s
    share = saved / usual if usual > 0 else 0.0
    reason = f"{format_duration(max(0.0, saved))} ({format_ratio(max(0.0, share))}) would be saved"
    if usual == 0:
        reason = "nothing leaves a machine in any placement"
    elif share <= MARGIN:
        uniform = byte_variation(application) < UNIFORM
        cause = "the tasks send each other about the same" if uniform else "the paths differ too little"
        reason = f"{cause}: {reason}; predictions have an error of {format_ratio(MARGIN)}"
    elif saved <= MEASUREMENT_S:
        reason = f"too short: {reason}; the measurement takes {format_duration(MEASUREMENT_S)}"
    return PlacementAdvice(share > MARGIN and saved > MEASUREMENT_S, saved, share, reason)


def byte_variation(application: Application) -> float:
    """Return the coefficient of variation of the bytes of all ordered pairs of tasks; 0 without transfers."""
    names = [task.name for task in application.tasks]
    counts = [application.sent.get(pair, 0) for pair in permutations(names, 2)]
    mean = statistics.fmean(counts) if counts else 0.0
    return statistics.pstdev(counts) / mean if mean > 0 else 0.0
