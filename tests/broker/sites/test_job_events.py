"""Reports, jobs and news of them as transcripts: what happened, what followed."""

from __future__ import annotations

import math
from typing import Any

import pytest

from adon.broker.decision import SiteCost
from adon.broker.events import JobAsked, JobCancelled, JobTold, SiteReported, TemplateSaved
from adon.broker.flow import Flow, FlowState
from adon.broker.flow_placement import Placing
from adon.broker.sites import job_events
from adon.broker.sites.jobs import JobRequest, JobState, SiteJob
from adon.errors import Conflict, InvalidInput, NotFound
from measurement.custom.batch.model import JobState as Word
from measurement.sites.model import JobNews, Shape, SiteReport
from tests.broker.sites.values import SLURM, news, report, silent, wait, with_adapter
from tests.support.factories import make_template
from tests.support.network_factories import make_configuration
from tests.support.refusals import refused
from tests.support.stage import Stage, know, make_stage


def stage(**adapters: dict[str, Any]) -> Stage:
    return make_stage(with_adapter(**(adapters or {"osu_hpc": SLURM})))


def tell(on: Stage, what: SiteReport | JobNews) -> None:
    kind: Any = SiteReported if isinstance(what, SiteReport) else JobTold
    on.feed(kind(*on.stamp(), what))


def ask(on: Stage, by: str = "ann", **wish: Any) -> SiteJob:
    request = JobRequest.model_validate({"site": "osu-hpc", "job": "align", **wish})
    answer = on.command(JobAsked, request, by)
    return on.saved.jobs[answer["number"]]


def cost_of(on: Stage, site: str) -> SiteCost:
    """Return what a site costs a new flow."""
    return next(cost for cost in on.decision(on.submit()).compute if cost.site == site)


# -- sites ---------------------------------------------------------------------------------------------


def test_a_flow_takes_the_site_that_its_own_reports_make_the_cheapest() -> None:
    on = stage(mu_hpc=SLURM, osu_hpc=SLURM)
    tell(on, report("mu-hpc", wait(0.0, 4, 8)))
    tell(on, report("osu-hpc", wait(5000.0, 4, 8)))
    flow = on.submit()
    costs = {cost.site: cost.queue for cost in on.decision(flow).compute}
    assert costs == {"mu-hpc": 0.0, "osu-hpc": 5000.0}
    assert flow.compute_site == "mu-hpc"


def test_a_silent_site_costs_infinity_and_is_told_of_once() -> None:
    on = stage()
    tell(on, report("osu-hpc", wait(0.0, 4, 8)))
    for _ in range(3):
        tell(on, silent())
    flow = on.submit()
    cost = next(cost for cost in on.decision(flow).compute if cost.site == "osu-hpc")
    assert math.isinf(cost.cost)
    assert flow.compute_site == "mu-hpc"
    told = [("site-answers", "info", None), ("site-silent", "warning", None)]
    assert on.announcements("site-answers", "site-silent") == told


def test_who_waits_for_a_site_is_tried_again_when_a_job_there_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    on = stage()
    ask(on)
    tell(on, news(1, Word.RUNNING, submitted=1.0, started=2.0))
    served: list[str] = []
    monkeypatch.setattr(Placing, "serve_queue", lambda _self, event: served.append(event.id) or [])
    tell(on, news(1, Word.RUNNING, submitted=1.0, started=3.0))
    assert served == []
    tell(on, news(1, Word.SUCCEEDED, submitted=1.0, started=3.0, ended=4.0))
    assert len(served) == 1


def test_who_waits_for_a_site_is_tried_again_when_it_answers() -> None:
    on = stage(mu_hpc=SLURM, osu_hpc=SLURM)
    flow = on.submit()
    on.expect(flow, state="queued", code="no-site")
    tell(on, report("osu-hpc", wait(0.0, 4, 8)))
    assert on.flow(flow).state is FlowState.ACTIVE
    assert on.flow(flow).compute_site == "osu-hpc"


