"""API tokens: made, listed, revoked; the secret is shown once."""

from __future__ import annotations

from http import HTTPStatus

from flask import Response
from pydantic import Field

from adon.access.identity import Actor, Token, create_token
from adon.access.policy import Action
from adon.access.scopes import beyond, checked_scope
from adon.access.users import User
from adon.api.access import NewTokenView, TokenBody, TokenList, TokenView
from adon.errors import Conflict, Forbidden, InvalidInput
from apps.rest import auditing
from apps.rest.access_views import to_new_token_view, to_token_view
from apps.rest.answers import done, json_answer
from apps.rest.api.common import PREFIX, Address, Query, answers, blueprint
from apps.rest.guard import action, check, only_own, requester
from apps.rest.owned import check_owned
from apps.rest.services import services

api = blueprint("tokens", "Tokens: how programs prove for whom they ask")


class TokenQuery(Query):
    """Which tokens."""

    owner: str | None = Field(default=None, max_length=200)
    limit: int = Field(default=100, ge=1, le=500)
    before: str | None = Field(
        default=None, max_length=32, description="tokens made before this one (its id)"
    )


class TokenAddress(Address):
    """Which token."""

    id: str = Field(max_length=32)


@api.get("/tokens", responses=answers(200, TokenList))
@action(Action.TOKEN_READ)
def list_tokens(query: TokenQuery) -> Response:
    """Tokens, the newest first, revoked and expired ones too; one's own, or everybody's."""
    own = only_own(Action.TOKEN_READ)
    tokens = services().access.tokens
    if own is not None and query.owner not in (None, own):
        return json_answer(TokenList(items=[], next=None))
    before = None if query.before is None else tokens.get(query.before)
    found = tokens.list(query.owner if own is None else own, before, query.limit + 1)
    page = found[: query.limit]
    following = page[-1].id if len(found) > query.limit else None
    return json_answer(TokenList(items=[to_token_view(one) for one in page], next=following))


@api.post("/tokens", responses=answers(201, NewTokenView, 400, 409, 413, 415))
@action(Action.TOKEN_CREATE)
def add_token(body: TokenBody) -> Response:
    """Make a token; the answer's ``secret`` is the only place where it can be seen."""
    actor = requester()
    owner = body.owner if body.owner is not None else actor.name
    check(Action.TOKEN_CREATE, owner)
    user = services().access.users.get(owner)
    _room(owner)
    scope = checked_scope(body.scope)
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
    auditing.explain(f"token {token.id} for {owner}, scope {' '.join(scope)}")
    services().access.tokens.save(token)
    view = to_new_token_view(token, text)
    return done(view, HTTPStatus.CREATED, f"{PREFIX}/tokens/{token.id}")


def _room(owner: str) -> None:
    """One user has so many tokens at most.

    :raises Conflict: if there are that many.
    """
    most, now = services().credentials.most_tokens, services().clock()
    good = [
        token
        for token in services().access.tokens.list(owner)
        if token.revoked is None and (token.expires is None or now < token.expires)
    ]
    if len(good) >= most:
        raise Conflict("owner", f"{owner} has {len(good)} tokens; revoke one that is not needed")


def _hand_on(actor: Actor, scope: tuple[str, ...]) -> None:
    """Nobody hands on more than they have.

    :raises Forbidden: naming what the actor's own token is not good for.
    """
    more = beyond(scope, actor.scope)
    if more:
        raise Forbidden(f"the token of {actor.name} is not good for {', '.join(sorted(more)[:5])}")


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
    limits = services().credentials
    ends = None if actor.until is None else actor.until - now
    if body.expires is None:
        return limits.token_lifetime if ends is None else min(limits.token_lifetime, ends)
    lifetime = body.expires.seen_from(now) - now
    if not lifetime > 0:
        raise InvalidInput.of("expires", "is over already")
    if lifetime > limits.longest_token_lifetime:
        days = limits.longest_token_lifetime / 86_400
        cause = f"a token is good for {days:g} days at most (policy.credentials)"
        raise InvalidInput.of("expires", cause, "out-of-range")
    if ends is not None and lifetime > ends:
        raise InvalidInput.of("expires", "is after the end of the token that this one is asked for with")
    return lifetime


@api.get("/tokens/<id>", responses=answers(200, TokenView))
@action(Action.TOKEN_READ)
def get_token(path: TokenAddress) -> Response:
    """One token, without what proves something."""
    token = services().access.tokens.get(path.id)
    check_owned(Action.TOKEN_READ, "token", token.id, token.owner)
    return json_answer(to_token_view(token))


@api.delete("/tokens/<id>", responses=answers(200, TokenView))
@action(Action.TOKEN_REVOKE)
def revoke_token(path: TokenAddress) -> Response:
    """Make a token worthless at once, with the sessions that began with it; twice does no harm."""
    tokens = services().access.tokens
    token: Token = tokens.get(path.id)
    check_owned(Action.TOKEN_REVOKE, "token", token.id, token.owner)
    auditing.explain(f"token {token.id} of {token.owner}")
    return done(to_token_view(tokens.revoke(token.id, services().clock())), HTTPStatus.OK)
