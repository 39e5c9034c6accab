"""From a run that was seen to end to measurements of a path: pure; what is no measurement says why."""

from __future__ import annotations

from dataclasses import dataclass

from measurement.errors import BadAnswer
from measurement.model import Measurement, Metric, PathKey
from measurement.pscheduler import results
from measurement.pscheduler.client import Run, ServerClock
from measurement.pscheduler.specs import TestRequest
from measurement.sources.received import Report


@dataclass(frozen=True, slots=True)
class MeasurementFailed:
    """A value that was wanted and not obtained.

    :param cause: one line, with the host's name.
    :param at: when it failed, seconds since the epoch.
    :param code: the stable code of the cause.
    """

    key: PathKey
    metric: Metric
    cause: str
    at: float
    code: str


Outcome = Measurement | MeasurementFailed


@dataclass(frozen=True, slots=True)
class Seen:
    """A run that ended, as it was seen at ``now`` by our clock.

    :param clock: the server's clock.
    """

    run: Run
    tool: str
    clock: ServerClock
    now: float

    @property
    def started(self) -> float:
        """When it began, by our clock."""
        return min(self.observed, self.clock.ours(self.run.start))

    @property
    def observed(self) -> float:
        """When it ended, by our clock."""
        return min(self.now, self.clock.ours(self.run.end))


def outcome(key: PathKey, reading: results.Reading | results.Refused, seen: Seen) -> Outcome:
    """A reading of a run, as a measurement of the path or the reason why it is none."""
    host = seen.run.document.host
    if isinstance(reading, results.Refused):
        return MeasurementFailed(key, reading.metric, f"{host}: {reading.cause}", seen.now, BadAnswer.code)
    try:
        return Measurement(
            key,
            reading.metric,
            reading.value,
            seen.started,
            seen.observed,
            seen.run.url,
            seen.tool,
            reading.parameters,
        )
    except ValueError as error:
        return MeasurementFailed(key, reading.metric, f"{host}: {error}", seen.now, BadAnswer.code)


def report_of(request: TestRequest, seen: Seen) -> Report:
    """The run as a point's own report of it: what its host observed."""
    document = seen.run.document
    return Report(
        document.host,
        str(request.kind),
        request.spec,
        document.child("result-merged").fields,
        seen.run.url,
        seen.started,
        seen.observed,
        seen.tool,
    )
