"""Alarms, subscriptions and deliveries for these tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from measurement.anomaly.alarm import Alarm, Kind
from measurement.anomaly.model import Direction, Evidence, Sample, Severity
from measurement.model import Series
from measurement.notify.outbox import Delivery
from measurement.notify.subscription import Channel, Filter, Subscription


def alarm(name: str = "a-1", at: float = 1000.0, **changes: Any) -> Alarm:
    """A critical alarm: throughput from mu to osu over al2s is down."""
    plain = Alarm(
        id=name,
        series=Series("al2s", "mu", "osu", "throughput"),
        kind=Kind.PLATEAU,
        direction=Direction.DOWN,
        bad=True,
        severity=Severity.CRITICAL,
        raised_at=at,
        before=Evidence(58e6, 1e6),
        after=Evidence(1e6, 1e5, (Sample(at - 60, 1e6), Sample(at, 1.1e6))),
        text="throughput of al2s:mu>osu fell from 58 Mbit/s to 1 Mbit/s",
    )
    return replace(plain, **changes)


def warning(name: str = "a-1", at: float = 1000.0) -> Alarm:
    return alarm(name, at, severity=Severity.WARNING)


def over(raised: Alarm, at: float = 2000.0) -> Alarm:
    return replace(raised, cleared_at=at)


def subscription(name: str = "s-1", **fields: Any) -> Subscription:
    fields = {
        "owner": "ann",
        "channel": Channel.MAIL,
        "target": "ann@mu.example",
        "filter": Filter(),
        **fields,
    }
    return Subscription(name, **fields)


def delivery(*alarms: Alarm, to: Subscription | None = None, omitted: int = 0) -> Delivery:
    return Delivery("d-1", subscription() if to is None else to, alarms or (alarm(),), omitted)
