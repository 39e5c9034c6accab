"""How people and programs are told of alarms: subscriptions, and what is on its way.

What waits to be sent is kept in a file of its own, so that the thread that sends never waits for the
collector's, nor the other way round.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from adon.config.measurements import Notify
from apps.collector import contacts, files
from measurement.anomaly.alarm import Alarm
from measurement.errors import shorten
from measurement.notify import notifier, webhook
from measurement.notify.notifier import Notifier
from measurement.notify.outbox import Delivery, Outbox, outbox_from_json, outbox_to_json
from measurement.notify.subscription import Subscription

LOG = logging.getLogger(__name__)
OUTBOX = "outbox.json"


@contextmanager
def telling(
    wanted: Notify,
    folder: Path,
    data: Path,
    publish: Callable[[Delivery], None],
    may_hear: Callable[[Subscription, Alarm], bool],
    clock: Callable[[], float] = time.time,
) -> Iterator[Notifier]:
    """A notifier until the end of the context.

    :param publish: puts a message on the event stream.
    :param may_hear: whether the owner of a subscription may hear of an alarm.
    :param clock: seconds since the epoch; never falls.

    :raises InvalidInput: for a file that cannot be read.
    """
    secret = b""
    if wanted.webhook_secret_file is not None:
        text = contacts.secret(folder / wanted.webhook_secret_file, "measurements.notify.webhook_secret_file")
        secret = text.encode()
    hosts = frozenset(host.lower() for host in wanted.webhook_hosts)
    policy = webhook.Policy(hosts=hosts, secret=secret)
    server = None if wanted.mail is None else contacts.mail_server(wanted.mail, folder)
    file = data / OUTBOX
    running = Notifier(
        notifier.senders(server, policy, publish, clock),
        _left_over(file),
        lambda box: files.write(file, json.dumps(outbox_to_json(box)).encode()),
        may_hear=may_hear,
        clock=clock,
    )
    running.start()
    try:
        yield running
    finally:
        running.stop()


def _left_over(file: Path) -> Outbox:
    data = files.read(file)
    if data is None:
        return Outbox()
    try:
        return outbox_from_json(json.loads(data))
    except ValueError as error:
        # What was on its way is lost, and said; the alarms themselves are in the archive.
        LOG.warning('event=outbox_forgotten cause="%s"', shorten(str(error)))
        return Outbox()
