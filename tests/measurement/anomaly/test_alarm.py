"""Alarms as values, their JSON, and their wording."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from measurement.anomaly.alarm import Alarm, Kind, acknowledge, alarm_id
from measurement.anomaly.alarm_text import moment, quantity
from measurement.anomaly.model import Direction, Evidence, Sample, Severity
from measurement.model import Series, from_json, to_json
from tests.support.refusals import refused

SERIES = Series("al2s", "mu", "osu", "throughput")
ALARM = Alarm(
    id=alarm_id(SERIES, Kind.PLATEAU, 10.5),
    series=SERIES,
    kind=Kind.PLATEAU,
    direction=Direction.DOWN,
    bad=True,
    severity=Severity.CRITICAL,
    raised_at=10.5,
    before=Evidence(58e6, 0.1 + 0.2, (Sample(1.1, 58e6),)),
    after=Evidence(6.5e6, 0.0, (Sample(10.5, 6.5e6),)),
    text="al2s:mu>osu/throughput: fell",
)
ABSENT = replace(ALARM, kind=Kind.ABSENCE, direction=None, after=None)
OPTIONAL = ("cleared_at", "acknowledged_by", "acknowledged_at")
CLEARED = replace(ALARM, cleared_at=20.25, acknowledged_by="op", acknowledged_at=15.0)


@pytest.mark.parametrize("alarm", [ALARM, ABSENT, CLEARED], ids=["open", "absence", "cleared"])
def test_json_is_exact(alarm: Alarm) -> None:
    assert from_json(Alarm, json.loads(json.dumps(to_json(alarm)))) == alarm


@pytest.mark.parametrize("missing", [name for name in to_json(ALARM) if name not in OPTIONAL])
def test_a_missing_field_is_named(missing: str) -> None:
    data = {name: value for name, value in to_json(ALARM).items() if name != missing}
    with pytest.raises(ValueError, match=missing):
        from_json(Alarm, data)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "odd"),
        ("direction", "left"),
        ("severity", 3),
        ("raised_at", "x"),
        ("before", 5),
        ("series", None),
    ],
)
def test_a_wrong_field_is_refused(field: str, value: Any) -> None:
    with refused(ValueError):
        from_json(Alarm, {**to_json(ALARM), field: value})


def test_the_id_is_the_same_for_the_same_event_only() -> None:
    assert ALARM.id == alarm_id(SERIES, Kind.PLATEAU, 10.5)
    others = {
        alarm_id(SERIES, Kind.ABSENCE, 10.5),
        alarm_id(SERIES, Kind.PLATEAU, 10.6),
        alarm_id(SERIES._replace(path="internet"), Kind.PLATEAU, 10.5),
        ALARM.id,
    }
    assert len(others) == 4


def test_the_first_acknowledgement_stays() -> None:
    once = acknowledge(ALARM, "ann", 11.0)
    assert (once.acknowledged_by, once.acknowledged_at, once.open) == ("ann", 11.0, True)
    assert acknowledge(once, "bob", 12.0) == once
    with refused(ValueError, "acknowledged_by"):
        acknowledge(ALARM, " ", 11.0)


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ("throughput", 58.21e6, "58.21 Mbps"),
        ("throughput", 5.5e9, "5.5 Gbps"),
        ("throughput", 0.0, "0 bps"),
        ("rtt", 0.009, "9 ms"),
        ("loss", 0.02, "2 %"),
        ("host.load", 1.5, "1.5"),
    ],
)
def test_quantities(metric: str, value: float, text: str) -> None:
    assert quantity(metric, value) == text


def test_times() -> None:
    assert moment(0.0) == "1970-01-01T00:00:00Z"
    assert moment(1e300) == "1e+300 s"
