"""Alarms: what the detectors found, who has seen it, and who wants to be told."""

from __future__ import annotations

import uuid
from http import HTTPStatus

from flask import Response, g
from pydantic import Field

from adon.access.policy import Action
from adon.api.alarms import AlarmList, AlarmView, SubscriptionBody, SubscriptionList, SubscriptionView
from adon.api.base import Deleted
from adon.api.times import Time
from adon.errors import Conflict, Forbidden, NotFound
from apps.rest import seen
from apps.rest.answers import check_if_match, done, json_answer
from apps.rest.api.common import Address, answers, blueprint
from apps.rest.guard import action, only_own, requester
from apps.rest.measurement_views import to_alarm_view
from apps.rest.owned import check_owned
from apps.rest.paging import Moment, NewestFirst, by_time, cut, listed, until, wanted
from apps.rest.services import ask_collector, services
from measurement.anomaly.alarm import Alarm
from measurement.model import from_json

api = blueprint("alarms", "Alarms, and who is told of them")

MOST_SUBSCRIPTIONS = 1000
"""The collector keeps no more (:mod:`apps.collector.control`)."""


class AlarmQuery(NewestFirst):
    """Which alarms."""

    open: bool = Field(default=False, description="only those in force")
    since: Time | None = Field(default=None, description="raised then or later")
    until: Time | None = Field(default=None, description="raised before then")
    path: str | None = Field(default=None, max_length=100)
    metric: str | None = Field(default=None, max_length=100)
    limit: int = Field(default=200, ge=1, le=1000)


@api.get("/alarms", responses=answers(200, AlarmList))
@action(Action.ALARM_READ)
def list_alarms(query: AlarmQuery) -> Response:
    """Alarms about what this actor may read, the newest first."""
    moment = Moment.of(query)
    found = seen.alarms(
        services(),
        g.actor,
        since=query.since,
        until=until(moment, query.until),
        open_only=query.open,
        path=query.path,
        metric=query.metric,
        limit=wanted(moment, query.limit),
    )
    shown, following = by_time(found, query.limit, moment, lambda alarm: alarm.raised_at)
    return listed(AlarmList(items=[to_alarm_view(alarm) for alarm in shown], next=following))


class AlarmAddress(Address):
    """Which alarm."""

    id: str = Field(max_length=100)


@api.get("/alarms/<id>", responses=answers(200, AlarmView))
@action(Action.ALARM_READ)
def get_alarm(path: AlarmAddress) -> Response:
    """One alarm with its evidence."""
    return json_answer(to_alarm_view(_alarm(path.id)))


def _alarm(name: str) -> Alarm:
    parts = services()
    document = parts.measurements.document("alarm", name)
    if document is None:
        raise NotFound("alarm", name)
    alarm = from_json(Alarm, document)
    if not parts.policy.decide(g.actor, Action.MEASUREMENT_READ, alarm.series).allowed:
        raise NotFound("alarm", name)  # as if it had never been raised
    return alarm


@api.post("/alarms/<id>/acknowledge", responses=answers(200, AlarmView))
@action(Action.ALARM_ACKNOWLEDGE)
def acknowledge(path: AlarmAddress) -> Response:
    """Say that somebody has seen an alarm that is in force; the first name stays."""
    return done(to_alarm_view(acknowledge_alarm(path.id)), HTTPStatus.OK)


def acknowledge_alarm(name: str) -> Alarm:
    """Put this actor's name to an alarm; as it is then.

    :raises Conflict: if it is over.
    """
    alarm = _alarm(name)
    if not alarm.open:
        raise Conflict("alarm", "is over already")
    return from_json(Alarm, ask_collector("alarm.acknowledge", {"id": name, "who": requester().name}))


@api.get("/subscriptions", responses=answers(200, SubscriptionList))
@action(Action.SUBSCRIPTION_READ)
def list_subscriptions(query: NewestFirst) -> Response:
    """Who is told of which alarms; everybody sees their own, an administrator all."""
    own = only_own(Action.SUBSCRIPTION_READ)
    found = [one for one in _subscriptions() if own is None or one.owner == own]
    return cut(SubscriptionList(items=found), query, lambda one: str(one.id))


def _subscriptions() -> list[SubscriptionView]:
    documents = services().measurements.documents("subscription", None, None, MOST_SUBSCRIPTIONS)
    return [SubscriptionView.model_validate(document) for document in documents]


@api.post("/subscriptions", responses=answers(201, SubscriptionView))
@action(Action.SUBSCRIPTION_ADD)
def subscribe(body: SubscriptionBody) -> Response:
    """Be told of alarms by mail or by a signed call of a URL.

    Which series the owner may read is asked again at each alarm, with the roles and groups of now.
    """
    actor, chosen = requester(), body.filter
    if not seen.could_read(
        services(),
        actor,
        path=chosen.path,
        source=chosen.source,
        destination=chosen.destination,
        metric=chosen.metric,
    ):
        raise Forbidden(f"the configuration lets {actor.name} read nothing of what the filter asks for")
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
    return done(SubscriptionView.model_validate(answer), HTTPStatus.CREATED)


class SubscriptionAddress(Address):
    """Which subscription."""

    id: str = Field(max_length=100)


@api.get("/subscriptions/<id>", responses=answers(200, SubscriptionView))
@action(Action.SUBSCRIPTION_READ)
def get_subscription(path: SubscriptionAddress) -> Response:
    """One subscription."""
    return json_answer(_subscription(path.id, Action.SUBSCRIPTION_READ))


def _subscription(name: str, deed: Action) -> SubscriptionView:
    """A subscription that this actor may do this to.

    :raises NotFound: if there is none, or it is somebody else's.
    """
    found = next((one for one in _subscriptions() if one.id == name), None)
    if found is None:
        raise NotFound("subscription", name)
    check_owned(deed, "subscription", found.id, found.owner)
    return found


@api.delete("/subscriptions/<id>", responses=answers(200, Deleted, 412))
@action(Action.SUBSCRIPTION_DELETE)
def unsubscribe(path: SubscriptionAddress) -> Response:
    """Be told no more; with ``If-Match``, only in the state it was seen in."""
    check_if_match(_subscription(path.id, Action.SUBSCRIPTION_DELETE))
    ask_collector("subscription.delete", {"id": path.id})
    return done(Deleted(id=path.id), HTTPStatus.OK)
