"""Wait for a database that does not answer.

Every process of ``adon serve`` opens its databases through :func:`wait_for` when it starts.  Controller and
collector end with :data:`~adon.errors.EXIT_DATABASE` when they lose their database later; started again, they
wait here.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from adon.errors import DatabaseUnavailable
from measurement.errors import ArchiveUnavailable

log = logging.getLogger("adon.database")

PAUSES_S = (0.5, 1.0, 2.0)
"""Pauses between attempts; the last one repeats."""
REPORT_EVERY_S = 60.0

T = TypeVar("T")


def wait_for(
    database: str,
    attempt: Callable[[], T],
    pause: Callable[[float], object] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> T:
    """Return what ``attempt`` returns, and repeat it while the database does not answer.

    :param database: its name in the log.
    :param pause: waits for so many seconds.
    """
    began, reported, failures = clock(), float("-inf"), 0
    while True:
        try:
            found = attempt()
        except (DatabaseUnavailable, ArchiveUnavailable) as error:
            if clock() - reported >= REPORT_EVERY_S:
                reported = clock()
                cause = " ".join(str(error).split())
                log.warning("event=database.waiting database=%s cause=%r", database, cause)
        else:
            if failures:
                log.info("event=database.answers database=%s after_s=%.1f", database, clock() - began)
            return found
        pause(PAUSES_S[min(failures, len(PAUSES_S) - 1)])
        failures += 1
