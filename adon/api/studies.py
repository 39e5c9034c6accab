"""Studies: stored placements, health rounds and evaluations."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from adon.api.base import Body, ListView, NewestFirst, Time, View, listed_values
from adon.studies.model import MOST_TITLE, StudyKind

Kind = Annotated[StudyKind, listed_values(StudyKind)]


class StudyBody(Body):
    """A study to be kept: its document as it is, or packed where it is large."""

    kind: Kind
    title: str = Field(default="", max_length=MOST_TITLE, description="what the document says if left out")
    document: dict[str, Any] | None = None
    packed: str | None = Field(
        default=None, description="`document` as JSON, compressed with gzip, in base64"
    )


class StudyView(View):
    """A study in short."""

    id: str
    kind: Kind
    at: Time = Field(description="when its network was looked at")
    title: str
    summary: str
    submitted_by: str
    submitted_at: Time
    document_bytes: int


class StudyDetail(StudyView):
    """A study with its document."""

    document: dict[str, Any]


class StudyList(ListView):
    """Studies, those of the latest looks at a network first."""

    items: list[StudyView]


class StudyQuery(NewestFirst):
    """Filters of studies."""

    kind: Kind | None = None
    since: Time | None = Field(default=None, description="of this time or later")
