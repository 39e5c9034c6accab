"""Run of an evaluation: every test result with its time, and the statistics of each path.

Statistics are computed from the results of tests, failed ones included ([CEEM] IV-H and IV-J).  A published
report has means and deviations only; its run has no samples.

::

    COV      = standard deviation / mean                                              (1)
    distance = largest inter-node bandwidth / bandwidth of the path * ratio           (2)
    diameter = bandwidth within the node / smallest bandwidth within a node * ratio   (3)

``measurement.model.to_json`` writes a run and ``from_json`` reads it.  Times in documents are RFC 3339 in
UTC, to the microsecond.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer
from pydantic_core import CoreSchema

from measurement.ceem.template import PlacePath
from measurement.errors import InvalidValue
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
    """Template of a run.

    :param digest: SHA-256 of the template's content in hexadecimal digits; empty if unknown.
    """

    __pydantic_config__ = STRICT

    name: str
    version: Count
    digest: str = ""


@dataclass(frozen=True, slots=True)
class PathStatistics:
    """Statistics of the values of one path.

    :param deviation: standard deviation (n - 1).
    :param count: number of values; 0 if a report does not state it.
    """

    mean: float
    deviation: float
    count: int = 0

    @property
    def cov(self) -> float | None:
        """Coefficient of variation (equation 1); None for a mean of 0, and for a single value."""
        return None if self.mean == 0 or self.count == 1 else self.deviation / self.mean


@dataclass(frozen=True, slots=True)
class PathResult:
    """Statistics of a path in a document.

    :param mean, deviation: None if every test failed.
    :param count: number of values; 0 if a report does not state it.
    :param failed: number of failed tests.
    """

    __pydantic_config__ = STRICT

    one: str
    other: str
    mean: Amount | None
    deviation: Amount | None
    count: Count = 0
    failed: Count = 0

    @property
    def path(self) -> PlacePath:
        """The path."""
        return PlacePath(self.one, self.other)


@dataclass(frozen=True, slots=True)
class Sample:
    """Result of one test.

    :param number: number of the test in the blueprint, from 0.
    :param one, other: sender and receiver.
    :param at: start of the test.
    :param value: value in the unit of the run; None for a failed test.
    :param failure: cause of the failure on one line, else None.
    :param iteration: iteration of the design, from 0.
    :raises ValueError: for a result that has both a value and a failure, or neither.
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
        if (self.value is None) == (not self.failure):
            raise ValueError(f"value: test {self.number} must have either a value or a failure")

    @property
    def path(self) -> PlacePath:
        """The path from the sender to the receiver."""
        return PlacePath(self.one, self.other)


@dataclass(frozen=True, slots=True)
class Note:
    """Remark in the log of a run."""

    __pydantic_config__ = STRICT

    at: Time
    text: str


