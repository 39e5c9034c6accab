"""Where measurement points hand in results: a small HTTPS server beside the collector's loop.

==============  =========================================================================================
PUT /results    one message of pScheduler's ``http`` archiver, also with POST or at ``/logstash``, the path in
                perfSONAR's generated definitions; 200 only when the archive has its values
GET /healthz    that it works, and what it has counted; open to everybody
==============  =========================================================================================

Everything but the last needs a sender that is known by its token (:mod:`measurement.point.trust`), shown as
bearer token or, with the sender's name, as Basic credentials.  A sender is limited in rate, a body in size, a
connection in time (:mod:`measurement.point.web`).  For pScheduler's archiver every 2xx is final. Every other
status is repeated as often as the task's ``retry-policy`` says, and never without one. A result that is
correct and not for ADON is therefore answered with 200; a malformed one is 4xx with a problem document that
names the field.  Whatever is refused leaves one line in the log.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from adon import problems
from adon.errors import InvalidInput
from measurement.errors import ArchiveError, BadAnswer, shorten
from measurement.point.trust import Right, Trust
from measurement.point.web import WebServer
from measurement.sources import body, pushed
from measurement.sources.pushed import Reporter
from measurement.sources.received import Refusal, Resolve, Value, receive

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Bucket:
    """A token bucket: how much somebody may still send at once.

    :param level: requests allowed now.
    :param at: when that was so, seconds of a clock that never steps.
    """

    level: float
    at: float


@dataclass(frozen=True, slots=True)
class Rate:
    """At most ``burst`` requests at once and ``per_second`` in the long run."""

    per_second: float = 1000.0
    burst: float = 10_000.0

    def take(self, bucket: Bucket | None, now: float) -> tuple[Bucket, float]:
        """One request more: the bucket after it, and seconds to wait (0.0 when it is allowed)."""
        level = self.burst
        if bucket is not None:
            level = min(self.burst, bucket.level + (now - bucket.at) * self.per_second)
        if level >= 1:
            return Bucket(level - 1, now), 0.0
        return Bucket(level, now), (1 - level) / self.per_second


KNOWN_BUCKETS = 1000
USUAL = Rate()
STRANGERS = Rate(per_second=1.0, burst=20.0)
"""How often one address may fail to say who it is."""


class Kept(Protocol):
    """What :meth:`measurement.archive.Archive.append` returns."""

    @property
    def new(self) -> int:
        """Values that the archive did not have."""

    @property
    def duplicates(self) -> int:
        """Values that it had."""


Keep = Callable[[Sequence[Value]], Kept]


@dataclass(frozen=True, slots=True)
class Settings:
    """How results are handed in.

    :param port: 0 takes a free one.
    :param certificate: PEM file and key file; None for plain HTTP, which suits loopback only.
    :param largest: bytes that one message may have.
    """

    host: str = "127.0.0.1"
    port: int = 0
    certificate: tuple[Path, Path] | None = None
    largest: int = body.LARGEST


@dataclass(frozen=True, slots=True)
class Intake:
    """What the application is made of; all of it is called by several threads.

    :param resolve: from a test's ends to the path.
    :param keep: archives values and returns when they are durable; raises
        :class:`~measurement.errors.ArchiveError` when it cannot.
    :param reporter: by a sender's name what it may report; None for one that is no measurement point (yet).
    :param clock: our time, seconds since the epoch.
    """

    resolve: Resolve
    keep: Keep
    reporter: Callable[[str], Reporter | None]
    clock: Callable[[], float] = time.time


class _Answer(Exception):  # it is an answer, only not a good one
    def __init__(
        self, status: int, cause: str, wait: float | None = None, refusal: Refusal | None = None
    ) -> None:
        self.status = status
        self.cause = cause
        self.wait = wait
        self.refusal = refusal
        super().__init__(cause)


class Door:
    """Who is there, whether they may come in now, and what has been counted.  Threads share it.

    :param known: the senders as they are now; asked for each request.
    :param clock: seconds that never step back.
    """

    def __init__(
        self,
        known: Callable[[], Trust],
        rate: Rate = USUAL,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._known = known
        self._rate = rate
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()
        self._counted: Counter[str] = Counter()

    def admit(self, token: str | None, address: str, name: str | None = None) -> str:
        """The name of the sender of a request.

        :param name: the name that the sender gave with the token; None if it gave none.
        :raises _Answer: 401 for an unknown sender, 403 without the right, 429 for too many requests.
        """
        sender = self._known().who(token)
        if sender is None or name not in (None, sender.name):
            self._take(f"address {address}", STRANGERS)
            raise _Answer(401, "The token is missing or unknown.")
        self._take(f"sender {sender.name}", self._rate)
        if Right.ARCHIVE not in sender.rights:
            raise _Answer(403, f"{sender.name} has no right to {Right.ARCHIVE}.")
        return sender.name

    def count(self, what: str, number: int = 1) -> None:
        """Count something for ``/healthz``."""
        with self._lock:
            self._counted[what] += number

    def counters(self) -> dict[str, int]:
        """What has been counted so far."""
        with self._lock:
            return dict(self._counted)

    def _take(self, who: str, rate: Rate) -> None:
        with self._lock:
            bucket, wait = rate.take(self._buckets.get(who), self._clock())
            self._buckets[who] = bucket
            self._buckets.move_to_end(who)
            while len(self._buckets) > KNOWN_BUCKETS:
                self._buckets.popitem(last=False)
        if wait:
            raise _Answer(429, "Too many requests.", wait)


def create_app(door: Door, intake: Intake, largest: int = body.LARGEST) -> Flask:
    """The application."""
    app = Flask("apps.collector.ingest")
    app.config["MAX_CONTENT_LENGTH"] = largest

    @app.route("/logstash", methods=["PUT", "POST"])
    @app.route("/results", methods=["PUT", "POST"])
    def results() -> Response:
        sender = _sender(door)
        door.count("messages")
        return _results(door, intake, sender, _json(largest))

    @app.get("/healthz")
    def healthz() -> Response:
        return _json_answer({"status": "ok", "counted": door.counters()})

    def refused(error: _Answer) -> Response:
        return _error_answer(door, error)

    def failed(error: HTTPException) -> Response:
        return _error_answer(door, _Answer(error.code or 400, error.description or error.name))

    app.register_error_handler(_Answer, refused)
    app.register_error_handler(HTTPException, failed)
    app.register_error_handler(Exception, _fault)
    return app


def _results(door: Door, intake: Intake, sender: str, payload: object) -> Response:
    reporter = intake.reporter(sender)
    if reporter is None:
        raise _Answer(403, f"{sender} is no measurement point that reports here.")
    try:
        report = pushed.understand(payload, sender)
    except BadAnswer as error:
        refusal = Refusal.of(sender, error)
        raise _Answer(422, refusal.cause, refusal=refusal) from None
    received = receive(report, intake.resolve, intake.clock())
    if received.kept and not pushed.took_part(reporter, report):
        raise _Answer(403, f"{sender} took no part in {report.source}.")
    wrong = next((refusal for refusal in received.refused if refusal.field is not None), None)
    if wrong is not None and not received.kept:
        raise _Answer(422, wrong.cause, refusal=wrong)
    for refusal in received.refused:
        LOG.warning('event=refused sender=%s code=%s cause="%s"', sender, refusal.code, refusal)
    door.count("refused", len(received.refused))
    lines = [str(refusal) for refusal in received.refused]
    if not received.kept:
        # A failed test, or one that ADON does not read: sending it again would change nothing.
        return _json_answer({"new": 0, "duplicates": 0, "refused": lines})
    kept = _keep_values(door, intake, sender, received.kept)
    return _json_answer({"new": kept.new, "duplicates": kept.duplicates, "refused": lines})


def _keep_values(door: Door, intake: Intake, sender: str, values: Sequence[Value]) -> Kept:
    try:
        kept = intake.keep(values)
    except ArchiveError as error:
        # One line, no traceback: the error says all, and a full disk says it at each message.
        LOG.error('event=not_kept sender=%s cause="%s"', sender, error)  # noqa: TRY400
        raise _Answer(503, "The archive cannot take it now.", 30.0) from None
    door.count("new", kept.new)
    door.count("duplicates", kept.duplicates)
    return kept


def _sender(door: Door) -> str:
    shown, address = request.authorization, request.remote_addr or ""
    if shown is None or shown.type not in ("bearer", "basic"):
        return door.admit(None, address)
    return door.admit(shown.token or shown.password or None, address, shown.username)


def _json(largest: int) -> object:
    if request.headers.get("Content-Encoding", "identity") != "identity":
        raise _Answer(415, "A compressed body is not read.")
    try:
        return body.parse(request.get_data(), largest)
    except ValueError as error:
        raise _Answer(400, str(error)) from None


def _json_answer(value: object, status: int = 200) -> Response:
    return Response(json.dumps(value) + "\n", status, mimetype="application/json")


def _error_answer(door: Door, error: _Answer) -> Response:
    door.count(f"status_{error.status}")
    cause = shorten(error.cause)
    field = (error.refusal and error.refusal.field) or ""
    LOG.warning(
        'event=refused address=%s path=%s status=%d cause="%s"',
        request.remote_addr,
        shorten(request.path, 80),
        error.status,
        f"{field}: {cause}" if field else cause,
    )
    if error.refusal is None:
        problem = problems.http_document(error.status, "Refused", cause)
    else:
        problem = problems.to_document(InvalidInput.of(field, cause, error.refusal.code))
    answer = Response(json.dumps(problem) + "\n", error.status, mimetype=problems.MEDIA_TYPE)
    if error.status == 401:
        answer.headers["WWW-Authenticate"] = 'Bearer realm="ADON", Basic realm="ADON", charset="UTF-8"'
    if error.wait is not None:
        answer.headers["Retry-After"] = str(max(1, round(error.wait)))
    return answer


def _fault(error: Exception) -> Response:
    LOG.error("event=fault path=%s", shorten(request.path, 80), exc_info=error)
    return _json_answer({"title": "Internal error", "status": 500}, 500)


class IngestServer:
    """The application, served by threads of its own until closed.

    :ivar url: where it listens.
    :raises OSError: when the address cannot be bound or a certificate not be read.
    """

    def __init__(self, app: Flask, settings: Settings) -> None:
        self._server = WebServer((settings.host, settings.port), settings.certificate, settings.largest)
        self.url = self._server.url
        self._server.begin(app)

    @property
    def alive(self) -> bool:
        """False when its thread has died."""
        return self._server.serving

    def close(self) -> None:
        """Stop; requests under way have a second to end."""
        self._server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
