"""Compute sites: resources, jobs, workflows and batch systems."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from adon.api.base import Ids, InOrder, ListAtTime, ListView, NewestFirst, Time, View
from adon.broker.sites.jobs import JobRequest, JobState
from adon.values import Name


class CapacityView(View):
    """What a site has, and what of it is free; null for what it does not say."""

    nodes: int
    nodes_free: int | None
    cores: int
    cores_free: int
    memory_bytes: int | None
    memory_free_bytes: int | None
    gpus: int | None
    gpus_free: int | None
    jobs_running: int
    jobs_waiting: int


class WaitView(View):
    """T_q of one size of request."""

    nodes: int
    cores: int = Field(description="in all")
    memory_bytes: int = Field(description="in all; 0: what the site gives to such a job")
    time_limit_seconds: float
    said_seconds: float | None = Field(description="as the site said it; null: such a job would not start")
    counted_seconds: float | None = Field(description="as the cost model counts it: never less than was said")
    deviation_seconds: float | None
    why: str


class HonestyView(View):
    """What a site said, against what came of it."""

    jobs: int = Field(description="comparisons")
    factor: float = Field(description="by which its T_q is stretched; 1 for a site that keeps its word")
    spread: float
    said_seconds: float | None = Field(description="T_q of the latest job, when it was handed over")
    waited_seconds: float | None = Field(description="how long that job then waited")


class NodeRateView(View):
    """Γ_c of one worker node, learnt from finished jobs of one template."""

    template: str
    mean_bps: float
    deviation_bps: float


class ComputeSiteView(View):
    """A compute site as it is known now."""

    name: str
    site: str = Field(description="the campus it is at")
    adapter: str | None = Field(description="null if the configured numbers apply")
    jobs: list[str] = Field(description="the programs that may run there")
    state: Literal["answers", "silent", "configured"]
    silent_since: Time | None
    why: str = Field(description="why it does not answer")
    heard_at: Time | None
    worker_nodes: int
    queue_wait_seconds: float | None = Field(description="as configured; null: nothing there is ours to use")
    capacity: CapacityView | None
    waits: list[WaitView]
    honesty: HonestyView
    rates: list[NodeRateView]


class ComputeSiteList(ListAtTime):
    """All compute sites, in the order of the configuration."""

    items: list[ComputeSiteView]


class JobBody(JobRequest, defer_build=True):
    """A job that is asked for."""


class JobView(View):
    """A job at a compute site."""

    id: str
    site: str
    job: str = Field(description="the program, by its name in the site's configuration")
    arguments: list[str]
    state: JobState
    final: bool
    reason: str
    requester: str
    flow: str | None
    template: str | None
    size_bytes: int | None
    nodes: int
    cores: int
    memory_bytes: int
    time_limit_seconds: float
    asked_at: Time
    site_job: str | None = Field(description="the site's own id")
    cancelling: bool
    queued_at: Time | None = Field(description="this and the next two by the site's clock")
    started_at: Time | None
    ended_at: Time | None
    exit_status: int | None
    predicted_seconds: float | None = Field(description="T_q that the site named when it got the job")
    waited_seconds: float | None
    ran_seconds: float | None
    node_rate_bps: float | None = Field(description="what one worker node processed (Γ_c)")


class JobList(ListView):
    """Jobs, the newest first."""

    items: list[JobView]


class SiteResourcesView(View):
    """A compute site: what it has, what flows hold of it, what is free for anybody now.

    Resources by name; one that is not limited, or of which nothing is known, is not named.
    """

    name: str
    campus: str
    limits: dict[str, int]
    held: dict[str, int]
    free: dict[str, int]
    flows: list[str] = Field(description="who holds something of it")
    overdrawn: list[str] = Field(description="what is promised now and not there")
    node_rate_bps: float
    queue_wait_seconds: float | None = Field(description="none: no resource there is ours to use")
    queue_wait_deviation_seconds: float | None
    price_per_node_hour: float
    origin: str
    why: str


class SiteResourcesList(ListAtTime):
    """All compute sites at one moment."""

    items: list[SiteResourcesView]


class HostReport(View):
    """Base of documents that show the latest report of a host."""

    host: str
    name: str
    observed_at: Time
    age_seconds: float


class WorkflowView(HostReport):
    """A workflow as its host told it last."""

    state: Literal["running", "success", "failure", "unknown"]
    percent_done: float | None
    jobs: dict[str, int] = Field(description="by state: ready, queued, done, failed, ..., total")
    retries: int | None = Field(description="of jobs; of a workflow that has ended")
    times_seconds: dict[str, float] = Field(description="of a workflow that has ended")
    parts: list[dict[str, Any]] = Field(description="its DAGs, each with name, state and percent_done")
    failures: list[dict[str, Any]] = Field(description="jobs that failed, as pegasus-analyzer names them")
    stale: bool = Field(description="it runs, by what was told, but nothing has been told for a while")


class WorkflowUserView(HostReport):
    """How many workflows one user's list holds, by state."""

    workflows: dict[str, int]


class BatchView(HostReport):
    """A batch system as a host told it last."""

    system: str = Field(description="slurm or htcondor")
    values: dict[str, float] = Field(description="cores_total, cores_free, jobs_running, jobs_pending, ...")
    queue_wait_seconds: float | None = Field(description="null: never, or not known")
    stale: bool


class WorkflowList(ListView):
    """Workflows by host and name, with the batch systems they run on; none if no host tells of any."""

    items: list[WorkflowView]
    users: list[WorkflowUserView]
    batch_systems: list[BatchView]


class SiteName(Ids):
    """Name of a compute site."""

    name: Name


class JobQuery(NewestFirst):
    """Filters of jobs."""

    site: Name | None = None
    requester: str | None = Field(default=None, max_length=200)


class WorkflowQuery(InOrder):
    """Filters of workflows."""

    host: str | None = Field(default=None, max_length=100)
    state: Literal["running", "success", "failure", "unknown"] | None = None
