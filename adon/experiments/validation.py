"""Whether everything that a file names is there, and fits: network, figures, and moments.

Every finding is a place in the file's data and a cause.  What is wrong at one combination of the sweep only
is found at the setting that makes it so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from adon.errors import InvalidInput
from adon.experiments import sweeping
from adon.experiments.document import Experiment
from adon.experiments.naming import moments, network, read_out
from adon.experiments.ordering import cycles
from adon.experiments.surroundings import Surroundings
from adon.experiments.sweeping import Place, at_point, points
from adon.experiments.yielding import results
from adon.templates_catalog.model import Template
from adon.yamlfile import place_of

MAX_TRIALS = 2000

Finding = tuple[Place, str]


def problems(
    experiment: Experiment, templates: Mapping[str, Template], surroundings: Surroundings
) -> Iterator[Finding]:
    """Everything that is wrong with a file, each once, in no particular order."""
    trials = sweeping.count(experiment) * len(experiment.policies) * experiment.repetitions
    if trials > MAX_TRIALS:
        yield ("sweep",), f"makes {trials} trials; at most {MAX_TRIALS} are carried out"
        return
    swept = list(sweeping.problems(experiment))
    yield from swept
    said = set(swept)
    for finding in results(experiment, templates):
        if finding not in said:
            said.add(finding)
            yield finding
    if swept:
        yield from (finding for finding in moments(experiment) if finding not in said)
        return
    base = list(_here(experiment, templates, surroundings))
    sound: list[tuple[sweeping.Point, Experiment]] = []
    for point in points(experiment):
        try:
            at = at_point(experiment, point)
        except InvalidInput as error:
            found = [(place_of(problem.field), problem.cause) for problem in error.problems]
        else:
            found = list(_here(at, templates, surroundings))
            sound.append((point, at))
        for place, cause in found:
            where = place if (place, cause) in base else set_at(experiment, point, place)
            if (where, cause) not in said:
                said.add((where, cause))
                yield where, cause
    yield from read_out(experiment, sound, surroundings)


def _here(at: Experiment, templates: Mapping[str, Template], surroundings: Surroundings) -> Iterator[Finding]:
    """What is wrong at one combination."""
    yield from network(at, templates, surroundings)
    yield from moments(at)
    yield from cycles(at)


def set_at(experiment: Experiment, point: sweeping.Point, place: Place) -> Place:
    """Where in the file a value was set, by its place in the file as it is at a combination."""
    for key, value in sweeping.settings(experiment, point).items():
        target = sweeping.place(experiment, key)
        if target == place[: len(target)] or place == target[: len(place)]:
            if key in experiment.sweep:
                return "sweep", key, experiment.sweep[key].index(value)
            return "cases", str(point[sweeping.CASE]), key
    return place
