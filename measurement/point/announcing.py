"""A point announces itself: at boot, until every registry has taken it, and again from time to time."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from measurement.errors import PointError, Stopped
from measurement.lookup import RegistryClient
from measurement.registry import SILENT_AFTER, Announcement

LOG = logging.getLogger(__name__)
EVERY = SILENT_AFTER / 6
FIRST_WAIT = 1.0
LONGEST_WAIT = 300.0


def wait_after(failures: int, chance: float) -> float:
    """Seconds until the next announcement.

    :param failures: how many have failed since the last that was taken.
    :param chance: uniform in [0, 1): many points that lost one registry must not come back together.
    """
    if failures == 0:
        return EVERY * (0.9 + 0.2 * chance)
    return float(min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(failures - 1, 20))) * (0.5 + 0.5 * chance)


class Announcing:
    """A thread per registry, so that one that is down delays no other.

    :param registries: makes the client of each registry, given how it is to sleep.
    """

    def __init__(
        self,
        announcement: Announcement,
        registries: Sequence[Callable[[Callable[[float], None]], RegistryClient]],
        clock: Callable[[], float] = time.time,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._announcement = announcement
        self._clock = clock
        self._chance = chance
        self._over = threading.Event()
        for make in registries:
            client = make(self._pause)
            thread = threading.Thread(target=self._go_on, args=(client,), name="announcing", daemon=True)
            thread.start()

    def close(self) -> None:
        """Announce no more."""
        self._over.set()

    def _pause(self, seconds: float) -> None:
        if self._over.wait(seconds):
            raise Stopped

    def _go_on(self, registry: RegistryClient) -> None:
        failures = 0
        try:
            while True:
                failures = 0 if self._announced(registry, failures) else failures + 1
                self._pause(wait_after(failures, self._chance()))
        except Stopped:
            return
        except Exception:  # a thread's outermost guard
            LOG.exception("event=fault thread=announcing registry=%s", registry.host)

    def _announced(self, registry: RegistryClient, failures: int) -> bool:
        try:
            registry.announce(replace(self._announcement, at=self._clock()))
        except PointError as error:
            LOG.warning('event=not_announced registry=%s cause="%s"', registry.host, error)
            return False
        if failures:
            LOG.info("event=announced registry=%s", registry.host)
        return True
