"""What a flow gets of the port by which it leaves, where ports have a ladder (docs/switches.md).

A value and what follows from it: how it is gathered is :mod:`adon.broker.ladder_grants`'s business.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from adon.config.policy import LadderPolicy
from adon.flowvisor.rules.queue_ladder import Claim, EnforcementMeans, GrantRecord, Ladder, choose_enforcement


@dataclass(frozen=True, slots=True)
class Gate:
    """The port by which a flow leaves for a path, as far as its ladder goes.

    :param claims: those of all other flows there.
    :param means: what the switch said that it can hold flows to their grants with.
    :param number: the port's; -1 if it has not been reported.
    """

    port: str
    capacity: float
    claims: tuple[Claim, ...]
    means: EnforcementMeans | None
    number: int

    def grant(
        self, policy: LadderPolicy, asked: Claim, meter: Callable[[], int | None]
    ) -> GrantRecord | None:
        """What a flow has there; None if it fits none of the rungs.

        :param meter: gives the number of a meter for it, None if all are in use.
        """
        grant = Ladder.of(self.capacity, policy.shares, (*self.claims, asked)).grants().get(asked.number)
        if grant is None:
            return None
        queue = policy.queues[grant.rung]
        by, why = choose_enforcement(policy.mode, self.means, self.number, queue)
        number = queue if by == "queue" else None
        if by == "meter":
            number = meter()
            by, why = (
                (by, why) if number is not None else ("nothing", "nothing: all meters of ADON are in use")
            )
        return GrantRecord(
            port=self.port,
            share=policy.shares[grant.rung],
            asked=max(asked.bound, asked.target),
            guaranteed=grant.guaranteed,
            lent=grant.lent,
            ceiling=grant.ceiling,
            by=by,
            why=why,
            number=number,
        )
