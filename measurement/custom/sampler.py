"""Metrics sampled in the background: every so many seconds, at once on demand, until they end.

One thread for each metric: one that hangs, or takes long, delays no other, and a child process belongs to the
thread that waits for it.  A metric that fails is tried again at its next time, and is told in the log when
that begins and when it is over, not each time.  "Run now" is [ADON] 4.2's "sets the remaining time to
execute to 0".
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from measurement.custom.errors import MetricFailed
from measurement.custom.model import CustomMetric
from measurement.errors import MeasurementError
from measurement.model import Observation

_log = logging.getLogger(__name__)

Keep = Callable[[Sequence[Observation]], object]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one metric is.

    :param samples: how many there were that gave values.
    :param last_at: when the last one was, seconds since the epoch.
    :param failing: why the last attempt gave none; "" when it did.
    :param ended: there will be no others, unless it is asked to run now.
    """

    samples: int = 0
    last_at: float | None = None
    failing: str = ""
    ended: bool = False


def next_time(due: float, period: float, now: float) -> float:
    """The first time after ``now`` of a series that ``due`` belongs to: late samples do not pile up."""
    if now < due:
        return due
    return due + period * (math.floor((now - due) / period) + 1)


class Sampler:
    """Samples metrics until it is stopped; a context manager.

    :param metrics: by name.
    :param keep: gets the values of each sample, from that metric's own thread.
    :param clock: seconds since the epoch.
    """

    def __init__(
        self, metrics: Mapping[str, CustomMetric], keep: Keep, clock: Callable[[], float] = time.time
    ) -> None:
        self._keep = keep
        self._clock = clock
        self._lock = threading.Lock()
        self._stopping = False
        self._progress = {name: Progress() for name in metrics}
        self._asked = {name: threading.Event() for name in metrics}
        self._threads = [
            threading.Thread(target=self._work, args=(name, metric), name=f"metric {name}", daemon=True)
            for name, metric in metrics.items()
        ]

    def __enter__(self) -> Sampler:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Take the first sample of each metric, and go on."""
        for thread in self._threads:
            thread.start()

    def stop(self, seconds: float = 5.0) -> None:
        """Begin no other sample, and wait for those under way, at most so long."""
        self._stopping = True
        for asked in self._asked.values():
            asked.set()
        until = time.monotonic() + seconds
        for thread in self._threads:
            if thread.is_alive():
                thread.join(max(0.0, until - time.monotonic()))

    def run_now(self, name: str) -> None:
        """Sample this metric at once, also when it has ended; its next time stays as it was.

        :raises KeyError: when there is no such metric.
        """
        self._asked[name].set()

    def progress(self) -> dict[str, Progress]:
        """How far each metric is."""
        with self._lock:
            return dict(self._progress)

    def _work(self, name: str, metric: CustomMetric) -> None:
        try:
            self._sample_on_time(name, metric)
        except Exception:  # noqa: BLE001 -- a thread's outermost guard
            _log.exception("metric %s: a fault of this program; it is not sampled any more", name)
            self._note(name, failing="a fault of this program; see its log", ended=True)

    def _sample_on_time(self, name: str, metric: CustomMetric) -> None:
        asked = self._asked[name]
        due = time.monotonic()
        while not self._stopping:
            self._sample(name, metric)
            due = next_time(due, metric.period, time.monotonic())
            ended = self._progress[name].ended
            asked.wait(None if ended else max(0.0, due - time.monotonic()))
            asked.clear()

    def _sample(self, name: str, metric: CustomMetric) -> None:
        now = self._clock()
        try:
            values = metric.sample(now)
            self._keep(values)
        except MeasurementError as error:
            if not self._progress[name].failing:
                detail = error.detail if isinstance(error, MetricFailed) else ""
                _log.warning("metric %s: %s%s", name, error, f" ({detail})" if detail else "")
            self._note(name, failing=str(error))
            return
        if self._progress[name].failing:
            _log.info("metric %s: has values again", name)
        taken = self._progress[name].samples + 1
        self._note(name, samples=taken, last_at=now, failing="", ended=metric.ended(values))

    def _note(self, name: str, **what: object) -> None:
        with self._lock:
            self._progress[name] = replace(self._progress[name], **what)  # type: ignore[arg-type]
