"""The host as a metric: arithmetic on counters, and what this machine's own say."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.custom.host import (
    CpuTimes,
    DiskMetric,
    InterfaceMetric,
    SystemMetric,
    Traffic,
    rates,
    utilization,
)
from measurement.model import Observation
from tests.support.refusals import refused


@pytest.mark.parametrize(
    ("before", "after", "busy"),
    [
        (CpuTimes(100, 80), CpuTimes(200, 105), 0.75),
        (CpuTimes(100, 80), CpuTimes(200, 180), 0.0),
        (CpuTimes(100, 80), CpuTimes(200, 80), 1.0),
        (CpuTimes(100, 80), CpuTimes(100, 80), None),
        (CpuTimes(200, 80), CpuTimes(100, 80), None),
        (CpuTimes(100, 80), CpuTimes(110, 95), 0.0),  # idle and total are not read at one instant
    ],
)
def test_utilization(before: CpuTimes, after: CpuTimes, busy: float | None) -> None:
    assert utilization(before, after) == busy


COUNTS = st.floats(0, 1e9)


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_utilization_is_a_ratio(a: float, b: float, c: float, d: float) -> None:
    busy = utilization(CpuTimes(a, b), CpuTimes(c, d))
    assert busy is None or 0 <= busy <= 1


@pytest.mark.parametrize(
    ("before", "after", "seconds", "expected"),
    [
        ((0, 0, 0), (1000, 500, 10), 2.0, {"received_rate": 4000, "sent_rate": 2000, "loss_rate": 5}),
        ((10, 10, 10), (10, 10, 10), 5.0, {"received_rate": 0, "sent_rate": 0, "loss_rate": 0}),
        ((1000, 0, 0), (10, 500, 0), 2.0, {}),  # it was taken away and came back
        ((0, 0, 0), (10, 10, 10), 0.0, {}),
        ((0, 0, 0), (10, 10, 10), -3.0, {}),
    ],
)
def test_rates(
    before: tuple[int, int, int], after: tuple[int, int, int], seconds: float, expected: dict[str, float]
) -> None:
    assert rates(Traffic(*before), Traffic(*after), seconds) == expected


def by_name(values: list[Observation]) -> dict[str, float]:
    return {value.metric: value.value for value in values}


def test_this_machine() -> None:
    metric = SystemMetric("h")
    found = by_name(metric.sample(10.0))
    assert found["host.memory_total"] >= found["host.memory_available"] > 0
    assert found["host.load_1m"] >= 0
    assert 0 <= found.get("host.cpu_utilization", 0.0) <= 1


def test_a_disk(tmp_path: Path) -> None:
    values = DiskMetric("h", str(tmp_path)).sample(10.0)
    assert {value.key for value in values} == {("", "h", str(tmp_path))}
    found = by_name(values)
    assert found["host.disk_total"] == shutil.disk_usage(tmp_path).total
    assert 0 <= found["host.disk_utilization"] <= 1


def test_a_file_system_without_blocks_has_no_utilization() -> None:
    assert by_name(DiskMetric("h", "/proc").sample(10.0)) == {"host.disk_total": 0.0, "host.disk_free": 0.0}


def test_a_disk_that_is_not_there(tmp_path: Path) -> None:
    with refused("unreadable"):
        DiskMetric("h", str(tmp_path / "gone")).sample(10.0)


def test_interfaces() -> None:
    metric = InterfaceMetric("h", ("lo",))
    assert metric.sample(10.0) == []
    values = metric.sample(12.0)
    assert {value.key for value in values} == {("", "h", "lo")}
    assert set(by_name(values)) == {
        "host.interface_received_rate",
        "host.interface_sent_rate",
        "host.interface_loss_rate",
    }


def test_an_interface_that_is_not_there() -> None:
    with refused("unknown-name"):
        InterfaceMetric("h", ("lo", "eth77")).sample(10.0)


def test_loopback_is_not_counted_unless_named() -> None:
    metric = InterfaceMetric("h")
    metric.sample(10.0)
    assert all(value.key.destination != "lo" for value in metric.sample(12.0))
