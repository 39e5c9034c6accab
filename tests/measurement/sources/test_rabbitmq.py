from __future__ import annotations

import json
import logging
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pika
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.archive import Archive
from measurement.errors import ArchiveError
from measurement.sources.rabbitmq import (
    LONGEST_WAIT,
    Consumer,
    Delivery,
    QueueError,
    Settings,
    backoff,
    read_delivery,
)
from measurement.sources.received import Value
from tests.measurement.sources import broker, messages
from tests.measurement.sources.messages import NOW, POINT_A, STRANGER

URL = "amqp://me:secret@queue.example.net/%2F"


def delivered(data: bytes, user: str | None = None, **settings: Any) -> str:
    found = read_delivery(
        Delivery(1, user, data), Settings(URL, "results", **settings), messages.resolve, NOW
    )
    return "kept" if found.kept else str(found.refused[0])


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (json.dumps(messages.message()).encode(), "kept"),
        (b"\x80", "UTF-8"),
        (b"{", "JSON"),
        (b"[]", "object"),
        (b'"' + b"x" * 100_000, "100001 bytes"),
    ],
)
def test_a_message_is_read_or_refused_in_one_line(data: bytes, shown: str) -> None:
    line = delivered(data, largest=90_000)
    assert shown in line
    assert "secret" not in line


def test_with_reporters_the_brokers_user_decides_what_may_be_told() -> None:
    data = json.dumps(messages.message()).encode()
    reporters = {"campus": POINT_A, "elsewhere": STRANGER}
    assert delivered(data, "campus", reporters=reporters) == "kept"
    assert STRANGER.name in delivered(data, "elsewhere", reporters=reporters)
    assert "None" in delivered(data, None, reporters=reporters)
    assert "guest" in delivered(data, "guest", reporters=reporters)


@pytest.mark.parametrize(
    "url", ["", "http://q", "amqp://", "amqp://me:secret@q:port/", "amqp://me:secret@[q/"]
)
def test_a_url_that_is_none_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(QueueError) as caught:
        Consumer(Settings(url, "results"), messages.resolve, lambda values: None)
    assert "secret" not in str(caught.value)
    assert "secret" not in repr(Settings(url, "results"))


@given(st.integers(0, 10_000), st.floats(0, 1, exclude_max=True))
def test_waits_grow_and_are_bounded(failures: int, chance: float) -> None:
    assert 0 < backoff(failures, chance) <= LONGEST_WAIT
    assert backoff(failures + 1, chance) >= backoff(failures, chance)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if not broker.available():
        pytest.fail("this test needs RabbitMQ: install Debian's rabbitmq-server", pytrace=False)
    with broker.rabbitmq(tmp_path_factory.mktemp("rabbitmq")) as found:
        yield found


