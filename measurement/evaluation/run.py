"""A run of an evaluation: each single result with when and where it came from, and what they amount to.

Each result is kept, failures too: summaries are computed from them and never kept instead ([CEEM] IV-H and
IV-J: results and a live maintained log, so that others can confirm what was found).  Where a report gives
nothing but means and deviations, the paths have these alone.

A run is a document: ``measurement.model.to_json`` writes it and ``from_json`` reads it.  Its times are
RFC 3339 in UTC, to the microsecond.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer
from pydantic_core import CoreSchema

from measurement.errors import InvalidValue
from measurement.evaluation.results import Measured, Path, Results
from measurement.model import STRICT, headed_schema


def _read_time(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise ValueError(f"{value[:40]!r} is not a time; write for example 2026-11-21T06:00:00Z") from None
    if moment.tzinfo is None:
        raise ValueError(f"{value[:40]!r} has no offset; write for example 2026-11-21T06:00:00Z")
    return moment.timestamp()


def _write_time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


Time = Annotated[float, BeforeValidator(_read_time), PlainSerializer(_write_time, when_used="json")]
"""Seconds since 1970."""
Count = Annotated[int, Field(ge=0)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class Reference:
    """Which document was run.

    :param digest: SHA-256 of the document's content in hexadecimal digits; empty where nobody knows it.
    """

    __pydantic_config__ = STRICT

    name: str
    version: Count
    digest: str = ""


@dataclass(frozen=True, slots=True)
class PathResult:
    """All of one path.

    :param one, other: as in :class:`~measurement.evaluation.results.Path`.
    :param mean, deviation: None where every test failed.
    :param count: how many tests came to a value; 0 where a report does not say.
    :param failed: how many tests failed.
    """

    __pydantic_config__ = STRICT

    one: str
    other: str
    mean: Amount | None
    deviation: Amount | None
    count: Count = 0
    failed: Count = 0

    @property
    def path(self) -> Path:
        """The path."""
        return Path(self.one, self.other)

    @property
    def measured(self) -> Measured | None:
        """All measurements of the path together; None where there are none."""
        if self.mean is None or self.deviation is None:
            return None
        return Measured(self.mean, self.deviation, self.count)


@dataclass(frozen=True, slots=True)
class Sample:
    """What came of one test; also a line of the live log.

    :param number: of the test in the blueprint, from 0.
    :param one, other: the path, from the sender to the receiver.
    :param at: when it began, seconds since 1970.
    :param value: in the run's unit; None if it failed.
    :param failure: why, in one line; None if it did not.
    :param iteration: of the design, from 0.
    :raises ValueError: for neither a value nor a failure, or both, or a value below 0; it names the test.
    """

    __pydantic_config__ = STRICT

    number: Count
    one: str
    other: str
    at: Time
    value: Amount | None
    failure: str | None = None
    iteration: Count = 0

    def __post_init__(self) -> None:
        name = f"test {self.number}"
        if (self.value is None) == (not self.failure):
            raise ValueError(f"{name}: either came to a value or failed")
        if self.value is not None and not (math.isfinite(self.value) and self.value >= 0):
            raise ValueError(f"{name}: {self.value} is no result")
        if not math.isfinite(self.at):
            raise ValueError(f"{name}: at {self.at} is no time")

    @property
    def path(self) -> Path:
        """From the sender to the receiver."""
        return Path(self.one, self.other)


@dataclass(frozen=True, slots=True)
class Note:
    """What was written into the log beside results: that it was interrupted, what somebody saw.

    :param at: seconds since 1970.
    """

    __pydantic_config__ = STRICT

    at: Time
    text: str


@dataclass(frozen=True, slots=True)
class Run:
    """See the module's text.

    :param name: of this run, unlike that of any other.
    :param metric: what the samples are of, as in the catalogue.
    :param unit: of every value: ``bit/s`` or ``s``.
    :param nodes, clients: as in :class:`~measurement.evaluation.results.Results`.
    :param began: when, in seconds since 1970; None where a report does not say.
    :param ended: None if it goes on, was interrupted, or a report does not say.
    :param seed: of the order of tests; None if they had none.
    :param planned: tests in the blueprint.
    :param pilot: whether it only tried the design.
    :param conditions: levels of factors under which it was run, in words; two runs are alike if theirs are.
    :param environment: where it was run: kernel, processor, who could be reached how.
    :param versions: of programs, by their name.
    :param paths: all paths that were tried or are stated, row by row as in table V: the clients', then the
        nodes'.  Of a path with samples it is what these amount to, whatever is given.
    :param notes: from the log.
    :raises ValueError: for a sample of a path that cannot be, or a test that is there twice; it names test or
        path.
    """

    __pydantic_config__ = STRICT

    format: Literal["ceem-run/1"] = field(default="ceem-run/1", kw_only=True)
    name: str
    document: Reference
    metric: str
    unit: str
    nodes: tuple[str, ...]
    clients: tuple[str, ...] = ()
    began: Time | None = None
    ended: Time | None = None
    seed: int | None = None
    planned: Count = 0
    _: KW_ONLY
    pilot: bool = False
    conditions: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    paths: tuple[PathResult, ...] = ()
    samples: tuple[Sample, ...] = ()
    notes: tuple[Note, ...] = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        return headed_schema(handler(source), "format")

    def __post_init__(self) -> None:
        seen: set[int] = set()
        for sample in self.samples:
            if sample.number in seen:
                raise InvalidValue(f"test {sample.number}: is there twice", "duplicate")
            seen.add(sample.number)
        object.__setattr__(self, "paths", self._paths())
        self.results()

    def _paths(self) -> tuple[PathResult, ...]:
        found = {one.path: one for one in self.paths}
        series, failures = self.series(), self.failures()
        for path in {sample.path for sample in self.samples}:
            its = summarised(series[path]) if path in series else None
            mean, deviation, count = (None, None, 0) if its is None else (its.mean, its.deviation, its.count)
            found[path] = PathResult(*path, mean, deviation, count, failures.get(path, 0))
        rank = {place: number for number, place in enumerate((*self.clients, *self.nodes))}
        # A place that is neither comes last; results() refuses it by name.
        ranked = sorted(found, key=lambda path: ([rank.get(place, len(rank)) for place in path], path))
        return tuple(found[path] for path in ranked)

    @property
    def complete(self) -> bool:
        """Whether each test of the blueprint was tried, well or not; what is only stated is complete."""
        return len(self.samples) >= self.planned

    def series(self) -> Mapping[Path, tuple[float, ...]]:
        """Results of each path of which there are any, in the order of time."""
        found: defaultdict[Path, list[float]] = defaultdict(list)
        for sample in sorted(self.samples, key=lambda one: one.at):
            if sample.value is not None:
                found[sample.path].append(sample.value)
        return {path: tuple(values) for path, values in found.items()}

    def failures(self) -> Mapping[Path, int]:
        """How many tests of each path failed; paths without any are not in it."""
        return Counter(sample.path for sample in self.samples if sample.value is None)

    def results(self) -> Results:
        """What was found; a path on which everything failed is not in it."""
        found = ((one.path, one.measured) for one in self.paths)
        return Results(self.nodes, self.clients, {path: its for path, its in found if its is not None})


def summarised(values: Sequence[float]) -> Measured:
    """Mean, standard deviation (n - 1 below the line; 0 of a single value) and count.

    :raises ValueError: for no values.
    """
    if not values:
        raise ValueError("values: there are none")
    mean = math.fsum(values) / len(values)
    return Measured(mean, statistics.stdev(values) if len(values) > 1 else 0.0, len(values))
