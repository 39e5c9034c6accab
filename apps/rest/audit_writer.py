"""Writer of the audit log in the thread of a request; entries that meet in time are one transaction.

An entry that the database does not take stays in memory and is written with a later one.  Entries above
:data:`MOST_WAITING` are only counted, and the count is written in their place.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from adon.access.audit import AuditEntry, Outcome, RepetitionCounter
from adon.errors import AdonError

log = logging.getLogger(__name__)

WAIT_S = 0.25
"""Seconds to wait while another thread writes; that thread then writes this entry, too."""
MOST_WAITING = 10_000
"""Entries that may wait for the database."""
_LOSS = AuditEntry(0.0, "", "", "", "audit.lost", "", "", Outcome.FAILED, 0)


class AuditWriter:
    """Writer of entries; any thread may use it.

    :param append: stores entries in order; raises an :class:`AdonError` if it cannot.
    :param clock: seconds since the epoch.
    """

    def __init__(self, append: Callable[[Sequence[AuditEntry]], None], clock: Callable[[], float]) -> None:
        self._append = append
        self._clock = clock
        self._repetitions = RepetitionCounter()
        self._waiting: deque[AuditEntry] = deque()
        self._lost = 0
        self._lock = threading.Lock()
        self._writing = threading.Lock()

    def record(self, entry: AuditEntry) -> None:
        """Write an entry.  Refusals and failures that repeat are counted, and nothing waits for them."""
        done = entry.outcome is Outcome.DONE
        with self._lock:
            entries = [entry] if done else self._repetitions.take(entry, self._clock())
            room = MOST_WAITING - len(self._waiting)
            self._waiting.extend(entries[:room])
            self._lost += len(entries[room:])
        if entries and not self._write(WAIT_S if done else 0.0):
            log.warning("event=audit.slow action=%s", entry.action)

    def flush(self) -> bool:
        """Write all waiting entries; return whether the database took them."""
        return self._write(5.0) and not self._waiting

    def close(self) -> None:
        """Write the waiting entries and the counts of repeated ones."""
        with self._lock:
            self._waiting.extend(self._repetitions.due(self._clock(), everything=True))
        if not self.flush():
            log.error("event=audit.lost entries=%d", len(self._waiting) + self._lost)

    def _write(self, wait_s: float) -> bool:
        """Write all waiting entries; False if another thread writes for longer than ``wait_s``."""
        if not self._writing.acquire(timeout=wait_s):
            return False
        try:
            while batch := self._take():
                self._append(batch)
                self._drop(batch)
        except AdonError as error:
            log.error("event=audit.failed error=%r", str(error))  # noqa: TRY400 - the cause says all
        finally:
            self._writing.release()
        return True

    def _take(self) -> list[AuditEntry]:
        with self._lock:
            loss = [replace(_LOSS, at=self._clock(), times=self._lost)] if self._lost else []
            return [*self._waiting, *loss]

    def _drop(self, batch: Sequence[AuditEntry]) -> None:
        with self._lock:
            for entry in batch:
                if entry.action == _LOSS.action:
                    self._lost -= entry.times
                else:
                    self._waiting.popleft()
