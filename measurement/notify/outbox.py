"""What is to be sent, to whom, when: a value; time is an argument.

Of many alarms one message is made, and of one alarm no more messages than it has news:

- An alarm waits ``settle`` seconds, so that what breaks at once is told at once.  After a message the next
  one to the same subscription waits until ``gather`` seconds have passed: everything meanwhile goes into
  one *digest*.  A digest holds at most :data:`MOST` alarms; of more it says how many are left out.
- What is news of an alarm: it is there, it has become critical, it is over.  New evidence or an
  acknowledgement is none, and what was told once is not told again after a restart.
- Only the latest state of an alarm is told; the end of one that nobody was told of is dropped.

A delivery that fails for a temporary reason is tried again with growing pauses, :data:`ATTEMPTS` times in
all; by then about four hours have passed.  Delivery is *at least once*: a target may get a message
twice (with the same id), where the connection broke before it was answered.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from measurement.anomaly.alarm import Alarm
from measurement.model import from_json, to_json
from measurement.notify.subscription import Subscription, matches

MayHear = Callable[[Subscription, Alarm], bool]

MOST = 100
ATTEMPTS = 12
FIRST_PAUSE_S = 15.0
LONGEST_PAUSE_S = 3600.0
_OVER = "over"
REMEMBERED = 500
"""States of alarms that are remembered as told, per subscription."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds that a first alarm waits for others, and least seconds between two messages."""

    settle: float = 2.0
    gather: float = 60.0


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message that is to be sent now.

    :param id: the same when it is tried again.
    :param alarms: oldest first.
    :param omitted: how many more there were.
    """

    id: str
    subscription: Subscription
    alarms: tuple[Alarm, ...]
    omitted: int


@dataclass(frozen=True, slots=True)
class _Box:
    """What one subscription waits for.

    :param told: per alarm id, the news that was told of it last.
    """

    waiting: tuple[Alarm, ...] = ()
    omitted: int = 0
    due: float = 0.0
    attempts: int = 0
    sent_at: float | None = None
    told: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outbox:
    """See the module's text."""

    pace: Pace = Pace()
    subscriptions: Mapping[str, Subscription] = field(default_factory=dict)
    boxes: Mapping[str, _Box] = field(default_factory=dict)

    def with_subscriptions(self, wanted: Iterable[Subscription]) -> Outbox:
        """With exactly these subscriptions; what waits for one that is gone or changed its way is dropped."""
        known = {one.id: one for one in wanted}
        kept = {
            name: box
            for name, box in self.boxes.items()
            if name in known and _way(known[name]) == _way(self.subscriptions.get(name, known[name]))
        }
        return replace(self, subscriptions=known, boxes=kept)

    def offer(
        self, alarm: Alarm, now: float, may_hear: MayHear = lambda _subscription, _alarm: True
    ) -> Outbox:
        """Take an alarm in, for every subscription it matches and has news for.

        :param may_hear: whether a subscription's owner may hear of it.
        """
        boxes = dict(self.boxes)
        for name, subscription in self.subscriptions.items():
            if matches(subscription, alarm) and may_hear(subscription, alarm):
                boxes[name] = _with(boxes.get(name, _Box()), alarm, now, self.pace)
        return replace(self, boxes=boxes)

    def due(self, now: float) -> list[Delivery]:
        """What is to be sent now."""
        return [
            Delivery(_id(name, box), self.subscriptions[name], box.waiting, box.omitted)
            for name, box in self.boxes.items()
            if name in self.subscriptions and box.waiting and box.due <= now
        ]

    def next_due(self, but: Collection[str] = ()) -> float | None:
        """When the next message is to be sent (it may be already); None if none waits.

        :param but: subscriptions to leave out: a message to them is under way.
        """
        waiting = [box.due for name, box in self.boxes.items() if box.waiting and name not in but]
        return min(waiting, default=None)

    def done(self, delivery: Delivery, now: float) -> Outbox:
        """A message has arrived, or was given up: what came in meanwhile waits for the next one."""
        return self._change_box(delivery, lambda box: _remove_delivery(box, delivery, now, self.pace))

    def after_failure(self, delivery: Delivery, now: float) -> Outbox:
        """A message could not be sent: it is tried again after a pause."""
        return self._change_box(delivery, lambda box: _postpone(box, now))

    def given_up(self, delivery: Delivery) -> bool:
        """Whether a message that has just failed has been tried often enough."""
        box = self.boxes.get(delivery.subscription.id)
        return box is None or box.attempts + 1 >= ATTEMPTS

    def _change_box(self, delivery: Delivery, change: Callable[[_Box], _Box]) -> Outbox:
        name = delivery.subscription.id
        if name not in self.boxes:
            return self
        return replace(self, boxes={**self.boxes, name: change(self.boxes[name])})