def test_a_report_that_is_no_news_tries_nobody_again() -> None:
    on = stage(mu_hpc=SLURM, osu_hpc=SLURM)
    tell(on, report("osu-hpc", wait(None, 4, 8, "full")))
    flow = on.submit()
    decided = len(on.saved.decisions)
    tell(on, report("osu-hpc", wait(None, 4, 8, "full")))
    assert (on.flow(flow).state, len(on.saved.decisions)) == (FlowState.QUEUED, decided)


def test_sites_are_asked_for_the_sizes_that_templates_ask_for() -> None:
    on = stage()
    compute = {"worker_nodes": 8, "cores": 4, "memory": "1 GB"}
    on.command(TemplateSaved, make_template(name="large", rspec={"compute": compute}))
    assert Shape(8, 8, 10**9) in on.shapes  # at least a core on each node
    assert Shape() in on.shapes
    assert on.shapes == tuple(sorted(on.shapes)) == on.broker.shapes


def test_of_too_many_sizes_the_largest_stay() -> None:
    templates = [make_template(name=f"t{n}", rspec={"compute": {"worker_nodes": n}}) for n in range(1, 40)]
    found = job_events.shapes(templates)
    assert (len(found), found[-1].nodes, found[0].nodes) == (16, 39, 24)


# -- jobs of flows ---------------------------------------------------------------------------------------


def with_job(on: Stage, **job: Any) -> Flow:
    return on.submit(job={"job": "align", "arguments": ["chr1"], **job})


def test_when_the_data_has_arrived_its_job_is_handed_over() -> None:
    on = stage()
    tell(on, report("osu-hpc", wait(0.0, 4, 8)))
    flow = with_job(on)
    assert (flow.compute_site, on.saved.jobs) == ("osu-hpc", {})
    on.report(flow, "progress", 5)
    assert on.saved.jobs == {}
    on.report(flow, "finished", 10**8)
    (made,) = on.saved.jobs.values()
    assert (made.site, made.program, made.arguments, made.flow) == (
        "osu-hpc",
        "align",
        ("chr1",),
        flow.number,
    )
    assert (made.size, made.template, made.requester) == (10**8, "soykb", flow.requester)
    assert on.orders[-1].flow == flow.id


@pytest.mark.parametrize("status", ["failed"])
def test_without_the_data_there_is_no_job(status: str) -> None:
    on = stage()
    tell(on, report("osu-hpc", wait(0.0, 4, 8)))
    on.report(with_job(on), status, 5)
    assert on.saved.jobs == {}


def test_what_is_computed_at_home_has_been_computed_before() -> None:
    on = stage()
    tell(on, report("osu-hpc", wait(1e6, 4, 8)))
    flow = with_job(on)
    assert flow.compute_site == "mu-hpc"
    on.report(flow, "finished", 10)
    assert on.saved.jobs == {}
    assert ("job-not-run", "warning", flow.id) in on.announcements()


def test_a_job_that_cannot_be_taken_now_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    on = stage()
    tell(on, report("osu-hpc", wait(0.0, 4, 8)))
    flow = with_job(on)
    monkeypatch.setattr(job_events, "MOST_OPEN", 0)
    on.report(flow, "finished", 10)
    assert on.flow(flow).state is FlowState.FINISHED
    assert ("job-not-run", "warning", flow.id) in on.announcements()


@pytest.mark.parametrize(
    "job", [{"job": "other"}, {"arguments": ["$(id)"]}, {"job": "private", "arguments": []}]
)
def test_a_flow_whose_job_nobody_would_run_is_refused(job: dict[str, Any]) -> None:
    on = stage()
    with refused(InvalidInput, "job"):
        with_job(on, **job)
    assert on.saved.flows == {}


def test_a_campus_without_compute_sites_runs_nothing() -> None:
    on = make_stage(make_configuration().model_copy(update={"compute": {}}))
    with refused(InvalidInput, field="job"):
        with_job(on)


# -- jobs ----------------------------------------------------------------------------------------------


