from __future__ import annotations

from dataclasses import replace

import pytest

from adon.simulation.engine import Record
from adon.simulation.measures import Measures, completion, measured, percentile
from tests.simulation.small import transfer, workload

PLAIN = Measures(mean=10.0, p95=20.0, deadlines=0.5, violations=0.1, unserved=0, moves=0)


def record(number: int, ended: float | None, **fields: float) -> Record:
    found = Record(transfer(number, at=5.0, deadline=30.0), ended)
    for name, value in fields.items():
        setattr(found, name, value)
    return found


def test_waiting_counts_and_so_does_never() -> None:
    assert completion(record(1, 12.0), 100) == 7.0
    assert completion(record(1, None), 100) == 195.0


def test_the_four_measures_of_a_run() -> None:
    records = [
        record(1, 10.0, running=4.0, violated=1.0),
        record(2, 40.0, running=20.0, violated=0.0),
        record(3, None),
    ]
    found = measured(workload(*(one.transfer for one in records), end=100), records)
    assert found.mean == pytest.approx((5 + 35 + 195) / 3)
    assert found.p95 == pytest.approx(195 - 0.1 * 160)
    assert found.deadlines == pytest.approx(1 / 3)
    assert found.violations == pytest.approx(0.125)
    assert found.unserved == 1


def test_without_deadlines_there_is_no_share() -> None:
    one = Record(transfer(1), 3.0)
    assert measured(workload(one.transfer), [one]).deadlines is None


@pytest.mark.parametrize(("share", "value"), [(0, 1), (0.5, 2.5), (0.95, 3.85), (1, 4)])
def test_percentiles(share: float, value: float) -> None:
    assert percentile([1, 2, 3, 4], share) == pytest.approx(value)


@pytest.mark.parametrize(
    ("change", "dominates"),
    [
        ({"mean": 9.0}, True),
        ({"deadlines": 0.6}, True),
        ({"violations": 0.0}, True),
        ({}, False),
        ({"mean": 9.0, "p95": 20.5}, False),
        ({"mean": 9.0, "deadlines": 0.4}, False),
        ({"mean": 10.0 - 1e-12}, False),
    ],
)
def test_who_is_as_good_on_all_and_better_on_one(change: dict[str, float], dominates: bool) -> None:
    assert replace(PLAIN, **change).dominates(PLAIN) is dominates  # type: ignore[arg-type]
