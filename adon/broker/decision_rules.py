"""Rules of decisions: functions of values, without the broker's state.

:mod:`adon.broker.flow_placement` gathers the values, calls these functions and acts on the result.
:mod:`adon.broker.recompute` calls them with the recorded values.  So each rule is written once, and a
decision and its replay cannot differ.  Sources: [ADON] 3.3, algorithm 2; spec sections 2 to 4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from adon.broker.alarms import Waived
from adon.broker.choice import Choice, Need
from adon.broker.decision import Outcome
from adon.broker.decision_records import advise
from adon.broker.evacuation import Fled
from adon.broker.flow import Flow, Quality
from adon.broker.optimisation.placement import Placement
from adon.broker.preemption import Holder, Rivals, gives_way
from adon.flowvisor.selection.assessment import path_quality
from adon.reasons import DecisionCode, Reason


@dataclass(frozen=True, slots=True)
class Ruling:
    """What is to become of a flow.

    :param path: the path it gets by this, if it gets one.
    """

    outcome: Outcome
    path: str | None
    reason: Reason


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
    """Return the choice of that holder's path; the unchanged choice without a holder."""
    if holder is None:
        return choice
    instead = f"{holder.path}: preempts f-{holder.number}, whose priority is lower"
    return choice.taking(holder.path, Reason("preempts", f"{instead}; {choice.selection.reason}"))


def rule_admission(choice: Choice, sites: Placement, nowhere: str, apart: Reason | None = None) -> Ruling:
    """A flow without a path: admitted, or queued with the reason (algorithm 2, figure 4).

    :param nowhere: why there is no path at all, where there is none.
    :param apart: why it waits though it could go, where it does.
    """
    path, reason = choice.selection.path, choice.selection.reason
    if path is None:
        if not choice.selection.records:
            reason = Reason("no-path", nowhere)
        return Ruling(Outcome.QUEUE, None, reason)
    if sites.refused:
        return Ruling(Outcome.QUEUE, None, Reason("no-site", sites.reason))
    if apart is not None:
        return Ruling(Outcome.QUEUE, None, apart)
    if sites.reason:
        reason = reason.with_text(f"{reason}; {sites.reason}")
    return Ruling(Outcome.ADMIT, path, reason)


def sites_of(ruled: Ruling, choice: Choice, sites: Placement) -> Placement:
    """What a decision records of compute sites.

    A flow that has a path and waits all the same takes none.
    """
    waits = choice.selection.path is not None and ruled.path is None
    return replace(sites, taken=None) if waits else sites


def rule_review(
    flow: Flow, need: Need, choice: Choice, now: float, waived: Waived, dwell: float, urged: str = ""
) -> Ruling:
    """A running flow: it moves if hysteresis agrees, else it stays (spec section 2).

    :param urged: the alarm, or the trigger of its template, that it is looked at for, in words.
    """
    advice = advise(flow, need, choice, now, waived, dwell)
    reason = advice.reason.with_text(f"{urged}: {advice.reason}") if urged else advice.reason
    best = choice.record(choice.selection.path)
    if advice.move and best is not None:
        return Ruling(Outcome.MOVE, best.path, reason)
    return staying(flow, need, choice, reason, told=bool(urged))


def staying(flow: Flow, need: Need, choice: Choice, why: Reason, *, told: bool) -> Ruling:
    """A running flow stays where it is.

    :param told: whether the reason tells why; else it tells how its path stands.
    """
    record = choice.record(flow.path)
    text = why.text if told or record is None else record.why
    return Ruling(Outcome.STAY, None, why.with_text(f"QSpec {quality_now(flow, need, choice)}: {text}"))


def quality_now(flow: Flow, need: Need, choice: Choice) -> Quality:
    """How a flow's path keeps its QSpec."""
    record = choice.record(flow.path)
    return Quality.UNKNOWN if record is None else Quality(path_quality(record, need.qspec))


def rule_evacuation(found: Fled) -> Ruling:
    """A flow that lost its path: it goes to its place in the plan; without one it waits or stays, marked."""
    vacate = found.loss.vacate
    if found.path is not None:
        lost: DecisionCode = "path-down" if found.loss.gone else "path-held-down"
        return Ruling(Outcome.MOVE, found.path, Reason("maintenance" if vacate else lost, found.reason))
    if vacate:
        return Ruling(Outcome.QUEUE, None, Reason("maintenance", f"leaves {found.reason}"))
    return staying(found.flow, found.need, found.choice, Reason("no-refuge", found.reason), told=True)


def rule_preemption(choice: Choice, why: str) -> Ruling:
    """A flow that gives way to another: another path, or the queue; it is never dropped."""
    path, reason = choice.selection.path, Reason("preempted", f"{why}; {choice.selection.reason}")
    return Ruling(Outcome.QUEUE if path is None else Outcome.MOVE, path, reason)
