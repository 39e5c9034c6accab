"""The audit log, in pages; readers export it and verify its chain (:mod:`adon.client.access`)."""

from __future__ import annotations

from flask import Response
from pydantic import Field

from adon.access.audit import Outcome
from adon.access.policy import Action
from adon.api.access import AuditInOrder, AuditList
from adon.api.times import Time
from adon.errors import InvalidInput, Unavailable
from adon.store.access.audit import Wanted
from apps.rest.access_views import to_audit_line
from apps.rest.api.common import Query, answers, blueprint
from apps.rest.guard import action
from apps.rest.paging import listed
from apps.rest.services import services

api = blueprint("audit", "Who changed what, and who was refused")


class AuditQuery(Query):
    """Which lines, and how many."""

    actor: str | None = Field(default=None, max_length=200)
    action: str | None = Field(default=None, max_length=64)
    outcome: Outcome | None = None
    since: Time | None = None
    until: Time | None = None
    limit: int = Field(default=100, ge=1, le=1000)
    before: int | None = Field(default=None, ge=1, le=2**62, description="lines before this number")
    after: int | None = Field(
        default=None, ge=0, le=2**62, description="lines after this number, the oldest first"
    )


@api.get("/audit", responses=answers(200, AuditList))
@action(Action.AUDIT_READ)
def list_audit(query: AuditQuery) -> Response:
    """Lines, the newest first; with ``after`` the oldest first."""
    if query.before is not None and query.after is not None:
        raise InvalidInput.of("after", "gives the oldest first; leave it out beside before")
    audit = services().access.audit
    wanted = Wanted(
        query.actor, query.action, query.outcome, query.since, query.until, query.before, query.after
    )
    head = audit.head()
    try:
        found = [to_audit_line(one) for one in audit.lines(wanted, query.limit + 1)]
    except ValueError as error:
        raise Unavailable(
            "a line of the audit log was changed; adon audit verify --data DIR names it"
        ) from error
    page = found[: query.limit]
    following = str(page[-1].number) if len(found) > query.limit else None
    kind = AuditList if query.after is None else AuditInOrder
    return listed(kind(items=page, next=following, head=None if head is None else f"{head[0]}:{head[1]}"))
