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
    """Somebody known here; ``roles`` are those in force."""

    name: str
    issuer: str
    subject: str
    display: str | None
    mail: str | None
    groups: list[str]
    roles: list[str]
    by_rules: list[str] = Field(description="roles that the rules gave at the last sign-in")
    granted: list[str] = Field(description="roles that an administrator gave")
    removed: list[str] = Field(description="roles that an administrator took away, whatever the rules say")
    disabled_since: Time | None
    first_seen: Time
    last_seen: Time | None = Field(description="by a browser or with a token, to the minute; null for never")


class UserList(ListView):
    """Users by name."""

    items: list[UserView]


class IdentityBody(Body):
    """Identity of a user at an identity provider, expected at the first sign-in."""

    issuer: str = Field(
        default=PRINCIPALS,
        min_length=1,
        max_length=1000,
        description="`eduPersonPrincipalName`, or the party itself: OpenID's `iss`, SAML's entity ID",
    )
    subject: str = Field(
        min_length=1,
        max_length=255,
        description="the principal name (ann@missouri.edu), or the party's identifier of the person",
    )


class UserBody(Body):
    """A user whom an administrator names; people who sign in elsewhere need none."""

    name: str = Field(min_length=1, max_length=200)
    granted: _Roles = Field(default=[], description="the roles given")
    identity: IdentityBody | None = Field(default=None, description="for sign-in; null: tokens only")


class UserChange(Body):
    """What an administrator decides about a user; what is left out stays."""

    granted: _Roles | None = Field(default=None, description="all roles given here; replaces the list")
    removed: _Roles | None = Field(default=None, description="all roles taken away here; replaces the list")
    disabled: bool | None = None


class RoleGrant(View):
    """One thing that a role may do."""

    action: Action
    scope: Scope


class RoleView(View):
    """A role, and everything it may do."""

    name: Role
    may: list[RoleGrant]


class RoleList(View):
    """All roles, and the ready-made scopes of tokens with the actions they hold."""

    items: list[RoleView]
    scopes: dict[str, list[Action]]


class TokenBody(Body):
    """A token that is asked for."""

    label: str = Field(default="", max_length=100, description="what its owner calls it")
    scope: list[Annotated[str, Field(max_length=64)]] = Field(
        default=["all"], max_length=100, description="ready-made scopes and actions; see GET /roles"
    )
    roles: _Roles | None = Field(default=None, description="limits it to these roles of its owner")
    expires: When | None = Field(default=None, description="a time, or a span from now")
    owner: str | None = Field(default=None, max_length=200, description="another user, by administrators")


class TokenView(View):
    """A token; what proves something is not in it."""

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
    """A token that was just made, with what proves it: shown now and never again."""

    secret: str


class TokenList(ListView):
    """Tokens, the newest first."""

    items: list[TokenView]


class SessionView(View):
    """Signed-in session of a browser, without its secret."""

    id: str
    owner: str
    how: str = Field(description="the way of signing in: token, oidc or shibboleth")
    began: Time
    last_seen: Time = Field(description="to the minute")
    ends: Time = Field(description="whatever is done; earlier if it is not used")
    address: str = Field(description="from where it began; empty if that was not written down")
    browser: str = Field(description="as what it named itself")
    asking: bool = Field(description="whether this request came by it")


class SessionList(ListView):
    """Sessions, the newest first."""

    items: list[SessionView]


class EndedView(View):
    """How many sessions were ended."""

    ended: int


class AuditLine(View):
    """One line of the audit log; ``times`` is how many it stands for."""

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
        description="number and digest (17:9f86d0…) of the log's last line, kept apart from the lines; "
        "null if they are gone"
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
