"""Users, roles, tokens, sessions and the audit log."""

from __future__ import annotations

from adon.access.identity import Actor, Token, create_token, token_values
from adon.access.policy import Action
from adon.access.scopes import READY_MADE, check_scope, find_excess_actions
from adon.access.user_names import derive_name
from adon.access.users import User, user_values
from adon.api import routes
from adon.api.access import (
    AuditLine,
    AuditList,
    AuditQuery,
    CredentialQuery,
    NewTokenView,
    OwnerQuery,
    RoleGrant,
    RoleList,
    RoleView,
    SessionEndView,
    SessionList,
    SessionView,
    TokenBody,
    TokenList,
    TokenView,
    UserBody,
    UserChange,
    UserList,
    UserView,
)
from adon.api.base import InOrder
from adon.errors import Conflict, Forbidden, InvalidInput, Unavailable
from adon.store.access.audit import AuditFilter
from adon.store.access.sessions import Session
from adon.values import Role
from apps.rest import request_audit
from apps.rest.authentication import requester
from apps.rest.authorisation import check, owner_filter
from apps.rest.dispatch import handles
from apps.rest.pagination import page
from apps.rest.responses import check_if_match
from apps.rest.services import services


@handles(routes.LIST_USERS)
def list_users(query: InOrder) -> UserList:
    """Return the users that the caller may see, by name."""
    own = owner_filter(Action.USER_READ)
    known = services().access.users
    found = known.list(query.after or "", query.limit + 1) if own is None else (known.get(own),)
    shown, following = page(found, query.limit, lambda one: one.name)
    return UserList(items=[UserView.of(user_values(one)) for one in shown], next=following)


@handles(routes.ADD_USER)
def add_user(body: UserBody) -> UserView:
    """Create a user before the first sign-in, or a user with tokens only."""
    identity = None if body.identity is None else derive_name(body.identity.issuer, body.identity.subject)
    elsewhere = "" if identity is None else f"; signs in as {identity.subject} of {identity.issuer}"
    request_audit.explain(f"{body.name}: granted: {', '.join(body.granted) or 'none'}{elsewhere}")
    made = services().access.users.add(body.name, body.granted, services().clock(), identity)
    return UserView.of(user_values(made))


@handles(routes.GET_MYSELF)
def get_myself() -> UserView:
    """Return the user who asks."""
    return UserView.of(user_values(services().access.users.get(requester().name)))


@handles(routes.GET_USER)
def get_user(user: User) -> UserView:
    """Return one user."""
    return UserView.of(user_values(user))


@handles(routes.CHANGE_USER)
def change_user(user: User, body: UserChange) -> UserView:
    """Grant or remove roles of a user, disable or enable the user, from the next request on."""
    _keep_a_way_in(user, body)
    request_audit.explain(_words(body))
    after = services().access.users.change(
        user.name,
        services().clock(),
        granted=body.granted,
        removed=body.removed,
        disabled=body.disabled,
    )
    return UserView.of(user_values(after))


def _keep_a_way_in(user: User, change: UserChange) -> None:
    """Check that administrators keep their own access.

    :raises Conflict: if the one who asks would be disabled, or an administrator no more.
    """
    if user.name != requester().name:
        return
    if change.disabled:
        raise Conflict("disabled", "you cannot disable yourself; ask another administrator")
    granted = user.granted if change.granted is None else frozenset(change.granted)
    removed = user.removed if change.removed is None else frozenset(change.removed)
    if Role.ADMIN not in (user.by_rules | granted) - removed:
        raise Conflict("granted", "you cannot remove your own role admin; ask another administrator")


def _words(change: UserChange) -> str:
    parts = [
        f"{name}: {', '.join(roles) or 'none'}"
        for name, roles in (("granted", change.granted), ("removed", change.removed))
        if roles is not None
    ]
    if change.disabled is not None:
        parts.append("disabled" if change.disabled else "enabled")
    return "; ".join(parts)


