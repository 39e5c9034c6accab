"""The queue ladder of an output port (spec section 4: the journal version's Dynamic Queue Manager).

A port offers a ladder of guaranteed shares, by default 60, 30 and 10 % of its capacity.  Each rung is one
queue.  Every flow on the port is a :class:`Claim`; what each is granted follows from all claims together::

    1. in order of precedence (priority, then age) each flow takes the highest rung on which its QSpec's
       throughput bound still fits beside those before it: a flow *steps down* when one above it comes,
       and up again when that one goes.  A flow without a bound is on the lowest rung.
    2. what no bound needs is *lent* up to the flows' targets, in order of precedence;
    3. what is left then anybody may use: a meter lets every flow have an equal part of it, a queue lends
       it by itself.

A newcomer is refused (and goes to the flow scheduler) if it fits no rung, if somebody else would fit none
any more, or if the rest of the port is lent to flows of higher priority.  A flow of the same priority takes
back what was lent; one of lower priority does not.

Nothing depends on the order in which flows came and went, so a restart restores the ladder from the flows,
and a release restores what was before.  Rates are bits/s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from adon.units import format_rate, format_ratio

_ROUNDING = 1e-6
"""Bits/s: what sums of shares may be off by."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What one flow asks of a port.

    :param number: the flow's; a smaller one is older.
    :param bound: its QSpec's throughput bound; 0 for none.
    :param target: what it makes good use of, if that is more.
    """

    number: int
    priority: int
    bound: float
    target: float = 0.0


@dataclass(frozen=True, slots=True)
class Grant:
    """What a flow has on a port.

    :param rung: 0 is the highest.
    :param guaranteed: its bound: nobody else can take it.
    :param lent: beside it, until a flow of the same or a higher priority needs it.
    :param spare: its part of what nobody asked for.
    """

    rung: int
    guaranteed: float
    lent: float = 0.0
    spare: float = 0.0

    @property
    def ceiling(self) -> float:
        """All that it may use: the rate of its meter."""
        return self.guaranteed + self.lent + self.spare


@dataclass(frozen=True, slots=True)
class Ladder:
    """One port's claims; see the module's text.

    :param capacity: of the port.
    :param shares: of the capacity, from the top rung to the lowest.
    """

    capacity: float
    shares: tuple[float, ...] = (0.6, 0.3, 0.1)
    claims: tuple[Claim, ...] = ()

    @classmethod
    def of(cls, capacity: float, shares: tuple[float, ...], claims: Iterable[Claim]) -> Ladder:
        """The ladder with these claims, in whatever order they come."""
        return cls(capacity, shares, tuple(sorted(claims, key=_precedence)))

    def grants(self) -> dict[int, Grant]:
        """Per flow number what it is granted; a flow that fits nowhere is not in it.

        That can only be if the ladder got smaller since the flow was admitted.
        """
        placed = self._assign_rungs()
        lent = self._lend(placed)
        rest = self.capacity * sum(self.shares) - sum(g.guaranteed for g in placed.values())
        part = max(0.0, rest - sum(lent.values())) / max(1, len(placed))
        return {
            number: replace(grant, lent=lent.get(number, 0.0), spare=part) for number, grant in placed.items()
        }

    def refusal(self, claim: Claim) -> str:
        """Why a newcomer gets nothing here, in words; empty if it does.

        A claim that is there already is judged as if it came now.
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
        """The flows that would fit no rung any more if this one came; all are less urgent or younger."""
        others = self.release(claim.number)
        before, after = others._assign_rungs(), others._with(claim)._assign_rungs()
        return tuple(number for number in before if number not in after)

    def release(self, number: int) -> Ladder:
        """The ladder without a flow; as it is if the flow had no claim."""
        return replace(self, claims=tuple(claim for claim in self.claims if claim.number != number))

    def text(self) -> str:
        """The rungs and what is free on each, in words."""
        free = self._free_rates(self._assign_rungs())
        parts = zip(self.shares, free, strict=True)
        return ", ".join(f"{format_rate(bits)} of the {format_ratio(share)}" for share, bits in parts)

    def _with(self, claim: Claim) -> Ladder:
        return Ladder.of(self.capacity, self.shares, (*self.claims, claim))

    def _assign_rungs(self) -> dict[int, Grant]:
        """Step 1: the rung of each flow that fits one."""
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
        """What is free on each rung."""
        taken = [0.0] * len(self.shares)
        for grant in placed.values():
            taken[grant.rung] += grant.guaranteed
        return [
            max(0.0, share * self.capacity - held) for share, held in zip(self.shares, taken, strict=True)
        ]

    def _lend(self, placed: Mapping[int, Grant], above: int = -1) -> dict[int, float]:
        """Step 2: what each flow has beyond its bound.

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
class Granted:
    """What a flow was granted beside what it asked, as records show it; rates in bits/s.

    :param port: the name of the port whose ladder it is.
    :param share: of the rung it is on, of the port's capacity.
    :param asked: its bound, and its target where that is more.
    :param ceiling: all that it may use at present.
    :param by: what holds it to that: ``queue``, ``meter`` or ``nothing``.
    :param why: why that, in words.
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
class Means:
    """What a switch can hold a flow to its grant with (R12).

    :param queues: per port number, the queues that there are.
    :param meters: whether it has meters.
    """

    queues: Mapping[int, frozenset[int]]
    meters: bool = False


def choose_enforcement(mode: str, means: Means | None, port: int, queue: int) -> tuple[str, str]:
    """``queue``, ``meter`` or ``nothing``, and why, in words.

    :param mode: the policy's: ``auto``, ``queues`` or ``meters``.
    :param means: what the switch said it has; None if it has not said.
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
