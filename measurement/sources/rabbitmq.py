"""Results out of a RabbitMQ queue, where pScheduler's ``rabbitmq`` archiver puts them.

A message is acknowledged only when the archive has its values: what is delivered and not yet kept when this
process dies is delivered again, and the archive knows a run it already has.  Messages are kept in batches
(one commit for up to ``batch`` of them), acknowledged together.  A message that can never be kept is
rejected without requeueing: RabbitMQ drops it, or hands it to the queue's dead-letter exchange if it has
one; one line says why.  When the archive refuses, nothing is acknowledged, the messages go back to the
queue, and the consumer waits.

RabbitMQ decides who may write to a queue.  If ``reporters`` are given, a message must in addition carry the
AMQP property ``user_id``, which RabbitMQ itself checks against the connection's user, and it may tell only
of runs that this reporter took part in.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pika
from pika.adapters.blocking_connection import BlockingChannel
from pika.exceptions import AMQPError

from measurement.errors import ArchiveError, MeasurementError, shorten
from measurement.sources import body
from measurement.sources.pushed import Reporter, read
from measurement.sources.received import Received, Resolve, Value, refuse

LOG = logging.getLogger(__name__)
SHORTEST_WAIT = 0.5
LONGEST_WAIT = 60.0
LOOK_EVERY = 0.2


@dataclass(frozen=True, slots=True)
class Settings:
    """Which queue.

    :param url: ``amqp://user:password@host:port/vhost`` or ``amqps://...``; never shown.
    :param queue: an existing queue; this consumer makes none, so that its durability and dead-lettering
        are decided once, by who administers RabbitMQ.
    :param batch: most messages per commit, and most that are delivered ahead.
    :param largest: bytes that one message may have.
    :param reporters: by RabbitMQ user; empty when every writer of the queue is trusted with every run.
    """

    url: str = field(repr=False)
    queue: str
    batch: int = 200
    largest: int = body.LARGEST
    reporters: Mapping[str, Reporter] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The queue, for messages, without the password."""
        return f"{urlsplit(self.url).hostname}/{self.queue}"


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message as it came."""

    tag: int
    user: str | None
    data: bytes


class QueueError(MeasurementError):
    """The URL is none, or names a queue that cannot be consumed."""

    code = "queue-error"


class Consumer:
    """Takes messages until stopped; :meth:`run` is for a thread of its own.

    :param keep: archives values and returns when they are durable; raises
        :class:`~measurement.errors.ArchiveError` when it cannot.
    :param pause: waits for so many seconds, or until stopped.
    :raises QueueError: for a URL that cannot be read.
    """

    def __init__(
        self,
        settings: Settings,
        resolve: Resolve,
        keep: Callable[[Sequence[Value]], object],
        *,
        clock: Callable[[], float] = time.time,
        pause: Callable[[float], None] | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._settings = settings
        self._parameters = _parameters(settings)
        self._resolve = resolve
        self._keep = keep
        self._clock = clock
        self._stopping = threading.Event()
        self._pause = self._stopping.wait if pause is None else pause
        self._chance = chance
        self._failures = 0

    def stop(self) -> None:
        """End :meth:`run`; what is not acknowledged stays in the queue."""
        self._stopping.set()

    def run(self) -> None:
        """Consume, and connect again whenever the connection is lost."""
        while not self._stopping.is_set():
            try:
                self._consume()
            except (AMQPError, OSError, ArchiveError) as error:
                wait = backoff(self._failures, self._chance())
                self._failures += 1
                cause = shorten(str(error) or type(error).__name__)
                LOG.warning(
                    'event=queue_lost queue=%s cause="%s" wait=%.1f', self._settings.name, cause, wait
                )
                self._pause(wait)

    def _consume(self) -> None:
        with pika.BlockingConnection(self._parameters) as connection:
            channel = connection.channel()
            channel.basic_qos(prefetch_count=self._settings.batch)
            batch: list[Delivery] = []
            # A message that comes while others are waiting for their commit joins them; silence commits.
            for method, properties, data in channel.consume(
                self._settings.queue, inactivity_timeout=LOOK_EVERY
            ):
                if method is not None:
                    batch.append(Delivery(method.delivery_tag, properties.user_id, data))
                if batch and (method is None or len(batch) >= self._settings.batch):
                    self._settle(channel, batch)
                    batch = []
                if self._stopping.is_set():
                    return

    def _settle(self, channel: BlockingChannel, batch: Sequence[Delivery]) -> None:
        """Keep what can be kept, then acknowledge; an exception leaves all of it in the queue."""
        now = self._clock()
        read_ = [(delivery, self._read(delivery, now)) for delivery in batch]
        values = [value for _, received in read_ for value in received.kept]
        if values:
            self._keep(values)
        for delivery, received in read_:
            for refusal in received.refused:
                LOG.warning(
                    'event=refused queue=%s code=%s cause="%s"', self._settings.name, refusal.code, refusal
                )
            if received.kept:
                channel.basic_ack(delivery.tag)
            else:
                channel.basic_reject(delivery.tag, requeue=False)
        self._failures = 0

    def _read(self, delivery: Delivery, now: float) -> Received:
        return read_delivery(delivery, self._settings, self._resolve, now)


def read_delivery(delivery: Delivery, settings: Settings, resolve: Resolve, now: float) -> Received:
    """The values of one message."""
    reporter = None
    if settings.reporters:
        if delivery.user is None or delivery.user not in settings.reporters:
            return refuse(settings.name, f"user_id {delivery.user!r} may report nothing", "forbidden")
        reporter = settings.reporters[delivery.user]
    try:
        payload = body.parse(delivery.data, settings.largest)
    except ValueError as error:
        return refuse(settings.name, str(error), "malformed")
    return read(payload, reporter, resolve, now)


def backoff(failures: int, chance: float) -> float:
    """Seconds to wait after the so-manieth failure in a row: doubling, bounded, half of it by chance."""
    whole = min(LONGEST_WAIT, SHORTEST_WAIT * 2.0 ** min(failures, 20))
    return whole * (0.5 + 0.5 * chance)


def _parameters(settings: Settings) -> pika.URLParameters:
    try:
        parts = urlsplit(settings.url)
        usable = parts.scheme in ("amqp", "amqps") and parts.hostname is not None
        parameters = pika.URLParameters(settings.url) if usable else None
    except (ValueError, TypeError, KeyError):
        parameters = None  # not shown: the error's text holds the URL, and with it the password
    if parameters is None:
        raise QueueError(f"queue {settings.queue!r}: the URL is not amqp[s]://user:password@host/vhost")
    parameters.socket_timeout = 10
    parameters.blocked_connection_timeout = 30
    return parameters
