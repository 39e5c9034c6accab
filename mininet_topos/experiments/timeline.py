"""Order of a trial's steps: a function from state and occurrence to state and actions.

A step is a flow that is requested, an event that is carried out, or the end of either.  It starts at a time
or after a moment of another step.  No step waits without end: a moment that cannot come any more is an
:class:`Impossible`, and the steps that wait for it, directly or by others, are skipped with the reason.
Each step starts once or is skipped once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from adon.frozenmap import FrozenMap
from mininet_topos.experiments.document import Event, Moment, Phase
from mininet_topos.experiments.plan import PlannedFlow, Trial

_END = "/end"


@dataclass(frozen=True, slots=True)
class Step:
    """What starts ``at`` seconds after the start of the trial, or ``after`` a moment."""

    name: str
    at: float | None = None
    after: Moment | None = None


@dataclass(frozen=True, slots=True)
class Happened:
    """A moment of a step came, ``at`` seconds after the start of the trial."""

    of: str
    what: Phase
    at: float


@dataclass(frozen=True, slots=True)
class Impossible:
    """Moments of a step that have not come and cannot come any more."""

    of: str
    whats: frozenset[Phase]
    reason: str


Occurrence = Happened | Impossible | None
"""None: time passed."""


@dataclass(frozen=True, slots=True)
class Start:
    """The step is to be carried out now."""

    step: str


@dataclass(frozen=True, slots=True)
class Skip:
    """The step is left out."""

    step: str
    reason: str


Action = Start | Skip
_Key = tuple[str, Phase]


@dataclass(frozen=True, slots=True)
class Timeline:
    """State of a trial.

    :param waiting: steps that neither started nor were skipped, in the document's order.
    :param came: when each moment came, in seconds.
    :param impossible: why each moment cannot come.
    """

    waiting: tuple[Step, ...]
    came: FrozenMap[_Key, float] = field(default_factory=FrozenMap)
    impossible: FrozenMap[_Key, str] = field(default_factory=FrozenMap)

    def due(self, step: Step) -> float | None:
        """Return when a waiting step starts; None while that is unknown."""
        if step.after is None:
            return step.at
        came = self.came.get((step.after.of, step.after.what))
        return None if came is None else came + step.after.wait

    @property
    def next_due(self) -> float | None:
        """When the next step starts if nothing else happens; None if none does."""
        return min((at for at in map(self.due, self.waiting) if at is not None), default=None)

    @property
    def awaited(self) -> frozenset[_Key]:
        """Moments for which steps wait."""
        wanted = {(step.after.of, step.after.what) for step in self.waiting if step.after is not None}
        return frozenset(wanted - self.came.keys() - self.impossible.keys())


def end_of(name: str) -> str:
    """Return the step that ends a flow or an event."""
    return name + _END


def ended_by(step: str) -> str | None:
    """Return what a step ends; None if it starts something."""
    return step.removesuffix(_END) if step.endswith(_END) else None


def start_timeline(trial: Trial) -> Timeline:
    """Return the state before the start of a trial."""
    flows = [step for flow in trial.flows for step in _steps(flow)]
    return Timeline((*flows, *(step for event in trial.events for step in _steps(event))))


def _steps(one: PlannedFlow | Event) -> Iterator[Step]:
    yield Step(one.name, one.at, one.after)
    if one.lasts is not None:
        # The wait is a number here, not text that pydantic parses.
        yield Step(
            end_of(one.name), after=Moment.model_construct(of=one.name, what=Phase.BEGINS, wait=one.lasts)
        )
    elif one.until is not None:
        yield Step(end_of(one.name), after=one.until)


def advance(state: Timeline, occurrence: Occurrence, now: float) -> tuple[Timeline, tuple[Action, ...]]:
    """Return the state after an occurrence, and what is to be done.

    :param now: seconds after the start of the trial.  Steps start in the order of their times; those of one
        time in the document's order.
    """
    state, skipped = _skip_impossible(_record(state, occurrence))
    ready = [(at, step) for step in state.waiting if (at := state.due(step)) is not None and at <= now]
    started = [Start(step.name) for _, step in sorted(ready, key=lambda one: one[0])]
    names = {action.step for action in started}
    waiting = tuple(step for step in state.waiting if step.name not in names)
    return replace(state, waiting=waiting), (*skipped, *started)


def _record(state: Timeline, occurrence: Occurrence) -> Timeline:
    match occurrence:
        case Happened(of, what, at):
            # The first time counts: a flow may move again.
            return replace(state, came=FrozenMap({(of, what): at} | state.came))
        case Impossible(of, whats, reason):
            new = {(of, what): reason for what in whats if (of, what) not in state.came}
            return replace(state, impossible=FrozenMap(new | state.impossible))
        case _:
            return state


def _skip_impossible(state: Timeline) -> tuple[Timeline, tuple[Skip, ...]]:
    skipped: list[Skip] = []
    while found := next(((step, why) for step in state.waiting if (why := _obstacle(state, step))), None):
        step, reason = found
        skipped.append(Skip(step.name, reason))
        left = replace(state, waiting=tuple(other for other in state.waiting if other is not step))
        state = _record(left, Impossible(step.name, frozenset(Phase), f"{step.name} was skipped"))
    return state, tuple(skipped)


def _obstacle(state: Timeline, step: Step) -> str | None:
    if step.after is None or (step.after.of, step.after.what) in state.came:
        return None
    reason = state.impossible.get((step.after.of, step.after.what))
    return None if reason is None else f"{step.after.of} never {step.after.what.value}: {reason}"
