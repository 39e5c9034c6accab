from __future__ import annotations

import pytest

from mininet_topos.demo import plan
from tests.mininet_topos.records import TASKS, execution, schedule

LIGHT, LOADING, OTHER = "al2s:mu>osu/rtt", "al2s:mu>osu/throughput", "internet:mu>osu/throughput"


class Api:
    """Answers what was executed, the newest first, as the real one does."""

    def __init__(self, *runs):
        self.runs = runs

    def schedule(self):
        return schedule()

    def schedule_page(self):
        return "<p>a round</p>"

    def executions(self, since, limit):
        assert since == "2026-01-01T00:00:00Z"
        return sorted(self.runs, key=lambda run: run["planned_start"], reverse=True)


def read(*runs):
    return plan.read(Api(*runs), TASKS, "2026-01-01T00:00:00Z")


def test_runs_that_follow_one_another_are_fine_and_come_in_their_order():
    found = read(
        execution(LOADING, 5, 9, planned=5), execution(LIGHT, 0, 2), execution(OTHER, 12, 16, planned=12)
    )
    assert [run["task"] for run in found.executions] == [LIGHT, LOADING, OTHER]
    assert found.overlaps == []
    assert (found.schedule, found.page) == (schedule(), "<p>a round</p>")
    assert plan.checked("p", found) == (
        "measurements (p): no two conflicting tests overlapped",
        True,
        "3 of 3 planned runs were carried out; none overlapped",
    )


@pytest.mark.parametrize(
    ("runs", "overlaps"),
    [
        ([execution(LIGHT, 0, 6), execution(LOADING, 5, 9)], [f"{LIGHT} and {LOADING} for 1.0 s"]),
        ([execution(LOADING, 5, 13), execution(OTHER, 12, 16)], [f"{LOADING} and {OTHER} for 1.0 s"]),
        # two light tests may run at once
        ([execution(LIGHT, 0, 4), execution("internet:mu>osu/rtt", 0, 4)], []),
        # one that never started meets nobody
        ([execution(LIGHT, None, None), execution(LOADING, 0, 4)], []),
        # a run on demand conflicts as its like does
        (
            [execution(f"{LIGHT}/on demand 3", 6, 8), execution(LOADING, 5, 9)],
            [f"{LOADING} and {LIGHT}/on demand 3 for 2.0 s"],
        ),
    ],
)
def test_only_conflicting_tests_at_the_same_time_are_overlaps(runs, overlaps):
    found = read(*runs)
    assert found.overlaps == overlaps
    assert plan.checked("p", found)[1] is (overlaps == [])


@pytest.mark.parametrize("runs", [[], [execution(LIGHT, None, None, outcome="its time had passed")]])
def test_a_plan_of_which_nothing_was_carried_out_was_not_kept(runs):
    _text, held, found = plan.checked("p", read(*runs))
    assert not held
    assert found.startswith(f"0 of {len(runs)} planned runs")
