"""Placements as JSON, there and back, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.errors import InvalidInput
from adon.placement.documents import Placed, placement_from_json, placement_to_json
from adon.placement.methods import Method
from adon.placement.model import Kind, Limit, Placement
from measurement.health.model import Pair

LIMIT = Limit(Kind.HOSE, (Pair("a", "b"),), 1e9, 0.0, 640e6)
PLACED = Placed("sort", 5.0, Placement({"t1": "a", "t2": "b"}, 12.5, LIMIT, Method.EXACT, True, 12.5))

amounts = st.floats(0, 1e15)
names = st.text("abc", min_size=1, max_size=3)


@st.composite
def placed(draw: st.DrawFn) -> Placed:
    machines = draw(st.dictionaries(names, names, min_size=1))
    seconds = draw(amounts)
    pairs = draw(st.lists(st.builds(Pair, names, names), min_size=1))
    limit = Limit(draw(st.sampled_from(Kind)), tuple(pairs), draw(amounts), draw(amounts), 1e6)
    bound = draw(st.floats(0, seconds))
    placement = Placement(machines, seconds, limit, draw(st.sampled_from(Method)), draw(st.booleans()), bound)
    return Placed(draw(names), draw(amounts), placement)


@given(placed())
def test_there_and_back(one: Placed) -> None:
    assert placement_from_json(json.loads(json.dumps(placement_to_json(one)))) == one


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"version": 2}, "version"),
        ({"machines": {}}, "machines"),
        ({"machines": {"t1": 3}}, "machines.t1"),
        ({"method": "guess"}, "method"),
        ({"completion_time_s": -1.0}, "completion_time_s"),
        ({"completion_time_s": float("nan")}, "completion_time_s"),
        ({"lower_bound_s": 13.0}, "lower_bound_s"),
        ({"limit": None}, "limit"),
        ({"limit": {"kind": "path"}}, "limit.pairs"),
        ({"proven": None}, "proven"),
    ],
)
def test_refused_with_the_field(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        placement_from_json({**placement_to_json(PLACED), **change})
    assert field in {problem.field for problem in refused.value.problems}


def test_what_is_missing_is_named() -> None:
    body = placement_to_json(PLACED)
    del body["machines"]
    with pytest.raises(InvalidInput, match="machines"):
        placement_from_json(body)
