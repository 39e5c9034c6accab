"""The controller's prepared read-out, fetched at most once a second however many ask for it.

The decision thread prepares it; a hundred open pages must not make it prepare a hundred (design.md:
hot read-outs are prepared snapshots, not queries per poll).
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from adon.errors import AdonError, InvalidInput, NotFound

log = logging.getLogger(__name__)

MAX_AGE = 1.0
"""Seconds for which one read-out serves everybody."""

Snapshot = Mapping[str, Any]


class Snapshots:
    """The latest read-out.

    :param clock: a monotonic clock in seconds.
    :param max_age: seconds for which one read-out serves everybody.
    :param stale: seconds for which it serves those who come while a newer one is fetched, too; what says
        itself when it was made may be this old, where making it takes long.
    """

    def __init__(
        self,
        fetch: Callable[[], Snapshot],
        clock: Callable[[], float],
        max_age: float = MAX_AGE,
        stale: float = 0.0,
    ) -> None:
        self._fetch = fetch
        self._clock = clock
        self._max_age = max_age
        self._stale = stale
        self._lock = threading.Lock()
        self._latest: tuple[float, Snapshot] | None = None

    def get(self) -> Snapshot:
        """A read-out not older than the age allowed; whoever comes while one is fetched shares it.

        :raises Unavailable: if the controller does not answer.
        """
        held = self._latest
        age = math.inf if held is None else self._clock() - held[0]
        if held is not None and age < self._max_age:
            return held[1]
        if held is not None and age < self._stale:
            if self._lock.acquire(blocking=False):
                threading.Thread(target=self._renew_and_release, name="snapshot", daemon=True).start()
            return held[1]
        with self._lock:
            if self._latest is None or self._clock() - self._latest[0] >= self._max_age:
                return self._renewed()
            return self._latest[1]

    def _renewed(self) -> Snapshot:
        # Its age counts from when it is there: those who waited share it, however long it took.
        fetched = self._fetch()
        self._latest = (self._clock(), fetched)
        return fetched

    def _renew_and_release(self) -> None:
        try:
            self._renewed()
        except AdonError as error:
            log.warning("event=web.not-renewed error=%r", str(error))
        finally:
            self._lock.release()


SHARED_S = 5.0
"""Seconds for which one rehearsal of everything serves everybody; the answer says when it was made."""
STALE_S = 60.0
"""Seconds for which it serves those who ask while the next one is made: nobody waits for seconds."""

Ask = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def every_single_failure(ask: Ask) -> Snapshot:
    """Each link, path, switch and port, one at a time (N-1), the most damage first: ``at`` and ``items``.

    :param ask: asks the controller about one failure; about none, which ones there are.
    :raises Unavailable: if it does not answer.
    """
    known = ask({})
    found: list[Mapping[str, Any]] = []
    for scenario in known["scenarios"]:
        # What was discovered may be gone since: then there is nothing to rehearse.
        with suppress(InvalidInput, NotFound):
            found += ask(scenario)["items"]
    worst = sorted(found, key=lambda one: tuple(one["damage"]), reverse=True)
    return {"at": known["at"], "items": worst}
