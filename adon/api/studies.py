"""Studies: stored placements, health rounds and evaluations."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from adon.api.base import Body, ListView, NewestFirst, Time, View, enumeration_schema
from adon.studies.model import MOST_TITLE, StudyKind

Kind = Annotated[StudyKind, enumeration_schema(StudyKind)]


class StudyBody(Body):
    """Study to store: its document, compressed if it is large."""

    kind: Kind
    title: str = Field(default="", max_length=MOST_TITLE, description="by default the value in the document")
    document: dict[str, Any] | None = Field(default=None, examples=[{"version": 1}])
    packed: str | None = Field(
        default=None, description="in place of `document`: its JSON, compressed with gzip, in base64"
    )


class StudyView(View):
    """Summary of a study."""

    id: str
    kind: Kind
    at: Time = Field(description="time of the observation of its network")
    title: str
    summary: str
    submitted_by: str
    submitted_at: Time
    document_bytes: int


class StudyDetail(StudyView):
    """Study with its document."""

    document: dict[str, Any]


class StudyList(ListView):
    """Studies, latest observation first."""

    items: list[StudyView]


class StudyQuery(NewestFirst):
    """Filters of studies."""

    kind: Kind | None = None
    since: Time | None = Field(default=None, description="observed at this time or later")
