"""What is tried: every combination of the swept values with every case, and the file as it is at each."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adon import yamlfile
from adon.errors import InvalidInput
from adon.experiments.document import Experiment
from adon.experiments.parts import Scalar
from adon.nearest_key import absent
from adon.values import FrozenMap

CASE, POLICY = "case", "policy"
"""What may stand in a ``where`` beside the keys of the sweep."""

SECTIONS = ("links", "measuring")
NAMES = ("flow", "event")

Point = Mapping[str, Scalar]
"""One combination: the values of the sweep's keys, and the name of the case if there are any."""

Place = tuple[str | int, ...]


def count(experiment: Experiment) -> int:
    """How many combinations there are."""
    return max(1, len(experiment.cases)) * math.prod(len(values) for values in experiment.sweep.values())


def points(experiment: Experiment) -> Iterator[FrozenMap[str, Scalar]]:
    """Every combination: the cases one after the other, in each the last key of the sweep changing first."""
    cases: list[dict[str, Scalar]] = [{CASE: case} for case in experiment.cases] or [{}]
    for case in cases:
        for values in itertools.product(*experiment.sweep.values()):
            yield FrozenMap({**case, **dict(zip(experiment.sweep, values, strict=True))})


def swept(experiment: Experiment) -> dict[str, tuple[Scalar, ...]]:
    """Per name that a ``where``, an x or a curve may have: its values."""
    cases: dict[str, tuple[Scalar, ...]] = {CASE: tuple(experiment.cases)} if experiment.cases else {}
    return {**cases, **experiment.sweep, POLICY: tuple(experiment.policies)}


def settings(experiment: Experiment, point: Point) -> dict[str, Scalar]:
    """What a combination sets, by key: first the case's own settings, then the swept values."""
    named = point.get(CASE)
    found = dict(experiment.cases[str(named)]) if named is not None else {}
    return {**found, **{key: value for key, value in point.items() if key != CASE}}


def place(experiment: Experiment, key: str) -> Place:
    """Where in the file's data a key points to.

    :raises ValueError: if it points to nothing that can be set.
    """
    entries = {entry.name: ("workload", row) for row, entry in enumerate(experiment.workload)}
    entries |= {event.name: ("events", row) for row, event in enumerate(experiment.events)}
    first, dot, rest = key.partition(".")
    if not dot:
        if len(experiment.workload) > 1:
            known = ", ".join(f"{entry.name}.{first}" for entry in experiment.workload)
            raise ValueError(f"whose? There are several flows: write one of {known}")
        if key in NAMES:
            raise ValueError("a name cannot be swept")
        return "workload", 0, key
    if first == "links":
        name, _, field = rest.rpartition(".")
        if not name:
            raise ValueError("write links.NAME.rate, links.NAME.delay or links.NAME.loss")
        return "links", name, field
    if first in SECTIONS:
        return first, *rest.split(".")
    if first not in entries:
        raise ValueError(absent("flow or event", first, [*entries, *SECTIONS]))
    if rest in NAMES:
        raise ValueError("a name cannot be swept")
    return *entries[first], *rest.split(".")


def at_point(experiment: Experiment, point: Point) -> Experiment:
    """The file as it is at one combination.

    :raises InvalidInput: if it is not a file any more; each problem at the place in it that is wrong.
    :raises ValueError: if a key points to nothing.
    """
    changed = settings(experiment, point)
    if not changed:
        return experiment
    return yamlfile.check_model(_changed(experiment, changed), Experiment)


def _changed(experiment: Experiment, changed: Mapping[str, Scalar]) -> Any:
    """The file's data with these settings.

    :raises ValueError: if a key points to nothing.
    """
    data = experiment.model_dump(mode="json", by_alias=True, exclude_unset=True)
    for key, value in changed.items():
        _put(data, place(experiment, key), value)
    return data


def _put(data: Any, where: Place, value: Scalar) -> None:
    *way, last = where
    for number, step in enumerate(way, 1):
        if isinstance(data, dict) and not isinstance(data.get(step), dict | list):
            data[step] = {}
        data = data[step]
        if isinstance(data, list) and isinstance(where[number], str):
            raise ValueError(f"{step!r} is a list, and of a list nothing can be set")
    data[last] = value


def problems(experiment: Experiment) -> Iterator[tuple[Place, str]]:
    """Keys that point to nothing or to the same, and values that cannot be there: where, and the cause."""
    wrong = list(_keys_without_place(experiment))
    yield from wrong
    nowhere = {where for where, _ in wrong}
    for key, values in experiment.sweep.items():
        if ("sweep", key) in nowhere:
            continue
        target = place(experiment, key)
        for row, value in enumerate(values):
            where: Place = ("sweep", key, row)
            if _among(value, values[:row]):
                yield where, f"{value!r} is there already: its trials would be the same"
            yield from _refused(experiment, {key: value}, where, target)
    for case, its in experiment.cases.items():
        # Each of a case's settings may be wrong alone, and right with the others.
        if not any(("cases", case, key) in nowhere for key in its):
            yield from _refused(experiment, its, ("cases", case), None)
    if not wrong:
        yield from _set_twice(experiment)


def _keys_without_place(experiment: Experiment) -> Iterator[tuple[Place, str]]:
    every: list[tuple[Place, str, Scalar]] = [
        (("sweep", key), key, values[0]) for key, values in experiment.sweep.items()
    ]
    every += [
        (("cases", case, key), key, value)
        for case, its in experiment.cases.items()
        for key, value in its.items()
    ]
    for where, key, value in every:
        try:
            _changed(experiment, {key: value})
        except ValueError as error:
            yield where, str(error)


def _among(value: Scalar, values: Sequence[Scalar]) -> bool:
    """Not by ``==`` alone: 1, 1.0 and true are three values of a file."""
    return any(type(one) is type(value) and one == value for one in values)


def _set_twice(experiment: Experiment) -> Iterator[tuple[Place, str]]:
    """Settings of which one would overwrite the other, so that a trial is not what its name says."""
    swept: dict[Place, Place] = {("sweep", key): place(experiment, key) for key in experiment.sweep}
    yield from _overlapping(swept, {})
    for case, its in experiment.cases.items():
        targets: dict[Place, Place] = {("cases", case, key): place(experiment, key) for key in its}
        yield from _overlapping(targets, swept)


def _overlapping(
    targets: Mapping[Place, Place], before: Mapping[Place, Place]
) -> Iterator[tuple[Place, str]]:
    """Those that set all or a part of what one above or before them sets."""
    known = dict(before)
    for where, target in targets.items():
        for other, its in known.items():
            both = min(len(target), len(its))
            if target[:both] == its[:both]:
                yield where, f"is set by {'.'.join(map(str, other))} too"
        known[where] = target


def _refused(
    experiment: Experiment, changed: Mapping[str, Scalar], where: Place, target: Place | None
) -> Iterator[tuple[Place, str]]:
    data = _changed(experiment, changed)
    try:
        yamlfile.check_model(data, Experiment)
    except InvalidInput as error:
        for problem in error.problems:
            told = target is not None and problem.field == ".".join(map(str, target))
            yield where, problem.cause if told else f"{problem.field}: {problem.cause}"


def matches(point: Point, policy: str, where: Mapping[str, Scalar]) -> bool:
    """Whether a combination under a policy is one of those that a ``where`` asks for."""
    known = {**point, POLICY: policy}
    return all(key in known and known[key] == value for key, value in where.items())
