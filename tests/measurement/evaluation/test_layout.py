"""Drawings: exact where a plane allows it, as good as a search by force where it does not."""

from __future__ import annotations

import math
import random
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurement.evaluation.layout import drawn
from measurement.evaluation.results import Path

POINTS = st.lists(st.tuples(st.floats(-50, 50), st.floats(-50, 50)), min_size=3, max_size=7)


@given(POINTS)
@settings(max_examples=40)
def test_what_lies_in_a_plane_is_drawn_as_it_lies(points: list[tuple[float, float]]) -> None:
    names = [f"p{number}" for number in range(len(points))]
    pairs = {
        Path(a, b): math.dist(p, q) for (a, p), (b, q) in combinations(zip(names, points, strict=True), 2)
    }
    if min(pairs.values()) < 1:
        return
    found = drawn(names, pairs)
    assert found.stress < 0.02
    for path, its in pairs.items():
        assert found.apart(path) == pytest.approx(its, rel=0.2)


def test_four_places_all_equally_far_cannot_be_drawn_and_that_is_said() -> None:
    """A square of side s and diagonal s·√2 is the best: the least of 4(s-1)² + 2(√2·s-1)² is at
    s = (4 + 2√2)/8 = 0.854, and leaves sqrt(0.1716 / 6) = 0.169.
    """
    found = drawn("abcd", {Path(a, b): 1.0 for a, b in combinations("abcd", 2)})
    assert found.stress == pytest.approx(0.169, abs=0.002)
    random_one = random.Random(1)
    for _ in range(2000):
        points = [(random_one.random() * 1.5, random_one.random() * 1.5) for _ in range(4)]
        stress = math.sqrt(sum((math.dist(p, q) - 1) ** 2 for p, q in combinations(points, 2)) / 6)
        assert stress >= found.stress - 1e-6


@given(POINTS, st.floats(0.01, 100))
@settings(max_examples=20)
def test_the_unit_does_not_matter(points: list[tuple[float, float]], by: float) -> None:
    names = [f"p{number}" for number in range(len(points))]
    pairs = {
        Path(a, b): 1 + math.dist(p, q) for (a, p), (b, q) in combinations(zip(names, points, strict=True), 2)
    }
    one, other = drawn(names, pairs), drawn(names, {path: by * its for path, its in pairs.items()})
    assert other.stress == pytest.approx(one.stress, abs=1e-3)


def test_the_same_distances_are_the_same_drawing() -> None:
    pairs = {Path("a", "b"): 1.0, Path("b", "c"): 206.5, Path("a", "c"): 3.0}
    assert drawn("abc", pairs) == drawn("abc", pairs)


def test_of_unknown_and_infinite_distances_nothing_is_wanted() -> None:
    found = drawn("abc", {Path("a", "b"): 2.0, Path("b", "c"): math.inf, Path("a", "a"): 1.0})
    assert found.stress < 1e-6
    assert found.apart(Path("a", "b")) == pytest.approx(2.0)
    assert all(math.isfinite(one) for point in found.places.values() for one in point)
    assert drawn("ab", {}).stress == 0
    assert {*drawn("ab", {}).places} == {"a", "b"}


def test_two_parts_that_do_not_know_each_other() -> None:
    found = drawn("abcd", {Path("a", "b"): 1.0, Path("c", "d"): 5.0})
    assert found.apart(Path("c", "d")) == pytest.approx(5.0)
    assert found.stress < 1e-6


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan")])
def test_a_distance_that_is_none_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="wanted: a - b"):
        drawn("ab", {Path("a", "b"): wrong})
