"""Scores from values: table 2 of the thesis, the refusals, and what holds for every table."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from adon.templates_catalog.lookup import LookupTable, generate_table, read_table, write_table
from measurement.model import Metric
from tests.support.refusals import refused
from tests.templates_catalog.strategies import tables

METRICS = st.sampled_from(Metric)
ENDS = st.none() | st.floats(min_value=0, max_value=1)


def table(*points: tuple[float, float], step: bool = False) -> LookupTable:
    return LookupTable(points=points, step=step)


@pytest.mark.parametrize("gigabits", range(1, 11))
def test_table_2_is_generated_from_the_bound_and_the_ceiling(gigabits: int) -> None:
    generated = generate_table(Metric.THROUGHPUT, bound=1e9, best=10e9)
    assert generated.score(gigabits * 1e9) == pytest.approx(gigabits)
    assert generated.generated


LINE = table((10.0, 1.0), (20.0, 5.0), (40.0, 9.0))
STEPS = table((10.0, 1.0), (20.0, 5.0), (40.0, 9.0), step=True)
DELAY = table((0.01, 10.0), (0.05, 1.0))


@pytest.mark.parametrize(
    ("given_table", "value", "score"),
    [
        (LINE, 0.0, 1.0),
        (LINE, 10.0, 1.0),
        (LINE, 15.0, 3.0),
        (LINE, 20.0, 5.0),
        (LINE, 30.0, 7.0),
        (LINE, 40.0, 9.0),
        (LINE, 1e12, 9.0),
        (LINE, float("inf"), 9.0),
        (STEPS, 9.9, 1.0),
        (STEPS, 19.9, 1.0),
        (STEPS, 20.0, 5.0),
        (STEPS, 39.9, 5.0),
        (STEPS, 41.0, 9.0),
        (DELAY, 0.0, 10.0),
        (DELAY, 0.03, 5.5),
        (DELAY, 9.0, 1.0),
    ],
)
def test_scores(given_table: LookupTable, value: float, score: float) -> None:
    assert given_table.score(value) == pytest.approx(score)


def test_nan_has_no_score() -> None:
    with pytest.raises(ValueError, match="NaN"):
        LINE.score(float("nan"))


@pytest.mark.parametrize(
    ("points", "field"),
    [
        ([(1, 1)], "points"),
        ([], "points"),
        ([(1, 1), (1, 2)], "points.1"),
        ([(1, 1), (3, 2), (2, 3)], "points.2"),
        ([(1, 1), (2, float("nan"))], "points.1.1"),
        ([(1, 1), (float("inf"), 2)], "points.1.0"),
        ([(-1, 1), (2, 2)], "points.0.0"),
        ([(1, 1), (2, 1e300)], "points.1.1"),
    ],
)
def test_a_table_that_is_none_is_refused(points: list[tuple[float, float]], field: str) -> None:
    with refused(ValidationError, field):
        LookupTable.model_validate({"points": points})


@pytest.mark.parametrize(
    ("metric", "scores", "rows"),
    [
        (Metric.THROUGHPUT, (1, 2, 2, 3), []),
        (Metric.THROUGHPUT, (1, 3, 2, 4), ["points.2"]),
        (Metric.THROUGHPUT, (4, 3, 5, 1), ["points.1", "points.3"]),
        (Metric.LOSS, (4, 3, 3, 1), []),
        (Metric.JITTER, (4, 3, 5, 1), ["points.2"]),
    ],
)
def test_every_row_against_the_good_direction_is_named(
    metric: Metric, scores: tuple[float, ...], rows: list[str]
) -> None:
    checked = table(*((float(value), score) for value, score in enumerate(scores)))
    if not rows:
        checked.check_direction(metric)
        return
    with pytest.raises(ValueError, match="score") as caught:
        checked.check_direction(metric)
    assert [line.split(":")[0] for line in str(caught.value).splitlines()] == rows


@pytest.mark.parametrize(
    ("metric", "bound", "best", "points"),
    [
        (Metric.THROUGHPUT, 7e8, 1e10, ((7e8, 1.0), (1e10, 10.0))),
        (Metric.THROUGHPUT, 7e8, None, ((7e8, 1.0), (7e9, 10.0))),
        (Metric.THROUGHPUT, None, 1e10, ((1e9, 1.0), (1e10, 10.0))),
        (Metric.RTT, 0.1, 0.02, ((0.02, 10.0), (0.1, 1.0))),
        (Metric.RTT, 0.1, None, ((0.0, 10.0), (0.1, 1.0))),
        (Metric.RTT, None, 0.02, ((0.02, 10.0), (0.2, 1.0))),
        (Metric.LOSS, None, 0.5, ((0.5, 10.0), (1.0, 1.0))),
        (Metric.HEALTH, 0.4, None, ((0.4, 1.0), (1.0, 10.0))),
        (Metric.HEALTH, None, 0.8, ((0.08, 1.0), (0.8, 10.0))),
        (Metric.HEALTH, None, None, ((0.1, 1.0), (1.0, 10.0))),
    ],
)
def test_ends_of_generated_tables(
    metric: Metric, bound: float | None, best: float | None, points: tuple[tuple[float, float], ...]
) -> None:
    generated = generate_table(metric, bound, best)
    assert [value for value, _ in generated.points] == pytest.approx([value for value, _ in points])
    assert [score for _, score in generated.points] == [score for _, score in points]


@pytest.mark.parametrize(
    ("metric", "bound", "best", "good", "bad"),
    [
        (Metric.THROUGHPUT, 5e6, 5e6, 5e6, 4.99e6),
        (Metric.THROUGHPUT, 5e6, 1e6, 5e6, 4.99e6),
        (Metric.THROUGHPUT, 0.0, 0.0, 1.0, 0.0),
        (Metric.LOSS, 0.0, 0.0, 0.0, 1e-6),
        (Metric.LOSS, 0.0, None, 0.0, 1e-6),
        (Metric.LOSS, 1.0, 1.0, 0.99, 1.0),
        (Metric.RTT, 0.02, 0.05, 0.02, 0.0201),
        (Metric.RTT, None, None, 0.0, 1e-6),
    ],
)
def test_without_room_for_a_line_the_bound_divides_good_from_bad(
    metric: Metric, bound: float | None, best: float | None, good: float, bad: float
) -> None:
    generated = generate_table(metric, bound, best)
    assert (generated.score(good), generated.score(bad)) == (10.0, 1.0)


@given(metric=METRICS, bound=ENDS, best=ENDS)
def test_whatever_is_generated_is_a_proper_table(
    metric: Metric, bound: float | None, best: float | None
) -> None:
    generated = generate_table(metric, bound, best)
    generated.check_direction(metric)
    assert {score for _, score in generated.points} == {1.0, 10.0}
    written = json.loads(json.dumps(write_table(metric, generated)))
    assert LookupTable.model_validate(read_table(metric, written)) == generated


@given(data=st.data(), metric=METRICS)
def test_scores_are_monotonic_and_within_the_table(data: st.DataObject, metric: Metric) -> None:
    scored = data.draw(tables(metric))
    values = sorted(data.draw(st.lists(st.floats(min_value=0, allow_nan=False), min_size=2, max_size=8)))
    found = [scored.score(value) for value in values]
    scores = [score for _, score in scored.points]
    assert min(scores) <= min(found)
    assert max(found) <= max(scores)
    assert found == sorted(found, reverse=not metric.higher_is_better)
    assert [scored.score(value) for value, _ in scored.points] == scores


@given(data=st.data(), metric=METRICS)
def test_tables_are_written_with_units_and_read_back_equal(data: st.DataObject, metric: Metric) -> None:
    scored = data.draw(tables(metric))
    assert LookupTable.model_validate(read_table(metric, write_table(metric, scored))) == scored
    assert LookupTable.model_validate_json(scored.model_dump_json()) == scored
