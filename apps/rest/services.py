"""What the web process works with: the databases (it writes the access database only), and the links."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from flask import current_app

from adon.access.policy import Policy
from adon.config import Configuration
from adon.errors import AdonError, NotFound, Unavailable
from adon.store.access.access import Access, access_url
from adon.store.store import Store
from apps.collector.files import GANTT
from apps.journal import NAME as JOURNAL
from apps.link import CONTROLLER, REACHED, SUPERVISOR, LinkClient
from apps.rest.audit_writer import AuditWriter
from apps.rest.event_stream import Stream
from apps.rest.explanations import Backtests, WhyNots
from apps.rest.rate_windows import Rates
from apps.rest.snapshots import SHARED_S, STALE_S, Snapshots, every_single_failure
from measurement.archive import Archive
from measurement.errors import ArchiveError
from measurement.model import Measurement

NAME = "adon"
"""Where a Flask application keeps its :class:`Services`."""
DESCRIPTION = "adon_openapi"
"""Where it keeps its description (:mod:`apps.rest.openapi`)."""
WRITTEN = "adon_openapi_written"
"""Where it keeps the bytes of that, once somebody asked."""


class Controller(Protocol):
    """The link, as far as it is used here (:class:`apps.link.LinkClient`)."""

    @property
    def connected(self) -> bool:
        """Whether the controller is there now."""

    @property
    def since(self) -> float:
        """Since when it has been there, or away; seconds since the epoch."""

    def call(self, kind: str, payload: dict[str, Any], timeout: float = ...) -> dict[str, Any]:
        """Send a command and wait for its answer."""


T = TypeVar("T")


class Measurements:
    """The archive for a server of many threads: one connection each, opened when first asked for.

    The collector makes the database when it starts, which may be after us.

    :param where: the archive's file or URL.
    """

    def __init__(self, where: Path | str) -> None:
        self._where = where
        self._local = threading.local()

    def query(self, **wanted: Any) -> list[Measurement]:
        """Return measurements, the newest first; none while there is no archive yet.

        :param wanted: filters of :meth:`measurement.archive.Archive.query`.
        :raises Unavailable: if the archive cannot be read.
        """
        return self.ask(lambda archive: archive.query(**wanted))

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

    def bytes_held(self) -> int | None:
        """The size of the archive's files; None where it is no file of ours."""
        if not isinstance(self._where, Path) or not self._where.exists():
            return None
        beside = (self._where.with_name(self._where.name + suffix) for suffix in ("", "-wal"))
        return sum(file.stat().st_size for file in beside if file.exists())

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
    """Everything that a handler may use.

    :ivar measurements: the measurement archive, for reading.
    :ivar snapshots: the controller's snapshot, shared.
    :ivar rehearsals: the rehearsal of every single failure, shared.
    :ivar stream: the events for listeners.
    :ivar gantt: returns the plan of the collector as a page.
    :ivar journal: the file of messages to switches (:mod:`apps.journal`).
    :ivar configuration: the configuration at the start; the process restarts when it changes.
    :ivar clock: returns seconds since the epoch.
    :ivar supervisor: ``adon serve``; None in tests of one part.
    :ivar backtests: None if the file of the configuration is unknown.
    :ivar began: start of this process in seconds since the epoch.
    :ivar rates: rate limits; None in tests without them.
    """

    store: Store
    access: Access
    audit: AuditWriter
    measurements: Measurements
    controller: Controller
    snapshots: Snapshots
    rehearsals: Snapshots
    collector: Controller
    stream: Stream
    gantt: Callable[[], str]
    journal: Path
    configuration: Configuration
    why_nots: WhyNots
    policy: Policy = field(default_factory=Policy)
    clock: Callable[[], float] = time.time
    supervisor: Controller | None = None
    backtests: Backtests | None = None
    began: float = field(default_factory=time.time)
    rates: Rates | None = None

    @property
    def has_standby(self) -> bool:
        """Whether several controllers share the network, with a lease for the active one."""
        return self.configuration.controller.ha is not None


def services() -> Services:
    """The services of the application that handles this request."""
    return cast(Services, current_app.extensions[NAME])


def share_rehearsals(controller: Controller, clock: Callable[[], float]) -> Snapshots:
    """Return the shared rehearsal of every single failure."""
    return Snapshots(
        lambda: every_single_failure(lambda one: controller.call("what-if", dict(one), timeout=30.0)),
        clock,
        SHARED_S,
        STALE_S,
    )


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


def requester(store: Store, flow: str) -> str | None:
    """Who asked for a flow (``f-17``); None for one that is not there."""
    number = flow.removeprefix("f-")
    if not number.isdecimal():
        return None
    try:
        return store.flow(int(number)).requester
    except NotFound:
        return None


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
    credentials = configuration.policy.credentials
    where = access_url(data, store_url)
    access = Access.open(where, idle=credentials.session_idle, lifetime=credentials.session_lifetime)
    try:
        store = Store.open(url, read_only=True)
    except AdonError:
        access.close()
        raise
    audit = AuditWriter(access.audit.append, time.time)
    controller, collector = (
        LinkClient(data / CONTROLLER, "web"),
        LinkClient(data / "collector.sock", "web", "the collector"),
    )
    supervisor = LinkClient(data / SUPERVISOR, "web", "adon serve")
    controller.on("hello", lambda _: supervisor.send(REACHED, {}))
    backtests = None if config is None else Backtests(config, data, url, time.time)
    limits = configuration.controller.web_limits
    stream = Stream(lambda flow: requester(store, flow), limits.streams, limits.streams_per_user)
    controller.on("announce", stream.adder("announce"))
    controller.on("changed", stream.changed)
    collector.on("alarm", stream.adder("alarm"))
    collector.on("notice", stream.adder("notice"))
    collector.on("path", stream.adder("path"))
    try:
        yield Services(
            store=store,
            access=access,
            audit=audit,
            measurements=Measurements(configuration.measurements.archive_url or data / "measurements.db"),
            controller=controller,
            snapshots=Snapshots(lambda: controller.call("snapshot", {}, timeout=5.0), time.monotonic),
            rehearsals=share_rehearsals(controller, time.monotonic),
            collector=collector,
            stream=stream,
            gantt=lambda: _drawn(data / GANTT),
            journal=data / JOURNAL,
            configuration=configuration,
            why_nots=WhyNots(url),
            policy=Policy(configuration.policy.measurement_access),
            supervisor=supervisor,
            backtests=backtests,
            rates=Rates(limits),
        )
    finally:
        if backtests is not None:
            backtests.close()
        stream.close()
        controller.close()
        collector.close()
        supervisor.close()
        store.close()
        audit.close()
        access.close()
