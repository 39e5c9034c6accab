"""Alarms and subscriptions to them."""

from __future__ import annotations

import uuid

from flask import g

from adon.access.policy import Action
from adon.api import routes
from adon.api.alarms import (
    AlarmList,
    AlarmQuery,
    AlarmView,
    SubscriptionBody,
    SubscriptionList,
    SubscriptionView,
)
from adon.api.base import DeletionView, NewestFirst
from adon.errors import Conflict, Forbidden, NotFound
from apps.rest import measurement_access
from apps.rest.authentication import requester
from apps.rest.authorisation import owner_filter, subscriptions
from apps.rest.dispatch import handles
from apps.rest.pagination import TimePage, cut
from apps.rest.services import ask_collector, services
from measurement.anomaly.alarm import Alarm
from measurement.model import from_json


@handles(routes.LIST_ALARMS)
def list_alarms(query: AlarmQuery) -> AlarmList:
    """Return the alarms that the caller may read, the newest first."""
    page = TimePage(query, query.until)
    found = measurement_access.alarms(
        services(),
        g.actor,
        since=query.since,
        until=page.until,
        open_only=query.open,
        path=query.path,
        metric=query.metric,
        limit=page.limit,
    )
    shown, following = page.cut(found, lambda alarm: alarm.raised_at)
    return AlarmList(items=shown, next=following)


@handles(routes.GET_ALARM)
def get_alarm(id_: str) -> AlarmView:
    """Return one alarm with its evidence."""
    return AlarmView.of(_alarm(id_))


def _alarm(name: str) -> Alarm:
    parts = services()
    document = parts.measurements.document("alarm", name)
    if document is None:
        raise NotFound("alarm", name)
    alarm = from_json(Alarm, document)
    if not parts.policy.decide(g.actor, Action.MEASUREMENT_READ, alarm.series).allowed:
        raise NotFound("alarm", name)  # as if it had never been raised
    return alarm


@handles(routes.ACKNOWLEDGE)
def acknowledge(id_: str) -> AlarmView:
    """Acknowledge an open alarm; the first acknowledgement stays."""
    if not _alarm(id_).open:
        raise Conflict("alarm", "has ended already")
    answer = ask_collector("alarm.acknowledge", {"id": id_, "who": requester().name})
    return AlarmView.of(from_json(Alarm, answer))


@handles(routes.LIST_SUBSCRIPTIONS)
def list_subscriptions(query: NewestFirst) -> SubscriptionList:
    """Return subscriptions to alarms; an administrator sees those of all users."""
    own = owner_filter(Action.SUBSCRIPTION_READ)
    found = [one for one in subscriptions(services()) if own is None or one.owner == own]
    return cut(SubscriptionList(items=found), query, lambda one: str(one.id))


@handles(routes.SUBSCRIBE)
def subscribe(body: SubscriptionBody) -> SubscriptionView:
    """Subscribe to alarms by mail, by a signed call of a URL, or on the event stream.

    Each alarm is checked against the present permissions of the owner.
    """
    actor, chosen = requester(), body.filter
    if not measurement_access.could_read(
        services(),
        actor,
        path=chosen.path,
        source=chosen.source,
        destination=chosen.destination,
        metric=chosen.metric,
    ):
        raise Forbidden(f"the configuration permits {actor.name} to read no series of the filter")
    reader = {"roles": sorted(actor.roles), "groups": sorted(actor.groups)}
    subscription = {
        "id": uuid.uuid4().hex,
        "owner": actor.name,
        "channel": body.channel,
        "target": body.target,
        "filter": chosen.model_dump(mode="json"),
        "reader": reader,
    }
    answer = ask_collector("subscription.put", {"subscription": subscription})
    return SubscriptionView.model_validate(answer)


@handles(routes.GET_SUBSCRIPTION)
def get_subscription(subscription: SubscriptionView) -> SubscriptionView:
    """Return one subscription."""
    return subscription


@handles(routes.UNSUBSCRIBE)
def unsubscribe(subscription: SubscriptionView) -> DeletionView:
    """Delete a subscription."""
    ask_collector("subscription.delete", {"id": subscription.id})
    return DeletionView(id=subscription.id)
