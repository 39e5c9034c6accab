"""Sessions: at which browsers somebody is signed in, and how to sign out there."""

from __future__ import annotations

from http import HTTPStatus

from flask import Response
from pydantic import Field

from adon.access.policy import Action
from adon.api.access import EndedView, SessionList, SessionView
from adon.store.access.sessions import Session
from apps.rest import auditing
from apps.rest.access_views import to_session_view
from apps.rest.answers import check_if_match, done, json_answer
from apps.rest.api.common import Address, Query, answers, blueprint
from apps.rest.guard import action, check, only_own, requester
from apps.rest.owned import check_owned
from apps.rest.services import services

api = blueprint("sessions", "Sessions: at which browsers somebody is signed in")


class OwnerQuery(Query):
    """Whose."""

    owner: str | None = Field(default=None, max_length=200)


class SessionQuery(OwnerQuery):
    """Which sessions."""

    limit: int = Field(default=100, ge=1, le=500)
    before: str | None = Field(
        default=None, max_length=32, description="sessions that began before this one (its id)"
    )


class SessionAddress(Address):
    """Which session."""

    id: str = Field(max_length=32)


@api.get("/sessions", responses=answers(200, SessionList))
@action(Action.SESSION_READ)
def list_sessions(query: SessionQuery) -> Response:
    """Sessions that are good now, the newest first; one's own, or everybody's."""
    own = only_own(Action.SESSION_READ)
    if own is not None and query.owner not in (None, own):
        return json_answer(SessionList(items=[], next=None))
    return json_answer(_listed(query.owner if own is None else own, query))


def _listed(owner: str | None, query: SessionQuery) -> SessionList:
    kept, now = services().access.sessions, services().clock()
    before = None if query.before is None else kept.one(query.before, now)
    found = kept.list(now, owner, before, query.limit + 1)
    page = found[: query.limit]
    following = page[-1].id if len(found) > query.limit else None
    return SessionList(items=[_shown(one) for one in page], next=following)


def _shown(session: Session) -> SessionView:
    return to_session_view(session, services().access.sessions.lifetime, _asking())


@api.get("/sessions/<id>", responses=answers(200, SessionView))
@action(Action.SESSION_READ)
def get_session(path: SessionAddress) -> Response:
    """One session; what proves something is not in it."""
    kept = services().access.sessions
    found = kept.one(path.id, services().clock())
    check_owned(Action.SESSION_READ, "session", found.id, found.actor.name)
    return json_answer(_shown(found))


@api.delete("/sessions/<id>", responses=answers(200, EndedView))
@action(Action.SESSION_END)
def end_session(path: SessionAddress) -> Response:
    """Sign somebody out at one browser."""
    kept = services().access.sessions
    found = kept.one(path.id, services().clock())
    check_owned(Action.SESSION_END, "session", found.id, found.actor.name)
    check_if_match(_shown(found))
    auditing.explain(f"session {found.id} of {found.actor.name}")
    return done(EndedView(ended=kept.end_of(found.actor.name, found.id)), HTTPStatus.OK)


@api.delete("/sessions", responses=answers(200, EndedView, 404))
@action(Action.SESSION_END)
def end_sessions(query: OwnerQuery) -> Response:
    """Sign somebody out at every browser but the one that asks; oneself, if nobody is named."""
    owner = query.owner if query.owner is not None else requester().name
    check(Action.SESSION_END, owner)
    services().access.users.get(owner)
    check_if_match(_listed(owner, SessionQuery()))
    ended = services().access.sessions.end_of(owner, but=_asking())
    auditing.explain(f"{ended} sessions of {owner}")
    return done(EndedView(ended=ended), HTTPStatus.OK)


def _asking() -> str | None:
    """The session that asks; None for a token."""
    actor = requester()
    return actor.proof if actor.via.startswith("session:") else None
