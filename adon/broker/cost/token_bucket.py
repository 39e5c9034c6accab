"""Γ_a of a path that throttles by a token bucket: more for a short transfer than for a long one.

Used where Γ_a rests on an active test alone (:attr:`Basis.TEST`) whose intervals clearly show a bucket
(:mod:`adon.flowvisor.selection.token_bucket`).  If flows were admitted since the test, the
state of the bucket is unknown, and Γ_a is the mean.

*What is in the bucket* when a transfer begins: nothing when the test ended that found it, and the sustained
rate since, until it is full.  *A transfer under way*: what it has sent it may have sent out of the bucket, so
what is left of it has the sustained rate, also where it waited in between or goes another way: the bucket may
be its host's.  *A transfer of unknown size* has the mean of the test.  *Streams*: each has its part of both
rates as it has of the mean, but together they have no more than the test had: a bucket throttles all of them.
"""

from __future__ import annotations

from adon.broker.flow import Flow
from adon.flowvisor.selection.performance import PerformanceView
from adon.flowvisor.selection.token_bucket import find_token_bucket, refill_bucket, scale_bucket
from adon.flowvisor.topology.path import Basis
from adon.units import format_rate, format_size
from measurement.model import Metric, PathKey
from measurement.token_bucket import Allowance


def bucket_for(
    flow: Flow,
    performance: PerformanceView,
    key: PathKey,
    basis: str,
    available: float,
    capacity: float,
    now: float,
) -> Allowance | None:
    """What a path gives a flow that begins now; None where Γ_a does not depend on its size.

    :param basis, available: what Γ_a rests on, and what it is for a transfer of unknown size, in bits/s.
    :param capacity: of the path, bits/s; nothing exceeds it.
    """
    tested = performance.latest(key, Metric.THROUGHPUT)
    if tested is None or basis != Basis.TEST or not available > 0:
        return None
    full = find_token_bucket(tested)
    if full is None:
        return None
    part = min(1.0, available / tested.value)
    if not scale_bucket(full, part, capacity).throttled:
        return None
    idle = 0.0 if under_way(flow) else now - tested.observed_at
    return scale_bucket(refill_bucket(full, idle), part, capacity)


def basis_of(performance: PerformanceView, key: PathKey, basis: str) -> str:
    """What Γ_a rests on, where a path's throughput rests on this."""
    tested = performance.latest(key, Metric.THROUGHPUT)
    throttled = basis == Basis.TEST and tested is not None and find_token_bucket(tested) is not None
    return Basis.BUCKET.value if throttled else basis


def under_way(flow: Flow) -> bool:
    """Whether something of it has been sent already."""
    return max(flow.bytes_sent, flow.bytes_delivered, flow.bytes_reported or 0) > 0


def describe_bucket(bucket: Allowance | None) -> str:
    """``a token bucket ...: 25 MB at 50 Mbps, then 10 Mbps``; empty without one."""
    if bucket is None:
        return ""
    then = format_rate(bucket.sustained)
    if not bucket.throttled:
        return f"{Basis.BUCKET}: nothing is in it now, {then}"
    first = format_size(round(bucket.burst * bucket.lasts / 8))
    return f"{Basis.BUCKET}: {first} at {format_rate(bucket.burst)}, then {then}"
