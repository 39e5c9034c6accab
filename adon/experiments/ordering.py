"""Whether what comes after something can ever come, and when: no circle among beginnings and ends.

Each flow and event is two nodes, its beginning and its end; the end comes after the beginning, and both may
wait for nodes of others.  Moments between the two (admitted, tested, moved) count as the beginning that they
need, and what is retested has ended; a flow that never moves makes nobody wait in a circle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from adon.experiments.document import Experiment
from adon.experiments.naming import AFTER_THE_END, every_moment
from adon.experiments.parts import Moment
from adon.experiments.sweeping import Place
from adon.experiments.workload import DrawEntry

Node = tuple[str, bool]
"""A name, and whether its end is meant."""


def cycles(at: Experiment) -> Iterator[tuple[Place, str]]:
    """The first circle found, at one of its members, and entries that wait for what is not there."""
    gone = {one.name for one in (*at.workload, *at.events) if one.absent}
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


def earliest(at: Experiment) -> dict[str, float]:
    """Per flow, group and event that is there: when it can come at the earliest.

    Seconds after the trial's beginning.

    :param at: without a circle, and with nothing that waits for what is not there.
    """
    there = {one.name: one for one in (*at.workload, *at.events) if not one.absent}
    after = {name: None if isinstance(one, DrawEntry) else one.after for name, one in there.items()}
    waits = {name: [] if moment is None else [moment.of] for name, moment in after.items()}
    found: dict[str, float] = {}
    for name in TopologicalSorter(waits).static_order():
        if name in there:
            moment = after[name]
            found[name] = there[name].at or 0.0 if moment is None else comes(moment, at, found)
    return found


def comes(moment: Moment, at: Experiment, begin: Mapping[str, float]) -> float:
    """Seconds after the trial's beginning before which a moment, and the wait after it, cannot be over.

    Of a flow every moment may come as soon as it is asked for: it may be refused.

    :param begin: as :func:`earliest` has it; what is absent counts as having happened.
    """
    lasts = next((event.lasts for event in at.events if event.name == moment.of), None) or 0.0
    over = lasts if moment.what in AFTER_THE_END and moment.of in begin else 0.0
    return begin.get(moment.of, 0.0) + over + moment.wait


def first_circle(graph: Mapping[Node, Iterable[Node]]) -> list[Node]:
    """A circle in which each comes after the next and the last is the first; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []
