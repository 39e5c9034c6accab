"""Text of the event that led to a decision."""

from __future__ import annotations

import pytest

from adon.broker.cause import cause_text
from adon.broker.events import Event, FlowCancelled, MeasurementArrived, SnapshotAsked, SwitchDown
from measurement.model import Measurement, Metric, PathKey

RTT = Measurement(PathKey("al2s", "mu", "osu"), Metric.RTT, 0.03, 0.0, 1.0, "test")


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (MeasurementArrived("e-1", 1.0, RTT), "rtt of al2s measured from mu to osu"),
        (FlowCancelled("e-1", 1.0, "c-1", 7, "rival"), "cancellation of f-7"),
        (SwitchDown("e-1", 1.0, 0xA01), "loss of switch 0000000000000a01"),
        (SnapshotAsked("e-1", 1.0, "c-1"), ""),
    ],
)
def test_cause_names_the_event(event: Event, text: str) -> None:
    assert cause_text(event) == text
