"""The thread that keeps the outbox: takes alarms in, lets what is due be sent, tries again.

Sending waits for others (mail servers, users' webhooks), so it is done by a few workers, one message per
subscription at a time, and the outbox is changed by one thread only.  What the outbox holds is handed to
``keep`` after every change, before anything is sent and after it was: after a restart it goes on from there.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue

from measurement.anomaly.alarm import Alarm
from measurement.notify import mail, webhook
from measurement.notify.failure import NotDelivered
from measurement.notify.mail import MailServer
from measurement.notify.outbox import Delivery, MayHear, Outbox
from measurement.notify.subscription import Channel, Subscription

LOG = logging.getLogger(__name__)
WORKERS = 4
LOOK_EVERY_S = 30.0

Send = Callable[[Delivery], None]
"""Delivers, or raises :class:`NotDelivered`."""


@dataclass(frozen=True, slots=True)
class _Tried:
    """A worker is done with a message."""

    delivery: Delivery
    failure: Exception | None


@dataclass(frozen=True, slots=True)
class _Subscribed:
    subscriptions: tuple[Subscription, ...]


class _Stop:
    pass


class Notifier:
    """See the module.

    :param senders: per channel, what delivers; a subscription to a channel without one fails for good.
    :param outbox: what was left over from the last run, or an empty one.
    :param may_hear: whether a subscription's owner may hear of an alarm; asked when it comes and when it is
        sent, so by any thread.
    :param keep: makes the outbox durable; called from the notifier's own thread.
    """

    def __init__(
        self,
        senders: Mapping[Channel, Send],
        outbox: Outbox,
        keep: Callable[[Outbox], None],
        *,
        may_hear: MayHear = lambda _subscription, _alarm: True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._senders = senders
        self._outbox = outbox
        self._keep = keep
        self._may_hear = may_hear
        self._clock = clock
        self._inbox: SimpleQueue[Alarm | _Subscribed | _Tried | _Stop] = SimpleQueue()
        self._under_way: set[str] = set()
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="notify")
        self._thread = threading.Thread(target=self._run, name="notifier", daemon=True)
        self.failure: BaseException | None = None

    def start(self) -> None:
        """Begin; what waits from the last run is due at once."""
        self._thread.start()

    def offer(self, alarm: Alarm) -> None:
        """An alarm was raised, has news, or is over.  Returns at once; any thread."""
        self._inbox.put(alarm)

    def subscribe(self, subscriptions: Iterable[Subscription]) -> None:
        """From now on exactly these count.  Returns at once; any thread."""
        self._inbox.put(_Subscribed(tuple(subscriptions)))

    def stop(self) -> None:
        """End after what was handed over is kept; messages under way are tried again at the next start."""
        self._inbox.put(_Stop())
        self._thread.join()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _run(self) -> None:
        try:
            while self._turn():
                pass
        except Exception as error:  # alarms must not go nowhere in silence: the owner looks
            LOG.critical("event=notifier_bug", exc_info=True)
            self.failure = error

    def _turn(self) -> bool:
        self._send_due()
        try:
            message = self._inbox.get(timeout=self._patience())
        except Empty:
            return True
        before, goes_on = self._outbox, True
        while True:  # what else is there is taken with it, and kept once
            goes_on = self._take(message) and goes_on
            if self._inbox.empty():
                break
            message = self._inbox.get()
        if self._outbox is not before:
            self._keep(self._outbox)
        return goes_on

    def _patience(self) -> float:
        due = self._outbox.next_due(self._under_way)
        return LOOK_EVERY_S if due is None else min(LOOK_EVERY_S, max(0.0, due - self._clock()))

    def _take(self, message: Alarm | _Subscribed | _Tried | _Stop) -> bool:
        match message:
            case _Stop():
                return False
            case _Subscribed(subscriptions):
                self._outbox = self._outbox.with_subscriptions(subscriptions)
            case _Tried(delivery, failure):
                self._under_way.discard(delivery.subscription.id)
                self._record_attempt(delivery, failure)
            case alarm:
                self._outbox = self._outbox.offer(alarm, self._clock(), self._may_hear)
        return True

    def _send_due(self) -> None:
        for delivery in self._outbox.due(self._clock()):
            name = delivery.subscription.id
            if name not in self._under_way:
                self._under_way.add(name)
                self._pool.submit(self._try, delivery)

    def _try(self, delivery: Delivery) -> None:
        """Worker: deliver, and report how it went."""
        failure: Exception | None = None
        try:
            send = self._senders.get(delivery.subscription.channel)
            if send is None:
                channel = delivery.subscription.channel
                raise NotDelivered(f"no {channel} is configured", temporary=False)  # noqa: TRY301
            if (still := self._still(delivery)) is not None:
                send(still)
        except NotDelivered as error:
            failure = error
        except Exception as error:  # a bug in one channel must not end the others
            LOG.error("event=notify_bug channel=%s", delivery.subscription.channel, exc_info=True)
            failure = NotDelivered(type(error).__name__, temporary=True)
        self._inbox.put(_Tried(delivery, failure))

    def _still(self, delivery: Delivery) -> Delivery | None:
        """What of it its owner may hear now: it may have waited; None for nothing."""
        heard = tuple(one for one in delivery.alarms if self._may_hear(delivery.subscription, one))
        if not heard:
            LOG.info("event=notify_withheld subscription=%s", delivery.subscription.id)
            return None
        return replace(delivery, alarms=heard)

    def _record_attempt(self, delivery: Delivery, failure: Exception | None) -> None:
        now = self._clock()
        name, count = delivery.subscription.id, len(delivery.alarms) + delivery.omitted
        if failure is None:
            LOG.info("event=notified subscription=%s alarms=%d", name, count)
            self._outbox = self._outbox.done(delivery, now)
            return
        final = not getattr(failure, "temporary", True) or self._outbox.given_up(delivery)
        level, what = (logging.ERROR, "given up") if final else (logging.WARNING, "will be tried again")
        LOG.log(
            level, 'event=not_notified subscription=%s alarms=%d cause="%s" %s', name, count, failure, what
        )
        self._outbox = (
            self._outbox.done(delivery, now) if final else self._outbox.after_failure(delivery, now)
        )


def senders(
    server: MailServer | None,
    policy: webhook.Policy,
    publish: Callable[[Delivery], None],
    clock: Callable[[], float] = time.time,
) -> dict[Channel, Send]:
    """The usual ones.

    :param server: None where no mail server is configured.
    :param publish: puts a message on the event stream.
    """
    known: dict[Channel, Send] = {
        Channel.WEBHOOK: lambda delivery: webhook.send(delivery, policy, clock()),
        Channel.STREAM: publish,
    }
    if server is not None:
        known[Channel.MAIL] = lambda delivery: mail.send(delivery, server, clock())
    return known
