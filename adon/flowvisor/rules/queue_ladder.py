"""The queue ladder of an output port (spec section 4: the journal version's Dynamic Queue Manager).

A port has a ladder of guaranteed shares, by default 60, 30 and 10 % of its capacity.  Each rung is one queue.
Every flow on the port is a :class:`Claim`; all claims together decide the grants::

    1. In order of precedence (priority, then age) each flow takes the highest rung with enough free capacity
       for its QSpec's throughput bound.  A flow *steps down* when a flow with precedence arrives, and up
       again when that flow ends.  A flow without a bound is on the lowest rung.
    2. Capacity that no bound needs is *lent* up to the flows' targets, in order of precedence.
    3. The rest is shared: a meter gives every flow an equal part, a queue lends it by itself.

A new flow is refused (and queued) if it fits no rung, if another flow would no longer fit a rung, or if the
rest of the port is lent to flows of higher priority.  A flow of the same priority takes lent capacity back; a
flow of lower priority does not.

The grants do not depend on the order of arrivals and departures.  So a restart restores the ladder from the
flows, and a release restores the previous grants.  Rates are bits/s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from adon.units import format_rate, format_ratio

_ROUNDING = 1e-6
"""Rounding error of sums of shares in bits/s."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Claim of one flow on a port.

    :param number: the flow's number; a smaller number is older.
    :param bound: its QSpec's throughput bound; 0 for none.
    :param target: its QSpec's target, if greater.
    """

    number: int
    priority: int
    bound: float
    target: float = 0.0


@dataclass(frozen=True, slots=True)
class Grant:
    """Grant of a flow on a port.

    :param rung: 0 is the highest.
    :param guaranteed: its bound, which no other flow can take.
    :param lent: additional rate, until a flow of the same or a higher priority needs it.
    :param spare: its part of the unclaimed rate.
    """

    rung: int
    guaranteed: float
    lent: float = 0.0
    spare: float = 0.0

    @property
    def ceiling(self) -> float:
        """Maximum rate of the flow: the rate of its meter."""
        return self.guaranteed + self.lent + self.spare


@dataclass(frozen=True, slots=True)
class Ladder:
    """Queue ladder of one port, with its claims.

    :param capacity: of the port.
    :param shares: of the capacity, from the top rung to the lowest.
    """

    capacity: float
    shares: tuple[float, ...] = (0.6, 0.3, 0.1)
    claims: tuple[Claim, ...] = ()

    @classmethod
    def of(cls, capacity: float, shares: tuple[float, ...], claims: Iterable[Claim]) -> Ladder:
        """Return the ladder with these claims, in any order."""
        return cls(capacity, shares, tuple(sorted(claims, key=_precedence)))

    def grants(self) -> dict[int, Grant]:
        """Return the grants by flow number, without flows that fit no rung.

        A flow fits no rung only if the ladder became smaller since its admission.
        """
        placed = self._assign_rungs()
        lent = self._lend(placed)
        rest = self.capacity * sum(self.shares) - sum(g.guaranteed for g in placed.values())
        part = max(0.0, rest - sum(lent.values())) / max(1, len(placed))
        return {
            number: replace(grant, lent=lent.get(number, 0.0), spare=part) for number, grant in placed.items()
        }

    def refusal(self, claim: Claim) -> str:
        """Return the reason why a new claim is refused, in words; empty if it is granted.

        A present claim is judged as a new one.
        """
        others = self.release(claim.number)
        after = others._with(claim)._assign_rungs()
        asked = format_rate(claim.bound)
        if claim.number not in after:
            return f"no rung of the queue ladder has {asked} left: {others.text()}"
        fallen = ", ".join(f"f-{number}" for number in self.find_displaced(claim))
        if fallen:
            return f"{asked} would leave no rung of the queue ladder for {fallen}"
        held = others._assign_rungs()
        kept = others._lend(held, above=claim.priority)
        free = sum(others._free_rates(held)) - sum(kept.values())
        if claim.bound > free + _ROUNDING:
            names = ", ".join(f"f-{number}" for number, bits in kept.items() if bits > 0)
            return f"{asked} is not left: what no bound needs is lent to {names}, of higher priority"
        return ""

    def find_displaced(self, claim: Claim) -> tuple[int, ...]:
        """Return the flows that would lose their rung to a claim; all are less urgent or younger."""
        others = self.release(claim.number)
        before, after = others._assign_rungs(), others._with(claim)._assign_rungs()
        return tuple(number for number in before if number not in after)

    def release(self, number: int) -> Ladder:
        """Return the ladder without the claim of a flow."""
        return replace(self, claims=tuple(claim for claim in self.claims if claim.number != number))

    def text(self) -> str:
        """Return the free rate of each rung, in words."""
        free = self._free_rates(self._assign_rungs())
        parts = zip(self.shares, free, strict=True)
        return ", ".join(f"{format_rate(bits)} of the {format_ratio(share)}" for share, bits in parts)

    def _with(self, claim: Claim) -> Ladder:
        return Ladder.of(self.capacity, self.shares, (*self.claims, claim))

    def _assign_rungs(self) -> dict[int, Grant]:
        """Return the rung of each flow that fits one (step 1)."""
        room = [share * self.capacity for share in self.shares]
        placed: dict[int, Grant] = {}
        for claim in self.claims:
            rungs = range(len(room)) if claim.bound > 0 else (len(room) - 1,)
            rung = next((n for n in rungs if claim.bound <= room[n] + _ROUNDING), None)
            if rung is not None:
                room[rung] -= claim.bound
                placed[claim.number] = Grant(rung, claim.bound)
        return placed

    def _free_rates(self, placed: Mapping[int, Grant]) -> Sequence[float]:
        """Return the free rate of each rung."""
        taken = [0.0] * len(self.shares)
        for grant in placed.values():
            taken[grant.rung] += grant.guaranteed
        return [
            max(0.0, share * self.capacity - held) for share, held in zip(self.shares, taken, strict=True)
        ]

    def _lend(self, placed: Mapping[int, Grant], above: int = -1) -> dict[int, float]:
        """Return the lent rate of each flow (step 2).

        :param above: only flows of a higher priority than this.
        """
        left = sum(self._free_rates(placed))
        lent: dict[int, float] = {}
        for claim in self.claims:
            if claim.number in placed and claim.priority > above:
                lent[claim.number] = min(max(0.0, claim.target - claim.bound), left)
                left -= lent[claim.number]
        return lent


@dataclass(frozen=True, slots=True)
class GrantRecord:
    """Requested and granted rates of a flow, as records show them; in bits/s.

    :param port: the name of the ladder's port.
    :param share: share of its rung in the port's capacity.
    :param asked: its bound, or its target if greater.
    :param ceiling: its present maximum rate.
    :param by: the enforcement: ``queue``, ``meter`` or ``nothing``.
    :param why: the reason of the enforcement, in words.
    :param number: of the queue or meter.
    """

    port: str
    share: float
    asked: float
    guaranteed: float
    lent: float
    ceiling: float
    by: str
    why: str
    number: int | None = None


def _precedence(claim: Claim) -> tuple[int, int]:
    return (-claim.priority, claim.number)


@dataclass(frozen=True, slots=True)
class EnforcementMeans:
    """Means of a switch to enforce grants (R12).

    :param queues: numbers of the queues per port number.
    :param meters: whether it has meters.
    """

    queues: Mapping[int, frozenset[int]]
    meters: bool = False


def choose_enforcement(mode: str, means: EnforcementMeans | None, port: int, queue: int) -> tuple[str, str]:
    """Choose ``queue``, ``meter`` or ``nothing``; return it with the reason, in words.

    :param mode: the policy's mode: ``auto``, ``queues`` or ``meters``.
    :param means: the means that the switch reported; None without a report.
    :param queue: the number of the rung's queue.
    """
    if mode == "queues":
        return "queue", f"queue {queue}, as the policy says"
    if mode == "meters":
        return "meter", "a meter, as the policy says"
    if means is not None and queue in means.queues.get(port, frozenset()):
        return "queue", f"queue {queue}, which port {port} has"
    if means is not None and means.meters:
        return "meter", f"a meter: port {port} has no queue {queue}"
    return "nothing", f"nothing: neither queue {queue} at port {port} nor meters are known of the switch"
