"""What came of a run as a whole, in one word, of the verdicts on its checks."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from adon.experiments.results import About, State
from adon.experiments.verdicts import Outcome, Verdict


class Standing(StrEnum):
    """What came of an experiment, the best first."""

    HELD = "held"
    """Every check held."""
    HELD_BUT = "held, but for discrepancies"
    """What did not hold is what the file had said would not."""
    NOT_HELD = "not held"
    UNCHECKED = "nothing checked"
    """The file claims nothing."""
    CANNOT_SAY = "cannot say"
    """Nothing failed, and not everything could be told."""
    PARTIAL = "partial"
    FAILED = "failed"
    """There is no run."""


def standing(about: About, found: Sequence[Verdict]) -> Standing:
    """What came of a run with these verdicts."""
    if about.state is State.PARTIAL:
        return Standing.PARTIAL
    unmet = [one for one in found if one.outcome is Outcome.NOT_HELD]
    if any(not one.discrepancy for one in unmet):
        return Standing.NOT_HELD
    if any(one.outcome is Outcome.CANNOT_SAY for one in found):
        return Standing.CANNOT_SAY
    if not found:
        return Standing.UNCHECKED
    return Standing.HELD_BUT if unmet else Standing.HELD
