"""From a flow that has ended to what it leaves behind, and what is noted of it for that on its way.

The diary (:mod:`adon.broker.diary`) is closed by the flow's last step; what is added here is what the flow
achieved (:mod:`adon.broker.estimates`).  A rate is compared with what was promised only where both are of
the same path: that of a transfer as a whole, which moved, is told and not compared.  Functions of values.
"""

from __future__ import annotations

from dataclasses import replace

from adon.broker.choice import Need
from adon.broker.decision import Decision
from adon.broker.estimates import SHORTEST_S, Achieved
from adon.broker.flow import Flow
from adon.broker.outcomes import FlowOutcome
from measurement.model import Metric

WHOLE = "the transfer's report, over all its paths"


def expecting(flow: Flow, need: Need, decision: Decision) -> Flow:
    """A flow on the path that a decision gave it, with what the decision saw and expected there."""
    record = next((one for one in decision.candidates if one.path == decision.path), None)
    metrics = () if record is None else record.metrics
    seen = {one.metric: one.value for one in metrics if one.value is not None}
    rate = seen.get(Metric.THROUGHPUT.value)
    promised = None if rate is None else rate * need.streams / need.qspec.streams
    diary = flow.diary.expects(promised, seen, decision.id)
    first = diary.decision == decision.id
    return replace(flow, diary=replace(diary, forecast=decision.forecast) if first else diary)


def outcome_of(
    flow: Flow, *, streams: int, priority: int, got: Achieved | None = None, reported: bool = False
) -> FlowOutcome:
    """What a flow leaves behind.

    :param flow: as it has ended.
    :param streams: how many its transfer had.
    :param got: the rate that it had on its last path, if anything tells.
    :param reported: whether the transfer itself said that it has finished.
    """
    diary, ended_at = flow.diary, flow.state_since if flow.ended_at is None else flow.ended_at
    told = got if got is not None or not reported else _whole(flow)
    promised = diary.promised
    error = None if got is None or promised is None or got.rate <= 0 else (promised - got.rate) / got.rate
    first = diary.stays[0].since if diary.stays else None
    return FlowOutcome(
        flow=flow.number,
        template=flow.template,
        source=flow.request.source,
        destination=flow.request.destination,
        state=flow.state.value,
        submitted_at=flow.submitted_at,
        ended_at=ended_at,
        requested_bytes=flow.request.size,
        transferred_bytes=flow.bytes_moved,
        admitted_at=first if diary.admitted_at is None else diary.admitted_at,
        started_at=flow.started_at,
        throughput=None if told is None else told.rate,
        measured_by="" if told is None else told.by,
        streams=streams,
        priority=priority,
        moves=flow.moves,
        stays=diary.stays,
        quality=diary.quality,
        conditions=diary.conditions,
        promised=promised,
        error=error,
        decision=diary.decision,
        compute_site=flow.compute_site,
        forecast=diary.forecast,
        slice=flow.slice,
    )


def _whole(flow: Flow) -> Achieved | None:
    """The rate of the transfer as a whole, as it reported."""
    octets, began, ended = flow.bytes_reported, flow.started_at, flow.ended_at
    if not octets or began is None or ended is None or ended - began < SHORTEST_S:
        return None
    return Achieved(octets * 8 / (ended - began), WHOLE)
