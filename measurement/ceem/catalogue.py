"""Catalogue of evaluations: features, metrics, benchmarks and factors by id ([CEEM] IV-B to IV-F).

``catalogue.toml`` holds the built-in entries.  A template can add entries ("new metrics and benchmarks can
still be supplemented by domain experts").
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from measurement.errors import InvalidValue


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


E = TypeVar("E", bound=Entry)


class Catalogue:
    """The built-in entries and additional ones by id.

    :raises InvalidValue: for a duplicate id or an unknown reference; the field is relative to the additions.
    """

    def __init__(self, additions: CatalogueEntries) -> None:
        builtin = _BUILTIN
        self.features = _by_id("features", builtin.features, additions.features)
        self.metrics = _by_id("metrics", builtin.metrics, additions.metrics)
        self.benchmarks = _by_id("benchmarks", builtin.benchmarks, additions.benchmarks)
        self.factors = _by_id("factors", builtin.factors, additions.factors)
        for feature in additions.features:
            _check_references("features", feature, self.features, [feature.of] if feature.of else [])
        for metric in additions.metrics:
            _check_references("metrics", metric, self.features, metric.features)
        for benchmark in additions.benchmarks:
            _check_references("benchmarks", benchmark, self.metrics, benchmark.metrics)


def _by_id(field: str, builtin: Sequence[E], additions: Sequence[E]) -> Mapping[str, E]:
    found = {entry.id: entry for entry in builtin}
    for entry in additions:
        if entry.id in found:
            raise InvalidValue(f"{field}: {entry.id!r} exists already; choose another id", "duplicate")
        found[entry.id] = entry
    return found


def _check_references(field: str, entry: Entry, known: Mapping[str, Entry], names: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise InvalidValue(f"{field}: {entry.id!r} refers to the unknown {name!r}", "unknown-name")


_BUILTIN = CatalogueEntries.model_validate(
    tomllib.loads(resources.files("measurement.ceem").joinpath("catalogue.toml").read_text("utf-8"))
)
