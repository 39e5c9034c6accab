"""Resources on the page: compute sites, reservations with a form, and how well forecasts held."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from flask import Response, g, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from adon.access.policy import Action, Object, may
from adon.broker.forecasting.calibration import Calibration
from adon.errors import AdonError, InvalidInput, Problem, Unavailable
from adon.yamlfile import check_model
from apps.rest.api.forecasts import judged
from apps.rest.api.reservations import compute_sites, released, reservations, reserve
from apps.rest.calibration_picture import picture
from apps.rest.guard import action
from apps.rest.page import frame
from apps.rest.reservation_models import ReservationBody, SiteResourcesView

REFRESH_S = 10
SCORED = 500
"""Finished flows whose forecasts are scored."""

COMPUTE = ("worker_nodes", "cores", "gpus", "memory", "storage")
FIELDS = ("compute", "path", "source", "destination", "bandwidth", *COMPUTE, "note")

page = frame.blueprint("res")


@page.get("/resources")
@action(Action.COMPUTE_READ)
def show_resources() -> Response:
    """Compute sites with what is free of them, and reservations."""
    return _shown({}, (), 200)


def _shown(typed: Mapping[str, str], problems: tuple[Problem, ...], status: int) -> Response:
    """The page; without the controller what the database still tells, as 503."""
    sites: list[SiteResourcesView] | None = None
    try:
        sites = compute_sites().items
    except Unavailable:
        status = HTTPStatus.SERVICE_UNAVAILABLE
    filling = bool(problems) or "reserve" in request.args
    text = render_template(
        "resources.html",
        sites=sites,
        reservations=reservations(),
        reserving=may(g.actor, Action.RESERVATION_ADD, Object("reservation", g.actor.name)).allowed,
        releasing={
            one.id
            for one in reservations()
            if may(g.actor, Action.RESERVATION_RELEASE, Object("reservation", one.owner)).allowed
        },
        calibration=_calibration(),
        typed=typed,
        problems=problems,
        filling=filling,
        refresh=None if filling else REFRESH_S,  # to load again would empty the form
    )
    return Response(text, status)


def _calibration() -> dict[str, Calibration] | None:
    """How well forecasts held; None for whom it is not shown."""
    if not may(g.actor, Action.FORECAST_READ, Object("forecast")).allowed:
        return None
    return judged(None, SCORED)


@page.get("/resources/calibration.svg")
@action(Action.FORECAST_READ)
def calibration_picture() -> Response:
    """The calibration curve."""
    return Response(picture(judged(None, SCORED)), mimetype="image/svg+xml")


@page.post("/resources/reservations")
@action(Action.RESERVATION_ADD)
def add_reservation() -> AnyResponse:
    """Reserve; shows the resources, or the form with what is wrong."""
    typed = request.form.to_dict()
    try:
        reserve(check_model(_asked(typed), ReservationBody))
    except InvalidInput as error:
        return _shown(typed, error.problems, error.status)
    except AdonError as error:
        return _shown(typed, (Problem("", str(error)),), error.status)
    return redirect(url_for("res.show_resources", _anchor="reservations"), 303)


def _asked(typed: Mapping[str, str]) -> dict[str, object]:
    """The reservation that a filled-in form describes; its times are UTC, as a browser writes them."""
    asked: dict[str, object] = {name: typed.get(name, "").strip() for name in FIELDS}
    asked |= {name: f"{typed[name].strip()}Z" for name in ("begins", "ends") if typed.get(name, "").strip()}
    found = {name: value for name, value in asked.items() if value}
    for name in ("worker_nodes", "cores", "gpus"):
        text = str(found.get(name, ""))
        if text.isdecimal() and len(text) < 10:
            found[name] = int(text)
    return found


@page.post("/resources/reservations/<id_>/release")
@action(Action.RESERVATION_RELEASE)
def release_reservation(id_: str) -> AnyResponse:
    """Release a reservation."""
    released(id_)
    return redirect(url_for("res.show_resources", _anchor="reservations"), 303)