def _way(subscription: Subscription) -> tuple[str, str]:
    return subscription.channel, subscription.target


def _news(alarm: Alarm) -> str:
    """What is told of an alarm, as one word."""
    return alarm.severity.value if alarm.open else _OVER


def _with(box: _Box, alarm: Alarm, now: float, pace: Pace) -> _Box:
    news, told = _news(alarm), box.told.get(alarm.id)
    others = tuple(held for held in box.waiting if held.id != alarm.id)
    unheard_of = told is None and len(others) == len(box.waiting)
    if told in (news, _OVER) or (news == _OVER and alarm.bad and unheard_of):
        return replace(box, waiting=others)
    kept = (*others, alarm)[-MOST:]
    due = box.due if box.waiting else _earliest(box, now, pace)
    return replace(box, waiting=kept, omitted=box.omitted + len(others) + 1 - len(kept), due=due)


def _earliest(box: _Box, now: float, pace: Pace) -> float:
    if box.sent_at is None:
        return now + pace.settle
    return max(now + pace.settle, box.sent_at + pace.gather)


def _remove_delivery(box: _Box, delivery: Delivery, now: float, pace: Pace) -> _Box:
    latest = {alarm.id: _news(alarm) for alarm in delivery.alarms}
    told = {**{name: news for name, news in box.told.items() if name not in latest}, **latest}
    left = tuple(alarm for alarm in box.waiting if told.get(alarm.id) != _news(alarm))
    return _Box(
        waiting=left,
        omitted=max(0, box.omitted - delivery.omitted),
        due=now + pace.gather,
        sent_at=now,
        told=dict(list(told.items())[-REMEMBERED:]),
    )


def _postpone(box: _Box, now: float) -> _Box:
    pause = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0**box.attempts)
    return replace(box, attempts=box.attempts + 1, due=now + pause)


def _id(name: str, box: _Box) -> str:
    """Depends on what is told, so that a repeated message is recognised."""
    parts = [name, *(f"{alarm.id}/{_news(alarm)}" for alarm in box.waiting)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


# -- kept over a restart ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _StoredBox:
    """What is stored of a subscription; not the pauses: what waits is due at once when it is read."""

    waiting: tuple[Alarm, ...]
    omitted: int
    attempts: int
    told: Mapping[str, str]
    subscription: Subscription


_Stored = dict[str, _StoredBox]


def outbox_to_json(outbox: Outbox) -> dict[str, Any]:
    """Return what waits and what was told as JSON."""
    known = {name: box for name, box in outbox.boxes.items() if name in outbox.subscriptions}
    stored = {
        name: _StoredBox(box.waiting, box.omitted, box.attempts, box.told, outbox.subscriptions[name])
        for name, box in known.items()
    }
    document: dict[str, Any] = to_json(stored, _Stored)
    return document


def outbox_from_json(data: object, pace: Pace = Pace()) -> Outbox:
    """Return what :func:`outbox_to_json` wrote.

    :raises ValueError: for other data.
    """
    stored = from_json(_Stored, data)
    return Outbox(
        pace,
        {name: one.subscription for name, one in stored.items()},
        {
            name: _Box(waiting=one.waiting, omitted=one.omitted, attempts=one.attempts, told=one.told)
            for name, one in stored.items()
        },
    )
