"""Transfers that have ended, as outcomes: what a confirmation of advice is drawn from."""

from __future__ import annotations

from collections.abc import Sequence

from adon.broker.flow import Flow, FlowState
from adon.broker.outcomes import FlowOutcome, Stay
from apps.rest.services import services

MOST = 5_000
"""The latest flows that are looked through for those of one template."""

PAGE = 500


def past_transfers(template: str) -> Sequence[FlowOutcome]:
    """The outcomes of finished flows of all versions of a template, the latest first."""
    return [outcome_of(flow) for flow in _finished() if flow.template.partition("@")[0] == template]


def _finished() -> list[Flow]:
    found: list[Flow] = []
    before: int | None = None
    while len(found) < MOST:
        page = services().store.flows(state=FlowState.FINISHED, limit=PAGE, before=before)
        found += page
        if len(page) < PAGE:
            break
        before = page[-1].number
    return found


def outcome_of(flow: Flow) -> FlowOutcome:
    """What the stored flow itself tells of its outcome.

    Of a flow that moved only the last path is known, so it stayed on no path from beginning to end.
    """
    moved = flow.bytes_delivered if flow.bytes_reported is None else flow.bytes_reported
    began = flow.path_since if flow.started_at is None else flow.started_at
    ended = flow.state_since if flow.ended_at is None else flow.ended_at
    taken = None if began is None else ended - began
    stays = (
        (Stay(flow.path, flow.path_since, ended),)
        if flow.moves == 0 and flow.path is not None and flow.path_since is not None
        else ()
    )
    return FlowOutcome(
        flow=flow.number,
        template=flow.template,
        source=flow.request.source,
        destination=flow.request.destination,
        state=flow.state.value,
        submitted_at=flow.submitted_at,
        ended_at=ended,
        requested_bytes=flow.request.size,
        transferred_bytes=moved,
        admitted_at=flow.path_since,
        started_at=flow.started_at,
        throughput=moved * 8 / taken if taken is not None and taken > 0 and moved else None,
        measured_by="rule counters" if flow.bytes_reported is None else "the transfer's report",
        streams=1 if flow.request.streams is None else flow.request.streams,
        moves=flow.moves,
        stays=stays,
        decision=flow.decision,
    )