def test_a_job_from_the_request_to_its_outcome() -> None:
    on = stage()
    asked = ask(on, arguments=["chr1"], size="1 GB", template="soykb")
    assert (asked.id, asked.state, asked.nodes, asked.cores) == ("j-1", JobState.REQUESTED, 2, 8)
    (order,) = on.orders
    assert (order.program, order.arguments, order.site_job, order.cancel) == ("align", ("chr1",), None, False)

    tell(on, news(1, Word.PENDING, predicted=0.0, submitted=100.0, reason="Priority"))
    assert (on.saved.jobs[1].state, on.saved.jobs[1].site_job) == (JobState.WAITING, "77")
    assert on.saved.jobs[1].reason.endswith("Priority")
    tell(on, news(1, Word.RUNNING, predicted=0.0, submitted=100.0, started=640.0))
    assert (on.saved.jobs[1].state, on.saved.jobs[1].waited) == (JobState.RUNNING, 540.0)
    tell(on, news(1, Word.SUCCEEDED, 0.0, submitted=100.0, started=640.0, ended=1640.0, exit_status=0))
    done = on.saved.jobs[1]
    assert (done.state, done.ran, done.node_rate) == (JobState.SUCCEEDED, 1000.0, 4e6)
    assert on.announcements("job-changed") == [("job-changed", "info", None)] * 3

    # What was learnt: the site's word is worth less, and its nodes are slower than configured.
    tell(on, report("osu-hpc", wait(0.0, 4, 8)))
    flow = on.submit()
    cost = next(cost for cost in on.decision(flow).compute if cost.site == "osu-hpc")
    assert cost.queue == pytest.approx(60 * (math.sqrt(10) - 1))
    assert cost.node_rate == pytest.approx(math.sqrt(4e6 * 8e6))


def test_a_site_that_finishes_late_is_not_taken_any_more() -> None:
    """It was the cheapest by its own word; its jobs waited longer and ran slower than it said."""
    on = stage()
    tell(on, report("osu-hpc", wait(0.0, 4, 8)))
    honest = on.submit()
    assert honest.compute_site == "osu-hpc"
    on.report(honest)
    before = next(cost for cost in on.decision(honest).compute if cost.site == "osu-hpc")
    for number in range(1, 6):
        ask(on, size="1 GB", template="soykb")
        late = {"submitted": 100.0, "started": 5_500.0}
        tell(on, news(number, Word.RUNNING, 0.0, **late))
        tell(on, news(number, Word.SUCCEEDED, 0.0, **late, ended=9_500.0, exit_status=0))
    tell(on, report("osu-hpc", wait(0.0, 4, 8)))
    flow = on.submit()
    cost = next(cost for cost in on.decision(flow).compute if cost.site == "osu-hpc")
    assert cost.queue > before.queue
    assert cost.node_rate < before.node_rate
    assert cost.cost > before.cost
    assert flow.compute_site == "mu-hpc"


def test_what_was_learnt_and_what_is_open_survive_a_restart() -> None:
    on = stage()
    ask(on)
    tell(on, news(1, Word.RUNNING, predicted=0.0, submitted=100.0, started=640.0))
    ask(on)
    on.restart()
    assert [order.number for order in on.broker.orders] == [1, 2]
    assert on.broker.orders[0].site_job == "77"
    know(on)
    tell(on, report("osu-hpc", wait(0.0, 4, 8)))
    assert cost_of(on, "osu-hpc").queue > 100
    assert ask(on).id == "j-3"


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({"site": "nowhere"}, "site"),
        ({"site": "mu-hpc"}, "site"),
        ({"job": "other"}, "job"),
        ({"arguments": ["a", "b"]}, "arguments"),
        ({"arguments": ["a b"]}, "arguments"),
        ({"arguments": ["--force"]}, "arguments"),
        ({"arguments": ["$(id)"]}, "arguments"),
        ({"arguments": ["a;id"]}, "arguments"),
        ({"arguments": ["a\nid"]}, "arguments"),
        ({"job": "private"}, "template"),
        ({"job": "private", "template": "soykb"}, "template"),
    ],
)
def test_a_job_that_is_not_offered_is_refused_by_field(wish: dict[str, Any], field: str) -> None:
    on = stage()
    with refused(InvalidInput, field):
        ask(on, **wish)
    assert (on.saved.jobs, on.orders) == ({}, [])


