"""Evaluation template: an evaluation as a document of ten steps ([CEEM] figure 1 and section IV).

::

    1 requirement       5 factors listed      8 implementation
    2 features          6 factors selected    9 analysis
    3 metrics listed    7 design             10 conclusions
    4 metrics selected

A *listed* item is a candidate, a *selected* one is used, with a reason.  A listed item that is not selected
is excluded on purpose ([CEEM] IV-F).  Durations are in seconds and shares are ratios;
:mod:`adon.evaluation_file` reads them with units.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from itertools import combinations
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from measurement.ceem.catalogue import BUILTIN_ENTRIES, Catalogue, CatalogueEntries, Part
from measurement.errors import InvalidValue
from measurement.probes.probe_types import Probe, Throughput, Train, UdpEcho

PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
"""Placeholder in a word of a command; group 1 is its name."""
PLACEHOLDERS = ("one", "other", "one_address", "other_address", "port", "duration", "limit")
ROUND_TRIP_INTERVAL_S = 0.1


def _check_positive(value: float) -> float:
    if not (math.isfinite(value) and value > 0):
        raise InvalidValue(f"{value:g} is out of range; expected more than 0", "out-of-range")
    return value


def _check_share(value: float) -> float:
    if not 0 < value < 1:
        raise InvalidValue(f"{value:g} is out of range; expected more than 0 and less than 1", "out-of-range")
    return value


Positive = AfterValidator(_check_positive)
Share = AfterValidator(_check_share)
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
PlaceName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._ -]{0,62}$")]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Count = Annotated[int, Field(ge=1)]
AnalysisKind = Literal["internal-speed", "speed-to-client", "stability", "spread-over-paths"]


class PlacePath(NamedTuple):
    """Path between two places, or within one place; the first place sends."""

    one: str
    other: str

    @property
    def is_within(self) -> bool:
        """Whether the path stays within one place."""
        return self.one == self.other

    @property
    def reverse(self) -> PlacePath:
        """The same path, named from its other end."""
        return PlacePath(self.other, self.one)

    def __str__(self) -> str:
        return f"within {self.one}" if self.is_within else f"{self.one} - {self.other}"


class Question(Part):
    """Question of the recipient; the conclusions refer to its id."""

    id: Name
    asks: str


class Requirement(Part):
    """Step 1: the recipient of the results and what they are to decide."""

    recipient: str
    purpose: str
    questions: tuple[Question, ...] = Field(min_length=1)


class IdentifiedFeature(Part):
    """Feature that questions are about."""

    feature: str
    questions: tuple[str, ...]


class Features(Part):
    """Step 2: the service and its features."""

    service: str
    identified: tuple[IdentifiedFeature, ...]


class ListedMetric(Part):
    """Step 3: candidate metric with candidate benchmarks ([CEEM] tables II and III)."""

    metric: str
    benchmarks: tuple[str, ...] = ()


class SelectedMetric(Part):
    """Step 4: used metric; without a benchmark it is computed from the values of another metric."""

    metric: str
    because: Reason
    benchmark: str | None = None


class SelectedFactor(Part):
    """Step 6: factor with its role ([CEEM] figures 7 to 9).

    :param levels: its values, in words; a factor of the environment has one.
    """

    factor: str
    role: Literal["studied", "environment", "response"]
    because: Reason
    levels: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check_levels(self) -> Self:
        if self.role != "response" and not self.levels:
            raise ValueError("levels: is required; name the levels of the factor, for example [m1.small]")
        if self.role == "environment" and len(self.levels) > 1:
            raise ValueError("levels: a factor of the environment has one level; use the role studied")
        return self


class Pilot(Part):
    """Short tests that show whether the design can be run.

    :param runs: tests of each path.
    :param duration: seconds of a test.
    """

    runs: Count = 1
    duration: Annotated[float, Positive] = 2.0


class Design(Part):
    """Step 7 ([CEEM] IV-G, table IV).

    :param nodes: evaluated places; each pair of them and each place itself is a path.
    :param clients: places that test the nodes from outside; each client sends to each node.
    :param paths: selection of paths; empty for all.
    :param within: whether nodes are measured within themselves.
    :param runs: rounds; each path is tested once a round.
    :param duration: seconds of a test.
    :param pause: seconds between tests.
    :param iterations: repetitions of all rounds (the spiral of [CEEM] figure 2).
    :param order: order of the paths within a round.
    :param at_once: concurrent tests of a round: one, those that share no place (``apart``), or all.
    :param seed: seed of the order.
    """

    nodes: tuple[PlaceName, ...] = Field(min_length=1)
    clients: tuple[PlaceName, ...] = ()
    paths: tuple[PlacePath, ...] = ()
    within: bool = True
    runs: Count
    duration: Annotated[float, Positive]
    pause: float = Field(0.0, ge=0, allow_inf_nan=False)
    iterations: Count = 1
    order: Literal["randomised", "as-listed"] = "randomised"
    at_once: Literal["one", "apart", "all"] = "one"
    seed: int = Field(0, ge=0)
    pilot: Pilot = Pilot()

    @model_validator(mode="after")
    def _check_paths(self) -> Self:
        places = [*self.nodes, *self.clients]
        if len({*places}) < len(places):
            raise InvalidValue("nodes: a place is named twice; name it once", "duplicate")
        for number, path in enumerate(self.paths):
            if not {*path} <= {*places} or not {*path} & {*self.nodes}:
                raise ValueError(f"paths.{number}: {path} must connect two places, one of them a node")
            if {path, path.reverse} & {*self.paths[:number]}:
                raise InvalidValue(f"paths.{number}: {path} is named twice; name it once", "duplicate")
        if not self.tested_paths:
            raise ValueError("nodes: give no path to test; add a node, a client, or within: true")
        return self

    @property
    def tested_paths(self) -> tuple[PlacePath, ...]:
        """Paths in the order of table IV: those of clients, then the upper triangle with its diagonal."""
        if self.paths:
            return self.paths
        outer = [PlacePath(client, node) for client in self.clients for node in self.nodes]
        inner = [PlacePath(*pair) for pair in combinations(self.nodes, 2)]
        inner += [PlacePath(node, node) for node in self.nodes] if self.within else []
        rank = {node: number for number, node in enumerate(self.nodes)}
        return (*outer, *sorted(inner, key=lambda path: (rank[path.one], rank[path.other])))


class ProgramTest(Part):
    """Test by programs: a server at the second place, then a measuring program at the first place.

    ``{one}``, ``{other}`` (names), ``{one_address}``, ``{other_address}``, ``{port}``, ``{duration}`` and
    ``{limit}`` (whole seconds until the program is killed) are replaced in all words.

    :param command: measuring program and arguments.
    :param value: field of the printed JSON, such as ``end.sum_received.bits_per_second``; None if the program
        prints one number.
    :param factor: factor from the printed value to the unit of the metric.
    :param server: program that runs at the second place during the test.
    :param ready: text that the server prints when it accepts connections.
    """

    command: tuple[str, ...] = Field(min_length=1)
    value: str | None = None
    factor: Annotated[float, Positive] = 1.0
    server: tuple[str, ...] = ()
    ready: str = ""

    @model_validator(mode="after")
    def _check_words(self) -> Self:
        for field, words in (("command", self.command), ("server", self.server)):
            unknown = {*PLACEHOLDER.findall(" ".join(words))} - {*PLACEHOLDERS}
            if unknown:
                raise ValueError(f"{field}: {{{min(unknown)}}} is not one of {', '.join(PLACEHOLDERS)}")
        if self.ready and not self.server:
            raise ValueError("ready: there is no server that prints it; add server")
        return self


class AgentTest(Part):
    """Test by the probe agents of both places (:mod:`measurement.probes`).

    :param kind: TCP throughput during the test (bit/s), a packet train of any duration (bit/s), or the mean
        round trip time of ten UDP packets a second (s).
    :param connections: TCP connections of a throughput test.
    """

    kind: Literal["throughput", "train", "round-trip"]
    connections: Count = 1

    @property
    def unit(self) -> str:
        """Unit of the values."""
        return "s" if self.kind == "round-trip" else "bit/s"

    def probe(self, duration: float) -> Probe:
        """Return the probe of a test.

        :param duration: seconds of the test.
        :raises ValueError: if agents do not accept a probe of this duration.
        """
        if self.kind == "throughput":
            intervals = max(1, round(duration))
            return Throughput(intervals, duration / intervals, self.connections)
        if self.kind == "train":
            return Train()
        count = max(1, math.floor(duration / ROUND_TRIP_INTERVAL_S))
        return UdpEcho(count=count, interval=ROUND_TRIP_INTERVAL_S)


class Implementation(Part):
    """Step 8: either ``measure`` or ``probe``.

    :param environment: prerequisites, one line each.
    :param versions: commands that print versions of programs.
    """

    measure: ProgramTest | None = None
    probe: AgentTest | None = None
    environment: tuple[str, ...] = ()
    versions: tuple[tuple[str, ...], ...] = ()

    @model_validator(mode="after")
    def _check_method(self) -> Self:
        if (self.measure is None) == (self.probe is None):
            raise ValueError("measure: exactly one of measure and probe is required")
        return self

    @property
    def summary(self) -> str:
        """The method of a test on one line."""
        if self.probe is None:
            return " ".join(self.measure.command) if self.measure else ""
        connections = f", {self.probe.connections} connections" if self.probe.connections > 1 else ""
        return f"probe agent, {self.probe.kind}{connections}"


class Analysis(Part):
    """Step 9.

    :param varies_from: COV from which a path is variable.
    :param alike_within: maximum relative difference of similar means.
    :param confidence: confidence of intervals.
    :param ratio: scale factor of equations 2 and 3.
    """

    varies_from: Annotated[float, Share] = 0.2
    alike_within: Annotated[float, Share] = 0.1
    confidence: Annotated[float, Share] = 0.95
    ratio: Annotated[float, Positive] = 1.0


class AnswerRule(Part):
    """Analysis that answers a question.

    :param of: client or node whose paths are analysed; None for all.
    """

    question: str
    by: AnalysisKind
    of: str | None = None

    @model_validator(mode="after")
    def _check_client(self) -> Self:
        if self.by == "speed-to-client" and self.of is None:
            raise ValueError("of: is required with speed-to-client; name a client")
        return self


class Conclusions(Part):
    """Step 10: an answer for each question, and remarks that hold for any result."""

    answers: tuple[AnswerRule, ...]
    remarks: tuple[str, ...] = ()


class EvaluationTemplate(Part):
    """The ten steps.

    :param notes: notes of the author: sources, deviations from them.
    :param supplement: additions to the catalogue.
    """

    name: Name
    version: Count
    title: str
    notes: tuple[str, ...] = ()
    supplement: CatalogueEntries = CatalogueEntries()
    requirement: Requirement
    features: Features
    metrics_listed: tuple[ListedMetric, ...]
    metrics_selected: tuple[SelectedMetric, ...]
    factors_listed: tuple[str, ...]
    factors_selected: tuple[SelectedFactor, ...]
    design: Design
    implementation: Implementation
    analysis: Analysis
    conclusions: Conclusions

    @model_validator(mode="after")
    def _check_steps(self) -> Self:
        problems = [*list_problems(self, self.catalogue)]
        if problems:
            raise ValueError("\n".join(problems))
        return self

    @property
    def catalogue(self) -> Catalogue:
        """The catalogue with the additions of the template."""
        return Catalogue(self.supplement)

    @property
    def measured(self) -> SelectedMetric:
        """The selected metric that is measured; the others are computed from it."""
        return next(one for one in self.metrics_selected if one.benchmark is not None)

    def digest(self) -> str:
        """Return the SHA-256 of the content: equal for files of equal meaning."""
        content = json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(content.encode()).hexdigest()


def list_problems(template: EvaluationTemplate, catalogue: Catalogue) -> Iterator[str]:
    """Yield the contradictions between steps as ``field: cause``: each step refers to the one before it."""
    for field, names in _unique_names(template):
        repeated = [name for number, name in enumerate(names) if name in names[:number]]
        yield from (f"{field}: {name!r} is named twice" for name in repeated)
    for field, name, known, kind in _references(template, catalogue):
        if name not in known:
            similar = get_close_matches(name, known, n=1)
            hint = f"; did you mean {similar[0]!r}?" if similar else ""
            yield f"{field}: {name[:80]!r} is no {kind}{hint}"
    yield from _missing_links(template, catalogue)
    yield from _measurement_problems(template, catalogue)


def _unique_names(template: EvaluationTemplate) -> Iterator[tuple[str, Sequence[str]]]:
    for field, entries in template.supplement:
        yield f"supplement.{field}", [one.id for one in (*getattr(BUILTIN_ENTRIES, field), *entries)]
    yield "requirement.questions", [one.id for one in template.requirement.questions]
    yield "metrics_listed", [one.metric for one in template.metrics_listed]
    yield "metrics_selected", [one.metric for one in template.metrics_selected]
    yield "factors_listed", template.factors_listed
    yield "factors_selected", [one.factor for one in template.factors_selected]
    yield "conclusions.answers", [one.question for one in template.conclusions.answers]


def _references(
    template: EvaluationTemplate, catalogue: Catalogue
) -> Iterator[tuple[str, str, Collection[str], str]]:
    """Yield each reference: field, name, known names, and what the name should be."""
    for primary in (one.of for one in template.supplement.features if one.of):
        yield "supplement.features", primary, catalogue.features, "feature"
    for name in (name for one in template.supplement.metrics for name in one.features):
        yield "supplement.metrics", name, catalogue.features, "feature"
    for name in (name for one in template.supplement.benchmarks for name in one.metrics):
        yield "supplement.benchmarks", name, catalogue.metrics, "metric"
    questions = [one.id for one in template.requirement.questions]
    for number, feature in enumerate(template.features.identified):
        yield f"features.identified.{number}.feature", feature.feature, catalogue.features, "feature"
        for name in feature.questions:
            yield f"features.identified.{number}.questions", name, questions, "question of step 1"
    for number, listed in enumerate(template.metrics_listed):
        yield f"metrics_listed.{number}.metric", listed.metric, catalogue.metrics, "metric"
        measuring = [one.id for one in catalogue.benchmarks.values() if listed.metric in one.metrics]
        for name in listed.benchmarks:
            yield f"metrics_listed.{number}.benchmarks", name, measuring, f"benchmark of {listed.metric!r}"
    candidates = {one.metric: one.benchmarks for one in template.metrics_listed}
    for number, metric in enumerate(template.metrics_selected):
        yield f"metrics_selected.{number}.metric", metric.metric, candidates, "metric of step 3"
        if metric.benchmark is not None and metric.metric in candidates:
            known = candidates[metric.metric]
            yield f"metrics_selected.{number}.benchmark", metric.benchmark, known, "benchmark of step 3"
    for number, name in enumerate(template.factors_listed):
        yield f"factors_listed.{number}", name, catalogue.factors, "factor"
    for number, factor in enumerate(template.factors_selected):
        yield f"factors_selected.{number}.factor", factor.factor, template.factors_listed, "factor of step 5"
    places = (*template.design.nodes, *template.design.clients)
    for number, answer in enumerate(template.conclusions.answers):
        yield f"conclusions.answers.{number}.question", answer.question, questions, "question of step 1"
        if answer.of is not None:
            yield f"conclusions.answers.{number}.of", answer.of, places, "place of step 7"


def _missing_links(template: EvaluationTemplate, catalogue: Catalogue) -> Iterator[str]:
    """Yield the items of a step that a later step does not use."""
    identified = {one.feature for one in template.features.identified}
    used = {name for one in template.features.identified for name in one.questions}
    answered = {one.question for one in template.conclusions.answers}
    for question in template.requirement.questions:
        if question.id not in used:
            yield f"features.identified: no feature is identified for the question {question.id!r}"
        if question.id not in answered:
            yield f"conclusions.answers: no analysis answers the question {question.id!r}"
    for number, listed in enumerate(template.metrics_listed):
        metric = catalogue.metrics.get(listed.metric)
        if metric is not None and not identified & {*metric.features}:
            yield f"metrics_listed.{number}.metric: {metric.id!r} describes no feature of step 2"
    selected = {one.metric for one in template.metrics_selected}
    metrics = [metric for metric in catalogue.metrics.values() if metric.id in selected]
    described = {feature for metric in metrics for feature in metric.features}
    for number, one in enumerate(template.features.identified):
        if one.feature in catalogue.features and one.feature not in described:
            yield f"features.identified.{number}.feature: no metric of {one.feature!r} is selected"


def _measurement_problems(template: EvaluationTemplate, catalogue: Catalogue) -> Iterator[str]:
    """Yield why the selected metric cannot be measured as step 8 says."""
    measured = [one.metric for one in template.metrics_selected if one.benchmark is not None]
    if len(measured) != 1:
        found = ", ".join(measured) or "none"
        yield f"metrics_selected: exactly one metric needs a benchmark; these have one: {found}"
    units = {name: catalogue.metrics[name].unit for name in measured if name in catalogue.metrics}
    for name, unit in units.items():
        if not unit:
            yield f"metrics_selected: {name!r} is computed from other metrics and cannot have a benchmark"
    test = template.implementation.probe
    if test is None:
        return
    for name, unit in units.items():
        if unit and unit != test.unit:
            yield f"implementation.probe.kind: its unit is {test.unit}; {name!r} needs {unit}"
    design = template.design
    for field, duration in (("duration", design.duration), ("pilot", design.pilot.duration)):
        try:
            test.probe(duration)
        except ValueError as error:
            yield f"design.{field}: probe agents do not accept this test: {error}"
