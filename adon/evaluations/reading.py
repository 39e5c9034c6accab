"""From a file to a document: the ten steps, their units, and whether they agree."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path as File
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from adon import yamlfile
from adon.errors import InvalidFields, Problem
from adon.json_schema import json_schema
from adon.units import Duration, Ratio
from measurement.evaluation.consistency import problems
from measurement.evaluation.document import (
    Analysing,
    AtOnce,
    Conclusions,
    Design,
    Document,
    FactorSelected,
    Features,
    Implementation,
    MetricListed,
    MetricSelected,
    Order,
    Pilot,
    Requirement,
    Supplement,
)
from measurement.evaluation.results import Path


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PilotFile(_Part):
    """What is tried before."""

    runs: int = 1
    duration: Duration = 2.0

    @model_validator(mode="after")
    def _sound(self) -> PilotFile:
        self.value()
        return self

    def value(self) -> Pilot:
        """As the plan reads it."""
        return Pilot(self.runs, self.duration)


class DesignFile(_Part):
    """Step 7."""

    nodes: tuple[str, ...]
    clients: tuple[str, ...] = ()
    paths: tuple[tuple[str, str], ...] = ()
    within: bool = True
    runs: int
    duration: Duration
    pause: Duration = 0.0
    iterations: int = 1
    order: Order = Order.RANDOMISED
    at_once: AtOnce = AtOnce.ONE
    seed: int = 0
    pilot: PilotFile = PilotFile()

    @model_validator(mode="after")
    def _sound(self) -> DesignFile:
        self.value()
        return self

    def value(self) -> Design:
        """As the plan reads it."""
        return Design(
            nodes=self.nodes,
            runs=self.runs,
            duration=self.duration,
            clients=self.clients,
            paths=tuple(Path(*pair) for pair in self.paths),
            within=self.within,
            pause=self.pause,
            iterations=self.iterations,
            order=self.order,
            at_once=self.at_once,
            seed=self.seed,
            pilot=self.pilot.value(),
        )


class AnalysingFile(_Part):
    """Step 9."""

    varies_from: Ratio = 0.2
    alike_within: Ratio = 0.1
    confidence: Ratio = 0.95
    ratio: float = 1.0

    @model_validator(mode="after")
    def _sound(self) -> AnalysingFile:
        self.value()
        return self

    def value(self) -> Analysing:
        """As the analysis reads it."""
        return Analysing(self.varies_from, self.alike_within, self.confidence, self.ratio)


class DocumentFile(_Part):
    """An evaluation as it is written: the ten steps of [CEEM] figure 1 under their names."""

    name: str
    version: Annotated[int, Field(ge=1)]
    title: str
    notes: tuple[str, ...] = ()
    supplement: Supplement = Supplement()
    requirement: Requirement
    features: Features
    metrics_listed: tuple[MetricListed, ...]
    metrics_selected: tuple[MetricSelected, ...]
    factors_listed: tuple[str, ...]
    factors_selected: tuple[FactorSelected, ...]
    design: DesignFile
    implementation: Implementation
    analysis: AnalysingFile
    conclusions: Conclusions

    @model_validator(mode="after")
    def _steps_agree(self) -> DocumentFile:
        found = problems(self.value())
        if found:
            raise InvalidFields(Problem(field, cause) for field, cause in found)
        return self

    def value(self) -> Document:
        """The document."""
        return Document(
            name=self.name,
            version=self.version,
            title=self.title,
            requirement=self.requirement,
            features=self.features,
            metrics_listed=self.metrics_listed,
            metrics_selected=self.metrics_selected,
            factors_listed=self.factors_listed,
            factors_selected=self.factors_selected,
            design=self.design.value(),
            implementation=self.implementation,
            analysis=self.analysis.value(),
            conclusions=self.conclusions,
            notes=self.notes,
            supplement=self.supplement,
        )

    def digest(self) -> str:
        """SHA-256 of what it says, however it is laid out: the same for files that mean the same."""
        told = json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(told.encode()).hexdigest()


def read(file: File) -> DocumentFile:
    """A document file, checked.

    :raises InvalidInput: with every problem, each with file, line and field.
    """
    return yamlfile.load_model(file, DocumentFile)


def parse(text: str, file: str | None = None) -> DocumentFile:
    """The same from text.

    :raises InvalidInput: likewise.
    """
    return yamlfile.parse_model(text, DocumentFile, file)


def schema() -> dict[str, Any]:
    """The JSON schema (2020-12) of a document file, for editors; that steps agree it cannot say."""
    return json_schema(DocumentFile, "CEEM evaluation")