@handles(routes.LIST_ROLES)
def list_roles() -> RoleList:
    """Return the roles with their permissions, and the predefined scopes of tokens."""
    items = [
        RoleView(
            name=role,
            may=[RoleGrant(action=one, scope=one.grant[role]) for one in Action if role in one.grant],
        )
        for role in Role
    ]
    scopes = {name: sorted(actions) for name, actions in READY_MADE.items()}
    return RoleList(items=items, scopes=scopes)


@handles(routes.LIST_TOKENS)
def list_tokens(query: CredentialQuery) -> TokenList:
    """Return tokens, also revoked and expired ones, the newest first; one's own, or those of all users."""
    own = owner_filter(Action.TOKEN_READ)
    tokens = services().access.tokens
    if own is not None and query.owner not in (None, own):
        return TokenList(items=[], next=None)
    before = None if query.before is None else tokens.get(query.before)
    found = tokens.list(query.owner if own is None else own, before, query.limit + 1)
    shown, following = page(found, query.limit, lambda one: one.id)
    return TokenList(items=[TokenView.of(token_values(one)) for one in shown], next=following)


@handles(routes.ADD_TOKEN)
def add_token(body: TokenBody) -> NewTokenView:
    """Create a token; only this answer contains its ``secret``."""
    actor = requester()
    owner = body.owner if body.owner is not None else actor.name
    check(Action.TOKEN_CREATE, owner)
    user = services().access.users.get(owner)
    _room(owner)
    scope = check_scope(body.scope)
    _hand_on(actor, scope)
    now = services().clock()
    text, token = create_token(
        owner,
        now,
        _lifetime(body, actor, now),
        label=body.label,
        scope=scope,
        roles=_limited(body, actor, user),
    )
    request_audit.explain(f"token {token.id} for {owner}, scope {' '.join(scope)}")
    services().access.tokens.save(token)
    return NewTokenView.of(token_values(token), secret=text)


def _room(owner: str) -> None:
    """Check the maximum number of tokens of a user.

    :raises Conflict: if there are that many.
    """
    most, now = services().configuration.policy.credentials.most_tokens, services().clock()
    good = [
        token
        for token in services().access.tokens.list(owner)
        if token.revoked is None and (token.expires is None or now < token.expires)
    ]
    if len(good) >= most:
        raise Conflict("owner", f"{owner} has {len(good)} tokens, the maximum; revoke an unused one")


def _hand_on(actor: Actor, scope: tuple[str, ...]) -> None:
    """Check that a new token does not exceed the requester's own token.

    :raises Forbidden: naming the actions that the actor's own token does not allow.
    """
    more = find_excess_actions(scope, actor.scope)
    if more:
        raise Forbidden(f"the token of {actor.name} does not allow {', '.join(sorted(more)[:5])}")


def _limited(body: TokenBody, actor: Actor, user: User) -> frozenset[str] | None:
    """The roles that a new token is limited to; None for all that its owner has."""
    asked = None if body.roles is None else frozenset(map(str, body.roles))
    if user.name != actor.name or actor.roles == user.roles:
        return asked
    return actor.roles if asked is None else asked & actor.roles  # the actor's own token is limited


def _lifetime(body: TokenBody, actor: Actor, now: float) -> float:
    """Seconds until a new token expires.

    :raises InvalidInput: for a time that is over, or too far ahead.
    """
    limits = services().configuration.policy.credentials
    ends = None if actor.until is None else actor.until - now
    if body.expires is None:
        return limits.token_lifetime if ends is None else min(limits.token_lifetime, ends)
    lifetime = body.expires.seen_from(now) - now
    if not lifetime > 0:
        raise InvalidInput.of("expires", "is in the past; expected for example 24 h")
    if lifetime > limits.longest_token_lifetime:
        days = limits.longest_token_lifetime / 86_400
        cause = f"is above the maximum of {days:g} days (policy.credentials); expected for example 24 h"
        raise InvalidInput.of("expires", cause, "out-of-range")
    if ends is not None and lifetime > ends:
        raise InvalidInput.of(
            "expires", "is after the expiry of the token of this request; expected less, for example 1 h"
        )
    return lifetime


