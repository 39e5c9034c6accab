"""What the API answers about compute sites and the jobs there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field

from adon.broker.sites.jobs import JobRequest, JobState, SiteJob
from apps.rest.models import ListView, NewestFirstView, View
from apps.rest.times import Time


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
    adapter: str | None = Field(description="null: nobody asks it, its configured numbers stand")
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

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Self:
        """The site as the controller's read-out has it."""
        same = ("name", "site", "adapter", "jobs", "state", "silent_since", "why", "heard_at", "worker_nodes")
        known, there = entry["honesty"], entry["capacity"]
        return cls(
            **{name: entry[name] for name in same},
            queue_wait_seconds=entry["queue_wait"],
            capacity=None if there is None else CapacityView(**_sized(there)),
            waits=[_wait(one) for one in entry["waits"]],
            honesty=HonestyView(
                jobs=known["jobs"],
                factor=known["factor"],
                spread=known["spread"],
                said_seconds=known["said"],
                waited_seconds=known["waited"],
            ),
            rates=[
                NodeRateView(template=template, mean_bps=rate["mean"], deviation_bps=rate["deviation"])
                for template, rate in entry["rates"].items()
            ],
        )


def _sized(there: Mapping[str, Any]) -> dict[str, Any]:
    sizes = {f"{name}_bytes": there[name] for name in ("memory", "memory_free")}
    return {
        **{name: value for name, value in there.items() if name not in ("memory", "memory_free")},
        **sizes,
    }


def _wait(one: Mapping[str, Any]) -> WaitView:
    return WaitView(
        nodes=one["nodes"],
        cores=one["cores"],
        memory_bytes=one["memory"],
        time_limit_seconds=one["time_limit"],
        said_seconds=one["said"],
        counted_seconds=one["counted"],
        deviation_seconds=one["deviation"],
        why=one["why"],
    )


class ComputeSiteList(ListView):
    """All compute sites, in the order of the configuration."""

    at: Time
    items: list[ComputeSiteView]


class JobBody(JobRequest):
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
    predicted_seconds: float | None = Field(
        description="T_q that the site named when the job was handed over"
    )
    waited_seconds: float | None
    ran_seconds: float | None
    node_rate_bps: float | None = Field(description="what one worker node processed (Γ_c)")

    @classmethod
    def of(cls, job: SiteJob) -> Self:
        """The job as it was saved last."""
        same = (
            "id",
            "site",
            "state",
            "reason",
            "requester",
            "template",
            "nodes",
            "cores",
            "asked_at",
            "site_job",
        )
        times = ("cancelling", "queued_at", "started_at", "ended_at", "exit_status")
        return cls(
            **{name: getattr(job, name) for name in (*same, *times)},
            job=job.program,
            arguments=list(job.arguments),
            final=job.state.final,
            flow=None if job.flow is None else f"f-{job.flow}",
            size_bytes=job.size,
            memory_bytes=job.memory,
            time_limit_seconds=job.time_limit,
            predicted_seconds=job.predicted,
            waited_seconds=job.waited,
            ran_seconds=job.ran,
            node_rate_bps=job.node_rate,
        )


class JobList(NewestFirstView):
    """Jobs, the newest first."""

    items: list[JobView]
