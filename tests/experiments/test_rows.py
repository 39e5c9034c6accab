from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.experiments import rows
from adon.experiments.rows import decisions, measurements, path_at, seconds
from adon.moments import time_text

T = 1_700_000_000.0


def decision(at: float, outcome: str, path: str | None, q: float | None = None) -> dict:
    candidates = [{"path": "al2s", "q": q}, {"path": "internet", "q": 0.1}]
    return {
        "flow": "f-1",
        "at": time_text(T + at),
        "outcome": outcome,
        "path": path,
        "compute_site": None,
        "candidates": candidates,
        "reason": f"{outcome} it",
    }


def test_only_what_changes_a_flow_s_lot_is_a_row():
    found = [
        decision(9, "admit", "al2s", 4.5),
        decision(1, "queue", None),
        decision(5, "queue", None),
        decision(12, "stay", "al2s", 4.4),
        decision(20, "move", "internet"),
    ]
    told = decisions(3, T, found, {"f-1": "soykb"})
    assert [(row.at, row.outcome, row.path, row.quality) for row in told] == [
        (1.0, "queue", None, None),
        (9.0, "admit", "al2s", 4.5),
        (20.0, "move", "internet", 0.1),
    ]
    assert {(row.trial, row.flow) for row in told} == {(3, "soykb")}


def result(path: str, started: float, took: float = 3.0) -> dict:
    return {
        "path": path,
        "source": "mu",
        "destination": "osu",
        "metric": "throughput",
        "value": 5e6,
        "started_at": time_text(T + started),
        "observed_at": time_text(T + started + took),
    }


def test_results_are_in_order_and_from_the_trial_s_beginning():
    told = measurements(1, T, [result("al2s", 20), result("internet", 2)])
    assert [(row.path, row.at) for row in told] == [("internet", 5.0), ("al2s", 23.0)]


@pytest.mark.parametrize(
    ("tests", "when"),
    [
        ([], None),
        ([("al2s", 11)], None),  # the other path was not tested
        ([("al2s", 11), ("internet", 9)], None),  # it was, but the test had begun before
        ([("al2s", 11), ("internet", 15)], 18),
        ([("al2s", 30), ("al2s", 11), ("internet", 15), ("internet", 40)], 18),  # the first of each counts
    ],
)
def test_a_flow_is_tested_when_every_path_was_by_a_test_that_began_after_it(tests, when):
    found = rows.tested(T + 10, ["al2s", "internet"], [result(path, at) for path, at in tests])
    assert found == (None if when is None else pytest.approx(T + when))


@given(st.lists(st.tuples(st.floats(0, 100), st.sampled_from("abc")), max_size=6), st.floats(0, 100))
def test_the_path_at_a_time_is_the_last_that_was_given_by_then(given_, at):
    paths = sorted(given_, key=lambda one: one[0])
    expected = None
    for since, path in paths:
        if since <= at:
            expected = path
    assert path_at(paths, at) == expected


def test_a_series_is_told_second_by_second():
    assert list(seconds(10.5, [7, 0, 3])) == [(10.5, 7), (11.5, 0), (12.5, 3)]
