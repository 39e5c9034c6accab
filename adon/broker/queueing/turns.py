"""Whose turn it is: priority, then age; and a deadline that comes near.

Each waiting flow has a *turn*, a time; the smallest is first::

    turn = arrived - aging · (priority + hurry, while its deadline is near)

So ``aging`` seconds of waiting weigh as much as one step of priority, and nothing changes by waiting itself:
all flows grow older at the same pace, hence the order of two of them is settled when the later one comes.
That is why the line can be kept instead of being sorted at every event.

**Deadlines.**  A transfer that is expected to last d and is due at D has the slack D - now - d.  When that is
less than ``slack`` · d the flow *hurries*: it counts as ``hurry`` steps of priority more urgent.  Among those
that hurry priority and age decide (least slack first would need the line sorted anew at every instant).  When
the slack is gone, the deadline cannot be met in any order of the queue, and the flow has its ordinary turn
again: only *feasible* deadlines count (the overload policy of Abbott and Garcia-Molina,
*Scheduling Real-Time Transactions*, ACM TODS 17(3), 1992).

**The bound.**  A flow of priority p that arrived at s is never preceded by a flow that arrives after::

    s + aging · (999 - p + hurry)                                       (:func:`safe_from`)

Proof.  Let g arrive at t beyond that, with any priority up to 999, in a hurry or not.  Its turn is at least
t - aging·(999 + hurry) > s - aging·p, which is the other's turn, or later than it if that one hurries.  ∎
A property test lets an adversary choose arrivals, priorities and deadlines.

Against flows that are behind in the line and are admitted because they need less, see
:mod:`adon.broker.queueing.claims`.

Times in seconds since the epoch.  Values and functions only.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from enum import StrEnum

HIGHEST = 999
"""The most urgent priority."""

Position = tuple[float, int]
"""A turn, and the flow's number, which decides between equal ones."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The policy's part of the order; see :class:`adon.config.policy.QueuePolicy`."""

    aging: float = 60.0
    hurry: int = 240
    slack: float = 0.25


class Phase(StrEnum):
    """How a flow waits."""

    ASLEEP = "asleep"
    """Its ``not_before`` is still to come: it is not tried."""
    CALM = "calm"
    HURRIED = "hurried"
    """Its deadline is near, and can be met."""
    DUE = "due"
    """What it has reserved has begun: it is tried before everybody else."""


@dataclass(frozen=True, slots=True)
class Waiter:
    """A waiting flow, as far as its place in the line goes.

    :param arrived: when it came; not before it wants to start.
    :param lasts: seconds that this is expected to take; infinite if unknown.
    :param bounded: seconds that it takes at most if its throughput bound is kept; infinite without one.
    :param alike: flows that are equal in this are admitted or refused by the same facts.
    :param ends: the sites that it goes from and to.
    :param begins, until: of what it has reserved.
    """

    number: int
    priority: int
    arrived: float
    lasts: float
    bounded: float
    alike: Hashable
    ends: tuple[str, str]
    not_before: float = -math.inf
    deadline: float = math.inf
    begins: float = math.inf
    until: float = math.inf


def hurries(waiter: Waiter, rules: Rules) -> tuple[float, float]:
    """From when until when a flow is in a hurry; an empty time if its deadline cannot be met at all."""
    if math.isinf(waiter.deadline) or math.isinf(waiter.lasts):
        return (math.inf, math.inf)
    return waiter.deadline - waiter.lasts * (1 + rules.slack), waiter.deadline - waiter.lasts


def phase(waiter: Waiter, now: float, rules: Rules) -> Phase:
    """How a flow waits at a time."""
    if waiter.begins <= now < waiter.until:
        return Phase.DUE
    if now < waiter.not_before:
        return Phase.ASLEEP
    since, late = hurries(waiter, rules)
    return Phase.HURRIED if since <= now < late else Phase.CALM


def next_change(waiter: Waiter, now: float, rules: Rules) -> float:
    """When a flow waits in another way next; infinite if never."""
    times = (waiter.not_before, waiter.begins, waiter.until, *hurries(waiter, rules))
    return min((at for at in times if at > now), default=math.inf)


def turn(waiter: Waiter, now: Phase, rules: Rules) -> Position:
    """Where a flow is in the line."""
    steps = waiter.priority + (rules.hurry if now is Phase.HURRIED else 0)
    return (waiter.arrived - rules.aging * steps, waiter.number)


def safe_from(waiter: Waiter, rules: Rules) -> float:
    """No flow that arrives after this is ever before it (the bound of the module's text)."""
    return waiter.arrived + rules.aging * (HIGHEST - waiter.priority + rules.hurry)
