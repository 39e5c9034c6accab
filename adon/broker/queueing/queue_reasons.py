"""What a waiting flow waits for, and its place in the queue.

Worked out when somebody asks, from the present, by the functions that admit: so it is never older than the
answer, and never something else than what would be decided.
"""

from __future__ import annotations

from collections.abc import Mapping

from adon.broker.flow import Flow, FlowState
from adon.broker.queueing import claims
from adon.broker.queueing.refusal import NONE
from adon.broker.queueing.trial import Trial, try_flow
from adon.broker.queueing.turns import Phase, safe_from
from adon.broker.scheduler import deadline
from adon.broker.world import World
from adon.errors import Conflict
from adon.flowvisor.selection.assessment import explain

ADMITTED_SOON = "nothing blocks it: it starts with the next event"


def explain_waiting(world: World, flow: Flow, now: float) -> Mapping[str, object]:
    """All of it as plain JSON values; times in seconds since the epoch.

    :raises Conflict: for a flow that does not wait.
    """
    if flow.state is not FlowState.QUEUED or flow.number not in world.line:
        raise Conflict("state", f"flow {flow.id} is {flow.state}; it does not wait")
    how = world.line.phase(flow.number)
    place = _place(world, flow, now)
    if how is Phase.ASLEEP:
        return {**place, "waits_for": [asleep(flow)]}
    kept = NONE if how is Phase.DUE else claims.kept_from_flow(world, flow, now)
    trial = try_flow(world, flow, now, kept)
    if trial.path is not None:
        return {**place, "waits_for": [ADMITTED_SOON]}
    return {**place, "waits_for": obstacles(trial)}


def asleep(flow: Flow) -> str:
    """Of a flow whose ``not_before`` is still to come."""
    return "its start time is not reached" if flow.booking is None else f"reserved: {flow.booking.words}"


def _place(world: World, flow: Flow, now: float) -> dict[str, object]:
    """Where it stands in line, and how long that can last."""
    line, waiter = world.line, world.line.waiter(flow.number)
    those = line.alike(flow.number)
    return {
        "id": flow.id,
        "at": now,
        "phase": line.phase(flow.number).value,
        "before": line.before(flow.number),
        "waiting": len(line),
        "expires_at": deadline(flow, world.flows.patience),
        "not_overtaken_from": None if waiter is None else safe_from(waiter, line.rules),
        "claims": those is not None and claims.claims(world, those, now) == flow.number,
    }


def obstacles(trial: Trial) -> list[str]:
    """What is in its way, path by path, or at the compute sites."""
    if trial.choice.selection.path is not None or not trial.choice.selection.records:
        return [trial.reason]
    return [explain(record) for record in trial.choice.selection.records]
