"""Reads an OpenSearch archive periodically, from where the last reading ended.

Each reading begins a little before the last one's end: results come late, and what was read twice is kept
once.  The first reading after a start goes back a day, so that what came while the collector was away is
read then.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

from apps.collector.keeper import Value
from measurement.archive import Appended
from measurement.errors import ArchiveError, PointError
from measurement.sources.opensearch import OpenSearchArchive
from measurement.sources.query import Query
from measurement.sources.received import Resolve

LOG = logging.getLogger(__name__)
LATE = 600.0
"""Seconds by which a result may come late into an archive."""
FIRST = 86_400.0
"""Seconds that the very first reading goes back."""


class Puller:
    """A thread that reads one archive; see the module.

    :param name: of the archive, for the log.
    :param pairs: the hosts between which is measured, source and destination.
    :param keep: has values kept, and waits for it.
    :param clock: seconds since the epoch.
    """

    def __init__(
        self,
        name: str,
        source: OpenSearchArchive,
        pairs: Sequence[tuple[str, str]],
        resolve: Resolve,
        keep: Callable[[Sequence[Value]], Appended],
        *,
        period: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._name = name
        self._source = source
        self._pairs = pairs
        self._resolve = resolve
        self._keep = keep
        self._period = period
        self._clock = clock
        self._read_until: dict[tuple[str, str], float] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"puller-{name}", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, at once or after the request under way."""
        self._stopping.set()

    def read_once(self) -> int:
        """Read every pair; how many new values that gave."""
        return sum(self._read(*pair) for pair in self._pairs if not self._stopping.is_set())

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                new = self.read_once()
            except Exception:  # a thread's outermost guard: the other ways in must go on
                LOG.exception("event=fault thread=puller archive=%s", self._name)
            else:
                LOG.info("event=pulled archive=%s new=%d", self._name, new)
            self._stopping.wait(self._period)

    def _read(self, source: str, destination: str) -> int:
        now = self._clock()
        last = self._read_until.get((source, destination))
        since = now - FIRST if last is None else min(last, now) - LATE
        try:
            new = self._pages(Query(source, destination, since, now), now)
        except (PointError, ArchiveError) as error:
            LOG.warning('event=not_pulled archive=%s cause="%s"', self._name, error)
            return 0
        self._read_until[source, destination] = now
        return new

    def _pages(self, query: Query, now: float) -> int:
        new = 0
        for page in self._source.pages(query, self._resolve, now):
            for refusal in page.refused:
                LOG.warning('event=refused archive=%s code=%s cause="%s"', self._name, refusal.code, refusal)
            if page.kept:
                new += self._keep(page.kept).new
        return new
