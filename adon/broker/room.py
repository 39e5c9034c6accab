"""How many rules fit into each switch, and which have said that no more do (R9).

A switch has three limits: what the configuration allows us (``rule_budget``), what its table can hold as it
says itself, and ``OFPFMFC_TABLE_FULL``, after which nothing new is tried there for a while.  A flow that
does not fit is not taken, with the reason; a running flow stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from adon.flowvisor.rules.rule import Entry, Rule
from adon.flowvisor.topology.path import dpid_text
from adon.units import format_duration

TABLE_FULL = "TABLE_FULL"
"""Part of the switch's own words (OpenFlow 1.3.5, 7.4.4: OFPFMFC_TABLE_FULL)."""


@dataclass(frozen=True, slots=True)
class Occupancy:
    """One switch's rules at one moment.

    :param ours: the rules of ours that belong there.
    :param others: the rules of others that are there.
    :param maximum: what its table holds, if it has said so.
    :param budget: what we may put there, if that is limited.
    """

    ours: int
    others: int
    maximum: int | None = None
    budget: int | None = None

    def lacks(self, needed: int) -> str:
        """Why so many more rules do not fit, in words; empty if they do."""
        if self.budget is not None and self.ours + needed > self.budget:
            return f"{self.ours} of the {self.budget} permitted rules are in use; {needed} are needed"
        if self.maximum is not None and self.ours + self.others + needed > self.maximum:
            return (
                f"its table holds {self.maximum} rules; ADON has {self.ours}, others have {self.others}; "
                f"{needed} are needed"
            )
        return ""

    @property
    def free(self) -> int | None:
        """How many more rules fit; None if no limit is known."""
        left = [] if self.budget is None else [self.budget - self.ours]
        if self.maximum is not None:
            left.append(self.maximum - self.ours - self.others)
        return max(0, min(left)) if left else None


@dataclass(slots=True)
class Room:
    """What switches have said about their tables.

    :param maximum: per datapath id, how many rules its table holds (TableFeatures' max_entries).
    :param full: per datapath id, until when it gets no new flow, and the switch's own words.
    """

    maximum: dict[int, int] = field(default_factory=dict)
    full: dict[int, tuple[float, str]] = field(default_factory=dict)

    def record_refusal(self, dpid: int, error: str, until: float) -> bool:
        """Take a switch's refusal; whether it said that its table is full.

        :param until: when it may be tried again, if so.
        """
        if not table_full(error):
            return False
        self.full[dpid] = until, error
        return True

    def why_full(self, dpid: int, now: float) -> str:
        """That a switch gets no new flow at present, in words; empty if it may."""
        until, error = self.full.get(dpid, (now, ""))
        if until <= now:
            return ""
        return f"its table was full; no new rules for {format_duration(until - now)}: {error}"

    def forget_expired(self, now: float) -> bool:
        """Forget what is over; whether something was."""
        over = [dpid for dpid, (until, _) in self.full.items() if until <= now]
        for dpid in over:
            del self.full[dpid]
        return bool(over)

    def next_wake(self) -> float | None:
        """When the first full switch may be tried again."""
        return min((until for until, _ in self.full.values()), default=None)


def table_full(error: str) -> bool:
    """Whether a switch's words say that its table is full."""
    return TABLE_FULL in error


def count(entries: Iterable[Entry]) -> Mapping[int, int]:
    """Rules per datapath id; groups and meters take no room in a flow table."""
    return Counter(entry.dpid for entry in entries if isinstance(entry, Rule))


def shortage(dpid: int, lacks: str) -> str:
    """A lack of room as a reason."""
    return f"switch {dpid_text(dpid)}: {lacks}"
