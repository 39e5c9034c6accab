"""From one finished run, told by whomever, to values of the archive: pure.

The poller asks for a run and reads it; here the run was told.  Both use the same reader of results and give
the same :class:`~measurement.model.Measurement`; only the beginning of its ``source`` may differ, not its
origin.  What cannot be kept comes back as a :class:`Refusal`, one line for the operator.

Which direction a result belongs to: from ``source`` to ``dest``, the other way round with ``reverse``.  (A
``flip`` changes who starts the tool, not the direction of the packets.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from measurement.errors import BadAnswer, InvalidValue, shorten
from measurement.model import Measurement, Observation, PathKey, from_json
from measurement.pscheduler import results
from measurement.pscheduler.document import Document
from measurement.pscheduler.specs import HOST_METRIC

AHEAD = 60.0
"""Seconds by which a clock elsewhere may be fast before its results are refused."""

BEGAN = 1_483_228_800.0
"""2017-01-01: pScheduler's first release; a result from before is a clock that was never set."""

Resolve = Callable[[str, str], PathKey | None]
"""From a test's source and destination (address or name) to the directed path; None if there is none."""


Value = Measurement | Observation


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something that was not kept.

    :param source: who or what said it.
    :param cause: why it was not kept.
    :param code: the stable name of the cause.
    :param field: the wrong field of the message; None where the message is correct.
    """

    source: str
    cause: str
    code: str
    field: str | None = None

    def __str__(self) -> str:
        where = f"{self.field}: " if self.field else ""
        return f"{shorten(self.source, 120)}: {shorten(where + self.cause)}"

    @classmethod
    def of(cls, source: str, error: BadAnswer) -> Refusal:
        """The refusal of a message with a wrong field."""
        field, _, cause = error.cause.partition(": ")
        return cls(source, cause, "malformed", field)


@dataclass(frozen=True, slots=True)
class Received:
    """What one result, or one page of results, gave."""

    kept: tuple[Value, ...] = ()
    refused: tuple[Refusal, ...] = ()

    def __add__(self, other: Received) -> Received:
        return Received(self.kept + other.kept, self.refused + other.refused)


@dataclass(frozen=True, slots=True)
class Report:
    """One finished run as somebody told it.

    :param host: who told it, for messages.
    :param test: pScheduler's name of the test.
    :param spec: its specification, durations in ISO 8601.
    :param result: the merged result.
    :param source: the run's URL, or what else finds it again.
    :param started: when the run began, seconds since the epoch, by the clock there.
    :param participants: hosts that took part, the lead first; None is the lead itself.
    :param full: every participant's own result: where ping and traceroute leave the cause of a failure.
    """

    host: str
    test: str
    spec: Mapping[str, object]
    result: Mapping[str, object]
    source: str
    started: float
    ended: float
    tool: str = ""
    participants: tuple[str | None, ...] = ()
    full: object = field(default=None, repr=False)


def receive(report: Report, resolve: Resolve, now: float) -> Received:
    """The values of a run.

    :param now: our time; a result that ends later (by more than :data:`AHEAD`) is refused.
    """
    try:
        return _receive(report, resolve, now)
    except BadAnswer as error:
        return Received((), (Refusal.of(report.source, error),))


def refuse(source: str, cause: str, code: str, field: str | None = None) -> Received:
    """Nothing, and why."""
    return Received((), (Refusal(source, cause, code, field),))


def ends(report: Report) -> tuple[str, str] | None:
    """Source and destination of the packets that were measured; None when the report does not say."""
    spec = report.spec
    lead = report.participants[0] if report.participants else None
    source = next((name for name in (spec.get("source"), spec.get("source-node"), lead) if _name(name)), None)
    destination = spec.get("dest")
    if not isinstance(source, str) or not isinstance(destination, str) or not destination:
        return None
    return (destination, source) if results.reverses(report.test, spec) else (source, destination)


def _name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _receive(report: Report, resolve: Resolve, now: float) -> Received:
    if (refused := _check_times(report, now)) is not None:
        return refused
    succeeded = report.result.get("succeeded")
    if succeeded is not True:
        cause = f"the test did not succeed: {_reason(report)}"
        if succeeded is False:
            return refuse(report.source, cause, "run-failed")
        return refuse(report.source, cause, "malformed", "result.succeeded")
    if report.test == HOST_METRIC:
        return _observations(report, now)
    readings = results.read_result(report.test, report.spec, report.result, report.host)
    if not readings:
        return refuse(report.source, f"no results of {report.test!r} tests are read here", "unknown-value")
    between = ends(report)
    if between is None:
        return refuse(report.source, "names no source or no destination", "missing", "test.spec")
    key = resolve(*between)
    if key is None:
        cause = f"no configured path leads from {between[0]} to {between[1]}"
        return refuse(report.source, cause, "unknown-name")
    received = Received()
    for reading in readings:
        received += _value(report, key, results.by_tool(reading, report.tool), now)
    return received


def _check_times(report: Report, now: float) -> Received | None:
    if report.ended < report.started:
        return refuse(report.source, "the run ends before it begins", "out-of-range", "run")
    if report.ended > now + AHEAD:
        cause = f"is from the future: ends {report.ended - now:.0f} s from now"
        return refuse(report.source, cause, "in-future", "run")
    if report.started < BEGAN:
        cause = "is from before 2017: a clock that was never set"
        return refuse(report.source, cause, "out-of-range", "run")
    return None


def _reason(report: Report) -> str:
    fields = {"result-merged": report.result, "result-full": report.full}
    return results.failure_reason(Document(report.host, "run", fields))


def _times(report: Report, now: float) -> tuple[float, float]:
    observed = min(now, report.ended)
    return min(observed, report.started), observed


def _observations(report: Report, now: float) -> Received:
    received = Received()
    for item in Document(report.host, "result", report.result).children("observations"):
        try:
            received += Received((_observation(report, item, now),))
        except InvalidValue as error:
            received += refuse(report.source, str(error), error.code, item.where)
    return received


def _observation(report: Report, item: Document, now: float) -> Observation:
    """What a point observed on its own host: which host that is, is not its to say."""
    found = from_json(Observation, item.fields)
    if not BEGAN <= found.observed_at <= now + AHEAD:
        raise InvalidValue("observed in the future, or before 2017", "out-of-range")
    key = PathKey("", report.host, found.key.destination)
    return replace(found, key=key, observed_at=min(found.observed_at, now))


def _value(report: Report, key: PathKey, reading: results.Reading | results.Refused, now: float) -> Received:
    if isinstance(reading, results.Refused):
        return refuse(report.source, f"{reading.metric}: {reading.cause}", "malformed")
    started, observed = _times(report, now)
    try:
        value = Measurement(
            key,
            reading.metric,
            reading.value,
            started,
            observed,
            report.source,
            report.tool,
            reading.parameters,
        )
    except ValueError as error:
        return refuse(report.source, str(error), "out-of-range", f"result.{reading.metric}")
    return Received((value,))
