"""Order of a trial's steps: a function from state and occurrence to state and actions.

A step is a flow that is requested, an event that is carried out, or the end of either.  It starts at a time
or after a moment of another step.  No step waits without end: a moment that cannot come any more is an
:class:`Impossible`, and the steps that wait for it, directly or by others, are skipped with the reason.
Each step starts once or is skipped once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from adon.values import FrozenMap
from measurement.model import Metric
from mininet_topos.experiments.document import Event, Moment, Phase
from mininet_topos.experiments.plan import PlannedFlow, Trial
from mininet_topos.experiments.results import FlowRow, FlowState, Tables

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


UNCHANGED = ("stay", "end")
"""Outcomes that leave a flow where it was."""


class Turn(NamedTuple):
    """A decision that changed a flow's state."""

    outcome: str
    path: str | None
    site: str | None

    def __str__(self) -> str:
        where = "" if self.path is None else f" on {self.path}"
        return f"{self.outcome}{where}" + ("" if self.site is None else f", computed at {self.site}")


def find_turns(tables: Tables, flow: str) -> list[tuple[float, Turn]]:
    """Return time and content of the decisions that changed a flow's state, in order."""
    found: list[tuple[float, Turn]] = []
    for row in sorted((row for row in tables.decisions if row.flow == flow), key=lambda row: row.at):
        turn = Turn(row.outcome, row.path, row.site)
        if row.outcome not in UNCHANGED and (not found or found[-1][1] != turn):
            found.append((row.at, turn))
    return found


def find_flows(tables: Tables, name: str | None) -> list[FlowRow]:
    """Return the row of a flow; of all flows without a name."""
    return [row for row in tables.flows if name in (None, row.flow)]


def time_of(tables: Tables, moment: Moment) -> float | None:
    """Return when a moment was, in seconds after the start of the trial; None if it did not come."""
    is_event = any(row.event == moment.of for row in tables.events)
    at = _event_time(tables, moment) if is_event else _flow_time(tables, moment)
    return None if at is None else at + moment.wait


def _event_time(tables: Tables, moment: Moment) -> float | None:
    phase = "ends" if moment.what in (Phase.ENDS, Phase.RETESTED) else "begins"
    done = (row for row in tables.events if row.event == moment.of and not row.problem)
    at = min((row.at for row in done if row.phase == phase), default=None)
    return _test_time(tables, at) if moment.what in (Phase.TESTED, Phase.RETESTED) else at


def _flow_time(tables: Tables, moment: Moment) -> float | None:
    rows = find_flows(tables, moment.of)
    carried = [row for row in rows if row.state != FlowState.REJECTED]
    match moment.what:
        case Phase.ENDS:
            return _last(_end_time(tables, row) for row in rows)
        case Phase.TESTED:
            return _last(_test_time(tables, row.began) for row in carried)
        case Phase.RETESTED:
            return _last(_test_time(tables, row.ended) for row in carried)
        case Phase.ASKED:
            return _first(row.asked for row in rows)
        case Phase.BEGINS:
            return _first(row.began for row in rows)
        case Phase.ADMITTED:
            return _first(_turn_time(tables, row, "admit") for row in rows)
        case Phase.MOVED:
            return _first(_turn_time(tables, row, "move") for row in rows)


def _first(times: Iterable[float | None]) -> float | None:
    return min((at for at in times if at is not None), default=None)


def _last(times: Iterable[float | None]) -> float | None:
    """None if any is missing."""
    found: Sequence[float | None] = list(times)
    return None if None in found else max((at for at in found if at is not None), default=None)


def _end_time(tables: Tables, row: FlowRow) -> float | None:
    return row.ended if row.ended is not None else _turn_time(tables, row, "reject")


def _turn_time(tables: Tables, row: FlowRow, outcome: str) -> float | None:
    return next((at for at, turn in find_turns(tables, row.flow) if turn.outcome == outcome), None)


def _test_time(tables: Tables, since: float | None) -> float | None:
    """When each tested path had a result again; rows hold the time of the result, not of the test's start."""
    if since is None:
        return None
    tests = [row for row in tables.measurements if row.metric == Metric.THROUGHPUT and row.value is not None]
    paths = {row.path for row in tests}
    return _last(_first(row.at for row in tests if row.path == path and row.at > since) for path in paths)
