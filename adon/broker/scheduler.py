"""How long a flow waits, and until when (spec section 4).

A flow without a qualified path or without resources waits.  In which order waiting flows are tried, and why
none of them starves, is :mod:`adon.broker.queueing`'s matter; here is what its wait begins and ends with.
The queue is the stored flows in state ``queued``: a restart loses nothing of it.

Patience belongs to the request and its template together, which a flow alone does not know: it comes as a
function.  Pure; times in seconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Callable

from adon.broker.flow import Flow


def queued_since(flow: Flow) -> float:
    """Since when a flow counts as waiting, for its place in the line: not before it wants to start.

    One that was displaced keeps the place that it had.
    """
    return flow.submitted_at if flow.not_before is None else max(flow.submitted_at, flow.not_before)


def waiting_since(flow: Flow) -> float:
    """When a queued flow's wait began, for its patience.

    A flow that never transferred has waited since it was submitted, or since it wanted to start: failed
    attempts to install it do not start its patience anew.  One that was displaced waits since then.
    """
    return queued_since(flow) if flow.started_at is None else flow.state_since


def deadline(flow: Flow, patience: Callable[[Flow], float]) -> float:
    """When a queued flow's wait is over: its patience, or its own deadline if that is earlier."""
    over = waiting_since(flow) + patience(flow)
    return over if flow.deadline is None else min(over, flow.deadline)
