"""What goes on without a place in the plan, from the configuration: background tests, hosts' metrics.

Each kind is read by a thread of its own (:mod:`.watcher`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from adon.config import Configuration
from adon.config.measurements import BackgroundTest, MeasurementTest
from adon.measurement_plan import METRICS
from apps.collector import contacts
from apps.collector.identity import Identity
from apps.collector.keeper import Value
from apps.collector.task_standing import LASTS, Wanted
from apps.collector.upkeep import Upkeep
from apps.collector.watcher import Watcher
from measurement.archive import Appended
from measurement.crew import Crew
from measurement.model import host_key
from measurement.poller import PathTest
from measurement.pscheduler import specs
from measurement.pscheduler.specs import Kind

SHORTEST, LONGEST = 1.0, 30.0
"""Bounds of a round over our own tasks: twice as often as there are results, so that none is late."""


def in_background(configuration: Configuration) -> list[Wanted]:
    """The tests in the background, as they are to stand at their sources' points."""
    known = configuration.measurements.points
    wanted = []
    for each in configuration.measurements.background:
        test = _addresses(configuration, each)
        nodes = (known[name].node_name for name in (each.from_, each.to))
        ends = specs.Ends(str(test.source), str(test.destination), *nodes)
        request = specs.latency_in_background(ends, each.packets, each.interval, LASTS)
        wanted.append(Wanted(each.from_, PathTest(each.key, request, METRICS[Kind.LATENCY]), each.period))
    return wanted


def of_hosts(configuration: Configuration) -> list[Wanted]:
    """The metrics of hosts, as they are to be observed by their points."""
    return [
        Wanted(name, PathTest(host_key(name), specs.host_metric(metric, each.period, LASTS), ()), each.period)
        for name, each in configuration.measurements.host_metrics.items()
        for metric in each.metrics
    ]


@contextmanager
def watching(
    configuration: Configuration,
    folder: Path,
    identity: Identity,
    pause: Callable[[float], None],
    keep: Callable[[Sequence[Value]], Appended],
    leads: Callable[[], bool],
) -> Iterator[None]:
    """Read everything of this kind that is configured, until the end of the context.

    :raises InvalidInput: for a URL or certificate file that cannot be used.
    """
    watchers = []
    for name, wanted in (("background", in_background(configuration)), ("hosts", of_hosts(configuration))):
        if wanted:
            # Clients of its own: what the plan asks of a point must not wait for this.
            tasks = Upkeep(wanted, contacts.points(configuration, folder, pause, identity))
            watchers.append(Watcher(name, tasks, keep, leads, every=_every(wanted)))
    for watcher in watchers:
        watcher.start()
    try:
        yield
    finally:
        # At once: a point that hangs costs each of them its time, and all of them together no more.
        stopping: Crew[Watcher, None] = Crew(Watcher.stop, len(watchers), "stopping")
        for watcher in watchers:
            stopping.start(watcher)
        for _ in watchers:
            stopping.take(None)


def reader_of(
    configuration: Configuration,
    folder: Path,
    identity: Identity,
    pause: Callable[[float], None],
    keep: Callable[[Sequence[Value]], Appended],
    leads: Callable[[], bool],
) -> Callable[[str, Sequence[Wanted]], Watcher]:
    """What makes a reader of one point, for what comes and goes with flows (:mod:`.deployed`)."""

    def reader(point: str, wanted: Sequence[Wanted]) -> Watcher:
        tasks = Upkeep(wanted, contacts.points(configuration, folder, pause, identity))
        return Watcher(f"deployed-{point}", tasks, keep, leads, every=_every(wanted))

    return reader


def _every(wanted: Sequence[Wanted]) -> float:
    return min(LONGEST, max(SHORTEST, min(each.period for each in wanted) / 2))


def _addresses(configuration: Configuration, wanted: BackgroundTest) -> MeasurementTest:
    return next(test for test in configuration.measurements.tests if test.key == wanted.key)
