"""Alarms for the broker's tests, as the collector's detectors raise them."""

from __future__ import annotations

from dataclasses import replace

from measurement.anomaly.alarm import Alarm, Kind
from measurement.anomaly.model import Direction, Evidence, Sample, Severity
from measurement.model import Metric, Series

BEFORE, AFTER = Evidence(58e6, 1e6), Evidence(1e6, 1e5)


def alarm(
    at: float,
    name: str = "a-1",
    path: str = "al2s",
    metric: Metric | str = Metric.THROUGHPUT,
    *,
    since: float | None = None,
    bad: bool = True,
    critical: bool = True,
    kind: str = "plateau",
    ends: tuple[str, str] = ("mu", "osu"),
) -> Alarm:
    """An alarm that was raised at ``at``; by default a critical one on throughput from mu to osu.

    :param since: when the first sample that showed it was observed; without it there is no sample.
    """
    samples = () if since is None else (Sample(since, 1e6), Sample(at, 1e6))
    return Alarm(
        id=name,
        series=Series(path, *ends, str(metric)),
        kind=Kind(kind),
        direction=Direction.DOWN,
        bad=bad,
        severity=Severity.CRITICAL if critical else Severity.WARNING,
        raised_at=at,
        before=BEFORE,
        after=replace(AFTER, samples=samples),
        text="throughput fell from 58 to 1 Mbps",
    )


def over(raised: Alarm, at: float) -> Alarm:
    """The same alarm when it is cleared."""
    return replace(raised, cleared_at=at)
