"""What is said of trials; the trials themselves need namespaces."""

from __future__ import annotations

import pytest

from benchmarks.crossing_snapshot import report
from benchmarks.crossing_snapshot_inside import Trial, errors, on_average


@pytest.mark.parametrize(("start", "end", "expected"), [(0, 2, 1.5), (0, 4, 1.0), (3.5, 4, 0.0), (1, 2, 2.0)])
def test_senders_that_are_on_are_counted_by_time(start: float, end: float, expected: float) -> None:
    assert on_average({1: [(0, 3)], 2: [(1, 2), (9, 10)]}, start, end) == pytest.approx(expected, abs=0.01)


def test_errors_are_of_what_was_told() -> None:
    trials = [
        Trial(3.0, 2.0, 5.0, 1.5, 2.5),
        Trial(1.0, 1.0, None, None, 2.0),
        Trial(2.0, 2.0, 1.0, 0.9, None),
    ]
    found = errors(trials)
    assert (found["truth"], found["unknown"]) == (2.0, 1)
    assert found["c"] == {"mean": 1.5, "median": 1.5}
    assert found["c_if_link_known"] == {"mean": 0.75, "median": 0.75}
    assert found["link"] == pytest.approx({"mean": 0.3, "median": 0.3})
    setting = {"what": "steady", "bulk_s": 4.0, "trials": trials, "emulation": "emulated", **found}
    assert "| steady  | 4 s        | 3      | 2.0      | 1          | 1.5 (1.5) |" in report(
        {"settings": [setting]}
    )


def test_where_nothing_was_told_nothing_is_said() -> None:
    found = errors([Trial(1.0, 1.0, None, None, None)])
    assert (found["c"], found["link"], found["unknown"]) == (None, None, 1)
