"""Snapshots as JSON: what is written is read, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from measurement.health.model import Pair
from measurement.snapshot.documents import dumps, from_json, loads, to_json
from measurement.snapshot.model import Bottleneck, Snapshot
from tests.measurement.snapshot.snapshots import snapshots

AB, BA, CB = Pair("a", "b"), Pair("b", "a"), Pair("c", "b")
WHOLE = Snapshot(
    1.5e9,
    ("a", "b", "c"),
    {AB: 1e9, BA: 2e8},
    rtts={AB: 1e-3},
    hops={AB: 2},
    crossing={AB: 0.5},
    hoses={"a": 1e9},
    bottlenecks=(Bottleneck(frozenset({AB, CB}), 1e9),),
    racks=(frozenset({"a", "b"}),),
    how={AB: "train"},
    missing={CB: "c did not answer"},
)


@given(snapshots())
def test_what_is_written_is_read(snapshot: Snapshot) -> None:
    assert loads(dumps(snapshot)) == snapshot
    assert from_json(to_json(snapshot)) == snapshot


def test_only_the_rates_must_be_there() -> None:
    head = {"kind": "snapshot", "version": 1, "at": 0.0}
    data = {**head, "instances": ["a", "b"], "rates": [[0, 1], [None, 0]]}
    assert from_json(data) == Snapshot(0.0, ("a", "b"), {AB: 1.0})


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"kind": "profile"}, "kind: 'profile' is not 'snapshot'"),
        ({"version": 2}, "version: '2' is not 1"),
        ({"rates": [[None, 1.0, 1.0], [1.0, None, 1.0]]}, "rates: 2 rows for 3 names: .* square"),
        ({"rates": [[None] * 3, [None] * 2, [None] * 3]}, "rates: row of 'b': 2 values for 3 .* square"),
        ({"hops": [[None] * 3, [None] * 3, [None] * 4]}, "hops: row of 'c': 4 values for 3"),
        ({"rates": [[5.0, None, None], [None] * 3, [None] * 3]}, "rates: 'a' to itself"),
        ({"rates": [[None, "1", None], [None] * 3, [None] * 3]}, "rates.0.1: Input should be a valid number"),
        ({"rates": [[None, -1, None], [None] * 3, [None] * 3]}, "rates.0.1: .* greater than or equal to 0"),
        ({"rates": None}, "rates: Input should be a valid list"),
        ({"hops": [[None, 1.5, None], [None] * 3, [None] * 3]}, "hops.0.1: Input should be a valid integer"),
        ({"instances": ["a", "b", "b"]}, "instances: a name is there twice"),
        ({"bottlenecks": [{"pairs": [["a", "b"]], "rate": 1.0}]}, "bottlenecks.0.pairs: .* at least 2"),
        ({"bottlenecks": [{"pairs": [["a", "b"], ["a"]], "rate": 1.0}]}, "bottlenecks.0.pairs.1"),
        ({"bottlenecks": [{"pairs": [["a", "b"], ["a", "d"]], "rate": 1.0}]}, "bottlenecks: a > d: somebody"),
        ({"racks": [["a"], ["a"]]}, "racks: somebody is in two"),
        ({"hosts": []}, "hosts: Extra inputs are not permitted"),
    ],
)
def test_what_is_wrong_is_named_with_its_field(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        from_json({**to_json(WHOLE), **changed})


@pytest.mark.parametrize("field", ["kind", "version", "at", "instances", "rates"])
def test_what_every_snapshot_has_cannot_be_missing(field: str) -> None:
    data = to_json(WHOLE)
    del data[field]
    with pytest.raises(ValueError, match=field):
        from_json(data)


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "no JSON"), ("[]", "no JSON object"), ('{"at": NaN}', "no JSON"), ('{"kind": 1', "no JSON")],
)
def test_what_is_no_document_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        loads(text)


def test_a_row_has_a_line() -> None:
    text = dumps(WHOLE)
    assert json.loads(text) == to_json(WHOLE)
    assert "    [null, 1000000000.0, null],\n" in text
