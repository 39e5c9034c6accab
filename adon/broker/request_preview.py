"""Preview of a request: the decision that it would get now, without an effect.

The functions that admit a flow check, try and decide the request (:mod:`adon.broker.queueing.queue_request`,
:func:`adon.broker.queueing.trial.try_flow`), under the number that the next flow will have, so a request that
follows at once is decided in the same way.  What they keep under that number on the way (what the flow needs,
a meter's number) is forgotten again: no flow, decision, booking, hold or rule comes of it.

One thing is not worked out: a flow that was only seen, not announced, ends when somebody announces the same
connections (:mod:`adon.broker.unannounced`).  What comes of that for those who wait is settled then; the
preview counts it as still there, and names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from adon.broker import decision_rules, dry_run, ladder_grants
from adon.broker.decision import Decision, Outcome
from adon.broker.decision_records import choose_path, decision_of
from adon.broker.events import FlowSubmitted, PreviewAsked
from adon.broker.flow import Flow
from adon.broker.outcomes import Forecast
from adon.broker.queueing import claims
from adon.broker.queueing.queue_reasons import asleep, obstacles
from adon.broker.queueing.queue_request import asked_for
from adon.broker.queueing.trial import Trial, try_flow
from adon.broker.world import World
from adon.reasons import Reason
from measurement.model import finite

NAME = "preview"
"""Stands where a recorded decision names itself, its flow and its event."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """What would become of a running flow by the one that is asked for.

    :param to: the path that it would move to; None if it would wait.
    """

    flow: str
    path: str
    to: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Preview:
    """What would be decided.

    :param decision: as it would be recorded.
    :param size: bytes that would travel; ``forecast``: how long they would, where that can be told.
    :param waits_for: what is in its way, if it would wait.
    :param pushed: the running flows that would be moved, or go back to the queue.
    :param replaced: the flows that were seen but not announced, and would end.
    :param booking: what it would have reserved: path, rate in bits/s, times.
    :param advised: whether no switch would be told.
    """

    at: float
    decision: Decision
    size: int
    forecast: Forecast | None
    waits_for: tuple[str, ...]
    pushed: tuple[Pushed, ...]
    replaced: tuple[str, ...]
    booking: Mapping[str, Any] | None
    advised: bool


def preview_request(world: World, asked: PreviewAsked, number: int) -> Preview:
    """What would be decided about a request.

    :param number: what no flow has yet.
    :raises AdonError: as the request would be refused.
    """
    event = FlowSubmitted(
        asked.id, asked.at, asked.command, asked.request, asked.requester, asked.roles, asked.groups
    )
    rivals = world.flows.rivals(asked.request)
    try:
        flow = asked_for(world, number, event, [one for one in rivals if not one.unannounced])
        trial = try_flow(world, flow, event.at, claims.kept_from_flow(world, flow, event.at))
        return _make_preview(world, trial, event, [one.id for one in rivals if one.unannounced])
    finally:
        world.flows.forget(number)
        world.meters.forget(number)


def _make_preview(world: World, trial: Trial, event: FlowSubmitted, replaced: list[str]) -> Preview:
    flow, booking = trial.flow, trial.flow.booking
    pushed = _preempted_flows(world, trial, event.at)
    return Preview(
        at=event.at,
        decision=replace(_decision(world, trial, event, pushed), id=NAME, flow=NAME, cause=NAME),
        size=trial.sites.transfer_size,
        forecast=trial.sites.forecast,
        waits_for=_waits_for(trial, event.at),
        pushed=pushed,
        replaced=tuple(replaced),
        booking=None
        if booking is None
        else {"path": booking.path, "rate": booking.rate, "begins": booking.begins, "ends": booking.ends},
        advised=dry_run.is_dry_run(world.configuration, trial.need.template, world.flows.ends(flow)),
    )


def _decision(world: World, trial: Trial, event: FlowSubmitted, pushed: tuple[Pushed, ...]) -> Decision:
    """Return the decision as it would be recorded, after the flow that gives way has left."""
    flow, ruled = trial.flow, trial.ruled
    granted = ladder_grants.grant_on_path(world, flow, ruled.path, _preempted_flow(world, trial, pushed))
    return decision_of(
        1,
        flow,
        trial.need,
        trial.choice,
        ruled.outcome,
        ruled.reason,
        event,
        ruled.path,
        trial.sites,
        granted,
    )


def _preempted_flow(world: World, trial: Trial, pushed: tuple[Pushed, ...]) -> int | None:
    """Who gives way, if it leaves the port by which the newcomer goes."""
    holder = trial.holder
    if holder is None:
        return None
    to = next(one.to for one in pushed if one.flow == holder.id)
    there, here = ladder_grants.gate(world, holder, to), ladder_grants.gate(world, trial.flow, trial.path)
    return None if there is not None and here is not None and there.port == here.port else holder.number


def _waits_for(trial: Trial, now: float) -> tuple[str, ...]:
    flow = trial.flow
    if trial.ruled.outcome is Outcome.ADMIT:
        return ()
    if flow.not_before is not None and flow.not_before > now:
        return (asleep(flow),)
    return tuple(obstacles(trial))


# -- what becomes of others -----------------------------------------------------------------------------


def _preempted_flows(world: World, trial: Trial, now: float) -> tuple[Pushed, ...]:
    """Who gives way to the newcomer."""
    flow, holder = trial.flow, trial.holder
    if holder is None:
        return ()
    ours, theirs = world.flows.priority(flow), world.flows.priority(holder)
    why = f"gives way to it (priority {ours} above {theirs})"
    return (_preempt(world, holder, why, now),)


def _preempt(world: World, other: Flow, why: str, now: float) -> Pushed:
    choice = choose_path(world, other, now, {str(other.path): Reason("preempted", why)})[1]
    ruled = decision_rules.rule_preemption(choice, why)
    return Pushed(other.id, str(other.path), ruled.path, ruled.reason.text)


# -- for the answer -------------------------------------------------------------------------------------


def as_json(found: Preview) -> Mapping[str, object]:
    """A preview as plain JSON values; rates in bits/s, times in seconds since the epoch."""
    forecast = found.forecast
    return {
        "at": found.at,
        "decision": found.decision.body(),
        "size": found.size,
        "forecast": None
        if forecast is None
        else finite(
            {
                "expected": forecast.expected,
                "low": forecast.low,
                "high": forecast.high,
                "coverage": forecast.coverage,
                "terms": forecast.terms,
            }
        ),
        "waits_for": list(found.waits_for),
        "pushed": [
            {"flow": one.flow, "path": one.path, "to": one.to, "why": one.why} for one in found.pushed
        ],
        "replaced": list(found.replaced),
        "booking": None if found.booking is None else dict(found.booking),
        "advised": found.advised,
    }
