"""Order of a trial's steps: a function from state and news to state and actions.

A step is a flow that is requested, an event that is carried out, or the end of either.  It starts at a time
or after a moment of another step.  No step waits without end: the steps that wait for a moment that cannot
come any more, directly or by others, are skipped with the reason.  Each step starts once or is skipped once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from adon.values import FrozenMap
from mininet_topos.experiments.document import Event, Moment, Phase
from mininet_topos.experiments.plan import PlannedFlow, Trial

_END = "/end"


@dataclass(frozen=True, slots=True)
class Step:
    """Step of a trial: it starts ``at`` seconds after the start of the trial, or ``after`` a moment."""

    name: str
    at: float | None = None
    after: Moment | None = None


Key = tuple[str, Phase]
"""Moment of a step, without a wait."""
News = Mapping[Key, float | str]
"""Time at which each moment came, in seconds after the start of the trial, or why it cannot come any more."""


class Action(NamedTuple):
    """Start of a step; with a ``reason`` the step is left out."""

    step: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Timeline:
    """State of a trial.

    :param waiting: steps that neither started nor were skipped, in the document's order.
    :param moments: those that came or cannot come.
    """

    waiting: tuple[Step, ...]
    moments: News = field(default_factory=FrozenMap)

    def due(self, step: Step) -> float | str | None:
        """Return when a waiting step starts, or why it cannot start; None while neither is known."""
        if step.after is None:
            return step.at
        moment = self.moments.get(step.after.key)
        if isinstance(moment, str):
            return f"{step.after.of} never {step.after.what}: {moment}"
        return None if moment is None else moment + step.after.wait

    @property
    def starts(self) -> list[tuple[float, Step]]:
        """Waiting steps with known times, in the order of their times."""
        known = [(at, step) for step in self.waiting if isinstance(at := self.due(step), int | float)]
        return sorted(known, key=lambda one: one[0])

    @property
    def next_due(self) -> float:
        """Time at which the next step starts if nothing else happens; infinite if none does."""
        return next((at for at, _ in self.starts), math.inf)


def ended_by(step: str) -> str | None:
    """Return the flow or event that a step ends; None if it starts something."""
    return step.removesuffix(_END) if step.endswith(_END) else None


def start_timeline(trial: Trial) -> Timeline:
    """Return the state before the start of a trial."""
    parts: list[PlannedFlow | Event] = [*trial.flows, *trial.events]
    return Timeline(tuple(step for part in parts for step in _list_steps(part)))


def _list_steps(part: PlannedFlow | Event) -> list[Step]:
    steps = [Step(part.name, part.at, part.after)]
    if part.lasts is not None:
        # The wait is a number here, not text that pydantic parses.
        end = Moment.model_construct(of=part.name, what=Phase.BEGINS, wait=part.lasts)
        steps.append(Step(part.name + _END, after=end))
    elif part.until is not None:
        steps.append(Step(part.name + _END, after=part.until))
    return steps


def advance(state: Timeline, news: News, now: float) -> tuple[Timeline, tuple[Action, ...]]:
    """Return the state after news, and the actions that follow.

    :param now: seconds after the start of the trial.  Steps start in the order of their times; those of one
        time in the document's order.
    """
    state, skipped = _skip_impossible(_record(state, news))
    started = [Action(step.name) for at, step in state.starts if at <= now]
    return _remove(state, started), (*skipped, *started)


def _record(state: Timeline, news: News) -> Timeline:
    """Return the state with news; the first entry of a moment counts."""
    return replace(state, moments=FrozenMap({**news, **state.moments}))


def _skip_impossible(state: Timeline) -> tuple[Timeline, list[Action]]:
    skipped: list[Action] = []
    while found := [Action(one.name, why) for one in state.waiting if isinstance(why := state.due(one), str)]:
        skipped += found
        news = {(one.step, phase): f"{one.step} was skipped" for one in found for phase in Phase}
        state = _remove(_record(state, news), found)
    return state, skipped


def _remove(state: Timeline, actions: Iterable[Action]) -> Timeline:
    names = {action.step for action in actions}
    return replace(state, waiting=tuple(step for step in state.waiting if step.name not in names))
