"""Who has subscribed, as whom, and whether they may hear of a series.

A subscription is kept with the roles and groups that its owner had when subscribing.  They are asked for each
alarm, and again when it is sent, with the rules of now and as far as the owner has them still: a rule, a role
or a group that is taken away ends what it allowed, and who is disabled hears nothing.  What an owner is given
later counts from subscribing anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adon.access.identity import Actor
from adon.access.policy import Action, Policy
from adon.errors import InvalidInput
from measurement.anomaly.alarm import Alarm
from measurement.model import from_json
from measurement.notify.subscription import Subscription

READER = "reader"
"""The key under which a subscription's document holds its owner's roles and groups."""


class Readers:
    """The owners of subscriptions; changed by one thread, asked by others.

    :param now: an owner, as of subscribing, as far as they may come in still; None for who may not.
    """

    def __init__(self, policy: Policy, now: Callable[[Actor], Actor | None]) -> None:
        self._policy = policy
        self._now = now
        self._actors: Mapping[str, Actor] = {}

    def set_subscriptions(self, documents: Sequence[Mapping[str, Any]]) -> list[Subscription]:
        """From now on these subscriptions are known; they themselves."""
        found = [from_json(Subscription, document) for document in documents]
        self._actors = {one.id: actor_of(document) for one, document in zip(found, documents, strict=True)}
        return found

    def may_hear(self, subscription: Subscription, alarm: Alarm) -> bool:
        """Whether the owner of a subscription may read the series that an alarm is about."""
        then = self._actors.get(subscription.id)
        actor = None if then is None else self._now(then)
        if actor is None:
            return False
        return self._policy.decide(actor, Action.MEASUREMENT_READ, alarm.series).allowed


def actor_of(document: Mapping[str, Any]) -> Actor:
    """The owner of a subscription's document, as of subscribing.

    :raises InvalidInput: if it does not say.
    """
    reader = document.get(READER)
    if not isinstance(reader, Mapping):
        raise InvalidInput.of(READER, "is missing")
    try:
        roles, groups = frozenset(map(str, reader["roles"])), frozenset(map(str, reader["groups"]))
    except (KeyError, TypeError):
        raise InvalidInput.of(READER, "must name roles and groups") from None
    return Actor(str(document["owner"]), roles, groups)
