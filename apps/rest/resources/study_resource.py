"""Studies of instances: rounds of health, snapshots, placements, evaluations (docs/health-and-probes.md)."""

from __future__ import annotations

from typing import Any

from adon.api import routes
from adon.api.base import DeletionView
from adon.api.studies import StudyBody, StudyDetail, StudyList, StudyQuery, StudyView
from adon.errors import InvalidInput, NotFound
from adon.studies import packing
from adon.studies.model import DOCUMENT, PACKED, Study, StudyKind, is_id, short_of
from adon.studies.reading import study_of
from apps.rest.authentication import requester
from apps.rest.dispatch import handles
from apps.rest.pagination import TimePage
from apps.rest.services import ask_collector, services
from measurement.model import from_json, to_json


@handles(routes.LIST_STUDIES)
def list_studies(query: StudyQuery) -> StudyList:
    """Return studies in short, the latest first."""
    page = TimePage(query)
    kinds = StudyKind if query.kind is None else (query.kind,)
    measurements = services().measurements
    found = [
        from_json(Study, one)
        for kind in kinds
        for one in measurements.documents(short_of(kind), query.since, page.until, page.limit)
    ]
    # Of one moment in the order of their ids, as the archive has them, so that pages meet.
    found.sort(key=lambda one: (-one.at, one.id))
    shown, following = page.cut(found, lambda one: one.at)
    return StudyList(items=[StudyView.of(one, document_bytes=one.size) for one in shown], next=following)


@handles(routes.GET_STUDY)
def get_study(id_: str) -> StudyDetail:
    """Return one study with its document."""
    measurements = services().measurements
    if is_id(id_):
        for kind in StudyKind:
            kept = measurements.document(short_of(kind), id_)
            body = None if kept is None else measurements.document(DOCUMENT, id_)
            if kept is not None and body is not None:
                found = from_json(Study, kept)
                document = packing.unpacked(body[PACKED])
                return StudyDetail.of(found, document_bytes=found.size, document=document)
    raise NotFound("study", id_)


@handles(routes.ADD_STUDY)
def add_study(body: StudyBody) -> StudyView:
    """Store a study; the same study sent again replaces the title."""
    document = _document(body)
    made = study_of(body.kind, document, body.title, requester().name, services().clock())
    answer = ask_collector("study.put", {"study": to_json(made), PACKED: packing.packed(document)})
    kept = from_json(Study, answer)
    return StudyView.of(kept, document_bytes=kept.size)


def _document(body: StudyBody) -> dict[str, Any]:
    if (body.document is None) == (body.packed is None):
        raise InvalidInput.of(
            "document", 'or packed is required, not both; expected for example {"version": 1}'
        )
    if body.document is not None:
        return body.document
    try:
        return packing.unpacked(body.packed or "")
    except ValueError as error:
        raise InvalidInput.of("packed", error) from None


@handles(routes.DELETE_STUDY)
def delete_study(id_: str) -> DeletionView:
    """Delete a study."""
    ask_collector("study.delete", {"id": id_})
    return DeletionView(id=id_)
