"""The flow scheduler's queue: who is tried first, and whose patience is over (spec section 4).

A flow without a qualified path or without resources waits.  The queue is ordered by priority, then age.
Every ``aging`` seconds of waiting raise a flow by one priority step, so that nothing starves: a flow of
priority p is before every flow of priority q that came more than (q − p + 1)·aging later, and priorities
end at 999.  The queue is not a thing that is kept: it is the stored flows in state ``queued``, put in order
when it is looked at, so a restart loses nothing of it.

Priority and patience belong to the request and its template together, which a flow alone does not
know: they come as functions.  Pure; ``now`` in seconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from adon.broker.flow import Flow


def waiting_since(flow: Flow) -> float:
    """When a queued flow's wait began.

    A flow that never transferred has waited since it was submitted: failed attempts to install it do not
    start its patience anew.  One that was displaced waits since then.
    """
    return flow.submitted_at if flow.started_at is None else flow.state_since


def order(
    flows: Iterable[Flow], now: float, priority: Callable[[Flow], int], aging: float
) -> tuple[Flow, ...]:
    """The queued flows in the order in which they are to be tried: by aged priority, age, number.

    :param priority: a flow's priority, 0..999; a larger one is more urgent.
    :param aging: seconds of waiting per priority step, above zero.
    """

    def rank(flow: Flow) -> tuple[float, float, int]:
        since = waiting_since(flow)
        steps = max(0.0, now - since) // aging
        return (-(priority(flow) + steps), since, flow.number)

    return tuple(sorted(flows, key=rank))


def expired(flows: Iterable[Flow], now: float, patience: Callable[[Flow], float]) -> tuple[Flow, ...]:
    """The queued flows whose patience is over, the one that ran out first before the others.

    :param patience: how many seconds a flow may wait.
    """
    over = [flow for flow in flows if deadline(flow, patience) <= now]
    return tuple(sorted(over, key=lambda flow: (deadline(flow, patience), flow.number)))


def deadline(flow: Flow, patience: Callable[[Flow], float]) -> float:
    """When a queued flow's patience is over."""
    return waiting_since(flow) + patience(flow)
