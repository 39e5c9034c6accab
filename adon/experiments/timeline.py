"""What is to be begun next in a trial, given what has happened so far.

A trial is made of steps: flows that are asked for and events.  Each begins at a time, or after a moment of
another step.  Everything here is a function from a state and an occurrence to a new state and to actions;
whoever runs the trial carries the actions out and tells what came of them.

Nothing waits for ever.  A moment that will never come (a flow that was refused is never moved) is told as
:class:`Never`; the steps that wait for it are skipped, with the reason, and so are those that wait for
them.  Every step is begun once or skipped once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter

from adon.experiments.parts import Moment, What
from adon.values import FrozenMap


@dataclass(frozen=True, slots=True)
class Step:
    """A flow or an event: begun ``at`` seconds after the trial's beginning, or ``after`` a moment."""

    name: str
    at: float | None = None
    after: Moment | None = None

    def __post_init__(self) -> None:
        if (self.at is None) == (self.after is None):
            raise ValueError(f"{self.name}: begins either at a time, or after a moment")


@dataclass(frozen=True, slots=True)
class Heard:
    """A moment has come; times are seconds since the trial's beginning."""

    of: str
    what: What
    at: float


@dataclass(frozen=True, slots=True)
class Never:
    """These moments of a step will not come any more, those of them that have not come yet."""

    of: str
    whats: frozenset[What]
    why: str


@dataclass(frozen=True, slots=True)
class Passed:
    """Nothing but time has passed."""


Occurrence = Heard | Never | Passed


@dataclass(frozen=True, slots=True)
class Begin:
    """Carry this step out now."""

    step: str


@dataclass(frozen=True, slots=True)
class Skip:
    """This step is left out, for good."""

    step: str
    why: str


Action = Begin | Skip

ALL = frozenset(What)


@dataclass(frozen=True, slots=True)
class Timeline:
    """The state.

    :param waiting: steps that were neither begun nor skipped, in the order of the file.
    :param heard: when each moment came that has come.
    :param never: why each moment will not come that will not.
    """

    waiting: tuple[Step, ...]
    heard: FrozenMap[tuple[str, What], float] = field(default_factory=FrozenMap)
    never: FrozenMap[tuple[str, What], str] = field(default_factory=FrozenMap)

    @property
    def over(self) -> bool:
        """Whether no step is left."""
        return not self.waiting

    def came(self, of: str, what: What) -> float | None:
        """When a moment of a step came; None if it has not."""
        return self.heard.get((of, what))

    def hopeless(self, of: str, what: What) -> str | None:
        """Why a moment of a step will not come any more; None if it has come, or may."""
        return None if self.came(of, what) is not None else self.never.get((of, what))

    def due(self, step: Step) -> float | None:
        """When a waiting step is to begin, seconds since the beginning; None while that is not known."""
        if step.after is None:
            return step.at
        came = self.came(step.after.of, step.after.what)
        return None if came is None else came + step.after.wait

    @property
    def wake(self) -> float | None:
        """When the next step is due; None if none is before something happens."""
        return min((at for at in map(self.due, self.waiting) if at is not None), default=None)

    @property
    def awaited(self) -> frozenset[tuple[str, What]]:
        """The moments of steps that other steps wait for and that have not come."""
        wanted = {(step.after.of, step.after.what) for step in self.waiting if step.after is not None}
        return frozenset(wanted - self.heard.keys() - self.never.keys())


def timeline(steps: Iterable[Step]) -> Timeline:
    """The state before anything has happened.

    :raises ValueError: if two steps have one name, or one waits for itself, perhaps by others, or for
        something that is not there.
    """
    ordered = tuple(steps)
    names = [step.name for step in ordered]
    if twice := [name for number, name in enumerate(names) if name in names[:number]]:
        raise ValueError(f"{twice[0]}: two steps have this name")
    before = {step.name: () if step.after is None else (step.after.of,) for step in ordered}
    for name, wanted in before.items():
        if missing := [one for one in wanted if one not in before]:
            raise ValueError(f"{name}: waits for {missing[0]}, which is not there")
    try:
        tuple(TopologicalSorter(before).static_order())
    except CycleError as error:
        raise ValueError(f"{error.args[1][0]}: waits for itself: {', '.join(error.args[1])}") from error
    return Timeline(ordered)


def advance(state: Timeline, what: Occurrence, now: float) -> tuple[Timeline, tuple[Action, ...]]:
    """What is to be done when something has happened; ``now`` is seconds since the beginning.

    Steps are begun in the order of the times at which they were due, those of one time in the file's order.
    """
    state, skipped = _without_hopeless(_noted(state, what))
    ready = [(at, step) for step in state.waiting if (at := state.due(step)) is not None and at <= now]
    begun = [Begin(step.name) for _at, step in sorted(ready, key=lambda one: one[0])]
    names = {action.step for action in begun}
    waiting = tuple(step for step in state.waiting if step.name not in names)
    return replace(state, waiting=waiting), (*skipped, *begun)


def _noted(state: Timeline, what: Occurrence) -> Timeline:
    match what:
        case Heard(of, moment, at):
            # The first time counts: a flow may be moved again.
            return replace(state, heard=FrozenMap({(of, moment): at} | state.heard))
        case Never(of, whats, why):
            new = {(of, one): why for one in whats if (of, one) not in state.heard}
            return replace(state, never=FrozenMap(new | state.never))
        case Passed():
            return state


def _without_hopeless(state: Timeline) -> tuple[Timeline, tuple[Skip, ...]]:
    """Leave out what waits for something that will not come, and what waits for that, to the end."""
    skipped: list[Skip] = []
    while found := next(((step, why) for step in state.waiting if (why := _hopeless(state, step))), None):
        step, why = found
        skipped.append(Skip(step.name, why))
        left = replace(state, waiting=tuple(other for other in state.waiting if other is not step))
        state = _noted(left, Never(step.name, ALL, f"{step.name} was left out"))
    return state, tuple(skipped)


def _hopeless(state: Timeline, step: Step) -> str | None:
    if step.after is None:
        return None
    why = state.hopeless(step.after.of, step.after.what)
    return None if why is None else f"{step.after.of} never {step.after.what.value}: {why}"
