"""What follows from what was found about a flow: functions of values, without the broker's state.

:mod:`adon.broker.placing` gathers, asks these and acts; :mod:`adon.broker.recompute` asks them again about
what was seen then.  So there is one text of every rule, and a decision and its recomputation cannot come
apart.  Sources: [ADON] 3.3, algorithm 2; spec sections 2 to 4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from adon.broker.alarms import Waived
from adon.broker.choice import Choice, Need
from adon.broker.deciding import advise
from adon.broker.decision import Outcome
from adon.broker.fleeing import Fled
from adon.broker.flow import Flow, Quality
from adon.broker.optimisation.placement import Placement
from adon.broker.preemption import Holder, Rivals, gives_way
from adon.flowvisor.assessment import CandidateRecord
from adon.flowvisor.selection import quality
from adon.units import format_duration
from measurement.model import Metric

FASTER = 1.2
"""So much more a path has to give before a running flow changes to it for its speed alone."""
SOONER_S = 2.0
"""And so much earlier the flow has to be over by that: each time twice as much."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What is to become of a flow.

    :param path: the path it gets by this, if it gets one.
    """

    outcome: Outcome
    path: str | None
    reason: str


def holder_to_go(flow: Flow, need: Need, choice: Choice, rivals: Rivals | None) -> Holder | None:
    """The running flow whose place a newcomer without a path takes.

    One that the same event decided about stays: the next event may take its place.
    """
    found = rival(flow, need, choice, rivals)
    return None if rivals is None or found is None or found.number in rivals.decided else found


def rival(flow: Flow, need: Need, choice: Choice, rivals: Rivals | None) -> Holder | None:
    """The running flow whose place a newcomer without a path could take, whatever this event did to it."""
    if rivals is None or need.qspec.throughput is None:
        return None
    priority = flow.priority(need.template.priority)
    records, bound = choice.selection.records, need.qspec.throughput.min
    if rivals.fallen is not None:
        return rivals.fallen
    return gives_way(priority, bound, rivals.holders, records, rivals.best)


def in_the_place_of(holder: Holder | None, choice: Choice) -> Choice:
    """The choice with that flow's path taken; as it is where nobody gives way."""
    if holder is None:
        return choice
    instead = f"{holder.path}: in the place of f-{holder.number}, whose priority is lower"
    return choice.taking(holder.path, f"{instead}; {choice.selection.reason}")


def placed(choice: Choice, sites: Placement, nowhere: str, apart: str = "") -> Ruling:
    """A flow without a path: admitted, or queued with the reason (algorithm 2, figure 4).

    :param nowhere: why there is no path at all, where there is none.
    :param apart: why it waits though it could go, where it does.
    """
    path, reason = choice.selection.path, choice.selection.reason
    if path is None:
        return Ruling(Outcome.QUEUE, None, reason if choice.selection.records else nowhere)
    if sites.refused:
        return Ruling(Outcome.QUEUE, None, sites.reason)
    if apart:
        return Ruling(Outcome.QUEUE, None, apart)
    return Ruling(Outcome.ADMIT, path, reason + (f"; {sites.reason}" if sites.reason else ""))


def sites_of(ruled: Ruling, choice: Choice, sites: Placement) -> Placement:
    """What a decision records of compute sites.

    A flow that has a path and waits all the same takes none; when one without a path starts, no site can say.
    """
    if choice.selection.path is None:
        return replace(sites, starts=None)
    return replace(sites, taken=None) if ruled.path is None else sites


def looked_at(
    flow: Flow, need: Need, choice: Choice, now: float, waived: Waived, dwell: float, urged: str = ""
) -> Ruling:
    """A running flow: it moves if hysteresis agrees, else it stays (spec section 2).

    :param urged: the alarm, or the trigger of its template, that it is looked at for, in words.
    """
    advice = advise(flow, need, choice, now, waived, dwell)
    reason = f"{urged}: {advice.reason}" if urged else advice.reason
    best = choice.record(choice.selection.path)
    if advice.move and best is not None:
        return Ruling(Outcome.MOVE, best.path, reason)
    return staying(flow, need, choice, reason, told=bool(urged))


def staying(flow: Flow, need: Need, choice: Choice, why: str, *, told: bool) -> Ruling:
    """A running flow stays where it is.

    :param told: whether the reason tells why; else it tells how its path stands.
    """
    record = choice.record(flow.path)
    text = why if told or record is None else record.why
    return Ruling(Outcome.STAY, None, f"QSpec {quality_now(flow, need, choice)}: {text}")


def quality_now(flow: Flow, need: Need, choice: Choice) -> Quality:
    """How a flow's path keeps its QSpec."""
    record = choice.record(flow.path)
    return Quality.UNKNOWN if record is None else Quality(quality(record, need.qspec))


def fled(found: Fled) -> Ruling:
    """A flow that lost its path: it goes to its place in the plan; without one it waits or stays, marked."""
    if found.path is not None:
        return Ruling(Outcome.MOVE, found.path, found.reason)
    if found.loss.vacate:
        return Ruling(Outcome.QUEUE, None, f"leaves {found.reason}")
    return staying(found.flow, found.need, found.choice, found.reason, told=True)


def displaced(choice: Choice, why: str) -> Ruling:
    """A flow that gives way to another: another path, or the queue; it is never dropped."""
    path, reason = choice.selection.path, f"{why}; {choice.selection.reason}"
    return Ruling(Outcome.QUEUE if path is None else Outcome.MOVE, path, reason)


def stopped(choice: Choice, why: str) -> Ruling:
    """A flow that lets others go first (:mod:`adon.broker.interrupting`): another path, or the queue."""
    path = choice.selection.path
    if path is None:
        return Ruling(Outcome.QUEUE, None, f"is stopped: it {why}")
    return Ruling(Outcome.MOVE, path, f"it {why}; {choice.selection.reason}")


def sooner(flow: Flow, choice: Choice, left: float, least: float) -> Ruling | None:
    """A flow that would be over clearly sooner on the best path than on its own goes there.

    :param left: bytes.
    :param least: seconds that it has to gain.
    """
    best, own = choice.record(choice.selection.path), choice.record(flow.path)
    if best is None or own is None or best is own:
        return None
    there, here = throughput_of(best), throughput_of(own)
    if there is None or here is None or here <= 0 or there < FASTER * here:
        return None
    gained = left * 8 / here - left * 8 / there
    if gained < least:
        return None
    reason = f"{best.path} brings it home {format_duration(gained)} sooner than {own.path}"
    return Ruling(Outcome.MOVE, best.path, reason)


def throughput_of(record: CandidateRecord) -> float | None:
    """What a finding says of a path's throughput, in bits/s."""
    return next((m.value for m in record.metrics if m.metric == Metric.THROUGHPUT.value), None)
