"""Sending results to archives: at once, then again as the task's retry policy says, until one takes them.

A few threads share one queue ordered by time, so an archive that hangs delays results to others little.
What cannot be sent is given up with one line in the log: this host is no archive.  A redirect is not
followed, because it would carry a token to a host that nobody named.
"""

from __future__ import annotations

import heapq
import itertools
import json
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import requests

from measurement.errors import shorten, translate
from measurement.point import views
from measurement.point.archives import HTTP, Archive
from measurement.point.model import Run, Task
from measurement.point.store import Store
from measurement.pscheduler.iso8601 import format_timestamp

LOG = logging.getLogger(__name__)
SENDERS = 4
MOST_WAITING = 10_000
_CONNECT = 5.0
_KEPT_ATTEMPTS = 10


@dataclass(frozen=True, slots=True)
class Delivery:
    """One result on its way to one archive.

    :param number: of the archive in the task.
    :param attempts: how often it has been tried, as the API tells it.
    """

    task: Task
    run: Run
    number: int
    attempts: tuple[dict[str, Any], ...] = ()
    failed: int = 0

    @property
    def archive(self) -> Archive:
        """Where it goes."""
        return self.task.archives[self.number]

    def next_wait(self, now: float) -> float | None:
        """Seconds until it is to be tried again; None when it is given up."""
        if self.failed > len(self.archive.waits):
            return None
        wait = self.archive.waits[self.failed - 1] if self.failed else 0.0
        ttl = self.archive.ttl
        return None if ttl is not None and now + wait > self.run.end + ttl else wait


@dataclass(order=True)
class _Due:
    at: float
    order: int
    delivery: Delivery = field(compare=False)


class Archiving:
    """The queue of deliveries and the threads that work on it.

    :param base: this point's own URL, for links in what is sent.
    :param verify: how archives' certificates are checked: the system's authorities, or a PEM file.
    :param clock: seconds since the epoch.
    """

    def __init__(
        self, store: Store, base: str, verify: bool | str = True, clock: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._base = base
        self._verify = verify
        self._clock = clock
        self._order = itertools.count()
        self._queue: list[_Due] = []
        self._changed = threading.Condition()
        self._over = False
        for number in range(SENDERS):
            threading.Thread(target=self._work, name=f"archiver-{number}", daemon=True).start()

    def finished(self, task: Task, run: Run) -> None:
        """Send the result of a run to the archives that want it."""
        for number, archive in enumerate(task.archives):
            if archive.takes(run.merged):
                self._put(Delivery(task, run, number), 0.0)

    def close(self) -> None:
        """Send no more; what is under way ends by itself."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _put(self, delivery: Delivery, wait: float) -> None:
        with self._changed:
            if len(self._queue) >= MOST_WAITING:
                self._give_up(delivery, "too many results wait for their archives")
                return
            heapq.heappush(self._queue, _Due(self._clock() + wait, next(self._order), delivery))
            self._changed.notify()

    def _take(self) -> Delivery | None:
        with self._changed:
            while not self._over:
                now = self._clock()
                if self._queue and self._queue[0].at <= now:
                    return heapq.heappop(self._queue).delivery
                self._changed.wait(self._queue[0].at - now if self._queue else None)
        return None

    def _work(self) -> None:
        while (delivery := self._take()) is not None:
            try:
                self._deliver(delivery)
            except Exception:  # a thread's outermost guard: one result's fault must not stop the others
                LOG.exception("event=fault thread=archiver run=%s", delivery.run.uuid)

    def _deliver(self, delivery: Delivery) -> None:
        body = json.dumps(views.archived(delivery.task, delivery.run, self._base)).encode("ascii")
        cause = _send(delivery.archive, body, self._verify)
        attempt = {
            "time": format_timestamp(self._clock()),
            "return-code": 0 if cause is None else 1,
            "stdout": "",
            "stderr": "" if cause is None else cause,
        }
        attempts = (*delivery.attempts, attempt)[-_KEPT_ATTEMPTS:]
        done = Delivery(
            delivery.task, delivery.run, delivery.number, attempts, delivery.failed + (cause is not None)
        )
        wait = None if cause is None else done.next_wait(self._clock())
        self._note(done, archived=cause is None, completed=wait is None)
        if wait is not None:
            self._put(done, wait)
        elif cause is not None:
            self._give_up(done, cause)

    def _note(self, delivery: Delivery, *, archived: bool, completed: bool) -> None:
        spec = views.hidden(delivery.task.document["archives"][delivery.number])
        self._store.note_archiving(
            delivery.run,
            delivery.number,
            {
                "spec": spec,
                "archiver": {"name": HTTP},
                "archived": archived,
                "completed": completed,
                "last_attempt": delivery.attempts[-1]["time"],
                "diags": list(delivery.attempts),
            },
        )

    def _give_up(self, delivery: Delivery, cause: str) -> None:
        LOG.warning(
            'event=not_archived run=%s archive=%s attempts=%d cause="%s"',
            delivery.run.uuid,
            delivery.archive.place,
            len(delivery.attempts),
            cause,
        )


def _send(archive: Archive, body: bytes, verify: bool | str) -> str | None:
    """Why the archive has not taken it; None when it has."""
    with requests.Session() as session:
        session.trust_env = False  # no proxy and no .netrc password that nobody configured
        try:
            with session.request(
                archive.method,
                archive.url,
                data=body,
                headers={"Content-Type": "application/json", **archive.headers},
                timeout=(min(_CONNECT, archive.timeout), archive.timeout),
                verify=verify if archive.verify else False,
                allow_redirects=False,
                stream=True,  # whatever it answers, its status is enough
            ) as response:
                if 200 <= response.status_code < 300:
                    return None
                return shorten(f"HTTP {response.status_code} {response.reason}")
        except (requests.RequestException, ValueError) as error:
            if isinstance(error, requests.RequestException):
                return str(translate(archive.place, error))
            return f"{archive.place}: not a URL that can be asked"
