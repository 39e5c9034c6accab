"""What the web process works with: the databases, read-only, and the link to the controller."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from flask import current_app

from adon.config import Configuration, MeasurementGrant, SelfService
from adon.errors import Unavailable
from adon.store.store import Store
from apps.collector.files import GANTT
from apps.journal import NAME as JOURNAL
from apps.link import SUPERVISOR, LinkClient
from apps.rest.backtests import Backtests
from apps.rest.snapshots import Snapshots
from apps.rest.stream import Stream
from measurement.archive import Archive
from measurement.errors import ArchiveError
from measurement.model import Measurement, Metric

NAME = "adon"
"""Where a Flask application keeps its :class:`Services`."""


class Controller(Protocol):
    """The link, as far as it is used here (:class:`apps.link.LinkClient`)."""

    @property
    def connected(self) -> bool:
        """Whether the controller is there now."""

    def call(self, kind: str, payload: dict[str, Any], timeout: float = ...) -> dict[str, Any]:
        """Send a command and wait for its answer."""


@dataclass(frozen=True, slots=True)
class MeasurementFilter:
    """Which measurements are asked for; times in seconds since the epoch."""

    path: str | None = None
    source: str | None = None
    destination: str | None = None
    metric: Metric | None = None
    since: float | None = None
    until: float | None = None
    limit: int = 1000


T = TypeVar("T")


class Measurements:
    """The archive for a server of many threads: one connection each, opened when first asked for.

    The collector makes the database when it starts, which may be after us.

    :param where: the archive's file or URL.
    """

    def __init__(self, where: Path | str) -> None:
        self._where = where
        self._local = threading.local()

    def query(self, wanted: MeasurementFilter) -> list[Measurement]:
        """Measurements, the newest first; none while there is no archive yet.

        :raises Unavailable: if the archive cannot be read.
        """
        return self.ask(
            lambda archive: archive.query(
                path=wanted.path,
                source=wanted.source,
                destination=wanted.destination,
                metric=wanted.metric,
                since=wanted.since,
                until=wanted.until,
                limit=wanted.limit,
            )
        )

    def document(self, kind: str, name: str) -> dict[str, Any] | None:
        """The archive's document of this kind and name; None if there is none.

        :raises Unavailable: if the archive cannot be read.
        """
        found = self.ask(lambda archive: [archive.document(kind, name)])
        return found[0] if found else None

    def documents(
        self, kind: str, since: float | None, until: float | None, limit: int, *, open_only: bool = False
    ) -> list[dict[str, Any]]:
        """The archive's documents of a kind, the newest first.

        :raises Unavailable: if the archive cannot be read.
        """
        return self.ask(
            lambda archive: archive.documents(
                kind, since=since, until=until, open_only=open_only, limit=limit
            )
        )

    def ask(self, question: Callable[[Archive], list[T]]) -> list[T]:
        """What the archive answers; nothing while there is none yet.

        :raises Unavailable: if the archive cannot be read.
        """
        if isinstance(self._where, Path) and not self._where.exists():
            return []
        try:
            return question(self._archive())
        except ArchiveError as error:
            raise Unavailable("the measurement archive cannot be read") from error

    def _archive(self) -> Archive:
        archive: Archive | None = getattr(self._local, "archive", None)
        if archive is None:
            archive = self._local.archive = Archive(self._where, readonly=True)
        return archive


@dataclass(frozen=True, slots=True)
class Services:
    """Everything a view may use.

    :param collector: takes what is asked about measuring; see :func:`ask_collector`.
    :param stream: what has just happened.
    :param gantt: a round of the plan that is being carried out, as a page.
    :param hosts: the data transfer nodes of the configuration.
    :param journal: the file of what was sent to switches (:mod:`apps.journal`).
    :param grants: who may start and read which measurements, where the configuration says so.
    :param clock: tells seconds since the epoch.
    :param supervisor: ``adon serve``, which knows how reloads went; None in a test of one part.
    :param self_service: when a template needs no performance engineer; None for never.
    :param backtests: has templates tried on the past; None where nobody said where the configuration is.
    :param leased: whether the controller is one of several, the active one of which has a lease.
    """

    store: Store
    measurements: Measurements
    controller: Controller
    snapshots: Snapshots
    collector: Controller
    stream: Stream
    gantt: Callable[[], str]
    journal: Path
    hosts: tuple[str, ...] = ()
    grants: tuple[MeasurementGrant, ...] = ()
    clock: Callable[[], float] = time.time
    leased: bool = False
    supervisor: Controller | None = None
    self_service: SelfService | None = None
    backtests: Backtests | None = None


def services() -> Services:
    """The services of the application that handles this request."""
    return cast(Services, current_app.extensions[NAME])


def ask_collector(kind: str, payload: dict[str, Any], timeout: float = 10.0) -> dict[str, Any]:
    """Send the collector a command and wait for its answer.

    :raises Unavailable: if it does not answer.
    :raises AdonError: what it answered with.
    """
    return services().collector.call(kind, payload, timeout=timeout)


def _drawn(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except OSError as error:
        raise Unavailable("the collector has drawn no plan yet") from error


@contextmanager
def open_services(
    configuration: Configuration, data: Path, store_url: str | None = None, config: Path | None = None
) -> Iterator[Services]:
    """The services over one data directory, until the end of the context.

    :param config: the file of the configuration, for what is done by other processes.

    :param store_url: the state's database; SQLite in the data directory if None.
    :raises Unavailable: if the database is not there, or of another version.
    """
    url = store_url or f"sqlite:///{(data / 'state.db').resolve()}"
    store = Store.open(url, read_only=True)
    controller, collector = (
        LinkClient(data / "controller.sock", "web"),
        LinkClient(data / "collector.sock", "web", "the collector"),
    )
    supervisor = LinkClient(data / SUPERVISOR, "web", "adon serve")
    backtests = None if config is None else Backtests(config, data, url, time.time)
    stream = Stream()
    controller.on("announce", stream.adder("announce"))
    collector.on("alarm", stream.adder("alarm"))
    collector.on("notice", stream.adder("notice"))
    try:
        yield Services(
            store,
            Measurements(configuration.measurements.archive_url or data / "measurements.db"),
            controller,
            Snapshots(lambda: controller.call("snapshot", {}, timeout=5.0), time.monotonic),
            collector,
            stream,
            lambda: _drawn(data / GANTT),
            data / JOURNAL,
            tuple(host for site in configuration.sites.values() for host in site.hosts),
            configuration.policy.measurement_access,
            leased=configuration.controller.ha is not None,
            supervisor=supervisor,
            self_service=configuration.policy.self_service,
            backtests=backtests,
        )
    finally:
        if backtests is not None:
            backtests.close()
        stream.close()
        controller.close()
        collector.close()
        supervisor.close()
        store.close()
