"""Catalogue of evaluations: features, metrics, benchmarks and factors by id ([CEEM] IV-B to IV-F).

``catalogue.toml`` holds the built-in entries.  A template can add entries ("new metrics and benchmarks can
still be supplemented by domain experts").
"""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Literal

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """Part of an evaluation document; immutable, without other keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Entry(Part):
    """Entry of the catalogue.

    :param source: where it is defined.
    """

    id: str
    title: str
    source: str = "[CEEM]"


class Feature(Entry):
    """Property of a service that questions are about.

    :param of: the primary feature that this one describes; empty for a primary feature.
    """

    of: str = ""


class Metric(Entry):
    """Metric of a feature.

    :param features: features that it describes.
    :param unit: unit of its values inside ADON; empty for a metric computed from others, or a chart.
    """

    features: tuple[str, ...]
    unit: str = ""


class Benchmark(Entry):
    """Program or method that measures metrics."""

    metrics: tuple[str, ...]


class Factor(Entry):
    """Property that can change the values ([CEEM] IV-E)."""

    about: Literal["resource", "workload", "capacity"]


class CatalogueEntries(Part):
    """Entries as they are written."""

    features: tuple[Feature, ...] = ()
    metrics: tuple[Metric, ...] = ()
    benchmarks: tuple[Benchmark, ...] = ()
    factors: tuple[Factor, ...] = ()


BUILTIN_ENTRIES = CatalogueEntries.model_validate(
    tomllib.loads(resources.files("measurement.ceem").joinpath("catalogue.toml").read_text("utf-8"))
)


class Catalogue:
    """The built-in entries and additional ones by id."""

    def __init__(self, additions: CatalogueEntries) -> None:
        self.features = {one.id: one for one in (*BUILTIN_ENTRIES.features, *additions.features)}
        self.metrics = {one.id: one for one in (*BUILTIN_ENTRIES.metrics, *additions.metrics)}
        self.benchmarks = {one.id: one for one in (*BUILTIN_ENTRIES.benchmarks, *additions.benchmarks)}
        self.factors = {one.id: one for one in (*BUILTIN_ENTRIES.factors, *additions.factors)}
