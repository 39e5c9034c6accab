"""An experiment as a file says it: network, templates, workload, events, policies, sweep, checks, plots.

Every rate, size and window is the paper's own, at full scale: ``scale`` divides rates and windows, ``sizes``
divides sizes.  Times are never divided.  What the file names must be there too; that is
:mod:`adon.experiments.validation`'s.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    field_validator,
    model_serializer,
    model_validator,
)

from adon.errors import InvalidFields, Problem
from adon.experiments.checks import Check
from adon.experiments.events import Event, LinkSetting
from adon.experiments.figures import Figure, Plot
from adon.experiments.parts import Name, NodeName, NotEmpty, Part, Scalar, Settings
from adon.experiments.policies import parse
from adon.experiments.workload import FlowEntry
from adon.templates_catalog.model import Template
from adon.units import Duration
from adon.values import Frozen, FrozenMap

MAX_REPETITIONS = 1000
DEFAULT_LIMIT = 600.0
"""Seconds after which a trial is ended, and what is missing from it said."""


class Need(StrEnum):
    """What the platform must be able to do, beside rates."""

    DELAY = "delay"
    LOSS = "loss"


class Measuring(Part):
    """How often each path is measured; null for never, the testbed's own plan for what is not said."""

    throughput: Duration | None = None
    rtt: Duration | None = None
    latency: Duration | None = None

    @property
    def said(self) -> frozenset[str]:
        """What the file says anything of."""
        return frozenset(self.model_fields_set)

    @model_serializer(mode="wrap")
    def _what_is_said(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Never with defaults: null is written where the file says never, and nowhere else."""
        return {test: period for test, period in write(self).items() if test in self.said}

    @field_validator("throughput", "rtt", "latency")
    @classmethod
    def _some(cls, value: float | None) -> float | None:
        if value == 0:
            raise ValueError("must be above zero; null means never")
        return value


def _policy(text: str) -> str:
    return str(parse(text))


Policy = Annotated[str, AfterValidator(_policy)]

TemplateSource = Annotated[
    Annotated[str, Tag("by name")] | Annotated[Template, Tag("in line")],
    Discriminator(lambda value: "by name" if isinstance(value, str) else "in line"),
]
"""The name of a built-in template, a file (``*.yaml``, seen from the experiment's file), or a template."""


class Experiment(Part):
    """A whole file.

    :param source: what it reproduces, such as ``[ADON] figure 21``; empty for one's own.
    :param follows: whose bounds it has: the thesis's, the journal version's, or its own.
    :param network: a built-in network's name, or a Python file with a topology (``./my_topo.py``).
    :param scale: rates and windows are divided by it; the network's own if it is not said.
    :param sizes: sizes are divided by it; by ``scale`` if it is not said.
    :param links: what links are like from the beginning on, by name of a link or path.
    :param measuring: the plan of the tests.
    :param configuration: further sections of ADON's configuration (``compute``, ``policy``), as they are.
    :param limit: seconds that a trial may take.
    :param sweep: per key the values that are tried, every combination of them.  A key is ``NAME.field`` of a
        flow or event (``soykb.size``, ``cut.link.delay``), ``field`` alone where there is only one
        entry in the workload, ``links.NAME.field`` or ``measuring.field``.
    :param cases: named sets of such settings, each tried with every combination.
    """

    experiment: Name
    title: str = Field(min_length=1)
    about: str = ""
    source: str = ""
    follows: Literal["thesis", "journal", "own"] = "own"
    network: str = Field(min_length=1)
    scale: float | None = Field(default=None, ge=0.001, le=1e6)
    sizes: float | None = Field(default=None, ge=0.001, le=1e9)
    needs: tuple[Need, ...] = ()
    templates: Annotated[tuple[TemplateSource, ...], NotEmpty]
    policies: Annotated[tuple[Policy, ...], NotEmpty] = ("ours",)
    repetitions: int = Field(default=3, ge=1, le=MAX_REPETITIONS)
    seed: int = Field(default=1, ge=0, lt=2**63)
    links: Frozen[NodeName, LinkSetting] = FrozenMap()
    measuring: Measuring = Measuring()
    configuration: Settings = FrozenMap()
    limit: Duration = DEFAULT_LIMIT
    workload: Annotated[tuple[FlowEntry, ...], NotEmpty]
    events: tuple[Event, ...] = ()
    sweep: Frozen[str, tuple[Scalar, ...]] = FrozenMap()
    cases: Frozen[Name, Frozen[str, Scalar]] = FrozenMap()
    figures: Frozen[Name, Figure] = FrozenMap()
    checks: tuple[Check, ...] = ()
    plots: tuple[Plot, ...] = ()

    @property
    def name(self) -> str:
        """Its name."""
        return self.experiment

    @property
    def steps(self) -> tuple[FlowEntry | Event, ...]:
        """Its flows and events."""
        return *self.workload, *self.events

    @field_validator("limit")
    @classmethod
    def _some(cls, value: float) -> float:
        if value <= 0:
            raise ValueError("must be above zero")
        return value

    @field_validator("sweep")
    @classmethod
    def _values(cls, sweep: dict[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
        empty = [key for key, values in sweep.items() if not values]
        if empty:
            raise InvalidFields(Problem(key, "has no values", code="missing") for key in empty)
        return sweep

    @model_validator(mode="after")
    def _once(self) -> Self:
        said = [repeated for repeated in (_repeated(self.policies, "policies"), *self._names()) if repeated]
        if said:
            raise InvalidFields(said)
        return self

    def _names(self) -> list[str]:
        entries = [(entry.name, f"workload.{row}") for row, entry in enumerate(self.workload)]
        entries += [(event.name, f"events.{row}") for row, event in enumerate(self.events)]
        seen: dict[str, str] = {}
        return [
            f"{place}: there is a {name!r} already: {seen[name]}"
            for name, place in entries
            if seen.setdefault(name, place) != place
        ]


def _repeated(values: tuple[str, ...], field: str) -> str:
    again = [value for row, value in enumerate(values) if value in values[:row]]
    return f"{field}: {again[0]!r} is there twice" if again else ""
