"""What a snapshot refuses, and when it is whole."""

from __future__ import annotations

from typing import Any

import pytest

from measurement.health.model import Pair
from measurement.snapshot.model import Bottleneck, Snapshot

AB, BA, AC = Pair("a", "b"), Pair("b", "a"), Pair("a", "c")


def snapshot(**fields: Any) -> Snapshot:
    return Snapshot(**{"at": 0.0, "instances": ("a", "b"), "rates": {AB: 1e9}, **fields})


@pytest.mark.parametrize("field", ["rates", "rtts", "hops", "crossing"])
@pytest.mark.parametrize(
    ("pair", "value", "why"),
    [
        (AC, 1.0, "a > c: somebody is not among the instances"),
        (Pair("a", "a"), 1.0, "a > a: is no path"),
        (AB, -1.0, "a > b: -1.0 is not a finite number"),
        (AB, float("nan"), "a > b: nan is not a finite number"),
        (AB, float("inf"), "a > b: inf is not a finite number"),
    ],
)
def test_a_value_that_is_none_is_named_with_its_field_and_pair(
    field: str, pair: Pair, value: float, why: str
) -> None:
    with pytest.raises(ValueError, match=f"{field}: {why}"):
        snapshot(**{field: {pair: value}})


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"instances": ("a", "b", "a")}, "instances: a name is there twice"),
        ({"hoses": {"c": 1.0}}, "hoses: c: somebody is not"),
        ({"hoses": {"a": -1.0}}, "hoses: a: -1.0 is not a finite"),
        ({"bottlenecks": (Bottleneck(frozenset({AB, AC}), 1.0),)}, "bottlenecks: a > c: somebody"),
        ({"bottlenecks": (Bottleneck(frozenset({AB, BA}), -1.0),)}, "bottlenecks: .*-1.0 is not a finite"),
        ({"bottlenecks": (Bottleneck(frozenset({AB}), 1.0),)}, "bottlenecks: one path alone"),
        ({"racks": (frozenset({"a", "c"}),)}, "racks: c: not among"),
        ({"racks": (frozenset({"a", "b"}), frozenset({"b"}))}, "racks: somebody is in two"),
        ({"how": {AC: "train"}}, "how: a > c: is no path"),
        ({"missing": {AB: "gone"}}, "missing: a > b: its rate is there"),
        ({"missing": {AC: "gone"}}, "missing: a > c: is no path"),
    ],
)
def test_what_cannot_be_is_refused(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        snapshot(**fields)


def test_it_is_whole_when_no_pair_is_missing() -> None:
    assert not snapshot(missing={BA: "b is gone"}).whole
    assert snapshot(rates={AB: 1e9, BA: 0.0}).whole
