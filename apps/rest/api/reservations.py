"""Resources: compute sites with what is free of them, and reservations of sites and paths."""

from __future__ import annotations

import re
from http import HTTPStatus

from flask import Response, request
from pydantic import Field

from adon.access.policy import Action
from adon.api.queue import ReservationBody, ReservationList, ReservationView
from adon.api.sites import SiteResourcesList
from adon.broker.resources.reservation import Reservation, Stage
from adon.errors import NotFound
from apps.rest.answers import check_if_match, done, json_answer
from apps.rest.api.common import PREFIX, Address, answers, blueprint
from apps.rest.guard import action, check_place, only_own, requester
from apps.rest.owned import check_owned
from apps.rest.paging import InOrder, cut
from apps.rest.repeating import idempotency_key
from apps.rest.services import services
from apps.rest.site_views import (
    reservation_view_from_answer,
    to_reservation_request,
    to_reservation_view,
    to_site_resources_view,
)

api = blueprint("resources", "Compute sites, and reservations of sites and paths")


@api.get("/resources", responses=answers(200, SiteResourcesList))
@action(Action.COMPUTE_READ)
def list_resources(query: InOrder) -> Response:
    """Every compute site: what it has, what flows hold of it, what is free."""
    return cut(compute_sites(), query, lambda one: str(one.name))


def compute_sites() -> SiteResourcesList:
    """The controller's read-out of the compute sites.

    :raises Unavailable: if the controller does not answer.
    """
    snapshot = services().snapshots.get()
    return SiteResourcesList(
        at=snapshot["at"], items=[to_site_resources_view(one) for one in snapshot["resources"]]
    )


class ReservationQuery(InOrder):
    """Which reservations."""

    all: bool = Field(default=False, description="also those that are over or released")


@api.get("/reservations", responses=answers(200, ReservationList))
@action(Action.RESERVATION_READ)
def list_reservations(query: ReservationQuery) -> Response:
    """Reservations ahead and active; a researcher sees their own."""
    return cut(ReservationList(items=reservations(all_=query.all)), query, lambda one: str(one.id))


def reservations(*, all_: bool = False) -> list[ReservationView]:
    """The reservations that this actor may see; with ``all_`` also those that are over or released."""
    parts, own = services(), only_own(Action.RESERVATION_READ)
    now = parts.clock()
    found = parts.store.reservations(None if all_ else now, own)
    views = [to_reservation_view(one, now) for one in found]
    return views if all_ else [one for one in views if one.stage is not Stage.RELEASED]


@api.post("/reservations", responses=answers(201, ReservationView, 409))
@action(Action.RESERVATION_ADD)
def add_reservation(body: ReservationBody) -> Response:
    """Have resources kept for oneself; what does not fit is refused, with the time from which on it would."""
    made = reserve(body, request.headers.get("Idempotency-Key"))
    return done(made, HTTPStatus.CREATED, f"{PREFIX}/reservations/{made.id}")


def reserve(body: ReservationBody, key: str | None = None) -> ReservationView:
    """Have the controller keep resources.

    :raises AdonError: what the controller says against it.
    """
    check_place(body.path, body.compute)
    asked: dict[str, object] = {
        "request": to_reservation_request(body, services().clock()),
        "requester": requester().name,
    }
    if key is not None:
        asked["idempotency_key"] = idempotency_key(key)
    return reservation_view_from_answer(services().controller.call("reservation.add", asked))


class ReservationAddress(Address):
    """Which reservation."""

    id: str = Field(max_length=20, description="as in r-3")


@api.get("/reservations/<id>", responses=answers(200, ReservationView))
@action(Action.RESERVATION_READ)
def get_reservation(path: ReservationAddress) -> Response:
    """One reservation."""
    found = _reservation(path.id, Action.RESERVATION_READ)
    return json_answer(to_reservation_view(found, services().clock()))


@api.delete("/reservations/<id>", responses=answers(200, ReservationView, 409, 412))
@action(Action.RESERVATION_RELEASE)
def release_reservation(path: ReservationAddress) -> Response:
    """Release a reservation, also in the middle of it; with ``If-Match``, only as it was seen."""
    present = _reservation(path.id, Action.RESERVATION_RELEASE)
    check_if_match(to_reservation_view(present, services().clock()))
    return done(released(path.id), HTTPStatus.OK)


def released(id_: str) -> ReservationView:
    """Have the controller release a reservation.

    :raises NotFound: if there is none of this id.
    :raises AdonError: what the controller says against it.
    """
    found = _reservation(id_, Action.RESERVATION_RELEASE)
    asked = {"number": found.number, "requester": requester().name}
    return reservation_view_from_answer(services().controller.call("reservation.release", asked))


def _reservation(id_: str, wanted: Action) -> Reservation:
    match = re.fullmatch(r"r-([1-9][0-9]{0,14})", id_)
    if match is None:
        raise NotFound("reservation", id_)
    found = services().store.reservation(int(match[1]))
    check_owned(wanted, "reservation", found.id, found.owner)
    return found
