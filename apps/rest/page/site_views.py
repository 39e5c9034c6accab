"""Compute sites on the page: whether they answer, what is free, T_q, their word, and jobs there."""

from __future__ import annotations

from http import HTTPStatus

from flask import Response, g, redirect, render_template, url_for
from werkzeug.wrappers import Response as AnyResponse

from adon.access.policy import Action, Object, may
from adon.errors import Unavailable
from apps.rest.api.sites import cancelled, site_list
from apps.rest.guard import action, only_own
from apps.rest.page import frame
from apps.rest.services import services
from apps.rest.sites_models import ComputeSiteList, JobView

REFRESH_S = 10
SHOWN = 50
"""Jobs on the page."""

page = frame.blueprint("sited")


@page.get("/sites")
@action(Action.COMPUTE_READ)
def show_sites() -> AnyResponse:
    """Every compute site, and the newest jobs that this actor may see (as 503 without the controller)."""
    sites: ComputeSiteList | None = None
    status = HTTPStatus.OK
    try:
        sites = site_list()
    except Unavailable:
        status = HTTPStatus.SERVICE_UNAVAILABLE
    parts = services()
    found = parts.store.jobs(requester=only_own(Action.JOB_READ, "job"), limit=SHOWN)
    text = render_template(
        "sites.html",
        sites=sites,
        jobs=[JobView.of(job) for job in found],
        endable={
            job.id
            for job in found
            if not job.state.final and may(g.actor, Action.JOB_CANCEL, Object("job", job.requester)).allowed
        },
        now=parts.clock(),
        refresh=REFRESH_S,
    )
    return Response(text, status)


@page.post("/jobs/<id_>/cancel")
@action(Action.JOB_CANCEL)
def cancel_job(id_: str) -> AnyResponse:
    """Have a job ended."""
    cancelled(id_)
    return redirect(url_for("sited.show_sites", _anchor="jobs"), 303)
