"""Compute sites, jobs at them, and reservations of sites and paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import request

from adon.access.policy import Action
from adon.api import routes
from adon.api.base import InOrder
from adon.api.queue import ReservationBody, ReservationList, ReservationQuery, ReservationView
from adon.api.sites import (
    ComputeSiteList,
    ComputeSiteView,
    JobBody,
    JobList,
    JobQuery,
    JobView,
    SiteResourcesList,
)
from adon.broker.resources.reservation import Reservation, Stage
from adon.broker.resources.reservation_events import as_json
from adon.broker.sites.jobs import SiteJob
from adon.errors import NotFound
from apps.rest.authentication import requester
from apps.rest.authorisation import check_place, flow_number, object_number, owner_filter
from apps.rest.dispatch import handles
from apps.rest.pagination import cut, page
from apps.rest.request_input import keyed_command
from apps.rest.services import services


@handles(routes.LIST_SITES)
def list_sites(query: InOrder) -> ComputeSiteList:
    """Return every compute site with its free resources, T_q, state and estimate bias."""
    return cut(site_list(), query, lambda one: str(one.name))


def site_list() -> ComputeSiteList:
    """The controller's read-out of the compute sites.

    :raises Unavailable: if the controller does not answer.
    """
    snapshot = services().snapshots.get()
    return ComputeSiteList(
        at=snapshot["at"], items=[_compute_site_view(entry) for entry in snapshot["compute"]]
    )


@handles(routes.GET_SITE)
def get_site(name: str) -> ComputeSiteView:
    """Return one compute site."""
    found = next((one for one in site_list().items if one.name == name), None)
    if found is None:
        raise NotFound("compute site", name)
    return found


@handles(routes.LIST_JOBS)
def list_jobs(query: JobQuery) -> JobList:
    """Return jobs at compute sites, the newest first; a researcher sees own jobs."""
    own = owner_filter(Action.JOB_READ)
    if own is not None and query.requester not in (None, own):
        return JobList(items=[])
    whose = query.requester if own is None else own
    before = None if query.before is None else object_number("job", "j", query.before)
    # One more than asked for tells whether there is a next page.
    found = services().store.jobs(query.site, whose, query.limit + 1, before)
    shown, following = page(found, query.limit, lambda job: job.id)
    return JobList(items=[_job_view(job) for job in shown], next=following)


@handles(routes.SUBMIT_JOB)
def submit_job(body: JobBody) -> JobView:
    """Run a configured program at a compute site; the answer does not wait for its end."""
    check_place(compute=body.site)
    command = keyed_command(request=request.get_json(), requester=requester().name)
    answer = services().controller.call("job.submit", command)
    return _job_view(services().store.job(int(answer["number"])))


@handles(routes.GET_JOB)
def get_job(job: SiteJob) -> JobView:
    """Return one job."""
    return _job_view(job)


@handles(routes.CANCEL_JOB)
def cancel_job(job: SiteJob) -> JobView:
    """Cancel a job; it has ended when its site says so."""
    services().controller.call("job.cancel", {"number": job.number, "requester": requester().name})
    return _job_view(services().store.job(job.number))


@handles(routes.LIST_RESOURCES)
def list_resources(query: InOrder) -> SiteResourcesList:
    """Return every compute site with its limits, held and free resources."""
    snapshot = services().snapshots.get()
    found = SiteResourcesList(at=snapshot["at"], items=snapshot["resources"])
    return cut(found, query, lambda one: str(one.name))


@handles(routes.LIST_RESERVATIONS)
def list_reservations(query: ReservationQuery) -> ReservationList:
    """Return reservations that are announced or active; a researcher sees own reservations."""
    parts, own = services(), owner_filter(Action.RESERVATION_READ)
    now = parts.clock()
    found = parts.store.reservations(None if query.all else now, own)
    views = [ReservationView.of(as_json(one, now)) for one in found]
    items = views if query.all else [one for one in views if one.stage is not Stage.RELEASED]
    return cut(ReservationList(items=items), query, lambda one: str(one.id))


@handles(routes.ADD_RESERVATION)
def add_reservation(body: ReservationBody) -> ReservationView:
    """Reserve resources; a refusal gives the time from which they are free."""
    check_place(body.path, body.compute)
    wish = _reservation_request(body, services().clock())
    asked = keyed_command(request=wish, requester=requester().name)
    return ReservationView.of(services().controller.call("reservation.add", asked))


@handles(routes.GET_RESERVATION)
def get_reservation(reservation: Reservation) -> ReservationView:
    """Return one reservation."""
    return ReservationView.of(as_json(reservation, services().clock()))


@handles(routes.RELEASE_RESERVATION)
def release_reservation(reservation: Reservation) -> ReservationView:
    """Release a reservation, also an active one."""
    asked = {"number": reservation.number, "requester": requester().name}
    return ReservationView.of(services().controller.call("reservation.release", asked))


def _reservation_request(body: ReservationBody, now: float) -> dict[str, Any]:
    """What the controller is asked; times in seconds since the epoch.

    :raises NotFound: for what cannot be a flow's id.
    """
    asked = body.model_dump(mode="json", exclude={"begins", "ends", "flow"}, exclude_none=True)
    begins = None if body.begins is None else body.begins.seen_from(now)
    times = {"begins": begins, "ends": body.ends.seen_from(now)}
    return {**asked, **times, "flow": None if body.flow is None else flow_number(body.flow)}


def _compute_site_view(entry: Mapping[str, Any]) -> ComputeSiteView:
    """The site as the controller's read-out has it."""
    rates = [{"template": template, **rate} for template, rate in entry["rates"].items()]
    return ComputeSiteView.of(entry, rates=rates)


def _job_view(job: SiteJob) -> JobView:
    """The job as it was saved last."""
    flow = None if job.flow is None else f"f-{job.flow}"
    return JobView.of(job, job=job.program, final=job.state.final, flow=flow)
