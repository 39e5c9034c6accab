"""Handlers of events of compute sites: reports of a site, and requests, cancellations and reports of jobs.

:mod:`adon.broker.sites.site_state` evaluates reports, :mod:`adon.broker.sites.jobs` holds the states of a
job.  The handlers change the broker's state and try queued flows again where that may help.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from adon.broker.effects import Announce, Answer, Effect, OrderJob, SaveJob
from adon.broker.events import Event, JobAsked, JobCancelled, JobTold, SiteReported, TransferReported
from adon.broker.flow import Flow
from adon.broker.flow_placement import Placing
from adon.broker.sites.jobs import JobRequest, JobState, SiteJob
from adon.broker.sites.offers import find_program
from adon.broker.world import World
from adon.errors import Conflict, InvalidInput
from adon.templates_catalog.model import ComputeRequirement, Template
from adon.units import format_duration
from measurement.custom.batch.model import JobState as SiteWord
from measurement.custom.batch.model import JobStatus
from measurement.sites.model import MOST_SHAPES, JobNews, Shape

MOST_OPEN = 1000
"""Jobs that are not over, at all sites together: more is a program that has gone wild."""

STATES: Mapping[SiteWord, JobState] = {
    SiteWord.PENDING: JobState.WAITING,
    SiteWord.HELD: JobState.WAITING,
    SiteWord.RUNNING: JobState.RUNNING,
    SiteWord.SUCCEEDED: JobState.SUCCEEDED,
    SiteWord.FAILED: JobState.FAILED,
    SiteWord.CANCELED: JobState.CANCELLED,
}
"""A site's words for where a job is, in ours."""


def shapes(templates: Iterable[Template]) -> tuple[Shape, ...]:
    """The sizes of request that sites are to be asked about: each that a template asks for, once.

    Their time limit is the site's business.  Of too many the largest stay, since T_q of a larger request
    serves for a smaller one too.
    """
    asked = [ComputeRequirement(), *(one.rspec.compute for one in templates if one.rspec.compute is not None)]
    found = {Shape(one.worker_nodes, max(one.cores, one.worker_nodes), one.memory) for one in asked}
    return tuple(sorted(found)[-MOST_SHAPES:])


def handle_site_report(world: World, placing: Placing, event: SiteReported) -> list[Effect]:
    """Take a report; tell people when a site stops answering, and when it answers again."""
    site = event.report.site
    before = world.standings.silence(site, event.at)
    news = world.standings.record_report(event.report, event.at)
    after = world.standings.silence(site, event.at)
    effects: list[Effect] = []
    if after is not None and (before is None or before[1] != after[1]):
        text = f"compute site {site} does not answer, and costs infinity: {after[1]}"
        effects.append(Announce(event.id, "warning", "site-silent", text))
    elif before is not None and after is None:
        effects.append(Announce(event.id, "info", "site-answers", f"compute site {site} answers"))
    return [*effects, *placing.serve_queue(event)] if news and after is None else effects


def handle_job(world: World, event: JobAsked) -> list[Effect]:
    """Take a job, and have it handed over to its site.

    :raises InvalidInput: if the site does not offer it, or not so.
    :raises Conflict: if too many jobs are open.
    """
    job, effects = _begin_job(world, event.request, event.requester, event)
    return [*effects, Answer(event.id, event.command, as_json(job))]


def _begin_job(
    world: World, request: JobRequest, requester: str, event: Event, flow: int | None = None
) -> tuple[SiteJob, list[Effect]]:
    program = find_program(
        world.configuration, request.site, request.job, request.arguments, request.template
    )
    if len(world.jobs) >= MOST_OPEN:
        raise Conflict("jobs", f"{MOST_OPEN} jobs are still open")
    job = world.jobs.new(request, program, requester, event.id, event.at, flow)
    text = f"job {job.id} ({job.program} at {job.site}) is requested by {job.requester}"
    name = None if flow is None else f"f-{flow}"
    return job, [
        SaveJob(event.id, job),
        OrderJob(event.id, job.order()),
        Announce(event.id, "info", "job-requested", text, name),
    ]


