"""Whether a trigger fires at a value, and whether a knob may be turned: functions of values.

A trigger fires when its condition was met by every value for at least ``for`` seconds, the last of them now,
and it has not fired within its hold.  Then it is *on* until a value is beyond ``clear``, and does not fire
while it is on: a condition that stays has been acted on.  Values that are missing for longer than they are
young say nothing about the time between them: the time begins anew.

**No ping-pong.**  Two triggers may want opposite things.  Turning a knob back is refused until its rest is
over, and the rest, at first the longest hold of those who turned it, doubles with every reversal.  So in T
seconds there are at most ``log2(T / hold + 1) + 1`` reversals, whatever values come.
"""

from __future__ import annotations

from dataclasses import dataclass

from adon.broker.triggers.record import Fired, Knob
from adon.templates_catalog.trigger_rules import Trigger

LONGEST_REST_S = 30 * 86_400.0
"""A knob that was turned back so often that it rests for a month stays as it is."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What is remembered between two values.

    :param at: when the last value was taken.
    :param since: since when the condition has been met; None if it is not.
    """

    at: float
    since: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """What one value means for a trigger.

    :param over: it was on, and now it is over.
    """

    seen: Seen
    fires: bool = False
    over: bool = False


def step(
    trigger: Trigger, seen: Seen | None, last: Fired | None, value: float, at: float, now: float, gap: float
) -> Step:
    """Take one value.

    :param last: when it fired before; None if it never did.
    :param at: when the value was taken, ``now`` when it came.
    :param gap: seconds between two values after which nothing is known of the time between.
    """
    if seen is not None and at <= seen.at:
        return Step(seen)  # older than what is known, or the same again
    if last is not None and last.on:
        return Step(Seen(at), over=trigger.when.over_by(value))
    if not trigger.when.met_by(value):
        return Step(Seen(at))
    known = seen is not None and seen.since is not None and at - seen.at <= gap
    since = seen.since if known and seen is not None and seen.since is not None else at
    held = last is not None and now - last.at < trigger.hold
    return Step(Seen(at, since), fires=at - since >= trigger.for_ and not held)


def turn_knob(knob: Knob | None, name: str, way: int, now: float, hold: float) -> Knob | None:
    """The knob after it was turned one way; None if it must rest.

    :param hold: that of the trigger that turns it.
    """
    if knob is None:
        return Knob(name, way, now, hold)
    if knob.way == way:
        # Its rest goes on from where it is: who turns it further does not lengthen it.
        return Knob(name, way, knob.turned_at, max(knob.rest, hold))
    if now - knob.turned_at < knob.rest:
        return None
    return Knob(name, way, now, min(LONGEST_REST_S, max(2 * knob.rest, hold)))
