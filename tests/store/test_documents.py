from __future__ import annotations

import json

import pytest
from hypothesis import given

from adon.broker.decision import Decision
from adon.broker.flow import Flow
from adon.broker.outcomes import FlowOutcome
from adon.broker.sites.jobs import JobState, SiteJob
from adon.templates_catalog.model import Template
from measurement.model import from_json, to_json
from tests.broker.sites.values import job
from tests.store import values
from tests.support.factories import make_template


def through_json(body: dict[str, object]) -> dict[str, object]:
    """What a database gives back."""
    read: dict[str, object] = json.loads(json.dumps(body, allow_nan=False))
    return read


@given(values.flows)
def test_flow_round_trip(flow: Flow) -> None:
    assert from_json(Flow, through_json(to_json(flow))) == flow


@given(values.decisions)
def test_decision_round_trip(decision: Decision) -> None:
    body = to_json(decision)
    assert body == decision.body()
    assert from_json(Decision, through_json(body)) == decision


@given(values.outcomes)
def test_outcome_round_trip(outcome: FlowOutcome) -> None:
    assert from_json(FlowOutcome, through_json(to_json(outcome))) == outcome


@pytest.mark.parametrize(
    "job", [job(), job(7, flow=17, size=10, arguments=("a",), state=JobState.FAILED, exit_status=-9)]
)
def test_job_round_trip(job: SiteJob) -> None:
    assert from_json(SiteJob, through_json(to_json(job))) == job


def test_template_round_trip() -> None:
    template = make_template(
        qspec={"throughput": {"min": "700 Mbps", "target": "5.5 Gbps"}, "loss": {"max": "0.01 %"}},
        rspec={"compute": {"worker_nodes": 4, "memory": "64 GiB"}},
        tables={"throughput": {"points": [["700 Mbps", 1], ["5.5 Gbps", 10]]}},
        cost={"local_copy": True},
    )
    assert from_json(Template, through_json(to_json(template))) == template
