"""Documents of compute sites, jobs and reservations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adon.api.queue import ReservationBody, ReservationView
from adon.api.sites import (
    CapacityView,
    ComputeSiteView,
    HonestyView,
    JobView,
    NodeRateView,
    SiteResourcesView,
    WaitView,
)
from adon.broker.resources.reservation import Reservation
from adon.broker.resources.reserving import as_json
from adon.broker.sites.jobs import SiteJob
from apps.rest.owned import flow_number


def to_reservation_request(body: ReservationBody, now: float) -> dict[str, Any]:
    """What the controller is asked; times in seconds since the epoch.

    :raises NotFound: for what cannot be a flow's id.
    """
    asked = body.model_dump(mode="json", exclude={"begins", "ends", "flow"}, exclude_none=True)
    begins = None if body.begins is None else body.begins.seen_from(now)
    times = {"begins": begins, "ends": body.ends.seen_from(now)}
    return {**asked, **times, "flow": None if body.flow is None else flow_number(body.flow)}


def to_reservation_view(reservation: Reservation, now: float) -> ReservationView:
    """The reservation as it is at this time."""
    return reservation_view_from_answer(as_json(reservation, now))


def reservation_view_from_answer(body: Mapping[str, Any]) -> ReservationView:
    """The reservation as the controller answered it."""
    units = {"memory_bytes": "memory", "storage_bytes": "storage", "bandwidth_bps": "bandwidth"}
    return ReservationView.model_validate({**body, **{name: body[field] for name, field in units.items()}})


def to_site_resources_view(entry: Mapping[str, Any]) -> SiteResourcesView:
    """A site of the controller's snapshot as it is answered."""
    units = {"node_rate_bps": "node_rate", "queue_wait_seconds": "queue_wait"}
    units |= {"queue_wait_deviation_seconds": "queue_wait_deviation"}
    return SiteResourcesView.model_validate(
        {**entry, **{name: entry[field] for name, field in units.items()}}
    )


def to_compute_site_view(entry: Mapping[str, Any]) -> ComputeSiteView:
    """The site as the controller's read-out has it."""
    same = ("name", "site", "adapter", "jobs", "state", "silent_since", "why", "heard_at", "worker_nodes")
    known, there = entry["honesty"], entry["capacity"]
    return ComputeSiteView(
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


def to_job_view(job: SiteJob) -> JobView:
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
    return JobView(
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
