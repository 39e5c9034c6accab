"""What a waiting flow waits for, and when it may start.

Worked out when somebody asks, from the present, by the functions that admit: so it is never older than the
answer, and never something else than what would be decided.
"""

from __future__ import annotations

from collections.abc import Mapping

from adon.broker.flow import Flow, FlowState
from adon.broker.queueing import claims
from adon.broker.queueing.forecast import Start, start_of
from adon.broker.queueing.keeping import group_of
from adon.broker.queueing.refusal import NONE
from adon.broker.queueing.trial import Trial, tried
from adon.broker.queueing.turns import Phase, safe_from
from adon.broker.scheduler import deadline
from adon.broker.world import World
from adon.errors import Conflict
from adon.flowvisor.selection import explain

ADMITTED_SOON = "nothing is in its way any more: it starts with the next event"


def explained(world: World, flow: Flow, now: float) -> Mapping[str, object]:
    """All of it as plain JSON values; times in seconds since the epoch.

    :raises Conflict: for a flow that does not wait.
    """
    if flow.state is not FlowState.QUEUED or flow.number not in world.line:
        raise Conflict("state", f"flow {flow.id} is {flow.state}; it does not wait")
    how = world.line.phase(flow.number)
    place = _place(world, flow, now)
    if how is Phase.ASLEEP:
        return {**place, **asleep(flow)}
    kept = NONE if how is Phase.DUE else claims.kept(world, flow, now)
    trial = tried(world, flow, now, kept)
    if trial.path is not None:
        return {**place, **_soon(flow, now)}
    return {**place, **kept_waiting(world, trial, now)}


def kept_waiting(world: World, trial: Trial, now: float) -> dict[str, object]:
    """What is in the way of a refused flow, and when it may start."""
    start = start_of(world, trial, now)
    return {
        "waits_for": _obstacles(trial),
        "start": None if start is None else _times(trial.flow, start),
        "start_why": "nobody can say when that changes" if start is None else start.why,
    }


def _soon(flow: Flow, now: float) -> dict[str, object]:
    """Of a flow that nothing is in the way of: it may still await something better, as it was told."""
    if flow.starts is None or flow.starts <= now:
        return {"waits_for": [ADMITTED_SOON], "start": None, "start_why": ""}
    start = dict.fromkeys(("earliest", "expected", "latest"), flow.starts)
    return {"waits_for": [flow.reason], "start": start, "start_why": flow.reason}


def asleep(flow: Flow) -> dict[str, object]:
    """Of a flow whose ``not_before`` is still to come."""
    words = "its time has not come" if flow.booking is None else f"reserved: {flow.booking.words}"
    begins = flow.not_before if flow.booking is None else flow.booking.begins
    start = {"earliest": flow.not_before, "expected": begins, "latest": begins}
    return {"waits_for": [words], "start": start, "start_why": words}


def _place(world: World, flow: Flow, now: float) -> dict[str, object]:
    """Where it stands in line, and how long that can last."""
    line, waiter = world.line, world.line.waiter(flow.number)
    group = group_of(flow, world.configuration.policy)
    those = line.alike(flow.number)
    return {
        "id": flow.id,
        "at": now,
        "phase": line.phase(flow.number).value,
        "group": group,
        "before": line.before(flow.number),
        "waiting": len(line),
        "expires_at": deadline(flow, world.flows.patience),
        "not_overtaken_from": None if waiter is None else safe_from(waiter, line.rules),
        "claims": those is not None and claims.claims(world, those, now) == flow.number,
    }


def _obstacles(trial: Trial) -> list[str]:
    """What is in its way, path by path, or at the compute sites."""
    if trial.choice.selection.path is not None or not trial.choice.selection.records:
        return [trial.reason]
    return [explain(record) for record in trial.choice.selection.records]


def _times(flow: Flow, start: Start) -> dict[str, float]:
    """The interval, not after what it has reserved begins."""
    latest = float("inf") if flow.booking is None else flow.booking.begins
    known = {"earliest": start.earliest, "expected": start.expected, "latest": start.latest}
    return {name: min(at, latest) for name, at in known.items()}