def after_transfer(world: World, flow: Flow, event: TransferReported) -> list[Effect]:
    """What a flow asked to have run on its data, now that it has arrived (figure 5, B.2).

    Only where the data is computed at the destination: of a local computation what travels is the result,
    and that has been computed already.
    """
    wanted = flow.request.job
    if wanted is None:
        return []
    campus = world.network.topology.site_of(flow.request.destination)
    place = None if flow.compute_site is None else world.configuration.compute.get(flow.compute_site)
    if flow.compute_site is None or place is None or place.site != campus:
        where = "no compute site" if flow.compute_site is None else flow.compute_site
        text = f"flow {flow.id}: {wanted.job} is not run: its data is for {where}, not for one at {campus}"
        return [Announce(event.id, "warning", "job-not-run", text, flow.id)]
    request = JobRequest(
        site=flow.compute_site,
        job=wanted.job,
        arguments=wanted.arguments,
        size=f"{event.bytes} B",
        template=flow.template.partition("@")[0],
    )
    try:
        return _begin_job(world, request, flow.requester, event, flow.number)[1]
    except (InvalidInput, Conflict) as error:
        text = f"flow {flow.id}: {wanted.job} is not run at {flow.compute_site}: {error}"
        return [Announce(event.id, "warning", "job-not-run", text, flow.id)]


def handle_job_cancel(world: World, event: JobCancelled) -> list[Effect]:
    """Have a job ended; it is over when its site says so.

    :raises Conflict, NotFound: as :meth:`~adon.broker.sites.jobs.Jobs.get`.
    """
    job = world.jobs.get(event.number)
    job = world.jobs.put(replace(job, cancelling=True, reason=f"is being cancelled for {event.requester}"))
    text = f"job {job.id} at {job.site} is being cancelled for {event.requester}"
    return [
        SaveJob(event.id, job),
        OrderJob(event.id, job.order()),
        Announce(event.id, "info", "job-cancelling", text),
        Answer(event.id, event.command, as_json(job)),
    ]


def handle_job_report(world: World, placing: Placing, event: JobTold) -> list[Effect]:
    """Take news of a job; learn from it, and look again at who waits when one is over."""
    job = next((one for one in world.jobs if one.number == event.news.number), None)
    if job is None:
        return []  # it is over: the collector had not heard that we know
    after = with_news(job, event.news, event.at)
    if after == job:
        return []
    world.jobs.put(after)
    if after.waited is not None and job.waited is None:
        world.standings.record_start(after)
    effects: list[Effect] = [SaveJob(event.id, after)]
    if after.state is not job.state or after.reason != job.reason:
        level = "warning" if after.state is JobState.FAILED else "info"
        effects.append(Announce(event.id, level, "job-changed", words(after)))
    if after.state.final:
        world.standings.record_end(after)
        effects += placing.serve_queue(event)
    return effects


def with_news(job: SiteJob, news: JobNews, at: float) -> SiteJob:
    """The job after what its site said, or did not say."""
    if news.refused:
        to = JobState.CANCELLED if job.cancelling else JobState.FAILED
        return job.step(to, at, news.error)
    if news.status is None:
        return replace(job, reason=news.error)
    status, to = news.status, STATES[news.status.state]
    job = replace(
        job,
        site_job=status.id,
        predicted=job.predicted if news.predicted is None else news.predicted,
        queued_at=status.submitted,
        started_at=status.started,
        ended_at=status.ended,
        exit_status=status.exit_status,
        reason=_reason(to, status),
    )
    return job if to is job.state else job.step(to, at, job.reason)


def _reason(to: JobState, status: JobStatus) -> str:
    told = f": {status.reason}" if status.reason else ""
    match to:
        case JobState.WAITING:
            return f"is in the site's queue{told}"
        case JobState.RUNNING:
            return "runs"
        case JobState.FAILED if status.exit_status is not None:
            return f"ended with status {status.exit_status}{told}"
        case _:
            return f"{to}{told}"


def words(job: SiteJob) -> str:
    """A job in one line."""
    waited = "" if job.waited is None else f", waited {format_duration(job.waited)}"
    ran = "" if job.ran is None else f", ran {format_duration(job.ran)}"
    return f"job {job.id} ({job.program} at {job.site}) {job.reason}{waited}{ran}"


def as_json(job: SiteJob) -> Mapping[str, object]:
    """A job as plain JSON values; what the controller answers with."""
    return {"id": job.id, "number": job.number, "state": job.state.value}