@dataclass(frozen=True, slots=True)
class EvaluationRun:
    """Run of an evaluation template.

    :param name: name of the run.
    :param metric: metric of the samples, a name of the catalogue.
    :param unit: unit of every value: ``bit/s`` or ``s``.
    :param nodes: evaluated places, in the order of table V.
    :param clients: places outside that test the nodes.
    :param began: start; None if a report does not state it.
    :param ended: end; None for an unfinished run, or if a report does not state it.
    :param seed: seed of the order of tests; None without an order.
    :param planned: number of tests in the blueprint.
    :param pilot: whether the run only tried the design.
    :param conditions: levels of factors under which it was run, in words; equal for comparable runs.
    :param environment: kernels and processors of the places.
    :param versions: versions of programs, by program.
    :param paths: statistics of all tested or stated paths, in the order of table V; computed from the samples
        for each path that has samples.
    :param notes: remarks from the log.
    :raises InvalidValue: for a duplicate test, and for a path that is impossible or named twice.
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
        numbers = [sample.number for sample in self.samples]
        repeated = [number for number, count in Counter(numbers).items() if count > 1]
        if repeated:
            raise InvalidValue(f"samples: test {repeated[0]} is there twice", "duplicate")
        results = {one.path: one for one in self.paths} | self._summarize_samples()
        for path in results:
            self._check_path(path, results)
        rank = {place: number for number, place in enumerate((*self.clients, *self.nodes))}
        ranked = sorted(results, key=lambda path: [rank[place] for place in path])
        object.__setattr__(self, "paths", tuple(results[path] for path in ranked))

    def _summarize_samples(self) -> dict[PlacePath, PathResult]:
        values, failures = self.values_by_path(), self.failures_by_path()
        found = {}
        for path in {sample.path for sample in self.samples}:
            failed = failures.get(path, 0)
            found[path] = PathResult(*path, None, None, 0, failed)
            if path in values:
                its = summarize(values[path])
                found[path] = PathResult(*path, its.mean, its.deviation, its.count, failed)
        return found

    def _check_path(self, path: PlacePath, results: Collection[PlacePath]) -> None:
        unknown = sorted({*path} - {*self.nodes, *self.clients})
        if unknown:
            cause = f"{', '.join(unknown)} is no node and no client"
            raise InvalidValue(f"paths: {path}: {cause}", "unknown-name")
        if not {*self.nodes} & {*path}:
            raise ValueError(f"paths: {path}: connects no node")
        if not path.is_within and path.reverse in results:
            raise InvalidValue(f"paths: {path}: is there twice", "duplicate")

    @property
    def is_complete(self) -> bool:
        """Whether every test of the blueprint has a result; always true for a report without samples."""
        return len(self.samples) >= self.planned

    @property
    def more_is_better(self) -> bool:
        """Whether a larger value is better: true for bandwidths, false for delays."""
        return self.unit != "s"

    def values_by_path(self) -> Mapping[PlacePath, tuple[float, ...]]:
        """Return the values of each path in the order of time."""
        found: defaultdict[PlacePath, list[float]] = defaultdict(list)
        for sample in sorted(self.samples, key=lambda one: one.at):
            if sample.value is not None:
                found[sample.path].append(sample.value)
        return {path: tuple(values) for path, values in found.items()}

    def failures_by_path(self) -> Mapping[PlacePath, int]:
        """Return the number of failed tests of each path with a failed test."""
        return Counter(sample.path for sample in self.samples if sample.value is None)

    def path_statistics(self) -> Mapping[PlacePath, PathStatistics]:
        """Return the statistics of each path with a value, in the order of table V."""
        return {
            one.path: PathStatistics(one.mean, one.deviation, one.count)
            for one in self.paths
            if one.mean is not None and one.deviation is not None
        }

    def distances(self, ratio: float = 1.0, *, clients: bool = False) -> Mapping[PlacePath, float]:
        """Return equation 2 for each path between nodes; infinite for a mean of 0; empty without bandwidths.

        :param ratio: scale factor.
        :param clients: whether to include the paths of clients; these do not change the scale.
        """
        if not self.more_is_better:
            return {}
        means = {path: its.mean for path, its in self.path_statistics().items() if not path.is_within}
        between = {path: mean for path, mean in means.items() if {*path} <= {*self.nodes}}
        largest = max(between.values(), default=0.0)
        shown = means if clients else between
        return {path: largest / mean * ratio if mean else math.inf for path, mean in shown.items() if largest}

    def diameters(self, ratio: float = 1.0) -> Mapping[str, float]:
        """Return equation 3 for each node; 0 for a mean of 0; empty without bandwidths."""
        if not self.more_is_better:
            return {}
        means = {path.one: its.mean for path, its in self.path_statistics().items() if path.is_within}
        smallest = min((mean for mean in means.values() if mean), default=0.0)
        return {node: means[node] / smallest * ratio for node in self.nodes if node in means and smallest}


def summarize(values: Sequence[float]) -> PathStatistics:
    """Return the statistics of at least one value; the deviation of one value is 0."""
    mean = math.fsum(values) / len(values)
    return PathStatistics(mean, statistics.stdev(values) if len(values) > 1 else 0.0, len(values))
