"""Combinations of swept values and cases, and the document at each of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

from adon import yamlfile
from adon.frozenmap import FrozenMap
from adon.nearest_key import absent
from adon.yamlfile import Place
from mininet_topos.experiments.document import Experiment, Scalar

CASE, POLICY = "case", "policy"
"""Names of a ``where`` in addition to the keys of the sweep."""
SECTIONS = ("links", "measuring")
NAMES = ("flow", "event")

Point = Mapping[str, Scalar]
"""One combination: a value per key of the sweep, and the name of the case."""


def count_points(experiment: Experiment) -> int:
    """Return the number of combinations."""
    return max(1, len(experiment.cases)) * math.prod(len(values) for values in experiment.sweep.values())


def list_points(experiment: Experiment) -> Iterator[FrozenMap[str, Scalar]]:
    """Yield each combination: case by case, the last key of the sweep changing first."""
    cases: list[dict[str, Scalar]] = [{CASE: case} for case in experiment.cases] or [{}]
    for case in cases:
        for values in itertools.product(*experiment.sweep.values()):
            yield FrozenMap({**case, **dict(zip(experiment.sweep, values, strict=True))})


def swept_values(experiment: Experiment) -> dict[str, tuple[Scalar, ...]]:
    """Return the values of each name that a ``where``, an x or a curve may have."""
    cases: dict[str, tuple[Scalar, ...]] = {CASE: tuple(experiment.cases)} if experiment.cases else {}
    return {**cases, **experiment.sweep, POLICY: tuple(experiment.policies)}


def settings_at(experiment: Experiment, point: Point) -> dict[str, tuple[Place, Scalar]]:
    """Return per key that a combination sets where it stands in the document, and its value."""
    case = point.get(CASE)
    named = {} if case is None else experiment.cases[str(case)]
    found = {key: (("cases", str(case), key), value) for key, value in named.items()}
    return found | {
        key: (("sweep", key, experiment.sweep[key].index(value)), value)
        for key, value in point.items()
        if key != CASE
    }


def target_of(experiment: Experiment, key: str) -> Place:
    """Return the place in the document that a key sets.

    :raises ValueError: if the key names no place that can be set.
    """
    entries: dict[str, Place] = {one.flow: ("workload", row) for row, one in enumerate(experiment.workload)}
    entries |= {one.event: ("events", row) for row, one in enumerate(experiment.events)}
    first, dot, rest = key.partition(".")
    if (rest or first) in NAMES:
        raise ValueError("a name cannot be swept")
    if not dot:
        if len(experiment.workload) > 1:
            raise ValueError(f"there are several flows; expected {experiment.workload[0].flow}.{key}")
        return "workload", 0, key
    if first == "links":
        name, _, field = rest.rpartition(".")
        return "links", name, field
    if first in SECTIONS:
        return first, *rest.split(".")
    if first not in entries:
        raise ValueError(absent("flow or event", first, [*entries, *SECTIONS]))
    return *entries[first], *rest.split(".")


def experiment_at(experiment: Experiment, point: Point) -> Experiment:
    """Return the document at a combination.

    :raises InvalidInput: if a value is refused; names the field in the document.
    :raises ValueError: if a key names no place.
    """
    changed = settings_at(experiment, point)
    if not changed:
        return experiment
    data = experiment.model_dump(mode="json", by_alias=True, exclude_unset=True)
    for key, (_, value) in changed.items():
        _put(data, target_of(experiment, key), value)
    return yamlfile.check_model(data, Experiment)


def _put(data: Any, where: Place, value: Scalar) -> None:
    *way, last = where
    for step in way:
        if isinstance(data, list) and not isinstance(step, int):
            raise ValueError(f"{step!r} is inside a list, which cannot be swept")
        if isinstance(data, dict) and not isinstance(data.get(step), dict | list):
            data[step] = {}
        data = data[step]
    if not isinstance(data, dict):
        raise ValueError(f"{last!r} is inside a list, which cannot be swept")
    data[last] = value


def matches(point: Point, policy: str, where: Mapping[str, Scalar]) -> bool:
    """Return whether a combination under a policy is meant by a ``where``."""
    known = {**point, POLICY: policy}
    return all(key in known and known[key] == value for key, value in where.items())
