"""The order of those who wait is tested in tests/broker/queueing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adon.broker.flow import Flow, FlowRequest, FlowState
from adon.broker.scheduler import arrived, deadline, waiting_since

REQUEST = FlowRequest.model_validate({"source": "mu-dtn", "destination": "osu-dtn", "size": "1 GB"})


def queued(number: int, submitted_at: float) -> Flow:
    return Flow(number, REQUEST, "ada", "soykb@1", submitted_at, FlowState.QUEUED, submitted_at)


def test_failed_attempts_to_install_do_not_renew_patience() -> None:
    flow = queued(1, 100.0).step(FlowState.INSTALLING, 150.0, "al2s").step(FlowState.QUEUED, 160.0, "refused")
    assert waiting_since(flow) == 100.0


def test_a_displaced_flow_has_patience_from_then_on_and_keeps_its_place() -> None:
    running = replace(queued(1, 100.0), state=FlowState.ACTIVE, started_at=110.0)
    displaced = running.step(FlowState.QUEUED, 500.0, "preempted")
    assert (waiting_since(displaced), arrived(displaced)) == (500.0, 100.0)


def test_nobody_waits_before_it_wants_to_start() -> None:
    early, late = replace(queued(1, 100.0), not_before=300.0), replace(queued(1, 400.0), not_before=300.0)
    assert (waiting_since(early), arrived(late)) == (300.0, 400.0)


@pytest.mark.parametrize(("due", "expected"), [(None, 150.0), (120.0, 120.0), (500.0, 150.0)])
def test_patience_or_the_deadline_whichever_is_earlier(due: float | None, expected: float) -> None:
    assert deadline(replace(queued(1, 100.0), deadline=due), lambda _: 50.0) == expected