@handles(routes.GET_TOKEN)
def get_token(token: Token) -> TokenView:
    """Return one token without its secret."""
    return TokenView.of(token_values(token))


@handles(routes.REVOKE_TOKEN)
def revoke_token(token: Token) -> TokenView:
    """Revoke a token and end the sessions that started with it; idempotent."""
    tokens = services().access.tokens
    request_audit.explain(f"token {token.id} of {token.owner}")
    return TokenView.of(token_values(tokens.revoke(token.id, services().clock())))


@handles(routes.LIST_SESSIONS)
def list_sessions(query: CredentialQuery) -> SessionList:
    """Return the valid browser sessions, the newest first; one's own, or those of all users."""
    own = owner_filter(Action.SESSION_READ)
    if own is not None and query.owner not in (None, own):
        return SessionList(items=[], next=None)
    return _listed(query.owner if own is None else own, query)


def _listed(owner: str | None, query: CredentialQuery) -> SessionList:
    kept, now = services().access.sessions, services().clock()
    before = None if query.before is None else kept.find(query.before, now)
    found = kept.list(now, owner, before, query.limit + 1)
    shown, following = page(found, query.limit, lambda one: one.id)
    return SessionList(items=[_shown(one) for one in shown], next=following)


def _shown(session: Session) -> SessionView:
    return SessionView.of(
        session,
        owner=session.actor.name,
        last_seen=session.seen,
        ends=session.began + services().access.sessions.lifetime,
        address=session.extra.get("address", ""),
        browser=session.extra.get("browser", ""),
        asking=session.id == _asking(),
    )


@handles(routes.GET_SESSION)
def get_session(session: Session) -> SessionView:
    """Return one browser session without its secret."""
    return _shown(session)


@handles(routes.END_SESSION)
def end_session(session: Session) -> SessionEndView:
    """End one browser session."""
    owner = session.actor.name
    request_audit.explain(f"session {session.id} of {owner}")
    return SessionEndView(ended=services().access.sessions.end_all(owner, session.id))


@handles(routes.END_SESSIONS)
def end_sessions(query: OwnerQuery) -> SessionEndView:
    """End all browser sessions of a user, except the one that asks; one's own by default."""
    owner = query.owner if query.owner is not None else requester().name
    check(Action.SESSION_END, owner)
    services().access.users.get(owner)
    check_if_match(_listed(owner, CredentialQuery()))
    ended = services().access.sessions.end_all(owner, but=_asking())
    request_audit.explain(f"{ended} sessions of {owner}")
    return SessionEndView(ended=ended)


def _asking() -> str | None:
    """The session that asks; None for a token."""
    actor = requester()
    return actor.proof if actor.via.startswith("session:") else None


@handles(routes.LIST_AUDIT)
def list_audit(query: AuditQuery) -> AuditList:
    """Return lines of the audit log, the newest first; with ``after`` the oldest first."""
    if query.before is not None and query.after is not None:
        raise InvalidInput.of("after", "contradicts before; expected one of both, for example after=0")
    audit = services().access.audit
    wanted = AuditFilter(
        query.actor, query.action, query.outcome, query.since, query.until, query.before, query.after
    )
    head = audit.head()
    try:
        found = [
            AuditLine.of(one.entry, number=one.number, digest=one.digest)
            for one in audit.lines(wanted, query.limit + 1)
        ]
    except ValueError as error:
        raise Unavailable(
            "a line of the audit log was changed; adon audit verify --data DIR names it"
        ) from error
    shown, following = page(found, query.limit, lambda one: str(one.number))
    return AuditList(items=shown, next=following, head=None if head is None else f"{head[0]}:{head[1]}")
