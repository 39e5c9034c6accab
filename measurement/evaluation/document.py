"""An evaluation as a document of ten steps, which can be run again ([CEEM] figure 1 and section IV).

::

    1 requirement       5 factors listed      8 implementation
    2 features          6 factors selected    9 analysis
    3 metrics listed    7 design             10 conclusions
    4 metrics selected

What is *listed* could be used, what is *selected* is, with a reason; what is listed and not selected is
excluded on purpose ([CEEM] IV-F).  Whether steps agree with each other is said by
:func:`measurement.evaluation.consistency.problems`.
Values only: amounts are in seconds.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from measurement.evaluation.catalogue import Benchmark, Factor, Feature, Metric
from measurement.evaluation.results import Path

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_PLACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ -]{0,62}")
PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
"""A word of a command that is filled in; group 1 is its name."""
_STRICT = {"extra": "forbid"}
"""For who reads these values from text (pydantic): what is not a field is an error."""


def _check_id(text: str, field: str = "id") -> None:
    if not _ID.fullmatch(text):
        raise ValueError(f"{field}: {text[:80]!r} is no word of lower-case letters, digits and '-'")


def _check_count(name: str, count: int) -> None:
    if count < 1:
        raise ValueError(f"{name}: {count} is not 1 or more")


def _check_span(name: str, seconds: float, least: float = -1.0) -> None:
    if not (math.isfinite(seconds) and seconds >= 0 and seconds > least):
        raise ValueError(f"{name}: {seconds} s is too short")


# -- 1: requirement recognition ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody wants to know, in their words.

    :param id: by which the conclusions refer to it.
    """

    __pydantic_config__ = _STRICT

    id: str
    asks: str

    def __post_init__(self) -> None:
        _check_id(self.id)


@dataclass(frozen=True, slots=True)
class Requirement:
    """Step 1.

    :param recipient: who the results are for.
    :param purpose: what they are to decide.
    """

    __pydantic_config__ = _STRICT

    recipient: str
    purpose: str
    questions: tuple[Question, ...]


# -- 2: service feature identification ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Identified:
    """A feature that questions are about."""

    __pydantic_config__ = _STRICT

    feature: str
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Features:
    """Step 2.

    :param service: whose they are.
    """

    __pydantic_config__ = _STRICT

    service: str
    identified: tuple[Identified, ...]


# -- 3 and 4: metrics and benchmarks ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MetricListed:
    """Step 3: a candidate ([CEEM] tables II and III), and what could measure it."""

    __pydantic_config__ = _STRICT

    metric: str
    benchmarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MetricSelected:
    """Step 4.

    :param benchmark: what measures it; None where it is computed from another metric's values.
    """

    __pydantic_config__ = _STRICT

    metric: str
    because: str
    benchmark: str | None = None


# -- 5 and 6: experimental factors --------------------------------------------------------------------------


class Role(StrEnum):
    """What a selected factor is for ([CEEM] figures 7 to 9)."""

    STUDIED = "studied"
    ENVIRONMENT = "environment"
    RESPONSE = "response"


@dataclass(frozen=True, slots=True)
class FactorSelected:
    """Step 6.

    :param levels: its values, in words; a factor of the environment has one.
    """

    __pydantic_config__ = _STRICT

    factor: str
    role: Role
    because: str
    levels: tuple[str, ...] = ()


# -- 7: experimental design ---------------------------------------------------------------------------------


class AtOnce(StrEnum):
    """Which tests of a round run at the same time."""

    ONE = "one"
    """One after the other."""
    APART = "apart"
    """Those that share no place."""
    ALL = "all"
    """All; what they do to each other is part of the result."""


class Order(StrEnum):
    """Of the paths within a round."""

    RANDOMISED = "randomised"
    AS_LISTED = "as-listed"


@dataclass(frozen=True, slots=True)
class Pilot:
    """What is tried before, to see that the design can be run.

    :param runs: of each path.
    :param duration: of a test, in seconds.
    """

    runs: int = 1
    duration: float = 2.0

    def __post_init__(self) -> None:
        _check_count("runs", self.runs)
        _check_span("duration", self.duration, least=0.0)


