"""Every way in which results come that were not measured by our own plan, from the configuration.

Points push results to a small server of ours; RabbitMQ queues are consumed; existing archives are read
periodically.  All of them know a path by the measurement addresses of its configured tests, and hand what
they get to the collector's thread.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from adon.config import Configuration
from adon.config.measurements import Ingest, ResultArchive
from adon.errors import InvalidInput
from apps.collector import contacts, ingest
from apps.collector.archive_pull import Puller
from apps.collector.collector import Inbox
from measurement.model import PathKey
from measurement.point import trust_file
from measurement.point.trust import Trust
from measurement.pscheduler.transport import Transport
from measurement.sources import rabbitmq
from measurement.sources.opensearch import OpenSearchArchive
from measurement.sources.pushed import Reporter
from measurement.sources.received import Resolve

LOG = logging.getLogger(__name__)


def resolver(configuration: Configuration) -> Resolve:
    """From a test's ends to the path that they are pinned to."""
    known: Mapping[tuple[str, str], PathKey] = {
        (str(test.source), str(test.destination)): test.key for test in configuration.measurements.tests
    }
    return lambda source, destination: known.get((source, destination))


def reporters(configuration: Configuration) -> dict[str, Reporter]:
    """Per measurement point the names and addresses under which it takes part in tests."""
    measurements = configuration.measurements
    names: dict[str, set[str]] = {
        name: {point.node_name, urlsplit(point.url).netloc} for name, point in measurements.points.items()
    }
    for test in measurements.tests:
        names[test.from_].add(str(test.source))
        names[test.to].add(str(test.destination))
    return {name: Reporter(name, frozenset(found)) for name, found in names.items()}


class TrustFile:
    """The trust file of the ingest server, read again when it changes.  Threads share it.

    A file with an error is logged once, and the parties of the last correct file stay known.

    :raises ValueError: for a first file with an error.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._version = _version(file)
        self._trust = trust_file.read(file)

    def current_trust(self) -> Trust:
        """Return the parties that are known now."""
        with self._lock:
            version = _version(self._file)
            if version != self._version:
                self._version = version
                self._read_again()
            return self._trust

    def _read_again(self) -> None:
        try:
            self._trust = trust_file.read(self._file)
        except ValueError as error:
            # One line, no traceback: the error names file, field and cause.
            LOG.error('event=trust_not_changed cause="%s"', error)  # noqa: TRY400
        else:
            LOG.info("event=trusting file=%s", self._file)


def _version(file: Path) -> tuple[int, int, int] | None:
    """Return values that differ after a change of a file; None if it cannot be read."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size


@contextmanager
def ways_in(configuration: Configuration, folder: Path, inbox: Inbox) -> Iterator[str | None]:
    """Everything that is configured, until the end of the context; where points push to, if they may.

    :raises InvalidInput: for an address, file or URL that cannot be used.
    """
    measurements, resolve = configuration.measurements, resolver(configuration)
    stops: list[Callable[[], object]] = []
    url = None
    try:
        if measurements.ingest is not None:
            server = _server(measurements.ingest, configuration, folder, inbox, resolve)
            stops.append(server.close)
            url = server.url
        pairs = [(str(test.source), str(test.destination)) for test in measurements.tests]
        for archive in measurements.archives:
            puller = _puller(archive, folder, pairs, resolve, inbox)
            puller.start()
            stops.append(puller.stop)
        if measurements.rabbitmq is not None:
            address = contacts.secret(
                folder / measurements.rabbitmq.url_file, "measurements.rabbitmq.url_file"
            )
            stops.append(_consumer(address, measurements.rabbitmq.queue, resolve, inbox))
        yield url
    finally:
        for stop in stops:
            stop()


def _server(
    wanted: Ingest,
    configuration: Configuration,
    folder: Path,
    inbox: Inbox,
    resolve: Resolve,
) -> ingest.IngestServer:
    try:
        trust = TrustFile(folder / wanted.trust)
    except ValueError as error:
        raise InvalidInput.of("measurements.ingest.trust", error) from None
    pair = None
    if wanted.certificate is not None and wanted.key is not None:
        pair = (folder / wanted.certificate, folder / wanted.key)
    known_reporters = reporters(configuration)
    intake = ingest.Intake(resolve, inbox.keep, known_reporters.get)
    settings = ingest.Settings(wanted.host, wanted.port, pair)
    try:
        return ingest.IngestServer(ingest.create_app(ingest.Door(trust.current_trust), intake), settings)
    except OSError as error:
        raise InvalidInput.of("measurements.ingest", f"cannot listen: {error}") from None


def _puller(
    wanted: ResultArchive, folder: Path, pairs: Sequence[tuple[str, str]], resolve: Resolve, inbox: Inbox
) -> Puller:
    try:
        transport = Transport(wanted.url, contacts.parse_verify(wanted.verify, folder))
    except ValueError as error:
        raise InvalidInput.of("measurements.archives", error) from None
    return Puller(
        transport.host, OpenSearchArchive(transport), pairs, resolve, inbox.keep, period=wanted.period
    )


def _consumer(url: str, queue: str, resolve: Resolve, inbox: Inbox) -> Callable[[], None]:
    try:
        consumer = rabbitmq.Consumer(rabbitmq.Settings(url, queue), resolve, inbox.keep)
    except rabbitmq.QueueError as error:
        raise InvalidInput.of("measurements.rabbitmq", error) from None
    threading.Thread(target=consumer.run, name="rabbitmq", daemon=True).start()
    return consumer.stop
