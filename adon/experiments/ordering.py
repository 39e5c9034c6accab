"""Whether what comes after something can ever come: no circle among beginnings and ends.

Each flow and event is two nodes, its beginning and its end; the end comes after the beginning, and both may
wait for nodes of others.  Moments between the two (admitted, tested, moved) count as the beginning that they
need, and what is retested has ended; a flow that never moves makes nobody wait in a circle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from adon.experiments.document import Experiment
from adon.experiments.naming import AFTER_THE_END, every_moment
from adon.experiments.sweeping import Place

Node = tuple[str, bool]
"""A name, and whether its end is meant."""


def cycles(at: Experiment) -> Iterator[tuple[Place, str]]:
    """The first circle found, at one of its members, and entries that wait for what is not there."""
    gone = {one.name for one in at.steps if one.absent}
    rows = {one.name: ("workload", row) for row, one in enumerate(at.workload)}
    rows |= {one.name: ("events", row) for row, one in enumerate(at.events)}
    # Lists, not sets: the same file is told the same circle, from the same member on.
    graph: dict[Node, list[Node]] = {(name, True): [(name, False)] for name in rows if name not in gone}
    for one, place, moment in every_moment(at):
        name, ends = one.name, place[-1] == "until"
        if one.absent:
            continue
        if moment.of in gone:
            if ends:
                yield place, f"{moment.of!r} is absent: it never ends"
            continue
        graph.setdefault((name, ends), []).append((moment.of, moment.what in AFTER_THE_END))
    circle = first_circle(graph)
    if circle:
        told = " after ".join(f"{name}'s {'end' if ends else 'beginning'}" for name, ends in circle)
        yield rows[circle[0][0]], f"comes after itself: {told}"


def first_circle(graph: Mapping[Node, Iterable[Node]]) -> list[Node]:
    """A circle in which each comes after the next and the last is the first; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []
