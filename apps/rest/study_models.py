"""What the API takes and answers about studies."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field

from adon.studies.model import MOST_TITLE, Study, StudyKind
from apps.rest.models import NewestFirstView, View, listed_values
from apps.rest.times import Time

Kind = Annotated[StudyKind, listed_values(StudyKind)]


class StudyBody(BaseModel):
    """A study to be kept: its document as it is, or packed where it is large."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Kind
    title: str = Field(default="", max_length=MOST_TITLE, description="what the document says if left out")
    document: dict[str, Any] | None = None
    packed: str | None = Field(
        default=None, description="instead of `document`: its JSON, by gzip, in base64; see docs/instances.md"
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

    @classmethod
    def of(cls, study: Study) -> Self:
        """As it is answered."""
        return cls(**_fields(study))


class StudyDetail(StudyView):
    """A study with its document."""

    document: dict[str, Any]

    @classmethod
    def whole(cls, study: Study, document: dict[str, Any]) -> Self:
        """As it is answered."""
        return cls(**_fields(study), document=document)


def _fields(study: Study) -> dict[str, Any]:
    return {
        "id": study.id,
        "kind": study.kind,
        "at": study.at,
        "title": study.title,
        "summary": study.summary,
        "submitted_by": study.submitted_by,
        "submitted_at": study.submitted_at,
        "document_bytes": study.size,
    }


class StudyList(NewestFirstView):
    """Studies, those of the latest looks at a network first."""

    items: list[StudyView]
