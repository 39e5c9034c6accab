"""The life of a job at a compute site."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from adon.broker.sites.jobs import STEPS, JobRequest, Jobs, JobState, SiteJob
from adon.errors import Conflict, NotFound
from tests.broker.sites.values import compute_site, job
from tests.support.refusals import refused


@pytest.mark.parametrize("state", JobState)
@pytest.mark.parametrize("to", JobState)
def test_only_the_steps_of_the_table_can_be_taken(state: JobState, to: JobState) -> None:
    before = job(state=state)
    if to in STEPS[state]:
        after = before.step(to, 2000.0, "because")
        assert (after.state, after.state_since, after.reason) == (to, 2000.0, "because")
    else:
        with refused(Conflict, field="state"):
            before.step(to, 2000.0, "")


def test_what_is_over_is_over() -> None:
    assert {state for state in JobState if state.final} == {
        JobState.SUCCEEDED,
        JobState.FAILED,
        JobState.CANCELLED,
    }


@pytest.mark.parametrize(
    ("changes", "waited", "ran", "rate"),
    [
        ({}, None, None, None),
        ({"queued_at": 10.0, "started_at": 40.0}, 30.0, None, None),
        ({"queued_at": 10.0, "started_at": 5.0}, 0.0, None, None),  # the site's clock was set back
        ({"started_at": 40.0, "ended_at": 140.0}, None, 100.0, None),
        ({"started_at": 40.0, "ended_at": 140.0, "size": 1000, "nodes": 2}, None, 100.0, 40.0),
        ({"started_at": 40.0, "ended_at": 40.0, "size": 1000}, None, 0.0, None),
        ({"started_at": 40.0, "ended_at": 30.0, "size": 1000}, None, 0.0, None),
    ],
)
def test_times_and_rate(
    changes: dict[str, object], waited: float | None, ran: float | None, rate: float | None
) -> None:
    found = job(state=JobState.SUCCEEDED, **changes)
    assert (found.waited, found.ran, found.node_rate) == (waited, ran, rate)


def test_a_failed_job_has_no_rate() -> None:
    assert job(state=JobState.FAILED, started_at=0.0, ended_at=1.0, size=1000).node_rate is None


def test_the_order_names_the_program_and_never_its_text() -> None:
    order = job(3, flow=17, size=10, arguments=("a",), site_job="77", cancelling=True).order()
    assert (order.name, order.program, order.arguments, order.flow) == ("adon-j3-e1", "align", ("a",), "f-17")
    assert (order.site_job, order.cancel) == ("77", True)


def test_numbers_go_on_after_a_restart_and_what_is_over_is_told_apart() -> None:
    jobs = Jobs([job(2), job(3, state=JobState.FAILED)], last_number=7)
    assert [one.number for one in jobs] == [2]
    adapter = compute_site().adapter
    assert adapter is not None
    made = jobs.new(JobRequest(site="osu-hpc", job="align"), adapter.jobs["align"], "ann", "e9", 2000.0)
    assert (made.id, made.nodes, made.cores, made.memory, made.time_limit) == (
        "j-8",
        2,
        8,
        16 * 10**9,
        7200.0,
    )
    jobs.put(SiteJob(8, "e9", "osu-hpc", "align", "ann", 2000.0, state=JobState.FAILED))
    with refused(Conflict, field="state"):
        jobs.get(8)
    with pytest.raises(NotFound):
        jobs.get(9)
    assert len(jobs) == 1


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"site": "../etc"}, "site"),
        ({"job": "a b"}, "job"),
        ({"arguments": ["x"] * 21}, "arguments"),
        ({"arguments": ["x" * 201]}, "arguments"),
        ({"size": "5"}, "size"),
        ({"size": "2 EB"}, "size"),
        ({"script": "#!/bin/sh\nrm -rf /"}, "script"),
    ],
)
def test_requests_that_are_refused(change: dict[str, object], field: str) -> None:
    with pytest.raises(ValidationError, match=field):
        JobRequest.model_validate({"site": "osu-hpc", "job": "align", **change})
