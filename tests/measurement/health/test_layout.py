"""Layouts: distances of a plane are found again, and the same seed gives the same picture."""

from __future__ import annotations

import math
import random

import pytest

from measurement.health.layout import LONGEST, SHORTEST, layout, lengths
from measurement.health.model import Pair
from measurement.health.scoring import Score

Places = dict[str, tuple[float, float]]


def health_of(places: Places) -> dict[Pair, Score]:
    """Scores whose edges are the distances between these places."""
    return {
        Pair(one, other): Score((LONGEST - math.dist(here, there)) / (LONGEST - SHORTEST))
        for one, here in places.items()
        for other, there in places.items()
        if one != other
    }


@pytest.mark.parametrize("seed", range(5))
def test_places_in_a_plane_are_found_again_but_for_turning(seed: int) -> None:
    chance = random.Random(seed)
    places = {f"i{number}": (chance.uniform(0, 0.6), chance.uniform(0, 0.6)) for number in range(8)}
    found = layout(list(places), health_of(places))
    assert found.stress < 0.01
    for one in places:
        for other in places:
            apart = math.dist(found.places[one], found.places[other])
            assert apart == pytest.approx(math.dist(places[one], places[other]), abs=0.02)


def test_an_edge_is_the_longer_the_less_healthy() -> None:
    health = {Pair("a", "b"): Score(1.0), Pair("b", "a"): Score(0.5), Pair("a", "c"): Score(0.0)}
    assert lengths("abc", health) == {
        ("a", "b"): pytest.approx(LONGEST - 0.75 * (LONGEST - SHORTEST)),
        ("a", "c"): LONGEST,
    }


def test_a_star_keeps_all_its_edges() -> None:
    health = {Pair("s", f"i{number}"): Score(number / 10) for number in range(10)}
    found = layout(["s", *(f"i{number}" for number in range(10))], health)
    assert found.stress < 0.02
    far = [math.dist(found.places["s"], found.places[f"i{number}"]) for number in range(10)]
    assert far == sorted(far, reverse=True)


def test_the_same_seed_gives_the_same_picture() -> None:
    chance = random.Random(3)
    names = [f"i{number}" for number in range(12)]
    health = {Pair(one, other): Score(chance.random()) for one in names for other in names if one != other}
    assert layout(names, health, 5) == layout(names, health, 5)
    x, y = zip(*layout(names, health, 5).places.values(), strict=True)
    assert (sum(x), sum(y)) == (pytest.approx(0, abs=1e-9), pytest.approx(0, abs=1e-9))


@pytest.mark.parametrize("names", ["", "a", "ab"])
def test_nothing_known_is_a_picture_too(names: str) -> None:
    found = layout(names, {})
    assert set(found.places) == set(names)
    assert all(math.isfinite(value) for place in found.places.values() for value in place)
