"""Writes the audit log in the background, many entries in one transaction.

A request that changed something waits until its line is written, but not for long: a database that hangs
must not hold up everybody.  What does not fit into the queue any more is counted, and the count is written
when the database answers again.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from adon.access.audit import AuditEntry, Outcome, RepetitionCounter
from adon.errors import AdonError

log = logging.getLogger(__name__)

WAIT_S = 0.25
"""For so long a request waits for its line."""
ROOM = 10_000
"""Entries that may wait to be written."""
BATCH = 500
AGAIN_S = 1.0
_NOTHING = AuditEntry(0.0, "", "", "", "", "", "", Outcome.DONE, 0)


@dataclass(slots=True)
class _Waiting:
    entry: AuditEntry
    written: threading.Event = field(default_factory=threading.Event)


class AuditWriter:
    """Writes entries in the background.

    :param append: keeps entries, in order; raises an :class:`AdonError` if it cannot now.
    :param clock: seconds since the epoch.
    """

    def __init__(self, append: Callable[[Sequence[AuditEntry]], None], clock: Callable[[], float]) -> None:
        self._append = append
        self._clock = clock
        self._queue: queue.Queue[_Waiting | None] = queue.Queue(ROOM)
        self._flood = RepetitionCounter()
        self._lock = threading.Lock()
        self._lost = 0
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
        self._thread.start()

    def record(self, entry: AuditEntry, wait: float = WAIT_S) -> None:
        """Have an entry written; comes back when it is, or after ``wait`` seconds.

        Refusals and failures are not waited for, and what repeats is counted.
        """
        if entry.outcome is Outcome.DONE:
            waiting = self._put(entry)
            if waiting is not None and not waiting.written.wait(wait):
                log.warning("event=audit.slow action=%s", entry.action)
            return
        with self._lock:
            entries = self._flood.take(entry, self._clock())
        for one in entries:
            self._put(one)

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait until all that was recorded so far is written, counts left out; whether it was in time."""
        marker = _Waiting(_NOTHING)
        self._queue.put(marker)
        return marker.written.wait(timeout)

    def close(self) -> None:
        """Write what is left, as far as the database answers, and end the thread."""
        with self._lock:
            left = self._flood.due(self._clock(), everything=True)
        for one in left:
            self._put(one)
        self._closing.set()
        try:
            self._queue.put(None, timeout=1.0)
        except queue.Full:
            log.exception("event=audit.lost entries=%d", self._queue.qsize())
        self._thread.join(5.0)

    def _put(self, entry: AuditEntry) -> _Waiting | None:
        waiting = _Waiting(entry)
        try:
            self._queue.put_nowait(waiting)
        except queue.Full:
            with self._lock:
                self._lost += 1
            log.error("event=audit.full action=%s", entry.action)  # noqa: TRY400 - the trace tells nothing
            return None
        return waiting

    def _run(self) -> None:
        while True:
            batch = self._take()
            if batch:
                self._write([one for one in batch if one is not None])
            if None in batch:
                return

    def _take(self) -> list[_Waiting | None]:
        """What waits, at most so many at once; after a while of nothing, the counts that are due."""
        try:
            batch: list[_Waiting | None] = [self._queue.get(timeout=AGAIN_S)]
        except queue.Empty:
            with self._lock:
                return [_Waiting(one) for one in self._flood.due(self._clock())]
        while len(batch) < BATCH and batch[-1] is not None:
            try:
                batch.append(self._queue.get_nowait())
            except queue.Empty:
                break
        return batch

    def _write(self, batch: Sequence[_Waiting]) -> None:
        entries = [one.entry for one in batch if one.entry is not _NOTHING]
        while True:
            with self._lock:
                lost, self._lost = self._lost, 0
            told = [*entries, self._loss(lost)] if lost else entries
            try:
                if told:
                    self._append(told)
                break
            except AdonError as error:
                log.error("event=audit.failed error=%r", str(error))  # noqa: TRY400 - the trace tells nothing
                with self._lock:
                    self._lost += lost
                if self._closing.wait(AGAIN_S):
                    log.error("event=audit.lost entries=%d", len(entries) + lost)  # noqa: TRY400
                    return
        for one in batch:
            one.written.set()

    def _loss(self, lost: int) -> AuditEntry:
        return replace(_NOTHING, at=self._clock(), action="audit.lost", outcome=Outcome.FAILED, times=lost)
