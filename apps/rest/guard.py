"""Who asks, and whether they may: the one gate in front of every view.

Each view names the action it carries out; an application with a view that names none does not start.
The gate refuses whom the action is refused even on an object of their own; a view that is about one
object asks again with its owner (:func:`check`).  All answers come from :mod:`adon.access.policy`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from flask import Flask, current_app, g, request

from adon.access.identity import Actor
from adon.access.policy import Action, Owned
from adon.broker.use_access import barred_place
from adon.errors import AdonError, Forbidden, NotAuthenticated
from adon.flowvisor.rules.slices import Who
from apps.rest.inside import told_inside
from apps.rest.services import services

_ACTION = "adon_action"
_ASKS = "adon_asks"
F = TypeVar("F", bound=Callable[..., object])


def action(name: Action, *, asks: bool = False) -> Callable[[F], F]:
    """Mark a view with the action it carries out.

    :param asks: it only answers a question that is too long for an address: a POST that changes nothing.
    """

    def mark(view: F) -> F:
        setattr(view, _ACTION, name)
        setattr(view, _ASKS, asks)
        return view

    return mark


def action_of(app: Flask, endpoint: str) -> Action | None:
    """The action of a view, or None where it names none."""
    return getattr(app.view_functions[endpoint], _ACTION, None)


def only_asks(app: Flask, endpoint: str) -> bool:
    """Whether a view changes nothing, whatever its method."""
    return bool(getattr(app.view_functions[endpoint], _ASKS, False))


def require_actions(app: Flask) -> None:
    """Refuse to start with a view of the API that no rule covers.

    :raises AdonError: naming the views.
    """
    bare = [
        rule.endpoint
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/api/") and action_of(app, rule.endpoint) is None
    ]
    if bare:
        raise AdonError(f"no action is named by: {', '.join(bare)}")


def identify() -> None:
    """Before each request to the API: who asks.

    By the bearer token alone, unless the request came from inside this process (:mod:`apps.rest.inside`).

    :raises NotAuthenticated: for a token that is not valid.
    """
    g.actor = told_inside(request.environ) or bearer()


def gate_api() -> None:
    """After that: the first check.

    :raises NotAuthenticated, Forbidden: if it ends here.
    """
    if request.endpoint is None:
        return  # there is no such address: 404 tells nothing
    wanted = action_of(current_app, request.endpoint)
    if wanted is None:
        raise AdonError(f"{request.endpoint} names no action")
    admit(wanted)


def admit(wanted: Action) -> None:
    """Refuse whoever may not do this even on an object of their own.

    Where the configuration says who may measure, the view asks about each series.

    :raises NotAuthenticated, Forbidden: with the policy's reason.
    """
    services().policy.authorise(g.actor, wanted, Owned(None if g.actor is None else g.actor.name))


def bearer() -> Actor | None:
    """The actor of the request's bearer token (RFC 6750); None without an Authorization header.

    :raises NotAuthenticated: for a token that is not valid, or another scheme.
    """
    header = request.headers.get("Authorization")
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise NotAuthenticated("send the token as: Authorization: Bearer <token>")
    return actor_of(token.strip())


def actor_of(token: str) -> Actor:
    """The actor that a token proves.

    :raises NotAuthenticated: for a token that is unknown, revoked or expired, or whose owner is disabled.
    """
    parts = services()
    return parts.access.tokens.authenticate(token, parts.clock())


def requester() -> Actor:
    """The actor of this request, who has an identity.

    :raises NotAuthenticated: if not.
    """
    if g.actor is None:
        raise NotAuthenticated("this needs an identity")
    return cast(Actor, g.actor)


def check(wanted: Action, owner: str | None) -> None:
    """Refuse if this actor may not do this to an object of that owner.

    :raises Forbidden: with the policy's reason.
    """
    services().policy.authorise(g.actor, wanted, Owned(owner))


def check_place(path: str | None = None, compute: str | None = None) -> None:
    """Refuse if the configuration does not let this actor have a path, or a compute site, for itself.

    What a flow uses the controller asks itself.

    :raises Forbidden: with the reason.
    """
    actor = requester()
    why = barred_place(Who(actor.name, actor.roles, actor.groups), services().use_access, path, compute)
    if why:
        raise Forbidden(why)


def wished(request: object) -> dict[str, object]:
    """The command about a transfer that somebody wishes for: as it was given, and who they are."""
    actor = requester()
    return {
        "request": request,
        "requester": actor.name,
        "roles": sorted(actor.roles),
        "groups": sorted(actor.groups),
    }


def only_own(wanted: Action) -> str | None:
    """The name a list must be limited to; None for an actor who may see everybody's."""
    return None if services().policy.decide(g.actor, wanted).allowed else requester().name
