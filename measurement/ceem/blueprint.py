"""Blueprint of a run: the order of all tests of a design ([CEEM] IV-G), and the run before its first test.

A *round* tests each path once, in *turns* of concurrent tests.  The order of the paths is drawn for each
round from the seed of the design, so that no path always meets the same hour or follows the same path.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from measurement.ceem.run import EvaluationRun, Reference
from measurement.ceem.template import Design, EvaluationTemplate, PlacePath
from measurement.health.edge_colouring import colour_edges


@dataclass(frozen=True, slots=True)
class PlannedTest:
    """One test.

    :param number: position in the blueprint, from 0.
    :param iteration, round: from 0.
    :param port_offset: offset to the first port, different for each test of a turn.
    """

    number: int
    iteration: int
    round: int
    path: PlacePath
    port_offset: int


@dataclass(frozen=True, slots=True)
class Blueprint:
    """All tests in their turns.

    :param duration: seconds of a test.
    :param pause: seconds between turns.
    :param pilot: whether the blueprint only tries the design.
    """

    turns: tuple[tuple[PlannedTest, ...], ...]
    duration: float
    pause: float
    pilot: bool = False

    @property
    def size(self) -> int:
        """Number of tests."""
        return sum(map(len, self.turns))

    @property
    def total_seconds(self) -> float:
        """Duration of the run without delays."""
        return len(self.turns) * (self.duration + self.pause)

    @property
    def concurrency(self) -> int:
        """Largest number of concurrent tests."""
        return max(map(len, self.turns))


def draw_blueprint(design: Design, *, pilot: bool = False) -> Blueprint:
    """Return the blueprint of a design.

    :param pilot: plan the few short tests of the pilot, without pauses.
    """
    iterations, runs = (1, design.pilot.runs) if pilot else (design.iterations, design.runs)
    turns: list[tuple[PlannedTest, ...]] = []
    number = 0
    for iteration in range(iterations):
        for round_ in range(runs):
            for paths in _draw_turns(design, iteration, round_):
                numbered = enumerate(paths)
                turns.append(
                    tuple(PlannedTest(number + at, iteration, round_, path, at) for at, path in numbered)
                )
                number += len(paths)
    if pilot:
        return Blueprint(tuple(turns), design.pilot.duration, 0.0, pilot=True)
    return Blueprint(tuple(turns), design.duration, design.pause)


def _draw_turns(design: Design, iteration: int, round_: int) -> Iterator[tuple[PlacePath, ...]]:
    paths = [*design.tested_paths]
    if design.order == "randomised":
        # Python hashes a text seed the same way in every version.
        random.Random(f"{design.seed}/{iteration}/{round_}").shuffle(paths)  # noqa: S311
    if design.at_once == "one":
        yield from ((path,) for path in paths)
    elif design.at_once == "all":
        yield tuple(paths)
    else:
        # A test within a place uses that place and a second end that no other test has.
        ends = [(path.one, (path.one,) if path.is_within else path.other) for path in paths]
        for turn in colour_edges(ends):
            yield tuple(paths[number] for number in turn)


def plan_run(
    template: EvaluationTemplate,
    blueprint: Blueprint,
    name: str,
    began: float,
    environment: Mapping[str, str],
    versions: Mapping[str, str],
) -> EvaluationRun:
    """Return the run of a blueprint without results."""
    design, metric = template.design, template.measured.metric
    return EvaluationRun(
        name,
        Reference(template.name, template.version, template.digest()),
        metric,
        template.catalogue.metrics[metric].unit,
        design.nodes,
        design.clients,
        began,
        None,
        design.seed,
        blueprint.size,
        conditions=_list_conditions(template, blueprint),
        environment=environment,
        versions=versions,
        pilot=blueprint.pilot,
    )


def _list_conditions(template: EvaluationTemplate, blueprint: Blueprint) -> dict[str, str]:
    """Return what comparable runs have in common."""
    factors = (one for one in template.factors_selected if one.role == "environment")
    return {
        "benchmark": template.measured.benchmark or "",
        "command": template.implementation.summary,
        "duration": f"{blueprint.duration:g} s",
        "pause": f"{blueprint.pause:g} s",
        "at_once": template.design.at_once,
        **{one.factor: ", ".join(one.levels) for one in factors},
    }
