"""Compute sites, and jobs there: submit, list, look at, cancel."""

from __future__ import annotations

import re
from http import HTTPStatus

from flask import Response, request
from pydantic import Field

from adon.access.policy import Action
from adon.api.sites import ComputeSiteList, ComputeSiteView, JobBody, JobList, JobView
from adon.broker.sites.jobs import SiteJob
from adon.errors import NotFound
from adon.values import Name
from apps.rest.answers import check_if_match, done, json_answer
from apps.rest.api.common import PREFIX, Address, answers, blueprint
from apps.rest.guard import action, check_place, only_own, requester
from apps.rest.owned import check_owned
from apps.rest.paging import InOrder, NewestFirst, cut, listed, page
from apps.rest.repeating import idempotency_key
from apps.rest.services import services
from apps.rest.site_views import to_compute_site_view, to_job_view

api = blueprint("sites", "Compute sites, and jobs there")


@api.get("/sites", responses=answers(200, ComputeSiteList))
@action(Action.COMPUTE_READ)
def list_sites(query: InOrder) -> Response:
    """Every compute site: what is free, T_q, since when it is silent, what its word was worth."""
    return cut(site_list(), query, lambda one: str(one.name))


def site_list() -> ComputeSiteList:
    """The controller's read-out of the compute sites.

    :raises Unavailable: if the controller does not answer.
    """
    snapshot = services().snapshots.get()
    return ComputeSiteList(
        at=snapshot["at"], items=[to_compute_site_view(entry) for entry in snapshot["compute"]]
    )


class SiteAddress(Address):
    """Which compute site."""

    name: Name


@api.get("/sites/<name>", responses=answers(200, ComputeSiteView))
@action(Action.COMPUTE_READ)
def get_site(path: SiteAddress) -> Response:
    """One compute site."""
    found = next((one for one in site_list().items if one.name == path.name), None)
    if found is None:
        raise NotFound("compute site", path.name)
    return json_answer(found)


class JobQuery(NewestFirst):
    """Which jobs."""

    site: Name | None = None
    requester: str | None = Field(default=None, max_length=200)
    limit: int = Field(default=50, ge=1, le=500)
    before: str | None = Field(
        default=None, max_length=20, description="jobs asked for before this one (j-17)"
    )


@api.get("/jobs", responses=answers(200, JobList))
@action(Action.JOB_READ)
def list_jobs(query: JobQuery) -> Response:
    """Jobs at compute sites, the newest first; a researcher sees their own."""
    own = only_own(Action.JOB_READ)
    if own is not None and query.requester not in (None, own):
        return listed(JobList(items=[]))
    whose = query.requester if own is None else own
    before = None if query.before is None else _number(query.before)
    # One more than asked for tells whether there is a next page.
    found = services().store.jobs(query.site, whose, query.limit + 1, before)
    shown, following = page(found, query.limit, lambda job: job.id)
    return listed(JobList(items=[to_job_view(job) for job in shown], next=following))


@api.post("/jobs", responses=answers(202, JobView, 400, 409, 413, 415))
@action(Action.JOB_SUBMIT)
def submit_job(body: JobBody) -> Response:  # noqa: ARG001 - checks and documents; sent as it came
    """Have a configured program run at a compute site; answers at once, the job's state tells the rest."""
    job = submit(request.get_json(), request.headers.get("Idempotency-Key"))
    return done(to_job_view(job), HTTPStatus.ACCEPTED, f"{PREFIX}/jobs/{job.id}")


def submit(wish: object, key: str | None = None) -> SiteJob:
    """Hand a request to the controller, as it was given; the job it became.

    :raises AdonError: as the controller refuses it.
    """
    if isinstance(wish, dict) and isinstance(wish.get("site"), str):  # else the controller says what is wrong
        check_place(compute=wish["site"])
    command: dict[str, object] = {"request": wish, "requester": requester().name}
    if key is not None:
        command["idempotency_key"] = idempotency_key(key)
    answer = services().controller.call("job.submit", command)
    return services().store.job(int(answer["number"]))


class JobAddress(Address):
    """Which job."""

    id: str = Field(max_length=20, description="as in j-3")


@api.get("/jobs/<id>", responses=answers(200, JobView))
@action(Action.JOB_READ)
def get_job(path: JobAddress) -> Response:
    """One job."""
    return json_answer(to_job_view(job_of(path.id, Action.JOB_READ)))


@api.delete("/jobs/<id>", responses=answers(202, JobView, 409, 412))
@action(Action.JOB_CANCEL)
def cancel_job(path: JobAddress) -> Response:
    """Have a job ended, over when its site says so; with ``If-Match``, only in the state it was seen in."""
    check_if_match(to_job_view(job_of(path.id, Action.JOB_CANCEL)))
    return done(to_job_view(cancelled(path.id)), HTTPStatus.ACCEPTED)


def cancelled(id_: str) -> SiteJob:
    """Have the controller end a job; the job as it is then.

    :raises NotFound: if there is none of this id.
    :raises Conflict: if it is over.
    """
    job = job_of(id_, Action.JOB_CANCEL)
    services().controller.call("job.cancel", {"number": job.number, "requester": requester().name})
    return services().store.job(job.number)


def job_of(id_: str, wanted: Action) -> SiteJob:
    """A job that this actor may do this to.

    :raises NotFound: if there is none of this id.
    :raises Forbidden: with the policy's reason.
    """
    job = services().store.job(_number(id_))
    check_owned(wanted, "job", job.id, job.requester)
    return job


def _number(id_: str) -> int:
    found = re.fullmatch(r"j-([1-9][0-9]{0,14})", id_)
    if found is None:
        raise NotFound("job", id_)
    return int(found[1])
