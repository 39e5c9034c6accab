"""Whether, and when, to ask again after an error: pure, by the kind of error.

pScheduler's status codes mean other things than HTTP's: a 500 is as often a bad request or another
participant that is down as a fault of the server; a 422 is permanent when no tool is common to all, and
temporary when the limit file is being read; a 403 stays until an administrator acts.
"""

from __future__ import annotations

import re
from enum import Enum

from measurement.errors import AnswerTooLarge, BadAnswer, PointError, Rejected

FIRST_WAIT = 1.0
LONGEST_WAIT = 300.0
SLOW_WAIT = 600.0
ADMINISTRATOR_WAIT = 3600.0
_NAMES_A_HOST = re.compile(
    r"getting tools from|while tasking|connection|timed? ?out|unreachable|resolve", re.IGNORECASE
)


class Advice(Enum):
    """What to do after an error."""

    SOON = "again, waiting longer each time"
    ONCE = "again, once"
    SLOWLY = "again in some minutes"
    ADMINISTRATOR = "again in an hour: somebody must change something there"
    NEVER = "not again: the same question has the same answer"


def advice(error: PointError) -> Advice:
    """What an error says about asking the same again."""
    if error.temporary:
        return Advice.SOON
    if isinstance(error, Rejected):
        return _of_status(error)
    if isinstance(error, BadAnswer) and not isinstance(error, AnswerTooLarge):
        return Advice.ONCE
    return Advice.NEVER


def _of_status(error: Rejected) -> Advice:
    match error.status:
        case 500:
            return Advice.SOON if _NAMES_A_HOST.search(error.cause) else Advice.ONCE
        case 422 if "not initialized" in error.cause:
            return Advice.SLOWLY
        case 403:
            return Advice.ADMINISTRATOR
        case _:
            return Advice.NEVER


def before_next(error: PointError, failures: int, chance: float) -> float | None:
    """Seconds to wait before asking again; None for not at all.

    :param failures: how often in a row it failed, this time included.
    :param chance: uniform in [0, 1): clients of a host that comes back must not come back together.
    """
    spread = 0.5 + chance
    match advice(error):
        case Advice.SOON:
            return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(failures - 1, 20)) * spread
        case Advice.ONCE:
            return FIRST_WAIT * spread if failures == 1 else None
        case Advice.SLOWLY:
            return SLOW_WAIT * spread
        case Advice.ADMINISTRATOR:
            return ADMINISTRATOR_WAIT * spread
        case Advice.NEVER:
            return None
