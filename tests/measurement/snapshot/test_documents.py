"""Snapshots as JSON: what is written is read, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from measurement.document import dumps, loads
from measurement.health.model import Pair
from measurement.model import from_json, to_json
from measurement.snapshot.model import Bottleneck, Snapshot
from tests.measurement.snapshot.snapshots import snapshots
from tests.support.refusals import refused

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
    assert loads(Snapshot, dumps(snapshot)) == snapshot
    assert from_json(Snapshot, to_json(snapshot)) == snapshot


def test_only_the_rates_must_be_there() -> None:
    head = {"kind": "snapshot", "version": 1, "at": 0.0}
    data = {**head, "instances": ["a", "b"], "rates": [[0, 1], [None, 0]]}
    assert from_json(Snapshot, data) == Snapshot(0.0, ("a", "b"), {AB: 1.0})


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"kind": "profile"}, "kind"),
        ({"version": 2}, "version"),
        ({"rates": [[None, 1.0, 1.0], [1.0, None, 1.0]]}, "rates"),
        ({"rates": [[None] * 3, [None] * 2, [None] * 3]}, "rates"),
        ({"hops": [[None] * 3, [None] * 3, [None] * 4]}, "hops"),
        ({"rates": [[5.0, None, None], [None] * 3, [None] * 3]}, "rates"),
        ({"rates": [[None, "1", None], [None] * 3, [None] * 3]}, "rates.0.1"),
        ({"rates": [[None, -1, None], [None] * 3, [None] * 3]}, "rates.0.1"),
        ({"rates": None}, "rates"),
        ({"hops": [[None, 1.5, None], [None] * 3, [None] * 3]}, "hops.0.1"),
        ({"instances": ["a", "b", "b"]}, "instances"),
        ({"bottlenecks": [{"pairs": [["a", "b"]], "rate": 1.0}]}, "bottlenecks.0.pairs"),
        ({"bottlenecks": [{"pairs": [["a", "b"], ["a"]], "rate": 1.0}]}, "bottlenecks.0.pairs.1.1"),
        ({"bottlenecks": [{"pairs": [["a", "b"], ["a", "d"]], "rate": 1.0}]}, "bottlenecks"),
        ({"racks": [["a"], ["a"]]}, "racks"),
        ({"hosts": []}, "hosts"),
    ],
)
def test_what_is_wrong_is_named_with_its_field(changed: dict[str, Any], field: str) -> None:
    with refused(ValueError, field):
        from_json(Snapshot, {**to_json(WHOLE), **changed})


@pytest.mark.parametrize("field", ["kind", "version", "at", "instances", "rates"])
def test_what_every_snapshot_has_cannot_be_missing(field: str) -> None:
    data = to_json(WHOLE)
    del data[field]
    with refused(ValueError, field):
        from_json(Snapshot, data)


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"at": NaN}', '{"kind": 1'],
)
def test_what_is_no_document_is_refused(text: str) -> None:
    with refused(ValueError, "document"):
        loads(Snapshot, text)


def test_a_row_has_a_line() -> None:
    text = dumps(WHOLE)
    assert json.loads(text) == to_json(WHOLE)
    assert "    [null, 1000000000.0, null],\n" in text