def test_a_static_site_takes_no_jobs() -> None:
    with refused(InvalidInput, field="site"):
        ask(stage(osu_hpc={"kind": "static"}))


def test_too_many_open_jobs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_events, "MOST_OPEN", 2)
    on = stage()
    ask(on)
    ask(on)
    with refused(Conflict, field="jobs"):
        ask(on)


@pytest.mark.parametrize("before", ["requested", "waiting", "running"])
def test_a_job_is_over_when_its_site_says_so(before: str) -> None:
    on = stage()
    ask(on)
    if before != "requested":
        tell(on, news(1, Word.PENDING if before == "waiting" else Word.RUNNING, submitted=1.0))
    on.command(JobCancelled, 1, "bob")
    assert (on.saved.jobs[1].state, on.saved.jobs[1].cancelling) == (JobState(before), True)
    assert on.orders[-1].cancel
    tell(on, news(1, Word.CANCELED, submitted=1.0, ended=5.0))
    assert on.saved.jobs[1].state is JobState.CANCELLED
    with refused(Conflict, field="state"):
        on.command(JobCancelled, 1, "bob")
    with pytest.raises(NotFound):
        on.command(JobCancelled, 9, "bob")


def test_one_that_ended_before_the_site_had_it_is_cancelled_not_failed() -> None:
    on = stage()
    ask(on)
    on.command(JobCancelled, 1, "bob")
    tell(on, JobNews(1, 5.0, None, error="was ended before the site had it", refused=True))
    assert on.saved.jobs[1].state is JobState.CANCELLED


def test_a_refusal_is_final_and_says_why() -> None:
    on = stage()
    ask(on)
    tell(on, JobNews(1, 5.0, None, error="sbatch failed", refused=True))
    assert (on.saved.jobs[1].state, on.saved.jobs[1].reason) == (JobState.FAILED, "sbatch failed")


def test_a_site_that_cannot_be_asked_now_only_leaves_a_reason() -> None:
    on = stage()
    ask(on)
    tell(on, news(1, Word.RUNNING, submitted=1.0, started=2.0))
    tell(on, JobNews(1, 5.0, None, error="squeue timeout"))
    assert (on.saved.jobs[1].state, on.saved.jobs[1].started_at) == (JobState.RUNNING, 2.0)
    assert on.saved.jobs[1].reason == "squeue timeout"


def test_news_of_what_is_over_or_was_never_asked_for_changes_nothing() -> None:
    on = stage()
    ask(on)
    tell(on, news(1, Word.FAILED, submitted=1.0, started=2.0, ended=3.0, exit_status=3))
    before = on.saved.jobs[1]
    assert before.state is JobState.FAILED
    tell(on, news(1, Word.RUNNING, submitted=1.0, started=2.0))
    tell(on, news(9, Word.RUNNING))
    assert on.saved.jobs == {1: before}


def test_the_same_news_again_is_not_saved_again() -> None:
    on = stage()
    ask(on)
    tell(on, news(1, Word.RUNNING, submitted=1.0, started=2.0))
    said = on.announcements()
    tell(on, news(1, Word.RUNNING, submitted=1.0, started=2.0))
    assert on.announcements() == said


def test_a_job_that_is_requeued_waits_again() -> None:
    on = stage()
    ask(on)
    tell(on, news(1, Word.RUNNING, submitted=1.0, started=2.0))
    tell(on, news(1, Word.PENDING, submitted=1.0))
    assert on.saved.jobs[1].state is JobState.WAITING


@pytest.mark.parametrize("word", Word)
def test_every_word_of_a_site_has_its_state(word: Word) -> None:
    assert job_events.STATES[word].final is word.over
