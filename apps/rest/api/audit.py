"""The audit log: read, exported, checked."""

from __future__ import annotations

from typing import Any, Literal

from flask import Response
from pydantic import Field

from adon.access.audit import Outcome
from adon.access.policy import Action
from adon.store.access.audit import Wanted
from apps.rest.access_models import AuditLine, AuditList, Verification
from apps.rest.answers import json_answer
from apps.rest.api.common import Query, answers, blueprint
from apps.rest.guard import action
from apps.rest.paging import listed
from apps.rest.services import services
from apps.rest.times import Time

api = blueprint("audit", "Who changed what, and who was refused")

_JSON_LINES = "application/x-ndjson"


class AuditFilter(Query):
    """Which lines."""

    actor: str | None = Field(default=None, max_length=200)
    action: str | None = Field(default=None, max_length=64)
    outcome: Outcome | None = None
    since: Time | None = None
    until: Time | None = None

    def wanted(self, before: int | None = None) -> Wanted:
        """As the log is asked."""
        return Wanted(self.actor, self.action, self.outcome, self.since, self.until, before)


class AuditQuery(AuditFilter):
    """Which lines, and how many."""

    limit: int = Field(default=100, ge=1, le=1000)
    before: int | None = Field(default=None, ge=1, le=2**62, description="lines before this number")


class ExportQuery(AuditFilter):
    """Which lines, in which form."""

    format: Literal["csv", "jsonl"] = "csv"


@api.get("/audit", responses=answers(200, AuditList))
@action(Action.AUDIT_READ)
def list_audit(query: AuditQuery) -> Response:
    """Lines, the newest first."""
    found = services().access.audit.lines(query.wanted(query.before), query.limit + 1)
    page = found[: query.limit]
    following = str(page[-1].number) if len(found) > query.limit else None
    return listed(AuditList(items=[AuditLine.of(one) for one in page], next=following))


_FILES: dict[str | int, Any] = {
    "200": {
        "description": "the lines, the oldest first",
        "content": {
            "text/csv": {"schema": {"type": "string"}},
            _JSON_LINES: {"schema": {"type": "string"}},
        },
    }
}


@api.get("/audit/export", responses=_FILES)
@action(Action.AUDIT_READ)
def export_audit(query: ExportQuery) -> Response:
    """The log as a file, however long: CSV for a spreadsheet, or JSON lines, which can be verified."""
    content = services().whole_log.exported(query.format, query.wanted())
    response = Response(content, mimetype="text/csv" if query.format == "csv" else _JSON_LINES)
    response.headers["Content-Disposition"] = f'attachment; filename="adon-audit.{query.format}"'
    response.cache_control.no_store = True
    return response


@api.get("/audit/verification", responses=answers(200, Verification))
@action(Action.AUDIT_READ)
def verify_audit() -> Response:
    """Whether every line is there and unchanged; takes some seconds per hundred thousand lines."""
    return json_answer(Verification.of(services().whole_log.verified()))
