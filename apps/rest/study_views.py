"""Documents of studies."""

from __future__ import annotations

from typing import Any

from adon.api.studies import StudyDetail, StudyView
from adon.studies.model import Study


def to_study_view(study: Study) -> StudyView:
    """As it is answered."""
    return StudyView(**_fields(study))


def to_study_detail(study: Study, document: dict[str, Any]) -> StudyDetail:
    """As it is answered."""
    return StudyDetail(**_fields(study), document=document)


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
