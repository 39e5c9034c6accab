"""Moments of an experiment: whether each can come, and whether no step waits for itself."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from adon.nearest_key import absent
from adon.yamlfile import Place
from mininet_topos.experiments.document import Event, Experiment, Moment, Phase

Finding = tuple[Place, str]
AFTER_END = (Phase.ENDS, Phase.RETESTED)
_OF_EVENTS = (Phase.ASKED, Phase.BEGINS, Phase.ENDS)
_OF_TESTS = (Phase.TESTED, Phase.RETESTED)


def _every_moment(experiment: Experiment) -> Iterator[tuple[tuple[str, ...], Place, Moment]]:
    """Yield each moment of workload and events: the names of the steps that wait, place and moment."""
    for row, entry in enumerate(experiment.workload):
        names = tuple(copy.name for copy in entry.each_copy())
        for field in ("after", "until"):
            if (moment := getattr(entry, field)) is not None:
                yield names, ("workload", row, field), moment
    for row, event in enumerate(experiment.events):
        if event.after is not None:
            yield (event.name,), ("events", row, "after"), event.after
        if event.until is not None:
            yield (event.name,), ("events", row, event.kind, "until"), event.until


def moment_problems(at: Experiment) -> Iterator[Finding]:
    """Yield place and cause of each moment that cannot come."""
    for _, place, moment in _every_moment(at):
        if (cause := moment_problem(at, moment)) is not None:
            yield place, cause


def moment_problem(experiment: Experiment, moment: Moment) -> str | None:
    """Return why a moment cannot come; None if it can."""
    steps = {one.name: one for one in experiment.steps}
    of, periods = steps.get(moment.of), experiment.measuring.given
    if of is None:
        return absent("flow or event", moment.of, steps)
    if moment.what in _OF_TESTS and periods.get("throughput", 1.0) is None:
        return f"never comes: measuring.throughput is null, so nothing is {moment.what.value}"
    if isinstance(of, Event):
        possible = {*_OF_EVENTS, *_OF_TESTS} if of.load is not None else {*_OF_EVENTS}
        if moment.what not in possible:
            return f"{moment.of!r} is an event; expected one of {', '.join(sorted(possible))}"
        if moment.what in AFTER_END and of.lasts is None and of.until is None:
            return f"{moment.of!r} does not end; expected for or until in it"
    return None


def circle_problems(at: Experiment) -> Iterator[Finding]:
    """Yield the first circle of starts and ends; moments between the two count as the start."""
    places: dict[str, Place] = {}
    for row, entry in enumerate(at.workload):
        places |= {copy.name: ("workload", row) for copy in entry.each_copy()}
    places |= {event.name: ("events", row) for row, event in enumerate(at.events)}
    graph: dict[tuple[str, bool], list[tuple[str, bool]]] = {(name, True): [(name, False)] for name in places}
    for names, place, moment in _every_moment(at):
        for name in names:
            graph.setdefault((name, place[-1] == "until"), []).append((moment.of, moment.what in AFTER_END))
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = list(reversed(error.args[1]))
        steps = " after ".join(f"{name}'s {'end' if ends else 'start'}" for name, ends in circle)
        yield places.get(circle[0][0], ()), f"waits for itself: {steps}"