@dataclass(frozen=True, slots=True)
class Design:
    """Step 7 ([CEEM] IV-G, table IV).

    :param nodes: what is evaluated; each pair and each within itself is a path.
    :param clients: who looks at them; each with each node is a path, and sends.
    :param paths: only these, if any are named.
    :param within: whether nodes are measured within themselves.
    :param runs: rounds: each path is tested once in each.
    :param duration: of a test, in seconds.
    :param pause: after a test before the next, in seconds.
    :param iterations: how often all of it is done again (the spiral of [CEEM] figure 2).
    :param seed: of the order.
    :raises ValueError: for what cannot be one; it names the field.
    """

    nodes: tuple[str, ...]
    runs: int
    duration: float
    clients: tuple[str, ...] = ()
    paths: tuple[Path, ...] = ()
    within: bool = True
    pause: float = 0.0
    iterations: int = 1
    order: Order = Order.RANDOMISED
    at_once: AtOnce = AtOnce.ONE
    seed: int = 0
    pilot: Pilot = Pilot()

    def __post_init__(self) -> None:
        places = [*self.nodes, *self.clients]
        for place in places:
            if not _PLACE.fullmatch(place):
                raise ValueError(f"nodes: {place[:80]!r} is no name of a place")
        if len({*places}) < len(places):
            raise ValueError("nodes: a place is there twice")
        if not self.nodes:
            raise ValueError("nodes: there are none")
        _check_count("runs", self.runs)
        _check_count("iterations", self.iterations)
        _check_span("duration", self.duration, least=0.0)
        _check_span("pause", self.pause)
        if self.seed < 0:
            raise ValueError(f"seed: {self.seed} is below 0")
        seen: set[Path] = set()
        for path in self.paths:
            name = f"paths: {path.one} - {path.other}"
            if not {*path} <= {*places} or not {*path} & {*self.nodes}:
                raise ValueError(f"{name}: does not lead between two places with a node among them")
            if {path, path.back} & seen:
                raise ValueError(f"{name}: is there twice")
            seen.add(path)
        if not self.tested:
            raise ValueError("nodes: there is no path to test")

    @property
    def tested(self) -> tuple[Path, ...]:
        """The paths of table IV, row by row: the clients', then the upper triangle with its diagonal."""
        if self.paths:
            return self.paths
        outside = [Path(client, node) for client in self.clients for node in self.nodes]
        inner = [Path(*pair) for pair in combinations(self.nodes, 2)]
        inner += [Path(node, node) for node in self.nodes] if self.within else []
        rank = {node: number for number, node in enumerate(self.nodes)}
        return (*outside, *sorted(inner, key=lambda path: (rank[path.one], rank[path.other])))


# -- 8: experimental implementation -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Measure:
    """How one test is made: a program at the path's first place, and one at its other before, if need be.

    In both, ``{one}``, ``{other}`` (names), ``{one_address}``, ``{other_address}``, ``{port}``,
    ``{duration}`` and ``{limit}`` (whole seconds, after which it is ended) are filled in.  Another word in
    braces is refused as a slip; ``{ print }`` is none.

    :param command: a program and its arguments.
    :param value: where it is in the JSON that the program prints, as ``end.sum_received.bits_per_second``;
        None: it prints one number.
    :param factor: what the value is multiplied by to be in the metric's unit.
    :param server: what runs at the other place while the test lasts.
    :param ready: what the server prints when it can be reached.
    """

    __pydantic_config__ = _STRICT

    command: tuple[str, ...]
    value: str | None = None
    factor: float = 1.0
    server: tuple[str, ...] = ()
    ready: str = ""

    def __post_init__(self) -> None:
        for name, words in (("command", self.command), ("server", self.server)):
            for word in words:
                for found in PLACEHOLDER.findall(word):
                    if found not in PLACEHOLDERS:
                        raise ValueError(f"{name}: {{{found}}} is not one of {', '.join(PLACEHOLDERS)}")
        if not self.command:
            raise ValueError("command: is empty")
        if not (math.isfinite(self.factor) and self.factor > 0):
            raise ValueError(f"factor: {self.factor} is not above 0")
        if self.ready and not self.server:
            raise ValueError("ready: there is no server that could print it")


PLACEHOLDERS = ("one", "other", "one_address", "other_address", "port", "duration", "limit")


class ProbeKind(StrEnum):
    """What a probe agent can be asked for as a test (:mod:`measurement.probes`)."""

    THROUGHPUT = "throughput"
    """What TCP carries while the test lasts, in bits/s."""
    TRAIN = "train"
    """A packet train, whatever the test's duration, in bits/s."""
    ROUND_TRIP = "round-trip"
    """The mean of round trips of UDP packets, ten a second, in seconds."""


@dataclass(frozen=True, slots=True)
class Probing:
    """How one test is made by the probe agents of the path's places; it needs no way to run programs there.

    :param connections: of a throughput test.
    """

    __pydantic_config__ = _STRICT

    kind: ProbeKind
    connections: int = 1

    def __post_init__(self) -> None:
        _check_count("connections", self.connections)


@dataclass(frozen=True, slots=True)
class Implementation:
    """Step 8.

    :param measure: how a test is made by programs,
    :param probe: or by probe agents.
    :param environment: what must be there before, one line each.
    :param versions: commands that print which version of what is used.
    :raises ValueError: unless it is made in one of the two ways.
    """

    __pydantic_config__ = _STRICT

    measure: Measure | None = None
    probe: Probing | None = None
    environment: tuple[str, ...] = ()
    versions: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        if (self.measure is None) == (self.probe is None):
            raise ValueError("measure: either this or probe says how a test is made")

    @property
    def how(self) -> str:
        """In words, how a test is made."""
        if self.measure is not None:
            return " ".join(self.measure.command)
        if self.probe is None or self.probe.connections == 1:
            return f"probe agent, {'' if self.probe is None else self.probe.kind.value}"
        return f"probe agent, {self.probe.kind.value}, {self.probe.connections} connections"


# -- 9 and 10: analysis, conclusions ------------------------------------------------------------------------


class Analysis(StrEnum):
    """What can answer a question (:mod:`measurement.evaluation.answers`)."""

    INTERNAL_SPEED = "internal-speed"
    SPEED_TO_CLIENT = "speed-to-client"
    STABILITY = "stability"
    SPREAD_OVER_PATHS = "spread-over-paths"


@dataclass(frozen=True, slots=True)
class Analysing:
    """Step 9.

    :param varies_from: the COV from which a path is called variable.
    :param alike_within: two paths whose means differ by less than this share are alike.
    :param confidence: of intervals.
    :param ratio: of equations 2 and 3.
    """

    varies_from: float = 0.2
    alike_within: float = 0.1
    confidence: float = 0.95
    ratio: float = 1.0

    def __post_init__(self) -> None:
        for name in ("varies_from", "alike_within", "confidence"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name}: {getattr(self, name)} is not between 0 and 1")
        if not (math.isfinite(self.ratio) and self.ratio > 0):
            raise ValueError(f"ratio: {self.ratio} is not above 0")


@dataclass(frozen=True, slots=True)
class Answering:
    """Which analysis answers a question.

    :param of: client or node whose paths are looked at; None: all.
    """

    __pydantic_config__ = _STRICT

    question: str
    by: Analysis
    of: str | None = None


@dataclass(frozen=True, slots=True)
class Conclusions:
    """Step 10.

    :param answers: one for each question.
    :param remarks: what a reader must know, whatever is found.
    """

    __pydantic_config__ = _STRICT

    answers: tuple[Answering, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Supplement:
    """What a document adds to the catalogue."""

    __pydantic_config__ = _STRICT

    features: tuple[Feature, ...] = ()
    metrics: tuple[Metric, ...] = ()
    benchmarks: tuple[Benchmark, ...] = ()
    factors: tuple[Factor, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """The ten steps, with what the document is called.

    :param name: by which it is run; a word.
    :param version: raised with each change.
    :param notes: of who wrote it: sources, what was read differently.
    """

    name: str
    version: int
    title: str
    requirement: Requirement
    features: Features
    metrics_listed: tuple[MetricListed, ...]
    metrics_selected: tuple[MetricSelected, ...]
    factors_listed: tuple[str, ...]
    factors_selected: tuple[FactorSelected, ...]
    design: Design
    implementation: Implementation
    analysis: Analysing
    conclusions: Conclusions
    notes: tuple[str, ...] = ()
    supplement: Supplement = Supplement()

    def __post_init__(self) -> None:
        _check_id(self.name, "name")
        if self.version < 1:
            raise ValueError(f"version: {self.version} is not 1 or more")
