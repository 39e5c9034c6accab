from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.model import from_json, to_json
from measurement.scheduling import Agreement, Execution, Task, conflicts, excesses, overlaps
from tests.measurement.scheduling.sets import task, tasks
from tests.support.refusals import refused

LOAD, BACK = task("load", 60, 10), task("back", 60, 10, points="bc")
PING, OWD = task("ping", 30, 2, loads=False), task("owd", 30, 2, loads=False)
KNOWN = [LOAD, BACK, PING, OWD]


def ran(name: str, started: float | None, ended: float | None, number: int = 0) -> Execution:
    return Execution(name, number, 0.0, started, ended, "done")


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        (ran("load", 0, 10), ran("back", 9, 19), 1),
        (ran("load", 0, 10), ran("back", 2, 5), 3),
        (ran("load", 0, 10), ran("back", 10, 20), 0),  # to begin as another ends is no overlap
        (ran("load", 0, 10), ran("ping", 5, 6), 1),
        (ran("ping", 0, 10), ran("owd", 5, 6), 0),  # light ones do not conflict
        (ran("load", 0, 10), ran("load", 9.5, 19, 1), 0.5),  # nor may a load meet itself
        (ran("ping", 0, 10), ran("ping", 5, 15, 1), 0),
        (ran("load", 0, None), ran("back", 9, 19), 1),  # never ended: reckoned with its planned 10 s
        (ran("load", 0, -5), ran("back", 9, 19), 1),  # the clock stepped back: likewise
        (ran("load", None, None), ran("back", 0, 10), 0),  # never started
    ],
)
def test_conflicting_runs_that_overlapped(first: Execution, second: Execution, together: float) -> None:
    first, second = replace(first, planned_start=1.0), replace(second, planned_start=2.0)
    for order in ([first, second], [second, first]):
        found = overlaps(order, KNOWN)
        assert [(o.first, o.second, o.seconds) for o in found] == (
            [(first, second, together)] if together else []
        )


@given(tasks(4), st.data())
def test_each_overlapping_pair_is_found_once(known: list[Task], data: st.DataObject) -> None:
    times = st.integers(0, 30)
    runs = []
    for number in range(data.draw(st.integers(0, 12))):
        start = data.draw(times)
        chosen = data.draw(st.sampled_from(known)).id
        runs.append(Execution(chosen, number, number, start, start + data.draw(times), "done"))
    by_id = {each.id: each for each in known}
    expected = {
        frozenset((a.id, b.id))
        for a, b in combinations(runs, 2)
        if conflicts(by_id[a.task], by_id[b.task]) and max(a.started, b.started) < min(a.ended, b.ended)  # type: ignore[type-var]
    }
    found = overlaps(runs, known)
    assert {frozenset((o.first.id, o.second.id)) for o in found} == expected
    assert len(found) == len(expected)


def test_more_load_than_allowed_is_reported_with_who_and_when() -> None:
    known = [task(name, 60, 10, points=name, load={"core": 4e8}) for name in "abc"]
    runs = [ran("a", 0, 10), ran("b", 5, 15), ran("c", 8, 18)]
    (excess,) = excesses(runs, known, Agreement({"core": 1e9}))
    assert (excess.where, excess.at, excess.offered, excess.tasks) == ("core", 8, 1.2e9, ("a", "b", "c"))
    assert excesses(runs[:2], known, Agreement({"core": 8e8})) == []
    assert excesses(runs, known, Agreement()) == []


def test_a_run_of_an_unknown_test_is_named() -> None:
    with refused(ValueError):
        overlaps([ran("gone", 0, 1)], KNOWN)


@given(
    st.builds(
        Execution,
        st.text(),
        st.integers(0),
        st.floats(allow_nan=False),
        st.none() | st.floats(allow_nan=False),
        st.none() | st.floats(allow_nan=False),
        st.text(),
    )
)
def test_json_there_and_back(run: Execution) -> None:
    assert from_json(Execution, to_json(run)) == run


@pytest.mark.parametrize("change", [{"task": None}, {"started": "soon"}, {"number": []}])
def test_json_that_is_no_execution_is_refused(change: dict[str, object]) -> None:
    document = to_json(ran("a", 0, 1)) | change
    if "task" in change:
        del document["task"]
    with refused(ValueError):
        from_json(Execution, document)


def test_two_epochs_do_not_confuse_runs() -> None:
    assert Execution("a", 0, 1e9, None, None, "").id != Execution("a", 0, 1e9 + 60, None, None, "").id
    assert math.isfinite(float(Execution("a", 0, 1e9, None, None, "").id.split("@")[1]))
