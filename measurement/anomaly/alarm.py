"""An alarm as a value: what happened to which series, since when, on what evidence, and is it over."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from measurement.anomaly.model import (
    Direction,
    Evidence,
    Severity,
    samples_from_json,
    samples_to_json,
)
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
        raise ValueError("acknowledged_by: nobody is named")
    return (
        alarm if alarm.acknowledged_by is not None else replace(alarm, acknowledged_by=by, acknowledged_at=at)
    )


def to_json(alarm: Alarm) -> dict[str, Any]:
    """An alarm as an object; units as in :mod:`measurement.model`."""
    return {
        "id": alarm.id,
        "series": alarm.series._asdict(),
        "kind": alarm.kind.value,
        "direction": None if alarm.direction is None else alarm.direction.value,
        "bad": alarm.bad,
        "severity": alarm.severity.value,
        "raised_at": alarm.raised_at,
        "before": _evidence_to_json(alarm.before),
        "after": None if alarm.after is None else _evidence_to_json(alarm.after),
        "text": alarm.text,
        "cleared_at": alarm.cleared_at,
        "acknowledged_by": alarm.acknowledged_by,
        "acknowledged_at": alarm.acknowledged_at,
    }


def from_json(data: Mapping[str, Any]) -> Alarm:
    """The inverse of :func:`to_json`.

    :raises ValueError: naming what is missing or wrong.
    """
    try:
        return Alarm(
            id=str(data["id"]),
            series=series_from_json(data["series"]),
            kind=Kind(data["kind"]),
            direction=None if data["direction"] is None else Direction(data["direction"]),
            bad=bool(data["bad"]),
            severity=Severity(data["severity"]),
            raised_at=float(data["raised_at"]),
            before=_evidence_from_json(data["before"]),
            after=None if data["after"] is None else _evidence_from_json(data["after"]),
            text=str(data["text"]),
            cleared_at=_number(data["cleared_at"]),
            acknowledged_by=None if data["acknowledged_by"] is None else str(data["acknowledged_by"]),
            acknowledged_at=_number(data["acknowledged_at"]),
        )
    except KeyError as error:
        raise ValueError(f"alarm: {error.args[0]} is missing") from None
    except TypeError as error:
        raise ValueError(f"not an alarm: {error}") from None


def series_from_json(data: Mapping[str, Any]) -> Series:
    """The inverse of ``series._asdict()``.

    :raises KeyError: for what is missing.
    """
    return Series(*(str(data[name]) for name in Series._fields))


def _evidence_to_json(evidence: Evidence) -> dict[str, Any]:
    return {
        "mean": evidence.mean,
        "deviation": evidence.deviation,
        "samples": samples_to_json(evidence.samples),
    }


def _evidence_from_json(data: Mapping[str, Any]) -> Evidence:
    return Evidence(float(data["mean"]), float(data["deviation"]), samples_from_json(data["samples"]))


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