class Queue:
    """A durable queue with a dead-letter queue, and an archive of what a consumer takes from it."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.file = folder / "archive.db"
        self.name = f"results-{uuid.uuid4().hex[:8]}"
        self.dead = f"{self.name}-dead"
        self.refusals = 0  # how often the archive will refuse
        self.forgetful = 0  # how often it will keep, and then say that it could not
        self.kept = 0  # how often it has kept, and said so
        with self.channel() as channel:
            channel.queue_declare(self.dead, durable=True)
            arguments = {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": self.dead}
            channel.queue_declare(self.name, durable=True, arguments=arguments)

    @contextmanager
    def channel(self) -> Iterator[Any]:
        with pika.BlockingConnection(pika.URLParameters(self.url)) as connection:
            yield connection.channel()

    def publish(self, *bodies: Any, user: str | None = None) -> None:
        with self.channel() as channel:
            channel.confirm_delivery()
            for body in bodies:
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                channel.basic_publish(
                    "", self.name, data, pika.BasicProperties(user_id=user, delivery_mode=2)
                )

    def waiting(self, name: str | None = None) -> int:
        """Messages that nobody has been given yet."""
        with self.channel() as channel:
            declared = channel.queue_declare(self.name if name is None else name, passive=True)
            return int(declared.method.message_count)

    def keep(self, values: Sequence[Value]) -> None:
        if self.refusals:
            self.refusals -= 1
            raise ArchiveError("disk full")
        with Archive(self.file) as archive:
            archive.append(values)
        if self.forgetful:
            self.forgetful -= 1
            raise ArchiveError("cannot tell whether it is written")
        self.kept += 1

    def archived(self) -> int:
        with Archive(self.file) as archive:
            return len(archive.query())

    @contextmanager
    def consumed(self, url: str | None = None, **settings: Any) -> Iterator[Consumer]:
        """With a consumer at work; afterwards nothing that it was given is left unsettled."""
        consumer = Consumer(
            Settings(self.url if url is None else url, self.name, **settings),
            messages.resolve,
            self.keep,
            clock=lambda: NOW,
            pause=lambda _: time.sleep(0.05),
        )
        thread = threading.Thread(target=consumer.run, daemon=True)
        thread.start()
        try:
            yield consumer
        finally:
            consumer.stop()
            thread.join(60)
            assert not thread.is_alive()


@pytest.fixture
def queue(url: str, tmp_path: Path) -> Queue:
    return Queue(url, tmp_path)


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.05)


@pytest.mark.integration
def test_results_are_kept_then_acknowledged_and_poison_is_put_aside(
    queue: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    twice = messages.message()
    queue.publish(messages.message(), twice, b"{", twice, messages.message(ended=NOW + 9999))
    with queue.consumed():
        eventually(lambda: queue.waiting(queue.dead) == 2)
        eventually(lambda: queue.archived() == 4)
    assert queue.waiting() == 0
    lines = [record.getMessage() for record in caplog.records if "event=refused" in record.getMessage()]
    assert len(lines) == 2
    assert "not JSON" in lines[0]
    assert "future" in lines[1]
    assert not any("guest:guest" in line for line in lines)


@pytest.mark.integration
def test_what_the_archive_refuses_stays_in_the_queue(queue: Queue, caplog: pytest.LogCaptureFixture) -> None:
    queue.refusals = 3
    queue.publish(messages.message(), messages.message())
    with queue.consumed():
        eventually(lambda: queue.archived() == 4)
    assert queue.waiting() == 0
    assert queue.waiting(queue.dead) == 0
    assert "disk full" in caplog.text


@pytest.mark.integration
def test_what_was_kept_and_not_acknowledged_comes_again_and_is_recognised(queue: Queue) -> None:
    queue.forgetful = 2
    queue.publish(messages.message())
    with queue.consumed():
        eventually(lambda: queue.kept == 1)  # what is being tried again is not waiting either
    assert queue.archived() == 2
    assert queue.waiting() == 0


@pytest.mark.integration
def test_a_consumer_that_stops_leaves_the_rest_for_the_next(queue: Queue) -> None:
    queue.refusals = 10**6
    queue.publish(*(messages.message() for _ in range(5)))
    with queue.consumed(batch=2):
        eventually(lambda: queue.refusals < 10**6)
    eventually(lambda: queue.waiting() == 5)
    queue.refusals = 0
    with queue.consumed(batch=2):
        eventually(lambda: queue.archived() == 10)
    assert queue.waiting() == 0


@pytest.mark.integration
def test_the_broker_vouches_for_who_wrote(queue: Queue) -> None:
    queue.publish(messages.message(), user="guest")
    queue.publish(messages.message())
    with queue.consumed(reporters={"guest": POINT_A}):
        eventually(lambda: queue.waiting(queue.dead) == 1 and queue.archived() == 2)


class Relay:
    """Passes connections on to a port, until they are cut."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []
        self.accepted = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self._target))
            self._open += [near, far]
            self.accepted += 1
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        try:
            while data := one.recv(65536):
                other.sendall(data)
        except OSError:
            return

    def cut(self) -> None:
        for each in self._open:
            each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._open.clear()

    def close(self) -> None:
        # accept() of another thread only ends when the listener is shut down, not when it is closed.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()


@pytest.mark.integration
def test_a_connection_that_is_cut_is_made_again(queue: Queue, caplog: pytest.LogCaptureFixture) -> None:
    parts = urlsplit(queue.url)
    assert parts.port is not None
    relay = Relay(parts.port)
    try:
        with (
            caplog.at_level(logging.WARNING),
            queue.consumed(queue.url.replace(str(parts.port), str(relay.port))),
        ):
            queue.publish(messages.message())
            eventually(lambda: queue.archived() == 2)
            relay.cut()
            queue.publish(messages.message())
            eventually(lambda: queue.archived() == 4)
    finally:
        relay.close()
    assert relay.accepted >= 2
    assert "event=queue_lost" in caplog.text
    assert "guest:guest" not in caplog.text


@pytest.mark.integration
def test_a_queue_that_is_not_there_is_said_and_tried_again(
    queue: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    late = f"late-{uuid.uuid4().hex[:8]}"
    queue.name, there = late, queue.name
    with queue.consumed():
        eventually(lambda: "event=queue_lost" in caplog.text)
        with queue.channel() as channel:
            channel.queue_declare(late, durable=True)
        queue.publish(messages.message())
        eventually(lambda: queue.archived() == 2)
    assert late in caplog.text
    assert there not in caplog.text
