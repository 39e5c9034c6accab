from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from adon.broker.decision import Decision, Outcome
from adon.flowvisor.assessment import CandidateRecord, MetricRecord, Verdict

SEEN = MetricRecord("throughput", 5e6, 10.0, 1.0, "test-1", "active test", bound=7e6, bound_met=False)
CANDIDATE = CandidateRecord("al2s", "l2", Verdict.UNQUALIFIED, "misses throughput", 3.0, (SEEN,))
DECISION = Decision(
    "d-1",
    "f-1",
    11.0,
    "e1",
    Outcome.QUEUE,
    None,
    None,
    "nobody",
    "soykb@1",
    {"throughput": 1.0},
    (CANDIDATE,),
)


def with_candidate(**changes: Any) -> Decision:
    return replace(DECISION, candidates=(replace(CANDIDATE, **changes),))


@pytest.mark.parametrize(
    "same",
    [
        replace(DECISION, id="d-2", at=99.0, cause="e9", reason="other words"),
        with_candidate(metrics=(replace(SEEN, value=4.9e6, age=7.0, source="test-2"),)),
        with_candidate(q=2.0, why="in other words"),
    ],
    ids=["when", "values", "words"],
)
def test_the_same_outcome_for_the_same_reasons_has_one_digest(same: Decision) -> None:
    assert same.digest() == DECISION.digest()


@pytest.mark.parametrize(
    "other",
    [
        replace(DECISION, flow="f-2"),
        replace(DECISION, outcome=Outcome.ADMIT),
        replace(DECISION, path="al2s"),
        replace(DECISION, compute_site="mu-hpc"),
        with_candidate(verdict=Verdict.EXCLUDED),
        with_candidate(metrics=(replace(SEEN, metric="loss"),)),
        with_candidate(metrics=(replace(SEEN, bound_met=True),)),
    ],
)
def test_another_outcome_or_reason_has_another(other: Decision) -> None:
    assert other.digest() != DECISION.digest()


def test_the_body_is_strict_json() -> None:
    body = replace(DECISION, weights={"throughput": float("inf")}).body()
    assert json.loads(json.dumps(body, allow_nan=False)) == body
    assert body["weights"] == {"throughput": "inf"}
    assert body["candidates"][0]["metrics"][0]["value"] == 5e6
