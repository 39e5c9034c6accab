"""Rounds as JSON: what is written is read, and what is none is refused by field."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from measurement.health import documents
from measurement.health.model import Pair
from measurement.health.record import Failure, ProbeKind, RoundRecord
from measurement.health.scoring import scores
from tests.measurement.health.rounds import found, instances, records

A_B, B_A = Pair("a", "b"), Pair("b", "a")
OF = {A_B: found()}
WHOLE = RoundRecord(
    10.0,
    12.0,
    instances("ab", "z1"),
    (A_B, B_A),
    OF,
    failures=(Failure(B_A, ProbeKind.LIGHT, "b is gone"),),
    scores=scores(OF),
)

Change = Callable[[dict[str, Any]], object]


@given(records())
def test_what_is_written_is_read(record: RoundRecord) -> None:
    assert documents.from_text(documents.to_text(record)) == record
    assert documents.from_json(json.loads(json.dumps(documents.to_json(record)))) == record


def test_a_pair_is_one_object_with_all_that_is_known_of_it() -> None:
    body = documents.to_json(WHOLE)
    assert (body["format"], body["version"]) == ("adon-health-round", 1)
    assert body["instances"][0] == {"name": "a", "address": "192.0.2.1", "port": 8650, "zone": "z1"}
    there, back = body["pairs"]
    assert there["icmp"]["4096"] == [0.01]
    assert there["score"]["total"] == 1.0
    assert back == {
        "source": "b",
        "destination": "a",
        "reached": False,
        "failed": [{"probe": "light", "why": "b is gone"}],
    }


def test_what_lacks_is_marked() -> None:
    assert WHOLE.not_reached == (B_A,)
    assert not WHOLE.complete


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda body: body.update(version=2), "^version: 2 is not 1"),
        (lambda body: body.pop("version"), "^version: None is not 1"),
        (lambda body: body.update(format="other"), "^format: is not 'adon-health-round'"),
        (lambda body: body.pop("ended"), "^ended: Field required"),
        (lambda body: body.update(ended=9.0), "^ended: 9.0 is not a time from 10.0 on"),
        (lambda body: body.update(began=float("nan")), "^began: "),
        (lambda body: body.update(began=1e20, ended=1e20), "^ended: 1e[+]20 is not a time"),
        (lambda body: body.update(profile=3, began=-1), "^began: .*; profile: "),
        (lambda body: body["pairs"][0].update(destination="c"), "^planned: a > c is no pair"),
        (lambda body: body["pairs"][0].update(destination="a"), "^planned: a > a is no pair"),
        (lambda body: body["pairs"][0].update(icmp={"64": [-1.0]}), "^pairs.0.icmp.64.0: "),
        (lambda body: body["pairs"][0].update(icmp={"x": []}), "^pairs.0.icmp.x"),
        (lambda body: body["pairs"][0].update(tcp=["soon"]), "^pairs.0.tcp.0: "),
        (lambda body: body["pairs"][0].update(silent=["fax"]), "^pairs.0.silent.0: "),
        (lambda body: body["pairs"][0]["score"].update(total=2), "^pairs.0.score.total: "),
        (lambda body: body["pairs"][0].update(extra=1), "^pairs.0.extra: "),
        (lambda body: body["pairs"].append(body["pairs"][0]), "^pairs: a pair is there twice"),
        (
            lambda body: body["instances"][0].update(address="here"),
            r"^instances\.0\.address: 'here' is no IP",
        ),
        (lambda body: body["instances"].append(body["instances"][0]), "^instances: a name is there twice"),
    ],
)
def test_what_is_no_round_is_told_by_field(change: Change, says: str) -> None:
    body = documents.to_json(WHOLE)
    change(body)
    with pytest.raises(ValueError, match=says):
        documents.from_json(body)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        *((text, "^is no JSON: ") for text in ("", "{", "x", '{"format": "adon-health-round"')),
        *((text, "^format: ") for text in ("[]", "null", "3", "{}")),
    ],
)
def test_what_is_no_object_is_refused(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        documents.from_text(text)
