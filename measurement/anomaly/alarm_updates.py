"""From a finding to an alarm: raised, updated, cleared, each with its line for people."""

from __future__ import annotations

from dataclasses import replace

from measurement.anomaly.alarm import Alarm, Kind, alarm_id
from measurement.anomaly.alarm_text import moment, quantity
from measurement.anomaly.model import Direction, Evidence, Finding, Severity
from measurement.model import Series
from measurement.units import format_duration


def plateau(series: Series, finding: Finding, *, bad: bool, at: float) -> Alarm:
    """A new level was found; one for the better is cleared at once.

    :param at: time of the value that showed it.
    """
    return Alarm(
        id=alarm_id(series, Kind.PLATEAU, at),
        series=series,
        kind=Kind.PLATEAU,
        direction=finding.direction,
        bad=bad,
        severity=finding.severity,
        raised_at=at,
        before=finding.before,
        after=finding.after,
        text=_describe_change(series, finding.direction, finding.before, finding.after),
        cleared_at=None if bad else at,
    )


def moved_on(alarm: Alarm, finding: Finding) -> Alarm:
    """A plateau in force moved to another level that is still not the one before."""
    critical = Severity.CRITICAL in (alarm.severity, finding.severity)
    return replace(
        alarm,
        severity=Severity.CRITICAL if critical else Severity.WARNING,
        after=finding.after,
        text=_describe_change(
            alarm.series, Direction.of(finding.after.mean - alarm.before.mean), alarm.before, finding.after
        ),
    )


def threshold(series: Series, finding: Finding, *, at: float) -> Alarm:
    """Values are beyond a limit."""
    count, mean = len(finding.after.samples), quantity(series.metric, finding.after.mean)
    limit = quantity(series.metric, finding.before.mean)
    side = "above" if finding.direction is Direction.UP else "below"
    return Alarm(
        id=alarm_id(series, Kind.THRESHOLD, at),
        series=series,
        kind=Kind.THRESHOLD,
        direction=finding.direction,
        bad=True,
        severity=finding.severity,
        raised_at=at,
        before=finding.before,
        after=finding.after,
        text=f"{_name(series)}: {count} values in a row, mean {mean}, are {side} {limit}",
    )


def absence(series: Series, last: Evidence, *, last_at: float | None, period: float, now: float) -> Alarm:
    """No values come any more.

    :param last: the last values there were, without samples if there never was one.
    :param last_at: time of the last one.
    """
    since = "no value yet" if last_at is None else f"no value since {moment(last_at)}"
    return Alarm(
        id=alarm_id(series, Kind.ABSENCE, now if last_at is None else last_at),
        series=series,
        kind=Kind.ABSENCE,
        direction=None,
        bad=True,
        severity=Severity.WARNING,
        raised_at=now,
        before=last,
        after=None,
        text=f"{_name(series)}: {since}; one was due every {format_duration(period)}",
    )


def clear_alarm(alarm: Alarm, at: float, why: str) -> Alarm:
    """The alarm is over."""
    return replace(
        alarm,
        cleared_at=at,
        text=f"{why} after {format_duration(max(0.0, at - alarm.raised_at))}; was: {alarm.text}",
    )


def recovery(alarm: Alarm, finding: Finding, at: float) -> Alarm:
    """The level before is back."""
    return clear_alarm(alarm, at, f"recovered to {quantity(alarm.series.metric, finding.after.mean)}")


def _name(series: Series) -> str:
    """Return the name of a series in sentences; a series of a host has no path."""
    if not series.path:
        return f"{series.metric} of {series.source}"
    return f"{series.metric} on {series.path} from {series.source} to {series.destination}"


def _describe_change(series: Series, direction: Direction, before: Evidence, after: Evidence) -> str:
    verb = "fell" if direction is Direction.DOWN else "rose"
    old, new = quantity(series.metric, before.mean), quantity(series.metric, after.mean)
    since = f"in {len(after.samples)} values since {moment(after.samples[0].at)}" if after.samples else ""
    return f"{_name(series)}: {verb} from {old} to {new} {since}".rstrip()
