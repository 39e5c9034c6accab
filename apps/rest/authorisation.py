"""Permission of the caller of a route, decided by :mod:`adon.access.policy`.

The check before each request refuses a caller who may not use the route even on an object of their own.  The
owner of an object is checked when the object has been read by the id in the path.  A caller who may not see
an object gets the answer for an object that does not exist, so that ids cannot be probed.  A caller who may
see it, and may not do what was asked, gets 403 with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from flask import g

from adon.access.policy import Action, OwnedObject
from adon.api.alarms import SubscriptionView
from adon.broker.decision import Decision
from adon.broker.flow import Flow
from adon.broker.use_access import barred_place
from adon.errors import Forbidden, NotFound
from adon.flowvisor.rules.slices import Requester
from apps.rest.authentication import current_route, requester
from apps.rest.services import Services, services

MOST_SUBSCRIPTIONS = 1000
"""The collector keeps no more (:mod:`apps.collector.control`)."""

_READING = {
    Action.FLOW_CANCEL: Action.FLOW_READ,
    Action.FLOW_REPORT: Action.FLOW_READ,
    Action.JOB_CANCEL: Action.JOB_READ,
    Action.RESERVATION_RELEASE: Action.RESERVATION_READ,
    Action.SUBSCRIPTION_DELETE: Action.SUBSCRIPTION_READ,
    Action.TOKEN_REVOKE: Action.TOKEN_READ,
    Action.SESSION_END: Action.SESSION_READ,
    Action.USER_CHANGE: Action.USER_READ,
}
"""The action that shows an object, for each action that changes it."""


def authorise_request() -> None:
    """Refuse a caller who may not use the route, even on an object of their own.

    Where the configuration says who may measure, the handler asks about each series.

    :raises NotAuthenticated, Forbidden: with the policy's reason.
    """
    route = current_route()
    if route is not None:
        own = OwnedObject(None if g.actor is None else g.actor.name)
        services().policy.authorise(g.actor, route.action, own)


def check(wanted: Action, owner: str | None) -> None:
    """Refuse an action of the caller on an object of that owner, unless the policy allows it.

    :raises Forbidden: with the policy's reason.
    """
    services().policy.authorise(g.actor, wanted, OwnedObject(owner))


def check_place(path: str | None = None, compute: str | None = None) -> None:
    """Refuse a path or a compute site that the configuration does not let the caller reserve.

    The controller checks what a flow uses.

    :raises Forbidden: with the reason.
    """
    actor = requester()
    grants = services().configuration.policy.use_access
    why = barred_place(Requester(actor.name, actor.roles, actor.groups), grants, path, compute)
    if why:
        raise Forbidden(why)


def with_requester(request: object) -> dict[str, object]:
    """Return the command about a requested flow: the request as it was sent, and its requester."""
    actor = requester()
    return {
        "request": request,
        "requester": actor.name,
        "roles": sorted(actor.roles),
        "groups": sorted(actor.groups),
    }


def owner_filter(wanted: Action) -> str | None:
    """Return the owner whose objects a list may show; None for those of all owners."""
    return None if services().policy.decide(g.actor, wanted).allowed else requester().name


class Reader(NamedTuple):
    """Access to the objects of one kind.

    :ivar read: from the services and the id to the object.
    :ivar owner: from the services and the object to its owner's name.
    """

    read: Callable[[Services, str], Any]
    owner: Callable[[Services, Any], str | None]


def read_subject(kind: str, name: str, wanted: Action) -> Any:
    """Return the object of a kind with this id, if the caller may do this to it.

    :raises NotFound: if there is none, or the caller may not see it.
    :raises Forbidden: if the caller may only see it.
    """
    parts, reader = services(), _READERS[kind]
    found = reader.read(parts, name)
    owner = reader.owner(parts, found)
    shown = parts.policy.decide(g.actor, _READING.get(wanted, wanted), OwnedObject(owner))
    if not shown.allowed:
        g.hidden = shown.reason  # for the audit log
        raise NotFound(kind, name)
    check(wanted, owner)
    return found


def flow_number(text: str) -> int:
    """Return 17 of ``f-17``.

    :raises NotFound: if the text is no id of a flow.
    """
    return object_number("flow", "f", text)


def object_number(kind: str, prefix: str, text: str) -> int:
    """Return the number in an id such as ``m-3``.

    :raises NotFound: if the text is no id of this kind.
    """
    found = re.fullmatch(rf"{prefix}-([1-9][0-9]{{0,14}})", text)
    if found is None:
        raise NotFound(kind, text)
    return int(found[1])


def subscriptions(parts: Services) -> list[SubscriptionView]:
    """Return the subscriptions of all users."""
    documents = parts.measurements.documents("subscription", None, None, MOST_SUBSCRIPTIONS)
    return [SubscriptionView.model_validate(document) for document in documents]


def _subscription(parts: Services, name: str) -> SubscriptionView:
    found = next((one for one in subscriptions(parts) if one.id == name), None)
    if found is None:
        raise NotFound("subscription", name)
    return found


def _flow(parts: Services, name: str) -> Flow:
    return parts.store.flow(flow_number(name))


def _requester(parts: Services, decision: Decision) -> str | None:
    return _flow(parts, decision.flow).requester


_READERS = {
    "flow": Reader(_flow, lambda _, flow: flow.requester),
    "decision": Reader(lambda parts, name: parts.store.decision(name), _requester),
    "job": Reader(
        lambda parts, name: parts.store.job(object_number("job", "j", name)), lambda _, job: job.requester
    ),
    "reservation": Reader(
        lambda parts, name: parts.store.reservation(object_number("reservation", "r", name)),
        lambda _, reservation: reservation.owner,
    ),
    "subscription": Reader(_subscription, lambda _, subscription: subscription.owner),
    "token": Reader(lambda parts, name: parts.access.tokens.get(name), lambda _, token: token.owner),
    "session": Reader(
        lambda parts, name: parts.access.sessions.find(name, parts.clock()),
        lambda _, session: session.actor.name,
    ),
    "user": Reader(lambda parts, name: parts.access.users.get(name), lambda _, user: user.name),
}
