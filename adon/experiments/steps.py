"""A trial of the plan as steps of a timeline: its flows, its events, and the ends that are ordered.

An end that is ordered (a flow that sends for a time or until something, a load, a link that is mended) is a
step of its own, :func:`end_of` the flow or event.
"""

from __future__ import annotations

from collections.abc import Iterator

from adon.experiments.events import Event
from adon.experiments.parts import Moment, What
from adon.experiments.planned import PlannedFlow, Trial
from adon.experiments.timeline import Step, Timeline, timeline

_END = "/end"


def end_of(name: str) -> str:
    """The step that ends a flow or an event; no name in a file looks like it."""
    return name + _END


def ended_by(step: str) -> str | None:
    """What a step ends; None if it begins something."""
    return step.removesuffix(_END) if step.endswith(_END) else None


def course(trial: Trial) -> Timeline:
    """The trial's timeline before anything has happened."""
    present = {*(flow.name for flow in trial.flows), *(event.name for event in trial.events)}
    return timeline(_steps(trial, present))


def _steps(trial: Trial, present: set[str]) -> Iterator[Step]:
    for flow in trial.flows:
        yield _begin(flow.name, flow.at, flow.after, present)
        yield from _end(flow, flow.lasts, flow.until, present)
    for event in trial.events:
        yield _begin(event.name, event.at, event.after, present)
        yield from _end(event, event.lasts, event.until, present)


def _begin(name: str, at: float | None, after: Moment | None, present: set[str]) -> Step:
    if after is None:
        return Step(name, at=at or 0.0)
    # What is absent is taken to have happened at the trial's beginning.
    return Step(name, after=after) if after.of in present else Step(name, at=after.wait)


def _end(
    of: PlannedFlow | Event, lasts: float | None, until: Moment | None, present: set[str]
) -> Iterator[Step]:
    if lasts is not None:
        # How it is written is checked; here it is made of numbers.
        begun = Moment.model_construct(of=of.name, what=What.BEGINS, wait=lasts)
        yield Step(end_of(of.name), after=begun)
    elif until is not None and until.of in present:
        yield Step(end_of(of.name), after=until)
