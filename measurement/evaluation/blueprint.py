"""Which test is made when: the design of a document, drawn out ([CEEM] IV-G).

A *round* tests each path once, in *turns*: the tests of a turn begin together.  The order of the paths is
drawn anew for each round from the design's seed, so that no path always meets the same hour, nor always
follows the same other one.
Functions from values to values.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from measurement.evaluation.document import AtOnce, Design, Order
from measurement.evaluation.results import Path
from measurement.health.colouring import coloured


@dataclass(frozen=True, slots=True)
class Test:
    """One test.

    :param number: in the order of the blueprint, from 0.
    :param iteration, round: from 0.
    :param port: how many ports above the first it uses, so that tests of a turn do not share one.
    """

    __test__ = False  # pytest: it is no test of ours

    number: int
    iteration: int
    round: int
    path: Path
    port: int


@dataclass(frozen=True, slots=True)
class Blueprint:
    """All tests in their turns.

    :param duration: of a test, in seconds.
    :param pause: after a turn before the next, in seconds.
    :param pilot: whether it only tries the design.
    """

    turns: tuple[tuple[Test, ...], ...]
    duration: float
    pause: float
    pilot: bool = False

    @property
    def tests(self) -> int:
        """How many."""
        return sum(map(len, self.turns))

    @property
    def lasts(self) -> float:
        """Seconds that it takes if no test is late."""
        return len(self.turns) * (self.duration + self.pause)

    @property
    def widest(self) -> int:
        """The most tests of a turn."""
        return max(map(len, self.turns))


def blueprint(design: Design, *, pilot: bool = False) -> Blueprint:
    """The design drawn out.

    :param pilot: its few short runs only, without pauses.
    """
    runs = design.pilot.runs if pilot else design.runs
    turns: list[tuple[Test, ...]] = []
    number = 0
    for iteration in range(1 if pilot else design.iterations):
        for round_ in range(runs):
            for paths in _turns(design, iteration, round_):
                turns.append(
                    tuple(
                        Test(number + port, iteration, round_, path, port) for port, path in enumerate(paths)
                    )
                )
                number += len(paths)
    if pilot:
        return Blueprint(tuple(turns), design.pilot.duration, 0.0, pilot=True)
    return Blueprint(tuple(turns), design.duration, design.pause)


def _turns(design: Design, iteration: int, round_: int) -> Iterator[tuple[Path, ...]]:
    paths = [*design.tested]
    if design.order is Order.RANDOMISED:
        # A text as seed is hashed the same way by every Python.
        random.Random(f"{design.seed}/{iteration}/{round_}").shuffle(paths)  # noqa: S311
    match design.at_once:
        case AtOnce.ONE:
            yield from ((path,) for path in paths)
        case AtOnce.ALL:
            yield tuple(paths)
        case AtOnce.APART:
            for its in coloured([_ends(path) for path in paths]):
                yield tuple(paths[number] for number in its)


def _ends(path: Path) -> tuple[Hashable, Hashable]:
    """What a test has for itself; within a place, that place and nothing that others want."""
    return (path.one, ("within", path.one)) if path.within else (path.one, path.other)
