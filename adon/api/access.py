"""Users, roles, tokens, sessions and the audit log."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from adon.access.audit import Outcome
from adon.access.policy import Action, Scope
from adon.access.user_names import PRINCIPALS
from adon.api.base import Body, Ids, ListView, NewestFirst, Query, Time, View
from adon.timestamps import When
from adon.values import Role

_Roles = Annotated[list[Role], Field(max_length=len(Role))]


class UserView(View):
    """User; ``roles`` are the roles in force."""

    name: str
    issuer: str
    subject: str
    display: str | None
    mail: str | None
    groups: list[str]
    roles: list[str]
    by_rules: list[str] = Field(description="roles by the rules at the last sign-in")
    granted: list[str] = Field(description="roles that an administrator granted")
    removed: list[str] = Field(description="roles that an administrator removed; overrides the rules")
    disabled_since: Time | None
    first_seen: Time
    last_seen: Time | None = Field(description="time of the last request, to the minute; null: never")


class UserList(ListView):
    """Users by name."""

    items: list[UserView]


class IdentityBody(Body):
    """Identity of a user at an identity provider, expected at the first sign-in."""

    issuer: str = Field(
        default=PRINCIPALS,
        min_length=1,
        max_length=1000,
        description="`eduPersonPrincipalName`, or the identity provider: OpenID's `iss`, SAML's entity ID",
    )
    subject: str = Field(
        min_length=1,
        max_length=255,
        description="the principal name (ann@missouri.edu), or the provider's identifier of the user",
    )


class UserBody(Body):
    """User to create; users of an identity provider are created at their first sign-in."""

    name: str = Field(min_length=1, max_length=200)
    granted: _Roles = Field(default=[], description="granted roles")
    identity: IdentityBody | None = Field(default=None, description="identity for sign-in; null: tokens only")


class UserChange(Body):
    """Changes of a user; absent fields stay unchanged."""

    granted: _Roles | None = Field(default=None, description="all granted roles; replaces the list")
    removed: _Roles | None = Field(default=None, description="all removed roles; replaces the list")
    disabled: bool | None = None


class RoleGrant(View):
    """Permission of a role: an action and its scope."""

    action: Action
    scope: Scope


class RoleView(View):
    """Role with its permissions."""

    name: Role
    may: list[RoleGrant]


class RoleList(View):
    """All roles, and the predefined scopes of tokens with their actions."""

    items: list[RoleView]
    scopes: dict[str, list[Action]]


class TokenBody(Body):
    """Token to create."""

    label: str = Field(default="", max_length=100, description="label of the owner")
    scope: list[Annotated[str, Field(max_length=64)]] = Field(
        default=["all"], max_length=100, description="predefined scopes and actions; see GET /roles"
    )
    roles: _Roles | None = Field(default=None, description="roles of the owner that the token is limited to")
    expires: When | None = Field(default=None, description="expiry: a time, or a span from now")
    owner: str | None = Field(
        default=None, max_length=200, description="owner; another user needs an administrator"
    )


class TokenView(View):
    """Token without its secret."""

    id: str
    owner: str
    label: str
    scope: list[str]
    roles: list[str] | None
    created: Time
    expires: Time | None
    revoked: Time | None
    last_used: Time | None


class NewTokenView(TokenView):
    """Created token with its secret, which is shown only once."""

    secret: str


class TokenList(ListView):
    """Tokens, the newest first."""

    items: list[TokenView]


class SessionView(View):
    """Signed-in session of a browser, without its secret."""

    id: str
    owner: str
    how: str = Field(description="method of sign-in: token, oidc or shibboleth")
    began: Time
    last_seen: Time = Field(description="time of the last request, to the minute")
    ends: Time = Field(description="latest end; an unused session ends earlier")
    address: str = Field(description="client address at sign-in; empty if unknown")
    browser: str = Field(description="User-Agent of the browser")
    asking: bool = Field(description="whether this request used the session")


class SessionList(ListView):
    """Sessions, the newest first."""

    items: list[SessionView]


class SessionEndView(View):
    """Number of ended sessions."""

    ended: int


class AuditLine(View):
    """Line of the audit log; ``times`` is the number of requests that it counts."""

    number: int
    at: Time
    actor: str
    via: str
    address: str
    action: str
    method: str
    object: str
    outcome: Outcome
    status: int
    detail: str
    times: int
    digest: str


class AuditList(ListView):
    """Lines, the newest first."""

    items: list[AuditLine]
    head: str | None = Field(
        description="number and digest (17:9f86d0…) of the last line, stored separately from the lines; "
        "null if missing"
    )


class UserName(Ids):
    """Name of a user."""

    name: str = Field(max_length=200)


class OwnerQuery(Query):
    """Owner of sessions."""

    owner: str | None = Field(default=None, max_length=200)


class CredentialQuery(NewestFirst):
    """Filter of tokens and of sessions."""

    owner: str | None = Field(default=None, max_length=200)
    limit: int = Field(default=100, ge=1, le=500)


class AuditQuery(Query):
    """Filters of the audit log."""

    actor: str | None = Field(default=None, max_length=200)
    action: str | None = Field(default=None, max_length=64)
    outcome: Outcome | None = None
    since: Time | None = None
    until: Time | None = None
    limit: int = Field(default=100, ge=1, le=1000)
    before: int | None = Field(default=None, ge=1, le=2**62, description="lines before this number")
    after: int | None = Field(default=None, ge=0, le=2**62, description="lines after this number, ascending")
