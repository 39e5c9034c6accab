"""A run of an evaluation: each single result with when and where it came from, and what they amount to.

Each result is kept, failures too: summaries are computed from them and never kept instead ([CEEM] IV-H and
IV-J: results and a live maintained log, so that others can confirm what was found).  Where a report gives
nothing but means and deviations, these are *stated*.
Values and functions only.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from measurement.errors import InvalidValue
from measurement.evaluation.results import Measured, Path, Results


@dataclass(frozen=True, slots=True)
class Reference:
    """Which document was run.

    :param digest: SHA-256 of the document's content in hexadecimal digits; empty where nobody knows it.
    """

    name: str
    version: int
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """What came of one test.

    :param number: of the test in the blueprint, from 0.
    :param path: from who sends to who receives.
    :param at: when it began, seconds since 1970.
    :param value: in the run's unit; None if it failed.
    :param failure: why, in one line; empty if it did not.
    :param iteration: of the design, from 0.
    :raises ValueError: for neither a value nor a failure, or both, or a value below 0; it names the test.
    """

    number: int
    path: Path
    at: float
    value: float | None
    failure: str = ""
    iteration: int = 0

    def __post_init__(self) -> None:
        name = f"test {self.number}"
        if (self.value is None) == (self.failure == ""):
            raise ValueError(f"{name}: either came to a value or failed")
        if self.value is not None and not (math.isfinite(self.value) and self.value >= 0):
            raise ValueError(f"{name}: {self.value} is no result")
        if not math.isfinite(self.at):
            raise ValueError(f"{name}: at {self.at} is no time")


@dataclass(frozen=True, slots=True)
class Note:
    """What was written into the log beside results: that it was interrupted, what somebody saw.

    :param at: seconds since 1970.
    """

    at: float
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
    :param conditions: levels of factors under which it was run, in words; two runs are alike if theirs are.
    :param environment: where it was run: kernel, processor, who could be reached how.
    :param versions: of programs, by their name.
    :param pilot: whether it only tried the design.
    :param stated: of paths of which there are no samples.
    :param notes: from the log.
    :raises ValueError: for a sample of a path that cannot be, a test that is there twice, or a path that is
        stated though there are samples of it; it names test or path.
    """

    name: str
    document: Reference
    metric: str
    unit: str
    nodes: tuple[str, ...]
    clients: tuple[str, ...]
    began: float | None
    ended: float | None
    seed: int | None
    planned: int
    samples: tuple[Sample, ...] = ()
    conditions: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    pilot: bool = False
    stated: Mapping[Path, Measured] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        seen: set[int] = set()
        for sample in self.samples:
            if sample.number in seen:
                raise InvalidValue(f"test {sample.number}: is there twice", "duplicate")
            seen.add(sample.number)
        both = {*self.stated} & {sample.path for sample in self.samples}
        if both:
            one, other = min(both)
            raise InvalidValue(f"path {one} - {other}: is stated, and there are samples of it", "duplicate")
        self.results()

    @property
    def paths(self) -> tuple[Path, ...]:
        """All paths that were tried or stated, row by row as in table V: the clients', then the nodes'."""
        rank = {place: number for number, place in enumerate((*self.clients, *self.nodes))}
        found = {*self.stated, *(sample.path for sample in self.samples)}
        # A place that is neither comes last; results() refuses it by name.
        return tuple(sorted(found, key=lambda path: ([rank.get(place, len(rank)) for place in path], path)))

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
        found: defaultdict[Path, int] = defaultdict(int)
        for sample in self.samples:
            if sample.value is None:
                found[sample.path] += 1
        return dict(found)

    def results(self) -> Results:
        """What was found; a path on which everything failed is not in it."""
        found = {path: summarised(values) for path, values in self.series().items()}
        whole = {**self.stated, **found}
        return Results(self.nodes, self.clients, {path: whole[path] for path in self.paths if path in whole})


def summarised(values: Sequence[float]) -> Measured:
    """Mean, standard deviation (n - 1 below the line; 0 of a single value) and count.

    :raises ValueError: for no values.
    """
    if not values:
        raise ValueError("values: there are none")
    mean = math.fsum(values) / len(values)
    return Measured(mean, statistics.stdev(values) if len(values) > 1 else 0.0, len(values))
