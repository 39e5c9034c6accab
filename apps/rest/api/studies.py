"""Studies of instances: rounds of health, snapshots, placements, evaluations (docs/instances.md)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from flask import Response
from pydantic import Field

from adon.access.policy import Action
from adon.api.base import Deleted
from adon.api.studies import Kind, StudyBody, StudyDetail, StudyList, StudyView
from adon.api.times import Time
from adon.errors import InvalidInput, NotFound
from adon.studies import packing
from adon.studies.model import DOCUMENT, PACKED, Study, StudyKind, from_json, is_id, short_of, to_json
from adon.studies.reading import study_of
from apps.rest.answers import done, json_answer
from apps.rest.api.common import PREFIX, Address, answers, blueprint
from apps.rest.guard import action, requester
from apps.rest.paging import Moment, NewestFirst, by_time, listed, until, wanted
from apps.rest.services import ask_collector, services
from apps.rest.study_views import to_study_detail, to_study_view

api = blueprint("studies", "Studies of instances: health, snapshots, placements, evaluations")


class StudyQuery(NewestFirst):
    """Which studies."""

    kind: Kind | None = None
    since: Time | None = Field(default=None, description="of this time or later")


class StudyAddress(Address):
    """Which study."""

    id: str = Field(max_length=100)


@api.get("/studies", responses=answers(200, StudyList))
@action(Action.STUDY_READ)
def list_studies(query: StudyQuery) -> Response:
    """Studies in short, those of the latest looks at a network first."""
    moment = Moment.of(query)
    kinds = StudyKind if query.kind is None else (query.kind,)
    measurements = services().measurements
    found = [
        from_json(one)
        for kind in kinds
        for one in measurements.documents(
            short_of(kind), query.since, until(moment, None), wanted(moment, query.limit)
        )
    ]
    # Of one moment in the order of their ids, as the archive has them, so that pages meet.
    found.sort(key=lambda one: (-one.at, one.id))
    shown, following = by_time(found, query.limit, moment, lambda one: one.at)
    return listed(StudyList(items=[to_study_view(one) for one in shown], next=following))


@api.get("/studies/<id>", responses=answers(200, StudyDetail))
@action(Action.STUDY_READ)
def get_study(path: StudyAddress) -> Response:
    """One study with its document."""
    return json_answer(to_study_detail(*study(path.id)))


def study(name: str) -> tuple[Study, dict[str, Any]]:
    """A study and its document.

    :raises NotFound: if there is none of this id.
    """
    measurements = services().measurements
    if is_id(name):
        for kind in StudyKind:
            kept = measurements.document(short_of(kind), name)
            body = None if kept is None else measurements.document(DOCUMENT, name)
            if kept is not None and body is not None:
                return from_json(kept), packing.unpacked(body[PACKED])
    raise NotFound("study", name)


@api.post("/studies", responses=answers(201, StudyView, 400, 413, 415))
@action(Action.STUDY_ADD)
def add_study(body: StudyBody) -> Response:
    """Keep a study; the same one handed in again is the same, with the title of the last time."""
    document = _document(body)
    made = study_of(body.kind, document, body.title, requester().name, services().clock())
    answer = ask_collector("study.put", {"study": to_json(made), PACKED: packing.packed(document)})
    view = to_study_view(from_json(answer))
    return done(view, HTTPStatus.CREATED, f"{PREFIX}/studies/{view.id}")


def _document(body: StudyBody) -> dict[str, Any]:
    if (body.document is None) == (body.packed is None):
        raise InvalidInput.of("document", "is needed, or packed instead of it; not both")
    if body.document is not None:
        return body.document
    try:
        return packing.unpacked(body.packed or "")
    except ValueError as error:
        raise InvalidInput.of("packed", error) from None


@api.delete("/studies/<id>", responses=answers(200, Deleted))
@action(Action.STUDY_DELETE)
def delete_study(path: StudyAddress) -> Response:
    """Forget a study."""
    ask_collector("study.delete", {"id": path.id})
    return done(Deleted(id=path.id), HTTPStatus.OK)
