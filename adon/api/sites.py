"""Compute sites: resources, jobs, workflows and batch systems."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from adon.api.base import Ids, InOrder, ListAtTime, ListView, NewestFirst, Time, View
from adon.broker.sites.jobs import JobRequest, JobState
from adon.values import Name


class CapacityView(View):
    """Total and free resources of a site; null if not reported."""

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
    """Queue wait T_q of one size of request."""

    nodes: int
    cores: int = Field(description="in all")
    memory_bytes: int = Field(description="in all; 0: what the site gives to such a job")
    time_limit_seconds: float
    said_seconds: float | None = Field(description="reported wait; null: such a job would not start")
    counted_seconds: float | None = Field(description="wait in the cost model, at least the reported wait")
    deviation_seconds: float | None
    why: str


class WaitBiasView(View):
    """Bias of a site's reported queue waits."""

    jobs: int = Field(description="comparisons")
    factor: float = Field(description="factor on its T_q; 1 for accurate reports")
    spread: float
    said_seconds: float | None = Field(description="T_q of the latest job at its submission")
    waited_seconds: float | None = Field(description="actual wait of that job")


class NodeRateView(View):
    """Processing rate Γ_c of one worker node, learnt from finished jobs of one template."""

    template: str
    mean_bps: float
    deviation_bps: float


class ComputeSiteView(View):
    """Compute site with its present state."""

    name: str
    site: str = Field(description="campus of the site")
    adapter: str | None = Field(description="null if the configured numbers apply")
    jobs: list[str] = Field(description="programs that may run at the site")
    state: Literal["answers", "silent", "configured"]
    silent_since: Time | None
    why: str = Field(description="reason of a missing answer")
    heard_at: Time | None
    worker_nodes: int
    queue_wait_seconds: float | None = Field(description="configured T_q; null: no available resource")
    capacity: CapacityView | None
    waits: list[WaitView]
    honesty: WaitBiasView
    rates: list[NodeRateView]


class ComputeSiteList(ListAtTime):
    """All compute sites, in the order of the configuration."""

    items: list[ComputeSiteView]


class JobBody(JobRequest, defer_build=True):
    """Job to start."""


class JobView(View):
    """Job at a compute site."""

    id: str
    site: str
    job: str = Field(description="name of the program in the site's configuration")
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
    site_job: str | None = Field(description="id of the job at the site")
    cancelling: bool
    queued_at: Time | None = Field(description="time by the site's clock, as the next two times")
    started_at: Time | None
    ended_at: Time | None
    exit_status: int | None
    predicted_seconds: float | None = Field(description="T_q that the site reported at submission")
    waited_seconds: float | None
    ran_seconds: float | None
    node_rate_bps: float | None = Field(description="measured rate of one worker node (Γ_c)")


class JobList(ListView):
    """Jobs, newest first."""

    items: list[JobView]


class SiteResourcesView(View):
    """Compute site with its total, allocated and free resources.

    Resources are by name; unlimited and unknown resources are absent.
    """

    name: str
    campus: str
    limits: dict[str, int]
    held: dict[str, int]
    free: dict[str, int]
    flows: list[str] = Field(description="owners of its allocations")
    overdrawn: list[str] = Field(description="allocations that exceed the present resources")
    node_rate_bps: float
    queue_wait_seconds: float | None = Field(description="null: no resource is available to ADON")
    queue_wait_deviation_seconds: float | None
    price_per_node_hour: float
    origin: str
    why: str


class SiteResourcesList(ListAtTime):
    """All compute sites at one time."""

    items: list[SiteResourcesView]


class HostReport(View):
    """Base of documents that show the latest report of a host."""

    host: str
    name: str
    observed_at: Time
    age_seconds: float


class WorkflowView(HostReport):
    """Workflow as its host last reported it."""

    state: Literal["running", "success", "failure", "unknown"]
    percent_done: float | None
    jobs: dict[str, int] = Field(description="jobs by state: ready, queued, done, failed, ..., total")
    retries: int | None = Field(description="sum over jobs; only of an ended workflow")
    times_seconds: dict[str, float] = Field(description="only of an ended workflow")
    parts: list[dict[str, Any]] = Field(description="its DAGs, each with name, state and percent_done")
    failures: list[dict[str, Any]] = Field(description="jobs that failed, as pegasus-analyzer names them")
    stale: bool = Field(description="whether a running workflow has not been reported for some time")


class WorkflowUserView(HostReport):
    """Number of a user's workflows, by state."""

    workflows: dict[str, int]


class BatchView(HostReport):
    """Batch system as a host last reported it."""

    system: str = Field(description="slurm or htcondor")
    values: dict[str, float] = Field(description="cores_total, cores_free, jobs_running, jobs_pending, ...")
    queue_wait_seconds: float | None = Field(description="null: never, or unknown")
    stale: bool


class WorkflowList(ListView):
    """Workflows by host and name, with their batch systems; empty if no host reports any."""

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
