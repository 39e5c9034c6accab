"""Documents of users, tokens, sessions and the audit log."""

from __future__ import annotations

from adon.access.audit import Line
from adon.access.identity import Token, token_values
from adon.access.users import User, user_values
from adon.api.access import AuditLine, NewTokenView, SessionView, TokenView, UserView
from adon.store.access.sessions import Session


def to_user_view(user: User) -> UserView:
    """A user as it travels."""
    return UserView(**user_values(user))


def to_token_view(token: Token) -> TokenView:
    """A token as it travels."""
    return TokenView(**token_values(token))


def to_new_token_view(token: Token, secret: str) -> NewTokenView:
    """A token as it travels once."""
    return NewTokenView(**token_values(token), secret=secret)


def to_session_view(session: Session, lifetime: float, asking: str | None) -> SessionView:
    """A session as it travels.

    :param lifetime: seconds after which each is over.
    :param asking: the id of the session that asks.
    """
    return SessionView(
        id=session.id,
        owner=session.actor.name,
        how=session.how,
        began=session.began,
        last_seen=session.seen,
        ends=session.began + lifetime,
        address=session.extra.get("address", ""),
        browser=session.extra.get("browser", ""),
        asking=session.id == asking,
    )


def to_audit_line(line: Line) -> AuditLine:
    """A line as it travels."""
    entry = line.entry
    return AuditLine(
        number=line.number,
        at=entry.at,
        actor=entry.actor,
        via=entry.via,
        address=entry.address,
        action=entry.action,
        method=entry.method,
        object=entry.object,
        outcome=entry.outcome,
        status=entry.status,
        detail=entry.detail,
        times=entry.times,
        digest=line.digest,
    )
