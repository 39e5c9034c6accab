"""What is watched at the ends of flows that run: begun when a flow is deployed, ended when the last one ends.

The controller says what is wanted, as a whole (its effect ``MonitoringChanged``).  Each point that something
is wanted of has a thread of its own; when its list changes, that thread ends, its tasks are cancelled, and
another one begins: the other points go on undisturbed.  A point that hangs blocks only its own thread.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from apps.collector.task_standing import LASTS, Wanted
from measurement.errors import shorten
from measurement.model import host_key
from measurement.poller import PathTest
from measurement.pscheduler import specs

LOG = logging.getLogger(__name__)

Lists = Mapping[str, tuple[tuple[str, float], ...]]
"""Per measurement point the metrics wanted of it, each with its period in seconds."""


class Reader(Protocol):
    """What reads one point (:class:`apps.collector.watcher.Watcher`)."""

    def start(self) -> None:
        """Begin."""

    def stop(self) -> None:
        """End, and cancel what was posted."""


def read_lists(payload: Mapping[str, Any]) -> Lists:
    """What the controller's message wants watched.

    :raises ValueError: for a message that makes no sense.
    """
    found: dict[str, dict[str, float]] = {}
    try:
        for one in payload["watches"]:
            site, metric, period = str(one["site"]), str(one["metric"]), float(one["period"])
            if not 0 < period < LASTS:
                raise ValueError(f"period: {period!r} s")
            found.setdefault(site, {})[metric] = period
    except (KeyError, TypeError) as error:
        raise ValueError(f"watches: {error}") from None
    return {site: tuple(sorted(metrics.items())) for site, metrics in found.items()}


def read_series(payload: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    """The pairs of site and series whose values the controller wants to be told of.

    :raises ValueError: for a message that makes no sense.
    """
    try:
        return frozenset((str(site), str(metric)) for site, metric in payload["series"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"series: {error}") from None


def wanted_of(point: str, metrics: Sequence[tuple[str, float]]) -> list[Wanted]:
    """The metrics of a point, as they are to stand there."""
    return [
        Wanted(point, PathTest(host_key(point), specs.host_metric(metric, period, LASTS), ()), period)
        for metric, period in metrics
    ]


class Deployed:
    """See the module.  :meth:`want` may be called by any thread; one of its own follows.

    :param points: the measurement points there are; what is wanted of others is said and left out.
    :param reader: makes what reads a point.
    """

    def __init__(self, points: frozenset[str], reader: Callable[[str, Sequence[Wanted]], Reader]) -> None:
        self._points = points
        self._reader = reader
        self._running: dict[str, tuple[tuple[tuple[str, float], ...], Reader]] = {}
        self._wishes: queue.SimpleQueue[Lists | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="deployed", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def want(self, lists: Lists) -> None:
        """From now on this is to be watched, and nothing else; returns at once."""
        self._wishes.put(lists)

    def close(self) -> None:
        """End everything."""
        self._wishes.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (wish := self._latest()) is not None:
            try:
                self.follow(wish)
            except Exception:  # a thread's outermost guard: the next wish is followed all the same
                LOG.exception("event=fault thread=deployed")
        self.follow({})

    def _latest(self) -> Lists | None:
        """The newest wish: those that it overtook are not followed."""
        wish = self._wishes.get()
        while wish is not None:
            try:
                wish = self._wishes.get_nowait()
            except queue.Empty:
                return wish
        return None

    def follow(self, lists: Lists) -> None:
        """End what is not wanted any more or differs, begin what is new."""
        for point in sorted(lists.keys() - self._points):
            LOG.warning("event=not_watched point=%s cause=%r", shorten(point, 80), "there is no such point")
        wanted = {point: metrics for point, metrics in lists.items() if point in self._points}
        for point in [point for point, (metrics, _) in self._running.items() if wanted.get(point) != metrics]:
            self._running.pop(point)[1].stop()
            LOG.info("event=watch_ends point=%s", point)
        for point in wanted.keys() - self._running.keys():
            reader = self._reader(point, wanted_of(point, wanted[point]))
            reader.start()
            self._running[point] = (wanted[point], reader)
            LOG.info("event=watch_begins point=%s metrics=%d", point, len(wanted[point]))
