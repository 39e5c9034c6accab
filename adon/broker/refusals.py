"""What a switch refused of a batch: what is sent in its place, and when it is tried again (R13, R17).

OpenFlow answers each message by itself (1.3.5, 6.3): of a batch whose barrier was answered everything was
done but what an error names.  So a refused meter affects only its own flow.

A group or meter that was sent and never confirmed may be there or not, and OpenFlow has no message for "put
it there whatever is": adding what is there is refused, and so is modifying what is not (6.5, 6.7).  The
switch's words say which it was, and the other message heals it (:func:`replacement_for`).
"""

from __future__ import annotations

from collections.abc import Iterable

from adon.broker.hold_down import Repeated, count_repetition
from adon.flowvisor.rules.rule import Change, Op, Rule, Slot

RETRY_S = 10.0
"""What a switch refused in a repair is tried again after so long; then after twice that, and so on."""

_INSTEAD = {
    (Op.ADD, "METER_EXISTS"): Op.MODIFY,
    (Op.ADD, "GROUP_EXISTS"): Op.MODIFY,
    (Op.MODIFY, "UNKNOWN_METER"): Op.ADD,
    (Op.MODIFY, "UNKNOWN_GROUP"): Op.ADD,
}
"""Part of the switch's own words (OpenFlow 1.3.5, 7.4.4) and what is sent then."""
METER_REFUSED = "METER_MOD_FAILED"
"""Part of the switch's words when it was a meter."""


def replacement_for(change: Change, words: str) -> Change | None:
    """What to send in the place of a refused change; None if nothing helps.

    :param words: the switch's own.
    """
    if isinstance(change.rule, Rule):
        return None
    for (op, part), instead in _INSTEAD.items():
        if change.op is op and part in words:
            return Change(instead, change.rule)
    return None


def of_a_meter(words: str) -> bool:
    """Whether a switch refused a meter: that says nothing about the path of its flow."""
    return METER_REFUSED in words


class Refusals:
    """What was refused in repairs, and until when each slot is left alone; times are arguments."""

    def __init__(self) -> None:
        self._slots: dict[Slot, Repeated] = {}

    def record_refusal(self, slots: Iterable[Slot], now: float) -> float:
        """These were refused, or left out with what was: when they are tried again."""
        until = now + RETRY_S
        for slot in slots:
            self._slots[slot] = count_repetition(self._slots.get(slot), now, RETRY_S)
            until = max(until, now + self._slots[slot].hold_off(RETRY_S))
        return until

    def held_slots(self, dpid: int, now: float) -> frozenset[Slot]:
        """The slots of a switch that a repair leaves alone now."""
        return frozenset(
            slot
            for slot, last in self._slots.items()
            if slot[0] == dpid and now < last.at + last.hold_off(RETRY_S)
        )

    def record_acceptance(self, slot: Slot) -> None:
        """The switch took what is in this slot."""
        self._slots.pop(slot, None)

    def forgive(self, dpid: int) -> None:
        """The switch is new, or an operator asks for it: everything is tried at once."""
        self._slots = {slot: last for slot, last in self._slots.items() if slot[0] != dpid}
