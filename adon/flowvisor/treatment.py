"""What a flow's packets get at the edge beside their path: tenant, marking, queue, rate limit.

Decided by the slice and the queue ladder, compiled by :mod:`adon.flowvisor.rules`.
"""

from __future__ import annotations

from dataclasses import dataclass

from adon.flowvisor.rule import MeterEntry


@dataclass(frozen=True, slots=True)
class Treatment:
    """See the module's text.

    :param tenant: the number of the slice, 0 for none; it goes into the cookies.
    :param dscp: the six bits written into every packet, both ways; None leaves them alone.
    :param queues: pairs of an edge's datapath id and the queue at its port that leads onto the path (R12).
    :param meters: the meters that the flow's packets pass, at most one per edge; made and removed with it.
    """

    tenant: int = 0
    dscp: int | None = None
    queues: tuple[tuple[int, int], ...] = ()
    meters: tuple[MeterEntry, ...] = ()

    def queue_at(self, dpid: int) -> int | None:
        """The queue of one edge."""
        return dict(self.queues).get(dpid)

    def meter_at(self, dpid: int) -> int | None:
        """The number of the meter at one edge."""
        return next((meter.number for meter in self.meters if meter.dpid == dpid), None)

    def polices(self, dpid: int) -> bool:
        """Whether this edge has anything to do beside forwarding."""
        return self.dscp is not None or self.queue_at(dpid) is not None or self.meter_at(dpid) is not None


PLAIN = Treatment()
"""Forwarded as it comes."""
