"""Order of a trial's steps: a function from state and news to state and actions.

A step is a flow that is requested, an event that is carried out, or the end of either.  It starts at a time
or after a moment of another step.  No step waits without end: the steps that wait for a moment that cannot
come any more, directly or by others, are skipped with the reason.  Each step starts once or is skipped once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from adon.values import FrozenMap
from measurement.model import Metric
from mininet_topos.experiments.document import Event, Moment, Phase
from mininet_topos.experiments.plan import PlannedFlow, Trial
from mininet_topos.experiments.results import DecisionRow, FlowRow, Tables

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
    def next_due(self) -> float | None:
        """Time at which the next step starts if nothing else happens; None if none does."""
        return next((at for at, _ in self.starts), None)

    @property
    def awaited(self) -> frozenset[Key]:
        """Moments for which steps wait."""
        wanted = {step.after.key for step in self.waiting if step.after is not None}
        return frozenset(wanted - self.moments.keys())


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


def find_turns(tables: Tables, flow: str) -> list[DecisionRow]:
    """Return the decisions that changed a flow's state, in order."""
    found: list[DecisionRow] = []
    for row in sorted((row for row in tables.decisions if row.flow == flow), key=lambda row: row.at):
        if row.outcome not in ("stay", "end") and (not found or found[-1].change != row.change):
            found.append(row)
    return found


def find_flows(tables: Tables, name: str | None) -> list[FlowRow]:
    """Return the row of a flow; of all flows without a name."""
    return [row for row in tables.flows if name in (None, row.flow)]


def time_of(tables: Tables, moment: Moment) -> float | None:
    """Return the time of a moment in seconds after the start of the trial; None if it did not come."""
    turns = {row.outcome: row.at for row in reversed(find_turns(tables, moment.of))}
    phases = {row.phase: row.at for row in tables.events if row.event == moment.of and not row.problem}
    asked = began = phases.get("begins")
    ended = phases.get("ends")
    for row in find_flows(tables, moment.of):
        asked, began, ended = row.asked, row.began, row.ended
    times = {
        Phase.ASKED: asked,
        Phase.ADMITTED: turns.get("admit"),
        Phase.BEGINS: began,
        Phase.TESTED: _find_test_time(tables, began),
        Phase.RETESTED: _find_test_time(tables, ended),
        Phase.MOVED: turns.get("move"),
        Phase.ENDS: turns.get("reject") if ended is None else ended,
    }
    at = times[moment.what]
    return None if at is None else at + moment.wait


def _find_test_time(tables: Tables, since: float | None) -> float | None:
    """Return the time after which each tested path has a new result; None if one has none."""
    tests = [row for row in tables.measurements if row.metric == Metric.THROUGHPUT and row.value is not None]
    later = [row for row in tests if since is not None and row.at > since]
    first = {row.path: row.at for row in sorted(later, key=lambda row: row.at, reverse=True)}
    return max(first.values(), default=None) if len(first) == len({row.path for row in tests}) else None
