"""What the web process works with: the databases, read-only, and the link to the controller."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from flask import current_app

from adon.config import Configuration
from adon.errors import Unavailable
from adon.store.store import Store
from apps.link import LinkClient
from apps.rest.snapshots import Snapshots
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


class Measurements:
    """The archive for a server of many threads: one connection each, opened when first asked for.

    The collector makes the file when it starts, which may be after us.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._local = threading.local()

    def query(self, wanted: MeasurementFilter) -> list[Measurement]:
        """Measurements, the newest first; none while there is no archive yet.

        :raises Unavailable: if the archive cannot be read.
        """
        if not self._file.exists():
            return []
        try:
            return self._archive().query(
                path=wanted.path,
                source=wanted.source,
                destination=wanted.destination,
                metric=wanted.metric,
                since=wanted.since,
                until=wanted.until,
                limit=wanted.limit,
            )
        except ArchiveError as error:
            raise Unavailable("the measurement archive cannot be read") from error

    def _archive(self) -> Archive:
        archive: Archive | None = getattr(self._local, "archive", None)
        if archive is None:
            archive = self._local.archive = Archive(self._file, readonly=True)
        return archive


@dataclass(frozen=True, slots=True)
class Services:
    """Everything a view may use.

    :param hosts: the data transfer nodes of the configuration.
    :param clock: tells seconds since the epoch.
    """

    store: Store
    measurements: Measurements
    controller: Controller
    snapshots: Snapshots
    hosts: tuple[str, ...] = ()
    clock: Callable[[], float] = time.time


def services() -> Services:
    """The services of the application that handles this request."""
    return cast(Services, current_app.extensions[NAME])


def open_services(
    configuration: Configuration, data: Path, store_url: str | None = None
) -> tuple[Services, LinkClient]:
    """The services over one data directory, and the link to close at the end.

    :param store_url: the state's database; SQLite in the data directory if None.
    :raises Unavailable: if the database is not there, or of another version.
    """
    url = store_url or f"sqlite:///{(data / 'state.db').resolve()}"
    store = Store.open(url, read_only=True)
    link = LinkClient(data / "controller.sock", "web")
    snapshots = Snapshots(lambda: link.call("snapshot", {}, timeout=5.0), time.monotonic)
    hosts = tuple(host for site in configuration.sites.values() for host in site.hosts)
    return Services(store, Measurements(data / "measurements.db"), link, snapshots, hosts), link
