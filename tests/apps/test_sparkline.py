from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from apps.rest.page.sparkline import COLUMNS, HEIGHT, WIDTH, columns, sparkline
from measurement.archive import Bucket


def points(path):
    return [tuple(map(float, pair)) for pair in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path)]


def test_a_picture_shows_least_mean_and_most():
    found = sparkline([Bucket(0, 60, 3, 1, 2, 3), Bucket(900, 60, 1, 4, 4, 4)], 0, 86_400, [450, -1, 86_400])
    assert (found.minimum, found.mean, found.maximum) == (1, 2.5, 4)
    (left, low), (right, high) = points(found.line)
    assert (left < right, low > high) == (True, True)  # up is less in SVG
    assert found.marks == (1.2,)


def test_nothing_is_drawn_where_nothing_was_measured():
    assert sparkline([], 0, 86_400) is None
    slots = [0, 1, 2, 3, 40, 41, 42]
    found = sparkline([Bucket.single(slot * 900, 1.0) for slot in slots], 0, 86_400)
    assert found.line.count("M") == 2
    # Values that come rarely are joined: their usual distance is no gap.
    rare = sparkline([Bucket.single(slot * 900, 1.0) for slot in range(0, 96, 8)], 0, 86_400)
    assert rare.line.count("M") == 1


def test_a_steady_series_is_a_steady_line():
    values = [Bucket.single(at * 900, 100.0 + at % 2 * 0.01) for at in range(96)]
    heights = [y for _, y in points(sparkline(values, 0, 86_400).line)]
    assert max(heights) - min(heights) < 1
    zero = sparkline([Bucket.single(0, 0.0)], 0, 86_400)
    assert points(zero.line)[0][1] == HEIGHT / 2


numbers = st.floats(-1e12, 1e12, allow_nan=False)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 86_399), numbers), min_size=1, max_size=200))
def test_a_picture_stays_in_its_box(values):
    found = sparkline([Bucket.single(at, value) for at, value in sorted(values)], 0, 86_400)
    for x, y in points(found.line + found.band):
        assert 0 <= x <= WIDTH
        assert 0 <= y <= HEIGHT
    assert found.minimum == min(value for _, value in values)
    assert found.minimum <= found.mean + 1e-3
    assert found.mean <= found.maximum + 1e-3
    slices = columns([Bucket.single(at, value) for at, value in values], 0, 86_400)
    assert sum(one.count for one in slices) == len(values)
    assert all(0 <= one.number < COLUMNS for one in slices)
