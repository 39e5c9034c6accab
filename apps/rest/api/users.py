"""Users and roles: who has been here, what they may do, and an administrator's word about it."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote

from flask import Response
from pydantic import Field

from adon.access.policy import Action
from adon.access.scopes import READY_MADE
from adon.access.user_names import expected
from adon.access.users import User
from adon.api.access import RoleGrant, RoleList, RoleView, UserBody, UserChange, UserList, UserView
from adon.errors import Conflict
from adon.values import Role
from apps.rest import auditing
from apps.rest.access_views import to_user_view
from apps.rest.answers import check_if_match, done, json_answer
from apps.rest.api.common import PREFIX, Address, Query, answers, blueprint
from apps.rest.guard import action, only_own, requester
from apps.rest.owned import check_owned
from apps.rest.services import services

api = blueprint("users", "Who has been here, and what each may do")


class UserQuery(Query):
    """Which users."""

    limit: int = Field(default=100, ge=1, le=500)
    after: str = Field(default="", max_length=200, description="users whose names come after this one")


class UserAddress(Address):
    """Which user."""

    name: str = Field(max_length=200)


@api.get("/users", responses=answers(200, UserList))
@action(Action.USER_READ)
def list_users(query: UserQuery) -> Response:
    """Everybody who has been here, by name; who may not see others sees themselves."""
    own = only_own(Action.USER_READ)
    known = services().access.users
    found = known.list(query.after, query.limit + 1) if own is None else (known.get(own),)
    page = found[: query.limit]
    following = page[-1].name if len(found) > query.limit else None
    return json_answer(UserList(items=[to_user_view(one) for one in page], next=following))


@api.post("/users", responses=answers(201, UserView, 400, 409, 413, 415))
@action(Action.USER_CHANGE)
def add_user(body: UserBody) -> Response:
    """Name somebody before they sign in for the first time, or who comes with tokens only."""
    identity = None if body.identity is None else expected(body.identity.issuer, body.identity.subject)
    elsewhere = "" if identity is None else f"; signs in as {identity.subject} of {identity.issuer}"
    auditing.explain(f"{body.name}: granted: {', '.join(body.granted) or 'none'}{elsewhere}")
    made = services().access.users.add(body.name, body.granted, services().clock(), identity)
    return done(to_user_view(made), HTTPStatus.CREATED, f"{PREFIX}/users/{quote(made.name)}")


@api.get("/users/me", responses=answers(200, UserView))
@action(Action.USER_READ)
def get_myself() -> Response:
    """Who asks."""
    return json_answer(to_user_view(services().access.users.get(requester().name)))


@api.get("/users/<name>", responses=answers(200, UserView))
@action(Action.USER_READ)
def get_user(path: UserAddress) -> Response:
    """One user."""
    check_owned(Action.USER_READ, "user", path.name, path.name)
    return json_answer(to_user_view(services().access.users.get(path.name)))


@api.patch("/users/<name>", responses=answers(200, UserView, 400, 409, 412, 413, 415))
@action(Action.USER_CHANGE)
def change_user(path: UserAddress, body: UserChange) -> Response:
    """Give or take roles, disable or enable; it holds from the next request on."""
    users = services().access.users
    user = users.get(path.name)
    check_if_match(to_user_view(user))
    _keep_a_way_in(user, body)
    auditing.explain(_words(body))
    after = users.change(
        user.name,
        services().clock(),
        granted=body.granted,
        removed=body.removed,
        disabled=body.disabled,
    )
    return done(to_user_view(after), HTTPStatus.OK)


def _keep_a_way_in(user: User, change: UserChange) -> None:
    """Nobody shuts themselves out.

    :raises Conflict: if the one who asks would be disabled, or an administrator no more.
    """
    if user.name != requester().name:
        return
    if change.disabled:
        raise Conflict("disabled", "nobody disables themselves; another administrator can")
    granted = user.granted if change.granted is None else frozenset(change.granted)
    removed = user.removed if change.removed is None else frozenset(change.removed)
    if Role.ADMIN not in (user.by_rules | granted) - removed:
        raise Conflict("granted", "nobody takes the role admin from themselves; another administrator can")


def _words(change: UserChange) -> str:
    parts = [
        f"{name}: {', '.join(roles) or 'none'}"
        for name, roles in (("granted", change.granted), ("removed", change.removed))
        if roles is not None
    ]
    if change.disabled is not None:
        parts.append("disabled" if change.disabled else "enabled")
    return "; ".join(parts)


@api.get("/roles", responses=answers(200, RoleList))
@action(Action.ROLE_READ)
def list_roles() -> Response:
    """The roles, what each may do, and the ready-made scopes of tokens."""
    items = [
        RoleView(
            name=role,
            may=[RoleGrant(action=one, scope=one.grant[role]) for one in Action if role in one.grant],
        )
        for role in Role
    ]
    scopes = {name: sorted(actions) for name, actions in READY_MADE.items()}
    return json_answer(RoleList(items=items, scopes=scopes))
