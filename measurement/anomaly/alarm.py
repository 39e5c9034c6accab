"""An alarm as a value: what happened to which series, since when, on what evidence, and is it over."""

from __future__ import annotations

import math
import uuid
from dataclasses import dataclass, replace
from enum import StrEnum

from measurement.anomaly.model import Direction, Evidence, Severity
from measurement.model import Series

_NAMES = uuid.UUID("0f1f0b4e-6c0e-5b0a-9a53-3f2f6a1d7c11")


class Kind(StrEnum):
    """What made it an alarm."""

    PLATEAU = "plateau"
    ABSENCE = "absence"
    THRESHOLD = "threshold"


@dataclass(frozen=True, slots=True)
class Alarm:
    """One alarm; later states of it have the same id.

    :param id: the same for the same series, kind and time: raising it again after a restart is no second
        alarm.
    :param direction: where the level went; None for absence.
    :param bad: False for a change for the better, which is noted (cleared at once) so that decisions can
        use it.
    :param raised_at: time of the value that showed it; of an absence, when it was noticed.
    :param before: the level that counted as normal; for a threshold the limit, for an absence the last
        values.
    :param after: what speaks against it; None for an absence.
    :param text: one line for people.
    :param cleared_at: None while it is in force.
    :raises ValueError: for a time of raising that is not finite.
    """

    id: str
    series: Series
    kind: Kind
    direction: Direction | None
    bad: bool
    severity: Severity
    raised_at: float
    before: Evidence
    after: Evidence | None
    text: str
    cleared_at: float | None = None
    acknowledged_by: str | None = None
    acknowledged_at: float | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.raised_at):
            raise ValueError(f"raised_at: {self.raised_at} is not a time")

    @property
    def open(self) -> bool:
        """Whether it is in force."""
        return self.cleared_at is None


def alarm_id(series: Series, kind: Kind, at: float) -> str:
    """The identity of an alarm (a name-based UUID, RFC 9562 section 5.5)."""
    return str(uuid.uuid5(_NAMES, "\0".join([*series, kind.value, repr(at)])))


def acknowledge(alarm: Alarm, by: str, at: float) -> Alarm:
    """The alarm with a name to it; the first one stays.

    :raises ValueError: for an empty name.
    """
    if not by.strip():
        raise ValueError("acknowledged_by: no user is named")
    return (
        alarm if alarm.acknowledged_by is not None else replace(alarm, acknowledged_by=by, acknowledged_at=at)
    )
